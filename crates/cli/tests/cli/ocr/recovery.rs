//! Tests of restoring a session from a damaged file, from one source after the other. `doctor` reports,
//! `repair` fixes, and nothing is lost.

use super::*;
use serde_json::json;

fn damage(sandbox: &Sandbox) {
    sandbox.write(&format!("{FOLDER}/state.json"), "{\"session_id\": \"2026-11");
}

/// The findings of `doctor`. Expects that it changes nothing.
fn doctor(sandbox: &Sandbox, code: i32) -> Value {
    let before = everything(sandbox.folder());
    let found = sandbox.run(["doctor", "--json"]).code(code).json()["findings"].clone();
    assert_eq!(everything(sandbox.folder()), before, "doctor touches nothing: no file, no store");
    found
}

/// Repairs the session. Expects that nothing is lost, and that another repair changes nothing.
fn repaired(sandbox: &Sandbox) -> String {
    let before = everything(&sandbox.path(".ocr"));
    let said = sandbox.run(["repair"]).ok();
    let after = everything(sandbox.project());
    for (path, bytes) in before {
        assert!(after.values().any(|kept| *kept == bytes), "what was in {path} is nowhere");
    }
    let again = sandbox.run(["repair", "--json"]).ok().json();
    assert_eq!(again["mended"], json!([]), "twice is the same as once");
    assert_eq!(everything(sandbox.project()), after);
    format!("{}{}", said.stdout, said.stderr)
}

#[test]
fn first_the_log_has_it_all() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance"]).ok();
    let good = sandbox.read(&format!("{FOLDER}/state.json"));
    let backup = sandbox.read(&format!("{FOLDER}/state.json.bak"));
    damage(&sandbox);
    let found = doctor(&sandbox, 4);
    assert_eq!(found[0]["kind"], "view_damaged");
    assert!(found[0]["message"].as_str().unwrap().contains("the log is used instead"), "{found}");
    assert_eq!(found[0]["hint"], format!("quarantine and rewrite the file: leftoff repair --session {ID}"));
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(phase(&view), "change-context");
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.contains("▸ Change Context"), "the screen goes on from the log, too:\n{screen}");
    let said = repaired(&sandbox);
    assert!(said.contains("was damaged: it is not JSON") && said.contains("quarantined"), "{said}");
    assert_eq!(sandbox.read(&format!("{FOLDER}/state.json")), good);
    assert_eq!(sandbox.read(&format!("{FOLDER}/state.json.bak")), backup, "a damaged one is no backup");
    doctor(&sandbox, 0);
}

#[test]
fn a_missing_file_is_written_again_from_the_log() {
    let sandbox = begun();
    let good = sandbox.read(&format!("{FOLDER}/state.json"));
    std::fs::remove_file(sandbox.path(&format!("{FOLDER}/state.json"))).unwrap();
    assert_eq!(doctor(&sandbox, 4)[0]["kind"], "view_missing");
    let said = repaired(&sandbox);
    assert!(said.contains("state.json was missing; it was rewritten from the log"), "{said}");
    assert_eq!(sandbox.read(&format!("{FOLDER}/state.json")), good);
}

#[test]
fn a_damaged_file_is_no_edit_and_the_next_command_sets_it_aside() {
    let sandbox = begun();
    sandbox.write(&format!("{FOLDER}/state.json"), "");
    let noted = sandbox.run(["note", "goes on", "--json"]).ok().json();
    assert_eq!(phase(&noted), "context");
    assert!(warnings(&noted).contains("could not be read; it was quarantined"), "{}", warnings(&noted));
    assert_eq!(state(&sandbox)["current_phase"], "context");
}

#[test]
fn without_a_log_the_version_before_is_read() {
    let sandbox = project();
    damage(&sandbox);
    let before = json!({ "session_id": ID, "status": "active", "workflow_type": "review",
        "current_phase": "analysis", "phase_number": 3, "current_round": 1, "x_own": 7 });
    sandbox.write(&format!("{FOLDER}/state.json.bak"), &before.to_string());
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(phase(&view), "analysis");
    assert!(warnings(&view).contains("state.json.bak was read instead, and may be older"), "{view}");
    let found = doctor(&sandbox, 4);
    assert_eq!(found[0]["hint"], format!("repair the session: leftoff repair --session {ID}"));
    let said = repaired(&sandbox);
    assert!(said.contains("state.json.bak was read instead, and may be older"), "{said}");
    let written = state(&sandbox);
    assert_eq!((&written["current_phase"], &written["x_own"]), (&"analysis".into(), &7.into()));
}

#[test]
fn without_either_the_artifacts_tell_where_it_is_about() {
    let sandbox = project();
    damage(&sandbox);
    sandbox.write(&format!("{FOLDER}/state.json.bak"), "damaged as well");
    artifact(&sandbox, "rounds/round-1/final.md", "x");
    artifact(&sandbox, "rounds/round-2/reviews/security-1.md", "## Finding\n");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((phase(&view), &view["run"]["ordinal"]), ("reviews", &2.into()));
    let said = repaired(&sandbox);
    assert!(said.contains("the position was derived from the other files"), "{said}");
    let written = state(&sandbox);
    assert_eq!((&written["current_phase"], &written["current_round"]), (&"reviews".into(), &2.into()));
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    assert_eq!(view["phases"][0]["gate"]["outcome"], "claimed", "what nothing shows is a claim");
}

#[test]
fn a_session_that_can_be_read_is_left_to_its_owner() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "current_phase": "reviews", "phase_number": 9, "started_at": "soon" }),
    );
    let found = doctor(&sandbox, 4);
    assert!(!found[0]["hint"].as_str().unwrap().contains("repair"), "repair would do nothing: {found}");
    let before = everything(&sandbox.path(".ocr"));
    assert_eq!(sandbox.run(["repair", "--json"]).ok().json()["mended"], json!([]));
    assert_eq!(everything(&sandbox.path(".ocr")), before);
}

#[test]
fn questions_write_nothing_into_a_project_that_never_had_leftoff() {
    let sandbox = project();
    foreign(&sandbox, ID, &json!({ "session_id": ID, "current_phase": "reviews", "phase_number": 4 }));
    let before = everything(sandbox.folder());
    for words in [
        &["list"][..],
        &["status"],
        &["show"],
        &["brief"],
        &["next"],
        &["log"],
        &["history"],
        &["progress", "--once"],
        &["doctor"],
    ] {
        sandbox.run(words.iter().copied());
        assert_eq!(everything(sandbox.folder()), before, "{words:?}");
    }
    sandbox.run(["gate"]);
    assert_eq!(everything(sandbox.folder()), before, "gate");
}

#[test]
fn a_backup_of_somebody_elses_is_no_edit() {
    let sandbox = project();
    let at = |phase: &str, number: u32| {
        json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": phase,
            "phase_number": number, "current_round": 1, "started_at": NOW, "round_started_at": NOW,
            "updated_at": NOW })
    };
    foreign(&sandbox, ID, &at("reviews", 4));
    sandbox.write(&format!("{FOLDER}/state.json.bak"), &at("context", 1).to_string());
    sandbox.run(["note", "taken in"]).ok();
    let view = sandbox.run(["note", "again", "--json"]).ok().json();
    assert_eq!(phase(&view), "reviews");
    assert_eq!(state(&sandbox)["phase_number"], 4);
    doctor(&sandbox, 0);
}

#[test]
fn a_session_whose_state_tells_no_time_is_as_old_as_its_files() {
    let sandbox = begun();
    let path = ".ocr/sessions/2026-01-01-old/state.json";
    write_at(&sandbox, path, "{\"current_phase\": \"rev", "2026-01-01T10:00:00Z");
    let old = sandbox.run(["status", "--session", "2026-01-01-old", "--json"]).ok().json();
    assert_eq!(old["updated_at"], "2026-01-01T10:00:00Z");
}

#[test]
fn a_folder_that_holds_nothing_of_a_session_is_none() {
    let sandbox = begun();
    for other in ["zz-backup", "node_modules/left-pad", "zz-archive"] {
        std::fs::create_dir_all(sandbox.path(&format!(".ocr/sessions/{other}"))).unwrap();
    }
    sandbox.write(".ocr/sessions/zz-archive/notes.txt", "mine\n");
    doctor(&sandbox, 0);
    let before = everything(&sandbox.path(".ocr"));
    repaired(&sandbox);
    assert_eq!(everything(&sandbox.path(".ocr")), before);
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], ID);
    // A session is recognised if only the backup of its state exists.
    sandbox.write(".ocr/sessions/zz-kept/state.json.bak", &sandbox.read(&format!("{FOLDER}/state.json")));
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{list}");
}

#[test]
fn a_backup_that_somebody_made_themselves_is_kept_once() {
    let sandbox = project();
    let at = |phase: &str, number: u32| {
        json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": phase,
            "phase_number": number, "current_round": 1, "started_at": NOW, "updated_at": NOW })
    };
    foreign(&sandbox, ID, &at("context", 1));
    sandbox.write(&format!("{FOLDER}/state.json.bak"), "my own copy\n");
    let said = sandbox.run(["skip", "--reason", "to see what is written"]).ok();
    assert!(
        said.stderr.contains("state.json.bak was not written by leftoff; it was kept"),
        "{}",
        said.stderr
    );
    let aside = || {
        let files = everything(&sandbox.path(&format!(".leftoff/aside/{ID}")));
        files.into_values().map(|bytes| String::from_utf8(bytes).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(aside(), ["my own copy\n"]);
    for _ in 0..3 {
        let said = sandbox.run(["skip", "--reason", "again"]).ok().stderr;
        assert!(!said.contains("was not written by leftoff"), "{said}");
    }
    assert_eq!(aside(), ["my own copy\n"], "the version before is ours from then on");
}

#[test]
fn a_file_that_nobody_could_look_at_is_written_when_somebody_can() {
    let sandbox = begun();
    let path = format!("{FOLDER}/state.json");
    let ours = sandbox.read(&path);
    let padded = format!("{ours}{}", " ".repeat(2 << 20));
    sandbox.write(&path, &padded);
    let answer = sandbox.run(["skip", "--reason", "no standards", "--json"]).ok().json();
    assert_eq!((phase(&answer), &answer["view_stale"]), ("change-context", &true.into()), "{answer}");
    assert_eq!(sandbox.read(&path), padded, "nothing is written over what could not be looked at");
    sandbox.run(["doctor"]).code(4);

    sandbox.write(&path, &ours);
    let found = sandbox.run(["doctor"]).code(4).stdout;
    assert!(found.contains("view_stale"), "{found}");
    let seen = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(phase(&seen), "change-context", "what was written before is no edit");
    sandbox.run(["repair"]).ok();
    assert_eq!(state(&sandbox)["current_phase"], "change-context");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn repair_says_which_rung_was_used_and_what_may_be_approximate() {
    let sandbox = project();
    let by_log = "2026-11-14-log";
    let fields = |id: &str| {
        json!({ "session_id": id, "status": "active", "workflow_type": "review",
        "current_phase": "analysis", "phase_number": 3, "started_at": NOW, "updated_at": NOW })
    };
    foreign(&sandbox, by_log, &fields(by_log));
    sandbox.run(["note", "taken in", "--session", by_log]).ok();
    let of = |id: &str, file: &str| format!(".ocr/sessions/{id}/{file}");
    sandbox.write(&of("2026-11-11-bak", "state.json.bak"), &fields("2026-11-11-bak").to_string());
    sandbox.write(&of("2026-11-12-files", "rounds/round-1/reviews/security-1.md"), "## Finding\n");
    for id in [by_log, "2026-11-11-bak", "2026-11-12-files", "2026-11-13-nothing"] {
        sandbox.write(&of(id, "state.json"), "{\"session_id\": ");
    }
    let done = sandbox.run(["repair", "--json"]).code(6).json();
    let mended = done["mended"].as_array().unwrap();
    let told = |id: &str| mended.iter().find(|mended| mended["session_id"] == id).unwrap();
    for (id, from, stands, is_exact) in [
        (by_log, "log", "review, run 1, phase 3 of 8, Tech Lead Analysis", true),
        ("2026-11-11-bak", "backup", "review, run 1, phase 3 of 8, Tech Lead Analysis", false),
        ("2026-11-12-files", "artifacts", "review, run 1, phase 4 of 8, Parallel Reviews", false),
    ] {
        let told = told(id);
        assert_eq!((&told["from"], &told["stands"]), (&from.into(), &stands.into()), "{told}");
        assert_eq!(told["approximate"].is_null(), is_exact, "{told}");
    }
    assert!(!told("2026-11-13-nothing")["choices"].as_array().unwrap().is_empty());
    let untouched = sandbox.read(&of("2026-11-13-nothing", "state.json"));
    assert_eq!(untouched, "{\"session_id\": ", "only a person can say");
    let meant = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(meant["session_id"], by_log, "what was only mended is not what is worked on");

    let again = sandbox.run(["repair"]).code(6);
    assert_eq!(again.stdout, "", "all others are mended");
    assert!(
        again.stderr.contains("The position of session 2026-11-13-nothing is unknown"),
        "{}",
        again.stderr
    );
    let command = "leftoff repair --session 2026-11-13-nothing --at reviews";
    assert!(again.stderr.contains(command), "{}", again.stderr);
    let said = sandbox.run_printed(command).ok().stdout;
    assert!(said.contains("repaired as chosen; it is at review, run 1, phase 4 of 8"), "{said}");
    assert!(said.contains("may be approximate: the position is the one you chose"), "{said}");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_folder_that_was_renamed_is_not_made_again_and_is_a_session_under_its_new_name() {
    const NEW: &str = "2026-11-14-renamed";
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance"]).ok();
    let sessions = sandbox.path(".ocr/sessions");
    std::fs::rename(sessions.join(ID), sessions.join(NEW)).unwrap();
    let before = everything(&sessions);

    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((view["session_id"].as_str(), phase(&view)), (Some(NEW), "change-context"));
    let old = sandbox.run(["show", ID]).ok();
    assert!(old.stderr.contains(&format!(".ocr/sessions/{ID} is gone")), "{}", old.stderr);
    let doctor = sandbox.run(["doctor"]).code(4).stdout;
    assert!(doctor.contains("folder_gone") && doctor.contains("leftoff repair --session"), "{doctor}");
    for words in [&["note", "x"][..], &["advance"], &["pause"], &["round"], &["close", "--force"]] {
        let refused = sandbox.run(words.iter().chain(&["--session", ID])).code(4);
        assert!(refused.stderr.contains("is gone"), "{words:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(&format!("leftoff switch {NEW}")), "{words:?}: {}", refused.stderr);
    }
    let repair = sandbox.run(["repair"]).code(1).stdout;
    assert!(repair.contains("not repaired: the folder of session"), "{repair}");
    assert_eq!(everything(&sessions), before, "nothing was made again");

    sandbox.run(["note", "goes on"]).ok();
    assert_eq!(sandbox.run(["show", NEW, "--json"]).ok().json()["notes"][0]["text"], "goes on");
    let abandoned = sandbox.run(["abandon", ID]).ok();
    assert!(!abandoned.stderr.contains("gone"), "{}", abandoned.stderr);
    assert!(!sessions.join(ID).exists());
    sandbox.run(["doctor"]).ok();
    let repair = sandbox.run(["repair"]).ok();
    assert!(repair.stderr.contains("nothing to repair"), "{}", repair.stderr);
    assert!(!sessions.join(ID).exists(), "what is over may be tidied away");
}

#[test]
fn a_folder_that_was_taken_away_comes_back_when_a_person_asks_for_it() {
    let sandbox = begun();
    std::fs::remove_dir_all(sandbox.path(FOLDER)).unwrap();
    let refused = sandbox.run(["note", "x"]).code(4);
    assert!(refused.stderr.contains(&format!("leftoff repair --session {ID}")), "{}", refused.stderr);
    assert!(!sandbox.path(FOLDER).exists());
    sandbox.run(["repair", "--session", ID]).ok();
    assert_eq!(state(&sandbox)["current_phase"], "context");
    sandbox.run(["note", "x"]).ok();
    // A file that is missing in an existing folder is written again.
    std::fs::remove_file(sandbox.path(FOLDER).join("state.json")).unwrap();
    sandbox.run(["note", "y"]).ok();
    assert_eq!(state(&sandbox)["current_phase"], "context");
}

#[test]
fn a_folder_in_the_place_of_the_version_before_goes_aside() {
    let sandbox = begun();
    sandbox.write(&format!("{FOLDER}/state.json.bak/mine.txt"), "mine");
    let doctor = sandbox.run(["doctor"]).code(4).stdout;
    assert!(doctor.contains("backup_is_a_folder"), "{doctor}");
    let skipped = sandbox.run(["skip", "--reason", "x"]).ok();
    assert!(skipped.stderr.contains("state.json.bak was a folder; it was quarantined"), "{}", skipped.stderr);
    assert!(!skipped.stderr.contains("not written"), "{}", skipped.stderr);
    assert_eq!(state(&sandbox)["current_phase"], "change-context");
    let aside = everything(&sandbox.path(".leftoff/aside"));
    assert!(aside.iter().any(|(path, bytes)| path.ends_with("/mine.txt") && bytes == b"mine"), "{aside:?}");
    let before: Value = serde_json::from_str(&sandbox.read(&format!("{FOLDER}/state.json.bak"))).unwrap();
    assert_eq!(before["current_phase"], "context");
    let skipped = sandbox.run(["skip", "--reason", "x"]).ok();
    assert!(!skipped.stderr.contains("warning"), "{}", skipped.stderr);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn what_was_written_is_said_to_be_also_where_nothing_can_be_set_aside() {
    let sandbox = begun();
    let elsewhere = sandbox.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.path(".leftoff/aside")).unwrap();
    sandbox.write(&format!("{FOLDER}/state.json"), "{");
    let skipped = sandbox.run(["skip", "--reason", "x"]).ok();
    assert!(skipped.stderr.contains("state.json was written"), "{}", skipped.stderr);
    assert!(!skipped.stderr.contains("could not be written"), "{}", skipped.stderr);
    assert_eq!(state(&sandbox)["current_phase"], "change-context");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing goes over a link");
    let doctor = sandbox.run(["doctor"]).code(4).stdout;
    assert!(doctor.contains("aside is a link"), "{doctor}");
    std::fs::remove_file(sandbox.path(".leftoff/aside")).unwrap();
    sandbox.run(["skip", "--reason", "x"]).ok();
    assert_eq!(state(&sandbox)["current_phase"], "analysis");
    assert!(everything(&sandbox.path(".leftoff/aside")).values().any(|bytes| bytes == b"{"));
    sandbox.run(["doctor"]).ok();
}

/// If the folder is gone, so is every file in it. This is one fact.
#[test]
fn a_folder_that_is_gone_is_told_once_with_all_of_its_files() {
    let sandbox = begun();
    sandbox.write(&format!("{FOLDER}/discovered-standards.md"), "x\n");
    sandbox.run(["advance", "--phase", "context"]).ok();
    std::fs::remove_dir_all(sandbox.path(FOLDER)).unwrap();
    let found = sandbox.run(["doctor", "--json"]).code(4).json()["findings"].clone();
    let kinds: Vec<&serde_json::Value> =
        found.as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert_eq!(kinds, ["folder_gone"], "{found:#}");
}
