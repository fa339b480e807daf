//! Formats on disk: text in, values or mistakes out. Never touches a file, a clock or a process.

pub mod builtin;
pub mod capabilities;
pub mod ccw;
pub mod cel_value;
pub mod definition;
pub mod essay;
pub mod facts;
pub mod file_op;
pub mod file_rules;
pub mod foreign_session;
pub mod hash;
pub mod json;
pub mod layout;
pub mod new_session;
pub mod observation;
pub mod ocr;
pub mod pattern;
pub mod praxis;
pub mod problem;
pub mod proof;
pub mod question;
pub mod reader;
pub mod reading;
pub mod reconcile;
mod redaction_mark;
pub mod refused;
pub mod requirements;
pub mod screen;
pub mod task_list;
pub mod tool_workflows;
pub mod tree;
pub mod verdict;
pub mod yaml;

pub use redaction_mark::REDACTED;
