//! Tests of inactive sessions.

use crate::{essay_in_its_draft, git, workspace};

fn events(sandbox: &testkit::Sandbox, id: &str) -> Vec<String> {
    let log = sandbox.run(["log", id, "--json"]).ok().json();
    log["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn kinds(value: &serde_json::Value) -> Vec<&str> {
    value["warnings"].as_array().unwrap().iter().map(|warning| warning["kind"].as_str().unwrap()).collect()
}

fn started() -> testkit::Sandbox {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox
}

#[test]
fn a_day_without_activity_shows_as_paused_since_then_and_writes_nothing() {
    let sandbox = started();
    sandbox.at("2026-11-15T09:59:59Z");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "active");
    sandbox.at("2026-11-15T12:00:00Z");
    let before = events(&sandbox, "s");
    let view = sandbox.run(["status", "--json"]).ok().json();
    let paused =
        serde_json::json!({ "state": "paused", "at": "2026-11-15T10:00:00Z", "reason": "inactivity" });
    assert_eq!((&view["status"], &view["lifecycle"]), (&"paused".into(), &paused));
    assert_eq!(view["next"]["command"], "leftoff resume s");
    assert_eq!(view["progress"]["time_in_phase_seconds"], 24 * 3600, "paused time is no working time");
    assert_eq!(sandbox.run(["brief", "--json"]).ok().json()["session"], view);
    assert!(
        sandbox
            .run(["brief", "--format", "markdown"])
            .ok()
            .stdout
            .contains("**Paused** 2 hours ago: \"inactivity\"")
    );
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"][0]["lifecycle"], "paused");
    let count = |status: &str| {
        let list = sandbox.run(["list", "--status", status, "--json"]).ok().json();
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!((count("paused"), count("active"), count("failed")), (1, 0, 0));
    assert_eq!(events(&sandbox, "s"), before);
}

#[test]
fn the_next_command_that_changes_the_session_writes_it() {
    let sandbox = started();
    sandbox.at("2026-11-16T10:00:00Z");
    let refused = sandbox.run(["advance", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "not_active");
    assert!(!events(&sandbox, "s").contains(&"session_expired".to_owned()), "a refusal writes nothing");

    let noted = sandbox.run(["note", "still here", "--json"]).ok().json();
    assert_eq!((&noted["status"], &noted["lifecycle"]["reason"]), (&"paused".into(), &"inactivity".into()));
    assert_eq!(events(&sandbox, "s")[3..], ["session_expired", "note_added"]);
    let resumed = sandbox.run(["resume", "--json"]).ok().json();
    assert_eq!(
        (&resumed["status"], &resumed["phases"][0]["paused_seconds"]),
        (&"active".into(), &(24 * 3600).into())
    );
}

#[test]
fn resuming_writes_both() {
    let sandbox = started();
    sandbox.at("2026-11-16T10:00:00Z");
    sandbox.run(["resume"]).ok();
    assert_eq!(events(&sandbox, "s")[3..], ["session_expired", "session_resumed"]);
    sandbox.run(["advance", "--phase", "plan"]).ok();
}

#[test]
fn a_new_session_takes_the_place_of_one_that_expired() {
    let sandbox = started();
    sandbox.at("2026-11-16T10:00:00Z");
    let answer = sandbox.run(["start", "--id", "t", "--json"]).ok().json();
    assert!(answer["said"].to_string().contains("paused s"), "{}", answer["said"]);
    assert_eq!(events(&sandbox, "s")[3..], ["session_expired"]);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "t");
}

#[test]
fn a_week_warns_and_offers_to_resume_or_to_clean_up() {
    let sandbox = started();
    sandbox.at("2026-11-20T10:00:00Z");
    assert!(kinds(&sandbox.run(["status", "--json"]).ok().json()).is_empty());
    sandbox.at("2026-11-21T10:00:00Z");
    for view in [
        sandbox.run(["status", "--json"]).ok().json(),
        sandbox.run(["brief", "--json"]).ok().json()["session"].clone(),
        sandbox.run(["list", "--json"]).ok().json(),
    ] {
        assert_eq!(kinds(&view), ["inactive"]);
        let hint = view["warnings"][0]["hint"].as_str().unwrap();
        assert_eq!(hint, "continue the session: leftoff resume s, or abandon the session: leftoff abandon s");
    }
    sandbox.run_printed("leftoff abandon s").ok();
    assert!(
        kinds(&sandbox.run(["status", "--json"]).ok().json()).is_empty(),
        "what is finished is left alone"
    );
}

#[test]
fn a_clock_that_was_set_back_expires_nothing() {
    let sandbox = started();
    sandbox.at("2020-01-01T00:00:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["status"], kinds(&view).len()), (&"active".into(), 0));
}

#[test]
fn limits_are_the_projects_to_set() {
    let sandbox = started();
    sandbox.write(".leftoff/config.toml", "[expiry]\npause_after = \"off\"\nwarn_after = \"2h\"\n");
    sandbox.at("2026-11-30T10:00:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_ne!(view["status"], "paused");
    assert_eq!(kinds(&view), ["inactive"]);
    sandbox.write(".leftoff/config.toml", "[expiry]\npause_after = \"30m\"\nwarn_after = \"off\"\n");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["status"], kinds(&view).len()), (&"paused".into(), 0));
    for wrong in ["\"0h\"", "\"soon\"", "24", "\"\""] {
        sandbox.write(".leftoff/config.toml", &format!("[expiry]\npause_after = {wrong}\n"));
        let told = sandbox.run(["note", "x"]).code(1);
        assert!(told.stderr.contains("config.toml:2:"), "{wrong}: {}", told.stderr);
    }
}

#[test]
fn cleaning_up_moves_the_workspace_to_the_archive_and_deletes_nothing() {
    let sandbox = essay_in_its_draft();
    sandbox.run(["abandon"]).ok();
    assert!(!sandbox.path(".leftoff/sessions/s").exists());
    assert_eq!(sandbox.read(".leftoff/archive/s/thesis.md"), "# thesis\nfirst words\n");
    assert!(sandbox.read(".leftoff/.gitignore").contains("archive/"));
}

#[test]
fn a_crash_while_cleaning_up_is_finished_or_taken_back() {
    for (point, is_abandoned) in [
        ("disk-journal-written", false),
        ("before-append", false),
        ("after-append", true),
        ("disk-before-step-0", true),
        ("disk-after-step-0", true),
        ("disk-before-journal-removed", true),
    ] {
        let sandbox = essay_in_its_draft();
        let crashed = sandbox.command(["abandon"]).env("LEFTOFF_TEST_CRASH", point).output().unwrap();
        assert_eq!(testkit::Ran::from(crashed).code, 134, "{point}");
        // The next command ends the session.
        sandbox.run(["abandon"]).ok();
        assert!(events(&sandbox, "s").ends_with(&["session_abandoned".to_owned()]), "{point} {is_abandoned}");
        assert!(sandbox.path(".leftoff/archive/s/thesis.md").exists(), "{point}");
        assert!(!sandbox.path(&workspace("thesis.md")).exists(), "{point}");
        let journals = std::fs::read_dir(sandbox.path(".leftoff/sessions/.journal")).unwrap().count();
        assert_eq!(journals, 0, "{point}");
    }
}

#[test]
fn commands_that_were_run_for_a_session_are_activity() {
    let sandbox = started();
    sandbox.at("2026-11-15T09:00:00Z");
    sandbox.run(["exec", "--", "true"]).ok();
    sandbox.at("2026-11-16T08:00:00Z");
    assert_ne!(sandbox.run(["status", "--json"]).ok().json()["status"], "paused");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"][0]["lifecycle"], "active");
    sandbox.at("2026-11-16T10:00:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["lifecycle"]["at"], "2026-11-16T09:00:00Z");
}

#[test]
fn what_was_given_up_by_mistake_comes_back_with_its_files() {
    let sandbox = essay_in_its_draft();
    sandbox.run(["abandon"]).ok();
    sandbox.run(["reopen", "s"]).ok();
    assert!(sandbox.path(&workspace("thesis.md")).exists());
    assert!(!sandbox.path(".leftoff/archive/s").exists());
    sandbox.run(["artifact", "verify"]).ok();
}

#[test]
fn a_session_in_files_that_lay_for_a_day_is_what_resume_means() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--layout", "essay", "--id", "essay-pipeline-20261114-100000"]).ok();
    sandbox.at("2026-11-15T11:00:00Z");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "paused");
    let view = sandbox.run(["resume", "--yes", "--json"]).ok().json();
    assert_eq!(
        (&view["session_id"], &view["status"]),
        (&"essay-pipeline-20261114-100000".into(), &"active".into())
    );
}
