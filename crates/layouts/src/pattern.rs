//! Regular expressions from settings and definitions. The small engine compiles nearly all of them. The
//! larger engine compiles only patterns that the small one rejects: those with look-around, back-references
//! or Unicode classes.

use regex_lite::RegexBuilder;

/// The maximum number of times that a search may step back. A pattern that needs more is reported, because it
/// would block a hook.
const MOST_STEPS_BACK: usize = 100_000;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Small(regex_lite::Regex),
    Large(Box<fancy_regex::Regex>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Matters,
    Ignored,
}

impl Pattern {
    /// Compiles a pattern. The error says why the pattern is invalid.
    pub fn new(text: &str, case: Case) -> Result<Self, String> {
        let is_ignored = case == Case::Ignored;
        let small = RegexBuilder::new(text).case_insensitive(is_ignored).build();
        let engine = match small {
            Ok(regex) => Engine::Small(regex),
            Err(_) => Engine::Large(Box::new(large(text, is_ignored)?)),
        };
        Ok(Self { engine })
    }

    /// True if the pattern matches anywhere in the text. An error if the search needs too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, String> {
        match &self.engine {
            Engine::Small(regex) => Ok(regex.is_match(text)),
            Engine::Large(regex) => regex.is_match(text).map_err(|error| error.to_string()),
        }
    }
}

fn large(text: &str, is_ignored: bool) -> Result<fancy_regex::Regex, String> {
    fancy_regex::RegexBuilder::new(text)
        .case_insensitive(is_ignored)
        .backtrack_limit(MOST_STEPS_BACK)
        .build()
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        let pattern = Pattern::new(pattern, Case::Ignored).expect("a pattern");
        assert_eq!(pattern.is_match(text), Ok(expected), "{pattern:?}");
    }

    #[test]
    fn r4_look_around_back_references_and_unicode_classes_work() {
        check(r"git\s+commit(?!.*--amend)", "GIT commit -m x", true);
        check(r"git\s+commit(?!.*--amend)", "git commit --amend", false);
        check(r"(?<!dry-run )git push", "git push", true);
        check(r"(?<!dry-run )git push", "dry-run git push", false);
        check(r"(\w+) \1", "make make", true);
        check(r"(?P<word>\w+) (?P=word)", "make test", false);
        check(r"\p{Lu}", "É", true);
    }

    #[test]
    fn a_usual_pattern_never_reaches_the_larger_engine() {
        for usual in
            [r"git\s+(commit|cherry-pick|revert|merge)", r"gh\s+pr\s+create", "^make$", "(?m)^## Steps"]
        {
            let pattern = Pattern::new(usual, Case::Matters).expect("a pattern");
            assert!(matches!(pattern.engine, Engine::Small(_)), "{usual}");
        }
    }

    #[test]
    fn what_is_no_pattern_and_what_explodes_is_an_error() {
        assert!(Pattern::new("(unclosed", Case::Ignored).is_err());
        let explodes = Pattern::new(r"(a|b|ab)*(?>c)(?=d)", Case::Ignored).expect("a pattern");
        assert!(explodes.is_match(&format!("{}ce d", "ab".repeat(100))).is_err());
    }
}
