//! Reads formats on disk: text in, a reading or its mistakes out. Never touches a file, a clock or a process itself.

pub mod builtin;
pub mod ccw;
pub mod definition;
pub mod essay;
pub mod json;
pub mod layout;
pub mod ocr;
pub mod praxis;
pub mod reading;
pub mod reconcile;
pub mod requirements;
pub mod tree;
pub mod yaml;
