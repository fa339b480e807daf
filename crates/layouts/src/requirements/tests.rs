//! Tests of the framework's behaviours, by their numbers, as far as they need no disk.

mod agents;
mod configuration;
mod documents;
mod numbers;
mod rules;

use super::*;
use model::workflow::RequirementScope::{self, Branch, Permanent, Session, SingleUse};

const UUID: &str = "cad0ac4d-3933-45ad-9a1c-14aec05bb940";

fn agent(id: &str) -> AgentKey {
    AgentKey::new(id).expect("an id")
}

fn document() -> Document {
    Document::new("feature/auth", "/p", 1_000)
}

fn by_skill() -> Satisfying {
    Satisfying::by(SatisfiedBy::Skill)
}

fn is_met(document: &Document, name: &str, scope: RequirementScope, id: &str, now: i64) -> bool {
    document.satisfaction(name, scope, Some(&agent(id)), now).is_some()
}
