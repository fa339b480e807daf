//! The settings that `./prove` passes to tests (number of attempts, seed), and the file for their results.

use std::io::Write;

/// The number of attempts: the number that `./prove` sets, or else `usual`, which suits `./test`.
pub fn count(name: &str, usual: u64) -> u64 {
    number(&format!("LEFTOFF_PROVE_{name}")).unwrap_or(usual)
}

/// The seed for random numbers. With the same seed, a test makes the same attempts.
pub fn seed() -> u64 {
    number("LEFTOFF_TEST_SEED").unwrap_or_else(|| u64::from(std::process::id()) * 7_919)
}

/// The environment variable for the fault that `./prove` injects, to show that a proof can fail.
pub fn control() -> Option<(&'static str, std::ffi::OsString)> {
    const VARIABLE: &str = "LEFTOFF_TEST_CONTROL";
    Some((VARIABLE, std::env::var_os(VARIABLE)?))
}

/// Adds a line to the table that `./prove` prints. Called after everything in the line was tested.
pub fn proven(what: &str, number: &str, seed: u64, result: &str) {
    let on = if crate::is_on_postgres() { ", on PostgreSQL" } else { "" };
    let line = format!("{what}{on}\t{number}\t{seed}\t{result}\n");
    let table = std::env::var_os("LEFTOFF_PROVE_TABLE");
    match table.map(|table| std::fs::OpenOptions::new().create(true).append(true).open(table)) {
        Some(table) => {
            table
                .and_then(|mut table| table.write_all(line.as_bytes()))
                .expect("the table of what was proven");
        }
        // The line is written to stderr directly, because the test runner hides the output of tests that
        // pass.
        None => drop(std::io::stderr().write_all(line.as_bytes())),
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// A generator of pseudo-random numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next random number, by SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).expect("an index")]
    }
}
