//! A workflow in memory: phases, gates and declared fields. Layouts read definitions from their files.

use crate::id::Name;
use crate::item::Item;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A complete definition. A session keeps the definition with which it started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    pub name: Name,
    pub version: String,
    pub title: String,
    /// A description in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<String>,
    pub indexing: Indexing,
    pub on_complete: OnComplete,
    #[serde(default)]
    pub keep_going: bool,
    /// True to keep an agent from stopping, but only once, while work that it claimed is not proven.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hold_at_stop: bool,
    /// The phases, in order; never empty, because a definition without phases is refused when it is read.
    pub phases: Vec<PhaseDefinition>,
    #[serde(default)]
    pub fields: BTreeMap<String, FieldDefinition>,
    #[serde(default)]
    pub requirements: BTreeMap<String, RequirementDefinition>,
    /// SHA-256 of the source text, in hexadecimal, to detect a changed definition.
    pub hash: String,
}

impl Workflow {
    pub fn phase(&self, id: &str) -> Option<&PhaseDefinition> {
        self.phases.iter().find(|phase| phase.id == *id)
    }
}

/// How phases are numbered for people and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Indexing {
    Zero,
    #[default]
    One,
}

impl Indexing {
    /// Returns the displayed number of the phase at a position.
    pub fn number(self, position: usize) -> u32 {
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        match self {
            Self::Zero => position,
            Self::One => position.saturating_add(1),
        }
    }
}

/// The effect of completing the last phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnComplete {
    #[default]
    Close,
    Stay,
    /// Another phase is added whenever the last one is done, until the session is closed.
    Grow,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseDefinition {
    pub id: Name,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Paths of files, relative to the session's workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<String>,
    /// The earlier phases that this phase needs; by default, the phase before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Name>,
    /// An expression. If it is false, the phase is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The kind of items that can be added to this phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// True if every item must be split into parts before it can be done. The parts are the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split: bool,
    /// True if a failed check keeps the phase open; false if the phase is then completed with warnings.
    pub strict: bool,
    /// True if the gate cannot be overridden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_override: bool,
    /// True if the phase is completed as soon as it is entered. Only the last phase can be terminal.
    #[serde(default)]
    pub terminal: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceDefinition>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckDefinition>,
}

impl PhaseDefinition {
    /// True if anything must be checked before the phase can be completed.
    pub fn has_gate(&self) -> bool {
        !self.checks.is_empty() || self.evidence.iter().any(|field| field.required)
    }

    /// True if some check requires completed items.
    pub fn asks_for_items(&self) -> bool {
        self.checks.iter().any(|check| check.kind.asks_for_items())
    }

    /// True if an expression of the gate reads the items or their number, so that it may need some.
    pub fn needs_some_item(&self) -> bool {
        self.checks.iter().any(|check| check.kind.reads_items())
    }

    /// True if this item must be split into parts before anything else can be done with it.
    pub fn splits_first(&self, item: &Item) -> bool {
        self.split && item.level() == 1 && !item.is_container()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceDefinition {
    pub name: String,
    #[serde(rename = "type")]
    pub value_type: ValueType,
    #[serde(default)]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<String>,
    /// True to accept an integer only in its usual form: 82, not 82.0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_written: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    Boolean,
    Integer,
    Number,
    String,
    List,
    Object,
}

impl ValueType {
    pub const ALL: [Self; 6] =
        [Self::Boolean, Self::Integer, Self::Number, Self::String, Self::List, Self::Object];

    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::List => "list",
            Self::Object => "object",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckDefinition {
    pub id: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    #[serde(flatten)]
    pub kind: CheckKind,
}

/// The condition of a check. One variant per kind, with the data of that kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckKind {
    /// A file must exist and not be empty.
    Artifact {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matches: Option<String>,
        /// True to accept a file that is older than the start of the phase.
        #[serde(default)]
        stale_ok: bool,
        /// True if all runs share the file. A later run then accepts a file that an earlier run wrote.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_shared: bool,
    },
    /// A CEL expression over evidence, artifacts, items, session and run must be true.
    Expr {
        expr: String,
        /// The source text from which the expression was translated. Messages show it instead of the expression.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written: Option<String>,
    },
    /// A command must succeed. The engine runs it in the project's folder.
    Command { run: String, timeout_seconds: u64 },
    /// The git worktree must be in a certain state.
    Git {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clean: Option<bool>,
    },
    /// All items of the phase must be done.
    Items,
    /// A person must approve the check.
    Approval {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_seconds: Option<u64>,
    },
}

impl CheckKind {
    /// True for an expression that is evaluated for each item.
    pub fn looks_at_each_item(&self) -> bool {
        matches!(self, Self::Expr { expr, .. } if expr.contains("items.each"))
    }

    /// True if the check requires completed items.
    pub fn asks_for_items(&self) -> bool {
        let asks = |expr: &str| expr.contains("items.each") && expr.contains(".done");
        matches!(self, Self::Items) || matches!(self, Self::Expr { expr, .. } if asks(expr))
    }

    /// True for an expression that reads the items or their number.
    pub fn reads_items(&self) -> bool {
        let reads = |expr: &str| expr.contains("items.total") || expr.contains("items.each");
        matches!(self, Self::Expr { expr, .. } if reads(expr))
    }

    pub const NAMES: [&'static str; 6] = ["artifact", "expr", "command", "git", "items", "approval"];

    /// The kinds of checks that leftoff runs itself, without relying on what the caller says.
    pub const RUN_BY_LEFTOFF: [&'static str; 5] = ["artifact", "command", "git", "items", "approval"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Artifact { .. } => "artifact",
            Self::Expr { .. } => "expr",
            Self::Command { .. } => "command",
            Self::Git { .. } => "git",
            Self::Items => "items",
            Self::Approval { .. } => "approval",
        }
    }
}

/// A custom field of a session, with its allowed values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldDefinition {
    #[serde(rename = "type")]
    pub value_type: ValueType,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<String>,
}

/// A condition that must be met before an agent may use a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequirementDefinition {
    pub scope: RequirementScope,
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub satisfied_by: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequirementScope {
    Session,
    Branch,
    SingleUse,
    Permanent,
}

impl RequirementScope {
    pub const ALL: [Self; 4] = [Self::Session, Self::Branch, Self::SingleUse, Self::Permanent];

    /// Returns the scope's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Branch => "branch",
            Self::SingleUse => "single_use",
            Self::Permanent => "permanent",
        }
    }

    /// True if the requirement is satisfied for one agent session; false if for a whole branch.
    pub fn is_of_one_agent(self) -> bool {
        match self {
            Self::Session | Self::SingleUse => true,
            Self::Branch | Self::Permanent => false,
        }
    }
}
