//! `leftoff init`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::install::agents::{Agent, Places};
use crate::install::{self, Change, Task, Touched};
use crate::ui::{self, Out};
use engine::{Intent, StorePlace, SyncRequest};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Set up this project and the agents that work here
///
/// Creates `.leftoff/` with a commented config.toml, and the store. In a git repository the store is in the git folder,
/// shared by all worktrees and never committed; for agents whose sandbox protects the git folder (codex) it is in
/// `$XDG_STATE_HOME/leftoff`. The named agents, or those found in use here, then get their hooks, an MCP entry, and a
/// marked section in AGENTS.md with five commands. Only missing parts are added; comments and unknown keys stay;
/// symbolic links are refused; repeating the command changes nothing. `--remove` removes exactly these additions; it
/// removes the store only if nothing was ever stored in it, and an entry in your home folder only if none of your other
/// projects needs it.
#[derive(Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff init\n  leftoff init --agent claude --agent codex\n  leftoff init --agent claude --user\n  leftoff init --sync\n  leftoff init --dry-run\n  leftoff init --remove"
)]
pub struct Init {
    /// Agents to set up: claude, codex, gemini, opencode; experimental: cursor, copilot [default: those found
    /// here]
    #[arg(long = "agent", value_name = "NAME", num_args = 1..)]
    agents: Vec<String>,

    /// Set the agents up for all of your projects, in your home folder, and do not change this project
    #[arg(long)]
    user: bool,

    /// Also create a program `req`, for scripts and hints of the requirements framework: a link to leftoff in
    /// ~/.local/bin
    #[arg(long)]
    req_shim: bool,

    /// Share this project's sessions with its other clones through a git remote: see `leftoff sync`
    #[arg(long)]
    sync: bool,

    /// The remote to share through [default: the branch's, the only one, or origin]
    #[arg(long, value_name = "NAME", requires = "sync")]
    remote: Option<String>,

    /// Share in branches (refs/heads/leftoff/), for a host that accepts no other refs
    #[arg(long, requires = "sync")]
    branches: bool,

    /// Print what would be done, line by line, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Remove what `init` added
    #[arg(long)]
    remove: bool,
}

/// The changes that were made, or that would be made.
struct Done {
    setup: Option<engine::Setup>,
    gone: Vec<PathBuf>,
    touched: Vec<Touched>,
    agents: Vec<&'static Agent>,
    /// Folders with this project's sessions, which stay.
    stays: Vec<PathBuf>,
    /// A file in the user's home folder with an entry that stays, and the other projects that need that entry.
    needed: Option<(PathBuf, Vec<PathBuf>)>,
}

impl Run for Init {
    fn run(self, globals: &Globals) -> Outcome {
        if self.asks_first(globals) && !self.is_wanted(globals)? {
            let hint = "choose agents: leftoff init --agent claude";
            return Err(Failure::refused("nothing was changed".to_owned(), hint));
        }
        let done = if self.remove { self.take_out(globals)? } else { self.put_in(globals)? };
        let out = globals.out();
        if globals.json {
            out.json(&self.as_json(&done))?;
            return Ok(ExitCode::SUCCESS);
        }
        let text = self.text(&done);
        if text.is_empty() {
            out.say("nothing to remove");
        } else {
            out.text(&text)?;
        }
        self.say(&done, &out);
        if self.sync && !self.remove && !self.dry_run {
            let mut engine = globals.open(Intent::Create)?;
            engine.sync(SyncRequest::On { remote: self.remote.clone(), branches: self.branches })?;
            let shared = engine.store().sync_status()?;
            out.text(&format!(
                "sharing through {}: the next `leftoff sync` sends whole sessions, with notes, evidence and recorded files",
                shared.address.unwrap_or_default()
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The maximum number of new lines that are shown of each file, so that all changes and the question fit on one screen.
const LINES_BEFORE_THE_QUESTION: usize = 4;

impl Init {
    /// True if a person typed `init` without naming agents. The changes are then shown before they are made.
    fn asks_first(&self, globals: &Globals) -> bool {
        let is_plain = self.agents.is_empty() && !(self.user || self.dry_run || self.remove || self.req_shim);
        is_plain && globals.options.person_present && !globals.yes && !globals.json
    }

    /// Shows the changes, and asks whether to make them. Returns true without asking if there are none.
    fn is_wanted(&self, globals: &Globals) -> Result<bool, Failure> {
        let plan = Self { dry_run: true, ..self.clone() };
        let planned = plan.put_in(globals)?;
        let changes = planned.touched.iter().any(|file| file.change != Change::Unchanged);
        if !changes && planned.setup.as_ref().is_none_or(|setup| setup.created.is_empty()) {
            return Ok(true);
        }
        let out = globals.out();
        match planned.agents.as_slice() {
            [] => out.say("No agents found."),
            agents => {
                let names: Vec<&str> = agents.iter().map(|agent| agent.title).collect();
                out.say(&format!("Agents found: {}", names.join(", ")));
            }
        }
        out.text(&plan.shown(&planned, LINES_BEFORE_THE_QUESTION))?;
        let answer = ui::ask::words("Write this? [Y/n] ");
        Ok(answer.is_some_and(|answer| matches!(answer.as_str(), "" | "y" | "yes")))
    }

    fn put_in(&self, globals: &Globals) -> Result<Done, Failure> {
        let mut places = places(globals, self.user);
        let agents = install::chosen(&self.agents, &places, Task::PutIn)?;
        self.refuse_without_home(&places)?;
        // All changes are computed before the first is written. If one file cannot be edited, all files thus stay
        // unchanged.
        if !agents.is_empty() {
            install::run(&agents, &places, Task::PutIn, true)?;
        }
        if let Some(home) = self.home_of_shim(&places)? {
            install::req_link::put_in(home, true)?;
        }
        let setup = if self.user { None } else { Some(self.set_up(&agents, globals)?) };
        if let Some(setup) = &setup {
            places.project = Some(setup.project.clone());
            places.stores = stores(setup);
        }
        let mut touched = if agents.is_empty() {
            Vec::new()
        } else {
            install::run(&agents, &places, Task::PutIn, self.dry_run)?
        };
        if let Some(home) = self.home_of_shim(&places)? {
            touched.push(install::req_link::put_in(home, self.dry_run)?);
        }
        Ok(Done { setup, gone: Vec::new(), touched, agents, stays: Vec::new(), needed: None })
    }

    fn set_up(&self, agents: &[&Agent], globals: &Globals) -> Result<engine::Setup, Failure> {
        let sandboxed = agents.iter().any(|agent| agent.name == "codex");
        let place = if sandboxed { StorePlace::OutsideGit } else { StorePlace::AsItIs };
        Ok(engine::set_up(globals.options.clone(), place, self.dry_run)?)
    }

    fn take_out(&self, globals: &Globals) -> Result<Done, Failure> {
        let mut places = places(globals, self.user);
        let agents = install::chosen(&self.agents, &places, Task::TakeOut)?;
        self.refuse_without_home(&places)?;
        let needed_by = if self.user { Vec::new() } else { others_with_store_in_state_folder(globals) };
        if !needed_by.is_empty() {
            // Other projects need the entry in the user's own settings, so the entry stays.
            places.stores.clear();
        }
        let mut touched = install::run(&agents, &places, Task::TakeOut, self.dry_run)?;
        if let Some(home) = self.home_of_shim(&places)? {
            touched.extend(install::req_link::take_out(home, self.dry_run)?);
        }
        let all = self.agents.is_empty() && !self.user;
        let gone = if all { engine::take_down(&globals.options, self.dry_run)? } else { Vec::new() };
        let stays =
            if all && gone.is_empty() { engine::left_standing(&globals.options)? } else { Vec::new() };
        let kept = shared_entry(&agents, &places).filter(|path| !needed_by.is_empty() && path.exists());
        Ok(Done { setup: None, gone, touched, agents, stays, needed: kept.map(|path| (path, needed_by)) })
    }

    fn home_of_shim<'a>(&self, places: &'a Places) -> Result<Option<&'a Path>, Failure> {
        match (self.req_shim, places.home.as_deref()) {
            (false, _) => Ok(None),
            (true, Some(home)) => Ok(Some(home)),
            (true, None) => Err(Failure::wrong_usage("HOME is not set", "set HOME")),
        }
    }

    fn refuse_without_home(&self, places: &Places) -> Result<(), Failure> {
        if self.user && places.home.is_none() {
            return Err(Failure::wrong_usage("HOME is not set", "set HOME"));
        }
        Ok(())
    }

    fn text(&self, done: &Done) -> String {
        self.shown(done, usize::MAX)
    }

    /// The changes that were or would be made to each file. At most `most` new lines of each file are shown.
    fn shown(&self, done: &Done, most: usize) -> String {
        let mut text = String::new();
        let would = if self.dry_run { "would " } else { "" };
        let verb = |done: &'static str, plan: &'static str| if self.dry_run { plan } else { done };
        if let Some(setup) = &done.setup {
            for path in &setup.created {
                text.push_str(&format!("{would}{} {}\n", verb("made", "make"), path.display()));
            }
            for path in &setup.unchanged {
                text.push_str(&format!("kept {}\n", path.display()));
            }
        }
        for file in &done.touched {
            let what = match file.change {
                Change::Created => verb("made", "make"),
                Change::Changed => verb("changed", "change"),
                Change::Removed => verb("removed", "remove"),
                Change::Unchanged if file.path.exists() => {
                    text.push_str(&format!("kept {}\n", file.path.display()));
                    continue;
                }
                Change::Unchanged => continue,
            };
            text.push_str(&format!("{would}{what} {}\n", file.path.display()));
            if self.dry_run {
                text.extend(file.lines.iter().take(most).map(|line| format!("  {line}\n")));
                let more = file.lines.len().saturating_sub(most);
                if more > 0 {
                    text.push_str(&format!("  … {more} more lines; see all: leftoff init --dry-run\n"));
                }
            }
        }
        for path in &done.gone {
            text.push_str(&format!("{would}{} {}\n", verb("removed", "remove"), path.display()));
        }
        text
    }

    fn say(&self, done: &Done, out: &Out) {
        for warning in done.setup.iter().flat_map(|setup| &setup.warnings) {
            out.warn(warning);
        }
        if let Some(left) = done.setup.as_ref().and_then(|setup| setup.moved.as_ref()) {
            out.say(&format!("The store was moved; the old one is kept as {}", left.display()));
        }
        if !done.stays.is_empty() {
            out.say(&sessions_stay(&done.stays));
        }
        if let Some((path, projects)) = &done.needed {
            out.say(&still_needed(path, projects));
        }
        if self.remove || self.dry_run {
            return;
        }
        for agent in &done.agents {
            let experimental = if agent.experimental { " (experimental)" } else { "" };
            out.say(&format!(
                "{}'s hooks take effect with its next conversation{experimental}.",
                agent.title
            ));
            agent.then.iter().for_each(|line| out.say(line));
        }
        if !done.agents.is_empty() && !install::is_in_path() {
            out.warn("agents will run 'leftoff', but no such program is in your PATH");
        }
        if self.user {
            out.say(
                "For the MCP server in every project: claude mcp add --scope user leftoff -- leftoff mcp",
            );
        } else {
            out.say(&next_step(&done.agents));
        }
    }

    fn as_json(&self, done: &Done) -> Value {
        let mut value = match &done.setup {
            Some(setup) => serde_json::to_value(setup).unwrap_or(Value::Null),
            None => json!({ "dry_run": self.dry_run }),
        };
        if let Value::Object(fields) = &mut value {
            let names: Vec<&str> = done.agents.iter().map(|agent| agent.name).collect();
            fields.insert("agents".to_owned(), json!(names));
            fields.insert("files".to_owned(), json!(done.touched));
            fields.insert("removed".to_owned(), json!(done.gone));
            if self.remove {
                fields.insert("kept".to_owned(), json!(done.stays));
            }
            if let Some((path, projects)) = &done.needed {
                fields.insert("still_needed".to_owned(), json!({ "path": path, "by": projects }));
            }
        }
        value
    }
}

/// The last line of the output: the next step.
fn next_step(agents: &[&Agent]) -> String {
    match agents.first() {
        Some(agent) => format!(
            "Next: leftoff start --goal '<goal>', then open {} here: its conversation starts with the brief.",
            agent.title
        ),
        None => {
            "Next: leftoff start --goal '<goal>'; to connect an agent: leftoff init --agent claude".to_owned()
        }
    }
}

/// The places of agents' files, according to the arguments.
pub fn places(globals: &Globals, user: bool) -> Places {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = globals.options.project.clone().or_else(|| std::env::current_dir().ok());
    let root = folder.and_then(|folder| match engine::Project::find_or_here(&folder) {
        Ok(project) => Some(project.root),
        Err(_) => None,
    });
    Places {
        project: root.filter(|_| !user),
        home: set("HOME"),
        codex_home: set("CODEX_HOME"),
        stores: engine::state_folder().into_iter().collect(),
    }
}

/// Says which folders hold the sessions, and how to delete these too.
fn sessions_stay(folders: &[PathBuf]) -> String {
    let paths: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let quoted: Vec<String> = paths.iter().map(|path| format!("'{path}'")).collect();
    format!(
        "The sessions and settings stay in {}. To delete them as well, for good: rm -r {}",
        paths.join(" and "),
        quoted.join(" ")
    )
}

fn still_needed(path: &Path, projects: &[PathBuf]) -> String {
    let by = match projects {
        [only] => format!("{} needs it", only.display()),
        several => format!("{} other projects need it", several.len()),
    };
    format!("The entry in {} stays: {by}.", path.display())
}

/// The user's other projects whose store is in the state folder. Their agents need access to that folder.
fn others_with_store_in_state_folder(globals: &Globals) -> Vec<PathBuf> {
    let folder = globals.options.project.clone().or_else(|| std::env::current_dir().ok());
    let project = folder.and_then(|folder| engine::Project::find_or_here(&folder).ok());
    engine::Project::others_in_state_folder(project.as_ref())
}

/// The path of Codex's settings in the home folder, if Codex is one of these agents. One entry there serves all
/// projects.
fn shared_entry(agents: &[&Agent], places: &Places) -> Option<PathBuf> {
    let codex = agents.iter().any(|agent| agent.name == "codex");
    install::agents::codex_home(places).filter(|_| codex).map(|home| home.join("config.toml"))
}

/// The state folder, if this project's store is in it; otherwise nothing.
fn stores(setup: &engine::Setup) -> Vec<PathBuf> {
    engine::state_folder().into_iter().filter(|state| setup.store.starts_with(state)).collect()
}
