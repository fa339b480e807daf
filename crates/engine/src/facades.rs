//! Questions of front ends, by concept. A facade borrows the engine; every change of a session goes through
//! `Engine::execute` instead.

use crate::engine::Engine;

/// Questions about the selected session, or about all sessions. Changes none.
#[derive(Clone, Copy)]
pub struct Sessions<'a> {
    pub(crate) engine: &'a Engine,
}

/// Requirements of this branch, and their configuration.
#[derive(Clone, Copy)]
pub struct Requirements<'a> {
    pub(crate) engine: &'a Engine,
}

/// Workflow definitions, and what a person trusts on this machine: commands and the policy.
#[derive(Clone, Copy)]
pub struct Workflows<'a> {
    pub(crate) engine: &'a Engine,
}

/// The project's store: its location, its copies, and with whom it is shared.
#[derive(Clone, Copy)]
pub struct ProjectStore<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { engine: self }
    }

    pub fn requirements(&self) -> Requirements<'_> {
        Requirements { engine: self }
    }

    pub fn workflows(&self) -> Workflows<'_> {
        Workflows { engine: self }
    }

    pub fn store(&self) -> ProjectStore<'_> {
        ProjectStore { engine: self }
    }
}
