//! Handles the start or return of an agent session. Tells the agent about the state of the work, if there is a session.

use crate::engine::Engine;
use crate::error::Result;
use crate::hooks::memory::Memory;
use crate::hooks::{AgentMessage, HookEvent, Reply, Source, one_problem};
use crate::view::Warning;
use crate::words::defused;
use model::id::SessionId;

const LONGEST: usize = 300;

impl Engine {
    pub(super) fn arrived(&mut self, event: &HookEvent, source: Source) -> Result<Reply> {
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
            // The brief already contains requirements and other agents.
            let mut view = self.view_by_id(&id)?;
            self.add_health(&mut view);
            self.add_rounds(&mut view);
            let brief = Box::new(self.brief_of(view, git_status)?);
            messages.push(AgentMessage::Brief { brief, compacted: source == Source::Compact });
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
