//! Claude-Code-Workflow, whose sessions share a registry: crashes at every step of a command that changes two
//! sessions, kills in the middle, a full disk. No line is lost, and one session is active.

use crate::views::STEPS;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use testkit::Sandbox;

const REGISTRY: &str = ".workflow/session_status.jsonl";
const BROKEN: &str = "{\"id\":\"WFS-torn";

/// Two sessions of leftoff, with a foreign line and an unreadable one in their registry.
fn two() -> Sandbox {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Two"]).ok();
    let lines = sandbox.read(REGISTRY);
    sandbox
        .write(REGISTRY, &format!("{{\"id\":\"WFS-theirs\",\"status\":\"completed\"}}\n{BROKEN}\n{lines}"));
    sandbox.run(["note", "seen"]).ok();
    sandbox
}

fn word(sandbox: &Sandbox, session: &str) -> (String, String) {
    let file = sandbox.read(&format!(".workflow/{session}/workflow-session.json"));
    let file: Value = serde_json::from_str(&file).expect("no file is torn");
    let text = sandbox.read(REGISTRY);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let own: Vec<Value> = lines.filter(|line| line["id"] == session).collect();
    assert_eq!(own.len(), 1, "{text}");
    (file["status"].as_str().unwrap().to_owned(), own[0]["status"].as_str().unwrap().to_owned())
}

#[track_caller]
fn check_whole(sandbox: &Sandbox, active: &str, paused: &str, when: &str) {
    assert_eq!(word(sandbox, active), ("active".to_owned(), "active".to_owned()), "{when}");
    assert_eq!(word(sandbox, paused), ("paused".to_owned(), "paused".to_owned()), "{when}");
    let text = sandbox.read(REGISTRY);
    assert!(text.contains("WFS-theirs") && text.contains(&format!("{BROKEN}\n")), "{when}: {text}");
    // Only the problems that existed before are reported.
    let told = sandbox.run(["doctor", "--json"]).code(4).json();
    let findings: Vec<&str> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(findings.len(), 1, "{when}: {findings:?}");
    assert!(findings[0].contains("line 2 is not a JSON object"), "{when}: {findings:?}");
}

#[test]
fn a_crash_at_each_step_of_a_switch_leaves_one_active_and_every_line() {
    for step in STEPS {
        let sandbox = two();
        let crashed = sandbox.command(["switch", "WFS-one"]).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((&view["session_id"], &view["status"]), (&"WFS-one".into(), &"active".into()), "{step}");
        sandbox.run(["note", "next"]).ok();
        sandbox.run(["repair"]).ok();
        check_whole(&sandbox, "WFS-one", "WFS-two", step);
        let log = sandbox.run(["log", "--session", "WFS-one"]).ok().stdout;
        assert!(!log.contains("changed by somebody else"), "{step}: {log}");
    }
}

#[test]
fn a_crash_in_a_start_leaves_a_session_that_can_be_gone_on_with() {
    for step in STEPS {
        let sandbox = two();
        let words = ["start", "--layout", "ccw", "--goal", "Three"];
        let crashed = sandbox.command(words).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        sandbox.run(["repair"]).ok();
        check_whole(&sandbox, "WFS-three", "WFS-two", step);
        // The plan's template and the task folder exist, at whatever step the command crashed.
        let template = sandbox.read(".workflow/WFS-three/IMPL_PLAN.md");
        assert!(template.starts_with("# Implementation plan: Three"), "{step}: {template}");
        assert!(sandbox.path(".workflow/WFS-three/.task").is_dir(), "{step}");
        sandbox.write(".workflow/WFS-three/IMPL_PLAN.md", "1. Go on\n");
        sandbox.run(["advance", "--phase", "plan"]).ok();
        assert_eq!(sandbox.read(".workflow/WFS-three/IMPL_PLAN.md"), "1. Go on\n", "{step}");
    }
}

/// Initial files belong to their users: a plan written after the crash stays, and a removed one does not come
/// back.
#[test]
fn a_plan_that_came_before_the_template_stays_and_one_that_was_taken_away_stays_away() {
    for step in ["after-append", "view-written-beside"] {
        let sandbox = two();
        let words = ["start", "--layout", "ccw", "--goal", "Three"];
        let crashed = sandbox.command(words).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        let told = sandbox.run(["doctor"]).code(4).stdout;
        assert!(told.contains("WFS-three/IMPL_PLAN.md is not there yet"), "{step}: {told}");
        let plan = ".workflow/WFS-three/IMPL_PLAN.md";
        sandbox.write(plan, "1. Mine\n");
        sandbox.run(["repair"]).ok();
        assert_eq!(sandbox.read(plan), "1. Mine\n", "{step}");
        std::fs::remove_file(sandbox.path(plan)).unwrap();
        sandbox.run(["note", "next"]).ok();
        sandbox.run(["repair"]).ok();
        assert!(!sandbox.path(plan).exists(), "{step}");
    }
}

/// The session's own file is up to date, and the registry is not: repairing it changes no other session's
/// line.
#[test]
fn a_crash_between_the_sessions_file_and_the_registry_is_told_and_mended() {
    let sandbox = two();
    let at = format!("view-before:{}", REGISTRY.trim_start_matches(".workflow/"));
    let crashed = sandbox.command(["switch", "WFS-one"]).env("LEFTOFF_TEST_CRASH", at).output();
    assert!(crashed.unwrap().status.code().is_none());
    assert_eq!(word(&sandbox, "WFS-one"), ("active".to_owned(), "paused".to_owned()));
    let text = sandbox.read(REGISTRY).replace("\"completed\"", "\"completed\",\"by\":\"them\"");
    sandbox.write(REGISTRY, &text);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("session WFS-one: .workflow/session_status.jsonl is older than the log"), "{told}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-one");
    sandbox.run(["repair"]).ok();
    check_whole(&sandbox, "WFS-one", "WFS-two", "before the registry");
    assert!(sandbox.read(REGISTRY).contains("\"by\":\"them\""));
}

#[test]
fn a_registry_that_is_gone_comes_back_with_everybodys_lines() {
    let sandbox = two();
    sandbox.run(["switch", "WFS-one"]).ok();
    std::fs::remove_file(sandbox.path(REGISTRY)).unwrap();
    sandbox.run(["repair"]).ok();
    check_whole(&sandbox, "WFS-one", "WFS-two", "the registry was gone");
}

/// Each session stores its own lines of the registry rather than the whole file: storage grows with the
/// number of sessions, not with its square.
#[test]
fn a_registry_of_thousands_is_not_kept_with_every_session() {
    let sandbox = crate::fresh();
    let line = |number: u32| {
        format!(
            "{{\"id\":\"WFS-n{number}\",\"status\":\"completed\",\"description\":\"{}\"}}\n",
            "x".repeat(120)
        )
    };
    let lines: String = (0..2_000).map(line).collect();
    sandbox.write(REGISTRY, &lines);
    for number in 0..12 {
        sandbox.run(["start", "--layout", "ccw", "--goal", &format!("Work {number}")]).ok();
    }
    for number in 0..12 {
        sandbox.run(["switch", &format!("WFS-work-{number}")]).ok();
    }
    let sizes = ["leftoff.db", "leftoff.db-wal"].map(|name| {
        std::fs::metadata(sandbox.path(&format!(".git/leftoff/{name}"))).map_or(0, |found| found.len())
    });
    let whole = 2 * lines.len() as u64;
    println!(
        "the registry has {} KB, the store {} KB for 12 sessions",
        whole / 2048,
        sizes.iter().sum::<u64>() / 1024
    );
    // A pending write is stored completely until it is written, and a switch writes two.
    assert!(sizes.iter().sum::<u64>() < 4 * whole, "{sizes:?} for a registry of {}", lines.len());
    assert!(sandbox.read(REGISTRY).starts_with(&lines), "no line of others has changed");
}

#[test]
fn kills_in_the_middle_of_switches_tear_nothing() {
    const KILLS: u64 = 60;
    let sandbox = two();
    let mut killed = 0;
    for round in 0..KILLS {
        let to = if round % 2 == 0 { "WFS-one" } else { "WFS-two" };
        let mut command = sandbox.command(["switch", to]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(500 + 397 * (round % 37)));
        killed += u64::from(child.kill().is_ok() && child.wait().unwrap().code().is_none());
        for session in ["WFS-one", "WFS-two"] {
            word(&sandbox, session);
        }
        assert!(sandbox.read(REGISTRY).contains("WFS-theirs"));
    }
    println!("{killed} of {KILLS} switches killed in the middle: no file torn, no line lost");
    assert!(killed > 5, "commands end before they are killed: {killed}");
    sandbox.run(["repair"]).ok();
    sandbox.run(["switch", "WFS-one"]).ok();
    check_whole(&sandbox, "WFS-one", "WFS-two", "after kills");
}

/// The switch crashes at each step, and so does the switch back.
#[test]
fn two_crashes_in_a_row_take_no_line_back() {
    const LAST: [&str; 3] = ["view-exchanged", "view-backed-up", "view-placed"];
    let sandbox = two();
    for place in 1.. {
        let crash = |to: &str, at: &str| {
            let crashed = sandbox.command(["switch", to]).env("LEFTOFF_TEST_CRASH", at).output();
            crashed.expect("the program starts").status.code().is_none()
        };
        if !crash("WFS-one", &format!("#{place}")) {
            assert!(place > 20, "a switch of two sessions has more places than {place}");
            break;
        }
        let last = LAST[place % LAST.len()];
        crash("WFS-two", last);
        sandbox.run(["repair"]).ok();
        sandbox.run(["switch", "WFS-one"]).ok();
        check_whole(&sandbox, "WFS-one", "WFS-two", &format!("{place}, then {last}"));
        sandbox.run(["switch", "WFS-two"]).ok();
    }
}

/// The crash came when only the other session's part was written.
#[test]
fn repair_writes_a_part_that_did_not_get_there() {
    for step in STEPS {
        let sandbox = two();
        let crashed = sandbox.command(["switch", "WFS-one"]).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        let word_of_the_log = sandbox.run(["status", "--session", "WFS-one", "--json"]).ok().json();
        assert_eq!(word_of_the_log["status"], "active", "{step}");
        sandbox.run(["repair"]).ok();
        check_whole(&sandbox, "WFS-one", "WFS-two", step);
        assert!(sandbox.run(["repair"]).ok().stdout.is_empty(), "{step}: twice is the same as once");
    }
}

#[test]
fn a_full_disk_leaves_every_file_whole_and_the_command_acknowledged() {
    let sandbox = two();
    let before = sandbox.read(REGISTRY);
    let full = sandbox.command(["switch", "WFS-one"]).env("LEFTOFF_TEST_FULL", "view").output().unwrap();
    assert!(full.status.success(), "{}", String::from_utf8_lossy(&full.stderr));
    assert_eq!(sandbox.read(REGISTRY), before);
    sandbox.run(["repair"]).ok();
    check_whole(&sandbox, "WFS-one", "WFS-two", "full disk");
}

const ACTIVE: &str = ".workflow/active/WFS-one";
const ARCHIVED: &str = ".workflow/archives/WFS-one";

/// A session in the folder of active ones, with a completed task and an open one.
fn among_the_active() -> Sandbox {
    let sandbox = crate::fresh();
    std::fs::create_dir_all(sandbox.path(".workflow/active")).unwrap();
    sandbox.run(["start", "--layout", "ccw", "--type", "simple", "--goal", "One"]).ok();
    for title in ["Done", "Open"] {
        sandbox.run(["item", "add", title]).ok();
    }
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.write(&format!("{ACTIVE}/REVIEW.md"), "Mine.\n");
    sandbox
}

/// Checks that the whole session is in one place, with every file complete; returns the place.
#[track_caller]
fn check_in_one_place(sandbox: &Sandbox, when: &str) -> &'static str {
    let there: Vec<&str> =
        [ACTIVE, ARCHIVED].into_iter().filter(|folder| sandbox.path(folder).exists()).collect();
    assert_eq!(there.len(), 1, "{when}: {there:?}");
    let folder = there[0];
    let read = |name: &str| -> Value {
        serde_json::from_str(&sandbox.read(&format!("{folder}/{name}"))).expect("no file is torn")
    };
    assert!(read("workflow-session.json")["session_id"] == "WFS-one", "{when}");
    let statuses =
        [&read(".task/IMPL-001.json")["status"], &read(".task/IMPL-002.json")["status"]].map(Clone::clone);
    assert_eq!(statuses, ["completed", "pending"], "{when}: no task is completed by it");
    assert_eq!(sandbox.read(&format!("{folder}/REVIEW.md")), "Mine.\n", "{when}");
    folder
}

/// An interrupted archive is either done or not done, and the next command finishes it.
#[test]
fn a_crash_at_each_step_of_archiving_leaves_one_whole_folder_and_is_finished_by_repair() {
    let steps = STEPS.into_iter().chain(["folder-before-move", "folder-moved"]);
    for step in steps {
        let sandbox = among_the_active();
        sandbox.allow_anyone(&["close"]);
        let crashed = sandbox.command(["close", "--force"]).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        check_in_one_place(&sandbox, step);
        let view = sandbox.run(["show", "WFS-one", "--json"]).ok().json();
        assert_eq!(
            view["status"], "completed",
            "{step}: what was acknowledged, or was about to be, is in the log"
        );
        sandbox.run(["repair"]).ok();
        assert_eq!(check_in_one_place(&sandbox, step), ARCHIVED);
        sandbox.run(["doctor"]).ok();
        let log = sandbox.run(["log", "--session", "WFS-one"]).ok().stdout;
        assert!(!log.contains("changed by somebody else"), "{step}: {log}");
        // Reopening the session is as safe.
        let crashed = sandbox.command(["reopen", "WFS-one"]).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        check_in_one_place(&sandbox, step);
        sandbox.run(["note", "goes on"]).ok();
        assert_eq!(check_in_one_place(&sandbox, step), ACTIVE);
        sandbox.run(["doctor"]).ok();
    }
}

#[test]
fn kills_in_the_middle_of_archiving_leave_one_whole_folder() {
    const KILLS: u64 = 60;
    let sandbox = among_the_active();
    sandbox.allow_anyone(&["close"]);
    let mut killed = 0;
    for round in 0..KILLS {
        let words: &[&str] = if round % 2 == 0 { &["close", "--force"] } else { &["reopen", "WFS-one"] };
        let mut command = sandbox.command(words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(500 + 397 * (round % 37)));
        killed += u64::from(child.kill().is_ok() && child.wait().unwrap().code().is_none());
        check_in_one_place(&sandbox, &format!("round {round}"));
    }
    println!("{killed} of {KILLS} archivings killed in the middle: one folder, nothing torn");
    assert!(killed > 5, "commands end before they are killed: {killed}");
    sandbox.run(["repair"]).ok();
    let status = sandbox.run(["show", "WFS-one", "--json"]).ok().json()["status"].clone();
    let expected = if status == "completed" { ARCHIVED } else { ACTIVE };
    assert_eq!(check_in_one_place(&sandbox, "at the end"), expected);
    sandbox.run(["doctor"]).ok();
}

/// The log has the end of the session, and the folder is moved as soon as that is possible.
#[test]
fn a_folder_that_cannot_be_moved_fails_nothing_and_is_moved_later() {
    let sandbox = among_the_active();
    // A foreign file is in place of the folder of archives.
    sandbox.write(".workflow/archives", "not a folder");
    let closed = sandbox.run(["close", "--force"]).ok();
    assert!(closed.stderr.contains("the session's files could not be written"), "{}", closed.stderr);
    assert_eq!(sandbox.run(["show", "WFS-one", "--json"]).ok().json()["status"], "completed");
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains(".workflow/active/WFS-one should be in .workflow/archives/WFS-one"), "{told}");
    std::fs::remove_file(sandbox.path(".workflow/archives")).unwrap();
    sandbox.run(["repair"]).ok();
    assert_eq!(check_in_one_place(&sandbox, "later"), ARCHIVED);
    sandbox.run(["doctor"]).ok();
}

/// There is at most one marker file, and it names the active session once everything is repaired.
#[test]
fn a_crash_at_each_step_of_a_switch_leaves_the_markers_to_be_mended() {
    let before = ["WFS-one", "WFS-two"].map(|session| format!("view-before:.active-{session}"));
    for step in STEPS.into_iter().chain(before.iter().map(String::as_str)) {
        let sandbox = two();
        sandbox.write(".workflow/.active-WFS-two", "");
        sandbox.run(["note", "taken in"]).ok();
        let crashed = sandbox.command(["switch", "WFS-one"]).env("LEFTOFF_TEST_CRASH", step).output();
        assert!(crashed.unwrap().status.code().is_none(), "{step} was not reached");
        assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-one", "{step}");
        sandbox.run(["repair"]).ok();
        let marked =
            ["WFS-one", "WFS-two"].map(|id| sandbox.path(&format!(".workflow/.active-{id}")).exists());
        assert_eq!(marked, [true, false], "{step}");
        check_whole(&sandbox, "WFS-one", "WFS-two", step);
        let log = sandbox.run(["log", "--session", "WFS-one"]).ok().stdout;
        assert!(!log.contains("changed by somebody else"), "{step}: {log}");
    }
}
