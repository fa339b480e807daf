//! One requirement: what it guards, when it asks, what satisfies it.

use model::workflow::{RequirementDefinition, RequirementScope};

/// The calculator that counts a branch's changed lines, as the configuration names it.
pub const BRANCH_SIZE: &str = "branch_size_calculator";
const DEFAULT_TOOLS: [&str; 3] = ["Edit", "Write", "MultiEdit"];
const DEFAULT_APPROVAL_SECONDS: u64 = 300;

#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    pub name: String,
    pub enabled: bool,
    pub kind: Kind,
    pub scope: RequirementScope,
    pub triggers: Vec<Trigger>,
    pub message: Option<String>,
    pub checklist: Vec<String>,
    /// Skills that satisfy it, beside those that always do.
    pub skills: Vec<String>,
    /// Phases of the workflow in which it is declared that satisfy it, once done.
    pub phases: Vec<String>,
    /// Shown as the way to satisfy it, and satisfies it when it has run.
    pub auto_resolve_skill: Option<String>,
    /// How long an approval holds, in seconds.
    pub approval_ttl: u64,
    /// Asks only when the agent stops.
    pub stop_only: bool,
    /// Reminds, and never holds anybody.
    pub advisory: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Somebody says that it is satisfied.
    Blocking,
    /// Found out by measuring.
    Dynamic(Limits),
    /// A condition that must hold.
    Guard(Guard),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub warn: Option<u64>,
    pub block: u64,
    /// How long a measurement holds, in seconds.
    pub cache_ttl: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    ProtectedBranch(Vec<String>),
    SingleSession,
}

/// A tool, and what its command must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    pub tool: String,
    /// A regular expression, case ignored.
    pub command_pattern: Option<String>,
}

impl Trigger {
    pub fn tool(name: &str) -> Self {
        Self { tool: name.to_owned(), command_pattern: None }
    }
}

impl Requirement {
    /// One with nothing but its name: it asks for nothing until it is switched on.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            enabled: false,
            kind: Kind::Blocking,
            scope: RequirementScope::Session,
            triggers: DEFAULT_TOOLS.map(Trigger::tool).to_vec(),
            message: None,
            checklist: Vec::new(),
            skills: Vec::new(),
            phases: Vec::new(),
            auto_resolve_skill: None,
            approval_ttl: DEFAULT_APPROVAL_SECONDS,
            stop_only: false,
            advisory: false,
        }
    }

    /// Whether only a phase that is done, or a skill, satisfies it: nobody says so by hand.
    pub fn is_proved_by_phase(&self) -> bool {
        !self.phases.is_empty()
    }

    /// How long a yes holds unless somebody says otherwise: what is measured changes, what was done stays done.
    pub fn usual_ttl(&self) -> Option<u64> {
        match self.kind {
            Kind::Dynamic(_) => Some(self.approval_ttl),
            Kind::Blocking | Kind::Guard(_) => None,
        }
    }

    /// As a workflow's definition declares it.
    pub fn declared(name: &str, definition: &RequirementDefinition) -> Self {
        let mut requirement = Self {
            enabled: true,
            scope: definition.scope,
            triggers: definition.tools.iter().map(|tool| Trigger::tool(tool)).collect(),
            message: definition.message.clone(),
            ..Self::named(name)
        };
        requirement.satisfied_also_by(&definition.satisfied_by);
        requirement.auto_resolve_skill = requirement.skills.first().cloned();
        requirement
    }

    /// The scope in which it is satisfied: what is measured or a condition is agreed to by one agent session, for a
    /// while, whatever its scope is.
    pub fn kept_scope(&self) -> RequirementScope {
        match self.kind {
            Kind::Blocking => self.scope,
            Kind::Dynamic(_) | Kind::Guard(_) => RequirementScope::Session,
        }
    }

    /// Adds `phase:…` and `skill:…`, as definitions write them.
    pub fn satisfied_also_by(&mut self, sources: &[String]) {
        for source in sources {
            match source.split_once(':') {
                Some(("phase", phase)) => self.phases.push(phase.to_owned()),
                Some(("skill", skill)) => self.skills.push(skill.to_owned()),
                Some(_) | None => {}
            }
        }
    }
}
