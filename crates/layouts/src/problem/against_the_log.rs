//! Differences between a session's files and the log, and their sentences before and after a repair.

use model::hint::Hint;
use model::id::SessionId;
use model::words;

/// How a file differs from the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgainstTheLog {
    /// Somebody other than leftoff changed the file.
    Edited(Change),
    /// A write to the file did not finish.
    Behind(Stale),
    /// The file cannot be examined, so it stays as it is.
    LeftAlone {
        why: Option<String>,
    },
    Missing,
    Damaged {
        why: Option<String>,
    },
    NotMoved {
        to: String,
    },
    /// The session's folder is missing, with all its files.
    Gone,
}

/// A change by another writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Made,
    Changed,
    TakenAway,
}

/// The sign that a write did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    Older,
    StillThere,
    NotThereYet,
}

impl AgainstTheLog {
    /// The name of the kind of this problem, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Edited(_) => "edited_outside",
            Self::Behind(_) | Self::NotMoved { .. } => "view_stale",
            Self::LeftAlone { .. } => "view_unreadable",
            Self::Missing => "view_missing",
            Self::Damaged { .. } => "view_damaged",
            Self::Gone => "folder_gone",
        }
    }

    pub(super) fn hint(&self, id: &SessionId) -> Hint {
        let text = match self {
            Self::Edited(_) => {
                return Hint::new("the next command that changes the session adopts the edit");
            }
            Self::Gone => return gone_hint(id, None, None),
            Self::Behind(_) | Self::Missing => "rewrite the file: ",
            Self::LeftAlone { .. } => "make the file readable, or quarantine it: ",
            Self::Damaged { .. } => "quarantine and rewrite the file: ",
            Self::NotMoved { .. } => "move the file: ",
        };
        Hint::new(text).run(words!["repair", "--session", id])
    }

    pub(super) fn sentence(&self, path: &str) -> String {
        match self {
            Self::Edited(change) => {
                format!("{}; the edit is shown, but not in the log yet", edited(path, *change))
            }
            Self::Behind(stale) => format!("{path} is {}: a write did not finish", stale.words()),
            Self::LeftAlone { why } => {
                format!(
                    "{path} cannot be inspected{}; it is left alone, and the log is used",
                    in_brackets(why.as_deref())
                )
            }
            Self::Missing => format!("{path} is missing; the log has its content"),
            Self::Damaged { why } => {
                format!("{path} is damaged{}; the log is used instead", after_colon(why.as_deref()))
            }
            Self::NotMoved { to } => format!("{path} should be in {to}, but was not moved"),
            Self::Gone => {
                format!("{path} is gone, with all files of the session; the log has their contents")
            }
        }
    }

    pub(super) fn when_repaired(&self, path: &str) -> Option<String> {
        match self {
            Self::Edited(change) => Some(format!("{}; the edit was adopted", edited(path, *change))),
            Self::LeftAlone { why } => Some(format!(
                "{path} could not be inspected{}; it was quarantined and rewritten from the log",
                in_brackets(why.as_deref())
            )),
            Self::Missing => Some(format!("{path} was missing; it was rewritten from the log")),
            Self::Damaged { why } => Some(format!(
                "{path} was damaged{}; it was rewritten from the log",
                after_colon(why.as_deref())
            )),
            Self::Behind(_) | Self::NotMoved { .. } | Self::Gone => None,
        }
    }
}

/// Advice on a session whose folder is missing. `renamed` is the session that has its files now, if one was
/// found.
pub fn gone_hint(id: &SessionId, renamed: Option<&SessionId>, moved: Option<&str>) -> Hint {
    let new = match (renamed, moved) {
        (_, Some(place)) => Hint::new(format!("a folder of that name is in {place}: move it back")),
        (Some(new), None) => {
            Hint::new(format!("the session is now called {new}; continue it: ")).run(words!["switch", new])
        }
        (None, None) => {
            Hint::new("if the session was renamed, continue it under its new name: ").run(words!["list"])
        }
    };
    new.then("; or recreate the folder: ")
        .run(words!["repair", "--session", id])
        .then("; or abandon the session: ")
        .run(words!["abandon", id])
}

impl Stale {
    fn words(self) -> &'static str {
        match self {
            Self::Older => "older than the log",
            Self::StillThere => "still there",
            Self::NotThereYet => "not there yet",
        }
    }
}

fn edited(path: &str, change: Change) -> String {
    let change = match change {
        Change::Made => "made",
        Change::Changed => "changed",
        Change::TakenAway => "removed",
    };
    format!("{path} was {change} by somebody else")
}

fn in_brackets(why: Option<&str>) -> String {
    why.map(|why| format!(" ({why})")).unwrap_or_default()
}

fn after_colon(why: Option<&str>) -> String {
    why.map(|why| format!(": {why}")).unwrap_or_default()
}
