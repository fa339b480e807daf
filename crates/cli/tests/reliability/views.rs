//! Files that show a session to another tool: crashes at every step, a reboot, a full disk. No edit is lost,
//! and no file is torn.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use testkit::Sandbox;

/// The points between the log and the file at which a process can end.
pub const STEPS: [&str; 5] =
    ["after-append", "view-written-beside", "view-exchanged", "view-in-place", "view-confirmed"];
const SESSION: &str = ".ocr/sessions/2026-11-14-main";

fn review() -> Sandbox {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "ocr", "--id", "2026-11-14-main"]).ok();
    sandbox.write(&format!("{SESSION}/discovered-standards.md"), "found\n");
    sandbox
}

fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!("{SESSION}/state.json"))
}

/// A file's content, which must be complete.
pub fn read(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes)
        .unwrap_or_else(|error| panic!("{} is torn: {error}: {bytes:?}", path.display()))
}

#[test]
fn a_crash_at_each_step_is_mended_by_the_next_command() {
    for place in STEPS {
        let sandbox = review();
        let crashed =
            sandbox.command(["advance", "--phase", "context"]).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        let before = read(&state(&sandbox));
        assert!(before["session_id"].is_string());
        assert_eq!(sandbox.names(".ocr/sessions"), ["2026-11-14-main"], "{place}: only sessions");
        if place == "view-written-beside" {
            assert!(waiting(&sandbox).exists(), "what is on its way lies inside the session's folder");
        }
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(view["current_phase"]["id"], "change-context", "{place}");
        sandbox.run(["note", "next"]).ok();
        assert_eq!(read(&state(&sandbox))["current_phase"], "change-context", "{place}");
        sandbox.run(["doctor"]).ok();
        let log = sandbox.run(["log"]).ok().stdout;
        assert!(
            !log.contains("changed by somebody else"),
            "{place}: our own bytes were taken for an edit: {log}"
        );
        assert!(!waiting(&sandbox).exists(), "{place}");
    }
}

#[test]
fn a_crash_in_a_start_leaves_a_review_that_can_be_gone_on_with() {
    // A file that did not exist is not exchanged.
    for place in STEPS.into_iter().filter(|place| *place != "view-exchanged") {
        let sandbox = crate::fresh();
        let words = ["start", "--layout", "ocr", "--id", "2026-11-14-main"];
        let crashed = sandbox.command(words).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        if sandbox.path(".ocr/sessions").exists() {
            assert_eq!(sandbox.names(".ocr/sessions"), ["2026-11-14-main"], "{place}: only sessions");
        }
        // The next command creates the folder, if the crash came before it was created.
        sandbox.run(["note", "heard"]).ok();
        assert_eq!(read(&state(&sandbox))["current_phase"], "context", "{place}");
        sandbox.write(&format!("{SESSION}/discovered-standards.md"), "found\n");
        sandbox.run(["advance", "--phase", "context"]).ok();
        assert_eq!(read(&state(&sandbox))["current_phase"], "change-context", "{place}");
        sandbox.run(["doctor"]).ok();
    }
}

/// The file in which our bytes wait before they replace another file.
fn waiting(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!("{SESSION}/.state.json.leftoff"))
}

/// Bytes that leftoff wrote earlier are a crash's leftover after a reboot, and an edit without one.
#[test]
fn old_bytes_are_a_leftover_after_a_reboot_and_an_edit_without_one() {
    for (boot, is_edit) in [(Some("another-start"), false), (None, true)] {
        let sandbox = review();
        let old = fs::read(state(&sandbox)).unwrap();
        sandbox.run(["advance", "--phase", "context"]).ok();
        let new = fs::read(state(&sandbox)).unwrap();
        fs::write(state(&sandbox), &old).unwrap();
        let run = |words: &[&str]| {
            let mut command = sandbox.command(words.iter().copied());
            if let Some(boot) = boot {
                command.env("LEFTOFF_TEST_BOOT", boot);
            }
            let done = command.output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8(done.stdout).unwrap()
        };
        run(&["note", "after"]);
        let log = run(&["log"]);
        assert_eq!(log.contains("changed by somebody else"), is_edit, "{log}");
        let view: Value = serde_json::from_str(&run(&["status", "--json"])).unwrap();
        if is_edit {
            assert_eq!(view["current_phase"]["id"], "context");
        } else {
            assert_eq!(view["current_phase"]["id"], "change-context");
            assert_eq!(fs::read(state(&sandbox)).unwrap(), new, "the view is written again");
        }
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_whole_and_the_command_is_done() {
    let sandbox = review();
    let before = fs::read(state(&sandbox)).unwrap();
    let done = sandbox
        .command(["advance", "--phase", "context", "--json"])
        .env("LEFTOFF_TEST_FULL", "view")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let view: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(view["view_stale"], true);
    assert_eq!(fs::read(state(&sandbox)).unwrap(), before);
    assert!(!sandbox.path(&format!("{SESSION}/.state.json.leftoff")).exists());
    let told = sandbox.run(["status"]).ok().stderr;
    assert!(told.contains("older than the log"), "{told}");
    sandbox.run(["repair"]).ok();
    assert_eq!(read(&state(&sandbox))["current_phase"], "change-context");
    sandbox.run(["doctor"]).ok();
}

/// Two edits while leftoff writes: the exchange returns the first one, and the second one replaces leftoff's
/// file.
#[test]
fn of_two_edits_in_a_row_the_later_one_stands_and_nothing_of_the_earlier_is_lost() {
    let sandbox = review();
    let crashed = sandbox
        .command(["advance", "--phase", "context"])
        .env("LEFTOFF_TEST_CRASH", "view-exchanged")
        .output();
    assert!(crashed.unwrap().status.code().is_none());
    let path = state(&sandbox);
    let waiting = path.with_file_name(".state.json.leftoff");
    let mut document = read(&waiting);
    document["edit"] = json!(1);
    document["earlier"] = json!("alone");
    document["current_phase"] = json!("analysis");
    fs::write(&waiting, document.to_string()).unwrap();
    document.as_object_mut().unwrap().remove("earlier");
    document["edit"] = json!(2);
    document["current_phase"] = json!("reviews");
    fs::write(&path, document.to_string()).unwrap();
    sandbox.run(["note", "next"]).ok();
    let there = read(&path);
    assert_eq!((&there["edit"], &there["earlier"]), (&json!(2), &json!("alone")), "{there}");
    assert_eq!(there["current_phase"], "reviews", "{there}");
    sandbox.run(["doctor"]).ok();
}

/// A command is in the log, but its file is not written yet when somebody edits the previous version.
#[test]
fn an_edit_of_the_version_before_takes_back_nothing_that_the_log_has() {
    for (place, is_there) in
        [("after-append", false), ("view-written-beside", false), ("view-exchanged", true)]
    {
        let sandbox = review();
        let crashed =
            sandbox.command(["advance", "--phase", "context"]).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        let mut document = read(&state(&sandbox));
        let phase = if is_there { "change-context" } else { "context" };
        assert_eq!(document["current_phase"], phase, "{place}");
        document["theirs"] = json!("kept");
        document["updated_at"] = document["started_at"].clone();
        fs::write(state(&sandbox), document.to_string()).unwrap();
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(view["current_phase"]["id"], "change-context", "{place}");
        sandbox.run(["note", "next"]).ok();
        let there = read(&state(&sandbox));
        assert_eq!((&there["current_phase"], &there["theirs"]), (&json!("change-context"), &json!("kept")));
        sandbox.run(["doctor"]).ok();
    }
}
