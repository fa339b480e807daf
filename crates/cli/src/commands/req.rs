//! `leftoff req`

mod configure;
mod look;

use crate::arguments::{pair, seconds};
use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use configure::{Config, InitRequirements};
use engine::{Clearing, Engine, Error, Intent, RequirementAnswer, SatisfyRequest};
use model::gate::{Given, guess};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::ExitCode;

/// Requirements: what agents need here before they may use a tool, and who has it
///
/// Set in .claude/requirements.yaml and in workflows. A requirement is satisfied for one agent session or for the whole branch; the agent session is the one that runs this command, else the only one that is alive on this branch. Here `--session` names an agent session, as `--agent-session` does. The words of the requirements framework's own program work behind `leftoff req`; `leftoff init --req-shim` makes it a program `req`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff req list\n  leftoff req satisfy commit_plan adr_reviewed\n  leftoff req satisfy github_ticket --field ticket=#42\n  leftoff req approve branch_size --ttl 10m --agent-session a4326893\n  leftoff req sessions"
)]
pub struct ReqCommand {
    #[command(subcommand)]
    action: Option<Action>,

    /// Stands for the original's program
    #[arg(long, hide = true)]
    as_original: bool,
}

#[derive(clap::Args, Default)]
struct Who {
    /// The agent session, by its id or the first eight characters [default: the one that runs this, else the only one alive here]
    #[arg(short = 's', long, value_name = "ID")]
    agent_session: Option<String>,
}

#[derive(clap::Args, Default)]
struct On {
    /// A branch, checked out or not [default: the one that is checked out]
    #[arg(short, long, value_name = "NAME")]
    branch: Option<String>,
}

/// A branch for whose every agent session something is satisfied.
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
    /// What is required here, and how it stands
    List {
        #[command(flatten)]
        who: Who,
    },
    /// How the requirements of a branch stand: what `leftoff req` alone shows
    Status {
        /// One line
        #[arg(long)]
        summary: bool,
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        who: Who,
    },
    /// Write down that requirements are satisfied
    Satisfy {
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// For every agent session of this branch, or of the one that is named
        #[arg(short, long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", value_parser = WholeBranch::parse)]
        branch: Option<WholeBranch>,
        /// How long it holds, such as 30m, 24h or 7d [default: what the requirement says where it is measured, else for ever]
        #[arg(long, value_name = "DURATION", value_parser = seconds)]
        ttl: Option<u64>,
        /// Something to keep with it, such as a ticket's number; may be given several times
        #[arg(long, value_name = "K=V", value_parser = pair)]
        field: Vec<(String, String)>,
        /// A JSON object to keep with it
        #[arg(short, long, value_name = "JSON", value_parser = object)]
        metadata: Option<Map<String, Value>>,
        /// Say that it is passed over, and was not done
        #[arg(long)]
        bypass: bool,
        #[command(flatten)]
        who: Who,
    },
    /// Forget that requirements are satisfied and were triggered, for every agent session unless one is named
    Clear {
        #[arg(value_name = "NAME", required_unless_present = "all")]
        names: Vec<String>,
        /// All that are on record
        #[arg(short, long, conflicts_with = "names")]
        all: bool,
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        who: Who,
    },
    /// Agree to go on although requirements are not met
    Approve {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// How long it holds [default: what the requirement says where it is measured (5m), else for ever]
        #[arg(long, value_name = "DURATION", value_parser = seconds)]
        ttl: Option<u64>,
        #[command(flatten)]
        who: Who,
    },
    /// Ask nothing of an agent session, until it is resumed or ends
    Pause {
        /// Why; kept with the pause
        #[arg(short, long, value_name = "TEXT", default_value = "manual")]
        reason: String,
        #[command(flatten)]
        who: Who,
    },
    /// Ask again
    Resume {
        #[command(flatten)]
        who: Who,
    },
    /// Agent sessions side by side: who lives, and who satisfied what when
    Sessions {
        /// Only those of this worktree
        #[arg(long)]
        here: bool,
    },
    /// Branches whose requirements are on record
    Branches,
    /// Remove what is on record of branches that git no longer has
    Prune,
    /// Show or change the settings of one requirement
    Config(Config),
    /// Begin a configuration
    Init(InitRequirements),
    /// Switch the project's requirements on, for you alone
    Enable,
    /// Switch the project's requirements off, for you alone
    Disable,
    /// Look whether agents are wired and the configuration can be used
    Verify,
}

impl Action {
    fn intent(&self) -> Intent {
        match self {
            // A question sets nothing up.
            Self::List { .. }
            | Self::Status { .. }
            | Self::Sessions { .. }
            | Self::Branches
            | Self::Config(_)
            | Self::Init(_)
            | Self::Enable
            | Self::Disable
            | Self::Verify => Intent::Query,
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
        let mut engine = open(globals, action.intent())?;
        let (done, answer) = match action {
            Action::List { who } => return look::list(&engine, named(who).as_deref(), globals),
            Action::Status { summary, on, who } => {
                let list = engine.requirement_status(on.branch.as_deref(), named(who).as_deref())?;
                return look::status(&list, summary, &engine, globals);
            }
            Action::Sessions { here } => return look::sessions(&engine, here, globals),
            Action::Branches => return look::branches(&engine, globals),
            Action::Prune => return look::pruned(&engine.prune_requirements()?, globals),
            Action::Config(config) => return config.run(&engine, globals),
            Action::Init(init) => return init.run(&engine, globals),
            Action::Enable => return configure::switch(&engine, true, globals),
            Action::Disable => return configure::switch(&engine, false, globals),
            Action::Verify => return look::verify(&engine, globals),
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
                ("satisfied", engine.satisfy_requirements(&request)?)
            }
            Action::Clear { names, all, on, who } => {
                let clearing = if all { Clearing::All } else { Clearing::Named(&names) };
                let who = named(who);
                ("cleared", engine.clear_requirements(clearing, on.branch.as_deref(), who.as_deref())?)
            }
            Action::Approve { names, ttl, who } => {
                ("approved", engine.approve_requirements(&names, named(who).as_deref(), ttl)?)
            }
            Action::Pause { reason, who } => {
                ("paused", engine.pause_requirements(named(who).as_deref(), &reason)?)
            }
            Action::Resume { who } => ("resumed", engine.resume_requirements(named(who).as_deref())?),
        };
        show(done, &answer, &engine, globals)
    }
}

/// `--session` names an agent session here, and the agent's own environment may name the project.
fn here(globals: &Globals) -> Globals {
    let mut here = globals.clone();
    here.options.session = None;
    let set =
        || std::env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    here.options.project = here.options.project.or_else(set);
    here
}

/// `--branch` may be followed by a branch. A name alone behind it is what is to be satisfied.
fn names_and_branch(
    names: Vec<String>,
    branch: Option<WholeBranch>,
) -> Result<(Vec<String>, Option<WholeBranch>), Failure> {
    match (names.is_empty(), branch) {
        (false, branch) => Ok((names, branch)),
        (true, Some(WholeBranch::Named(name))) => Ok((vec![name], Some(WholeBranch::CheckedOut))),
        (true, Some(WholeBranch::CheckedOut) | None) => {
            Err(Failure::wrong_usage("no requirement is named", "see what there is: leftoff req list"))
        }
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))
}

/// Requirements stand in the branch's file: a store that cannot be opened is no reason not to change them.
fn open(globals: &Globals, intent: Intent) -> engine::Result<Engine> {
    match globals.open(intent) {
        Err(Error::Store(error)) => {
            globals.out().warn(&format!("{error}; what is done is not told in a session's log"));
            Engine::without_store(globals.options.clone())
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
    ui::session::warn(&answer.list.warnings, &out);
    let done = if answer.already { "already done; nothing changed" } else { done };
    out.say(done);
    out.text(&ui::requirements::list(&answer.list, engine.now(), &out))?;
    Ok(ExitCode::SUCCESS)
}
