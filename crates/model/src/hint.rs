//! Advice as data: text, and commands as lists of words. Each front end renders it: a terminal prints it, a web page
//! turns the commands into buttons. This file knows no particular command.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Advice on the next step: text and commands in reading order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hint {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Command(CommandLine),
}

/// A command of this program, without the program's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    words: Vec<String>,
    about: About,
}

/// Which session a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The session that was current when the hint was made. Where another session is current, the command must name it.
    CurrentSession,
    /// The session that the command itself names; also used for commands without a session.
    Said,
}

/// Builds the words of a command from values that implement `Display`.
#[macro_export]
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$($word.to_string()),*] };
}

impl Hint {
    pub fn new(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Text(text.into())] }
    }

    /// Appends text.
    #[must_use]
    pub fn then(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    /// Appends a command that names its session or needs none.
    #[must_use]
    pub fn run(mut self, words: Vec<String>) -> Self {
        self.pieces.push(Piece::Command(CommandLine::new(words)));
        self
    }

    /// Appends a command about the current session.
    #[must_use]
    pub fn run_here(mut self, words: Vec<String>) -> Self {
        self.pieces.push(Piece::Command(CommandLine::here(words)));
        self
    }

    /// Appends an existing command.
    #[must_use]
    pub fn command(mut self, command: CommandLine) -> Self {
        self.pieces.push(Piece::Command(command));
        self
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the commands in this hint, in order.
    pub fn commands(&self) -> impl Iterator<Item = &CommandLine> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Command(command) => Some(command),
            Piece::Text(_) => None,
        })
    }

    /// True if the hint contains a command about the current session. Where another session is current, this command
    /// must name its session.
    pub fn needs_naming(&self) -> bool {
        self.commands().any(CommandLine::needs_naming)
    }

    /// Returns the hint with commands that name their session by the given words.
    #[must_use]
    pub fn naming(mut self, naming: &[String]) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Command(command) = piece {
                command.name(naming);
            }
        }
        self
    }
}

impl CommandLine {
    /// Creates a command that names its session or needs none.
    pub fn new(words: Vec<String>) -> Self {
        Self { words, about: About::Said }
    }

    /// Creates a command about the current session.
    pub fn here(words: Vec<String>) -> Self {
        Self { words, about: About::CurrentSession }
    }

    /// Returns the words of the command, without the program's name.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    fn needs_naming(&self) -> bool {
        self.about == About::CurrentSession
    }

    fn name(&mut self, naming: &[String]) {
        if self.needs_naming() {
            self.words.extend_from_slice(naming);
            self.about = About::Said;
        }
    }

    /// Parses a command line that this program printed.
    fn parse(line: &str) -> Self {
        let mut words = split(line);
        if words.first().is_some_and(|word| word == PROGRAM) {
            words.remove(0);
        }
        Self::new(words)
    }
}

const PROGRAM: &str = "leftoff";

/// Returns the command in a form that can be typed into a shell.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PROGRAM)?;
        self.words.iter().try_for_each(|word| write!(f, " {}", shell_word(word)))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Command(command) => command.fmt(f),
        })
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<CommandLine> for Hint {
    fn from(command: CommandLine) -> Self {
        Self { pieces: vec![Piece::Command(command)] }
    }
}

/// Serialised as a string, because scripts depend on it.
impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CommandLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|line| Self::parse(&line))
    }
}

/// Quotes a word for the shell.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Splits a line into words, undoing the quotes of `shell_word`.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, ' ') => words.extend(word.take()),
            (Some(_) | None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_reads_as_one_text_and_keeps_its_commands() {
        let hint =
            Hint::new("go on: ").run_here(words!["retry"]).then("; see: ").run(words!["list", "--all"]);
        assert_eq!(hint.to_string(), "go on: leftoff retry; see: leftoff list --all");
        let commands: Vec<String> = hint.commands().map(|command| command.words().join("|")).collect();
        assert_eq!(commands, ["retry", "list|--all"]);
    }

    #[test]
    fn only_commands_about_the_current_session_are_named() {
        let hint = Hint::new("go on: ").run_here(words!["retry"]).then("; see: ").run(words!["list"]);
        assert!(hint.needs_naming());
        let naming = |id: &str| ["--session".to_owned(), id.to_owned()];
        let named = hint.naming(&naming("a"));
        assert_eq!(named.to_string(), "go on: leftoff retry --session a; see: leftoff list");
        assert!(!named.needs_naming());
        assert_eq!(named.clone().naming(&naming("b")), named);
    }

    #[test]
    fn a_printed_command_is_read_back_word_for_word() {
        for words in [
            words!["list"],
            words!["note", "…", "--kind", "question"],
            words!["export", "/a folder/it's", ""],
            words!["advance", "--evidence", "coverage=<number>"],
        ] {
            let command = CommandLine::new(words);
            let json = serde_json::to_string(&command).expect("JSON");
            assert_eq!(serde_json::from_str::<CommandLine>(&json).expect("a command"), command, "{json}");
        }
        assert_eq!(shell_word("coverage=<number>"), "'coverage=<number>'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }
}
