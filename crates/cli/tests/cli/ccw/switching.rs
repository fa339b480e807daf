//! Tests of the tool when it pauses, switches and ends sessions by writing files. The next command uses the
//! session that the tool left active.

use super::*;

/// Sets the status of a session as the tool's prompts do, in its state file and in the registry.
fn set_status(sandbox: &Sandbox, session: &str, from: &str, to: &str) {
    let text = sandbox.read(&state_of(session));
    let changed = text.replace(&format!("\"status\": \"{from}\""), &format!("\"status\": \"{to}\""));
    assert_ne!(text, changed, "{session} was not {from}: {text}");
    sandbox.write(&state_of(session), &changed);
    let registry = sandbox.read(REGISTRY);
    let own = |line: &str| line.contains(&format!("\"id\":\"{session}\""));
    let lines = registry.lines().map(|line| {
        let line = if own(line) {
            line.replace(&format!("\"{from}\""), &format!("\"{to}\""))
        } else {
            line.to_owned()
        };
        format!("{line}\n")
    });
    sandbox.write(REGISTRY, &lines.collect::<String>());
}

fn set_modified(sandbox: &Sandbox, path: &str, at: &str) {
    let at: jiff::Timestamp = at.parse().expect("a time");
    let file = std::fs::File::options().write(true).open(sandbox.path(path)).expect("a file");
    file.set_modified(at.into()).expect("a time that files can have");
}

fn two() -> Sandbox {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Two"]).ok();
    sandbox
}

#[track_caller]
fn check_registered(sandbox: &Sandbox, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(id, status)| ((*id).to_owned(), (*status).to_owned())).collect();
    assert_eq!(registered(sandbox), expected);
}

/// Commands read in the registry which session is active.
#[test]
fn a_switch_by_their_tool_is_followed_by_whatever_is_asked_next() {
    let sandbox = two();
    set_status(&sandbox, "WFS-two", "active", "paused");
    set_status(&sandbox, "WFS-one", "paused", "active");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-one");
    let noted = sandbox.run(["note", "goes to the one that is active now", "--json"]).ok().json();
    assert_eq!(noted["session_id"], "WFS-one");
    check_registered(&sandbox, &[("WFS-one", "active"), ("WFS-two", "paused")]);
    assert_eq!(state(&sandbox, "WFS-two")["status"], "paused");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn what_their_tool_paused_or_completed_is_in_nobodys_way() {
    let sandbox = two();
    set_status(&sandbox, "WFS-two", "active", "paused");
    let started = sandbox.run(["start", "--layout", "ccw", "--goal", "Three"]).ok();
    assert!(!started.stderr.contains("paused WFS-two"), "it was paused before: {}", started.stderr);
    set_status(&sandbox, "WFS-three", "active", "completed");
    sandbox.run(["switch", "WFS-one"]).ok();
    check_registered(&sandbox, &[("WFS-one", "active"), ("WFS-two", "paused"), ("WFS-three", "completed")]);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_start_pauses_the_session_that_their_tool_made_active() {
    let sandbox = two();
    set_status(&sandbox, "WFS-two", "active", "paused");
    set_status(&sandbox, "WFS-one", "paused", "active");
    let started = sandbox.run(["start", "--layout", "ccw", "--goal", "Three"]).ok();
    assert!(started.stderr.contains("paused WFS-one"), "{}", started.stderr);
    check_registered(&sandbox, &[("WFS-one", "paused"), ("WFS-two", "paused"), ("WFS-three", "active")]);
}

#[test]
fn an_active_session_of_theirs_comes_before_a_paused_one_of_ours() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    sandbox.run(["pause"]).ok();
    write_session(&sandbox, "WFS-theirs", "IMPLEMENT", "active", "2026-11-01T10:00:00Z");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-theirs");
    let paused = sandbox.run(["pause"]).ok();
    assert!(paused.stdout.contains("WFS-theirs paused"), "{}", paused.stdout);
    check_registered(&sandbox, &[("WFS-ours", "paused"), ("WFS-theirs", "paused")]);
}

/// If the files of several sessions say that they are active, the one that changed last stays active, with a
/// message. This also holds for sessions that leftoff started.
#[test]
fn of_several_of_ours_that_files_call_active_the_latest_stays() {
    let sandbox = two();
    sandbox.at("2026-11-14T11:00:00Z");
    set_status(&sandbox, "WFS-one", "paused", "active");
    let list = sandbox.run(["list", "--json"]).ok().json();
    let active: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().filter(|line| line["lifecycle"] == "active").collect();
    assert_eq!((active.len(), &active[0]["session_id"]), (1, &json!("WFS-one")));
    assert!(list["warnings"].to_string().contains("WFS-two counts as paused"), "{}", list["warnings"]);
    sandbox.run(["note", "makes it so"]).ok();
    check_registered(&sandbox, &[("WFS-one", "active"), ("WFS-two", "paused")]);
    assert_eq!(state(&sandbox, "WFS-two")["status"], "paused");
}

#[test]
fn repair_takes_a_switch_in_whichever_of_the_two_comes_first() {
    for (from, to) in [("WFS-two", "WFS-one"), ("WFS-one", "WFS-two")] {
        let sandbox = two();
        sandbox.run(["switch", from]).ok();
        set_status(&sandbox, from, "active", "paused");
        set_status(&sandbox, to, "paused", "active");
        sandbox.run(["repair"]).ok();
        sandbox.run(["doctor"]).ok();
        assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], to);
    }
}

/// A number from a list means the same session after another session of the list was adopted, and after a new
/// one was started.
#[test]
fn numbers_of_a_list_go_on_meaning_what_it_said() {
    let sandbox = project();
    for (id, day) in [("WFS-a", 10), ("WFS-b", 12), ("WFS-c", 11)] {
        write_session(&sandbox, id, "IMPLEMENT", "paused", &format!("2026-11-{day}T10:00:00Z"));
    }
    let numbers = |sandbox: &Sandbox| -> Vec<(String, u64)> {
        let list = sandbox.run(["list", "--json"]).ok().json();
        let lines = list["sessions"].as_array().unwrap().iter();
        let mut found: Vec<(String, u64)> = lines
            .map(|line| (line["session_id"].as_str().unwrap().to_owned(), line["number"].as_u64().unwrap()))
            .collect();
        found.sort();
        found
    };
    let before = numbers(&sandbox);
    assert_eq!(before.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [1, 2, 3]);
    for (id, number) in [("WFS-c", "3"), ("WFS-a", "1"), ("WFS-b", "2")] {
        assert_eq!(sandbox.run(["switch", number, "--json"]).ok().json()["session_id"], id);
        assert_eq!(numbers(&sandbox), before);
    }
    let other = project();
    write_session(&other, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    other.run(["start", "--goal", "Native"]).ok();
    assert_eq!(other.run(["switch", "1", "--json"]).ok().json()["session_id"], "WFS-a");
    let list = other.run(["list", "--json"]).ok().json();
    assert!(list["sessions"].as_array().unwrap().iter().any(|line| line["number"] == 2), "{list}");
}

#[test]
fn a_switch_in_the_registry_alone_is_followed_beside_a_native_session_and_that_is_said() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    sandbox.run(["start", "--layout", "native", "--id", "ours"]).ok();
    sandbox.at("2026-11-14T13:00:00Z");
    sandbox.write(REGISTRY, &sandbox.read(REGISTRY).replace("\"paused\"", "\"active\""));
    set_modified(&sandbox, &state_of("WFS-a"), "2026-11-10T10:00:00Z");
    set_modified(&sandbox, REGISTRY, "2026-11-14T12:00:00Z");
    let list = sandbox.run(["list", "--json"]).ok().json();
    let stands = |id: &str| {
        let lines = list["sessions"].as_array().unwrap();
        lines.iter().find(|line| line["session_id"] == id).unwrap()["lifecycle"].clone()
    };
    assert_eq!((stands("WFS-a"), stands("ours")), (json!("active"), json!("paused")), "{list}");
    assert!(list["warnings"].to_string().contains("so ours counts as paused"), "{list}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-a");
    let noted = sandbox.run(["note", "mine now"]).ok();
    assert!(noted.stderr.contains("paused ours"), "{}", noted.stderr);
    assert_eq!(state(&sandbox, "WFS-a")["status"], "active");
}
