//! An agent's event as every agent's translation gives it. Knows no agent's words.

use crate::hooks::ToolCall;
use crate::presence::AgentIdentity;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    pub agent: AgentIdentity,
    /// Where the agent is.
    pub folder: PathBuf,
    pub happened: Happened,
    /// Set inside a subagent.
    pub subagent: Option<Subagent>,
    /// Of an event that has no name of its own: by what the same one is known when it is delivered again.
    pub delivery: Option<String>,
}

impl HookEvent {
    /// Gives an event that counts, and has no name of its own, one by what the agent said. Agents that are wired twice
    /// say the same to both.
    #[must_use]
    pub fn delivered_as(mut self, input: &[u8]) -> Self {
        self.delivery = match &self.happened {
            Happened::Stopping { .. } | Happened::Compacting => Some(fingerprint(input)),
            Happened::Arrived { .. }
            | Happened::Prompt
            | Happened::BeforeTool(_)
            | Happened::AfterTool(_)
            | Happened::ToolFailed { .. }
            | Happened::SubagentStopping { .. }
            | Happened::Compacted
            | Happened::Ended
            | Happened::Other => None,
        };
        self
    }
}

/// A short name for what an agent said.
pub fn fingerprint(input: &[u8]) -> String {
    const ENOUGH: usize = 32;
    let mut name = crate::hex(&Sha256::digest(input));
    name.truncate(ENOUGH);
    name
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happened {
    /// A conversation began, or came back.
    Arrived {
        source: Source,
    },
    /// A person said something.
    Prompt,
    BeforeTool(ToolCall),
    AfterTool(ToolCall),
    ToolFailed {
        call: ToolCall,
        error: String,
    },
    /// The agent wants to end its turn; `again` after it was held before.
    Stopping {
        again: bool,
        last_words: Option<String>,
    },
    SubagentStopping {
        again: bool,
    },
    Compacting,
    Compacted,
    /// The conversation is over.
    Ended,
    /// Nothing that we have to do with.
    Other,
}

/// Why a conversation is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Startup,
    Resume,
    Clear,
    /// The agent's context was cut down to a summary: it has forgotten the rest.
    Compact,
    Fork,
    Other,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Fork => "fork",
            Self::Other => "other",
        }
    }

    pub fn parse(text: &str) -> Self {
        match text {
            "startup" => Self::Startup,
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            _ => Self::Other,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// The agent's own helper, which nobody asked for: never held.
    pub is_internal: bool,
}
