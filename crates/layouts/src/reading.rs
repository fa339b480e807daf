//! What reading a foreign session gives: its history as events, and what a person should know about the files.

use crate::problem::Problem;
use jiff::Timestamp;
use model::event::Event;

/// A value together with what was odd about the files it came from. A broken file is a warning, never the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    pub value: T,
    pub warnings: Vec<Problem>,
}

/// An event and when it happened, as far as the files tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Dated {
    pub at: Timestamp,
    pub event: Event,
}
