//! The result of reading a session of another tool: its history as events, and the problems with its files.

use crate::problem::Problem;
use jiff::Timestamp;
use model::event::Event;

/// A value read from files, and the problems with these files. A broken file never makes reading fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    pub value: T,
    pub warnings: Vec<Problem>,
}

/// An event, and when it happened according to the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Dated {
    pub at: Timestamp,
    pub event: Event,
}
