//! Tests of the session that a command uses by default, for an agent and for a person; and of gate reports
//! under concurrent changes.

use crate::gates::{started, trust};
use crate::git;
use serde_json::json;
use testkit::Sandbox;

const AGENT: &str = "claude:a4326893-7dc8-405b-aaa4-035b9c0d34a8";

/// Two parallel sessions. The agent works on `bbb`, while `aaa` is the active session of the worktree.
fn two() -> Sandbox {
    let sandbox = git();
    sandbox.run(["start", "--id", "aaa"]).ok();
    sandbox.run_as(AGENT, ["start", "--parallel", "--id", "bbb"]).ok();
    sandbox
}

fn means(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.run_as(AGENT, ["status", "--json"]).ok().json()["session_id"].clone()
}

#[test]
fn an_agent_means_the_session_that_it_started_beside_another() {
    let sandbox = two();
    assert_eq!(means(&sandbox), "bbb");
    let noted = sandbox.run_as(AGENT, ["note", "mine", "--json"]).ok().json();
    assert_eq!(noted["session_id"], "bbb");
}

#[test]
fn an_agent_that_switches_to_the_active_session_means_it_from_then_on() {
    let sandbox = two();
    let switched = sandbox.run_as(AGENT, ["switch", "aaa", "--json"]).ok().json();
    assert_eq!((&switched["already"], &switched["session_id"]), (&json!(true), &json!("aaa")));
    assert_eq!(means(&sandbox), "aaa");
}

#[test]
fn a_command_for_the_active_session_names_it_where_the_agent_means_another() {
    let sandbox = two();
    let view = sandbox.run_as(AGENT, ["show", "aaa", "--json"]).ok().json();
    assert_eq!(view["next"]["command"], "leftoff advance --phase plan --session aaa");
}

#[test]
fn an_agent_resumes_what_it_works_on() {
    let sandbox = two();
    sandbox.run_as(AGENT, ["pause"]).ok();
    let resumed = sandbox.run_as(AGENT, ["resume", "--json"]).ok().json();
    assert_eq!((&resumed["session_id"], &resumed["status"]), (&json!("bbb"), &json!("active")));
}

#[test]
fn what_was_finished_last_does_not_send_a_note_to_an_older_session() {
    let sandbox = git();
    sandbox.run(["start", "--id", "old"]).ok();
    sandbox.run(["start", "--id", "new"]).ok();
    sandbox.run(["close", "--force"]).ok();
    for words in [&["note", "lost"][..], &["set", "a=1"], &["pause"]] {
        assert_eq!(
            sandbox.run(words.iter().copied().chain(["--json"])).code(3).error()["kind"],
            "no_session"
        );
    }
    assert_eq!(sandbox.run(["resume", "--json"]).ok().json()["session_id"], "old");
}

fn command(run: &str) -> String {
    let program = env!("CARGO_BIN_EXE_leftoff");
    format!(
        "[[phase]]\nid = \"p\"\nitems = \"task\"\n[[phase.check]]\nid = \"items\"\nkind = \"items\"\n\
         [[phase.check]]\nid = \"c\"\nkind = \"command\"\nrun = '''{program} {run}'''\n[[phase]]\nid = \"q\"\n"
    )
}

#[test]
fn what_was_added_while_a_gate_ran_is_looked_at_before_it_passes() {
    let sandbox = started(&command("item add late --session s"));
    trust(&sandbox);
    let held = sandbox.run(["advance", "--phase", "p", "--json"]).code(5).json();
    let failed: Vec<_> = held["phases"][0]["gate"]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["outcome"] == "failed")
        .map(|check| check["id"].clone())
        .collect();
    assert_eq!(failed, ["items"]);
}

#[test]
fn a_phase_that_was_opened_again_while_its_gate_ran_is_not_completed_by_it() {
    let sandbox = started(&command("rollback p --session s"));
    trust(&sandbox);
    let refused = sandbox.run(["advance", "--phase", "p", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "moved_meanwhile");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["completed_phases"], json!([]));
}

const SAME: &str = "[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"same\"\nkind = \"expr\"\nexpr = \"evidence.n == 1\"\n[[phase]]\nid = \"q\"\n";

#[test]
fn a_retry_under_a_key_counts_once() {
    let sandbox = started(SAME);
    sandbox.run(["advance", "--evidence", "n=2"]).code(5);
    let first = sandbox.run(["retry", "--evidence", "n=1", "--key", "k", "--json"]).ok().json();
    let again = sandbox.run(["retry", "--evidence", "n=1", "--key", "k", "--json"]).ok().json();
    assert_eq!(first, again);
}

#[test]
fn evidence_for_a_session_that_was_marked_failed_is_not_dropped_in_silence() {
    let sandbox = started(SAME);
    sandbox.run(["fail", "--error", "gone"]).ok();
    sandbox.run(["retry", "--evidence", "n=1"]).code(2);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "failed");
}

#[test]
fn an_override_of_a_gate_that_passes_is_none() {
    let sandbox = started(SAME);
    sandbox.allow_anyone(&["override"]);
    let view =
        sandbox.run(["advance", "--evidence", "n=1", "--override", "just in case", "--json"]).ok().json();
    assert_eq!(view["phases"][0]["attempts"][0].get("overridden"), None);
    assert_eq!(view["notes"], json!([]));
}

#[test]
fn a_when_that_cannot_be_told_skips_nothing() {
    let sandbox =
        started("[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\nwhen = \"session.fields.nobody == 1\"\n");
    let view = sandbox.run(["advance", "--phase", "a", "--json"]).ok().json();
    assert_eq!(view["current_phase"]["id"], "b");
}
