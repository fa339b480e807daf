//! `leftoff req`

use crate::arguments::{pair, seconds};
use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use engine::{Clearing, Engine, Error, Intent, RequirementAnswer, SatisfyRequest};
use model::gate::{Given, guess};
use std::process::ExitCode;

/// Requirements: what agents need here before they may use a tool, and who has it
///
/// Set in .claude/requirements.yaml and in workflows. A requirement is satisfied for one agent session or for the whole branch; the agent session is the one that runs this command, else the only one that is alive on this branch.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff req list\n  leftoff req satisfy commit_plan adr_reviewed\n  leftoff req satisfy github_ticket --field ticket=#42\n  leftoff req approve branch_size --ttl 10m --agent-session a4326893"
)]
pub struct ReqCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Args)]
struct Who {
    /// The agent session, by its id or the first eight characters [default: the one that runs this, else the only one alive here]
    #[arg(long, value_name = "ID")]
    agent_session: Option<String>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// What is required here, and how it stands
    List {
        #[command(flatten)]
        who: Who,
    },
    /// Write down that requirements are satisfied
    Satisfy {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// For every agent session of this branch
        #[arg(long)]
        branch: bool,
        /// How long it holds, such as 30m, 24h or 7d [default: for ever]
        #[arg(long, value_name = "DURATION", value_parser = seconds)]
        ttl: Option<u64>,
        /// Something to keep with it, such as a ticket's number; may be given several times
        #[arg(long, value_name = "K=V", value_parser = pair)]
        field: Vec<(String, String)>,
        /// Say that it is passed over, and was not done
        #[arg(long)]
        bypass: bool,
        #[command(flatten)]
        who: Who,
    },
    /// Take back that requirements are satisfied
    Clear {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        who: Who,
    },
    /// Agree to go on for a while although requirements are not met
    Approve {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// How long it holds [default: what the requirement says, else 5m]
        #[arg(long, value_name = "DURATION", value_parser = seconds)]
        ttl: Option<u64>,
        #[command(flatten)]
        who: Who,
    },
    /// Ask nothing of an agent session, until it is resumed or ends
    Pause {
        #[command(flatten)]
        who: Who,
    },
    /// Ask again
    Resume {
        #[command(flatten)]
        who: Who,
    },
}

impl Run for ReqCommand {
    fn run(self, globals: &Globals) -> Outcome {
        // A question sets nothing up.
        let intent = if matches!(self.action, Action::List { .. }) { Intent::Query } else { Intent::Command };
        let mut engine = open(globals, intent)?;
        let (done, answer) = match self.action {
            Action::List { who } => return list(&engine, &who, globals),
            Action::Satisfy { names, branch, ttl, field, bypass, who } => {
                let metadata = field.into_iter().map(|(name, value)| (name, guess(&Given::Text(value))));
                let request = SatisfyRequest {
                    metadata: metadata.collect(),
                    agent_session: who.agent_session,
                    for_the_branch: branch,
                    ttl_seconds: ttl,
                    bypass,
                    names,
                    ..SatisfyRequest::default()
                };
                ("satisfied", engine.satisfy_requirements(&request)?)
            }
            Action::Clear { names, who } => (
                "cleared",
                engine.clear_requirements(Clearing::Named(&names), None, who.agent_session.as_deref())?,
            ),
            Action::Approve { names, ttl, who } => {
                ("approved", engine.approve_requirements(&names, who.agent_session.as_deref(), ttl)?)
            }
            Action::Pause { who } => {
                ("paused", engine.pause_requirements(who.agent_session.as_deref(), "manual")?)
            }
            Action::Resume { who } => ("resumed", engine.resume_requirements(who.agent_session.as_deref())?),
        };
        show(done, &answer, &engine, globals)
    }
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

fn list(engine: &Engine, who: &Who, globals: &Globals) -> Outcome {
    let list = engine.requirement_list(who.agent_session.as_deref())?;
    let out = globals.out();
    if globals.json {
        out.json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::session::warn(&list.warnings, &out);
    if list.requirements.is_empty() {
        out.say("nothing is required here; see .claude/requirements.yaml and `[requirement.*]` of workflows");
    } else {
        out.text(&ui::requirements::list(&list, engine.now(), &out))?;
    }
    Ok(ExitCode::SUCCESS)
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
    let done = if answer.already { "nothing to change, it is so already" } else { done };
    out.say(done);
    out.text(&ui::requirements::list(&answer.list, engine.now(), &out))?;
    Ok(ExitCode::SUCCESS)
}
