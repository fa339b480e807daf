//! Tests of inactive sessions. Their files contain the reason of the pause, in the format's words.

use super::*;

const NEXT_DAY: &str = "2026-11-15T12:00:00Z";

fn last_changed(sandbox: &Sandbox, path: &str, at: &str) {
    let at: jiff::Timestamp = at.parse().unwrap();
    let file = std::fs::File::options().write(true).open(sandbox.path(path)).unwrap();
    file.set_modified(std::time::SystemTime::from(at)).unwrap();
}

#[test]
fn a_day_of_quiet_pauses_a_session_for_inactivity_and_the_next_command_writes_it() {
    let sandbox = started();
    let before = sandbox.read(NEW);
    sandbox.at(NEXT_DAY);
    let seen = view(&sandbox);
    assert_eq!((&seen["status"], &seen["lifecycle"]["reason"]), (&json!("paused"), &json!("inactivity")));
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"][0]["lifecycle"], "paused");
    let refused = sandbox.run(["advance", "--phase", "0", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "not_active");
    assert_eq!(sandbox.read(NEW), before, "neither a question nor a refusal writes");
    sandbox.run(["note", "still here"]).ok();
    let lifecycle = file(&sandbox, NEW)["lifecycle"].clone();
    assert_eq!((&lifecycle["paused"], &lifecycle["paused_reason"]), (&json!(true), &json!("inactivity")));
    assert_eq!(lifecycle["paused_at"], "2026-11-15T11:00:00Z", "a day after the last thing that happened");
    sandbox.run(["resume"]).ok();
    let found = file(&sandbox, NEW);
    assert_eq!(
        (&found["lifecycle"]["paused"], &found["lifecycle"]["resume_count"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(found["lifecycle"]["paused_reason"], Value::Null);
    assert_eq!(found["phase_timing"]["0"]["paused_duration_seconds"], 3600);
    sandbox.run(["advance", "--phase", "0"]).ok();
}

#[test]
fn an_old_file_that_lay_for_a_day_keeps_its_local_times_when_that_is_written() {
    let sandbox = with_old();
    let before = sandbox.read(OLD);
    sandbox.at(NEXT_DAY);
    assert_eq!(view(&sandbox)["lifecycle"]["reason"], "inactivity");
    let count = |status: &str| {
        let list = sandbox.run(["list", "--status", status, "--json"]).ok().json();
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!(
        (count("paused"), count("active")),
        (1, 0),
        "a list says the same, before anybody takes it in"
    );
    assert_eq!(sandbox.read(OLD), before);
    sandbox.run(["note", "still here", "--session", ID]).ok();
    let found = file(&sandbox, OLD);
    assert_eq!(found["lifecycle"]["paused_reason"], "inactivity");
    assert_eq!(found["lifecycle"]["paused_at"], "2026-11-15T09:30:00.500000");
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys[..10], old_file().as_object().unwrap().keys().collect::<Vec<_>>());
}

#[test]
fn what_its_own_tool_does_is_activity() {
    let sandbox = started();
    edit(&sandbox, NEW, |value| value["metadata"]["theirs"] = json!(1));
    last_changed(&sandbox, NEW, "2026-11-15T08:00:00Z");
    sandbox.at(NEXT_DAY);
    assert_ne!(view(&sandbox)["status"], "paused");
    sandbox.run(["advance", "--phase", "0"]).ok();
    assert_eq!(file(&sandbox, NEW)["lifecycle"]["paused"], false);
}

/// A failed checkpoint is a status of its own, and the phase can be retried at once. A session is paused
/// because of it only if the caller says so.
#[test]
fn a_checkpoint_that_failed_pauses_nothing_by_itself() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=0"]).code(5);
    assert_eq!(view(&sandbox)["status"], "checkpoint_failed");
    assert_eq!(file(&sandbox, NEW)["lifecycle"]["paused"], false);
    sandbox.run(["pause", "--reason", "checkpoint_failed", "--context", "no tests yet"]).ok();
    let lifecycle = file(&sandbox, NEW)["lifecycle"].clone();
    assert_eq!(
        (&lifecycle["paused_reason"], &lifecycle["paused_context"]),
        (&json!("checkpoint_failed"), &json!("no tests yet"))
    );
    assert_eq!(view(&sandbox)["status"], "paused", "that comes before the checkpoint");
    sandbox.run(["resume"]).ok();
    assert_eq!(view(&sandbox)["status"], "checkpoint_failed");
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=1"]).ok();
}
