//! The requirements of this project, from configuration files and from the session's workflow. Only reads;
//! without a file, nothing is parsed.

use super::Ground;
use super::shared_file;
use crate::engine::{Engine, is_unfinished};
use layouts::reading::Reading;
use layouts::requirements::{self as layout, Requirement, Settings, Source};
use model::session::Session;
use std::path::{Path, PathBuf};

pub(super) const SHARED: &str = "requirements.yaml";
pub(super) const LOCAL: &str = "requirements.local.yaml";

/// The requirements of this project, and the mistakes in their configuration.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) settings: Settings,
    pub(super) problems: Vec<String>,
    /// The completed phases of the session whose workflow declares requirements.
    done: Vec<String>,
    /// The session whose workflow declares requirements, if a hook asked.
    pub(super) session: Option<Session>,
}

impl Rules {
    pub(super) fn enabled(&self) -> impl Iterator<Item = &Requirement> {
        self.settings.requirements.iter().filter(|requirement| requirement.enabled)
    }

    /// The completed phase of the session's run that satisfies this requirement, if any.
    pub(super) fn phase_done<'a>(&self, requirement: &'a Requirement) -> Option<&'a str> {
        requirement.phases.iter().find(|phase| self.done.contains(phase)).map(String::as_str)
    }
}

impl Engine {
    pub(super) fn rules(&self, ground: &Ground) -> Rules {
        let mut rules = configured(ground);
        match self.session_of_rules() {
            Ok(Some(session)) => {
                self.add_declared(&mut rules, &session);
                rules.session = Some(session);
            }
            Ok(None) => {}
            Err(error) => rules.problems.push(error.to_string()),
        }
        rules
    }

    /// As `rules`, for a session that is already loaded.
    pub(super) fn rules_of(&self, ground: &Ground, session: &Session) -> Rules {
        let mut rules = configured(ground);
        self.add_declared(&mut rules, session);
        rules
    }

    /// True if something may be required: a configuration file exists, or the session's workflow declares
    /// requirements.
    pub(super) fn may_require(&self, session: &Session) -> bool {
        let declares = |hash: &str| {
            self.definition(hash).ok().flatten().is_some_and(|workflow| !workflow.requirements.is_empty())
        };
        project_folder(&self.project.root).is_some()
            || session.run().is_some_and(|run| declares(&run.workflow.hash))
    }

    /// The session whose workflow counts: the asking agent's session, or else the active session of this
    /// worktree. No other session is searched for. Loaded only once.
    fn session_of_rules(&self) -> crate::Result<Option<Session>> {
        let bound = match self.asking_agent()? {
            Some(identity) => self.store.agent(&identity.agent, &identity.id)?.and_then(|row| row.session),
            None => None,
        };
        if let Some(id) = bound {
            let (loaded, session) = self.load(&id)?;
            if is_unfinished(&loaded.row.lifecycle) {
                return Ok(Some(session));
            }
        }
        let active = self.store.active(&self.project.worktree())?;
        active.map(|id| Ok(self.load(&id)?.1)).transpose()
    }

    fn add_declared(&self, rules: &mut Rules, session: &Session) {
        let Some(run) = session.run() else { return };
        let definition = self.definition(&run.workflow.hash).ok().flatten();
        for (name, declared) in definition.iter().flat_map(|definition| &definition.requirements) {
            match rules.settings.requirements.iter_mut().find(|known| known.name == *name) {
                // The configuration takes precedence; the workflow adds further ways to satisfy a
                // requirement.
                Some(known) => known.satisfied_also_by(&declared.satisfied_by),
                None => rules.settings.requirements.push(Requirement::declared(name, declared)),
            }
        }
        let done = run.phases.iter().filter(|phase| phase.is_done());
        rules.done = done.map(|phase| phase.id().to_string()).collect();
    }
}

/// The paths and texts of the configuration files, lowest precedence first.
pub(super) fn texts_of(ground: &Ground, problems: &mut Vec<String>) -> Vec<(String, String)> {
    places(ground)
        .into_iter()
        .filter_map(|path| match shared_file::read_following_links(&path) {
            Ok(text) => Some((path.display().to_string(), text?)),
            Err(error) => {
                problems.push(format!("{}: {error}", path.display()));
                None
            }
        })
        .collect()
}

fn configured(ground: &Ground) -> Rules {
    let mut problems = Vec::new();
    let texts = texts_of(ground, &mut problems);
    if texts.is_empty() {
        return Rules { problems, ..Rules::default() };
    }
    let sources: Vec<Source<'_>> = texts.iter().map(|(path, text)| Source { path, text }).collect();
    let Reading { value: settings, warnings } = layout::read(&sources);
    problems.extend(warnings.iter().map(|problem| format!("{}: {problem}", problem.path)));
    Rules { settings, problems, ..Rules::default() }
}

/// The configuration files that apply, lowest precedence first; none if the project has no file of its own,
/// because only that one enables the others.
fn places(ground: &Ground) -> Vec<PathBuf> {
    let Some(folder) = project_folder(&ground.root) else { return Vec::new() };
    let shared = folder.join(SHARED);
    let user = ground.home.as_ref().map(|home| home.join(".claude").join(SHARED));
    // If the home folder is a repository, both paths are the same file.
    let user = user.filter(|user| *user != shared);
    user.into_iter().chain([shared, folder.join(LOCAL)]).collect()
}

/// The nearest folder of this repository that has the project's configuration.
fn project_folder(root: &Path) -> Option<PathBuf> {
    repository_folders(root).map(|folder| folder.join(".claude")).find(|folder| folder.join(SHARED).exists())
}

/// The folders from this one up to the repository's root, or up to `/` outside of one.
fn repository_folders(from: &Path) -> impl Iterator<Item = &Path> {
    let mut is_above = false;
    from.ancestors().take_while(move |folder| {
        let is_inside = !is_above;
        is_above = is_inside && folder.join(".git").exists();
        is_inside
    })
}
