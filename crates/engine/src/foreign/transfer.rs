//! Moves sessions between projects and layouts: imports, origins of sessions, and copies within a layout.

pub(crate) mod copy;
mod import;
pub(crate) mod origin;
