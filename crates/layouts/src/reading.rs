//! The result of reading a foreign session: its history as events, and problems with the files.

use crate::problem::Problem;
use jiff::Timestamp;
use model::event::Event;

/// A value that was read from files, with problems of these files. A broken file is a warning, never fatal.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    pub value: T,
    pub warnings: Vec<Problem>,
}

/// An event and when it happened, as far as the files say.
#[derive(Debug, Clone, PartialEq)]
pub struct Dated {
    pub at: Timestamp,
    pub event: Event,
}
