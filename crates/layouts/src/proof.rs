//! Facts proven by the existence of files other than a session's state. A fact completes no phase and closes
//! nothing.

use jiff::Timestamp;
use model::id::Name;

/// A fact proven by a file's existence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// A run has started and is in this phase. `at` is the run's start, if known.
    Run { workflow: Name, ordinal: u32, phase: Name, path: String, at: Option<Timestamp> },
    /// The final file of a phase exists. The work may be done, although nobody has said so yet.
    Work { workflow: Name, ordinal: u32, phase: Name, path: String },
    /// The final file of a run exists, so that starting this workflow again means the next run.
    Result { workflow: Name, ordinal: u32 },
}
