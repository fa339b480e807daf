//! Tests of a team's store: the program runs with a real PostgreSQL server, on several machines, and with
//! failures between them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod administrator;
mod copies;
mod failures;
mod machines;
mod namespaces;
mod proxy;
mod tls;

use std::sync::atomic::{AtomicBool, Ordering};
use testkit::Sandbox;
use testkit::postgres::{PASSWORD, Server};

const PROGRAM: &str = env!("CARGO_BIN_EXE_leftoff");

/// A project whose store is a schema on the shared server.
fn team(what_for: &str) -> Option<(Sandbox, String)> {
    let url = testkit::postgres::schema(what_for)?;
    Some((Sandbox::git(PROGRAM).without_gates().on(&url), url))
}

/// A clone of the project on another machine.
fn clone_of(first: &Sandbox, url: &str) -> Sandbox {
    let other = Sandbox::git(PROGRAM).without_gates().on(url);
    other.write(".leftoff/config.toml", &first.read(".leftoff/config.toml"));
    other
}

fn server(what_for: &str) -> Option<Server> {
    let server = Server::start();
    if server.is_none() {
        testkit::left_out(&format!("{what_for}: PostgreSQL could not be found or installed"));
    }
    server
}

fn notes(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.run(["log", "--json"]).ok().json();
    let events = log["events"].as_array().expect("events").iter();
    events.filter_map(|event| event["text"].as_str().map(ToOwned::to_owned)).collect()
}

#[track_caller]
fn without_password(ran: &testkit::Ran) {
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!said.contains(PASSWORD) && !said.contains("s3cret"), "{said}");
}

/// Tells writers to stop when this value is dropped, also if the test panics, because the test waits for the
/// writers.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
