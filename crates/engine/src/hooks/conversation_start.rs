//! Handles the start or return of an agent session. Tells the agent about the state of the work, if there is a session.

use crate::engine::Engine;
use crate::error::Result;
use crate::failpoint;
use crate::git::Asked;
use crate::hooks::memory::Memory;
use crate::hooks::prompts_and_tools::session_in_short;
use crate::hooks::{AgentMessage, HookEvent, Reply, Source, one_problem};
use crate::time_limits::TOO_LATE_FOR_A_BRIEF;
use crate::view::Warning;
use crate::words::defused;
use model::id::SessionId;
use std::time::Instant;

const LONGEST: usize = 300;

impl Engine {
    pub(super) fn arrived(&mut self, event: &HookEvent, source: Source, started: Instant) -> Result<Reply> {
        // git takes longer than the rest of the brief, so it starts before leftoff knows whether there is a session.
        let git_status = self.ask_status();
        let mut problems: Vec<String> = self.recognise(&event.agent).into_iter().collect();
        let session = self.session_to_report(source)?;
        let memory = match &session {
            Some(id) => self.store.load(id)?.map(|found| Memory::of(id.as_str(), found.row.version)),
            None => None,
        };
        let memory = memory.unwrap_or_default();
        // The brief is shown even if the agent's presence cannot be recorded.
        let greeted = self.greet(&event.agent, session.clone(), Some(memory.text()), self.patience.left());
        problems.extend(greeted.err().map(|error| error.to_string()));
        let opening = self.at_start(&event.agent, source.name());
        problems.extend(opening.problems);
        let mut messages = Vec::new();
        if let Some(id) = session {
            messages.push(self.state_of_the_work(&id, source, started, git_status)?);
            let carried = opening.answer.carried_over;
            if !carried.is_empty() {
                let names = carried.join(", ");
                messages.push(AgentMessage::Words(format!(
                    "Carried over from the previous agent session: {names}"
                )));
            }
        } else {
            messages.extend(opening.answer.text.map(AgentMessage::Words));
            messages.extend(self.news_of_other_machines().map(AgentMessage::Words));
        }
        Ok(Reply { messages, problem: one_problem(&problems), ..Reply::default() })
    }

    /// Returns the brief, which already contains requirements and other agents. On a machine so busy that the agent may
    /// not wait for it, returns only what the work is and what is next.
    fn state_of_the_work(
        &self,
        id: &SessionId,
        source: Source,
        started: Instant,
        git_status: Option<Asked>,
    ) -> Result<AgentMessage> {
        let mut view = self.view_by_id(id)?;
        if started.elapsed() > TOO_LATE_FOR_A_BRIEF || failpoint::is_asked("LEFTOFF_TEST_LATE") {
            return Ok(session_in_short(view));
        }
        self.add_health(&mut view);
        self.add_rounds(&mut view);
        let brief = Box::new(self.brief_of(view, git_status)?);
        Ok(AgentMessage::Brief { brief, compacted: source == Source::Compact })
    }

    /// Returns the session to report to the agent: the active one. If none is active after a compaction, returns the
    /// one on which the agent worked, even if it is finished. Otherwise returns an unfinished one.
    fn session_to_report(&self, source: Source) -> Result<Option<SessionId>> {
        let was_compacted = source == Source::Compact;
        match (self.at_work()?, self.bound_session()?) {
            (Some(session), _) => Ok(Some(session)),
            (None, Some(bound)) if was_compacted => Ok(self.store.load(&bound)?.map(|found| found.row.id)),
            (None, _) => self.unfinished(),
        }
    }

    /// Lists open sessions that came from other machines, for an agent that has no session here.
    fn news_of_other_machines(&self) -> Option<String> {
        if !self.is_shared() {
            return None;
        }
        let elsewhere = self.sessions_elsewhere().unwrap_or_default();
        let line = |warning: &Warning| {
            let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("- {}{hint}", defused(&warning.message, LONGEST))
        };
        let lines: Vec<String> = elsewhere.iter().map(line).collect();
        (!lines.is_empty()).then(|| format!("leftoff: no active session here.\n{}", lines.join("\n")))
    }
}
