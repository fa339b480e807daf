//! A new session that needs a place among a layout's own.

use crate::layout::Spot;
use jiff::Timestamp;
use jiff::civil::Date;
use std::fmt;

/// A session that is to be started.
#[derive(Clone, Copy)]
pub struct NewSession<'a> {
    pub name: NewName<'a>,
    /// Tells which paths are taken.
    pub is_taken: &'a dyn Fn(&str) -> bool,
}

/// How it gets its name.
#[derive(Debug, Clone, Copy)]
pub enum NewName<'a> {
    /// Asked for.
    Asked(&'a str),
    /// Made by the layout.
    Made(Occasion<'a>),
    /// As another session's, told apart by a number: in a project where that name is taken.
    Beside(&'a Spot, u32),
}

/// Everything that a layout can make a name of.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    pub title: &'a str,
    pub today: Date,
    pub now: Timestamp,
    pub branch: Option<&'a str>,
    /// For layouts whose ids are random.
    pub random: [u8; 16],
}

impl<'a> NewSession<'a> {
    /// The name that is asked for, else one that the layout makes.
    pub fn new(id: Option<&'a str>, occasion: Occasion<'a>, is_taken: &'a dyn Fn(&str) -> bool) -> Self {
        Self { name: id.map_or(NewName::Made(occasion), NewName::Asked), is_taken }
    }
}

/// Why a new session has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplaced {
    NoFolderName {
        name: String,
    },
    /// A folder's name must be like this one.
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
    /// Every name that could be made is taken.
    AllTaken,
}

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolderName { name } => write!(f, "'{name}' is no name for a session's folder"),
            Self::NotLike { name, example } => {
                write!(f, "'{name}' is no name for a session's folder; it must be like {example}")
            }
            Self::NoFileName { name } => write!(f, "'{name}' is no name for a session's file"),
            Self::NoId { id, rule } => write!(f, "'{id}' is no id of this layout: {rule}"),
            Self::TooLong { id, most, with } => {
                write!(f, "'{id}' is too long: {most} characters at most, with {with}")
            }
            Self::Exists { name } => write!(f, "there is a session '{name}' already"),
            Self::PathTaken { path } => write!(f, "{path} is there already"),
            Self::AllTaken => f.write_str("every name for a session of this minute is taken"),
        }
    }
}
