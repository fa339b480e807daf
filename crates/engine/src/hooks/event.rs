//! An agent's event in a form that all agents share. Knows no agent's own terms.

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
    /// The subagent in which the event happened, if any.
    pub subagent: Option<Subagent>,
    /// For an event without an id: a hash that shows whether the event was delivered before.
    pub delivery: Option<String>,
}

impl HookEvent {
    /// Sets `delivery` to a hash of the event's input, if the event is counted and has no id. If an agent's hooks are
    /// installed twice, the agent sends each event twice.
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

/// Returns a short hash of an agent's input.
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
    /// The agent wants to end its turn. `again` is true if a hook has already made it continue.
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
    /// An event that leftoff ignores.
    Other,
}

/// Why a conversation starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Startup,
    Resume,
    Clear,
    /// The agent's context was reduced to a summary. The agent has forgotten everything else.
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
    /// True for a helper that the agent starts by itself. Such a helper is never blocked.
    pub is_internal: bool,
}
