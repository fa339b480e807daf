//! Tests of further rules of the format: reports of inactivity, creation of the registry, `sync --fix` and
//! `sync --force`, the check of each phase, and concurrent writers.

use super::*;
use std::process::Stdio;

fn kinds(sandbox: &Sandbox) -> Vec<String> {
    let status = sandbox.run(["status", "--json"]).ok().json();
    let warnings = status["warnings"].as_array().unwrap().clone();
    warnings.iter().map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
}

/// A session that was active days ago is still active. In this layout, inactivity causes a warning, but never
/// a pause.
#[test]
fn inactivity_is_a_warning_from_a_day_on_and_never_a_pause() {
    let sandbox = project();
    sandbox.at("2026-11-02T10:00:00Z");
    write_session(&sandbox, "WFS-monday", "IMPLEMENT", "active", "2026-11-02T10:00:00Z");
    sandbox.run(["note", "Monday"]).ok();
    for (moment, expected) in [
        ("2026-11-03T09:59:00Z", &[][..]),
        ("2026-11-03T10:00:01Z", &["inactive"]),
        ("2026-11-06T10:00:00Z", &["inactive"]),
        ("2026-11-12T10:00:00Z", &["inactive"]),
    ] {
        sandbox.at(moment);
        assert_eq!(kinds(&sandbox), expected, "{moment}");
        let list = sandbox.run(["list", "--json"]).ok().json();
        assert_eq!(list["sessions"][0]["lifecycle"], "active", "{moment}");
        assert_eq!(list["warnings"].to_string().contains("inactive"), !expected.is_empty(), "{moment}");
    }
    let before = sandbox.read(&state_of("WFS-monday"));
    assert!(
        sandbox.run(["status"]).ok().stderr.contains("session WFS-monday has had no activity for 10 days")
    );
    sandbox.run(["note", "a week later"]).ok();
    assert_eq!(sandbox.read(&state_of("WFS-monday")), before, "a note pauses nothing");
    assert_eq!(kinds(&sandbox), Vec::<String>::new(), "it is no longer inactive");
}

/// The first command that writes creates a missing registry, with the session's line. An empty registry
/// counts as missing.
#[test]
fn a_missing_registry_is_made_by_the_first_that_writes_a_line_and_by_no_question() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let line = sandbox.read(REGISTRY);
    std::fs::remove_file(sandbox.path(REGISTRY)).unwrap();
    for words in [["status"], ["list"], ["brief"]] {
        sandbox.run(words).ok();
    }
    assert!(!sandbox.path(REGISTRY).exists(), "a question writes nothing");
    sandbox.run(["pause"]).ok();
    assert_eq!(registered(&sandbox), [("WFS-a".to_owned(), "paused".to_owned())]);
    // An empty registry is not damaged, and gets the line, too.
    sandbox.write(REGISTRY, "");
    sandbox.run(["resume", "WFS-a", "--yes"]).ok();
    assert_eq!(registered(&sandbox), [("WFS-a".to_owned(), "active".to_owned())]);
    assert_ne!(sandbox.read(REGISTRY), line);
}

/// In this layout, `sync --fix` and `sync --force` do the same: they fix everything that can be fixed without
/// loss, and nothing else.
#[test]
fn fix_and_force_are_one_repair_that_keeps_a_backup_and_changes_nothing_a_second_time() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    sandbox.run(["note", "taken in"]).ok();
    let good = sandbox.read(REGISTRY);
    let broken = format!("{good}{{\"id\":\"WFS-torn\n{good}");
    sandbox.write(REGISTRY, &broken);
    sandbox.run(["doctor"]).code(4);
    assert_eq!(sandbox.read(REGISTRY), broken, "check touches nothing");
    sandbox.run(["repair", "--force"]).code(2);
    assert_eq!(sandbox.read(REGISTRY), broken, "there is no such word, so nothing was done");
    sandbox.run(["repair"]).ok();
    let mended = sandbox.read(REGISTRY);
    assert_eq!(mended.matches("\"id\":\"WFS-a\"").count(), 1, "its lines are folded: {mended}");
    assert!(mended.contains("{\"id\":\"WFS-torn\n"), "what nobody can read is nobody's to delete: {mended}");
    assert_eq!(sandbox.read(&format!("{REGISTRY}.bak")), broken, "a backup before a fix");
    sandbox.run(["repair"]).ok();
    assert_eq!((sandbox.read(REGISTRY), sandbox.read(&format!("{REGISTRY}.bak"))), (mended, broken));
}

#[test]
fn resume_in_implement_asks_when_a_current_task_is_not_there() {
    let sandbox = project();
    write_session(&sandbox, "WFS-i", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    let text =
        sandbox.read(&state_of("WFS-i")).replace("\"current_tasks\":[]", "\"current_tasks\":[\"impl-7\"]");
    assert!(text.contains("impl-7"), "{text}");
    sandbox.write(&state_of("WFS-i"), &text);
    let asked = sandbox.run(["resume"]).code(6);
    assert!(asked.stderr.contains("active tasks: current task impl-7 does not exist"), "{}", asked.stderr);
    assert_eq!(sandbox.read(&state_of("WFS-i")), text, "nothing was done");
    sandbox.write(".workflow/WFS-i/.task/impl-7.json", r#"{"id":"impl-7","title":"T","status":"active"}"#);
    sandbox.run(["resume"]).ok();
    assert_eq!(state(&sandbox, "WFS-i")["status"], "active");
}

/// Processes update the same files at the same time: 40 update one session's file, and 16 update the
/// registry.
#[test]
fn fifty_six_parallel_updates_of_the_same_two_files_lose_nothing() {
    let sandbox = project();
    sandbox.allow_anyone(&["close"]);
    let others: Vec<String> = (0..16).map(|number| format!("WFS-o{number}")).collect();
    for id in &others {
        write_session(&sandbox, id, "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    }
    write_session(&sandbox, "WFS-main", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let tasks: Vec<String> = (1..=40).map(|number| format!("impl-{number}")).collect();
    for id in &tasks {
        let text = format!("{{\"id\":\"{id}\",\"title\":\"T {id}\",\"status\":\"pending\",\"theirs\":1.50}}");
        sandbox.write(&format!(".workflow/WFS-main/.task/{id}.json"), &text);
    }
    let starts = tasks.iter().map(|id| vec!["item", "start", id, "--session", "WFS-main"]);
    let closes = others.iter().map(|id| vec!["close", "--force", "--session", id]);
    let running: Vec<_> = starts
        .chain(closes)
        .map(|words| sandbox.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    assert_eq!(running.len(), 56);
    for child in running {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let current = state(&sandbox, "WFS-main")["progress"]["current_tasks"].clone();
    let mut current: Vec<&str> = current.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    current.sort_unstable();
    let mut expected: Vec<&str> = tasks.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(current, expected, "all of them are in one file");
    for id in &tasks {
        let file = task(&sandbox, "WFS-main", id);
        assert_eq!((&file["status"], &file["theirs"]), (&json!("active"), &json!(1.5)), "{id}");
    }
    let known = registered(&sandbox);
    assert_eq!(known.len(), 17);
    let completed = known.iter().filter(|(id, status)| status == "completed" && others.contains(id)).count();
    assert_eq!(completed, 16, "{known:?}");
    assert!(known.contains(&("WFS-main".to_owned(), "active".to_owned())), "{known:?}");
    sandbox.run(["doctor"]).ok();
}

/// A wrong value is reported with its file and field. The next write keeps the value.
#[test]
fn doubled_keys_and_wrong_types_are_told_with_their_file_and_kept() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let odd = sandbox.read(&state_of("WFS-a")).replacen(
        '{',
        "{\"project\":\"Old\",\"phases\":[1],\"session_id\":7,",
        1,
    );
    sandbox.write(&state_of("WFS-a"), &odd);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    let file = state_of("WFS-a");
    for words in ["project is set more than once; the last value is used", "phases is [1], not an object"] {
        assert!(told.contains(&format!("{file}: {words}")), "{words} in {told}");
    }
    assert!(told.contains("session_id is set more than once"), "{told}");
    assert_eq!(sandbox.read(&file), odd);
    sandbox.run(["pause"]).ok();
    let kept = sandbox.read(&file);
    assert!(kept.starts_with("{\"project\":\"Old\",\"phases\":[1],\"session_id\":7,"), "{kept}");
    assert_eq!(state(&sandbox, "WFS-a")["status"], "paused");
}

#[test]
fn a_link_in_the_place_of_a_task_or_of_the_registry_is_named_and_not_written_through() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let task = r#"{"id":"impl-1","title":"T","status":"pending"}"#;
    sandbox.write("elsewhere/impl-1.json", task);
    std::fs::create_dir_all(sandbox.path(".workflow/WFS-a/.task")).unwrap();
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(sandbox.path(to), sandbox.path(at)).unwrap();
    };
    link("elsewhere/impl-1.json", ".workflow/WFS-a/.task/impl-1.json");
    std::fs::rename(sandbox.path(REGISTRY), sandbox.path("elsewhere/registry")).unwrap();
    let lines = sandbox.read("elsewhere/registry");
    link("elsewhere/registry", REGISTRY);
    let status = sandbox.run(["status", "--json"]).ok().json();
    let said = status["warnings"].to_string();
    for path in [".workflow/WFS-a/.task/impl-1.json", REGISTRY] {
        assert!(said.contains(&format!("{path}: it is a link")), "{path} in {said}");
    }
    sandbox.run(["pause"]).ok();
    assert_eq!(state(&sandbox, "WFS-a")["status"], "paused", "its own file is written");
    assert_eq!(
        (sandbox.read("elsewhere/impl-1.json"), sandbox.read("elsewhere/registry")),
        (task.to_owned(), lines)
    );
    assert!(sandbox.path(REGISTRY).is_symlink(), "it is left to whoever put it there");
}

/// Somebody renamed or deleted the folder, and its line. The folder is not created again, and no second line
/// is active.
#[test]
fn a_session_that_somebody_renamed_or_deleted_comes_back_only_on_request() {
    for is_renamed in [true, false] {
        let sandbox = project();
        write_session(&sandbox, "WFS-old", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
        write_session(&sandbox, "WFS-other", "PLAN", "paused", "2026-11-13T09:00:00Z");
        sandbox.run(["note", "begun", "--session", "WFS-old"]).ok();
        let (old, new) = (sandbox.path(".workflow/WFS-old"), sandbox.path(".workflow/WFS-new"));
        let lines = sandbox.read(REGISTRY);
        if is_renamed {
            let file = sandbox.read(&state_of("WFS-old")).replace("WFS-old", "WFS-new");
            std::fs::rename(&old, &new).unwrap();
            sandbox.write(&state_of("WFS-new"), &file);
            sandbox.write(REGISTRY, &lines.replace("WFS-old", "WFS-new"));
        } else {
            std::fs::remove_dir_all(&old).unwrap();
            let kept: Vec<&str> = lines.lines().filter(|line| !line.contains("WFS-old")).collect();
            sandbox.write(REGISTRY, &format!("{}\n", kept.join("\n")));
        }
        let findings = sandbox.run(["doctor"]).code(4).stdout;
        assert!(findings.contains("folder_gone: session WFS-old"), "{findings}");
        let current = sandbox.run(["status", "--json"]).ok().json()["session_id"].clone();
        let words: &[&str] = if is_renamed { &["note", "on"] } else { &["resume", "WFS-other", "--yes"] };
        sandbox.run(words).ok();
        assert!(!old.exists(), "renamed: {is_renamed}");
        let active: Vec<String> = registered(&sandbox)
            .into_iter()
            .filter(|(_, status)| status == "active")
            .map(|(id, _)| id)
            .collect();
        let expected = if is_renamed { "WFS-new" } else { "WFS-other" };
        assert_eq!(active, [expected], "renamed: {is_renamed}");
        if is_renamed {
            assert_eq!(current, "WFS-new");
        }
        let refused = sandbox.run(["note", "x", "--session", "WFS-old"]).code(4).stderr;
        assert!(refused.contains("leftoff repair --session WFS-old"), "{refused}");
        sandbox.run(["repair", "--session", "WFS-old"]).ok();
        assert!(old.is_dir(), "on request");
        let active = registered(&sandbox).into_iter().filter(|(_, status)| status == "active").count();
        assert_eq!(active, 1, "renamed: {is_renamed}");
    }
}

/// Somebody renames a folder and leaves its line in the registry as it is: the work goes on in the new folder.
#[test]
fn a_folder_that_was_renamed_without_its_line_is_not_made_again_beside_the_new_one() {
    let sandbox = project();
    write_session(&sandbox, "WFS-old", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    sandbox.run(["note", "begun"]).ok();
    std::fs::rename(sandbox.path(".workflow/WFS-old"), sandbox.path(".workflow/WFS-new")).unwrap();
    let list = sandbox.run(["list", "--json"]).ok().json();
    let standing =
        |line: &Value| (line["session_id"].clone(), line["lifecycle"].clone(), line["current"].clone());
    let mut standing: Vec<_> = list["sessions"].as_array().unwrap().iter().map(standing).collect();
    standing.sort_by_key(|line| line.0.to_string());
    assert_eq!(
        standing,
        [(json!("WFS-new"), json!("active"), json!(true)), (json!("WFS-old"), json!("paused"), json!(false))]
    );
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-new");
    let refused = sandbox.run(["note", "x", "--session", "WFS-old"]).code(4).stderr;
    assert!(refused.contains("leftoff switch WFS-new"), "{refused}");
    sandbox.run(["note", "on"]).ok();
    assert!(!sandbox.path(".workflow/WFS-old").exists());
    let active = registered(&sandbox).into_iter().filter(|(_, status)| status == "active");
    assert_eq!(active.map(|(id, _)| id).collect::<Vec<_>>(), ["WFS-new"]);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-new");
}

/// A copy that no line lists does not take the place of the session that is registered as active.
#[test]
fn a_copied_folder_takes_nobodys_place() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    sandbox.run(["note", "begun"]).ok();
    let copy = sandbox.read(&state_of("WFS-a")).replace("2026-11-14T10", "2026-11-14T11");
    sandbox.write(&state_of("WFS-b"), &copy);
    sandbox.at("2026-11-14T12:00:00Z");
    let list = sandbox.run(["list", "--json"]).ok().json();
    let current = list["sessions"].as_array().unwrap().iter().find(|line| line["current"] == true).unwrap();
    assert_eq!((&current["session_id"], &current["lifecycle"]), (&json!("WFS-a"), &json!("active")));
    let said = list["warnings"].to_string();
    assert!(said.contains("only WFS-a is registered, so WFS-b counts as paused"), "{said}");
    sandbox.run(["switch", "WFS-b"]).ok();
    sandbox.run(["note", "here"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-b");
    assert_eq!(
        registered(&sandbox),
        [("WFS-a", "paused"), ("WFS-b", "active")].map(|(id, status)| (id.to_owned(), status.to_owned()))
    );
}

/// The status alone completes REVIEW, whether the tool lists the phase or not. No command asks the user to go back
/// to it.
#[test]
fn a_session_that_its_tool_completed_after_every_task_is_finished() {
    for completed in [json!(["PLAN", "IMPLEMENT", "REVIEW"]), json!(["PLAN", "IMPLEMENT"])] {
        let sandbox = project();
        write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
        sandbox.write(".workflow/WFS-a/IMPL_PLAN.md", "# Plan\n\nDo it.\n");
        sandbox.run(["item", "add", "Do it"]).ok();
        sandbox.run(["item", "done", "impl-1"]).ok();
        sandbox.run(["advance", "--phase", "implement"]).ok();
        sandbox.at("2026-11-14T10:30:00Z");
        let mut file = state(&sandbox, "WFS-a");
        file["status"] = "completed".into();
        file["progress"]["completed_phases"] = completed;
        sandbox.write(&state_of("WFS-a"), &file.to_string());
        sandbox.write(REGISTRY, &sandbox.read(REGISTRY).replace("\"active\"", "\"completed\""));
        let view = sandbox.run(["status", "--session", "WFS-a", "--json"]).ok().json();
        assert_eq!((&view["status"], &view["closed_over"]), (&"completed".into(), &Value::Null));
        assert_eq!(
            (&view["phases"][2]["outcome"], &view["next"]["command"]),
            (&"claimed".into(), &Value::Null)
        );
    }
}
