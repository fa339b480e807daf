//! Where this process comes from: its own environment, and that of its parents.

use engine::Above;
use std::env::var_os;

/// The environment variable that is set for the command of a check. A program that runs in it is not a person, even if
/// it opens a terminal.
const CHECK: &str = "LEFTOFF_CHECK";
/// The environment variable with which automation may do what otherwise only a person can do.
const TRUST: &str = "LEFTOFF_TRUST";

pub struct Origin {
    above: Above,
}

impl Origin {
    /// Examines the parent processes, if that matters: a process that looks like a person's, or that has LEFTOFF_TRUST,
    /// must not have been started by an agent.
    pub fn look(looks_like_person: bool) -> Self {
        let matters = looks_like_person || is_set(TRUST);
        Self { above: if matters { Above::look() } else { Above::default() } }
    }

    /// True if this process or one of its parents was started with this variable.
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
