//! The requirements that a skill satisfies when it is completed.

use super::rule::Requirement;

const PREFIX: &str = "requirements-framework:";

/// The requirements that each built-in skill satisfies, even if no configuration says so.
const BUILT_IN: &[(&str, &[&str])] = &[
    ("arch-review", &["commit_plan", "adr_reviewed", "tdd_planned", "solid_reviewed"]),
    ("plan-review", &["commit_plan", "adr_reviewed", "tdd_planned", "solid_reviewed"]),
    ("writing-plans", &["plan_written", "commit_plan"]),
    ("pre-commit", &["pre_commit_review"]),
    ("requesting-code-review", &["pre_commit_review"]),
    ("deep-review", &["pre_pr_review"]),
    ("quality-check", &["pre_pr_review"]),
    ("v3-review", &["pre_pr_review"]),
    ("codex-review", &["codex_reviewer"]),
    ("brainstorming", &["design_approved"]),
    ("test-driven-development", &["tdd_planned"]),
    ("systematic-debugging", &["debugging_systematic"]),
    ("verification-before-completion", &["verification_evidence"]),
];

/// The name of a skill without the name of its plug-in.
pub fn skill_name(skill: &str) -> &str {
    let skill = skill.trim().trim_start_matches('/');
    skill.strip_prefix(PREFIX).unwrap_or(skill)
}

/// The requirements in `requirements` that this skill satisfies, in their order.
pub fn requirements_of_skill<'a>(skill: &str, requirements: &'a [Requirement]) -> Vec<&'a Requirement> {
    let asked = skill_name(skill);
    let built_in = BUILT_IN.iter().find(|(name, _)| *name == asked).map_or(&[][..], |(_, names)| names);
    let is_met = |requirement: &&Requirement| {
        let own = requirement.skills.iter().chain(&requirement.auto_resolve_skill);
        built_in.contains(&requirement.name.as_str())
            || own.into_iter().any(|skill| skill_name(skill) == asked)
    };
    requirements.iter().filter(is_met).collect()
}

/// The skill to suggest for a requirement: the one that the requirement names, or else a built-in one that
/// satisfies it.
pub fn skill_to_run(requirement: &Requirement) -> Option<&str> {
    let own = requirement.auto_resolve_skill.as_ref().or(requirement.skills.first());
    let is_its = |(_, names): &&(&str, &[&str])| names.contains(&requirement.name.as_str());
    // A phase that satisfies the requirement was configured, and no built-in skill was; so the phase is
    // preferred.
    let built_in = || BUILT_IN.iter().find(is_its).filter(|_| requirement.phases.is_empty());
    own.map(|skill| skill.trim_start_matches('/')).or_else(|| built_in().map(|(skill, _)| *skill))
}
