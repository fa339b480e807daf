//! The messages to agents about requirements: what is blocked, why, and what to do. Their commands run as they are
//! printed.

use super::branch_size::Size;
use layouts::requirements::{AgentKey, Limits, Requirement, RequirementKind, Trigger, skill_to_run};
use std::fmt::Write;

/// A requirement that is not satisfied, and what was measured or which condition is not met.
pub(super) struct Held<'a> {
    pub(super) requirement: &'a Requirement,
    pub(super) found: Option<String>,
}

pub(super) fn denial(tool: &str, held: &[Held<'_>], agent: &AgentKey, branch: &str) -> String {
    let what = if held.len() == 1 { "a requirement is" } else { "requirements are" };
    let mut text = format!("{tool} is blocked: {what} not satisfied.\n");
    text.push_str(&listed(held, agent, branch));
    text.push_str(&commands(held, agent));
    text
}

pub(super) fn denied_again(tool: &str, held: &[Held<'_>]) -> String {
    format!("{tool} is still blocked by {}; see the previous message.", names(held).join(", "))
}

pub(super) fn held_at_stop(held: &[Held<'_>], agent: &AgentKey, branch: &str) -> String {
    let mut text = "Do not stop yet: your changes require this, and it is not satisfied.\n".to_owned();
    text.push_str(&listed(held, agent, branch));
    text.push_str(&commands(held, agent));
    text
}

pub(super) fn size(size: &Size, limits: &Limits) -> String {
    let warn = limits.warn.map(|warn| format!("warns at {warn}, ")).unwrap_or_default();
    format!("{} lines changed against {} ({warn}blocks at {})", size.lines, size.base, limits.block)
}

/// Returns the paragraph about a requirement that only reminds.
pub(super) fn reminder(open: &Held<'_>, agent: &AgentKey, branch: &str) -> String {
    let ways = ways(open.requirement, Some(agent)).join("; or ");
    let message = message(open, agent, branch);
    format!("{}: {} It blocks nothing. {ways}", open.requirement.name, sentence(&message))
}

/// Returns the first eight characters of an agent session's id, as in file names.
pub(super) fn short(agent_session: &str) -> String {
    AgentKey::new(agent_session).map_or_else(|| agent_session.to_owned(), |agent| agent.short().to_owned())
}

/// Returns every way to satisfy a requirement, each on its own line, so that no command is broken.
pub(super) fn ways(requirement: &Requirement, agent: Option<&AgentKey>) -> Vec<String> {
    let skill = skill_to_run(requirement).map(|skill| format!("Run /{skill}"));
    let phases = requirement.phases.iter().map(|phase| format!("leftoff advance --phase {phase}"));
    let by_hand =
        (!requirement.is_proved_by_phase()).then(|| command(verb(requirement), &[&requirement.name], agent));
    skill.into_iter().chain(phases).chain(by_hand).collect()
}

/// Returns the configuration's own message about a requirement, unless it depends on who asks where.
pub(super) fn own_message(requirement: &Requirement) -> Option<String> {
    let own = requirement.message.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
    let own = own.replace("{req_name}", &requirement.name);
    (!own.contains('{')).then_some(own)
}

/// `Edit`, `Bash (git commit)`
pub(super) fn tool(trigger: &Trigger) -> String {
    let pattern = trigger.command_pattern.as_ref().map(|pattern| format!(" ({pattern})"));
    format!("{}{}", trigger.tool, pattern.unwrap_or_default())
}

/// Returns the configuration's message about a requirement, with what was measured or which condition is not met.
fn message(held: &Held<'_>, agent: &AgentKey, branch: &str) -> String {
    let requirement = held.requirement;
    let own = requirement.message.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let skill = skill_to_run(requirement).unwrap_or_default();
    let own = own.map(|text| {
        text.replace("{req_name}", &requirement.name)
            .replace("{branch}", branch)
            .replace("{session_id}", agent.short())
            .replace("{auto_resolve_skill}", skill)
            .replace("{summary}", held.found.as_deref().unwrap_or_default())
    });
    match (own, &held.found) {
        (Some(own), Some(found)) => format!("{found}. {own}"),
        (Some(own), None) => own,
        (None, Some(found)) => found.clone(),
        (None, None) => "not satisfied".to_owned(),
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}

fn listed(held: &[Held<'_>], agent: &AgentKey, branch: &str) -> String {
    let mut text = String::new();
    for one in held {
        let requirement = one.requirement;
        let _ = write!(
            text,
            "\n- {} ({}): {}",
            requirement.name,
            requirement.scope.name(),
            message(one, agent, branch)
        );
        for point in &requirement.checklist {
            let _ = write!(text, "\n  - [ ] {point}");
        }
        if let Some(skill) = skill_to_run(requirement) {
            let _ = write!(text, "\n  Run /{skill}");
        }
        for phase in &requirement.phases {
            let _ = write!(text, "\n  Complete phase {phase}: leftoff advance --phase {phase}");
        }
    }
    text.push('\n');
    text
}

fn commands(held: &[Held<'_>], agent: &AgentKey) -> String {
    let mut text = String::new();
    for word in ["satisfy", "approve"] {
        let names: Vec<&str> = held
            .iter()
            .filter(|one| !one.requirement.is_proved_by_phase() && verb(one.requirement) == word)
            .map(|one| one.requirement.name.as_str())
            .collect();
        if !names.is_empty() {
            let why = if word == "satisfy" { "When it is done" } else { "If a person agrees to continue" };
            let _ = write!(text, "\n{why}: {}", command(word, &names, Some(agent)));
        }
    }
    text
}

fn command(word: &str, names: &[&str], agent: Option<&AgentKey>) -> String {
    let agent = agent.map(|agent| format!(" --agent-session {}", agent.short())).unwrap_or_default();
    format!("leftoff req {word} {}{agent}", names.join(" "))
}

/// Returns the verb for satisfying a requirement. A person approves the size of a branch, because no work satisfies it.
fn verb(requirement: &Requirement) -> &'static str {
    match requirement.kind {
        RequirementKind::Blocking => "satisfy",
        RequirementKind::Dynamic(_) | RequirementKind::Guard(_) => "approve",
    }
}

fn names<'a>(held: &[Held<'a>]) -> Vec<&'a str> {
    held.iter().map(|one| one.requirement.name.as_str()).collect()
}
