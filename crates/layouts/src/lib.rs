//! Reads formats on disk: text in, a reading or its mistakes out. Never touches a file, a clock or a process itself.

pub mod builtin;
pub mod definition;
pub mod ocr;
pub mod reading;
pub mod requirements;
pub mod tree;
