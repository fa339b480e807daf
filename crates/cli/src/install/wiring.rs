//! Finds leftoff's entries in agents' files, for `doctor`. Changes nothing.

use crate::install::agents::{self, AGENTS, Agent, Places};
use crate::install::edit::{Edit, Wired};
use crate::install::{files, is_in_path};
use engine::Finding;
use model::hint::CommandLine;
use model::words;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An agent that runs leftoff's hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wiring {
    pub agent: String,
    pub experimental: bool,
    /// The files that contain leftoff's entries.
    pub files: Vec<PathBuf>,
    /// The files in which some of leftoff's entries are missing.
    pub stale: Vec<PathBuf>,
}

/// All agents that are set up for this project or this user, and the problems with their entries.
pub fn wiring(project: &Places, user: &Places) -> (Vec<Wiring>, Vec<Finding>) {
    let mut wired: Vec<Wiring> = Vec::new();
    for places in [project, user] {
        wired.extend(AGENTS.iter().filter_map(|agent| of(agent, places)));
    }
    let mut findings: Vec<Finding> = wired.iter().flat_map(stale).collect();
    if !wired.is_empty() && !is_in_path() {
        findings.push(Finding {
            kind: "not_in_path".to_owned(),
            message: "agents run 'leftoff', but no such program is in the PATH".to_owned(),
            hint: Some("install it in a folder of the PATH, such as ~/.local/bin".into()),
        });
    }
    findings.extend(wired.iter().filter_map(|wiring| untrusted(wiring, project)));
    (wired, findings)
}

/// The entries of one agent. `None` if it has none.
pub(super) fn of(agent: &Agent, places: &Places) -> Option<Wiring> {
    let (mut named, mut stale) = (Vec::new(), Vec::new());
    let mut hooks = false;
    for (base, edit) in agent.edits(places) {
        let text = files::read(&base, edit.path()).ok().flatten();
        let is_hooks =
            matches!(&edit, Edit::Json(edit) if !edit.lists.is_empty()) || matches!(edit, Edit::Own { .. });
        match edit.wired(text.as_deref()) {
            Wired::Whole => {
                hooks |= is_hooks;
                named.push(edit.path().to_owned());
            }
            Wired::Partly => {
                hooks |= is_hooks;
                named.push(edit.path().to_owned());
                stale.push(edit.path().to_owned());
            }
            Wired::Not => stale.push(edit.path().to_owned()),
        }
    }
    hooks.then(|| Wiring {
        agent: agent.name.to_owned(),
        experimental: agent.experimental,
        files: named,
        stale,
    })
}

fn stale(wiring: &Wiring) -> Vec<Finding> {
    let told = wiring.stale.iter().map(|path| Finding {
        kind: "wiring_stale".to_owned(),
        message: format!("{} lacks entries that {} needs for leftoff", path.display(), wiring.agent),
        hint: Some(CommandLine::new(words!["init", "--agent", wiring.agent]).into()),
    });
    told.collect()
}

/// The finding that Codex does not run hooks, because nobody has trusted them. Codex records the hooks that are trusted
/// in its settings, for each file.
fn untrusted(wiring: &Wiring, places: &Places) -> Option<Finding> {
    if wiring.agent != "codex" {
        return None;
    }
    let hooks = wiring.files.iter().find(|path| path.ends_with("hooks.json"))?;
    let home = agents::codex_home(places)?;
    let settings = std::fs::read_to_string(home.join("config.toml")).unwrap_or_default();
    if trusts(&settings, hooks) {
        return None;
    }
    Some(Finding {
        kind: "hooks_untrusted".to_owned(),
        message: format!("Codex does not run the hooks in {} until you trust them", hooks.display()),
        hint: Some("start codex in this project, type /hooks, and trust leftoff's hooks".into()),
    })
}

fn trusts(settings: &str, hooks: &Path) -> bool {
    let Ok(table) = settings.parse::<toml::Table>() else { return false };
    let state = table.get("hooks").and_then(|hooks| hooks.get("state")).and_then(toml::Value::as_table);
    let path = hooks.to_string_lossy();
    state.into_iter().flatten().any(|(name, value)| {
        name.contains(path.as_ref())
            && (value.get("trusted_hash").is_some() || value.get("trusted_content_hash").is_some())
    })
}
