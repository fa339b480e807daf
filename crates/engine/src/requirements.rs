//! Requirements: conditions for an agent to use a tool. This module reads and writes their files, and answers
//! hooks and `leftoff req`. It fails open: if something is wrong here, the agent continues, and the problem
//! is reported with the answer.
//!
//! A hook opens the engine in its event's folder, and asks one question per event:
//!
//! | event | question | answer |
//! |---|---|---|
//! | a session starts | [`Engine::at_start`] | open requirements, other agents |
//! | before a tool | [`Engine::before_tool`] | [`Verdict`] |
//! | after a tool | [`Engine::after_tool`], [`Engine::tool_failed`] | what it satisfied |
//! | the agent stops | [`Engine::at_stop`] | why it may not stop yet, if so |
//! | a compaction | [`Engine::compacted`] | |
//! | a session ends | [`Engine::at_end`] | |
//!
//! Each question needs only the agent's session and the branch's file; a process is started only to count a
//! branch's lines. No question fails: [`Gated::problems`] is for stderr. `Intent::WithoutStore` is for a
//! store that cannot be opened; the configuration still applies then.
//!
//! The branch's file is authoritative. It is read and written under its own lock, which is never held
//! together with the store's write lock; the event in the session's log is added afterwards.

mod after_tool;
mod agent_sessions;
mod base_branch;
mod blocking;
mod branch_file;
mod branch_size;
mod branches;
mod command;
mod configure;
mod conversation;
mod exempt_files;
mod live_agents;
mod metrics;
mod parent_branch;
mod pause;
mod request;
mod rules;
mod shared_file;
mod status;
#[cfg(test)]
mod tests;
mod wording;

pub use agent_sessions::{RecordView, RequirementRecords, SessionRecord};
pub use branches::TrackedBranch;
use command::nowhere;
pub use configure::{RequirementSettings, SettingsChange, SettingsFile, SettingsWritten};
pub(crate) use live_agents::is_same as is_same_agent;
pub use request::{Clearing, RequirementAnswer, RequirementRequest, SatisfyRequest};
pub(crate) use status::warning;
pub use status::{RequirementList, RequirementView};

use crate::engine::Engine;
use crate::presence::AgentIdentity;
use branch_file::BranchFile;
use std::path::PathBuf;

/// The folder for files that only leftoff uses, below the folder of branch files.
const OUR_FOLDER: &str = "leftoff";

/// A tool call, as a hook reports it.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    pub agent: &'a AgentIdentity,
    /// The tool's name as in the configuration: `Edit`, `Write`, `Bash`.
    pub tool: &'a str,
    /// The shell command of the call, if the tool runs one.
    pub command: Option<&'a str>,
    /// The files that the call would write, absolute or relative to the engine's folder.
    pub files: &'a [&'a str],
    /// The skill that the call runs.
    pub skill: Option<&'a str>,
    /// The id of the call, so that the call is counted only once.
    pub tool_use_id: Option<&'a str>,
}

/// The answer to an agent that wants to use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// The tool may be used; the text is a warning.
    Warn(String),
    /// The tool may not be used; the text gives the reason and what to do.
    Deny(String),
}

/// An answer, together with problems for stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated<T> {
    pub answer: T,
    pub problems: Vec<String>,
}

/// The place of requirements for a worktree and its branch.
struct Ground {
    /// The folder of branch files: `<git common dir>/requirements`.
    folder: PathBuf,
    branch: String,
    /// The worktree's root as text, as files contain it.
    project: String,
    root: PathBuf,
    home: Option<PathBuf>,
}

impl Ground {
    fn file(&self) -> BranchFile<'_> {
        BranchFile { folder: &self.folder, branch: &self.branch, project: &self.project }
    }
}

impl Engine {
    /// The place of requirements here; `None` outside git or without a checked-out branch, where nothing is
    /// required.
    fn ground(&self) -> Option<Ground> {
        self.ground_on(None)
    }

    /// As `ground`, but also `None` if a person switched requirements off for this agent.
    fn hook_ground(&self) -> Option<Ground> {
        if self.caller.skips_requirements { None } else { self.ground() }
    }

    /// The place of requirements for the named branch, or else for the checked-out one.
    fn ground_on(&self, branch: Option<&str>) -> Option<Ground> {
        let git = self.project.git.as_ref()?;
        let root = self.project.root.clone();
        Some(Ground {
            folder: git.common.join("requirements"),
            branch: branch.map(ToOwned::to_owned).or_else(|| self.project.branch())?,
            project: self.project.worktree(),
            root,
            home: self.caller.home.clone(),
        })
    }

    /// Makes this agent the caller of later requests.
    fn asked_by(&mut self, identity: &AgentIdentity) {
        self.caller.agent = Some(identity.clone());
    }

    fn seconds(&self) -> i64 {
        self.clock.now().as_second()
    }
}
