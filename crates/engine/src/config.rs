//! `.leftoff/config.toml`: what a project sets. Everything has a default; a mistake is told with its line.

use crate::error::{Error, FileMistake, Result};
use crate::place::Project;
use crate::policy::Policy;
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::PathBuf;

pub const DEFAULT_WORKFLOW: &str = "plan-implement-review";

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The workflow that `start` uses when none is named.
    pub workflow: Option<String>,
    /// Another store than the embedded one.
    pub store: Option<String>,
    /// Folders in which sessions are looked for that can be anywhere, such as essays.
    #[serde(default)]
    pub places: Vec<String>,
    #[serde(default)]
    pub policy: Policy,
    #[serde(default)]
    pub expiry: Expiry,
}

/// How long a session may lie.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expiry {
    /// Without activity for so long, it counts as paused.
    pub pause_after: Limit,
    /// Without activity for so long, every look at it says so.
    pub warn_after: Limit,
}

impl Default for Expiry {
    fn default() -> Self {
        const HOUR: u64 = 60 * 60;
        Self { pause_after: Limit(Some(24 * HOUR)), warn_after: Limit(Some(7 * 24 * HOUR)) }
    }
}

/// A length of time, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Limit(Option<u64>);

impl Limit {
    /// None when it is off.
    pub fn seconds(self) -> Option<u64> {
        self.0
    }
}

impl TryFrom<String> for Limit {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        match layouts::definition::duration_seconds(&text) {
            Some(seconds) if seconds > 0 => Ok(Self(Some(seconds))),
            Some(_) | None => Err(format!("{text:?} is no length of time; write \"24h\", \"7d\" or \"off\"")),
        }
    }
}

/// What a new project gets: all defaults, said in comments.
pub const TEMPLATE: &str = "\
# leftoff: what this project sets. Every line is optional.

# The workflow that `leftoff start` uses when none is named.
# workflow = \"plan-implement-review\"

# Folders in which sessions are looked for that can be anywhere, such as essays.
# places = [\"drafts\"]

# Who may do what needs a person: \"person\" (at a terminal) or \"anyone\". A weaker line counts on a machine after a
# person accepted it there: leftoff trust --policy
# [policy]
# approve = \"person\"
# override = \"person\"
# skip = \"person\"
# close = \"person\"
# purge = \"person\"
# abandon = \"person\"
# take = \"person\"
# update = \"person\"

# A session without activity counts as paused after a while, and is asked about after a longer one; \"off\" for never.
# [expiry]
# pause_after = \"24h\"
# warn_after = \"7d\"
";

impl Config {
    pub fn path(project: &Project) -> PathBuf {
        project.folder().join("config.toml")
    }

    pub fn read(project: &Project) -> Result<Self> {
        let path = Self::path(project);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Error::io(format!("reading {}", path.display()), error)),
        };
        let config: Self = toml::from_str(&text).map_err(|error| Error::BadConfig {
            mistake: FileMistake {
                path: path.display().to_string(),
                line: error.span().map_or(1, |span| line_of(&text, span.start)),
                message: error.message().to_owned(),
                hint: None,
            },
        })?;
        config.check_store()?;
        Ok(config)
    }

    pub fn workflow(&self) -> &str {
        self.workflow.as_deref().unwrap_or(DEFAULT_WORKFLOW)
    }

    fn check_store(&self) -> Result<()> {
        match &self.store {
            None => Ok(()),
            Some(store) => Err(Error::NotSupported {
                what: format!("store = {store:?}"),
                hint: "take the line out of .leftoff/config.toml: the embedded store needs no setting".into(),
            }),
        }
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
