//! Reads `.leftoff/config.toml`, the project's settings. Every setting has a default. A mistake is reported with its
//! line.

use crate::error::{Error, FileMistake, Result};
use crate::policy::Policy;
use crate::project::Project;
use crate::{NATIVE, layout_names};
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub const DEFAULT_WORKFLOW: &str = "plan-implement-review";

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The workflow that `start` uses if none is named.
    pub workflow: Option<String>,
    /// The layout that `start` uses if none is named.
    pub layout: Option<String>,
    /// The server with the store, such as `postgres://host/database`; `None` if the store is a file on this machine.
    pub store: Option<String>,
    /// This project's id in a store that several projects share. It is assigned once, and is the same in every clone.
    pub project: Option<String>,
    /// Folders to search for sessions that can be anywhere, such as essays.
    #[serde(default)]
    pub places: Vec<String>,
    #[serde(default)]
    pub policy: Policy,
    #[serde(default)]
    pub expiry: Expiry,
}

/// Time limits for inactive sessions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expiry {
    /// How long a session may be without activity before it counts as paused.
    pub pause_after: Limit,
    /// How long a session may be without activity before every view of it shows a warning.
    pub warn_after: Limit,
}

impl Default for Expiry {
    fn default() -> Self {
        const HOUR: u64 = 60 * 60;
        Self { pause_after: Limit(Some(24 * HOUR)), warn_after: Limit(Some(7 * 24 * HOUR)) }
    }
}

/// A length of time, or no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Limit(Option<u64>);

impl Limit {
    /// Returns the time in seconds, or `None` if the limit is switched off.
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
            Some(_) | None => Err(format!("{text:?} is not a duration; write \"24h\", \"7d\" or \"off\"")),
        }
    }
}

/// The settings file of a new project: all defaults, as comments.
pub const TEMPLATE: &str = "\
# Settings of leftoff for this project. Every line is optional.

# The workflow that `leftoff start` uses when none is named.
# workflow = \"plan-implement-review\"

# The layout of new sessions: native, ocr, ccw, praxis or essay. Without this line, that of the project's only tool.
# layout = \"native\"

# A team's store on a PostgreSQL server, without a password. The line `project = …` is added to it once.
# store = \"postgres://db.example.com/leftoff\"

# Folders to search for sessions that can be anywhere, such as essays.
# places = [\"drafts\"]

# Who may do what needs a person: \"person\" (at a terminal) or \"anyone\". A weaker setting takes effect on a machine after a
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
        config.check_project(&path, &text)?;
        config.check_layout(&path, &text)?;
        Ok(config)
    }

    pub fn workflow(&self) -> &str {
        self.workflow.as_deref().unwrap_or(DEFAULT_WORKFLOW)
    }

    fn check_layout(&self, path: &Path, text: &str) -> Result<()> {
        let Some(layout) = self.layout.as_deref() else { return Ok(()) };
        if layout == NATIVE || layout_names().contains(&layout) {
            return Ok(());
        }
        let line = line_that_sets(text, "layout");
        let message = format!("there is no layout '{layout}'");
        let hint = Some(format!("the layouts are {NATIVE}, {}", layout_names().join(", ")));
        let path = path.display().to_string();
        Err(Error::BadConfig { mistake: FileMistake { path, line, message, hint } })
    }

    fn check_project(&self, path: &Path, text: &str) -> Result<()> {
        let is_id = |id: &str| {
            let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
            !id.is_empty() && id.len() <= 64 && id.bytes().all(fits)
        };
        if self.project.as_deref().is_none_or(is_id) {
            return Ok(());
        }
        let line = line_that_sets(text, "project");
        let message = "a project's id has letters, digits, '-' and '_' only".to_owned();
        let path = path.display().to_string();
        Err(Error::BadConfig { mistake: FileMistake { path, line, message, hint: None } })
    }

    /// Returns the number of the line that sets this name, for a message.
    pub(crate) fn line_of(project: &Project, name: &str) -> usize {
        line_that_sets(&std::fs::read_to_string(Self::path(project)).unwrap_or_default(), name)
    }

    /// Adds the project's id as the first line, and leaves all other lines unchanged.
    pub(crate) fn add_project(project: &Project, id: &str) -> Result<()> {
        let path = Self::path(project);
        if Self::read(project)?.project.is_some() {
            return Ok(());
        }
        let failed = |source| Error::io(format!("writing {}", path.display()), source);
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => TEMPLATE.to_owned(),
            Err(error) => return Err(failed(error)),
        };
        let draft = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&draft, format!("project = \"{id}\"\n{before}")).map_err(failed)?;
        std::fs::rename(&draft, &path).map_err(failed)
    }
}

fn line_that_sets(text: &str, name: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(name)).unwrap_or_default() + 1
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
