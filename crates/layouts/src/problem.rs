//! Problems in a layout's files, as data. Only this module and its submodules put them into words. Decisions
//! depend on the variant, never on the text.

mod against_the_log;
mod parts;
mod sentence;
#[cfg(test)]
mod tests;

pub use against_the_log::{AgainstTheLog, Change, Stale, gone_hint};
pub use parts::{
    Damage, Disagreement, Elsewhere, Incomplete, OfItem, OfRegistry, Range, Relation, Taken, Then, Total,
    Type, Unknown, Why,
};

use crate::layout::Spot;
use model::hint::Hint;
use model::id::{ItemId, SessionId};
use model::words;

/// A problem, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path of the file, relative to the home of the session's files. Empty for the home itself.
    pub path: String,
    /// The key in the file, as a full path such as `stages.stage_3`.
    pub field: Option<String>,
    pub what: What,
}

/// Everything that can be wrong with files, or worth knowing about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    // Variants about whole files.
    Unreadable {
        why: Why,
        then: Then,
    },
    /// Another file was used instead of an unreadable one. The message is in the tool's own words.
    Recovered {
        words: &'static str,
    },
    Reconstructed {
        words: &'static str,
    },
    /// No file says where the session continues.
    Lost {
        report: String,
        session: SessionId,
    },
    /// More entries exist than were read.
    CutOff {
        most: usize,
    },
    ByteOrderMark {
        tool: &'static str,
    },
    /// Another program may read the file differently. The message is in the parser's words.
    Syntax(String),

    // Variants about values.
    Absent(Taken),
    WrongType {
        found: String,
        wanted: Type,
    },
    /// An entry of a list has the wrong type.
    WrongEntry {
        found: String,
        wanted: Type,
    },
    NotA(Type),
    /// The value is unknown. The message lists the known values, unless `known` is empty.
    NotOneOf {
        found: String,
        known: Vec<String>,
        taken: Taken,
    },
    NoSuch(Unknown),
    NotATime {
        found: String,
    },
    InFuture {
        found: String,
    },
    /// A time lies long before the session's start, so it was probably copied from an example.
    Copied {
        found: String,
    },
    OutOfOrder {
        before: &'static str,
        later: String,
        earlier: String,
    },
    OutOfRange {
        found: i64,
        range: Range,
    },
    ReadAs {
        found: String,
        number: u32,
    },
    /// A key is set more than once. The last value is used.
    Doubled,
    Twice {
        number: u32,
    },
    SectionTwice {
        index: u32,
    },
    NotJsonNumber {
        word: &'static str,
    },
    EmptySection,
    Disagrees(Disagreement),

    // Variants about files that are named in a file, and about stages that depend on each other.
    Incomplete(Incomplete),
    FileMissing {
        path: String,
    },
    FileOutside {
        path: String,
    },

    // Variants about sessions without an end, or in an old format.
    Legacy,
    LastError {
        error: String,
    },
    Undefined {
        workflow: String,
    },
    TotalUnknown,
    TotalUnused(Total),
    ElsewhereToo {
        counts: String,
    },

    // Variants about parts of a session, and of a registry.
    Item(OfItem),
    Registry(OfRegistry),

    /// The file does not match the log.
    Log(AgainstTheLog),
    /// Several sessions are marked active. The one that changed last is active; this one is treated as
    /// paused. So is one that is missing from the registry.
    CountsAsPaused {
        session: String,
        other: String,
        is_unlisted: bool,
    },

    /// The files do not contain an item any more, and somebody has worked on the item.
    ItemStays {
        item: ItemId,
    },

    /// A workflow definition cannot be used. The message is in the parser's words.
    Definition(String),
    /// A setting cannot be used. The message is in the parser's words.
    Setting(String),
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn of_file(path: impl Into<String>, what: What) -> Self {
        Self { path: path.into(), field: None, what }
    }

    /// A problem with one key of a file.
    pub fn of_field(path: impl Into<String>, field: impl Into<String>, what: What) -> Self {
        Self { path: path.into(), field: Some(field.into()), what }
    }

    /// The problem, with `place` before the name of its key.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        let field = self.field.map_or_else(|| place.to_owned(), |field| format!("{place}.{field}"));
        Self { field: Some(field), ..self }
    }

    /// True if somebody should fix the problem. False for information.
    pub fn needs_repair(&self) -> bool {
        !matches!(
            self.what,
            What::Legacy
                | What::LastError { .. }
                | What::Undefined { .. }
                | What::TotalUnknown
                | What::NotJsonNumber { .. }
                | What::EmptySection
                // A definition may have been given more phases. A session keeps the number of phases with
                // which it started.
                | What::Disagrees(Disagreement::TotalAndDefinition { .. })
                // Broken lines belong to no session, so only the registry's own checks report them.
                | What::Registry(OfRegistry::BrokenLines(_))
        )
    }

    /// True if only a person can say where the session continues.
    pub fn needs_a_person(&self) -> bool {
        matches!(self.what, What::Lost { .. })
    }

    /// Why a file is unreadable; `None` for other problems.
    pub fn why_unreadable(&self) -> Option<&Why> {
        if let What::Unreadable { why, then } = &self.what
            && then.is_about_the_file()
        {
            return Some(why);
        }
        None
    }

    /// The reason why a file is unreadable, without the consequence. For any other problem, the whole
    /// message.
    pub fn reason(&self) -> String {
        self.why_unreadable().map_or_else(|| self.to_string(), ToString::to_string)
    }

    /// The name of the kind of this problem, for programs.
    pub fn kind(&self) -> &'static str {
        if let What::Log(how) = &self.what {
            how.kind()
        } else if let What::CountsAsPaused { .. } = self.what {
            "several_active"
        } else if let What::ItemStays { .. } = self.what {
            "item_stays"
        } else {
            "foreign_file"
        }
    }

    /// True for a problem of the whole session, not of one file.
    fn is_of_session(&self) -> bool {
        matches!(self.what, What::CountsAsPaused { .. } | What::ItemStays { .. })
    }

    /// The path that the problem is about, below the project. `None` for a problem of the whole session.
    pub fn place(&self, spot: &Spot) -> Option<String> {
        (!self.is_of_session()).then(|| spot.below_project(&self.path).trim_end_matches('/').to_owned())
    }

    /// Advice on the problem, in addition to its sentence. `None` if there is no advice.
    pub fn hint(&self, session: &SessionId) -> Option<Hint> {
        if let What::Log(how) = &self.what {
            return Some(how.hint(session));
        }
        if let What::CountsAsPaused { session, .. } = &self.what {
            let hint = Hint::new(format!("continue {session}: ")).run(words!["switch", session]);
            return Some(hint.then("; or record the change: ").run(words!["repair"]));
        }
        if let What::NoSuch(Unknown::Phase { .. }) = &self.what {
            let hint = Hint::new("work in the session writes the valid phase, and so does ");
            return Some(hint.run(words!["checkpoint", "--session", session]));
        }
        let see_items = || Hint::new("see all items: ").run_here(words!["item", "list", "--all"]);
        matches!(self.what, What::ItemStays { .. }).then(see_items)
    }

    /// The sentence for this problem, with the file's path in the project.
    pub fn sentence(&self, path: &str) -> String {
        if let What::Log(how) = &self.what {
            return how.sentence(path);
        }
        if self.is_of_session() { self.to_string() } else { format!("{path}: {self}") }
    }

    /// The sentence after a repair fixed the problem. `None` if a repair cannot fix it.
    pub fn when_repaired(&self, path: &str) -> Option<String> {
        if let What::CountsAsPaused { session, other, is_unlisted } = &self.what {
            let why = why_paused(other, *is_unlisted);
            return Some(format!("several sessions were marked active; {why}, so {session} was paused"));
        }
        if let What::Log(how) = &self.what { how.when_repaired(path) } else { None }
    }

    /// The missing or inaccessible file that the problem names.
    pub fn names_file(&self) -> Option<&str> {
        if let What::FileMissing { path } | What::FileOutside { path } = &self.what {
            return Some(path);
        }
        None
    }
}

/// Why a session counts as paused beside another one.
fn why_paused(other: &str, is_unlisted: bool) -> String {
    if is_unlisted { format!("only {other} is registered") } else { format!("{other} changed last") }
}
