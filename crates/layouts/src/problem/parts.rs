//! Parts of problems that several problems share, each with its words for a sentence.

use model::id::ItemId;
use std::fmt;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    Missing,
    IsFolder,
    NotRead,
    /// The folder of the file cannot be read. The text is the reason, if known.
    FolderUnreadable(Option<String>),
    TooLarge {
        most: u64,
    },
    /// The reason why the file cannot be used, in the operating system's words.
    Unusable(String),
    /// The reason why the file cannot be parsed, in the parser's words.
    Syntax(String),
    /// None of these keys is in the file, so the file was written for another purpose.
    NoneOfTheKeys(&'static [&'static str]),
    NoKeyOfASession,
    /// Wrong values replace the phases.
    Damaged(Vec<Damage>),
}

/// A key that says where the session is, with a wrong value.
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
    /// The file might prove something, but its content is unknown.
    NothingShown,
    WorkedOut,
    WorkedOutWithRegistry,
    /// No other file says where the session continues.
    PositionUnknown,
    ReadInstead {
        backup: String,
    },
}

impl Then {
    /// True if the consequence is only about the unreadable file. It does not apply any more once another
    /// file replaces that file.
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

/// The value that is used instead of a missing or unknown one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Nothing,
    Pending,
    FileName,
    /// The phase that was inferred, in the words of the format.
    WorkedOut(&'static str),
    Phase(u32),
}

impl fmt::Display for Taken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Pending => out.write_str("; the task counts as pending"),
            Self::FileName => out.write_str("; the file's name is used as the id"),
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
    /// The name of the type, without an article.
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

/// The numbers that are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// The numbers of phases, from 1 to this number.
    To(usize),
    FromOne,
    Stages,
    Sections(u32),
    Paragraphs(u32),
    Indexes(u32),
    AtMost(u32),
    AtLeast(i64),
    Of(u32),
    Phases {
        first: u32,
        last: u32,
        taken: u32,
    },
    Completed {
        taken: u32,
    },
    /// The highest number of an existing folder.
    Folders {
        folder: &'static str,
        last: u32,
    },
}

/// A phase or stage that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    PhaseOf { name: String, workflow: &'static str },
    Phase { name: String, last_valid: &'static str },
    PhaseInList { name: String },
    PhaseNumber { found: String },
    Stage { name: String },
}

/// Two sources that contradict each other.
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

/// A completed stage or section lacks the file or result that completes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomplete {
    File { name: String },
    SectionFile { section: u32, name: String },
    NoArgumentMap,
    Earlier { stage: &'static str },
}

/// How one item refers to another item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Part,
    Parent,
    Need,
}

/// A task that contradicts other tasks.
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

/// Why the recorded number of phases cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Total {
    Specification { recorded: u32, phases: u32 },
    Completed { recorded: u32, completed: u32 },
    NotANumber { found: String },
}

/// The entry at the path in a registry line, if it is not the line's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    /// A session with another name.
    Session { name: String },
    /// Something in a place where no session can be. `places` describes where sessions can be.
    NoPlace { places: String },
}

/// A problem with lines of a registry, or with marker files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfRegistry {
    /// Lines that are not JSON, so their sessions are unknown.
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
    /// No name in the folder starts with the prefix of sessions.
    Strangers {
        prefix: &'static str,
        names: Vec<String>,
    },
}
