//! Generated documents, and documents whose commands are run: neither can go stale.
//!
//! A page that differs from the program's output fails its test. Regenerate them with `LEFTOFF_BLESS=1 cargo
//! test -p leftoff --test reference`, then read the difference.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod blessed;
mod cli;
mod events;
mod formats;
mod glossary;
mod guides;
mod links;
mod mcp;
mod page;
mod plugin;
mod session;
mod source;
mod states;

use std::path::PathBuf;

const PROGRAM: &str = env!("CARGO_BIN_EXE_leftoff");

/// The folder of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A comment in every generated page, so that nobody edits the page by hand.
const GENERATED: &str = "<!-- Generated: LEFTOFF_BLESS=1 cargo test -p leftoff --test reference -->\n";
