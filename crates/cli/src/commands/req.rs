//! `leftoff req`

mod configure;
mod look;
mod original;

use crate::arguments::{pair, seconds};
use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use configure::{Config, InitRequirements};
use engine::{
    Clearing, Engine, Error, Intent, RequirementAnswer, RequirementRequest, SatisfyRequest, TrackedBranch,
};
use model::typed_value::{Given, guess};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::ExitCode;

/// Requirements that agents must satisfy before they use a tool
///
/// Requirements are configured in .claude/requirements.yaml and in workflows. A requirement is satisfied for one agent
/// session or for the whole branch; the agent session is the one that runs this command, or else the only live one on
/// this branch. For `req`, `--session` names an agent session, like `--agent-session`. The commands of the requirements
/// framework's own program work after `leftoff req`; `leftoff init --req-shim` creates a program `req`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff req list\n  leftoff req satisfy commit_plan adr_reviewed\n  leftoff req satisfy github_ticket --field ticket=#42\n  leftoff req approve branch_size --ttl 10m --agent-session a4326893\n  leftoff req sessions"
)]
pub struct ReqCommand {
    #[command(subcommand)]
    action: Option<Action>,

    /// Print the same output as the requirements framework's own command
    #[arg(long, hide = true)]
    as_original: bool,
}

#[derive(clap::Args, Default)]
struct Who {
    /// The agent session, by its id or the first eight characters [default: the one that runs this command, or else the
    /// only live one here]
    #[arg(short = 's', long, value_name = "ID")]
    agent_session: Option<String>,
}

#[derive(clap::Args, Default)]
struct On {
    /// The branch, checked out or not [default: the checked-out one]
    #[arg(short, long, value_name = "NAME")]
    branch: Option<String>,
}

/// Where an answer goes, and in which words. Scripts for the original program look for its words.
#[derive(Clone, Copy)]
struct Speaker<'a> {
    globals: &'a Globals,
    is_original: bool,
}

impl Speaker<'_> {
    /// True if an answer is in the words of the original program. JSON always has leftoff's own form.
    fn has_original_words(self) -> bool {
        self.is_original && !self.globals.json
    }
}

/// The branch for which something is satisfied, for all of its agent sessions together.
#[derive(Clone)]
enum WholeBranch {
    CheckedOut,
    Named(String),
}

impl WholeBranch {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(if text.is_empty() { Self::CheckedOut } else { Self::Named(text.to_owned()) })
    }

    fn name(self) -> Option<String> {
        match self {
            Self::CheckedOut => None,
            Self::Named(name) => Some(name),
        }
    }
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the requirements here, and their state
    List {
        #[command(flatten)]
        who: Who,
    },
    /// Show the state of a branch's requirements, as `leftoff req` alone does
    Status {
        /// Print one line
        #[arg(long)]
        summary: bool,
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        who: Who,
    },
    /// Record requirements as satisfied
    Satisfy {
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Satisfy for every agent session of this branch, or of the named one
        #[arg(short, long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", value_parser = WholeBranch::parse)]
        branch: Option<WholeBranch>,
        /// How long the requirement stays satisfied, such as 30m, 24h or 7d [default: the requirement's setting if it
        /// is measured, else forever]
        #[arg(long, value_name = "DURATION", value_parser = seconds)]
        ttl: Option<u64>,
        /// A value to store with the record, such as a ticket number; may be repeated
        #[arg(long, value_name = "K=V", value_parser = pair)]
        field: Vec<(String, String)>,
        /// A JSON object to store with the record
        #[arg(short, long, value_name = "JSON", value_parser = object)]
        metadata: Option<Map<String, Value>>,
        /// Record that the requirement is bypassed: it no longer blocks, although it was not satisfied
        #[arg(long)]
        bypass: bool,
        #[command(flatten)]
        who: Who,
    },
    /// Clear satisfied and triggered requirements, for one agent session or for all
    Clear {
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Clear all recorded requirements
        #[arg(short, long, conflicts_with = "names")]
        all: bool,
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        who: Who,
    },
    /// Approve continuing although requirements are not met
    Approve {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// How long the approval is valid [default: the requirement's setting if it is measured (5m), else forever]
        #[arg(long, value_name = "DURATION", value_parser = seconds)]
        ttl: Option<u64>,
        #[command(flatten)]
        who: Who,
    },
    /// Suspend requirements for an agent session, until they are resumed or the agent session ends
    Pause {
        /// The reason; stored with the suspension
        #[arg(short, long, value_name = "TEXT", default_value = "manual")]
        reason: String,
        #[command(flatten)]
        who: Who,
    },
    /// Apply requirements again
    Resume {
        #[command(flatten)]
        who: Who,
    },
    /// List agent sessions: who is alive, and who satisfied what when
    Sessions {
        /// List only the agent sessions of this worktree
        #[arg(long)]
        here: bool,
    },
    /// List branches with recorded requirements
    Branches,
    /// Remove records of branches that git no longer has
    Prune,
    /// Show or change the settings of one requirement
    Config(Config),
    /// Create a configuration
    Init(InitRequirements),
    /// Switch the project's requirements on for you alone; with a name, only that one
    Enable {
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Switch the project's requirements off for you alone; with a name, only that one
    Disable {
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Check that agents are set up and the configuration is valid
    #[command(visible_alias = "doctor")]
    Verify {
        /// The location of the original program's own hooks; accepted, but not used
        #[arg(long, value_name = "PATH", hide = true)]
        repo: Option<PathBuf>,
    },
}

impl Action {
    fn intent(&self) -> Intent {
        match self {
            // Queries create nothing.
            Self::List { .. }
            | Self::Status { .. }
            | Self::Sessions { .. }
            | Self::Branches
            | Self::Config(_)
            | Self::Init(_)
            | Self::Enable { .. }
            | Self::Disable { .. }
            | Self::Verify { .. } => Intent::Query,
            Self::Satisfy { .. }
            | Self::Clear { .. }
            | Self::Approve { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Prune => Intent::Command,
        }
    }
}

impl Run for ReqCommand {
    fn run(self, globals: &Globals) -> Outcome {
        let asked = globals.named_session().map(ToOwned::to_owned);
        let globals = &here(globals);
        let action = self.action.unwrap_or_else(|| Action::Status {
            summary: false,
            on: On::default(),
            who: Who::default(),
        });
        let named = |who: Who| who.agent_session.or_else(|| asked.clone());
        let speaker = Speaker { globals, is_original: self.as_original };
        let mut engine = open(globals, action.intent())?;
        let (done, in_original_words, answer) = match action {
            Action::List { who } => return look::list(&engine, named(who).as_deref(), globals),
            Action::Status { summary, on, who } => {
                let list = engine.requirements().list(on.branch.as_deref(), named(who).as_deref())?;
                let list = list.of_a_branch(engine.project())?;
                return look::status(&list, summary, &engine, speaker);
            }
            Action::Sessions { here } => return look::sessions(&engine, here, speaker),
            Action::Branches => return look::branches(&engine, speaker),
            Action::Prune => return look::pruned(&TrackedBranch::prune(engine.project())?, speaker),
            Action::Config(config) => return config.run(&engine, speaker),
            Action::Init(init) => return init.run(&engine, speaker),
            Action::Enable { name } => return configure::switch(&engine, name.as_deref(), true, speaker),
            Action::Disable { name } => return configure::switch(&engine, name.as_deref(), false, speaker),
            Action::Verify { repo: _ } => return look::verify(&engine, speaker),
            Action::Satisfy { names, branch, ttl, field, metadata, bypass, who } => {
                let (names, branch) = names_and_branch(names, branch)?;
                let fields = field.into_iter().map(|(name, value)| (name, guess(&Given::Text(value))));
                let request = SatisfyRequest {
                    metadata: metadata.unwrap_or_default().into_iter().chain(fields).collect(),
                    agent_session: named(who),
                    for_the_branch: branch.is_some(),
                    branch: branch.and_then(WholeBranch::name),
                    ttl_seconds: ttl,
                    unknown_too: self.as_original,
                    bypass,
                    names,
                };
                let (names, for_the_branch) = (request.names.clone(), request.for_the_branch);
                let answer = engine.change_requirements(RequirementRequest::Satisfy(request))?;
                let words = original::satisfied(&names, for_the_branch, &answer.list);
                ("satisfied", Some(words), answer)
            }
            Action::Clear { names, all, on, who } => {
                refuse_clearing_nothing(&names, all, speaker)?;
                let clearing = if all { Clearing::All } else { Clearing::Named(names.clone()) };
                // The original program clears a requirement for everybody, whichever agent session is named.
                let agent_session = named(who).filter(|_| !speaker.is_original);
                let branch = on.branch;
                let request = RequirementRequest::Clear { clearing, branch, agent_session };
                let answer = engine.change_requirements(request)?;
                ("cleared", Some(original::cleared(&names, &answer.list)), answer)
            }
            Action::Approve { names, ttl, who } => {
                let (agent_session, ttl_seconds) = (named(who), ttl);
                let request =
                    RequirementRequest::Approve { names: names.clone(), agent_session, ttl_seconds };
                let answer = engine.change_requirements(request)?;
                ("approved", Some(original::satisfied(&names, false, &answer.list)), answer)
            }
            Action::Pause { reason, who } => {
                let request = RequirementRequest::Pause { agent_session: named(who), reason };
                ("paused", None, engine.change_requirements(request)?)
            }
            Action::Resume { who } => {
                let request = RequirementRequest::Resume { agent_session: named(who) };
                ("resumed", None, engine.change_requirements(request)?)
            }
        };
        if let Some(words) = in_original_words.filter(|_| speaker.has_original_words()) {
            globals.out().text(&words)?;
            return Ok(ExitCode::SUCCESS);
        }
        show(done, &answer, &engine, globals)
    }
}

/// The options for a `req` command. `--session` names an agent session here, and the agent's environment may name the
/// project.
fn here(globals: &Globals) -> Globals {
    let mut here = globals.clone();
    here.options.session = None;
    let set =
        || std::env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    here.options.project = here.options.project.or_else(set);
    here
}

/// Refuses to clear if no requirement is named. In the original's words, the exit code is 1, as for every failure of
/// the original program.
fn refuse_clearing_nothing(names: &[String], all: bool, speaker: Speaker<'_>) -> Result<(), Failure> {
    if all || !names.is_empty() {
        return Ok(());
    }
    let (message, hint) = ("no requirement was given", "give one, or clear all: leftoff req clear --all");
    if speaker.is_original {
        return Err(Failure::failed(message.to_owned(), hint));
    }
    Err(Failure::wrong_usage(message, hint))
}

/// The names of requirements, and the branch if `--branch` was given. If only one word is given, after `--branch`, it
/// is the name of a requirement.
fn names_and_branch(
    names: Vec<String>,
    branch: Option<WholeBranch>,
) -> Result<(Vec<String>, Option<WholeBranch>), Failure> {
    match (names.is_empty(), branch) {
        (false, branch) => Ok((names, branch)),
        (true, Some(WholeBranch::Named(name))) => Ok((vec![name], Some(WholeBranch::CheckedOut))),
        (true, Some(WholeBranch::CheckedOut) | None) => {
            Err(Failure::wrong_usage("no requirement was given", "see the requirements: leftoff req list"))
        }
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("the value is not a JSON object: {error}"))
}

/// Opens the engine. It opens even if the store cannot be opened, because requirements are in the branch's file.
fn open(globals: &Globals, intent: Intent) -> engine::Result<Engine> {
    match globals.open(intent) {
        Err(Error::Store(error)) => {
            globals.out().warn(&format!("{error}; the change is not recorded in a session's log"));
            Engine::open(globals.options.clone(), Intent::WithoutStore)
        }
        opened => opened,
    }
}

fn show(done: &str, answer: &RequirementAnswer, engine: &Engine, globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in &answer.said {
        out.warn(line);
    }
    ui::answer::warn(&answer.list.warnings, &out);
    let done = if answer.already { "already done; nothing changed" } else { done };
    out.say(done);
    if !out.is_quiet() {
        out.text(&ui::requirements::list(&answer.list, engine.now(), &out))?;
    }
    Ok(ExitCode::SUCCESS)
}
