//! A new session, for which a layout chooses a place.

use crate::layout::Spot;
use jiff::Timestamp;
use jiff::civil::Date;
use std::fmt;

/// A session about to start.
#[derive(Clone, Copy)]
pub struct NewSession<'a> {
    pub name: NewName<'a>,
    pub aim: NewAim,
    /// Returns true for a path that already exists.
    pub is_taken: &'a dyn Fn(&str) -> bool,
}

/// The reason for creating a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewAim {
    /// Somebody wants to work in this project.
    Start,
    /// The session is exported to another project, whose tool will read it.
    Export,
}

/// How the session gets its name.
#[derive(Debug, Clone, Copy)]
pub enum NewName<'a> {
    /// The user requested this name.
    Asked(&'a str),
    /// The layout makes up a name from this data.
    Made(Occasion<'a>),
    /// The name of another session with this number appended, because that name is taken.
    Beside(&'a Spot, u32),
}

/// The data from which a layout makes up a name.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    pub title: &'a str,
    pub today: Date,
    pub now: Timestamp,
    pub branch: Option<&'a str>,
    /// Random bytes, for layouts whose ids are random.
    pub random: [u8; 16],
}

impl<'a> NewSession<'a> {
    /// A new session with the requested name, or with a name that the layout makes up.
    pub fn new(id: Option<&'a str>, occasion: Occasion<'a>, is_taken: &'a dyn Fn(&str) -> bool) -> Self {
        Self { name: id.map_or(NewName::Made(occasion), NewName::Asked), aim: NewAim::Start, is_taken }
    }

    #[must_use]
    pub fn to_export(self) -> Self {
        Self { aim: NewAim::Export, ..self }
    }
}

/// Why there is no place for a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplaced {
    NoFolderName {
        name: String,
    },
    /// The name of the folder does not have the form of this example.
    NotLike {
        name: String,
        example: String,
    },
    NoFileName {
        name: String,
    },
    NoId {
        id: String,
        rule: &'static str,
    },
    TooLong {
        id: String,
        most: usize,
        with: &'static str,
    },
    Exists {
        name: String,
    },
    PathTaken {
        path: String,
    },
    /// Every possible name is taken.
    AllTaken,
}

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolderName { name } => write!(f, "'{name}' is not a valid name for a session's folder"),
            Self::NotLike { name, example } => {
                write!(f, "'{name}' is not a valid name for a session's folder; it must look like {example}")
            }
            Self::NoFileName { name } => write!(f, "'{name}' is not a valid name for a session's file"),
            Self::NoId { id, rule } => write!(f, "'{id}' is not an id of this layout: {rule}"),
            Self::TooLong { id, most, with } => {
                write!(f, "'{id}' is too long: at most {most} characters, including {with}")
            }
            Self::Exists { name } => write!(f, "session '{name}' already exists"),
            Self::PathTaken { path } => write!(f, "{path} already exists"),
            Self::AllTaken => f.write_str("every name for a session of this minute is taken"),
        }
    }
}
