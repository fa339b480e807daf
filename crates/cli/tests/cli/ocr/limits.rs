//! Tests of folders and files beyond the limits, and of files of unexpected kinds.

use super::*;
use serde_json::json;

fn at_reviews() -> Value {
    json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": "reviews",
        "phase_number": 4, "current_round": 1, "started_at": "2026-11-14T09:00:00Z",
        "round_started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:50:00Z" })
}

/// A number of files that is greater than leftoff reads.
const TOO_MANY: usize = 10_050;

/// Creates so many files that a reader that follows the order of the folder finds the state too late.
fn fill(sandbox: &Sandbox, folder: &str) {
    let folder = sandbox.path(&format!("{FOLDER}/{folder}"));
    std::fs::create_dir_all(&folder).unwrap();
    for batch in 0..6 {
        for number in 0..TOO_MANY {
            std::fs::File::create(folder.join(format!("{batch}-{number}.txt"))).unwrap();
        }
        let mut entries = std::fs::read_dir(&folder).unwrap();
        let before_state = entries.position(|entry| entry.unwrap().file_name() == "state.json");
        if before_state.is_none_or(|before| before > TOO_MANY) {
            return;
        }
    }
}

#[test]
fn a_state_is_read_beside_any_number_of_other_files() {
    for (is_known, full) in [(true, ""), (false, "rounds/round-1/reviews")] {
        let sandbox = project();
        foreign(&sandbox, ID, &at_reviews());
        if is_known {
            sandbox.run(["note", "taken in"]).ok();
        }
        fill(&sandbox, full);
        let mut fields = at_reviews();
        fields["current_phase"] = "discourse".into();
        fields["phase_number"] = 6.into();
        foreign(&sandbox, ID, &fields);
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(phase(&view), "discourse", "known: {is_known}, in {full:?}");
        let folder = format!("{FOLDER}/{full}");
        let expected = format!("{}: there are more than 10000 files", folder.trim_end_matches('/'));
        assert!(warnings(&view).contains(&expected), "{expected} is not in {}", warnings(&view));
        sandbox.run(["note", "goes on"]).ok();
        assert_eq!(state(&sandbox)["current_phase"], "discourse");
    }
}

#[test]
fn a_folder_of_somebody_elses_in_a_session_hides_nothing() {
    let sandbox = begun();
    fill(&sandbox, "cache");
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:01:00Z");
    sandbox.at("2026-11-14T10:02:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert!(warnings(&view).contains("rounds/round-1/final.md exists"), "{view}");
    assert_eq!(view["warnings"].as_array().unwrap().len(), 1, "{view}");
}

#[test]
fn a_byte_order_mark_is_not_written_back_and_carriage_returns_are() {
    for is_known in [false, true] {
        let sandbox = project();
        let path = format!("{FOLDER}/state.json");
        let text = serde_json::to_string_pretty(&at_reviews()).unwrap().replace('\n', "\r\n");
        sandbox.write(&path, &format!("\u{feff}{text}"));
        if is_known {
            sandbox.run(["note", "says nothing that the file could say"]).ok();
            assert_eq!(sandbox.read(&path), format!("\u{feff}{text}"), "it is left to its owner");
        }
        sandbox.run(["skip", "--reason", "known", "--session", ID]).ok();
        let written = sandbox.read(&path);
        assert!(written.starts_with("{\r\n"), "{written:?}");
        assert!(written.contains("\r\n  \"phase_number\": 5,\r\n"), "{written:?}");
        assert!(sandbox.read(&format!("{path}.bak")).starts_with('\u{feff}'));
    }
}

#[test]
fn a_review_that_is_too_large_is_named_and_not_counted_as_without_findings() {
    for is_known in [false, true] {
        let sandbox = project();
        foreign(&sandbox, ID, &at_reviews());
        if is_known {
            sandbox.run(["note", "taken in"]).ok();
        }
        artifact(&sandbox, "rounds/round-1/reviews/long-1.md", &"## Finding\n".repeat(100_000));
        artifact(&sandbox, "rounds/round-1/reviews/short-1.md", "## Finding\n");
        let shown = sandbox.run(["progress", "--once"]).ok();
        let expected = format!("{FOLDER}/rounds/round-1/reviews/long-1.md: it is larger than 1048576 bytes");
        assert!(shown.stderr.contains(&expected), "known: {is_known}: {}", shown.stderr);
        assert!(shown.stdout.contains("  long-1: not readable\n  short-1: 1 finding\n"), "{}", shown.stdout);
    }
}

#[test]
fn a_round_without_a_folder_that_is_not_the_next_one_is_told() {
    let sandbox = project();
    let at = |round: u32, shown: u32| {
        let mut fields = at_reviews();
        fields["current_round"] = round.into();
        foreign(&sandbox, ID, &fields);
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((phase(&view), &view["run"]["ordinal"]), ("reviews", &shown.into()));
        warnings(&view)
    };
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    assert_eq!(at(2, 2), "", "its folder comes with its first file");
    let expected = "current_round is 5, but the last folder is rounds/round-1; the folder is used";
    assert!(at(5, 1).contains(expected));
    sandbox.run(["skip", "--reason", "known", "--session", ID]).ok();
    assert_eq!(state(&sandbox)["current_round"], 1, "set right by the first change");
}

#[test]
fn the_same_damage_twice_is_kept_twice_for_whoever_still_writes_the_first() {
    let sandbox = begun();
    for _ in 0..2 {
        sandbox.write(&format!("{FOLDER}/state.json"), "{\"session_id\"");
        let said = sandbox.run(["note", "goes on"]).ok().stderr;
        assert!(said.contains("it was quarantined"), "{said}");
        assert_eq!(state(&sandbox)["current_phase"], "context");
    }
    let kept = everything(&sandbox.path(&format!(".leftoff/aside/{ID}")));
    assert_eq!(
        kept.into_values().collect::<Vec<_>>(),
        [b"{\"session_id\"".to_vec(), b"{\"session_id\"".to_vec()]
    );
}

#[test]
fn other_bytes_of_the_same_size_and_time_are_an_edit() {
    let sandbox = begun();
    let path = sandbox.path(&format!("{FOLDER}/state.json"));
    let before = std::fs::metadata(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let other = text.replace("\"phase_number\": 1", "\"phase_number\": 3");
    std::fs::write(&path, &other).unwrap();
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!((after.len(), after.modified().unwrap()), (before.len(), before.modified().unwrap()));
    assert_eq!(phase(&sandbox.run(["status", "--json"]).ok().json()), "analysis");
}

#[test]
fn a_link_in_the_place_of_a_known_sessions_folder_is_not_followed() {
    let sandbox = begun();
    let elsewhere = sandbox.folder().join("elsewhere");
    std::fs::rename(sandbox.path(FOLDER), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.path(FOLDER)).unwrap();
    let theirs = std::fs::read_to_string(elsewhere.join("state.json")).unwrap();
    let theirs =
        theirs.replace("\"context\"", "\"reviews\"").replace("\"phase_number\": 1", "\"phase_number\": 4");
    std::fs::write(elsewhere.join("state.json"), theirs).unwrap();
    let before = everything(&elsewhere);
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    assert_eq!(phase(&view), "context", "the log goes on, and what the link leads to is no part of it");
    sandbox.run(["skip", "--reason", "known", "--session", ID]).ok();
    assert_eq!(everything(&elsewhere), before, "nothing is written where it leads to");
    assert!(sandbox.path(FOLDER).is_symlink());
}
