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

/// A text broken between words, every line after the first indented by so many spaces.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let (lead, rest) = (" ".repeat(text.len() - words.len()), " ".repeat(indent));
    let mut lines: Vec<String> = vec![String::new()];
    for word in words.split(' ') {
        let before = if lines.len() == 1 { &lead } else { &rest };
        let Some(line) = lines.last_mut() else { break };
        let taken = before.len() + line.chars().count();
        if !line.is_empty() && taken + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    format!("{lead}{}", lines.join(&format!("\n{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_words_stay_whole() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("unbreakablelongword x", 5, 1), "unbreakablelongword\n x");
        assert_eq!(wrapped("  one two three", 9, 4), "  one two\n    three");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 4), "abc");
    }
}
