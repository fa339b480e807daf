//! Decides before a tool is used, and before the agent stops, which requirements are open and what follows.

use super::after_tool::{first_file, kept, once};
use super::rules::Rules;
use super::wording::{self, Held};
use super::{Gated, Ground, ToolCall, Verdict};
use crate::engine::Engine;
use crate::error::Error;
use crate::presence::AgentIdentity;
use layouts::requirements::{
    AgentKey, Count, Counted, Deed, Document, Guard, Requirement, RequirementKind, Satisfaction, SatisfiedBy,
    can_be_held, is_pause_or_resume, is_plan_file,
};
use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// For how many seconds the whole text of a denial is not repeated. Agents call several tools at a time.
const SHOWN_ONCE_WITHIN: i64 = 5;

/// The state of a requirement for one agent session.
pub(super) enum RequirementState {
    Met,
    /// The requirement is satisfied, but its limit is near. Contains a warning.
    Near(String),
    /// The requirement is not satisfied. Contains what was measured, or the condition that is not met, if any.
    Open(Option<String>),
}

/// An agent that asks about requirements, and the data that the answer depends on.
pub(super) struct Asking<'a> {
    pub(super) ground: &'a Ground,
    pub(super) rules: &'a Rules,
    pub(super) document: &'a Document,
    pub(super) identity: &'a AgentIdentity,
    pub(super) agent: &'a AgentKey,
    pub(super) now: i64,
    /// True if git may be started to measure something.
    pub(super) measures: bool,
}

impl<T> Gated<T> {
    pub(super) fn fine(answer: T) -> Self {
        Self { answer, problems: Vec::new() }
    }
}

impl Engine {
    /// Decides if an agent may use a tool now. If requirements apply to the call, they are marked as triggered.
    pub(crate) fn before_tool(&mut self, call: &ToolCall<'_>) -> Gated<Verdict> {
        self.asked_by(call.agent);
        if self.is_never_held(call) {
            return Gated::fine(Verdict::Allow);
        }
        let (Some(ground), Some(agent)) = (self.hook_ground(), AgentKey::new(&call.agent.id)) else {
            return Gated::fine(Verdict::Allow);
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        let asked = asked_by_tool(&rules, call, &mut problems);
        if asked.is_empty() {
            return Gated { answer: Verdict::Allow, problems };
        }
        let now = self.seconds();
        let document = match ground.file().read(now) {
            Ok(document) => document,
            Err(error) => {
                problems.push(error.to_string());
                // An unreadable file blocks nobody. Marking a requirement quarantines the file and starts a new one.
                if matches!(error, Error::BrokenFile { .. }) {
                    self.mark_triggered(&ground, &agent, &asked);
                }
                return Gated { answer: Verdict::Allow, problems };
            }
        };
        let asking = Asking {
            ground: &ground,
            rules: &rules,
            document: &document,
            identity: call.agent,
            agent: &agent,
            now,
            measures: true,
        };
        let (mut held, near) = self.held_by(&asking, &asked, &mut problems);
        if !held.is_empty() {
            held.retain(|one| !self.writes_what_satisfies(&rules, one.requirement, call));
        }
        if held.is_empty() {
            let is_new = |one: &&&Requirement| document.triggered_at(&one.name, one.scope, &agent).is_none();
            let new: Vec<&Requirement> = asked.iter().filter(is_new).copied().collect();
            problems.extend(self.mark_triggered(&ground, &agent, &new));
            let answer = if near.is_empty() { Verdict::Allow } else { Verdict::Warn(near.join("\n")) };
            return Gated { answer, problems };
        }
        let answer = self.denied(&asking, call, &held, &mut problems);
        Gated { answer, problems }
    }

    /// Returns why the agent may not stop yet; `None` if it may. An agent is never held back twice in a row.
    pub(crate) fn at_stop(
        &mut self,
        identity: &AgentIdentity,
        stop_hook_active: bool,
    ) -> Gated<Option<String>> {
        self.asked_by(identity);
        let (false, Some(ground), Some(agent)) =
            (stop_hook_active, self.hook_ground(), AgentKey::new(&identity.id))
        else {
            return Gated::fine(None);
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        let stop = &rules.settings.stop;
        let is_verified = |requirement: &&Requirement| {
            !requirement.advisory && stop.verify_scopes.contains(&requirement.scope)
        };
        let asked: Vec<&Requirement> = rules.enabled().filter(is_verified).collect();
        if !stop.verify_requirements || asked.is_empty() {
            return Gated { answer: None, problems };
        }
        let now = self.seconds();
        let document = match ground.file().read(now) {
            Ok(document) => document,
            Err(error) => {
                problems.push(error.to_string());
                return Gated { answer: None, problems };
            }
        };
        let asking = Asking {
            ground: &ground,
            rules: &rules,
            document: &document,
            identity,
            agent: &agent,
            now,
            measures: true,
        };
        let was_asked = |one: &&&Requirement| document.triggered_at(&one.name, one.scope, &agent).is_some();
        let asked: Vec<&Requirement> = asked.iter().filter(was_asked).copied().collect();
        let held: Vec<Held<'_>> = self.open_ones(&asking, &asked, &mut problems).0;
        if held.is_empty() || ground.is_paused(&agent) {
            return Gated { answer: None, problems };
        }
        Gated { answer: Some(wording::held_at_stop(&held, &agent, &ground.branch)), problems }
    }

    /// Returns the requirements that block this tool call, and warnings about those whose limit is near.
    fn held_by<'a>(
        &self,
        asking: &Asking<'a>,
        asked: &[&'a Requirement],
        problems: &mut Vec<String>,
    ) -> (Vec<Held<'a>>, Vec<String>) {
        let now_asked: Vec<&Requirement> =
            asked.iter().filter(|requirement| !requirement.stop_only).copied().collect();
        self.open_ones(asking, &now_asked, problems)
    }

    fn open_ones<'a>(
        &self,
        asking: &Asking<'a>,
        asked: &[&'a Requirement],
        problems: &mut Vec<String>,
    ) -> (Vec<Held<'a>>, Vec<String>) {
        let (mut held, mut near) = (Vec::new(), Vec::new());
        for requirement in asked {
            match self.standing(asking, requirement) {
                Ok(RequirementState::Met) => {}
                Ok(RequirementState::Near(text)) => near.push(text),
                Ok(RequirementState::Open(found)) => {
                    let open = Held { requirement, found };
                    if requirement.advisory {
                        near.push(wording::reminder(&open, asking.agent, &asking.ground.branch));
                    } else {
                        held.push(open);
                    }
                }
                Err(problem) => problems.push(problem),
            }
        }
        (held, near)
    }

    /// Returns the state of one requirement. If the state cannot be determined, returns a problem, which blocks nobody.
    pub(super) fn standing(
        &self,
        asking: &Asking<'_>,
        requirement: &Requirement,
    ) -> std::result::Result<RequirementState, String> {
        let Asking { ground, rules, document, agent, now, .. } = asking;
        let is_met = rules.phase_done(requirement).is_some()
            || on_record(document, requirement, Some(agent), *now).is_some();
        if is_met {
            return Ok(RequirementState::Met);
        }
        match &requirement.kind {
            RequirementKind::Blocking => Ok(RequirementState::Open(None)),
            RequirementKind::Dynamic(limits) => {
                let Some(size) = self.branch_size(ground, limits.cache_ttl, asking.measures)? else {
                    return Ok(RequirementState::Met);
                };
                let found = wording::size(&size, limits);
                if size.lines >= limits.block {
                    return Ok(RequirementState::Open(Some(found)));
                }
                let is_near = limits.warn.is_some_and(|warn| size.lines >= warn);
                Ok(if is_near {
                    RequirementState::Near(format!("{}: {found}", requirement.name))
                } else {
                    RequirementState::Met
                })
            }
            RequirementKind::Guard(Guard::ProtectedBranch(branches)) => {
                let is_protected = branches.contains(&ground.branch);
                let found = || Some(format!("'{}' is a protected branch", ground.branch));
                Ok(if is_protected { RequirementState::Open(found()) } else { RequirementState::Met })
            }
            RequirementKind::Guard(Guard::SingleSession) => self.alone(asking),
        }
    }

    fn alone(&self, asking: &Asking<'_>) -> std::result::Result<RequirementState, String> {
        let others = self.other_agents(Some(asking.identity)).map_err(|error| error.to_string())?;
        let here: Vec<String> = others
            .into_iter()
            .filter(|other| other.worktree == asking.ground.project)
            .map(|other| format!("{} {}", other.agent, wording::short(&other.agent_session)))
            .collect();
        Ok(if here.is_empty() {
            RequirementState::Met
        } else {
            RequirementState::Open(Some(format!("another agent session is active here: {}", here.join(", "))))
        })
    }

    fn denied(
        &self,
        asking: &Asking<'_>,
        call: &ToolCall<'_>,
        held: &[Held<'_>],
        problems: &mut Vec<String>,
    ) -> Verdict {
        let Asking { ground, agent, now, .. } = asking;
        let message = wording::denial(call.tool, held, agent, &ground.branch);
        let fingerprint = crate::hex(&Sha256::digest(message.as_bytes())[..8]);
        let count = Count {
            at: *now,
            event: once(call, "denied"),
            what: Counted::Held {
                tool: call.tool.to_owned(),
                file: first_file(call),
                command: call.command.map(kept),
                requirements: held.iter().map(|one| one.requirement.name.clone()).collect(),
            },
        };
        if ground.is_paused(agent) {
            return Verdict::Allow;
        }
        let counted = ground.change_metrics(agent, self.patience.left(), *now, |metrics| {
            metrics.count(&count);
            metrics.shows_denial(&fingerprint, SHOWN_ONCE_WITHIN, *now)
        });
        let shown = match counted {
            // Another process is counting, so it is unknown if this denial was already shown in full. It is shown in
            // full.
            Err(Error::FileBusy { .. }) => ground.leave_count(agent, &count).map(|()| true),
            counted => counted,
        };
        match shown.and_then(|is_whole| ground.file().check_writable().map(|()| is_whole)) {
            Ok(true) => Verdict::Deny(message),
            Ok(false) => Verdict::Deny(wording::denied_again(call.tool, held)),
            // If no satisfaction can be recorded, a block could never end. So the tool is allowed.
            Err(error) => {
                problems.push(format!("{} is allowed: {error}", call.tool));
                Verdict::Allow
            }
        }
    }

    /// Marks requirements as triggered. Returns problems: a mark that cannot be written blocks nobody.
    fn mark_triggered(&self, ground: &Ground, agent: &AgentKey, asked: &[&Requirement]) -> Vec<String> {
        if asked.is_empty() || ground.is_paused(agent) {
            return Vec::new();
        }
        let change = self.deed(agent, asked.iter().copied(), Deed::Trigger);
        match ground.file().apply(self.patience.left(), change.at, &[change]) {
            Ok(changed) => changed.problem.into_iter().collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    /// True for a call that requirements never block: of a read-only tool, of a plan, or of a command that pauses or
    /// resumes requirements.
    pub(super) fn is_never_held(&self, call: &ToolCall<'_>) -> bool {
        !can_be_held(call.tool)
            || self.writes_only_plans(call)
            || call.command.is_some_and(is_pause_or_resume)
    }

    /// True if a call writes only plans, because a plan is written before any requirement can be satisfied.
    fn writes_only_plans(&self, call: &ToolCall<'_>) -> bool {
        let is_plan = |file: &&str| self.written_path(file).to_str().is_some_and(is_plan_file);
        !call.files.is_empty() && call.files.iter().all(is_plan)
    }
}

/// Returns the recorded satisfaction that counts. If a phase proves the requirement, a satisfaction by hand does not
/// count.
pub(super) fn on_record(
    document: &Document,
    requirement: &Requirement,
    agent: Option<&AgentKey>,
    now: i64,
) -> Option<Satisfaction> {
    let by_hand = |found: &Satisfaction| {
        let proofs = [SatisfiedBy::Skill, SatisfiedBy::CarryOver];
        !proofs.iter().any(|proof| proof.name() == found.by)
    };
    document
        .satisfaction(&requirement.name, requirement.kept_scope(), agent, now)
        .filter(|found| !(requirement.is_proved_by_phase() && by_hand(found)))
}

/// Returns the enabled requirements that this call triggers.
pub(super) fn asked_by_tool<'a>(
    rules: &'a Rules,
    call: &ToolCall<'_>,
    problems: &mut Vec<String>,
) -> Vec<&'a Requirement> {
    let is_asked = |requirement: &&Requirement| {
        let (triggered, wrong) = requirement.is_triggered_by(call.tool, call.command);
        problems.extend(wrong);
        triggered
    };
    rules.enabled().filter(is_asked).collect()
}

/// Returns a path without `..` and `.`. The disk is not asked, because the file may not exist yet.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => whole.push(part),
        }
    }
    whole
}
