//! Tests of live output: `log -f` and `status --watch` show changes by other processes and by editors.

use crate::{fresh, git};
use serde_json::Value;
use testkit::Running;

const ID: &str = "2026-11-14-login";

fn state(phase: &str, number: u32) -> String {
    format!(
        r#"{{"session_id":"{ID}","status":"active","workflow_type":"review","current_phase":"{phase}","phase_number":{number},"current_round":1,"started_at":"2026-11-14T10:00:00Z"}}"#
    )
}

#[test]
fn log_follows_what_other_processes_do_and_shows_each_event_once() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let mut log = Running::start(sandbox.command(["log", "-f"]));
    log.until("phase plan started");
    sandbox.run(["note", "first"]).ok();
    log.until("note 1: first");
    sandbox.run(["note", "second"]).ok();
    log.until("note 2: second");
    let times = |part: &str| log.seen().iter().filter(|line| line.contains(part)).count();
    assert_eq!((times("first"), times("phase plan started")), (1, 1), "{:?}", log.seen());
}

#[test]
fn log_follows_edits_of_a_layouts_files_which_touch_no_store() {
    let sandbox = fresh();
    let path = format!(".ocr/sessions/{ID}/state.json");
    sandbox.write(&path, &state("context", 1));
    let mut log = Running::start(sandbox.command(["log", "-f", "--json"]));
    log.until("session_started");
    sandbox.write(&path, &state("analysis", 3));
    let line = log.until("phase_claimed");
    let event: Value = serde_json::from_str(&line).expect("a JSON document on a line of its own");
    assert_eq!(event["phase"], "context");
}

#[test]
fn status_is_shown_again_after_a_change_and_follows_the_active_session() {
    let sandbox = git();
    let mut status = Running::start(sandbox.command(["status", "--watch"]));
    status.until("leftoff start");
    sandbox.run(["start", "--id", "login", "--title", "Log in"]).ok();
    status.until("Log in");
    sandbox.run(["start", "--id", "logout", "--title", "Log out"]).ok();
    status.until("Log out");

    let mut json = Running::start(sandbox.command(["status", "--watch", "--json"]));
    json.until("\"session_id\":\"logout\"");
    sandbox.run(["pause"]).ok();
    let line = json.until("\"status\":\"paused\"");
    serde_json::from_str::<Value>(&line).expect("a JSON document on a line of its own");
}
