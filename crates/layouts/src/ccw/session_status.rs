//! A session's status from four sources: its folder, its state file, the registry, and marker files. The
//! sources may disagree.

use super::place::Ground;
use super::registry::Line;
use super::state::State;
use super::{MARKER, REGISTRY, STATE};
use crate::problem::{Disagreement, Problem, Taken, What};
use crate::tree::Tree;

/// The overall state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    Active,
    Paused,
    Failed,
    Completed,
    Abandoned,
}

/// The format's words for a session's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Active,
    Paused,
    Completed,
}

impl Word {
    /// All words for an active session.
    pub const ACTIVE: [&str; 5] = ["active", "planning", "implementing", "reviewing", "initialized"];

    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            word if Self::ACTIVE.contains(&word) => Some(Self::Active),
            // A session is `inactive` from its creation until it is activated.
            "paused" | "interrupted" | "inactive" => Some(Self::Paused),
            "completed" | "archived" => Some(Self::Completed),
            _ => None,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Completed => "completed",
        }
    }
}

pub(super) struct Sources<'a> {
    pub name: &'a str,
    pub at: &'a str,
    pub ground: Ground,
    pub state: &'a State,
    pub line: Option<&'a Line>,
    pub tree: &'a Tree,
}

pub(super) fn of(sources: &Sources<'_>, warnings: &mut Vec<Problem>) -> Stands {
    let file = format!("{}/{STATE}", sources.at);
    let own = word_in(&file, sources.state.status.as_deref(), warnings);
    let registered = word_in(REGISTRY, sources.line.and_then(|line| line.status.as_deref()), warnings);
    let marker = format!("{MARKER}{}", sources.name);
    let marked = marked(sources.tree, &marker);
    if sources.ground == Ground::Archives {
        if own.is_some_and(|own| own != Word::Completed) {
            warnings.push(Problem::of_file(file, What::Disagrees(Disagreement::Archived)));
        }
        return with_details(Word::Completed, sources.state);
    }
    // The tool switches sessions by removing one marker and creating another, without touching their files.
    if marked == Some(Word::Paused) && own != Some(Word::Completed) {
        return with_details(Word::Paused, sources.state);
    }
    let statuses: Vec<(Word, &str)> =
        [(own, file.as_str()), (marked, marker.as_str()), (registered, REGISTRY)]
            .into_iter()
            .filter_map(|(word, path)| Some((word?, path)))
            .collect();
    if statuses.is_empty() {
        // A session without a status is active if its state file is readable. An unreadable session counts as
        // paused, so that it never pauses another one.
        let word = if sources.state.is_readable { Word::Active } else { Word::Paused };
        return with_details(word, sources.state);
    }
    let word = latest(sources.tree, &statuses, warnings);
    with_details(word, sources.state)
}

/// The status according to marker files. Active if the session has a marker file; paused if only another
/// session has one, or if this session's marker file was removed; otherwise `None`.
fn marked(tree: &Tree, own: &str) -> Option<Word> {
    if tree.get(own).is_some() {
        return Some(Word::Active);
    }
    let is_anothers = tree.names_in("").any(|name| name.starts_with(MARKER));
    (is_anothers || tree.is_taken_away(own)).then_some(Word::Paused)
}

/// The status in the source that was written last. If modification times are unknown, the status in the
/// session's state file.
fn latest(tree: &Tree, statuses: &[(Word, &str)], warnings: &mut Vec<Problem>) -> Word {
    let Some((first, rest)) = statuses.split_first() else { return Word::Active };
    let mut counts = *first;
    for other in rest {
        if let (Some(known), Some(newer)) = (tree.modified(counts.1), tree.modified(other.1))
            && newer > known
            && other.0 != counts.0
        {
            counts = *other;
        }
    }
    if let Some((word, path)) = statuses.iter().find(|(word, _)| *word != counts.0) {
        let (said, counting) = (word.text(), counts.0.text());
        let status = Disagreement::Status { said, counts: counts.1.to_owned(), counting };
        warnings.push(Problem::of_file(*path, What::Disagrees(status)));
    }
    counts.0
}

fn with_details(word: Word, state: &State) -> Stands {
    match word {
        Word::Active => Stands::Active,
        Word::Paused if state.last_error.is_some() => Stands::Failed,
        Word::Paused => Stands::Paused,
        Word::Completed if state.is_abandoned => Stands::Abandoned,
        Word::Completed => Stands::Completed,
    }
}

fn word_in(path: &str, text: Option<&str>, warnings: &mut Vec<Problem>) -> Option<Word> {
    let text = text?;
    let word = Word::parse(text);
    if word.is_none() {
        let found = format!("'{}'", super::fields::cut(text));
        let what = What::NotOneOf { found, known: Vec::new(), taken: Taken::Nothing };
        warnings.push(Problem::of_field(path, "status", what));
    }
    word
}
