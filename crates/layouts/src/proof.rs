//! Facts that are proven by files other than a session's state. Such a fact completes no phase and closes
//! nothing.

use jiff::Timestamp;
use model::id::Name;

/// A fact that is proven because a file or folder exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// A run has started, and is in this phase. `at` is when the run started, if known.
    Run { workflow: Name, ordinal: u32, phase: Name, path: String, at: Option<Timestamp> },
    /// The final file of a phase exists. The work may be done, although nobody has reported it yet.
    Work { workflow: Name, ordinal: u32, phase: Name, path: String },
    /// The final file of a run exists, so starting this workflow again starts the next run.
    Result { workflow: Name, ordinal: u32 },
}
