//! What an agent needs before it may use a tool: the disk side of it, and what hooks and `leftoff req` ask. Decides
//! open: whatever is wrong here, the agent goes on, and the problem is told beside the answer.
//!
//! A hook opens the engine for the folder that its event names, and asks one question an event:
//!
//! | event | question | answer |
//! |---|---|---|
//! | a session begins | [`Engine::at_start`] | what is open, who else is here |
//! | before a tool | [`Engine::before_tool`] | [`Verdict`] |
//! | after a tool | [`Engine::after_tool`], [`Engine::tool_failed`] | what it satisfied |
//! | the agent stops | [`Engine::at_stop`] | why it is held, if it is |
//! | a compaction | [`Engine::compacted`] | |
//! | a session ends | [`Engine::at_end`] | |
//!
//! All of them read the session that the agent is bound to and the branch's file, and nothing else; a process is
//! started only to count a branch's lines. None of them fails: [`Gated::problems`] is what to say on stderr.
//! `Engine::without_store` serves where the store cannot be opened: what the configuration requires holds all the same.
//!
//! The branch's file is the truth. It is read and written under its own lock, which is never held together with the
//! store's turn; an event in the session's log follows.

mod branch;
mod branches;
mod command;
mod configure;
mod file;
mod gate;
mod life;
mod live;
mod pause;
mod produced;
mod record;
mod sessions;
mod setting;
mod size;
mod stack;
mod status;
#[cfg(test)]
mod tests;
mod used;
mod wording;

pub use branches::TrackedBranch;
pub use command::{Clearing, RequirementAnswer, SatisfyRequest};
pub use configure::SettingsFile;
pub use life::{OpenRequirement, Opening};
pub use live::LiveAgent;
pub(crate) use live::is_same as is_same_agent;
pub use sessions::{RecordView, SessionRecord};
pub(crate) use status::warning;
pub use status::{RequirementList, RequirementView};

use crate::engine::Engine;
use crate::presence::AgentIdentity;
use branch::BranchFile;
use std::path::PathBuf;

/// Below the folder of branch files, where only leftoff looks.
const OUR_FOLDER: &str = "leftoff";

/// A tool call, as a hook was told about it.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    pub agent: &'a AgentIdentity,
    /// By the name that the configuration uses: `Edit`, `Write`, `Bash`.
    pub tool: &'a str,
    /// Of a shell.
    pub command: Option<&'a str>,
    /// Files that it would write, absolute or below the folder that the engine was opened for.
    pub files: &'a [&'a str],
    /// The skill that it runs.
    pub skill: Option<&'a str>,
    /// Tells one call from every other: the same one counts once.
    pub tool_use_id: Option<&'a str>,
}

/// Whether a tool may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// It may, and somebody should know this.
    Warn(String),
    /// It may not, and this is why and what to do.
    Deny(String),
}

/// An answer, and what went wrong on the way to it: lines for stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated<T> {
    pub answer: T,
    pub problems: Vec<String>,
}

/// Where requirements are kept for this worktree.
struct Ground {
    /// `<git common dir>/requirements`
    folder: PathBuf,
    branch: String,
    /// The worktree's root, as it is written into the files.
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
    /// None outside git and where no branch is checked out: nothing is required there.
    fn ground(&self) -> Option<Ground> {
        self.ground_on(None)
    }

    /// None also where a person switched requirements off for everything that this agent does.
    fn hook_ground(&self) -> Option<Ground> {
        if self.caller.skips_requirements { None } else { self.ground() }
    }

    /// The branch that is named, else the one that is checked out.
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

    /// Questions are answered for this agent from now on.
    fn asked_by(&mut self, identity: &AgentIdentity) {
        self.caller.agent = Some(identity.clone());
    }

    fn seconds(&self) -> i64 {
        self.clock.now().as_second()
    }
}
