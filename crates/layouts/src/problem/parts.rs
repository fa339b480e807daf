//! Parts shared by several problems, each with its words for a sentence.

use model::id::ItemId;
use std::fmt;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    Missing,
    IsFolder,
    NotRead,
    /// The folder of the file is unreadable, with the reason if known.
    FolderUnreadable(Option<String>),
    TooLarge {
        most: u64,
    },
    /// The reason, in the words of the operating system.
    Unusable(String),
    /// The reason, in the words of the parser.
    Syntax(String),
    /// The file has none of these keys, so it was written for another purpose.
    NoneOfTheKeys(&'static [&'static str]),
    NoKeyOfASession,
    /// There are wrong values in place of the phases.
    Damaged(Vec<Damage>),
}

/// A key that contains the position, with a wrong value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub field: String,
    pub found: String,
    pub wanted: Type,
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => out.write_str("it is missing"),
            Self::IsFolder => out.write_str("it is a folder"),
            Self::NotRead => out.write_str("it was not read"),
            Self::FolderUnreadable(None) => {
                out.write_str("it cannot be read, because its folder cannot be read")
            }
            Self::FolderUnreadable(Some(why)) => {
                write!(out, "it cannot be read, because its folder cannot be read: {why}")
            }
            Self::TooLarge { most } => write!(out, "it is larger than {most} bytes, the maximum"),
            Self::Unusable(said) | Self::Syntax(said) => out.write_str(said),
            Self::NoneOfTheKeys(keys) => write!(out, "it has none of the keys {}", keys.join(", ")),
            Self::NoKeyOfASession => out.write_str("it has no key of a session's state"),
            Self::Damaged(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                out.write_str(&all.join(", "))
            }
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} is {}, not {}", self.field, self.found, self.wanted)
    }
}

/// The consequence of an unreadable file, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    Nothing,
    LeftAsItIs,
    /// The file could prove something, but its contents are unknown.
    NothingShown,
    WorkedOut,
    WorkedOutWithRegistry,
    /// The position is unknown, because no other file contains it.
    PositionUnknown,
    ReadInstead {
        backup: String,
    },
}

impl Then {
    /// True if the consequence concerns only the file itself, and no longer applies when another file
    /// replaces it.
    pub(super) fn is_about_the_file(&self) -> bool {
        match self {
            Self::LeftAsItIs | Self::WorkedOut | Self::WorkedOutWithRegistry | Self::PositionUnknown => true,
            Self::Nothing | Self::NothingShown | Self::ReadInstead { .. } => false,
        }
    }
}

impl fmt::Display for Then {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::LeftAsItIs => out.write_str("; it is left as it is"),
            Self::NothingShown => out.write_str("; its contents are unknown"),
            Self::WorkedOut => out.write_str("; the position was derived from the other files"),
            Self::WorkedOutWithRegistry => {
                out.write_str("; the position was derived from the registry and the other files")
            }
            Self::PositionUnknown => out.write_str("; the position is unknown"),
            Self::ReadInstead { backup } => write!(out, "; {backup} was read instead, and may be older"),
        }
    }
}

/// The value that is used in place of a missing or unknown one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Nothing,
    Pending,
    FileName,
    /// The phase that was inferred, in the format's words.
    WorkedOut(&'static str),
    Phase(u32),
}

impl fmt::Display for Taken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Pending => out.write_str("; the task counts as pending"),
            Self::FileName => out.write_str("; the file's name counts"),
            Self::WorkedOut(phase) => write!(out, "; {phase} was derived"),
            Self::Phase(number) => write!(out, "; phase {number} is used"),
        }
    }
}

/// The expected type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Text,
    List,
    Object,
    Mapping,
    WholeNumber,
    WholeNumberFromZero,
    Number,
    Numbers,
    Seconds,
    Time,
    Flag,
    Path,
    PhaseList,
}

impl Type {
    /// The name of the type without its article.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::List => "list",
            Self::Object => "object",
            Self::Mapping => "mapping",
            Self::WholeNumber => "whole number",
            Self::WholeNumberFromZero => "whole number of at least 0",
            Self::Number => "number",
            Self::Numbers => "list of numbers",
            Self::Seconds => "number of seconds",
            Self::Time => "time",
            Self::Flag => "true or false",
            Self::Path => "path",
            Self::PhaseList => "list of a phase",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let article = match self {
            Self::Object => "an ",
            Self::Flag => "",
            Self::Text
            | Self::List
            | Self::Mapping
            | Self::WholeNumber
            | Self::WholeNumberFromZero
            | Self::Number
            | Self::Numbers
            | Self::Seconds
            | Self::Time
            | Self::Path
            | Self::PhaseList => "a ",
        };
        write!(out, "{article}{}", self.noun())
    }
}

/// The valid numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// The numbers of phases, from 1.
    To(usize),
    FromOne,
    Stages,
    Sections(u32),
    Paragraphs(u32),
    Indexes(u32),
    AtMost(u32),
    Of(u32),
    Phases {
        first: u32,
        last: u32,
        taken: u32,
    },
    Completed {
        taken: u32,
    },
    /// The number of the last existing folder.
    Folders {
        folder: &'static str,
        last: u32,
    },
}

/// An unknown phase or stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    PhaseOf { name: String, workflow: &'static str },
    Phase { name: String, last_valid: &'static str },
    PhaseInList { name: String },
    PhaseNumber { found: String },
    Stage { name: String },
}

/// Two sources that disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disagreement {
    PhaseAndNumber { name: &'static str, number: usize },
    StageAndName { number: usize, name: &'static str },
    EarlierStage { found: String, other: String },
    IdAndFile { id: String, file: String },
    Status { said: &'static str, counts: String, counting: &'static str },
    Archived,
    StatusAndFolder { status: String, folder: &'static str },
    TotalAndDefinition { recorded: u32, defined: u32 },
}

/// Something is called completed, but what it is based on is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomplete {
    File { name: String },
    SectionFile { section: u32, name: String },
    NoArgumentMap,
    Earlier { stage: &'static str },
}

/// How an item refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Part,
    Parent,
    Need,
}

/// A task that does not fit the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfItem {
    BadId { found: String, why: String },
    SameAs { id: ItemId, file: String },
    NotThere { relation: Relation, name: String },
    ParentIsSilent { parent: ItemId },
    PartIsSilent { parent: ItemId },
    BothAreSilent { parent: ItemId },
    PartOfItself,
    TooDeep { levels: usize, most: usize },
    Cycle { path: Vec<String>, left_out: ItemId },
    OpenParts { open: usize, all: usize },
    NoParts,
}

/// Why a recorded number of phases is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Total {
    Specification { recorded: u32, phases: u32 },
    Completed { recorded: u32, completed: u32 },
    NotANumber { found: String },
}

/// The content of the path in a registry line instead of the line's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    /// A session with another name is there.
    Session { name: String },
    /// The path is not a place for sessions; with a description of such a place.
    NoPlace { places: String },
}

/// A problem with lines of a registry, or with marker files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfRegistry {
    /// Lines that are not JSON, so that nobody knows to which session they belong.
    BrokenLines(Vec<usize>),
    Repeated {
        name: String,
        lines: usize,
    },
    LineElsewhere {
        line: usize,
        name: String,
        path: String,
        place: Elsewhere,
    },
    NamesNothing(Vec<String>),
    StrayMarker {
        name: String,
    },
    /// The folder contains no name with the prefix of a session.
    Strangers {
        prefix: &'static str,
        names: Vec<String>,
    },
}
