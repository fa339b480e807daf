//! How things look on a terminal: colours, widths, stdout and stderr. Never decides what is shown.

pub mod ask;
pub mod brief;
pub mod diff;
pub mod history;
pub mod items;
pub mod list;
pub mod log;
pub mod ocr;
pub mod progress;
pub mod requirements;
pub mod revisit;
pub mod session;
mod wrap;

pub use wrap::{cut, with_naming, wrapped};

use crate::globals::Globals;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{IsTerminal, Write};

/// When there is no terminal to ask.
const USUAL_WIDTH: usize = 80;
const NARROWEST: usize = 40;
const WIDEST: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            Some("always") => Self::Always,
            Some("never") => Self::Never,
            _ => Self::Auto,
        }
    }

    fn is_on(self, stream: &impl IsTerminal) -> bool {
        let asked_for_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => stream.is_terminal() && !asked_for_none && !is_dumb,
        }
    }
}

/// What a piece of text is; a colour follows from it, if there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Heading,
    Good,
    Bad,
    Warning,
    Faint,
    Command,
}

/// Where a command's words go.
pub struct Out {
    colour: bool,
    error_colour: bool,
    quiet: bool,
    json: bool,
    pub width: usize,
    /// What does not fit is cut, because a person looks at it.
    pub is_terminal: bool,
}

impl Out {
    pub fn new(globals: &Globals) -> Self {
        Self {
            colour: globals.colour.is_on(&std::io::stdout()),
            error_colour: globals.colour.is_on(&std::io::stderr()),
            quiet: globals.quiet,
            json: globals.json,
            width: terminal_width(),
            is_terminal: std::io::stdout().is_terminal(),
        }
    }

    pub fn plain() -> Self {
        Self {
            colour: false,
            error_colour: false,
            quiet: false,
            json: false,
            width: USUAL_WIDTH,
            is_terminal: false,
        }
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub fn paint(&self, tone: Tone, text: &str) -> String {
        painted(self.colour, tone, text)
    }

    /// Data, as it is.
    pub fn text(&self, text: &str) {
        // A reader that has gone away, as `head` does, is no failure of ours.
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            let _ = stdout.write_all(b"\n");
        }
        let _ = stdout.flush();
    }

    /// One document, readable by people too.
    pub fn json(&self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.text(&text),
            Err(error) => self.raw_error(&format!("error: the answer cannot be written as JSON: {error}")),
        }
    }

    /// Talk, which nobody needs who only wants the data.
    pub fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            self.raw_error(text);
        }
    }

    pub fn warn(&self, text: &str) {
        if !self.quiet && !self.json {
            let text = without_controls(text);
            self.raw_error(&format!("{} {text}", painted(self.error_colour, Tone::Warning, "warning:")));
        }
    }

    pub fn error(&self, message: &str, hint: Option<&str>) {
        let message = without_controls(message);
        self.raw_error(&format!("{} {message}", painted(self.error_colour, Tone::Bad, "error:")));
        if let Some(hint) = hint.map(without_controls) {
            self.raw_error(&format!("{} {hint}", painted(self.error_colour, Tone::Faint, "hint:")));
        }
    }

    pub fn raw_error(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// What was typed or read may be part of a message, and must not steer the terminal.
pub fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// `1 event`, `2 events`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A line that is set in by so many blanks and fits the terminal.
pub fn set_in(blanks: usize, text: &str, out: &Out) -> String {
    let line = wrapped(text, out.width.saturating_sub(blanks), blanks + 2);
    format!("{:blanks$}{line}\n", "")
}

fn painted(colour: bool, tone: Tone, text: &str) -> String {
    if !colour {
        return text.to_owned();
    }
    let style = match tone {
        Tone::Heading => Style::new().bold(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
        Tone::Warning => AnsiColor::Yellow.on_default(),
        Tone::Faint => Style::new().dimmed(),
        Tone::Command => AnsiColor::Cyan.on_default(),
    };
    format!("{style}{text}{style:#}")
}

fn terminal_width() -> usize {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return USUAL_WIDTH;
    }
    rustix::termios::tcgetwinsize(&stdout)
        .map_or(USUAL_WIDTH, |size| usize::from(size.ws_col).clamp(NARROWEST, WIDEST))
}
