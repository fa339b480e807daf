//! Text on lines of a width. Counts characters, which is near enough for what we print.

/// A text cut to so many characters, with a mark where something is missing.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A text broken between words, every line after the first indented by so many spaces. A command is never broken: it
/// is there to be copied.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let (lead, rest) = (" ".repeat(text.len() - words.len()), " ".repeat(indent));
    let mut lines: Vec<String> = vec![String::new()];
    for word in pieces(words) {
        let before = if lines.len() == 1 { &lead } else { &rest };
        let Some(line) = lines.last_mut() else { break };
        let taken = before.len() + line.chars().count();
        if !line.is_empty() && taken + 1 + word.chars().count() > width {
            lines.push(word);
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    format!("{lead}{}", lines.join(&format!("\n{rest}")))
}

/// What ends a command within a sentence.
const ENDS: [char; 5] = ['.', ',', ';', ')', '`'];

/// What stays on one line: words, and commands as a whole.
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

/// A command stands at the beginning, after a colon, or in backticks.
fn begins_a_command(before: Option<&str>, piece: &str) -> bool {
    let name = piece.split(' ').next().unwrap_or_default();
    let is_announced = before.is_none_or(|before| before.ends_with(':'));
    name.trim_start_matches('(') == "`leftoff" || (name == "leftoff" && is_announced)
}

/// What follows belongs to the sentence again.
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
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 4), "abc");
    }

    #[test]
    fn a_command_stays_on_one_line_however_long() {
        assert_eq!(
            wrapped("Begin another run: leftoff run start map --session a", 24, 2),
            "Begin another run:\n  leftoff run start map --session a"
        );
        assert_eq!(
            wrapped("What it asks for: leftoff gate --phase x. Mend it, then try again.", 20, 1),
            "What it asks for:\n leftoff gate --phase x.\n Mend it, then try\n again."
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
