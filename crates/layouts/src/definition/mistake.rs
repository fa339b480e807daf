//! Collects the mistakes in a definition, with their positions. Other modules decide what is a mistake.

use super::lines::Place;
use model::nearest_name::nearest;
use serde::Serialize;
use std::fmt;

/// The maximum length of quoted text in a message.
const LONGEST_QUOTE: usize = 60;

/// One mistake in a definition. Line and column start at 1, and columns count characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// A value that was read, or the proof that its absence was reported.
pub(super) type Found<T> = Result<T, Reported>;

/// The proof that a mistake was reported. Only `Report` creates one, so a function that fails to read a value
/// must have reported why.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported(());

pub(super) struct Report<'text> {
    text: &'text str,
    mistakes: Vec<Mistake>,
}

impl<'text> Report<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self { text, mistakes: Vec::new() }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.mistakes.is_empty()
    }

    pub(super) fn into_mistakes(mut self) -> Vec<Mistake> {
        self.mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
        self.mistakes
    }

    /// Reports a mistake. `offset` is the byte offset of the mistake in the text.
    pub(super) fn add(&mut self, offset: usize, message: impl Into<String>) -> Reported {
        self.push(offset, message.into(), None)
    }

    pub(super) fn add_with_hint(
        &mut self,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Reported {
        self.push(offset, message.into(), Some(hint.into()))
    }

    /// Reports an unknown word. `kind` names what was expected, such as "key" or "kind of check".
    pub(super) fn add_unknown(
        &mut self,
        offset: usize,
        kind: &str,
        word: &str,
        allowed: &[&str],
        hint: impl Into<String>,
    ) -> Reported {
        let message = match nearest(word, allowed.iter().copied()) {
            Some(meant) => format!("unknown {kind} {}; did you mean '{meant}'?", quoted(word)),
            None => format!("unknown {kind} {}", quoted(word)),
        };
        self.add_with_hint(offset, message, hint)
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        let before = &self.text[..self.text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }

    fn push(&mut self, offset: usize, message: String, hint: Option<String>) -> Reported {
        let Place { line, column } = self.place(offset);
        self.mistakes.push(Mistake { line, column, message, hint });
        Reported(())
    }
}

/// Text from the definition, prepared for a message: control characters are escaped, and long text is
/// shortened.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String =
        text.chars()
            .take(LONGEST_QUOTE)
            .map(|letter| {
                if is_unprintable(letter) { letter.escape_unicode().to_string() } else { letter.to_string() }
            })
            .collect();
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}

/// True for control characters, and for characters that change the order of visible text. They would hide the
/// true meaning of a command from a person who reads it.
pub(super) fn is_unprintable(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
