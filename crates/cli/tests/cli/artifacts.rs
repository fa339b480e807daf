//! Tests of recorded files.

use crate::{essay, git, workspace};

#[test]
fn files_are_recorded_with_hash_size_and_version() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start"]).ok();
    sandbox.write("docs/PLAN.md", "one\n");
    let view = sandbox.run(["artifact", "add", "docs/PLAN.md", "--json"]).ok().json();
    let known = &view["artifacts"][0];
    assert_eq!(
        (&known["path"], &known["size"], &known["version"]),
        (&"docs/PLAN.md".into(), &4.into(), &1.into())
    );
    assert_eq!((&known["phase"], &known["recorded_at"]), (&"plan".into(), &"2026-11-14T10:00:00Z".into()));
    let hash = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";
    assert_eq!(known["hash"], hash);

    let again = sandbox.run(["artifact", "add", "docs/PLAN.md", "--json"]).ok().json();
    assert_eq!(again["already"], true);
    sandbox.write("docs/PLAN.md", "two\n");
    let changed = sandbox.run(["artifact", "add", "docs/PLAN.md", "--json"]).ok().json();
    assert_eq!(changed["artifacts"][0]["version"], 2);
    let history = sandbox.run(["artifact", "history", "docs/PLAN.md", "--json"]).ok().json();
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    assert_eq!(history["versions"][0]["hash"], hash);
}

#[test]
fn paths_are_relative_to_the_current_folder_and_kept_relative_to_the_project() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.write("docs/PLAN.md", "one\n");
    sandbox.write("README.md", "read\n");
    let added = sandbox
        .command(["artifact", "add", "PLAN.md", "../README.md", "--json"])
        .current_dir(sandbox.path("docs"))
        .output()
        .unwrap();
    let view = testkit::Ran::from(added).ok().json();
    let paths: Vec<&str> =
        view["artifacts"].as_array().unwrap().iter().map(|known| known["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["README.md", "docs/PLAN.md"]);
}

#[test]
fn a_path_outside_a_link_out_a_pipe_and_a_folder_are_wrong_usage_and_change_nothing() {
    let sandbox = git();
    let started = sandbox.run(["start", "--json"]).ok().json();
    std::fs::write(sandbox.folder().join("outside"), "x").unwrap();
    std::os::unix::fs::symlink(sandbox.folder().join("outside"), sandbox.path("link")).unwrap();
    std::os::unix::fs::symlink(sandbox.folder(), sandbox.path("way-out")).unwrap();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap().success());
    for (path, says) in [
        ("../outside", "outside the project"),
        ("/etc/passwd", "outside the project"),
        ("link", "to outside the project"),
        ("way-out/outside", "to outside the project"),
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
        ("missing.md", "no file"),
        ("a\nb", "not a path"),
    ] {
        let refused = sandbox.run(["artifact", "add", path, "--json"]).code(2);
        assert_eq!(refused.error()["kind"], "wrong_usage");
        assert!(refused.error()["message"].as_str().unwrap().contains(says), "{path}: {}", refused.stderr);
        sandbox.run(["advance", "--artifact", path]).code(2);
    }
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["version"], started["version"]);
}

#[test]
fn an_unknown_phase_is_told_with_the_nearest_name() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.write("a", "x");
    let refused = sandbox.run(["artifact", "add", "a", "--phase", "pla"]).code(3);
    assert!(refused.stderr.contains("did you mean 'plan'"), "{}", refused.stderr);
}

#[test]
fn advancing_records_what_is_named_and_what_the_phase_declares_in_one_step() {
    let sandbox = essay();
    sandbox.write(&workspace("thesis.md"), "# Thesis\n");
    sandbox.write("notes.md", "notes\n");
    let view = sandbox.run(["advance", "--phase", "thesis", "--artifact", "notes.md", "--json"]).ok().json();
    let known: Vec<(&str, &str)> = view["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|known| (known["path"].as_str().unwrap(), known["phase"].as_str().unwrap()))
        .collect();
    assert_eq!(known, [(".leftoff/sessions/s/thesis.md", "thesis"), ("notes.md", "thesis")]);
    let log = sandbox.run(["log", "--json"]).ok().json();
    let kinds: Vec<&str> =
        log["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[3..], ["artifact_recorded", "artifact_recorded", "phase_completed", "phase_started"]);
}

#[test]
fn verify_tells_missing_changed_and_new_files() {
    let sandbox = essay();
    for name in ["thesis.md", "a.md", "b.md"] {
        sandbox.write(&workspace(name), "as it was\n");
    }
    let (a, b) = (workspace("a.md"), workspace("b.md"));
    sandbox.run(["artifact", "add", &a, &b]).ok();
    let found = sandbox.run(["artifact", "verify", "--json"]).code(4).json();
    assert_eq!(found["findings"][0]["difference"], "new", "{found}");
    sandbox.run_printed(&format!("leftoff {}", &found["findings"][0]["hint"].as_str().unwrap()[8..])).ok();
    let all_well = sandbox.run(["artifact", "verify", "--json"]).ok().json();
    assert_eq!((&all_well["checked"], &all_well["findings"]), (&3.into(), &serde_json::json!([])));

    sandbox.write(&a, "otherwise\n");
    std::fs::remove_file(sandbox.path(&b)).unwrap();
    let found = sandbox.run(["artifact", "verify", "--json"]).code(4).json();
    let told: Vec<(&str, &str)> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["path"].as_str().unwrap(), finding["difference"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(a.as_str(), "changed"), (b.as_str(), "missing")]);
}

#[test]
fn a_changed_file_of_a_finished_phase_is_a_warning_in_brief_and_show_and_not_in_status() {
    let sandbox = essay();
    sandbox.write(&workspace("thesis.md"), "# Thesis\n");
    sandbox.run(["advance", "--phase", "thesis"]).ok();
    let kinds = |view: &serde_json::Value| -> Vec<String> {
        let warnings = view["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert!(kinds(&sandbox.run(["show", "--json"]).ok().json()).is_empty());
    sandbox.write(&workspace("thesis.md"), "# Another thesis\n");
    assert_eq!(kinds(&sandbox.run(["show", "--json"]).ok().json()), ["artifact_changed"]);
    assert_eq!(kinds(&sandbox.run(["brief", "--json"]).ok().json()["session"]), ["artifact_changed"]);
    assert!(kinds(&sandbox.run(["status", "--json"]).ok().json()).is_empty());
    assert_eq!(kinds(&sandbox.run(["gate", "--json"]).ok().json()), ["artifact_changed"]);
    let text = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(text.contains("thesis.md of phase thesis changed since it was recorded"), "{text}");
    std::fs::remove_file(sandbox.path(&workspace("thesis.md"))).unwrap();
    assert_eq!(kinds(&sandbox.run(["show", "--json"]).ok().json()), ["artifact_missing"]);
}

#[test]
fn purging_forgets_kept_files_that_hold_the_text() {
    let sandbox = essay();
    sandbox.write(&workspace("thesis.md"), "# Thesis\nhunter2-hunter2\n");
    sandbox.run(["advance", "--phase", "thesis"]).ok();
    let database = || std::fs::read(sandbox.path(".git/leftoff/leftoff.db")).unwrap();
    let kept = |bytes: &[u8]| bytes.windows(15).any(|part| part == b"hunter2-hunter2");
    sandbox.run(["purge", "hunter2-hunter2", "--yes"]).ok();
    assert!(!kept(&database()));
    assert!(sandbox.read(&workspace("thesis.md")).contains("hunter2"), "the file itself is the person's");
}

#[test]
fn pausing_saves_the_drafts_that_are_named() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.write("docs/draft.md", "half a sentence");
    sandbox.write("notes.md", "x");
    let outside = sandbox.run(["pause", "--save", "../outside.md", "--json"]).code(2);
    assert_eq!(outside.error()["kind"], "wrong_usage");
    assert_eq!(sandbox.run(["status", "--json"]).json()["status"], "active");

    let ran = sandbox.run(["pause", "--reason", "night", "--save", "docs/draft.md", "notes.md"]).ok();
    assert!(ran.stderr.contains("saved: docs/draft.md\nsaved: notes.md\n"), "{}", ran.stderr);
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains(": \"night\". Saved: \"docs/draft.md\", \"notes.md\"."), "{brief}");
    let status = sandbox.run(["status"]).ok().stdout;
    assert!(status.contains("Saved: docs/draft.md, notes.md\n"), "{status}");
    let recorded = sandbox.run(["artifact", "list", "--json"]).json()["artifacts"].clone();
    assert_eq!((&recorded[0]["path"], &recorded[0]["phase"]), (&"docs/draft.md".into(), &"plan".into()));
}

#[test]
fn what_is_said_about_a_pause_later_takes_its_place() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.run(["pause", "--reason", "night", "--context", "half a test"]).ok();
    sandbox.at("2026-11-14T12:00:00Z");
    assert_eq!(sandbox.run(["pause", "--json"]).ok().json()["already"], true);
    let view = sandbox.run(["pause", "--reason", "weekend", "--json"]).ok().json();
    let expected = serde_json::json!({
        "state": "paused", "at": "2026-11-14T10:00:00Z", "reason": "weekend", "context": "half a test"
    });
    assert_eq!(view["lifecycle"], expected);
    sandbox.at("2026-11-14T13:00:00Z");
    sandbox.run(["resume"]).ok();
    let view = sandbox.run(["status", "--json"]).json();
    assert_eq!(view["phases"][0]["paused_seconds"], 3 * 3600);
    let history = sandbox.run(["history", "--json"]).ok().json();
    assert_eq!(history["pauses"].as_array().map(Vec::len), Some(1), "{history}");
    assert_eq!(history["pauses"][0]["reason"], "weekend");
}
