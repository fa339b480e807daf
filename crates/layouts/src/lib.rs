//! Reads formats on disk: text in, a reading or its mistakes out. Never touches a file, a clock or a process itself.

/// What stands for a secret in the log. It is never written over what stands in a file.
pub const REDACTED: &str = "[redacted: ";

pub mod builtin;
pub mod capabilities;
pub mod ccw;
pub mod defined;
pub mod definition;
pub mod essay;
pub mod facts;
pub mod file_op;
pub mod file_rules;
pub mod foreign_session;
pub mod json;
pub mod layout;
pub mod new_session;
pub mod ocr;
pub mod pattern;
pub mod praxis;
pub mod problem;
pub mod proof;
pub mod question;
pub mod reading;
pub mod reconcile;
pub mod refused;
pub mod requirements;
pub mod screen;
pub mod tree;
pub mod verdict;
pub mod yaml;
