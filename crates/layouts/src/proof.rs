//! Facts that files show by existing, beside the files of a session's state. A fact completes no phase and closes nothing.

use jiff::Timestamp;
use model::id::Name;

/// A fact that files show by existing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// A run has begun, and is in this phase; since when, where that is known.
    Run { workflow: Name, ordinal: u32, phase: Name, path: String, at: Option<Timestamp> },
    /// The file that a phase of a run ends with exists. The work may be done, although nobody has said so yet.
    Work { workflow: Name, ordinal: u32, phase: Name, path: String },
    /// The last file of a run exists: whoever starts this workflow again means the next run.
    Result { workflow: Name, ordinal: u32 },
}
