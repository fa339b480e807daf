//! How a requirement was satisfied: by what, since when and until when, as written in a branch's file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The key that marks a satisfaction that another agent session inherited.
pub(super) const CARRIED_TO: &str = "carried_to";
/// The keys of a satisfaction. Its entry may also have other keys.
pub(super) const SATISFACTION: [&str; 6] =
    ["satisfied", "satisfied_at", "satisfied_by", "metadata", "expires_at", CARRIED_TO];

/// The source that satisfied a requirement, in the words of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SatisfiedBy {
    Manual,
    Cli,
    CliBypass,
    Skill,
    Approval,
    CarryOver,
}

impl SatisfiedBy {
    pub const ALL: [Self; 6] =
        [Self::Manual, Self::Cli, Self::CliBypass, Self::Skill, Self::Approval, Self::CarryOver];

    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Cli => "cli",
            Self::CliBypass => "cli_bypass",
            Self::Skill => "skill",
            Self::Approval => "approval",
            Self::CarryOver => "carry_over",
        }
    }
}

/// A satisfaction of a requirement that is valid now.
#[derive(Debug, Clone, PartialEq)]
pub struct Satisfaction {
    pub by: String,
    pub at: Option<i64>,
    pub expires_at: Option<i64>,
    pub metadata: Value,
    /// True if the satisfaction is valid for all agent sessions of the branch.
    pub for_the_branch: bool,
}

/// A satisfaction to record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Satisfying {
    pub by: SatisfiedBy,
    pub ttl: Option<u64>,
    pub metadata: Map<String, Value>,
    /// True if the satisfaction is valid for all agent sessions of the branch, even if the requirement
    /// applies to each session separately.
    pub for_the_branch: bool,
}

impl Satisfying {
    pub fn by(by: SatisfiedBy) -> Self {
        Self { by, ttl: None, metadata: Map::new(), for_the_branch: false }
    }

    pub(super) fn write(&self, entry: &mut Map<String, Value>, ttl: Option<u64>, now: i64) {
        entry.insert("satisfied".to_owned(), json!(true));
        entry.insert("satisfied_at".to_owned(), json!(now));
        entry.insert("satisfied_by".to_owned(), json!(self.by.name()));
        if self.metadata.is_empty() {
            entry.shift_remove("metadata");
        } else {
            entry.insert("metadata".to_owned(), Value::Object(self.metadata.clone()));
        }
        let until = ttl.map(|ttl| now.saturating_add_unsigned(ttl));
        entry.insert("expires_at".to_owned(), json!(until));
        entry.shift_remove(CARRIED_TO);
    }
}

pub(super) fn satisfaction(entry: &Map<String, Value>, expires: bool, now: i64) -> Option<Satisfaction> {
    if !entry.get("satisfied").and_then(Value::as_bool).unwrap_or(false) {
        return None;
    }
    let expires_at = moment(entry.get("expires_at")).filter(|_| expires);
    if expires_at.is_some_and(|until| now >= until) {
        return None;
    }
    Some(Satisfaction {
        by: entry.get("satisfied_by").and_then(Value::as_str).unwrap_or("unknown").to_owned(),
        at: moment(entry.get("satisfied_at")),
        expires_at,
        metadata: entry.get("metadata").cloned().unwrap_or(Value::Null),
        for_the_branch: false,
    })
}

pub(super) fn is_heritable(entry: &Value, window: u64, now: i64) -> bool {
    let Some(found) = entry.as_object().and_then(|entry| satisfaction(entry, true, now)) else {
        return false;
    };
    let is_young =
        found.at.is_some_and(|at| now.saturating_sub(at) <= i64::try_from(window).unwrap_or(i64::MAX));
    is_young && found.by != SatisfiedBy::CarryOver.name() && entry.get(CARRIED_TO).is_none()
}

/// When the guarded action was first done; `None` if it was not done.
pub(super) fn triggered_at(entry: &Map<String, Value>) -> Option<i64> {
    let is_triggered = entry.get("triggered").and_then(Value::as_bool).unwrap_or(false);
    is_triggered.then(|| moment(entry.get("triggered_at")).unwrap_or(0))
}

/// Removes the satisfaction and the trigger of a requirement from its entry. The rest of the entry stays.
pub(super) fn forget(entry: &mut Map<String, Value>) -> bool {
    let before = entry.len();
    for field in SATISFACTION.into_iter().chain(["triggered", "triggered_at"]) {
        entry.shift_remove(field);
    }
    entry.len() != before
}

/// A time in whole seconds since 1970. Other programs write fractions, which are dropped.
pub(super) fn moment(value: Option<&Value>) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation, reason = "checked to be in range")]
    let whole = |number: f64| (-1e15..1e15).contains(&number).then_some(number as i64);
    let value = value?;
    value.as_i64().or_else(|| value.as_f64().and_then(whole))
}
