//! What front ends ask, by concept. A facade borrows the engine; every change of a session goes through
//! `Engine::execute` instead.

use crate::engine::Engine;

/// Questions about sessions: the selected one, or all. Changes none.
#[derive(Clone, Copy)]
pub struct Sessions<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { engine: self }
    }
}
