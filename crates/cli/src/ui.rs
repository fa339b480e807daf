//! How output reaches the terminal: how wide, with or without colours, quietly, or as JSON. What is shown is decided
//! elsewhere.

pub mod answer;
pub mod ask;
pub mod brief;
pub mod diff;
pub mod history;
pub mod items;
pub mod list;
pub mod log;
mod output;
pub mod progress_line;
pub mod requirements;
pub mod revisit;
pub mod show;
pub mod status;
pub mod verify;
mod wrap;

pub use engine::words::counted;
pub use output::{Reader, Tone, clear_screen, prompt};
use wrap::{LONGEST_LINE, lines};
pub use wrap::{cut, line, wrapped};

use crate::failure::Failure;
use crate::globals::Globals;
use output::marked;
use serde::Serialize;
use std::io::IsTerminal;

/// The width of the output if there is no terminal.
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

/// The streams to which a command writes, and how text is written to them.
pub struct Out {
    colour: bool,
    error_colour: bool,
    quiet: bool,
    json: bool,
    pub width: usize,
    /// True if stdout is a terminal. A person then reads the output, so long text is cut.
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

    pub fn has_colour(&self) -> bool {
        self.colour
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub fn paint(&self, tone: Tone, text: &str) -> String {
        painted(self.colour, tone, text)
    }

    /// Prints data on stdout.
    pub fn text(&self, text: &str) -> Result<Reader, Failure> {
        output::data(text, self.colour)
    }

    /// Prints one JSON document, indented so that people can read it.
    pub fn json(&self, value: &impl Serialize) -> Result<Reader, Failure> {
        let text = serde_json::to_string_pretty(value).map_err(|error| Failure::no_json(&error))?;
        output::document(&text)
    }

    /// Prints a part of a JSON document, because the whole document may not fit into memory.
    pub fn json_part(&self, text: &str) -> Result<Reader, Failure> {
        output::part(text)
    }

    /// Prints one JSON document on a single line.
    pub fn json_line(&self, value: &impl Serialize) -> Result<Reader, Failure> {
        let text = serde_json::to_string(value).map_err(|error| Failure::no_json(&error))?;
        output::document(&text)
    }

    /// Prints a message on stderr. A message is not part of the data.
    pub fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            self.raw_error(text);
        }
    }

    pub fn warn(&self, text: &str) {
        if !self.quiet && !self.json {
            self.raw_error(&format!("{} {text}", painted(self.error_colour, Tone::Warning, "warning:")));
        }
    }

    pub fn error(&self, message: &str, hint: Option<&str>) {
        self.raw_error(&format!("{} {message}", painted(self.error_colour, Tone::Bad, "error:")));
        if let Some(hint) = hint {
            self.raw_error(&format!("{} {hint}", painted(self.error_colour, Tone::Faint, "hint:")));
        }
    }

    pub fn raw_error(&self, text: &str) {
        output::talk(text, self.colour || self.error_colour);
    }

    pub fn error_document(&self, json: &str) {
        output::talk_document(json);
    }
}

/// A line that is indented by `blanks` and wrapped to the width of the terminal.
pub fn set_in(blanks: usize, text: &str, out: &Out) -> String {
    let line = wrapped(text, out.width.saturating_sub(blanks), blanks + 2);
    format!("{:blanks$}{line}\n", "")
}

fn painted(colour: bool, tone: Tone, text: &str) -> String {
    if colour { marked(tone, text) } else { text.to_owned() }
}

fn terminal_width() -> usize {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return USUAL_WIDTH;
    }
    rustix::termios::tcgetwinsize(&stdout)
        .map_or(USUAL_WIDTH, |size| usize::from(size.ws_col).clamp(NARROWEST, WIDEST))
}
