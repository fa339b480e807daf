//! An agent's event as every agent's translation gives it. Knows no agent's words.

use crate::hooks::ToolCall;
use crate::presence::AgentIdentity;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    pub agent: AgentIdentity,
    /// Where the agent is.
    pub folder: PathBuf,
    pub happened: Happened,
    /// Set inside a subagent.
    pub subagent: Option<Subagent>,
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
