//! Tests with broken definitions: the reader returns a result for any bytes.

use super::super::read;
use super::readings::WHOLE;
use crate::builtin;

const MUTATIONS_PER_TEXT: usize = 1_500;
/// Tokens with a meaning in TOML or in definitions.
const REPLACEMENTS: &[&str] = &[
    "\"",
    "'",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    "\n",
    "\r",
    "\0",
    ".",
    "..",
    "/",
    "#",
    ",",
    "ü",
    "\u{202e}",
    "\u{feff}",
    "1",
    "-1",
    "true",
    "\"\"\"",
    "\\",
    "phase",
    "nan",
    "2026-01-01",
    " ",
];

#[test]
fn no_mutation_of_a_definition_makes_the_reader_panic() {
    let mut random = Xorshift(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    let texts: Vec<&str> = builtin::all().iter().map(|builtin| builtin.text).chain([WHOLE]).collect();
    for text in &texts {
        for _ in 0..MUTATIONS_PER_TEXT {
            let mut mutant = (*text).to_owned();
            for _ in 0..=random.below(3) {
                mutate(&mut random, &mut mutant);
            }
            let lines = mutant.matches('\n').count() + 1;
            if let Err(mistakes) = read(&mutant) {
                refused += 1;
                assert!(!mistakes.is_empty(), "refused without a reason:\n{mutant}");
                assert!(mistakes.iter().all(|mistake| (1..=lines).contains(&mistake.line)));
                assert!(mistakes.is_sorted_by_key(|mistake| (mistake.line, mistake.column)));
            }
        }
    }
    // If hardly any text is refused, the mutations have too little effect.
    assert!(refused > texts.len() * MUTATIONS_PER_TEXT / 10, "only {refused} were refused");
}

fn mutate(random: &mut Xorshift, text: &mut String) {
    let (start, end) = (random.boundary(text), random.boundary(text));
    let (start, end) = (start.min(end), start.max(end).min(start.min(end) + 40));
    let end = text.floor_char_boundary(end);
    match random.below(4) {
        0 => text.replace_range(start..end, ""),
        1 => {
            let copy = text[start..end].to_owned();
            text.insert_str(start, &copy);
        }
        2 => text.insert_str(start, REPLACEMENTS[random.below(REPLACEMENTS.len())]),
        _ => {
            let next = text.ceil_char_boundary((start + 1).min(text.len()));
            text.replace_range(start..next, REPLACEMENTS[random.below(REPLACEMENTS.len())]);
        }
    }
}

/// A generator of pseudo-random numbers. The same seed gives the same numbers, so that a failure can be
/// reproduced.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn boundary(&mut self, text: &str) -> usize {
        let offset = self.below(text.len() + 1);
        text.floor_char_boundary(offset)
    }
}
