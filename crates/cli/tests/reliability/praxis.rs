//! Files of praxis OS under kills, crashes and another writer. Its own writer left every file unreadable after a kill.

use engine::{AdvanceRequest, Engine, Intent, Options};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const NAME: &str = "5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77";

/// A session of the first shape, with a phase to go back and forth in.
fn project() -> Sandbox {
    let sandbox = crate::fresh();
    let file = json!({
        "session_id": NAME, "workflow_type": "ship_v1", "target_file": "docs/import.md", "current_phase": 0,
        "completed_phases": [], "phase_artifacts": {}, "checkpoints": {}, "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:00:00", "metadata": {"total_phases": 3, "theirs": "kept"},
    });
    sandbox.write(
        &format!(".praxis-os/.cache/state/{NAME}.json"),
        &serde_json::to_string_pretty(&file).unwrap(),
    );
    sandbox.run(["advance", "--phase", "0", "--session", NAME]).ok();
    sandbox
}

fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!(".praxis-os/.cache/state/{NAME}.json"))
}

fn read(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes)
        .unwrap_or_else(|error| panic!("{} is torn: {error}: {bytes:?}", path.display()))
}

#[test]
fn a_hundred_kills_leave_every_file_whole() {
    let sandbox = project();
    let (path, backup) = (state(&sandbox), state(&sandbox).with_file_name(format!("{NAME}.json.bak")));
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let (mut killed, mut finished) = (0, 0);
    while killed < 100 {
        let words: &[&str] =
            if (killed + finished) % 2 == 0 { &["rollback", "0"] } else { &["advance", "--phase", "0"] };
        let mut command = sandbox.command(words.iter().copied().chain(["--session", NAME]));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((seed >> 33) % 14_000));
        child.kill().unwrap();
        match child.wait().unwrap().code() {
            Some(_) => finished += 1,
            None => killed += 1,
        }
        assert_eq!((&read(&path)["session_id"], &read(&backup)["session_id"]), (&json!(NAME), &json!(NAME)));
        assert!(finished < 2_000, "commands end before they are killed");
    }
    println!("{killed} kills in the middle of commands ({finished} had ended before): no file torn or empty");
    sandbox.run(["repair"]).ok();
    sandbox.run(["doctor"]).ok();
    let view = sandbox.run(["status", "--session", NAME, "--json"]).ok().json();
    let file = read(&path);
    assert_eq!(
        (&file["current_phase"], &file["metadata"]["theirs"]),
        (&view["current_phase"]["number"], &json!("kept"))
    );
}

#[test]
fn a_crash_at_each_step_is_mended_by_the_next_command() {
    for place in ["after-append", "view-written-beside", "view-exchanged", "view-in-place", "view-confirmed"]
    {
        let sandbox = project();
        let mut command =
            sandbox.command(["advance", "--phase", "1", "--session", NAME, "--evidence", "n=1"]);
        let crashed = command.env("LEFTOFF_TEST_CRASH", place).output().unwrap();
        assert!(crashed.status.code().is_none(), "{place} was not reached");
        assert_eq!(read(&state(&sandbox))["session_id"], NAME);
        let view = sandbox.run(["status", "--session", NAME, "--json"]).ok().json();
        assert_eq!(view["current_phase"]["number"], 2, "{place}");
        sandbox.run(["note", "next", "--session", NAME]).ok();
        let file = read(&state(&sandbox));
        assert_eq!(
            (&file["current_phase"], &file["phase_artifacts"]["1"]["evidence"]),
            (&json!(2), &json!({"n": 1}))
        );
        sandbox.run(["doctor"]).ok();
    }
}

/// Another program edits the file while we write it; every edit is there in the end.
#[test]
fn edits_that_race_our_writes_are_not_lost() {
    const EDITS: u64 = 1_500;
    let sandbox = project();
    let (path, project) = (state(&sandbox), sandbox.project().to_owned());
    let (stop, ours) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut made = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| write_until(&project, &stop, &ours));
        // On until there was a race: a busy machine may let hardly a command of ours through.
        while made < EDITS || ours.load(Ordering::Relaxed) <= 20 {
            made += 1;
            let number = made;
            let until = Instant::now() + Duration::from_mins(1);
            let mut document = read(&path);
            while document["metadata"]["edit"].as_u64().unwrap_or(0) != number - 1 {
                assert!(Instant::now() < until, "edit {} did not come back: {document}", number - 1);
                document = read(&path);
            }
            document["metadata"]["edit"] = json!(number);
            let temporary = path.with_file_name("theirs.tmp");
            fs::write(&temporary, document.to_string()).unwrap();
            fs::rename(&temporary, &path).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    let ours = ours.load(Ordering::Relaxed);
    println!("{made} foreign edits against {ours} commands of ours: none lost");
    sandbox.run(["note", "afterwards", "--session", NAME]).ok();
    assert_eq!(read(&path)["metadata"]["edit"], made);
    sandbox.run(["doctor"]).ok();
}

fn write_until(project: &Path, stop: &AtomicBool, ours: &AtomicU64) {
    let options =
        Options { project: Some(project.to_owned()), session: Some(NAME.to_owned()), ..Options::default() };
    while !stop.load(Ordering::Relaxed) {
        let mut engine = Engine::open(options.clone(), Intent::Command).unwrap();
        // The other program may put an older phase back at any time: a refusal is an answer.
        let step = if ours.load(Ordering::Relaxed).is_multiple_of(2) {
            let request = AdvanceRequest { phase: Some("1".to_owned()), ..AdvanceRequest::default() };
            engine.advance(&request)
        } else {
            engine.roll_back("1", None)
        };
        if let Ok(answer) = step {
            assert!(!answer.view.view_stale, "{:?}", answer.view.warnings);
        }
        ours.fetch_add(1, Ordering::Relaxed);
    }
}
