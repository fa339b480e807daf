//! Requirements: conditions that an agent must meet before it may use a tool. This module reads and writes their files,
//! and answers hooks and `leftoff req`. If something is wrong here, the agent may continue, and the problem is reported
//! with the answer.
//!
//! A hook opens the engine in the folder of its event, and asks one question for each event:
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
//! A question needs only the agent's session and the file of the branch. A process is started only to count the lines
//! of a branch. No question fails: problems are in [`Gated::problems`], for stderr. If the store cannot be opened,
//! `Intent::WithoutStore` is used, and the configuration still applies.
//!
//! The file of the branch decides. It is read and written under a lock of its own. That lock is never held together
//! with the turn to write to the store. The event in the session's log is added afterwards.

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

/// The folder for files that only leftoff uses. It is in the folder of branch files.
const OUR_FOLDER: &str = "leftoff";

/// A tool call, as a hook reports it.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    pub agent: &'a AgentIdentity,
    /// The tool's name as in the configuration, such as `Edit`, `Write` or `Bash`.
    pub tool: &'a str,
    /// The shell command of the call, if the tool runs one.
    pub command: Option<&'a str>,
    /// The files that the call would write: absolute paths, or paths relative to the engine's folder.
    pub files: &'a [&'a str],
    /// The skill that the call runs.
    pub skill: Option<&'a str>,
    /// The id of the call, by which a repeated report is recognised and not counted again.
    pub tool_use_id: Option<&'a str>,
}

/// The answer to an agent that wants to use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// The agent may use the tool. Contains a warning.
    Warn(String),
    /// The agent may not use the tool. Contains the reason and what to do.
    Deny(String),
}

/// The answer to a hook's question, and problems for stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated<T> {
    pub answer: T,
    pub problems: Vec<String>,
}

/// The worktree and the branch to which requirements apply.
struct Ground {
    /// The folder of branch files: `<git common dir>/requirements`.
    folder: PathBuf,
    branch: String,
    /// The worktree's folder, in the form in which files contain it.
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
    /// Returns the worktree and branch to which requirements apply here. `None` outside git or without a checked-out
    /// branch, where nothing is required.
    fn ground(&self) -> Option<Ground> {
        self.ground_on(None)
    }

    /// Like `ground`, but also `None` if a person switched requirements off for this agent.
    fn hook_ground(&self) -> Option<Ground> {
        if self.caller.skips_requirements { None } else { self.ground() }
    }

    /// Like `ground`, for the named branch or, without a name, for the checked-out one.
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

    /// Makes this agent the author of the following requests.
    fn asked_by(&mut self, identity: &AgentIdentity) {
        self.caller.agent = Some(identity.clone());
    }

    fn seconds(&self) -> i64 {
        self.clock.now().as_second()
    }
}
