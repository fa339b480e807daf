//! Wraps text to a width in columns of the terminal.

use super::Out;
use engine::words::one_line;
use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The maximum number of characters of a text in one line.
pub(super) const LONGEST_LINE: usize = 400;

/// The text, cut to this width. An ellipsis shows that it was cut.
pub fn cut(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if display_width(&short) >= width {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

/// The text, wrapped between words. All lines but the first are indented. Commands are never broken, so that they can
/// be copied.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let (lead, rest) = (" ".repeat(text.len() - words.len()), " ".repeat(indent));
    let options = Options::new(width)
        .initial_indent(&lead)
        .subsequent_indent(&rest)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(WordSeparator::Custom(unbroken))
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(words, options)
}

/// A line that begins with a label, wrapped to the width of the terminal.
pub fn line(label: &str, text: &str, out: &Out) -> String {
    lines(label, text, usize::MAX, out)
}

/// A line like that of `line`, cut to at most `most` lines.
pub(super) fn lines(label: &str, text: &str, most: usize, out: &Out) -> String {
    let whole = wrapped(&format!("{label}{}", one_line(text, LONGEST_LINE)), out.width, 2);
    let mut shown: Vec<&str> = whole.lines().take(most).collect();
    if shown.len() == whole.lines().count() {
        return whole;
    }
    let last = shown.pop().unwrap_or_default();
    let last = format!("{}…", cut(last, out.width.saturating_sub(1)).trim_end_matches('…'));
    shown.push(&last);
    shown.join("\n")
}

/// The parts of a line that cannot be broken, each with the space after it.
fn unbroken(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut rest = line;
    let lengths = pieces(line).into_iter().map(|piece| piece.len());
    let words = lengths.map(move |length| {
        let end = (length + 1).min(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Word::from(word)
    });
    Box::new(words.collect::<Vec<_>>().into_iter())
}

/// Characters that end a command in the middle of a sentence.
const ENDS: [char; 5] = ['.', ',', ';', ')', '`'];

/// The parts of a text that must each stay on one line: single words, and whole commands.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut is_in_command = false;
    for word in text.split(' ') {
        match pieces.last_mut().filter(|_| is_in_command) {
            Some(command) => {
                command.push(' ');
                command.push_str(word);
            }
            None => pieces.push(word.to_owned()),
        }
        let (before, last) = pieces.split_at(pieces.len().saturating_sub(1));
        let last = last.first().map_or("", String::as_str);
        is_in_command = begins_a_command(before.last().map(String::as_str), last) && !ends_here(last);
    }
    pieces
}

/// True if a command starts here. A command is at the beginning, after a colon, or in backticks.
fn begins_a_command(before: Option<&str>, piece: &str) -> bool {
    let name = piece.split(' ').next().unwrap_or_default();
    let is_announced = before.is_none_or(|before| before.ends_with(':'));
    name.trim_start_matches('(') == "`leftoff" || (name == "leftoff" && is_announced)
}

/// True if the command ends here and the sentence continues after it.
fn ends_here(command: &str) -> bool {
    let is_quoted = command.matches('"').count() % 2 == 1;
    !is_quoted && command.ends_with(ENDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_words_stay_whole() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("unbreakablelongword x", 5, 1), "unbreakablelongword\n x");
        assert_eq!(wrapped("  one two three", 9, 4), "  one two\n    three");
        assert_eq!(wrapped("", 9, 4), "");
        // Each of these letters is two columns wide.
        assert_eq!(wrapped("漢字 漢字 漢字", 9, 0), "漢字 漢字\n漢字");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 4), "abc");
    }

    #[test]
    fn a_command_stays_on_one_line_however_long() {
        assert_eq!(
            wrapped("Start another run: leftoff run start map --session a", 24, 2),
            "Start another run:\n  leftoff run start map --session a"
        );
        assert_eq!(
            wrapped("What it asks for: leftoff gate --phase x. Fix it, then try again.", 20, 1),
            "What it asks for:\n leftoff gate --phase x.\n Fix it, then try\n again."
        );
        assert_eq!(
            wrapped("say: leftoff note \"one, two\" --kind risk, or not", 12, 0),
            "say:\nleftoff note \"one, two\" --kind risk,\nor not"
        );
        assert_eq!(wrapped("leftoff list --all", 5, 0), "leftoff list --all");
        assert_eq!(wrapped("try `leftoff list --all` or wait", 8, 0), "try\n`leftoff list --all`\nor wait");
        assert_eq!(
            wrapped("what leftoff is good for", 12, 0),
            "what leftoff\nis good for",
            "a name is no command"
        );
    }
}
