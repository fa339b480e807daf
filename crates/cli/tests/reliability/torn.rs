//! Session files that are being written, or unreadable for a while: an edit that truncates the file first is
//! not lost, and the leftovers of a failed write do not block later ones.

use crate::in_place::kept_elsewhere;
use crate::nobody::{Nobody, set_mode};
use engine::{Engine, Intent, Options, Request};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const SESSION: &str = "2026-11-14-main";

fn begun() -> (Sandbox, PathBuf) {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "ocr", "--id", SESSION]).ok();
    let file = sandbox.path(&format!(".ocr/sessions/{SESSION}/state.json"));
    (sandbox, file)
}

/// Opens and truncates the file, and writes it only after a pause, like an editor or a script. Returns how
/// long the file was empty.
fn write_slowly(file: &Path, text: &str, pause: Duration) -> Duration {
    let since = Instant::now();
    let mut open = OpenOptions::new().write(true).truncate(true).open(file).unwrap();
    std::thread::sleep(pause);
    open.write_all(text.as_bytes()).unwrap();
    since.elapsed()
}

fn edited(file: &Path, number: u64) -> String {
    let mut document: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    document["edit"] = json!(number);
    document.to_string()
}

#[test]
fn an_edit_that_is_being_written_while_we_write_is_not_lost() {
    let (sandbox, file) = begun();
    // An earlier command saw that the file stayed empty. A file that is empty now may still be about to be
    // written.
    let text = fs::read(&file).unwrap();
    fs::write(&file, "").unwrap();
    sandbox.run(["run", "start", "map"]).ok();
    fs::write(&file, text).unwrap();
    sandbox.run(["run", "start", "review"]).ok();
    let options = Options {
        project: Some(sandbox.project().to_owned()),
        session: Some(SESSION.to_owned()),
        ..Options::default()
    };
    let (mut in_time, mut beside) = (0, 0);
    for number in 1..=40 {
        let text = edited(&file, number);
        let empty_for = std::thread::scope(|scope| {
            let ours = scope.spawn(|| {
                let mut engine = Engine::open(options.clone(), Intent::Command).unwrap();
                engine.execute(Request::note(&format!("note {number}"))).unwrap();
                let workflow = Some(if number % 2 == 0 { "review" } else { "map" }.to_owned());
                engine.execute(Request::StartRun { workflow }).unwrap();
            });
            std::thread::sleep(Duration::from_micros(number * 250));
            let empty_for = write_slowly(&file, &text, Duration::from_millis(8));
            ours.join().unwrap();
            empty_for
        });
        sandbox.run(["note", "afterwards", "--session", SESSION]).ok();
        // On a busy machine, the file may have been empty for longer than anybody waits.
        if empty_for > Duration::from_millis(35) {
            continue;
        }
        in_time += 1;
        let found: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        if found["edit"] != number {
            let has_it =
                |text: &String| serde_json::from_str::<Value>(text).is_ok_and(|kept| kept["edit"] == number);
            assert!(kept_elsewhere(&sandbox, &file).iter().any(has_it), "edit {number} is lost: {found}");
            beside += 1;
        }
    }
    println!(
        "{in_time} edits that were being written while we wrote: none lost, {beside} kept beside the file"
    );
    assert!(in_time > 0, "the machine is too busy to tell");
    assert!(beside * 10 <= in_time, "{beside} of {in_time} edits are only beside the file");
}

#[test]
fn a_file_that_nobody_may_read_wedges_nothing_once_it_can_be_read_again() {
    let (sandbox, file) = begun();
    let nobody = Nobody::in_sandbox(&sandbox);
    set_mode(&file, 0o000);
    nobody.run(&["repair"]);
    set_mode(&file, 0o644);
    let waiting = file.with_file_name(".state.json.leftoff");
    assert!(!waiting.exists(), "what could not be put in its place is left lying");
    // The leftover is one of an earlier version.
    fs::copy(&file, &waiting).unwrap();
    set_mode(&waiting, 0o000);
    crate::nobody::give_away(sandbox.folder());
    let said = nobody.run(&["run", "start", "map"]).ok();
    assert!(!said.stderr.contains("keeps changing"), "{}", said.stderr);
    let found: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(found["workflow_type"], "map");
    nobody.run(&["doctor"]).ok();
}
