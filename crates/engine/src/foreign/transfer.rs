//! Sessions that move between projects and layouts: importing, origins, and copies within a layout.

pub(crate) mod copy;
mod import;
pub(crate) mod origin;
