//! The questions of front ends, grouped by concept. A facade borrows the engine. Changes of sessions are not here: they
//! go through `Engine::execute`.

use crate::engine::Engine;

/// Questions about the selected session, or about all sessions. Changes no session.
#[derive(Clone, Copy)]
pub struct Sessions<'a> {
    pub(crate) engine: &'a Engine,
}

/// Questions about this branch's requirements and their configuration.
#[derive(Clone, Copy)]
pub struct Requirements<'a> {
    pub(crate) engine: &'a Engine,
}

/// Questions about workflow definitions, and about what a person trusts on this machine: commands and the policy.
#[derive(Clone, Copy)]
pub struct Workflows<'a> {
    pub(crate) engine: &'a Engine,
}

/// Questions about the project's store: its location, its copies, and sharing.
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
