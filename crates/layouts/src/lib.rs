//! Reads formats on disk: text in, a reading or its mistakes out. Never touches a file, a clock or a process itself.

/// What stands for a secret in the log. It is never written over what stands in a file.
pub const REDACTED: &str = "[redacted: ";

pub mod builtin;
pub mod ccw;
pub mod defined;
pub mod definition;
pub mod essay;
pub mod json;
pub mod layout;
pub mod ocr;
pub mod praxis;
pub mod problem;
pub mod proof;
pub mod reading;
pub mod reconcile;
pub mod refused;
pub mod requirements;
pub mod tree;
pub mod yaml;
