//! Agents' hooks: one model of events, one handler for all agents. Never prints, and knows no protocol.

mod conversation_start;
mod event;
mod memory;
mod prompts_and_tools;
mod queue;
mod renamed;
mod statusline;
mod stopping;
mod tool;

pub use event::{Happened, HookEvent, Source, Subagent, fingerprint};
pub(crate) use memory::{ended, has_ended};
pub use statusline::{StatusLine, status_line};
pub use tool::ToolCall;

use crate::brief::Brief;
use crate::engine::{Engine, HookNeeds, Intent, Options, Patience, Want};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::time_limits::HOOK_PATIENCE;
use crate::words::defused;
use memory::{Known, Memory};
use model::event::Recorded;
use model::id::SessionId;
use std::time::Instant;
use store::Trace;

/// The answer to an event of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Messages for the agent, in the order in which they are shown.
    pub messages: Vec<AgentMessage>,
    pub verdict: Verdict,
    /// The description of a problem. The agent continues in spite of it.
    pub problem: Option<String>,
}

/// A message for an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentMessage {
    /// The brief. `compacted` is true after a compaction, when the agent has forgotten what it did.
    Brief { brief: Box<Brief>, compacted: bool },
    /// A session that the agent does not know yet.
    Session { id: String, title: String, next: String },
    /// Changes by others to the agent's session, oldest first.
    Changes { session: String, events: Vec<Recorded>, more: bool, now: jiff::Timestamp },
    /// Other text, such as the project's requirements, or which other agents are here.
    Words(String),
}

/// Says if the agent may take its next action.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Verdict {
    #[default]
    Allow,
    /// The agent must not use this tool now. Contains the reason.
    Deny(String),
    /// The agent must not end its turn yet. Contains the reason.
    Hold(String),
}

impl Reply {
    /// Returns a reply that contains only the problems, if there are any.
    fn unless(problems: &[String]) -> Self {
        Self { problem: one_problem(problems), ..Self::default() }
    }
}

/// Joins problems on one line; `None` if there are none.
fn one_problem(problems: &[String]) -> Option<String> {
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// Answers an event of an agent. An error means that leftoff does not work here. The error must not block the agent.
pub fn respond(event: &HookEvent) -> Result<Reply> {
    let needs = match &event.happened {
        Happened::Other => return Ok(Reply::default()),
        Happened::BeforeTool(_) | Happened::Compacting | Happened::Compacted => HookNeeds::Reads,
        Happened::Arrived { .. } => HookNeeds::Arrives,
        Happened::AfterTool(_) | Happened::ToolFailed { .. } => HookNeeds::WritesDown,
        Happened::Prompt
        | Happened::Stopping { .. }
        | Happened::SubagentStopping { .. }
        | Happened::Ended => HookNeeds::Writes,
    };
    let options = Options { project: Some(event.folder.clone()), ..Options::default() };
    let (mut engine, problem) = match Engine::open(options.clone(), Intent::Hook(needs)) {
        Ok(engine) => (engine, None),
        // The folder is not in a leftoff project, so there is nothing to report.
        Err(Error::NoProject { .. }) => return Ok(Reply::default()),
        // Requirements come from the project, and can be checked without the store.
        Err(error) => (Engine::open(options, Intent::WithoutStore)?, Some(error.to_string())),
    };
    engine.caller.agent = Some(event.agent.clone());
    let started = Instant::now();
    engine.patience = Patience::Until(started + HOOK_PATIENCE);
    failpoint::reached("hook");
    let reply = engine.answer(event, started);
    // The engine is deliberately not dropped, which saves time: the process ends next, and then the kernel closes its
    // files.
    std::mem::forget(engine);
    let is_arrival = matches!(event.happened, Happened::Arrived { .. });
    let (mut reply, unread) = match reply {
        Err(error) if is_arrival => (Reply::unless(&[error.to_string()]), Some(error.to_string())),
        other => (other?, problem.clone().filter(|_| is_arrival)),
    };
    reply.problem = problem.or(reply.problem);
    // Silence would tell the agent that there is no work to continue.
    if let Some(problem) = unread {
        reply.messages.push(AgentMessage::Words(without_state(&problem)));
    }
    Ok(reply)
}

/// Returns the message for an agent that arrives while leftoff cannot read the state of the work.
fn without_state(problem: &str) -> String {
    let problem = defused(problem, 300);
    format!(
        "leftoff could not read the state of the work here ({problem}). Ask again before you begin: \
         `leftoff brief --format markdown`"
    )
}

impl Engine {
    fn answer(&mut self, event: &HookEvent, started: Instant) -> Result<Reply> {
        match &event.happened {
            Happened::Arrived { source } => self.arrived(event, *source, started),
            Happened::Prompt => self.prompted(event),
            Happened::BeforeTool(call) => Ok(self.about_to_use(event, call)),
            Happened::AfterTool(call) => self.used(event, call),
            Happened::ToolFailed { call, error } => self.failed_to_use(event, call, error),
            Happened::Stopping { again, last_words } => self.stopping(event, *again, last_words.as_deref()),
            Happened::SubagentStopping { again } => self.subagent_stopping(event, *again),
            Happened::Compacting => {
                let delivery = event.delivery.as_deref();
                Ok(Reply::unless(&self.compacted(&event.agent, delivery).problems))
            }
            Happened::Ended => Ok(Reply::unless(&self.at_end(&event.agent).problems)),
            Happened::Compacted | Happened::Other => Ok(Reply::default()),
        }
    }

    /// Returns the session on which the agent works: the one bound to the agent, or else that of the worktree.
    fn at_work(&self) -> Result<Option<SessionId>> {
        match self.select(Want::Unfinished) {
            Ok(id) => Ok(Some(id)),
            Err(Error::NoSession { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn known(&self, event: &HookEvent) -> Result<Option<Known>> {
        let row = self.store.agent(&event.agent.agent, &event.agent.id)?;
        Ok(row.map(|row| Known {
            memory: row.memory.as_deref().map(Memory::read).unwrap_or_default(),
            text: row.memory.unwrap_or_default(),
            last_seen: row.last_seen,
        }))
    }

    /// Returns the trace of an event, still without activity.
    fn trace_of(&self, event: &HookEvent) -> Trace {
        Trace {
            at: self.clock.now(),
            once: None,
            agent: event.agent.agent.clone(),
            agent_session: event.agent.id.clone(),
            memory: None,
            expects: None,
            activity: None,
        }
    }

    /// Records a trace. If this fails, returns a message, and does not block the agent.
    fn leave(&mut self, trace: &Trace) -> Option<String> {
        self.store.trace(trace, self.patience.left()).err().map(|error| Error::from(error).to_string())
    }
}
