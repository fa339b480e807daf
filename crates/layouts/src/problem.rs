//! Something in a layout's files that is not as it should be, as data. Its sentence is made here and nowhere else;
//! whoever must decide something about a problem looks at what it is, never at its words.

mod against_the_log;
mod parts;
mod sentence;
#[cfg(test)]
mod tests;

pub use against_the_log::{AgainstTheLog, Change, Stale};
pub use parts::{
    Damage, Disagreement, Elsewhere, Incomplete, OfItem, OfRegistry, Range, Relation, Taken, Then, Total,
    Type, Unknown, Why,
};

use model::id::SessionId;

/// Something that is not as it should be, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Relative to the home of the session's files; empty for that itself.
    pub path: String,
    /// The key in the file, with all that leads to it.
    pub field: Option<String>,
    pub what: What,
}

/// Everything that can be wrong with files, or worth knowing about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    // Whole files.
    Unreadable {
        why: Why,
        then: Then,
    },
    /// Another file stood in for one that cannot be read; the tool's own words for it.
    Recovered {
        words: &'static str,
    },
    Reconstructed {
        words: &'static str,
    },
    /// Nothing tells where the session stands.
    Lost {
        report: String,
        session: SessionId,
    },
    /// More entries than are looked at.
    CutOff {
        most: usize,
    },
    ByteOrderMark {
        tool: &'static str,
    },
    /// Another reader may see something else; as the reader of the syntax says it.
    Syntax(String),

    // Values.
    Absent(Taken),
    WrongType {
        found: String,
        wanted: Type,
    },
    /// An entry of a list.
    WrongEntry {
        found: String,
        wanted: Type,
    },
    NotA(Type),
    /// An empty list of what is known says only that it is not among it.
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
    /// A time from long before the session began: it looks copied from an example.
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
    /// The last one counts.
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

    // Files that others name, and stages that build on one another.
    Incomplete(Incomplete),
    FileMissing {
        path: String,
    },
    FileOutside {
        path: String,
    },

    // Sessions whose format has no end, or an old one.
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

    // Parts of a session, and of a registry.
    Item(OfItem),
    Registry(OfRegistry),

    /// A file does not show what the log says.
    Log(AgainstTheLog),
    /// Several sessions are called active, and another one changed last.
    CountsAsPaused {
        session: String,
        other: String,
    },

    /// A workflow's definition cannot be used as it stands; as its reader says it.
    Definition(String),
    /// A setting cannot be used; as its reader says it.
    Setting(String),
}

impl Problem {
    /// About a file as a whole.
    pub fn of_file(path: impl Into<String>, what: What) -> Self {
        Self { path: path.into(), field: None, what }
    }

    /// About one key of a file.
    pub fn of_field(path: impl Into<String>, field: impl Into<String>, what: What) -> Self {
        Self { path: path.into(), field: Some(field.into()), what }
    }

    /// This problem as one of a place that its key is below.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        let field = self.field.map_or_else(|| place.to_owned(), |field| format!("{place}.{field}"));
        Self { field: Some(field), ..self }
    }

    /// Something is wrong that somebody should put right; the rest is only worth knowing.
    pub fn is_to_mend(&self) -> bool {
        !matches!(
            self.what,
            What::Legacy
                | What::LastError { .. }
                | What::Undefined { .. }
                | What::TotalUnknown
                | What::NotJsonNumber { .. }
                | What::EmptySection
                // A definition may grow: a session ends by the one that it was begun with.
                | What::Disagrees(Disagreement::TotalAndDefinition { .. })
                // Nobody's line: it is told of once, with the others of the registry.
                | What::Registry(OfRegistry::BrokenLines(_))
        )
    }

    /// Only a person can say where the session goes on.
    pub fn needs_a_person(&self) -> bool {
        matches!(self.what, What::Lost { .. })
    }

    /// Why a file cannot be read, without what followed from it; nothing of other problems.
    pub fn why_unreadable(&self) -> Option<&Why> {
        if let What::Unreadable { why, then } = &self.what
            && then.is_about_the_file()
        {
            return Some(why);
        }
        None
    }

    /// The sentence of the problem, of a file that the project knows by this path.
    pub fn told_of(&self, path: &str) -> String {
        if let What::Log(how) = &self.what { how.told_of(path) } else { format!("{path}: {self}") }
    }

    /// The sentence once the problem is put right, with what became of it; nothing where it stays as it is.
    pub fn when_mended(&self, path: &str) -> Option<String> {
        if let What::CountsAsPaused { session, other } = &self.what {
            return Some(format!(
                "several sessions were called active; {other} changed last, so {session} was paused"
            ));
        }
        if let What::Log(how) = &self.what { how.when_mended(path) } else { None }
    }

    /// The file that the problem says is missing or out of reach.
    pub fn names_file(&self) -> Option<&str> {
        if let What::FileMissing { path } | What::FileOutside { path } = &self.what {
            return Some(path);
        }
        None
    }
}
