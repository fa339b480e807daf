//! The one door for every front end: finds the project, loads, decides, keeps, shows. Never prints, and never asks.

mod activity;
pub mod brief;
mod checks;
mod clock;
mod config;
mod definitions;
mod doctor;
mod engine;
mod error;
mod exec;
mod execute;
mod failpoint;
mod files;
mod history;
mod items;
mod next;
mod place;
mod presence;
mod processes;
mod query;
mod redact;
mod registry;
mod setup;
pub mod view;
pub mod words;

pub use checks::Submission;
pub use config::{Config, DEFAULT_WORKFLOW, Who};
pub use definitions::Source;
pub use doctor::{Finding, diagnose};
pub use engine::{Caller, Engine, Intent, Options, PATIENCE, Progress};
pub use error::{Class, Error, FileMistake, Result};
pub use exec::{Context, Ran};
pub use execute::{
    AdvanceRequest, Answer, BundleMade, GateTried, ItemAdd, ItemSetting, PurgePreview, StartRequest,
    TrustedCommand, Undone,
};
pub use history::{
    AttemptLine, CheckpointLine, DiffReport, History, PauseLine, PhaseLine, RevisionLine, RunLine, UndoLine,
    WhoLine,
};
pub use items::{ItemListRequest, ItemListing, ItemView, PhaseItems};
pub use next::Next;
pub use place::Project;
pub use presence::AgentIdentity;
pub use query::{AgentView, Current, ListRequest, Listing, WorkflowLine};
pub use setup::{Setup, set_up};
pub use store::{ActivityKind, ActivityRow};

/// The JSON Schema of a workflow definition.
pub fn workflow_schema() -> serde_json::Value {
    layouts::definition::schema()
}

/// Bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
