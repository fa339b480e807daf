//! What crowds, crashes and bad surroundings do to real processes of the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on should say where; numbers are printed"
)]

mod kill;
mod worktrees;

fn git() -> testkit::Sandbox {
    testkit::Sandbox::git(env!("CARGO_BIN_EXE_leftoff"))
}
