//! Handles an agent's prompts and tool uses. Records touched files and executed commands.

use crate::engine::{Engine, read_event};
use crate::error::Result;
use crate::hooks::memory::Memory;
use crate::hooks::{AgentMessage, HookEvent, Reply, ToolCall, Verdict, one_problem};
use crate::requirements;
use crate::view::View;
use crate::words::one_line;
use model::actor::Actor;
use model::event::Recorded;
use model::id::SessionId;
use store::{ActivityKind, ActivityRow};

/// The maximum number of changes that are reported at once.
const MOST_CHANGES: usize = 20;

/// Returns a short message: the session, and its next step. The agent can ask for more.
pub(super) fn session_in_short(view: View) -> AgentMessage {
    let next = match &view.next.command {
        Some(command) => format!("{} `{command}`", view.next.summary),
        None => view.next.summary.to_string(),
    };
    AgentMessage::Session { id: view.session_id, title: view.title, next }
}

impl Engine {
    /// Reports the changes that others made since the last report to this agent.
    pub(super) fn prompted(&mut self, event: &HookEvent) -> Result<Reply> {
        let Some(session) = self.at_work()? else { return Ok(Reply::default()) };
        let Some(loaded) = self.store.load(&session)? else { return Ok(Reply::default()) };
        let before = self.known(event)?.map(|known| known.memory);
        let memory = Memory::of(session.as_str(), loaded.row.version);
        // The whole memory is compared, except the last stop event.
        if before.as_ref().is_some_and(|before| Memory { heard: None, ..before.clone() } == memory) {
            return Ok(Reply::default());
        }
        let known = before.as_ref().filter(|known| known.session == memory.session);
        let changes = self.changes_by_others(event, &session, known.map_or(0, |known| known.told))?;
        let messages = match (known, changes) {
            (_, None) => None,
            (Some(_), changes) => changes,
            // The session on which the agent works was not reported to the agent yet.
            (None, Some(_)) => Some(self.newly_met(&session)?),
        };
        let problem = if before.is_some() {
            let trace = store::Trace { memory: Some(memory.text()), ..self.trace_of(event) };
            self.leave(&trace)
        } else {
            // The start of the conversation was never reported: the hooks or the store were set up after it.
            let greeted = self.greet(&event.agent, Some(session), Some(memory.text()), self.patience.left());
            greeted.err().map(|error| error.to_string())
        };
        Ok(Reply { messages: messages.into_iter().collect(), problem, ..Reply::default() })
    }

    fn changes_by_others(
        &self,
        event: &HookEvent,
        session: &SessionId,
        after: u64,
    ) -> Result<Option<AgentMessage>> {
        // More events are read than reported, because there may be the agent's own changes among them.
        const MOST_READ: usize = 500;
        let rows = self.store.events(session, after, Some(MOST_READ))?;
        let mut events: Vec<Recorded> =
            rows.iter().map(|row| read_event(session, row)).collect::<Result<_>>()?;
        events.retain(|recorded| !is_by(event, &recorded.actor));
        let more = events.len() > MOST_CHANGES || rows.len() == MOST_READ;
        events.truncate(MOST_CHANGES);
        let messages =
            AgentMessage::Changes { session: session.to_string(), events, more, now: self.clock.now() };
        Ok(match &messages {
            AgentMessage::Changes { events, .. } if events.is_empty() => None,
            _ => Some(messages),
        })
    }

    fn newly_met(&self, session: &SessionId) -> Result<AgentMessage> {
        Ok(session_in_short(self.view_by_id(session)?))
    }

    /// Checks the project's requirements.
    pub(super) fn about_to_use(&mut self, event: &HookEvent, call: &ToolCall) -> Reply {
        let files: Vec<&str> = call.files.iter().map(String::as_str).collect();
        let gated = self.before_tool(&asked(event, call, &files));
        let (messages, verdict) = match gated.answer {
            requirements::Verdict::Allow => (Vec::new(), Verdict::Allow),
            requirements::Verdict::Warn(text) => (vec![AgentMessage::Words(text)], Verdict::Allow),
            requirements::Verdict::Deny(reason) => (Vec::new(), Verdict::Deny(reason)),
        };
        Reply { messages, verdict, problem: one_problem(&gated.problems) }
    }

    pub(super) fn used(&mut self, event: &HookEvent, call: &ToolCall) -> Result<Reply> {
        let files: Vec<&str> = call.files.iter().map(String::as_str).collect();
        let gated = self.after_tool(&asked(event, call, &files));
        let mut problems = gated.problems;
        // The start of the conversation was never recorded: the store was created after it, perhaps by this very call.
        if self.known(event)?.is_none() {
            problems.extend(self.recognise(&event.agent));
        }
        problems.extend(self.write_down(event, call, None)?);
        let messages = match gated.answer.as_slice() {
            [] => Vec::new(),
            names => vec![AgentMessage::Words(format!("Satisfied now: {}", names.join(", ")))],
        };
        Ok(Reply { messages, problem: one_problem(&problems), ..Reply::default() })
    }

    pub(super) fn failed_to_use(&mut self, event: &HookEvent, call: &ToolCall, error: &str) -> Result<Reply> {
        let files: Vec<&str> = call.files.iter().map(String::as_str).collect();
        let mut problems = self.tool_failed(&asked(event, call, &files), error).problems;
        problems.extend(self.write_down(event, call, Some(error))?);
        Ok(Reply::unless(&problems))
    }

    /// Records touched files and executed commands for the agent's session.
    fn write_down(
        &mut self,
        event: &HookEvent,
        call: &ToolCall,
        failed: Option<&str>,
    ) -> Result<Option<String>> {
        if call.leaves_nothing() || call.is_ours() {
            return Ok(None);
        }
        let rows = self.rows_of(event, call, failed);
        if rows.is_empty() {
            return Ok(None);
        }
        let mut trace = self.trace_of(event);
        trace.once = call.id.as_ref().map(|id| format!("hook {} after {id}", event.agent.id));
        if self.queues() {
            return Ok(self.queue(&trace, &rows));
        }
        let Some(session) = self.at_work()? else { return Ok(None) };
        trace.activity = Some((session, rows));
        Ok(self.leave(&trace))
    }

    fn rows_of(&self, event: &HookEvent, call: &ToolCall, failed: Option<&str>) -> Vec<ActivityRow> {
        let mut rows = Vec::new();
        // If the tool failed, it changed no file.
        if failed.is_none() {
            let named = call.files.iter().map(|path| self.named(event, path));
            rows.extend(named.filter_map(|path| self.activity_row(ActivityKind::File, &path, None)));
        }
        if let Some(command) = &call.command {
            let outcome = failed.map(|error| format!("failed: {}", one_line(error, 120)));
            rows.extend(self.activity_row(ActivityKind::Command, command, outcome.as_deref()));
        }
        rows
    }

    /// Returns a file's path relative to the project.
    fn named(&self, event: &HookEvent, path: &str) -> String {
        let whole = event.folder.join(path);
        let root = &self.project.root;
        let inside = whole.strip_prefix(root).map(ToOwned::to_owned).or_else(|_| {
            // The agent may use another path to the project, which goes through a symbolic link.
            let folder = whole.parent().and_then(|folder| folder.canonicalize().ok()).unwrap_or_default();
            folder.join(whole.file_name().unwrap_or_default()).strip_prefix(root).map(ToOwned::to_owned)
        });
        inside.map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
    }
}

fn asked<'a>(event: &'a HookEvent, call: &'a ToolCall, files: &'a [&'a str]) -> requirements::ToolCall<'a> {
    requirements::ToolCall {
        agent: &event.agent,
        tool: &call.name,
        command: call.command.as_deref(),
        files,
        skill: call.skill.as_deref(),
        tool_use_id: call.id.as_deref(),
    }
}

fn is_by(event: &HookEvent, actor: &Actor) -> bool {
    match actor {
        Actor::Agent { agent, id, .. } => *agent == event.agent.agent && *id == event.agent.id,
        Actor::Person { .. } | Actor::Tool { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
    }
}
