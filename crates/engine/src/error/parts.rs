//! Values inside errors: a choice between ways to continue, and a mistake in a file.

use model::hint::CommandLine;

/// A way to continue. A person chooses among several of them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Choice {
    /// The key to type for this choice.
    pub key: String,
    pub words: String,
    /// The command that makes this choice.
    pub command: CommandLine,
    pub session: String,
    /// The phase at which the session would continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

impl Choice {
    pub(super) fn line(&self) -> String {
        format!("\n{}. {}", self.key, self.words)
    }
}

/// A mistake in a file that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMistake {
    pub path: String,
    pub line: usize,
    pub message: String,
    pub hint: Option<String>,
}

impl std::fmt::Display for FileMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}
