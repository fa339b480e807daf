//! The session model: types, `decide` and `apply`. No I/O, no clock, no randomness.

pub mod actor;
pub mod approval;
pub mod artifact;
pub mod command;
pub mod difference;
pub mod event;
pub mod expiry;
pub mod gate;
pub mod hint;
pub mod id;
pub mod item;
pub mod lifecycle;
pub mod lineage;
pub mod nearest_name;
pub mod note;
pub mod outcome;
pub mod phase;
pub mod progress;
pub mod refusal;
pub mod revision;
pub mod run;
pub mod session;
mod stalled;
pub mod status;
pub mod time;
pub mod typed_value;
pub mod undo;
pub mod workflow;
pub mod written_file;

pub use command::{Command, decide};
pub use event::{Event, Recorded};
pub use refusal::Refusal;
pub use session::Session;
