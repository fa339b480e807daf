//! The parts of problems that several share, each with the words that it adds to a sentence.

use model::id::ItemId;
use std::fmt;

/// Why a file says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    Missing,
    IsFolder,
    NotRead,
    /// Its folder cannot be read; why, as far as that is known.
    FolderUnreadable(Option<String>),
    TooLarge {
        most: u64,
    },
    /// As the disk says it.
    Unusable(String),
    /// As the reader of its syntax says it.
    Syntax(String),
    /// It is a file of something else.
    NoneOfTheKeys(&'static [&'static str]),
    NoKeyOfASession,
    /// Something else stands where the format has its phases.
    Damaged(Vec<Damage>),
}

/// A key that says where things stand, and holds something else.
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
            Self::FolderUnreadable(None) => out.write_str("it cannot be read, because its folder cannot"),
            Self::FolderUnreadable(Some(why)) => {
                write!(out, "it cannot be read, because its folder cannot: {why}")
            }
            Self::TooLarge { most } => write!(out, "it is larger than {most} bytes, the most that is read"),
            Self::Unusable(said) | Self::Syntax(said) => out.write_str(said),
            Self::NoneOfTheKeys(keys) => write!(out, "it has none of the keys {}", keys.join(", ")),
            Self::NoKeyOfASession => out.write_str("none of its keys is one of a session's state"),
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

/// How reading goes on after a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    Nothing,
    LeftAsItIs,
    /// A file that proves something, and does not.
    NothingShown,
    WorkedOut,
    WorkedOutWithRegistry,
    /// Nothing else tells where things stand.
    NotTold,
    ReadInstead {
        backup: String,
    },
}

impl Then {
    /// It follows from the file's own state alone, and changes when another file stands in for it.
    pub(super) fn is_about_the_file(&self) -> bool {
        match self {
            Self::LeftAsItIs | Self::WorkedOut | Self::WorkedOutWithRegistry | Self::NotTold => true,
            Self::Nothing | Self::NothingShown | Self::ReadInstead { .. } => false,
        }
    }
}

impl fmt::Display for Then {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::LeftAsItIs => out.write_str("; it is left as it is"),
            Self::NothingShown => out.write_str("; what it would show is not known"),
            Self::WorkedOut => out.write_str("; where things stand was worked out from the other files"),
            Self::WorkedOutWithRegistry => {
                out.write_str("; where things stand was worked out from the registry and the other files")
            }
            Self::NotTold => out.write_str("; where things stand cannot be told from it"),
            Self::ReadInstead { backup } => write!(out, "; {backup} was read instead, and may be older"),
        }
    }
}

/// The value that counts in place of one that is missing or not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Nothing,
    Pending,
    FileName,
    /// A phase, as the format calls it.
    WorkedOut(&'static str),
    Phase(u32),
}

impl fmt::Display for Taken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Pending => out.write_str("; the task counts as pending"),
            Self::FileName => out.write_str("; the file's name counts"),
            Self::WorkedOut(phase) => write!(out, "; {phase} was worked out"),
            Self::Phase(number) => write!(out, "; phase {number} is taken"),
        }
    }
}

/// The type that a value should have.
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
    /// Without its article.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::List => "list",
            Self::Object => "object",
            Self::Mapping => "mapping",
            Self::WholeNumber => "whole number",
            Self::WholeNumberFromZero => "whole number from 0 on",
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

/// The numbers that there can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// Phases from 1 on.
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
    /// Numbered folders; the last one that is there.
    Folders {
        folder: &'static str,
        last: u32,
    },
}

/// A phase or stage that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    PhaseOf { name: String, workflow: &'static str },
    Phase { name: String, last_valid: &'static str },
    PhaseInList { name: String },
    PhaseNumber { found: String },
    Stage { name: String },
}

/// Two sources that say different things.
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

/// Something is called completed, and what it builds on is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomplete {
    File { name: String },
    SectionFile { section: u32, name: String },
    NoArgumentMap,
    Earlier { stage: &'static str },
}

/// How an item names another.
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

/// Why a number of phases that was written down is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Total {
    Specification { recorded: u32, phases: u32 },
    Completed { recorded: u32, completed: u32 },
    NotANumber { found: String },
}

/// Where a line of a registry leads instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    /// To a session of another name.
    Session { name: String },
    /// To no place of a session; what such a place is.
    NoPlace { places: String },
}

/// Lines and markers that name sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfRegistry {
    /// Nobody's, as far as can be told.
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
    /// Nothing there has a name that begins so.
    Strangers {
        prefix: &'static str,
        names: Vec<String>,
    },
}
