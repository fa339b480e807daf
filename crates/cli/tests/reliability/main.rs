//! Many processes, crashes and adverse environments, with real processes of the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on should say where; numbers are printed"
)]

mod ccw;
mod chain;
mod clock;
mod damage;
mod databases;
mod disk;
mod essays;
mod faults;
mod foreign_edits;
mod hook_events;
mod hooks;
mod in_place;
mod kill;
mod limits;
mod locked;
mod migration;
mod nobody;
mod places;
mod power;
mod praxis;
mod queries;
mod races;
mod read_only;
mod requirements;
mod torn;
mod tree;
mod views;
mod worktrees;

/// Queries that are answered in any project, with or without a session.
const QUESTIONS: [&[&str]; 9] = [
    &["status"],
    &["status", "--json"],
    &["list", "--all"],
    &["brief"],
    &["brief", "--format", "markdown", "--budget", "500"],
    &["next"],
    &["workflow", "list"],
    &["workflow", "show"],
    &["doctor"],
];

/// Queries about an existing session.
const QUESTIONS_ABOUT_A_SESSION: [&[&str]; 4] =
    [&["show"], &["log"], &["log", "--json"], &["list", "--agents"]];

/// Commands that change the session of [`git_with_session`], or start another one.
const CHANGES: [&[&str]; 7] = [
    &["note", "heard"],
    &["advance", "--phase", "plan"],
    &["pause"],
    &["close", "--force"],
    &["abandon"],
    &["run", "start", "map"],
    &["start", "--goal", "another"],
];

fn git_with_session() -> testkit::Sandbox {
    let sandbox = git();
    sandbox.run(["start", "--goal", "kept"]).ok();
    sandbox.run(["note", "written before"]).ok();
    sandbox
}

fn git() -> testkit::Sandbox {
    fresh().without_gates()
}

/// A repository without leftoff.
fn fresh() -> testkit::Sandbox {
    testkit::Sandbox::git(env!("CARGO_BIN_EXE_leftoff"))
}
