//! One requirement and its defaults: the tools that it guards, when it applies, what satisfies it, and how long an
//! approval is valid.

use model::workflow::{RequirementDefinition, RequirementScope};

/// The name of the calculator that measures how many lines a branch changed, as the configuration writes it.
pub const BRANCH_SIZE: &str = "branch_size_calculator";
const DEFAULT_TOOLS: [&str; 3] = ["Edit", "Write", "MultiEdit"];
const DEFAULT_APPROVAL_SECONDS: u64 = 300;

#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    pub name: String,
    pub enabled: bool,
    pub kind: RequirementKind,
    pub scope: RequirementScope,
    pub triggers: Vec<Trigger>,
    pub message: Option<String>,
    pub checklist: Vec<String>,
    /// Skills that satisfy the requirement, in addition to the built-in ones.
    pub skills: Vec<String>,
    /// Phases that satisfy the requirement when they are completed. They belong to the workflow that declares
    /// the requirement.
    pub phases: Vec<String>,
    /// The skill to suggest for the requirement. Running it satisfies the requirement.
    pub auto_resolve_skill: Option<String>,
    /// How long an approval is valid, in seconds.
    pub approval_ttl: u64,
    /// True if the requirement is checked only when the agent stops.
    pub stop_only: bool,
    /// True if the requirement only reminds the agent, and blocks nothing.
    pub advisory: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RequirementKind {
    /// Satisfied when the user or the agent says so.
    Blocking,
    /// Satisfied while a measured value is within limits.
    Dynamic(Limits),
    /// Satisfied while a condition is true.
    Guard(Guard),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub warn: Option<u64>,
    pub block: u64,
    /// How long a measurement is valid, in seconds.
    pub cache_ttl: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    ProtectedBranch(Vec<String>),
    SingleSession,
}

/// A tool that triggers the requirement, and a pattern for the command that it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    pub tool: String,
    /// A regular expression for the command. Upper and lower case are not distinguished.
    pub command_pattern: Option<String>,
}

impl Trigger {
    pub fn tool(name: &str) -> Self {
        Self { tool: name.to_owned(), command_pattern: None }
    }
}

impl Requirement {
    /// A requirement with nothing but a name. It is disabled until somebody enables it.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            enabled: false,
            kind: RequirementKind::Blocking,
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

    /// True if completed phases satisfy the requirement. A statement of the user or the agent is then not
    /// enough.
    pub fn is_proved_by_phase(&self) -> bool {
        !self.phases.is_empty()
    }

    /// How long the requirement stays satisfied by default, in seconds. `None` for statements, which do not
    /// expire; measurements do.
    pub fn usual_ttl(&self) -> Option<u64> {
        match self.kind {
            RequirementKind::Dynamic(_) => Some(self.approval_ttl),
            RequirementKind::Blocking | RequirementKind::Guard(_) => None,
        }
    }

    /// The requirement that a workflow's definition declares.
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

    /// The scope for which a satisfaction is recorded. A measurement or condition is recorded for one agent
    /// session, whatever the requirement's scope.
    pub fn kept_scope(&self) -> RequirementScope {
        match self.kind {
            RequirementKind::Blocking => self.scope,
            RequirementKind::Dynamic(_) | RequirementKind::Guard(_) => RequirementScope::Session,
        }
    }

    /// Adds phases and skills that satisfy the requirement, written `phase:…` and `skill:…` as in
    /// definitions.
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
