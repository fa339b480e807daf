//! Tests of Open Code Review sessions in a project. They are shown without an import, and the first command
//! that changes one adopts it.

use crate::fresh as git;
use testkit::Sandbox;

const SESSION: &str = ".ocr/sessions/2026-11-14-feature-login";

fn state(phase: &str, number: u32, more: &str) -> String {
    format!(
        "{{\"session_id\":\"2026-11-14-feature-login\",\"workflow_type\":\"review\",\"status\":\"active\",\
         \"current_phase\":\"{phase}\",\"phase_number\":{number},\"current_round\":2{more},\
         \"started_at\":\"2026-11-14T09:00:00Z\",\"round_started_at\":\"2026-11-14T10:00:00Z\",\
         \"updated_at\":\"2026-11-14T10:30:00Z\"}}"
    )
}

/// A project with a review in its second round, at 11:02:03.
fn project() -> Sandbox {
    let sandbox = git();
    sandbox.at("2026-11-14T11:02:03Z");
    sandbox.write(&format!("{SESSION}/state.json"), &state("reviews", 4, ""));
    sandbox.write(&format!("{SESSION}/rounds/round-1/final.md"), "done\n");
    sandbox.write(&format!("{SESSION}/rounds/round-2/reviews/security-1.md"), "## Finding 1\n## Finding 2\n");
    sandbox
}

#[test]
fn a_foreign_session_is_in_list_status_show_brief_and_log() {
    let sandbox = project();
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"][0]["session_id"], "2026-11-14-feature-login");
    assert_eq!(list["sessions"][0]["layout"], "ocr");
    for words in [&["status"][..], &["show", "2026-11"], &["status", "--session", "2026-11-14-feature-login"]]
    {
        let view = sandbox.run(words.iter().copied().chain(["--json"])).ok().json();
        assert_eq!((&view["run"]["ordinal"], &view["current_phase"]["id"]), (&2.into(), &"reviews".into()));
        let command = view["next"]["command"].as_str().unwrap();
        assert!(command.starts_with("leftoff advance --phase reviews"), "{command}");
    }
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains("Phase 4 of 8, **Parallel Reviews**"), "{brief}");
    assert!(sandbox.run(["log"]).ok().stdout.contains("run 2 of review"));
}

#[test]
fn queries_leave_the_project_as_it_was_and_a_command_takes_the_session_in() {
    let sandbox = project();
    for words in [["list"], ["status"], ["brief"], ["next"], ["show"]] {
        sandbox.run(words).ok();
    }
    assert!(!sandbox.path(".git/leftoff").exists());
    assert!(!sandbox.path(".leftoff").exists());
    let refused = sandbox.run(["advance", "--phase", "synthesis", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "phase_not_current");
    assert_eq!(sandbox.read(&format!("{SESSION}/state.json")), state("reviews", 4, ""));
    assert!(!sandbox.run(["log"]).ok().stdout.contains("adopted from"), "a refused command changes nothing");
    let noted = sandbox.run(["note", "looked at it"]).ok();
    assert!(
        noted.stderr.contains("was adopted from .ocr/sessions/2026-11-14-feature-login"),
        "{}",
        noted.stderr
    );
    assert_eq!(
        sandbox.read(&format!("{SESSION}/state.json")),
        state("reviews", 4, ""),
        "nothing changed in it"
    );
    sandbox.run(["advance"]).ok();
    let written: serde_json::Value =
        serde_json::from_str(&sandbox.read(&format!("{SESSION}/state.json"))).unwrap();
    assert_eq!((&written["current_phase"], &written["phase_number"]), (&"aggregation".into(), &5.into()));
    assert_eq!(sandbox.read(&format!("{SESSION}/state.json.bak")), state("reviews", 4, ""));
    let log = sandbox.run(["log"]).ok().stdout;
    assert!(log.contains("adopted from .ocr/sessions/2026-11-14-feature-login (ocr)"), "{log}");
}

#[test]
fn a_broken_session_is_a_warning_and_hides_no_healthy_one() {
    let sandbox = project();
    sandbox.write(".ocr/sessions/2026-11-15-broken/state.json", "{\"session_id\":");
    std::os::unix::fs::symlink("nowhere", sandbox.path(".ocr/sessions/2026-11-16-link")).unwrap();
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["session_id"], "2026-11-14-feature-login");
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
    let warning = list["warnings"][1]["message"].as_str().unwrap();
    assert!(warning.starts_with(".ocr/sessions/2026-11-15-broken/state.json: it is not JSON"), "{warning}");
}

#[test]
fn a_session_of_ours_comes_before_a_foreign_one() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "native", "--id", "ours"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "ours");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(
        sandbox.run(["list", "--layout", "ocr", "--json"]).ok().json()["sessions"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn progress_shows_what_the_tools_own_screen_shows() {
    let sandbox = project();
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    for expected in [
        "Review  Round 2  1h 2m 3s",
        "████████████░░░░░░░░░░░░ 50 %",
        "? Tech Lead Analysis",
        "▸ Parallel Reviews",
        "· Aggregate Findings",
        "Round 1: final, 0 reviewers",
        "security-1: 2 findings",
    ] {
        assert!(screen.contains(expected), "{expected:?} is not in\n{screen}");
    }
    let empty = git();
    assert!(empty.run(["progress", "--once"]).ok().stdout.starts_with("Waiting for session…"));
}
