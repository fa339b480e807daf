//! The one door for every front end: finds the project, loads, decides, keeps, shows. Never prints, and never asks.

mod activity;
mod artifacts;
pub mod brief;
mod changes;
mod checks;
mod clock;
mod config;
mod definitions;
mod difference;
mod disk;
mod doctor;
mod engine;
mod error;
mod exec;
mod execute;
mod expiry;
mod export;
mod failpoint;
mod files;
mod history;
pub mod hooks;
mod items;
mod listing;
mod next;
mod opening;
mod outside;
mod place;
mod policy;
mod presence;
mod processes;
mod query;
mod redact;
mod registry;
mod requirements;
mod rounds;
mod setup;
mod sync;
mod validation;
pub mod view;
pub mod words;
mod workspace;

pub use artifacts::{ArtifactFinding, Difference, Verification, VersionMade};
pub use changes::{Changes, Stamp, stamp};
pub use checks::Submission;
pub use config::{Config, DEFAULT_WORKFLOW, Expiry, Limit};
pub use definitions::{Checked, Source, WorkflowLine};
pub use doctor::{Finding, diagnose};
pub use engine::{Caller, Engine, Intent, Options, PATIENCE, Progress};
pub use error::{Choice, Class, Error, FileMistake, Result, WorkflowPlace};
pub use exec::{Context, Ran};
pub use execute::{
    AdvanceRequest, Answer, ApproveRequest, BundleMade, FieldChange, FileChange, GateTried, ItemAdd,
    ItemSetting, PurgePreview, PurgeRequest, RevisitPreview, RevisitRequest, StartRequest, Taking,
    TrustedCommand, Undone, placeholder,
};
pub use export::Export;
pub use history::{
    AttemptLine, CheckpointLine, DiffReport, ErrorLine, History, PauseLine, PhaseLine, RevisionLine, RunLine,
    UndoLine, WhoLine,
};
pub use items::{ItemListRequest, ItemListing, ItemView, PhaseItems};
pub use layouts::requirements::preset as requirements_preset;
pub use layouts::screen;
pub use listing::{ListRequest, Listing};
pub use next::Next;
pub use place::Project;
pub use policy::{Policy, PolicyLine, Who};
pub use presence::AgentIdentity;
pub use query::{AgentView, Current};
pub use registry::{projects_outside_git, state_folder};
pub use requirements::{
    Clearing, Gated, LiveAgent, OpenRequirement, Opening, RecordView, RequirementAnswer, RequirementList,
    RequirementView, SatisfyRequest, SessionRecord, SettingsFile, ToolCall, TrackedBranch, Verdict,
};
pub use setup::{Setup, StorePlace, set_up, take_down};
pub use store::{ActivityKind, ActivityRow};
pub use sync::{Mended, Rung, has_own_screen, layout_names, repair, workflows_with_a_screen};
pub use validation::{Discrepancy, OnDiscrepancy};

/// The JSON Schema of a workflow definition.
pub fn workflow_schema() -> serde_json::Value {
    layouts::definition::schema()
}

/// Bytes as lower-case hexadecimal digits.
/// Bytes that were written as hexadecimal text, if there are as many of them.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, half| byte << 4 | half)).collect();
    <[u8; N]>::try_from(bytes).ok().filter(|_| digits.len() == 2 * N)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
