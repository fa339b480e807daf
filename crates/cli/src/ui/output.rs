//! The last step before stdout and stderr: removes control characters, turns tones into colours, and writes. Everything
//! that the program prints goes through this file. Stored text thus cannot control a terminal, and a failed write is
//! never reported as a success.

use super::progress_line;
use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use engine::words::{is_steering, without_steering};
use std::borrow::Cow;
use std::io::{ErrorKind, Write};

/// The meaning of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Heading,
    Good,
    Bad,
    Warning,
    Faint,
    Command,
}

/// The state of the reader of stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    There,
    /// The reader closed the pipe, as `head` does. This is not a failure.
    Gone,
}

/// The characters that mark colours in a text. Unicode reserves them for internal use, and they are removed from all
/// other text. They are replaced by escape sequences here. Any escape sequence that is already in a text was not
/// written by leftoff, and is removed.
const TONES: [(char, Tone); 6] = [
    ('\u{fdd0}', Tone::Heading),
    ('\u{fdd1}', Tone::Good),
    ('\u{fdd2}', Tone::Bad),
    ('\u{fdd3}', Tone::Warning),
    ('\u{fdd4}', Tone::Faint),
    ('\u{fdd5}', Tone::Command),
];
const END: char = '\u{fdd6}';

/// A text, marked with a tone.
pub fn marked(tone: Tone, text: &str) -> String {
    let mark = TONES.iter().find(|(_, known)| *known == tone).map_or(END, |(mark, _)| *mark);
    format!("{mark}{text}{END}")
}

/// Writes text to stdout, and adds a final line feed if it has none.
pub fn data(text: &str, colour: bool) -> Result<Reader, Failure> {
    written(&coloured(text, colour))
}

/// Writes one JSON document to stdout.
pub fn document(json: &str) -> Result<Reader, Failure> {
    written(&escaped(json))
}

/// Writes a part of a JSON document to stdout, without adding line feeds.
pub fn part(json: &str) -> Result<Reader, Failure> {
    progress_line::stop();
    finished(std::io::stdout().lock().write_all(escaped(json).as_bytes()))
}

/// Writes a line to stderr. A failure is ignored, because it cannot be reported anywhere.
pub fn talk(text: &str, colour: bool) {
    progress_line::stop();
    let _ = writeln!(std::io::stderr().lock(), "{}", coloured(text, colour));
}

/// Writes one JSON document to stderr.
pub fn talk_document(json: &str) {
    progress_line::stop();
    let _ = writeln!(std::io::stderr().lock(), "{}", escaped(json));
}

/// Writes text to stderr, without a line ending.
pub fn prompt(text: &str) {
    progress_line::stop();
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{}", coloured(text, false));
    let _ = stderr.flush();
}

/// Overwrites the last line on the terminal.
pub(super) fn overwrite(text: &str) {
    let _ = write!(std::io::stderr().lock(), "\r\x1b[K{}\r", coloured(text, false));
}

/// Clears the terminal before the text is written again.
pub fn clear_screen() -> Result<Reader, Failure> {
    progress_line::stop();
    let mut stdout = std::io::stdout().lock();
    let cleared = stdout.write_all(b"\x1b[H\x1b[2J");
    cleared.map(|()| Reader::There).map_err(|error| Failure::not_written(&error))
}

fn written(text: &str) -> Result<Reader, Failure> {
    progress_line::stop();
    let mut stdout = std::io::stdout().lock();
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    let result = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(end));
    finished(result.and_then(|()| stdout.flush()))
}

fn finished(result: std::io::Result<()>) -> Result<Reader, Failure> {
    match result {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::not_written(&error)),
    }
}

/// The text without control characters. The marks of colours become escape sequences if `colour` is true; otherwise
/// they are removed.
fn coloured(text: &str, colour: bool) -> Cow<'_, str> {
    let inert = without_steering(text);
    if !inert.contains(is_mark) {
        return inert;
    }
    let mut shown = String::with_capacity(inert.len() + 32);
    let mut style = Style::new();
    for letter in inert.chars() {
        let tone = TONES.iter().find(|(mark, _)| *mark == letter).map(|(_, tone)| *tone);
        match tone {
            Some(tone) if colour => {
                style = style_of(tone);
                shown.push_str(&style.render().to_string());
            }
            None if letter == END && colour => shown.push_str(&style.render_reset().to_string()),
            Some(_) => {}
            None if letter == END => {}
            None => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// The JSON with control characters escaped. Its meaning stays the same.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.contains(is_steering) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 32);
    for letter in json.chars() {
        if is_steering(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

fn is_mark(letter: char) -> bool {
    ('\u{fdd0}'..=END).contains(&letter)
}

fn style_of(tone: Tone) -> Style {
    match tone {
        Tone::Heading => Style::new().bold(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
        Tone::Warning => AnsiColor::Yellow.on_default(),
        Tone::Faint => Style::new().dimmed(),
        Tone::Command => AnsiColor::Cyan.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]52;c;aGk=\u{7}\u{1b}[31mb\u{9b}2J\u{202e}c\r\u{200f}d";

    #[test]
    fn f4_stored_sequences_never_pass_whether_there_are_colours_or_not() {
        let inert = "a\u{fffd}]52;c;aGk=\u{fffd}\u{fffd}[31mb\u{fffd}2J\u{fffd}c\u{fffd}\u{fffd}d";
        assert_eq!(coloured(HOSTILE, false), inert);
        assert_eq!(coloured(HOSTILE, true), inert);
        let painted = marked(Tone::Good, HOSTILE);
        assert_eq!(coloured(&painted, true), format!("\u{1b}[32m{inert}\u{1b}[0m"));
        assert_eq!(coloured(&painted, false), inert);
        assert_eq!(coloured("a\tb\r\nc\n", false), "a\tb\r\nc\n");
    }

    #[test]
    fn f4_a_json_document_is_escaped_and_says_the_same() {
        let json = serde_json::to_string(HOSTILE).expect("JSON");
        let shown = escaped(&json);
        assert!(!shown.contains(is_steering), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), HOSTILE);
    }
}
