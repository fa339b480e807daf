//! A new session that needs a place in a layout.

use crate::layout::Spot;
use jiff::Timestamp;
use jiff::civil::Date;
use std::fmt;

/// A session about to start.
#[derive(Clone, Copy)]
pub struct NewSession<'a> {
    pub name: NewName<'a>,
    pub aim: NewAim,
    /// Returns true for paths that are taken.
    pub is_taken: &'a dyn Fn(&str) -> bool,
}

/// The reason for creating a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewAim {
    /// To work in this project.
    Start,
    /// To export a session to another project, whose tool reads it.
    Export,
}

/// The origin of a session's name.
#[derive(Debug, Clone, Copy)]
pub enum NewName<'a> {
    /// The user asked for this name.
    Asked(&'a str),
    /// The layout creates a name.
    Made(Occasion<'a>),
    /// The name of another session with a number appended, because the plain name is taken.
    Beside(&'a Spot, u32),
}

/// The data from which a layout can create a name.
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
    /// Uses the requested name, or one that the layout creates.
    pub fn new(id: Option<&'a str>, occasion: Occasion<'a>, is_taken: &'a dyn Fn(&str) -> bool) -> Self {
        Self { name: id.map_or(NewName::Made(occasion), NewName::Asked), aim: NewAim::Start, is_taken }
    }

    #[must_use]
    pub fn to_export(self) -> Self {
        Self { aim: NewAim::Export, ..self }
    }
}

/// The reason why there is no place for a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplaced {
    NoFolderName {
        name: String,
    },
    /// The folder's name must have this form.
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
    /// Every candidate name is taken.
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
