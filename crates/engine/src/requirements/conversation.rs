//! The start, compactions and end of an agent session.

use super::live_agents::LiveAgent;
use super::{Gated, Ground, wording};
use crate::engine::Engine;
use crate::hooks;
use crate::presence::AgentIdentity;
use crate::words::{ago, one_line};
use layouts::requirements::{AgentKey, CarryOver, Count, Counted};
use model::workflow::RequirementScope;
use serde::Serialize;
use std::fmt::Write;
use store::AgentRow;

/// The message to an agent session that starts, with the data in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Opening {
    /// The requirements that are not satisfied.
    pub open: Vec<OpenRequirement>,
    /// The requirements that an earlier agent session satisfied, and that count for this one too.
    pub carried_over: Vec<String>,
    pub others: Vec<LiveAgent>,
    /// True if requirements are paused for this agent session.
    pub paused: bool,
    /// All of this as text; `None` if there is nothing to say.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenRequirement {
    pub name: String,
    pub scope: RequirementScope,
    /// True if the requirement only reminds and never blocks.
    pub advisory: bool,
    pub how: Vec<String>,
}

impl Engine {
    /// Answers an agent session that starts or returns. `source` says how it started, in the agent's word: `startup`,
    /// `clear`, `resume` or `compact`.
    pub(crate) fn at_start(&mut self, identity: &AgentIdentity, source: &str) -> Gated<Opening> {
        self.asked_by(identity);
        let (Some(ground), Some(agent)) = (self.hook_ground(), AgentKey::new(&identity.id)) else {
            return Gated::fine(Opening::default());
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        let mut opening = Opening::default();
        if rules.enabled().next().is_some() {
            problems.extend(self.register(&ground, identity, &agent).err().map(|error| error.to_string()));
            let names = |scopes: &[RequirementScope]| {
                let in_scope = rules.enabled().filter(|requirement| scopes.contains(&requirement.scope));
                in_scope.map(|requirement| requirement.name.clone()).collect::<Vec<_>>()
            };
            if let Some(carry_over) = &rules.settings.carry_over
                && matches!(source, "startup" | "clear")
            {
                let names = names(&carry_over.scopes);
                opening.carried_over = self.carry_over(&ground, &agent, carry_over, &names, &mut problems);
            }
            opening.paused = ground.is_paused(&agent);
            let views = self.views(&ground, &rules, Some(identity), true);
            problems.extend(views.problems);
            opening.open = views
                .answer
                .into_iter()
                .filter(|view| !view.satisfied)
                .map(|view| OpenRequirement {
                    name: view.name,
                    scope: view.scope,
                    advisory: view.advisory,
                    how: view.how,
                })
                .collect();
        }
        match self.other_agents(Some(identity)) {
            Ok(others) => opening.others = others,
            Err(error) => problems.push(error.to_string()),
        }
        opening.text = rules.settings.inject_context.then(|| self.context_text(&opening, &ground)).flatten();
        Gated { answer: opening, problems }
    }

    /// Counts a compaction of the agent's context. A repeated report is counted once.
    pub(crate) fn compacted(&mut self, identity: &AgentIdentity, delivery: Option<&str>) -> Gated<()> {
        self.asked_by(identity);
        let (Some(ground), Some(agent)) = (self.hook_ground(), AgentKey::new(&identity.id)) else {
            return Gated::fine(());
        };
        let rules = self.rules(&ground);
        let mut problems = Vec::new();
        if rules.enabled().next().is_some() {
            let event = delivery.map(ToOwned::to_owned);
            let count = Count { at: self.seconds(), event, what: Counted::Compacted };
            problems.extend(
                ground.count(&agent, self.patience.left(), &count).err().map(|error| error.to_string()),
            );
        }
        Gated { answer: (), problems }
    }

    /// Handles the end of an agent session: removes it from the lists of live agent sessions, and ends its pause. What
    /// it satisfied stays satisfied, unless the configuration says otherwise.
    pub(crate) fn at_end(&mut self, identity: &AgentIdentity) -> Gated<()> {
        self.asked_by(identity);
        let mut problems = Vec::new();
        problems.extend(self.say_farewell(identity).err().map(|error| error.to_string()));
        let (Some(ground), Some(agent)) = (self.ground(), AgentKey::new(&identity.id)) else {
            return Gated { answer: (), problems };
        };
        problems.extend(self.unregister(&agent).err().map(|error| error.to_string()));
        let mut rules = self.rules(&ground);
        problems.append(&mut rules.problems);
        let now = self.seconds();
        if rules.enabled().next().is_some() || ground.metrics(&agent).is_some() {
            let count = Count { at: now, event: None, what: Counted::Ended };
            problems.extend(
                ground.count(&agent, self.patience.left(), &count).err().map(|error| error.to_string()),
            );
        }
        problems.extend(ground.resume(&agent).err().map(|error| error.to_string()));
        if rules.settings.clear_session_state {
            let cleared =
                ground.file().update(self.patience.left(), now, |document| document.clear_session(&agent));
            match cleared {
                Ok(changed) => problems.extend(changed.problem),
                Err(error) => problems.push(error.to_string()),
            }
        }
        Gated { answer: (), problems }
    }

    fn carry_over(
        &mut self,
        ground: &Ground,
        agent: &AgentKey,
        carry_over: &CarryOver,
        names: &[String],
        problems: &mut Vec<String>,
    ) -> Vec<String> {
        let now = self.seconds();
        let window = carry_over.window_seconds;
        let carried = ground.file().update(self.patience.left(), now, |document| {
            let is_open = |document: &layouts::requirements::Document, name: &str| {
                document.satisfaction(name, RequirementScope::Session, Some(agent), now).is_none()
            };
            let mut carried = Vec::new();
            for name in names {
                if is_open(document, name) && document.carry_over(name, agent, window, now) {
                    carried.push(name.clone());
                }
            }
            carried
        });
        match carried {
            Ok(changed) => {
                problems.extend(changed.problem);
                changed.answer
            }
            Err(error) => {
                problems.push(error.to_string());
                Vec::new()
            }
        }
    }

    /// Records that an agent session has ended. The session to which it is bound stays recorded, and its process may
    /// continue with another agent session.
    fn say_farewell(&mut self, identity: &AgentIdentity) -> crate::Result<()> {
        let Some(row) = self.store.agent(&identity.agent, &identity.id)? else { return Ok(()) };
        let last_seen = self.clock.now();
        let gone = match row.memory.as_deref() {
            Some(memory) if hooks::has_ended(memory) => return Ok(()),
            // The process stays recorded: while it runs, its child processes count as the agent's. Anybody can send
            // this event, so the event must not remove the recorded process.
            Some(memory) => AgentRow { memory: Some(hooks::ended(memory)), last_seen, ..row },
            None if row.pid == 0 => return Ok(()),
            None => AgentRow { pid: 0, process_start: 0, boot_id: String::new(), last_seen, ..row },
        };
        Ok(self.store.see_agent(&gone, self.patience.left())?)
    }

    fn context_text(&self, opening: &Opening, ground: &Ground) -> Option<String> {
        let mut text = String::new();
        if opening.paused {
            let _ = writeln!(text, "Requirements are paused for this agent session: leftoff req resume\n");
        }
        if !opening.open.is_empty() {
            let _ = writeln!(text, "## Required before some tools may be used\n");
            for open in &opening.open {
                let _ = writeln!(
                    text,
                    "- {} ({}{}), not satisfied. {}",
                    open.name,
                    open.scope.name(),
                    if open.advisory { ", a reminder" } else { "" },
                    open.how.join("; or ")
                );
            }
        }
        if !opening.carried_over.is_empty() {
            let names = opening.carried_over.join(", ");
            let _ = writeln!(text, "\nCarried over from the previous session: {names}");
        }
        if !opening.others.is_empty() {
            let _ = writeln!(text, "\nOther agent sessions active in this project:\n");
        }
        let now = self.clock.now();
        for other in &opening.others {
            let branch = other.branch.as_ref().map(|name| format!(" on {}", one_line(name, 100)));
            let place =
                (other.worktree != ground.project).then(|| format!(" in {}", one_line(&other.worktree, 200)));
            let _ = writeln!(
                text,
                "- {} {}{}{}, seen {}",
                one_line(&other.agent, 20),
                wording::short(&other.agent_session),
                branch.unwrap_or_default(),
                place.unwrap_or_default(),
                ago(other.last_seen, now)
            );
        }
        (!text.is_empty()).then(|| text.trim().to_owned() + "\n")
    }
}
