//! The whole program, run as a person or an agent runs it. Few tests: the rules are tested where they live.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod gates;
mod session_life;

fn git() -> testkit::Sandbox {
    testkit::Sandbox::git(env!("CARGO_BIN_EXE_leftoff"))
}
