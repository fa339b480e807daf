//! An agent's event, translated to a common form. Knows no agent's own terms.

use crate::hooks::ToolCall;
use crate::presence::AgentIdentity;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    pub agent: AgentIdentity,
    /// The agent's current folder.
    pub folder: PathBuf,
    pub happened: Happened,
    /// Set inside a subagent.
    pub subagent: Option<Subagent>,
    /// For an event without a name of its own: identifies repeated deliveries.
    pub delivery: Option<String>,
}

impl HookEvent {
    /// Names an event that counts but has no name, after its content. An agent that is wired twice sends the
    /// same event twice.
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

/// A short name for an agent's input.
pub fn fingerprint(input: &[u8]) -> String {
    const ENOUGH: usize = 32;
    let mut name = crate::hex(&Sha256::digest(input));
    name.truncate(ENOUGH);
    name
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happened {
    /// A conversation started, or returned.
    Arrived {
        source: Source,
    },
    /// A person wrote a prompt.
    Prompt,
    BeforeTool(ToolCall),
    AfterTool(ToolCall),
    ToolFailed {
        call: ToolCall,
        error: String,
    },
    /// The agent wants to end its turn; `again` if it was stopped before.
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
    /// An irrelevant event.
    Other,
}

/// Why a conversation starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Startup,
    Resume,
    Clear,
    /// The agent's context was reduced to a summary: it has forgotten the rest.
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
    /// The agent's own helper, which nobody asked for: never blocked.
    pub is_internal: bool,
}
