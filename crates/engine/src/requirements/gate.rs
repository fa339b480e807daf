//! Before a tool, after it, and when the agent stops: which requirements are open, and what that means.

use super::setting::Rules;
use super::wording::{self, Held};
use super::{Gated, Ground, ToolCall, Verdict};
use crate::engine::Engine;
use crate::presence::AgentIdentity;
use crate::redact::cleaned;
use crate::words::one_line;
use layouts::requirements::{
    AgentKey, Document, Guard, Kind, Requirement, SatisfiedBy, Satisfying, ToolUse, is_plan_file,
    requirements_of_skill, skill_name,
};
use model::workflow::RequirementScope;
use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// The same denial is told in full once in so many seconds: agents call tools several at a time.
const SHOWN_ONCE_WITHIN: i64 = 5;
/// The longest path or command line that is counted.
const LONGEST: usize = 500;

/// How a requirement stands for one agent session.
pub(super) enum Standing {
    Met,
    /// It holds, and is close to the limit.
    Near(String),
    /// Not met; with what was found, where it is measured or a condition.
    Open(Option<String>),
}

/// Whom a question is about, and where.
pub(super) struct Asking<'a> {
    pub(super) ground: &'a Ground,
    pub(super) rules: &'a Rules,
    pub(super) document: &'a Document,
    pub(super) identity: &'a AgentIdentity,
    pub(super) agent: &'a AgentKey,
    pub(super) now: i64,
    /// Whether git may be started to find something out.
    pub(super) measures: bool,
}

impl<T> Gated<T> {
    pub(super) fn fine(answer: T) -> Self {
        Self { answer, problems: Vec::new() }
    }
}

impl Engine {
    /// Whether a tool may be used now. What it guards is marked as triggered only when it may.
    pub fn before_tool(&mut self, call: &ToolCall<'_>) -> Gated<Verdict> {
        self.asked_by(call.agent);
        let (Some(ground), Some(agent)) = (self.ground(), AgentKey::new(&call.agent.id)) else {
            return Gated::fine(Verdict::Allow);
        };
        if self.writes_only_plans(call) {
            return Gated::fine(Verdict::Allow);
        }
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
                // What cannot be read holds nobody; what is marked now puts it aside and begins anew.
                problems.extend(self.mark_triggered(&ground, &agent, &asked));
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
        let (held, near) = self.held_by(&asking, &asked, &mut problems);
        if held.is_empty() {
            let is_new =
                |requirement: &&&Requirement| document.triggered_at(&requirement.name, &agent).is_none();
            let new: Vec<&Requirement> = asked.iter().filter(is_new).copied().collect();
            problems.extend(self.mark_triggered(&ground, &agent, &new));
            let answer = if near.is_empty() { Verdict::Allow } else { Verdict::Warn(near.join("\n")) };
            return Gated { answer, problems };
        }
        let answer = self.denied(&asking, call, &held, &mut problems);
        Gated { answer, problems }
    }

    /// A tool was used: what it satisfies, what it used up, what is counted. The names of what it satisfied.
    pub fn after_tool(&mut self, call: &ToolCall<'_>) -> Gated<Vec<String>> {
        self.asked_by(call.agent);
        let (Some(ground), Some(agent)) = (self.ground(), AgentKey::new(&call.agent.id)) else {
            return Gated::fine(Vec::new());
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        if rules.enabled().next().is_none() {
            return Gated { answer: Vec::new(), problems };
        }
        match self.count_call(&ground, &agent, call) {
            // The same event came twice.
            Ok(false) => return Gated { answer: Vec::new(), problems },
            Ok(true) => {}
            Err(error) => problems.push(error.to_string()),
        }
        let satisfied = self.satisfied_by_skill(&ground, &rules, &agent, call, &mut problems);
        let single: Vec<&Requirement> = asked_by_tool(&rules, call, &mut problems)
            .into_iter()
            .filter(|requirement| requirement.scope == RequirementScope::SingleUse && !requirement.stop_only)
            .collect();
        self.use_up(&ground, &agent, &single, &mut problems);
        Gated { answer: satisfied, problems }
    }

    /// A tool failed: counted, and nothing is used up.
    pub fn tool_failed(&mut self, call: &ToolCall<'_>, error: &str) -> Gated<()> {
        self.asked_by(call.agent);
        let (Some(ground), Some(agent)) = (self.ground(), AgentKey::new(&call.agent.id)) else {
            return Gated::fine(());
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        if rules.enabled().next().is_some() {
            let (now, message) = (self.seconds(), one_line(&cleaned(error), LONGEST));
            let done = ground.count(&agent, self.patience, now, |metrics| {
                if once(call, "failed").is_none_or(|event| metrics.first_time(&event)) {
                    metrics.failed("tool_failed", &message, Some(call.tool), now);
                }
            });
            problems.extend(done.err().map(|error| error.to_string()));
        }
        Gated { answer: (), problems }
    }

    /// Why the agent may not stop yet, if it may not. Never twice in a row.
    pub fn at_stop(&mut self, identity: &AgentIdentity, stop_hook_active: bool) -> Gated<Option<String>> {
        self.asked_by(identity);
        let (false, Some(ground), Some(agent)) =
            (stop_hook_active, self.ground(), AgentKey::new(&identity.id))
        else {
            return Gated::fine(None);
        };
        let mut rules = self.rules(&ground);
        let mut problems = std::mem::take(&mut rules.problems);
        let stop = &rules.settings.stop;
        let asked: Vec<&Requirement> =
            rules.enabled().filter(|requirement| stop.verify_scopes.contains(&requirement.scope)).collect();
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
        let metrics = std::cell::OnceCell::new();
        let was_asked = |requirement: &&&Requirement| {
            document.triggered_at(&requirement.name, &agent).is_some()
                // A guard denies what it guards, so that nothing of it is ever let through and marked.
                || (matches!(requirement.kind, Kind::Guard(_))
                    && metrics
                        .get_or_init(|| ground.metrics(&agent))
                        .as_ref()
                        .is_some_and(|metrics| metrics.was_triggered(&requirement.name)))
        };
        let asked: Vec<&Requirement> = asked.iter().filter(was_asked).copied().collect();
        let held: Vec<Held<'_>> = self.open_ones(&asking, &asked, &mut problems).0;
        if held.is_empty() || ground.metrics(&agent).is_some_and(|metrics| metrics.is_paused()) {
            return Gated { answer: None, problems };
        }
        Gated { answer: Some(wording::held_at_stop(&held, &agent)), problems }
    }

    /// What holds this tool call, and what comes close to it.
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
                Ok(Standing::Met) => {}
                Ok(Standing::Near(text)) => near.push(text),
                Ok(Standing::Open(found)) => held.push(Held { requirement, found }),
                Err(problem) => problems.push(problem),
            }
        }
        (held, near)
    }

    /// How one requirement stands. What cannot be found out is told, and holds nobody.
    pub(super) fn standing(
        &self,
        asking: &Asking<'_>,
        requirement: &Requirement,
    ) -> std::result::Result<Standing, String> {
        let Asking { ground, rules, document, agent, now, .. } = asking;
        let scope = match requirement.kind {
            Kind::Blocking => requirement.scope,
            // An approval is always one agent session's, whatever the configuration says.
            Kind::Dynamic(_) | Kind::Guard(_) => RequirementScope::Session,
        };
        let is_met = rules.phase_done(requirement).is_some()
            || document.satisfaction(&requirement.name, scope, Some(agent), *now).is_some();
        if is_met {
            return Ok(Standing::Met);
        }
        match &requirement.kind {
            Kind::Blocking => Ok(Standing::Open(None)),
            Kind::Dynamic(limits) => {
                let Some(size) = self.branch_size(ground, limits.cache_ttl, asking.measures)? else {
                    return Ok(Standing::Met);
                };
                let found = wording::size(&size, limits);
                if size.lines >= limits.block {
                    return Ok(Standing::Open(Some(found)));
                }
                let is_near = limits.warn.is_some_and(|warn| size.lines >= warn);
                Ok(if is_near {
                    Standing::Near(format!("{}: {found}", requirement.name))
                } else {
                    Standing::Met
                })
            }
            Kind::Guard(Guard::ProtectedBranch(branches)) => {
                let is_protected = branches.contains(&ground.branch);
                let found = || Some(format!("'{}' is a protected branch", ground.branch));
                Ok(if is_protected { Standing::Open(found()) } else { Standing::Met })
            }
            Kind::Guard(Guard::SingleSession) => self.alone(asking),
        }
    }

    fn alone(&self, asking: &Asking<'_>) -> std::result::Result<Standing, String> {
        let others = self.other_agents(Some(asking.identity)).map_err(|error| error.to_string())?;
        let here: Vec<String> = others
            .into_iter()
            .filter(|other| other.worktree == asking.ground.project)
            .map(|other| format!("{} {}", other.agent, wording::short(&other.agent_session)))
            .collect();
        Ok(if here.is_empty() {
            Standing::Met
        } else {
            Standing::Open(Some(format!("another agent session is at work here: {}", here.join(", "))))
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
        let message = wording::denial(call.tool, held, agent);
        let fingerprint = crate::hex(&Sha256::digest(message.as_bytes())[..8]);
        let used = Counted::of(call, true);
        let counted = ground.count(agent, self.patience, *now, |metrics| {
            if metrics.is_paused() {
                return None;
            }
            if once(call, "denied").is_none_or(|event| metrics.first_time(&event)) {
                metrics.tool_used(used.tool_use());
                for one in held {
                    metrics.triggered(&one.requirement.name, true, *now);
                }
            }
            Some(metrics.shows_denial(&fingerprint, SHOWN_ONCE_WITHIN, *now))
        });
        match counted {
            Ok(None) => Verdict::Allow,
            Ok(Some(true)) => Verdict::Deny(message),
            Ok(Some(false)) => Verdict::Deny(wording::denied_again(call.tool, held)),
            Err(error) => {
                problems.push(error.to_string());
                Verdict::Deny(message)
            }
        }
    }

    /// What went wrong, if anything did: a mark that is missing holds nobody.
    fn mark_triggered(&self, ground: &Ground, agent: &AgentKey, asked: &[&Requirement]) -> Vec<String> {
        if asked.is_empty() || ground.metrics(agent).is_some_and(|metrics| metrics.is_paused()) {
            return Vec::new();
        }
        let now = self.seconds();
        let marked = ground.file().update(self.patience, now, |document| {
            for requirement in asked {
                document.trigger(&requirement.name, requirement.scope, agent, now);
            }
        });
        match marked {
            Ok(changed) => changed.problem.into_iter().collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    /// False if this call was counted before.
    fn count_call(&self, ground: &Ground, agent: &AgentKey, call: &ToolCall<'_>) -> crate::Result<bool> {
        let (now, used) = (self.seconds(), Counted::of(call, false));
        ground.count(agent, self.patience, now, |metrics| {
            if once(call, "used").is_some_and(|event| !metrics.first_time(&event)) {
                return false;
            }
            metrics.tool_used(used.tool_use());
            if let Some(skill) = call.skill {
                metrics.skill_used(skill_name(skill), now);
            }
            true
        })
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
        let mut satisfying = Satisfying::by(SatisfiedBy::Skill);
        satisfying.metadata.insert("skill".to_owned(), skill_name(skill).into());
        match self.satisfy_all(ground, agent, &met, &satisfying) {
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
        let used = ground.file().update(self.patience, now, |document| {
            let used = single.iter().filter(|one| document.use_up(&one.name, agent));
            used.map(|one| one.name.clone()).collect::<Vec<_>>()
        });
        match used {
            Ok(changed) => {
                problems.extend(changed.problem);
                problems.extend(self.tell_cleared(ground, agent, &changed.answer, "it was used up"));
            }
            Err(error) => problems.push(error.to_string()),
        }
    }

    /// Whether all that it writes are plans, which are written before anything is satisfied.
    fn writes_only_plans(&self, call: &ToolCall<'_>) -> bool {
        let folder = self.options.project.as_deref().unwrap_or(&self.project.root);
        let is_plan = |file: &&str| normalised(&folder.join(file)).to_str().is_some_and(is_plan_file);
        !call.files.is_empty() && call.files.iter().all(is_plan)
    }
}

/// What is counted of a call: secrets and endless commands are not.
struct Counted<'a> {
    tool: &'a str,
    file: Option<String>,
    command: Option<String>,
    blocked: bool,
}

impl<'a> Counted<'a> {
    fn of(call: &ToolCall<'a>, blocked: bool) -> Self {
        let clean = |text: &str| one_line(&cleaned(text), LONGEST);
        Self {
            tool: call.tool,
            file: call.files.first().map(|file| clean(file)),
            command: call.command.map(clean),
            blocked,
        }
    }

    fn tool_use(&self) -> ToolUse<'_> {
        ToolUse {
            tool: self.tool,
            file: self.file.as_deref(),
            command: self.command.as_deref(),
            blocked: self.blocked,
        }
    }
}

/// Enabled requirements that this call triggers.
fn asked_by_tool<'a>(
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

/// A name for this event of this call, by which a second delivery is known.
fn once(call: &ToolCall<'_>, event: &str) -> Option<String> {
    call.tool_use_id.map(|id| format!("{event}:{}", one_line(id, 100)))
}

/// `..` and `.` taken out, without asking the disk: the file may not be there yet.
fn normalised(path: &Path) -> PathBuf {
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
