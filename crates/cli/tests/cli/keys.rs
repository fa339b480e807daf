//! Tests of `--key`: a repeated command with the same key takes effect once, even if its answer was lost.

use crate::{git, with_gate};
use serde_json::Value;

#[test]
fn the_same_key_and_command_answer_as_the_first_time() {
    let sandbox = with_gate();
    sandbox.at("2026-11-14T10:00:00Z");
    let start = ["start", "ship", "--json", "--key", "s1"];
    let first = sandbox.run(start).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    assert_eq!(sandbox.run(start).ok().stdout, first.stdout, "not even another number or time");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 1);

    let note = ["note", "once", "--json", "--key", "n1"];
    let first = sandbox.run(note).ok();
    assert_eq!(sandbox.run(note).ok().stdout, first.stdout);
    assert_eq!(sandbox.run(["show", "--json"]).ok().json()["notes"].as_array().unwrap().len(), 1);

    sandbox.run(["advance", "--phase", "plan"]).ok();
    let build = ["advance", "--phase", "build", "--evidence", "coverage=10", "--json", "--key", "b1"];
    let first = sandbox.run(build).code(5);
    let again = sandbox.run(build).code(5);
    assert_eq!((again.stdout, again.stderr), (first.stdout, first.stderr));
    assert_eq!(sandbox.run(["show", "--json"]).ok().json()["phases"][1]["attempt_count"], 1);
}

/// Keys exist for this case: an answer was lost, and work continues before the command is repeated.
#[test]
fn a_repeated_command_does_nothing_later_either() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let resume = ["resume", "--json", "--key", "r1"];
    let first = sandbox.run(resume).ok();
    assert_eq!(first.json()["already"], true);
    sandbox.run(["pause"]).ok();
    assert_eq!(sandbox.run(resume).ok().stdout, first.stdout);
    assert_eq!(status(&sandbox), "paused");
}

#[test]
fn the_same_key_with_another_command_is_refused() {
    let sandbox = git();
    sandbox.run(["start", "--key", "k"]).ok();
    let version = sandbox.run(["status", "--json"]).ok().json()["version"].clone();
    for other in [&["pause", "--key", "k", "--json"][..], &["start", "review", "--key", "k", "--json"]] {
        let refused = sandbox.run(other).code(4);
        assert_eq!((refused.stdout.as_str(), &refused.error()["kind"]), ("", &Value::from("key_used")));
    }
    let after = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&after["version"], &after["status"]), (&version, &"active".into()));
}

#[test]
fn a_refusal_does_not_use_a_key_up() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.run(["advance", "--phase", "review", "--key", "k"]).code(4);
    sandbox.run(["advance", "--phase", "nothing", "--key", "k"]).code(3);
    sandbox.run(["pause", "--key", "k"]).ok();
    assert_eq!(status(&sandbox), "paused");
}

#[test]
fn a_key_holds_for_seven_days() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start"]).ok();
    sandbox.run(["note", "first", "--key", "k"]).ok();
    sandbox.at("2026-11-21T09:59:59Z");
    sandbox.run(["note", "first", "--key", "k"]).ok();
    sandbox.run(["note", "second", "--key", "k"]).code(4);
    sandbox.at("2026-11-21T10:00:01Z");
    sandbox.run(["note", "second", "--key", "k"]).ok();
    let notes = sandbox.run(["show", "--json"]).ok().json()["notes"].clone();
    let texts: Vec<&str> =
        notes.as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first", "second"]);
}

/// After a crash between the change and the answer, the repeated command gives the stored answer.
#[test]
fn after_a_crash_the_key_gives_the_answer_that_was_lost() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    let words = ["advance", "--phase", "plan", "--json", "--key", "k"];
    let mut crashing = sandbox.command(words);
    crashing.env("LEFTOFF_TEST_CRASH", "after-append").output().unwrap();
    let answer = sandbox.run(words).ok().json();
    assert_eq!((&answer["already"], &answer["current_phase"]["id"]), (&false.into(), &"implement".into()));
    assert_eq!(sandbox.run(["show", "--json"]).ok().json()["phases"][0]["attempt_count"], 1);
}

fn status(sandbox: &testkit::Sandbox) -> Value {
    sandbox.run(["status", "--json"]).ok().json()["status"].clone()
}
