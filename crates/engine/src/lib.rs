//! The only interface for front ends. Finds the project, loads sessions, decides and stores changes, and returns views.
//! Never prints or asks.

mod activity;
mod artifacts;
mod backups;
pub mod brief;
mod changes;
mod checks;
mod clock;
mod config;
mod copy_store;
mod definitions;
mod discrepancies;
mod disk;
mod doctor;
mod engine;
mod erasing;
mod error;
pub mod event_text;
mod exec;
mod execute;
mod export;
mod facades;
mod failpoint;
mod files;
mod foreign;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod git;
mod history;
pub mod hooks;
mod inactive;
mod items;
mod line_differences;
mod listing;
mod long_work;
mod next;
mod noted_heads;
mod open_store;
mod outside_projects;
mod own_tool_messages;
mod policy;
mod presence;
mod processes;
mod project;
mod project_registry;
mod query;
mod redact;
mod requirements;
mod rounds;
mod server_store;
mod setup;
mod sharing;
mod signing;
mod time_limits;
pub mod verify;
pub mod view;
mod walk;
mod watch;
pub mod words;
mod workspace;

pub use artifacts::{ArtifactFinding, Difference, FileDifference, Verification, VersionMade};
pub use backups::{Backup, Made, StoreRestored, backups, restore_store};
pub use changes::{Changes, Stamp, stamp};
pub use checks::Submission;
pub use config::{Config, DEFAULT_WORKFLOW, Expiry, Limit};
pub use copy_store::{Copied, copy_store, server_schema};
pub use definitions::{Checked, Source, WorkflowLine};
pub use discrepancies::{Discrepancy, OnDiscrepancy};
pub use doctor::{Finding, diagnose, fix};
pub use engine::{Caller, Engine, Intent, Options, Reading};
pub use error::{Choice, Class, Error, FileMistake, NotRestored, Result, WorkflowPlace};
pub use exec::{Context, Ran};
pub use execute::{
    AdvanceRequest, Answer, ApproveRequest, BundleMade, FROM, FieldChange, FileChange, FoundList, GateTried,
    ItemAdd, ItemRequest, ItemSetting, PauseRequest, PurgeRequest, Request, RevisitPreview, RevisitRequest,
    StartRequest, Taking, TrustedCommand, placeholder,
};
pub use export::Export;
pub use facades::{ProjectStore, Requirements, Sessions, Workflows};
pub use foreign::{Repaired, Rung, layout_names, repair};
pub use history::{
    AttemptLine, CheckpointLine, DiffReport, ErrorLine, History, Log, PauseLine, PhaseLine, RevisionLine,
    RunLine, UndoLine, Undone, WhoLine,
};
pub use items::{ItemListRequest, ItemListing, ItemView, PhaseItems};
pub use layouts::requirements::preset as requirements_preset;
pub use layouts::screen;
pub use listing::{ListRequest, Listing};
pub use long_work::{Progress, Watcher, Work};
pub use next::Next;
pub use own_tool_messages::{has_own_screen, workflows_with_a_screen};
pub use policy::{Policy, PolicyLine, PolicyReport, TrustRequest, Who};
pub use presence::AgentIdentity;
pub use processes::Above;
pub use project::Project;
pub use project_registry::state_folder;
pub use query::{AgentView, Current, Detail};
pub use requirements::{
    Clearing, RecordView, RequirementAnswer, RequirementList, RequirementRecords, RequirementRequest,
    RequirementSettings, RequirementView, SatisfyRequest, SessionRecord, SettingsChange, SettingsFile,
    SettingsWritten, TrackedBranch,
};
pub use server_store::accept_store;
pub use setup::{Setup, StorePlace, left_standing, set_up, take_down};
pub use sharing::{Fork, HeldBack, Replica, Resolved, SyncRequest, SyncStatus, Synced, sync_in_background};
pub use store::{ActivityKind, ActivityRow, KEY_LIFETIME};
pub use watch::{Watch, next_look};

pub(crate) use layouts::hash::hex;

/// Returns the JSON Schema of a workflow definition.
pub fn workflow_schema() -> serde_json::Value {
    layouts::definition::schema()
}

/// Parses hexadecimal text that stands for exactly `N` bytes.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, half| byte << 4 | half)).collect();
    <[u8; N]>::try_from(bytes).ok().filter(|_| digits.len() == 2 * N)
}

/// The layout of sessions that have no files of another tool.
pub(crate) const NATIVE: &str = "native";
