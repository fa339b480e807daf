//! Handles the event after a tool was used: what the use satisfied, used up and counts. A repeated event counts once.

use super::blocking::asked_by_tool;
use super::rules::Rules;
use super::{Gated, Ground, ToolCall};
use crate::engine::Engine;
use crate::redact::cleaned;
use crate::words::one_line;
use layouts::requirements::{
    AgentKey, Change, Count, Counted, Deed, Document, Requirement, SatisfiedBy, Satisfying,
    requirements_of_skill, skill_name,
};
use model::workflow::RequirementScope;

/// The maximum length of a path or command line that is counted.
const LONGEST: usize = 500;

impl Engine {
    /// Records what the use of a tool satisfied and used up, and counts it. Returns the names of the requirements that
    /// it satisfied.
    pub(crate) fn after_tool(&mut self, call: &ToolCall<'_>) -> Gated<Vec<String>> {
        self.asked_by(call.agent);
        let (Some(ground), Some(agent)) = (self.hook_ground(), AgentKey::new(&call.agent.id)) else {
            return Gated::fine(Vec::new());
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        if rules.enabled().next().is_none() {
            return Gated { answer: Vec::new(), problems };
        }
        match self.count_call(&ground, &agent, call) {
            // The event was delivered a second time.
            Ok(false) => return Gated { answer: Vec::new(), problems },
            Ok(true) => {}
            Err(error) => problems.push(error.to_string()),
        }
        let satisfied = self.satisfied_by_skill(&ground, &rules, &agent, call, &mut problems);
        // A call that cannot be blocked does not use up a permission for one action.
        if !self.is_never_held(call) {
            let single: Vec<&Requirement> = asked_by_tool(&rules, call, &mut problems)
                .into_iter()
                .filter(|one| one.scope == RequirementScope::SingleUse && !one.stop_only)
                .collect();
            self.use_up(&ground, &agent, &single, &mut problems);
        }
        Gated { answer: satisfied, problems }
    }

    /// Counts the failure of a tool. A failure does not use up a permission for one action.
    pub(crate) fn tool_failed(&mut self, call: &ToolCall<'_>, error: &str) -> Gated<()> {
        self.asked_by(call.agent);
        let (Some(ground), Some(agent)) = (self.hook_ground(), AgentKey::new(&call.agent.id)) else {
            return Gated::fine(());
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        if rules.enabled().next().is_some() {
            let message = one_line(&cleaned(error), LONGEST);
            let what = Counted::Failed { tool: call.tool.to_owned(), message };
            let count = Count { at: self.seconds(), event: once(call, "failed"), what };
            problems.extend(
                ground.count(&agent, self.patience.left(), &count).err().map(|error| error.to_string()),
            );
        }
        Gated { answer: (), problems }
    }

    /// Counts a call. Returns false if it was already counted.
    fn count_call(&self, ground: &Ground, agent: &AgentKey, call: &ToolCall<'_>) -> crate::Result<bool> {
        let what = Counted::Used {
            tool: call.tool.to_owned(),
            file: first_file(call),
            command: call.command.map(kept),
            skill: call.skill.map(|skill| skill_name(skill).to_owned()),
        };
        let count = Count { at: self.seconds(), event: once(call, "used"), what };
        ground.count(agent, self.patience.left(), &count)
    }

    fn satisfied_by_skill(
        &mut self,
        ground: &Ground,
        rules: &Rules,
        agent: &AgentKey,
        call: &ToolCall<'_>,
        problems: &mut Vec<String>,
    ) -> Vec<String> {
        let Some(skill) = call.skill else { return Vec::new() };
        let met: Vec<Requirement> = requirements_of_skill(skill, &rules.settings.requirements)
            .into_iter()
            .filter(|requirement| requirement.enabled)
            .cloned()
            .collect();
        if met.is_empty() {
            return Vec::new();
        }
        let satisfying = |requirement: &Requirement| Satisfying {
            ttl: requirement.usual_ttl(),
            metadata: [("skill".to_owned(), skill_name(skill).into())].into_iter().collect(),
            ..Satisfying::by(SatisfiedBy::Skill)
        };
        let wanted: Vec<(&Requirement, Satisfying)> =
            met.iter().map(|requirement| (requirement, satisfying(requirement))).collect();
        match self.satisfy_all(ground, Some(agent), &wanted) {
            Ok(found) => problems.extend(found),
            Err(error) => {
                problems.push(error.to_string());
                return Vec::new();
            }
        }
        met.into_iter().map(|requirement| requirement.name).collect()
    }

    fn use_up(
        &mut self,
        ground: &Ground,
        agent: &AgentKey,
        single: &[&Requirement],
        problems: &mut Vec<String>,
    ) {
        let now = self.seconds();
        let is_satisfied = |document: &Document| {
            single.iter().any(|one| document.satisfaction(&one.name, one.scope, Some(agent), now).is_some())
        };
        if single.is_empty() || !ground.file().read(now).is_ok_and(|document| is_satisfied(&document)) {
            return;
        }
        if ground.is_paused(agent) {
            return;
        }
        let change = self.deed(agent, single.iter().copied(), Deed::UseUp);
        let used = ground.file().apply(self.patience.left(), now, &[change]);
        match used {
            Ok(changed) => {
                problems.extend(changed.problem);
                problems.extend(self.tell_cleared(
                    ground,
                    Some(agent),
                    &changed.answer,
                    "it was already used",
                ));
            }
            Err(error) => problems.push(error.to_string()),
        }
    }

    pub(super) fn deed<'a>(
        &self,
        agent: &AgentKey,
        requirements: impl IntoIterator<Item = &'a Requirement>,
        deed: Deed,
    ) -> Change {
        let names = requirements.into_iter().map(|one| (one.name.clone(), one.scope)).collect();
        Change { at: self.seconds(), agent_session: Some(agent.full().to_owned()), names, deed }
    }
}

/// Returns a command or path in the form in which it is counted: shortened, and without secrets.
pub(super) fn kept(text: &str) -> String {
    one_line(&cleaned(text), LONGEST)
}

pub(super) fn first_file(call: &ToolCall<'_>) -> Option<String> {
    call.files.first().map(|file| kept(file))
}

/// Returns a name for an event of a call, by which a second report of the same event is recognised.
pub(super) fn once(call: &ToolCall<'_>, event: &str) -> Option<String> {
    call.tool_use_id.map(|id| format!("{event}:{}", one_line(id, 100)))
}
