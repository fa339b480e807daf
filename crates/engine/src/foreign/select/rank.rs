//! Ranks sessions that are known only from files, in order to choose one. Pure.

use jiff::Timestamp;

/// The data that decides between sessions that are known only from files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked<'a> {
    pub(crate) layout: &'a str,
    /// True if a later name means a newer session in this layout.
    pub(crate) names_tell_order: bool,
    pub(crate) says_where_it_stands: bool,
    /// True if the session has unfinished work.
    pub(crate) has_work: bool,
    pub(crate) is_active: bool,
    pub(crate) updated_at: Timestamp,
}

impl Ranked<'_> {
    /// True if this candidate is better than the best one so far. Candidates must be compared from the last name to the
    /// first. In layouts ordered by name, an earlier name is better only if it alone is readable or has unfinished
    /// work.
    pub(crate) fn is_better_than(&self, best: &Ranked<'_>) -> bool {
        let worth = |ranked: &Ranked<'_>| (ranked.says_where_it_stands, ranked.has_work);
        if self.names_tell_order && self.layout == best.layout {
            return worth(self) > worth(best);
        }
        (worth(self), self.is_active, self.updated_at) > (worth(best), best.is_active, best.updated_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a session in a test, such as `o+wa3`: in layout o, which is ordered by name (`t` is not); `+` means that
    /// the session's position is known, `w` that the session has work, `a` that it is active; the number is the second
    /// of its last change.
    fn ranked(text: &str) -> Ranked<'_> {
        let second = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        Ranked {
            layout: &text[..1],
            names_tell_order: !text.starts_with('t'),
            says_where_it_stands: text.contains('+'),
            has_work: text.contains('w'),
            is_active: text.contains('a'),
            updated_at: Timestamp::from_second(second.parse().unwrap()).unwrap(),
        }
    }

    #[test]
    fn the_better_of_two() {
        let cases = [
            // In layouts ordered by name, an earlier session wins only if it alone is readable or has work.
            ("o+w9", "o+w1", false),
            ("o+w1", "o+9", true),
            ("o+9", "o+w1", false),
            ("o+1", "ow9", true),
            ("ow9", "o+1", false),
            ("o+wa9", "o+w1", false),
            // Between layouts, or without an order by name, a session wins that is readable, or else has work, or else
            // is active, or else changed last.
            ("p+w9", "o+w1", true),
            ("p+w1", "o+w9", false),
            ("p+wa1", "o+w9", true),
            ("p+a9", "o+w1", false),
            ("pwa9", "o+1", false),
            ("t+w9", "t+w1", true),
            ("t+w1", "t+w1", false),
        ];
        for (found, best, is_better) in cases {
            assert_eq!(ranked(found).is_better_than(&ranked(best)), is_better, "{found} against {best}");
        }
    }
}
