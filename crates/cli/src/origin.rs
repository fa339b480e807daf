//! Where this process comes from: its own environment, and its parents.

use engine::Above;
use std::env::var_os;

/// The environment of a check's command. What runs in it is no person, whatever terminal it opens.
const CHECK: &str = "LEFTOFF_CHECK";
/// Lets automation do what otherwise needs a person.
const TRUST: &str = "LEFTOFF_TRUST";

pub struct Origin {
    above: Above,
}

impl Origin {
    /// Looks at the parents only if it matters: whoever looks like a person, or brings trust along, must not come from
    /// an agent.
    pub fn look(looks_like_person: bool) -> Self {
        let matters = looks_like_person || is_set(TRUST);
        Self { above: if matters { Above::look() } else { Above::default() } }
    }

    /// True if this process or a parent was started with this variable.
    pub fn has(&self, variable: &str) -> bool {
        is_set(variable) || self.above.variables.contains(variable)
    }

    pub fn is_below(&self, program: &str) -> bool {
        self.above.programs.contains(program)
    }

    /// True if the command of a check started this process.
    pub fn is_check(&self) -> bool {
        self.has(CHECK)
    }
}

fn is_set(variable: &str) -> bool {
    var_os(variable).is_some_and(|value| !value.is_empty())
}
