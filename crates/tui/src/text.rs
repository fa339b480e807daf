//! Rows of text with tones, measured in columns of the terminal. Knows nothing about sessions, and writes
//! nothing.

use engine::words::one_line;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The meaning of a piece of text, which determines its colour. The text itself always expresses the meaning,
/// too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Heading,
    Good,
    Bad,
    Warning,
    Faint,
    Command,
}

impl Tone {
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Heading, Self::Good, Self::Bad, Self::Warning, Self::Faint, Self::Command];
}

/// The abilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub colour: bool,
    /// True if the terminal can display characters other than ASCII: bars, ticks, lines.
    pub unicode: bool,
}

impl Look {
    pub fn tick(self) -> &'static str {
        if self.unicode { "✓" } else { "x" }
    }

    pub fn cross(self) -> &'static str {
        if self.unicode { "✗" } else { "!" }
    }

    pub fn arrow(self) -> &'static str {
        if self.unicode { "▸" } else { ">" }
    }

    pub fn waits(self) -> &'static str {
        if self.unicode { "…" } else { "~" }
    }

    pub fn dot(self) -> &'static str {
        if self.unicode { "·" } else { "." }
    }

    pub fn dash(self) -> &'static str {
        if self.unicode { "–" } else { "-" }
    }

    pub fn between(self) -> &'static str {
        if self.unicode { " · " } else { " - " }
    }

    pub fn column(self) -> &'static str {
        if self.unicode { "│" } else { "|" }
    }

    /// A bar of `cells` cells. The first `filled` of them are filled.
    pub fn bar(self, filled: usize, cells: usize) -> String {
        let (full, empty) = if self.unicode { ('█', '░') } else { ('#', '-') };
        (0..cells).map(|cell| if cell < filled { full } else { empty }).collect()
    }

    pub fn style(self, tone: Tone) -> Style {
        let (color, modifier) = match tone {
            Tone::Plain => (None, Modifier::empty()),
            Tone::Heading => (None, Modifier::BOLD),
            Tone::Good => (Some(Color::Green), Modifier::empty()),
            Tone::Bad => (Some(Color::Red), Modifier::BOLD),
            Tone::Warning => (Some(Color::Yellow), Modifier::empty()),
            Tone::Faint => (None, Modifier::DIM),
            Tone::Command => (Some(Color::Cyan), Modifier::empty()),
        };
        let style = Style::new().add_modifier(modifier);
        match color.filter(|_| self.colour) {
            Some(color) => style.fg(color),
            None => style,
        }
    }
}

/// A line: pieces of text with their tones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row(pub Vec<(Tone, String)>);

impl Row {
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![(tone, text.into())])
    }

    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(Tone::Plain, text)
    }

    #[must_use]
    pub fn then(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((tone, text.into()));
        self
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub fn is_found(&self, words: &str) -> bool {
        let text = self.text().to_lowercase();
        words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    /// The row in the form that ratatui takes. Characters that the terminal cannot display are replaced.
    pub fn line(&self, look: Look) -> Line<'static> {
        let spans = self.0.iter().map(|(tone, text)| Span::styled(shown(text, look), look.style(*tone)));
        Line::from(spans.collect::<Vec<_>>())
    }
}

/// The text, with characters that an ASCII terminal cannot display replaced by similar ones or by question
/// marks.
pub fn shown(text: &str, look: Look) -> String {
    if look.unicode {
        return text.to_owned();
    }
    text.chars().map(|letter| if letter.is_ascii() { letter } else { ascii(letter) }).collect()
}

fn ascii(letter: char) -> char {
    match letter {
        '…' => '~',
        '–' | '—' => '-',
        '‹' | '“' | '”' | '›' => '"',
        _ => '?',
    }
}

/// Text that leftoff did not write, on one line and without control characters.
pub fn outside(text: &str) -> String {
    const LONGEST: usize = 2_000;
    one_line(text, LONGEST)
}

/// The text, cut to this number of columns. An ellipsis shows that it was cut.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used > width {
            break;
        }
        short.push(letter);
    }
    if width > 0 {
        short.push('…');
    }
    short
}

/// The text, cut or padded to exactly this number of columns.
pub fn fit(text: &str, width: usize) -> String {
    let short = cut(text, width);
    let rest = width.saturating_sub(short.width());
    short + &" ".repeat(rest)
}

/// The text in lines of this width, broken between words if possible. All lines but the first are indented.
pub fn wrapped(tone: Tone, text: &str, width: usize, indent: usize) -> Vec<Row> {
    let start = line_start(text);
    let blank = " ".repeat(indent);
    let mut lines: Vec<String> = Vec::new();
    let mut line = " ".repeat(start);
    for word in text[start..].split(' ') {
        for piece in pieces(word, width.saturating_sub(indent.max(start)).max(1)) {
            let is_first = line.trim().is_empty();
            let room = width.saturating_sub(line.width() + usize::from(!is_first));
            if !is_first && piece.width() > room {
                lines.push(std::mem::replace(&mut line, blank.clone()));
            } else if !is_first {
                line.push(' ');
            }
            line.push_str(&piece);
        }
    }
    lines.push(line);
    lines.into_iter().map(|line| Row::new(tone, line)).collect()
}

/// The length of the white space at the beginning of the first line.
fn line_start(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// The parts of a word that is wider than a line.
fn pieces(word: &str, width: usize) -> Vec<String> {
    if word.width() <= width {
        return vec![word.to_owned()];
    }
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        let last = pieces.last_mut().filter(|piece| piece.width() + letter.width().unwrap_or(0) <= width);
        match last {
            Some(piece) => piece.push(letter),
            None => pieces.push(letter.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_two_columns_are_counted_as_two() {
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字漢字", 4), "漢…");
        assert_eq!(fit("漢字", 6), "漢字  ");
        assert_eq!(fit("🙂🙂🙂🙂", 6), "🙂🙂… ");
        let rows = wrapped(Tone::Plain, "漢字 漢字 漢字", 9, 0);
        assert_eq!(rows.iter().map(Row::text).collect::<Vec<_>>(), ["漢字 漢字", "漢字"]);
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        let text = format!("one {} three four", "x".repeat(50));
        for width in 1..30 {
            let rows = wrapped(Tone::Plain, &text, width, 2.min(width - 1));
            assert!(rows.iter().all(|row| row.width() <= width), "{width}: {rows:?}");
        }
    }

    #[test]
    fn text_from_outside_is_inert_and_ascii_where_it_must_be() {
        assert_eq!(outside("a\u{1b}[31mb\u{202e}c\nd"), "a [31mbc d");
        let look = Look { colour: false, unicode: false };
        assert_eq!(shown("a – b…漢", look), "a - b~?");
        assert!(look.bar(2, 4).is_ascii());
    }
}
