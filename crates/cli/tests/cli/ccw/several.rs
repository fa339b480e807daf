//! Tests of having only one active session, and of many writers at the same time.

use super::*;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn of_several_active_ones_the_latest_stays_and_the_others_are_paused_and_it_is_said_once() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    write_session(&sandbox, "WFS-c", "IMPLEMENT", "active", "2026-11-11T10:00:00Z");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-b");
    let list = sandbox.run(["list", "--json"]).ok().json();
    let active: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().filter(|line| line["lifecycle"] == "active").collect();
    assert_eq!((active.len(), &active[0]["session_id"]), (1, &json!("WFS-b")));
    let said = list["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|warning| warning["kind"] == "several_active")
        .count();
    assert_eq!(said, 2, "once for each that counts as paused");
    // The next command writes the change to disk.
    sandbox.run(["pause"]).ok();
    sandbox.run(["resume", "WFS-b"]).ok();
    assert_eq!(
        registered(&sandbox),
        [("WFS-a", "paused"), ("WFS-b", "active"), ("WFS-c", "paused")]
            .map(|(id, status)| (id.to_owned(), status.to_owned()))
    );
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert!(!list["warnings"].to_string().contains("several_active"), "said once: {}", list["warnings"]);
}

/// Three sessions that are all marked active. They changed in the order b, a, c.
fn three_active() -> Sandbox {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-11T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    write_session(&sandbox, "WFS-c", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    sandbox
}

#[test]
fn when_the_latest_of_several_stops_no_other_takes_its_place_unasked() {
    for (words, after) in [(&["pause"][..], "paused"), (&["close", "--force"], "completed")] {
        let sandbox = three_active();
        let stopped = sandbox.run(words.iter().copied()).ok();
        assert!(
            stopped.stderr.contains("paused WFS-a") && stopped.stderr.contains("paused WFS-c"),
            "it is said: {}",
            stopped.stderr
        );
        assert_eq!(
            registered(&sandbox),
            [("WFS-a", "paused"), ("WFS-b", after), ("WFS-c", "paused")]
                .map(|(id, status)| (id.to_owned(), status.to_owned()))
        );
        // `resume` continues the session that was paused last. If none was paused, it continues the one that
        // was active last.
        let resumed = sandbox.run(["resume", "--json"]).ok().json();
        assert_eq!(resumed["session_id"], if after == "paused" { "WFS-b" } else { "WFS-a" });
    }
}

#[test]
fn a_native_session_that_ends_leaves_no_other_active() {
    let sandbox = project();
    sandbox.run(["start", "--id", "ours"]).ok();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    let closed = sandbox.run(["close", "--force"]).ok();
    assert!(closed.stderr.contains("paused WFS-a"), "{}", closed.stderr);
    assert_eq!(state(&sandbox, "WFS-a")["status"], "paused");
}

#[test]
fn a_session_without_any_time_is_not_in_its_own_way() {
    let sandbox = project();
    sandbox.write(&state_of("WFS-bare"), r#"{"current_phase":"IMPLEMENT","status":"active"}"#);
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&status["status"], &status["warnings"]), (&json!("active"), &json!([])));
    sandbox.run(["item", "add", "Works"]).ok();
    assert_eq!(task(&sandbox, "WFS-bare", "impl-1")["title"], "Works");
}

#[test]
fn a_session_that_somebody_made_active_by_hand_takes_the_place_of_ours() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Two"]).ok();
    let text = sandbox.read(&state_of("WFS-one")).replace("\"paused\"", "\"active\"");
    sandbox.write(&state_of("WFS-one"), &text);
    sandbox.run(["note", "mine now", "--session", "WFS-one"]).ok();
    assert_eq!(
        registered(&sandbox),
        [("WFS-one".to_owned(), "active".to_owned()), ("WFS-two".to_owned(), "paused".to_owned())]
    );
    assert_eq!(state(&sandbox, "WFS-two")["status"], "paused");
}

#[test]
fn a_native_session_and_one_of_this_layout_are_never_active_at_once() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    let started = sandbox.run(["start", "--goal", "Native"]).ok();
    assert!(started.stderr.contains("paused WFS-a"), "{}", started.stderr);
    assert_eq!(state(&sandbox, "WFS-a")["status"], "paused");
}

/// The original tool lost nine of 56 parallel updates, and tore some files.
#[test]
fn fifty_six_parallel_updates_lose_nothing() {
    let sandbox = project();
    let sessions = ["WFS-p0", "WFS-p1", "WFS-p2", "WFS-p3", "WFS-p4", "WFS-p5", "WFS-p6"];
    for session in sessions {
        write_session(&sandbox, session, "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
        sandbox.run(["resume", session]).ok();
    }
    let mut running = Vec::new();
    for number in 0..8 {
        for session in sessions {
            let title = format!("Task {number}");
            let mut command = sandbox.command(["item", "add", &title, "--session", session]);
            // Only one of the sessions is active, and the others are paused. A note can be added to any of
            // them.
            if session != "WFS-p6" {
                command = sandbox.command(["note", &title, "--session", session]);
            }
            running.push(
                command
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap(),
            );
        }
    }
    for child in running {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let tasks = std::fs::read_dir(sandbox.path(".workflow/WFS-p6/.task")).unwrap();
    let names: Vec<String> = tasks
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.strip_suffix(".json").is_some())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    for session in &sessions[..6] {
        let log = sandbox.run(["log", "--session", session]).ok().stdout;
        assert_eq!(log.matches("Task ").count(), 8, "{log}");
        assert_eq!(state(&sandbox, session)["stats"]["kept"], 1.5);
    }
    let known = registered(&sandbox);
    assert_eq!(known.len(), 7);
    assert_eq!(known.iter().filter(|(_, status)| status == "active").count(), 1);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn other_sessions_lines_survive_a_writer_that_comes_between() {
    let sandbox = project();
    write_session(&sandbox, "WFS-ours", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    sandbox.run(["note", "taken in"]).ok();
    // The tool adds a session of its own to the registry, next to leftoff's.
    write_session(&sandbox, "WFS-theirs", "PLAN", "paused", "2026-11-11T10:00:00Z");
    sandbox.run(["pause"]).ok();
    assert_eq!(
        registered(&sandbox),
        [("WFS-ours".to_owned(), "paused".to_owned()), ("WFS-theirs".to_owned(), "paused".to_owned())]
    );
    let log = sandbox.run(["log", "--session", "WFS-ours"]).ok().stdout;
    assert!(
        !log.contains("changed by somebody else: .workflow/session_status.jsonl"),
        "not its own line: {log}"
    );
}

/// The tool appends lines at the moment at which leftoff exchanges the file.
#[test]
fn lines_that_others_append_while_we_write_are_never_lost() {
    let sandbox = project();
    write_session(&sandbox, "WFS-ours", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    sandbox.run(["note", "taken in"]).ok();
    let (path, stop) = (sandbox.path(REGISTRY), AtomicBool::new(false));
    let appended = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) && count < 20_000 {
                let line = format!("{{\"id\":\"WFS-f{count}\",\"status\":\"paused\"}}\n");
                let file = OpenOptions::new().append(true).open(&path).unwrap();
                std::thread::yield_now();
                (&file).write_all(line.as_bytes()).unwrap();
                count += 1;
            }
            count
        });
        for _ in 0..15 {
            sandbox.run(["pause"]).ok();
            sandbox.run(["resume", "--yes"]).ok();
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    sandbox.run(["note", "whatever came last is seen now"]).ok();
    sandbox.run(["repair"]).ok();
    let known: std::collections::BTreeSet<String> =
        registered(&sandbox).into_iter().map(|(id, _)| id).collect();
    let lost: Vec<i32> = (0..appended).filter(|number| !known.contains(&format!("WFS-f{number}"))).collect();
    println!("{appended} lines appended during 30 writes, {} lost", lost.len());
    assert!(appended > 100 && lost.is_empty(), "{} of {appended} lost: {lost:?}", lost.len());
    assert!(known.contains("WFS-ours"));
}

/// If several sessions are marked active, the one that changed last stays active. `doctor` reports each of
/// the others. `repair` pauses them, so that they are not reported again.
#[test]
fn repair_pauses_all_but_the_latest_of_several_that_are_called_active() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    write_session(&sandbox, "WFS-c", "IMPLEMENT", "active", "2026-11-11T10:00:00Z");
    let latest = sandbox.read(&state_of("WFS-b"));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    for id in ["WFS-a", "WFS-c"] {
        assert!(told.contains(&format!("WFS-b changed last, so {id} counts as paused")), "{told}");
    }
    assert!(told.contains("leftoff repair"), "{told}");
    let mended = sandbox.run(["repair"]).ok().stdout;
    assert!(mended.contains("WFS-a: repaired") && mended.contains("so WFS-c was paused"), "{mended}");
    let expected = [("WFS-a", "paused"), ("WFS-b", "active"), ("WFS-c", "paused")];
    assert_eq!(registered(&sandbox), expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    assert_eq!(
        (&state(&sandbox, "WFS-a")["status"], &state(&sandbox, "WFS-a")["stats"]["kept"]),
        (&json!("paused"), &json!(1.5))
    );
    assert_eq!(sandbox.read(&state_of("WFS-b")), latest, "the one that stays is left to its tool");
    sandbox.run(["doctor"]).ok();
    assert!(sandbox.run(["repair"]).ok().stderr.contains("nothing to repair"));
}

#[test]
fn a_start_says_of_each_session_that_was_called_active_that_it_is_paused() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    write_session(&sandbox, "WFS-c", "IMPLEMENT", "paused", "2026-11-13T10:00:00Z");
    let said = sandbox.run(["start", "--layout", "ccw", "--goal", "New"]).ok().stderr;
    assert!(said.contains("paused WFS-a (") && said.contains("paused WFS-b ("), "{said}");
    assert!(!said.contains("paused WFS-c"), "{said}");
    assert_eq!(registered(&sandbox).iter().filter(|(_, status)| status == "active").count(), 1);
}

/// Both sessions are known and paused. The tool activates one and then the other. The registry has only one
/// modification time for both.
#[test]
fn of_two_that_their_tool_made_active_the_one_that_it_changed_last_stays() {
    for then in [&["note", "heard"][..], &["repair"]] {
        let sandbox = project();
        for goal in ["aaa", "zzz"] {
            sandbox.run(["start", "--layout", "ccw", "--goal", goal]).ok();
        }
        sandbox.run(["pause"]).ok();
        for (id, at) in [("WFS-zzz", "2026-11-14T10:30:00Z"), ("WFS-aaa", "2026-11-14T12:00:00Z")] {
            let mut fields = state(&sandbox, id);
            fields["status"] = "active".into();
            write_at(&sandbox, &state_of(id), &fields.to_string(), at);
        }
        let registry = ".workflow/session_status.jsonl";
        let both = sandbox.read(registry).replace("\"paused\"", "\"active\"");
        write_at(&sandbox, registry, &both, "2026-11-14T12:00:00Z");
        sandbox.at("2026-11-14T12:05:00Z");
        let list = sandbox.run(["list", "--json"]).ok().json();
        let ids: Vec<&Value> =
            list["sessions"].as_array().unwrap().iter().map(|line| &line["session_id"]).collect();
        assert_eq!(ids, ["WFS-aaa", "WFS-zzz"], "the last that was active is the first");
        assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-aaa");
        sandbox.run(then).ok();
        let expected = [("WFS-aaa", "active"), ("WFS-zzz", "paused")];
        assert_eq!(
            registered(&sandbox),
            expected.map(|(id, status)| (id.to_owned(), status.to_owned())),
            "{then:?}"
        );
    }
}

/// One session is active in the log, and an external edit activates another one. The edit is made before or
/// after the last change of the first session.
#[test]
fn switching_to_one_of_two_that_files_call_active_pauses_the_other() {
    for edited_at in ["2026-11-14T09:00:00Z", "2026-11-14T12:00:00Z"] {
        let sandbox = project();
        for goal in ["aaa", "zzz"] {
            sandbox.run(["start", "--layout", "ccw", "--goal", goal]).ok();
        }
        let mut fields = state(&sandbox, "WFS-aaa");
        fields["status"] = "active".into();
        write_at(&sandbox, &state_of("WFS-aaa"), &fields.to_string(), edited_at);
        let registry = ".workflow/session_status.jsonl";
        let both = sandbox.read(registry).replace("\"paused\"", "\"active\"");
        write_at(&sandbox, registry, &both, edited_at);
        sandbox.at("2026-11-14T12:05:00Z");
        let switched = sandbox.run(["switch", "WFS-aaa"]).ok();
        assert!(switched.stderr.contains("paused WFS-zzz"), "{}", switched.stderr);
        let expected = [("WFS-aaa", "active"), ("WFS-zzz", "paused")];
        assert_eq!(
            registered(&sandbox),
            expected.map(|(id, status)| (id.to_owned(), status.to_owned())),
            "{edited_at}"
        );
        assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-aaa");
    }
}

fn write_at(sandbox: &Sandbox, path: &str, text: &str, moment: &str) {
    sandbox.write(path, text);
    let moment: jiff::Timestamp = moment.parse().unwrap();
    let file = OpenOptions::new().append(true).open(sandbox.path(path)).unwrap();
    file.set_modified(std::time::SystemTime::from(moment)).unwrap();
}
