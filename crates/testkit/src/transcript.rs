//! Transcripts: command lines, each with everything that it prints. A transcript is compared as a whole.

use crate::{Ran, Sandbox, words_of};
use similar::{Algorithm, ChangeTag, capture_diff_slices, group_diff_ops};
use std::fmt::Write;

impl Sandbox {
    /// Runs the command lines of a transcript, which begin with `$ `, and compares their output with the
    /// lines below each: stdout, then stderr, then `[5]` for an exit code other than 0.
    ///
    /// `$ LEFTOFF_AGENT_SESSION=claude:a leftoff …` runs as that agent, and `$ person leftoff …` on a
    /// terminal. The project's folder is printed as `/project`, and a hash as `<hash>`. If the output
    /// differs, panics with the differences, and with the actual transcript to copy.
    #[track_caller]
    pub fn shows(&self, transcript: &str) {
        assert_transcript(transcript, |line| self.printed(line));
    }

    /// Everything that one command line of a transcript prints.
    pub fn printed(&self, line: &str) -> String {
        let words = words_of(line);
        let (who, words) =
            words.split_at(words.iter().position(|word| word == "leftoff").expect("leftoff") + 1);
        let ran = match who {
            [_] => self.run(words),
            [person, _] if person == "person" => self.run_as_person(words),
            [agent, _] => self.run_as(agent.strip_prefix("LEFTOFF_AGENT_SESSION=").expect("an agent"), words),
            _ => panic!("who runs {line}?"),
        };
        without_hashes(&ran.whole().replace(&self.project().display().to_string(), "/project"))
    }
}

/// Compares a transcript with what `printed` returns for each of its command lines. These lines begin with `$
/// `.
#[track_caller]
pub fn assert_transcript(transcript: &str, printed: impl Fn(&str) -> String) {
    let expected = transcript.trim_start_matches('\n');
    let mut actual = String::new();
    for line in expected.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let _ = writeln!(actual, "$ {line}");
        actual.push_str(&printed(line));
    }
    assert!(actual == expected, "{}\nThe whole transcript:\n{actual}", difference(expected, &actual));
}

impl Ran {
    /// Everything that the run printed. Its exit code is included if it is not 0.
    pub fn whole(&self) -> String {
        let ends = |text: &str| if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let code = if self.code == 0 { String::new() } else { format!("[{}]\n", self.code) };
        format!("{}{}{}{}{code}", self.stdout, ends(&self.stdout), self.stderr, ends(&self.stderr))
    }
}

/// The text with `<hash>` in place of each hash. Hashes differ in every run, because they depend on random
/// numbers.
fn without_hashes(text: &str) -> String {
    const DIGITS: usize = 64;
    let is_hash = |word: &str| word.len() == DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive(|letter: char| !letter.is_alphanumeric());
    let plain = words.map(|word| match word.get(..DIGITS) {
        Some(start) if is_hash(start) => format!("<hash>{}", &word[DIGITS..]),
        _ => word.to_owned(),
    });
    plain.collect()
}

/// The lines that differ, and the lines around them.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let all = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut text = String::from("Expected is -, actual is +:\n");
    for change in group_diff_ops(all, 2).iter().flatten().flat_map(|op| op.iter_changes(&old, &new)) {
        let mark = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let _ = writeln!(text, "{mark} {}", change.value());
    }
    text
}
