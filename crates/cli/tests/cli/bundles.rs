//! Tests of a session that is carried to another machine and back.

use crate::git;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use testkit::Sandbox;

fn with_work() -> Sandbox {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/ship.toml",
        "name = \"ship\"\nversion = \"1\"\ntitle = \"Ship\"\n[[phase]]\nid = \"plan\"\ntitle = \"Plan\"\nproduces = [\"PLAN.md\"]\n[[phase.check]]\nid = \"plan\"\nkind = \"artifact\"\npath = \"PLAN.md\"\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\n[[phase]]\nid = \"look\"\ntitle = \"Look\"\n",
    );
    sandbox.run(["start", "ship", "--id", "k3v9x2mp", "--goal", "travel"]).ok();
    sandbox.write(".leftoff/sessions/k3v9x2mp/PLAN.md", "the plan\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["note", "Cookies, not headers", "--kind", "decision"]).ok();
    sandbox
}

fn bundle(sandbox: &Sandbox, name: &str) -> String {
    let path = sandbox.folder().join(name).display().to_string();
    sandbox.run(["bundle", "create", &path, "--json"]).ok();
    path
}

/// A bundle with one line changed, and with the final hash corrected.
pub(crate) fn forged(path: &str, change: impl Fn(&mut Value)) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.pop();
    lines.iter_mut().for_each(change);
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let hash: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let forged = format!("{path}.{}", &hash[..8]);
    std::fs::write(&forged, format!("{body}{}\n", json!({ "end": { "sha256": hash } }))).unwrap();
    forged
}

#[test]
fn a_session_arrives_whole_paused_and_with_its_files() {
    let here = with_work();
    let path = bundle(&here, "a.leftoff");
    here.run(["bundle", "create", &path]).code(4);
    let there = git();
    let taken = there.run(["bundle", "take", &path, "--json"]).ok().json();
    assert_eq!((&taken["session_id"], &taken["status"]), (&json!("k3v9x2mp"), &json!("paused")));
    assert_eq!(taken["worktree"], there.project().display().to_string());
    assert_eq!(taken["completed_phases"], json!([1]));
    assert_eq!(there.read(".leftoff/sessions/k3v9x2mp/PLAN.md"), "the plan\n");
    assert_eq!(there.run(["bundle", "take", &path, "--json"]).ok().json()["already"], true);
    there.run(["resume"]).ok();
    let told = "Came from a bundle, received just now (last change there by anna on ";
    for shown in [["status", "--quiet"], ["brief", "--format=markdown"]] {
        let shown = there.run(shown).ok().stdout;
        assert!(shown.contains(told), "{shown}");
    }
    assert!(!here.run(["brief"]).ok().stdout.contains("Came from"));
    there.run(["advance", "--phase", "build"]).ok();
    there.run(["doctor"]).ok();
    // Work has continued on the other machine, and the old bundle contains nothing that is new there.
    assert_eq!(there.run(["bundle", "take", &path, "--json"]).ok().json()["already"], true);
}

#[test]
fn what_is_new_is_added_and_what_diverged_is_refused() {
    let here = with_work();
    let there = git();
    there.run(["bundle", "take", &bundle(&here, "a.leftoff")]).ok();
    here.run(["note", "one more"]).ok();
    here.run(["undo"]).ok();
    let second = bundle(&here, "b.leftoff");
    let taken = there.run(["bundle", "take", &second, "--json"]).ok().json();
    assert_eq!((&taken["already"], &taken["status"]), (&json!(false), &json!("paused")));
    // The undo names a version of the session. On the other machine, that version has another number.
    let texts = |sandbox: &Sandbox| sandbox.run(["show", "--json"]).ok().json()["notes"].clone();
    assert_eq!(texts(&there), texts(&here));
    // Importing the bundle here again changes nothing: the event of an import exists only on the machine of
    // the import.
    let back = bundle(&there, "c.leftoff");
    assert_eq!(here.run(["bundle", "take", &back, "--json"]).ok().json()["already"], true);

    there.run(["resume"]).ok();
    here.run(["note", "from here"]).ok();
    let before = there.run(["log", "--json"]).ok().json();
    let refused = there.run(["bundle", "take", &bundle(&here, "d.leftoff"), "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "diverged");
    assert_eq!(there.run(["log", "--json"]).ok().json(), before);
}

fn events(sandbox: &Sandbox) -> Value {
    sandbox.run(["log", "--json"]).ok().json()["events"].clone()
}

#[test]
fn arriving_writes_no_event_and_keeps_the_chain() {
    let here = with_work();
    let there = git();
    there.run(["bundle", "take", &bundle(&here, "a.leftoff")]).ok();
    assert_eq!(events(&there), events(&here));
    let head = |sandbox: &Sandbox| {
        let verified = sandbox.command(["verify", "--session", "k3v9x2mp", "--json"]).output().unwrap();
        serde_json::from_slice::<Value>(&verified.stdout).unwrap()["sessions"][0]["head"].clone()
    };
    assert!(head(&here).is_string());
    assert_eq!(head(&there), head(&here));
    // The session is folded from its log, without a snapshot, and is still paused in this worktree.
    there.run(["note", "--session", "k3v9x2mp", "of there"]).ok();
    if !testkit::is_on_postgres() {
        let connection = rusqlite::Connection::open(there.path(".git/leftoff/leftoff.db")).unwrap();
        connection.execute("DELETE FROM snapshots", []).unwrap();
    }
    let shown = there.run(["show", "k3v9x2mp", "--json"]).ok().json();
    assert_eq!(shown["status"], "paused");
    assert_eq!(shown["worktree"], there.project().display().to_string());
    there.run(["resume"]).ok();
    there.run(["undo"]).ok();
    there.run(["doctor"]).ok();
}

#[test]
fn bundles_and_logs_of_older_programs_are_read() {
    let here = with_work();
    // A bundle in which the session seems to have been imported on another machine before.
    let old = forged(&bundle(&here, "a.leftoff"), |line| {
        if line["event"]["kind"] == "note_added" {
            line["event"]["kind"] = json!("session_taken");
            line["event"]["body"] = json!(r#"{"type":"session_taken","worktree":"/elsewhere"}"#);
            line["event"].as_object_mut().unwrap().remove("salt");
        }
    });
    let there = git();
    let taken = there.run(["bundle", "take", &old, "--json"]).ok().json();
    assert_eq!(
        (&taken["status"], &taken["worktree"]),
        (&json!("paused"), &json!(there.project().display().to_string()))
    );
    assert_eq!(there.run(["bundle", "take", &old, "--json"]).ok().json()["already"], true);
    // The event of the import does not make the two logs different.
    let taken = there.run(["bundle", "take", &bundle(&here, "b.leftoff"), "--json"]).ok().json();
    assert_eq!((&taken["already"], &taken["status"]), (&json!(false), &json!("paused")));
    assert_eq!(taken["notes"][0]["text"], "Cookies, not headers");
    there.run(["doctor"]).ok();
}

#[test]
fn taking_a_bundle_under_a_key_counts_once() {
    let here = with_work();
    here.run(["item", "add", "one thing"]).ok();
    let path = bundle(&here, "a.leftoff");
    let there = git();
    let take = ["bundle", "take", &path, "--key", "q", "--json"];
    let first = there.run(take).ok();
    assert_eq!((&first.json()["already"], &first.json()["number"]), (&json!(false), &json!(1)));
    let shown = there.run(["status", "--json"]).ok().json();
    assert_eq!((&first.json()["items"], &first.json()["next"]), (&shown["items"], &shown["next"]));
    there.run(["resume"]).ok();
    assert_eq!(there.run(take).ok().stdout, first.stdout);
    let refused = there.run(["note", "something else", "--key", "q", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "key_used");
    here.run(["note", "more"]).ok();
    there.run(["bundle", "take", &bundle(&here, "b.leftoff"), "--key", "q"]).code(4);
    // The bundle contains nothing new. Repeating the command with its key gives the same answer.
    let already = ["bundle", "take", &path, "--key", "r", "--json"];
    assert_eq!(there.run(already).ok().json()["already"], true);
    there.run(["pause", "--key", "r"]).code(4);
}

#[test]
fn what_was_in_files_earlier_travels_too() {
    let here = with_work();
    let plan = ".leftoff/sessions/k3v9x2mp/PLAN.md";
    here.write(plan, "another plan\n");
    here.run(["artifact", "add", plan]).ok();
    let there = git();
    there.run(["bundle", "take", &bundle(&here, "a.leftoff")]).ok();
    let back = std::fs::read_to_string(bundle(&there, "b.leftoff")).unwrap();
    let lines = back.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(lines.filter(|line| line.get("content").is_some()).count(), 2, "{back}");
}

#[test]
fn a_finished_session_stays_finished() {
    let here = with_work();
    here.run(["close", "--force"]).ok();
    let there = git();
    let taken = there.run(["bundle", "take", &bundle(&here, "a.leftoff"), "--json"]).ok().json();
    assert_eq!(taken["status"], "completed");
}

#[test]
fn files_of_others_are_never_overwritten() {
    let here = with_work();
    let path = bundle(&here, "a.leftoff");
    let there = git();
    there.write(".leftoff/sessions/k3v9x2mp/PLAN.md", "mine\n");
    let taken = there.run(["bundle", "take", &path]).ok();
    assert_eq!(there.read(".leftoff/sessions/k3v9x2mp/PLAN.md"), "mine\n");
    assert_eq!(there.read(".leftoff/sessions/k3v9x2mp/PLAN.md.from-bundle"), "the plan\n");
    assert!(taken.stderr.contains("PLAN.md.from-bundle: a different file is there"), "{}", taken.stderr);
    // A hidden file might control a program, so the recorded file gets another name.
    let elsewhere = git();
    let hidden = forged(&path, |line| {
        if line.get("file").is_some() {
            line["file"]["path"] = json!(".agent/settings.json");
        }
    });
    elsewhere.run(["bundle", "take", &hidden]).ok();
    assert!(!elsewhere.path(".agent/settings.json").exists());
    assert!(elsewhere.path(".agent/settings.json.from-bundle").exists());
}

#[test]
fn a_bundle_that_cannot_be_trusted_changes_nothing() {
    let here = with_work();
    let path = bundle(&here, "a.leftoff");
    let there = git();
    // Returns a function that changes all lines with this key.
    let on = |key: &'static str, change: fn(&mut Value)| {
        forged(&path, move |line| {
            if line.get(key).is_some() {
                change(&mut line[key]);
            }
        })
    };
    let header = |name: &'static str, value: Value| {
        forged(&path, move |line| {
            if line.get("leftoff_bundle").is_some() {
                line[name] = value.clone();
            }
        })
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let written = |name: &str, text: &str| {
        let path = format!("{path}.{name}");
        std::fs::write(&path, text).unwrap();
        path
    };
    let bad = [
        (written("cut", &text[..text.len() / 2]), "cut off"),
        (written("altered", &text.replace("travel", "trovel")), "was changed in transit"),
        (written("other", "{\"hello\": 1}\n"), "not a leftoff bundle"),
        (written("binary", "\u{1}\u{2}\n"), "not a leftoff bundle"),
        (written("empty", ""), "empty"),
        (written("longer", &format!("{text}{{}}\n")), "more data after its end"),
        (on("file", |file| file["path"] = json!("../outside")), "not a plain path"),
        (on("file", |file| file["path"] = json!("/etc/outside")), "not a plain path"),
        (on("file", |file| file["path"] = json!("a\nb")), "control character"),
        (on("file", |file| file["path"] = json!(".git/hooks/pre-commit")), "git's own folder"),
        (on("file", |file| file["base64"] = json!("AAAA")), "hash"),
        (on("content", |content| content["base64"] = json!("AAAA")), "hash"),
        (on("definition", |definition| definition["hash"] = json!("00")), "definition"),
        (on("event", |event| event["version"] = json!(9)), "event 1 is missing"),
        (on("event", |event| event["kind"] = json!("note_added")), "does not match its type"),
        (on("event", |event| event["body"] = json!("{\"type\":\"teleported\"}")), "unknown to this program"),
        (on("event", without_phases), "has no phase"),
        (header("leftoff_bundle", json!(2)), "version is 2"),
        (header("session", json!("another")), "do not form a session"),
    ];
    for (file, why) in &bad {
        let refused = there.run(["bundle", "take", file, "--json"]).code(4);
        let message = refused.error()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(why), "{why:?} is not in {message}");
    }
    assert_eq!(there.run(["list", "--all", "--json"]).ok().json()["sessions"], json!([]));
    assert!(!there.path(".leftoff/sessions").exists());
    assert!(!there.folder().join("outside").exists());
    there.run(["bundle", "take", "/nowhere/at/all"]).code(1);
}

fn without_phases(event: &mut Value) {
    if event["kind"] == "run_started" {
        let mut body: Value = serde_json::from_str(event["body"].as_str().unwrap()).unwrap();
        body["phases"] = json!([]);
        event["body"] = json!(body.to_string());
    }
}

/// A bundle of a `ship` session whose definition has no checks, under the hash of the real definition.
fn without_checks(path: &str) -> String {
    forged(path, |line| {
        if let Some(phases) = line.pointer_mut("/definition/workflow/phases") {
            for phase in phases.as_array_mut().unwrap() {
                phase.as_object_mut().unwrap().remove("checks");
            }
        }
    })
}

#[test]
fn a_bundle_cannot_take_the_checks_out_of_a_workflow_of_this_project() {
    let here = with_work();
    let path = without_checks(&bundle(&here, "a.leftoff"));
    let there = git();
    let workflow = ".leftoff/workflows/ship.toml";
    // The real definition is known from its file, and from a session that was started with it.
    there.write(workflow, &here.read(workflow));
    let refused = there.run(["bundle", "take", &path, "--json"]).code(4);
    assert!(refused.error()["message"].as_str().unwrap().contains("known here"), "{}", refused.stderr);
    there.run(["start", "ship", "--id", "first"]).ok();
    std::fs::remove_file(there.path(workflow)).unwrap();
    there.run(["bundle", "take", &path]).code(4);
    there.run(["advance", "--session", "first"]).code(5);
}

#[test]
fn a_definition_from_a_bundle_gives_way_to_the_one_in_the_project() {
    let here = with_work();
    let there = git();
    there.run(["bundle", "take", &without_checks(&bundle(&here, "a.leftoff"))]).ok();
    let workflow = ".leftoff/workflows/ship.toml";
    there.write(workflow, &here.read(workflow));
    there.run(["start", "ship", "--id", "mine"]).ok();
    there.run(["advance", "--session", "mine"]).code(5);
}

#[test]
fn a_take_that_cannot_be_kept_leaves_no_file() {
    let here = with_work();
    let path = bundle(&here, "a.leftoff");
    let there = git();
    let mut command = there.command(["bundle", "take", &path]);
    let status = command.env("LEFTOFF_TEST_CRASH", "before-append").output().unwrap().status;
    assert!(!status.success());
    assert_eq!(there.run(["list", "--all", "--json"]).ok().json()["sessions"], json!([]));
    assert!(!there.path(".leftoff/sessions/k3v9x2mp/PLAN.md").exists());
    assert_eq!(there.run(["bundle", "take", &path, "--json"]).ok().json()["already"], false);
    assert_eq!(there.read(".leftoff/sessions/k3v9x2mp/PLAN.md"), "the plan\n");
    // The first attempt left no file behind.
    let names = std::fs::read_dir(there.path(".leftoff/sessions/k3v9x2mp")).unwrap();
    assert_eq!(names.count(), 1);
}

/// A bundle contains the files of another tool's session. They are written where that tool looks for them.
#[test]
fn a_session_in_files_travels_with_its_files_and_goes_on_there() {
    for (layout, id, state) in [
        ("ocr", "2026-11-14-login", ".ocr/sessions/2026-11-14-login/state.json"),
        ("ccw", "WFS-one", ".workflow/WFS-one/workflow-session.json"),
    ] {
        let (here, there) = (git(), git());
        let mut words = vec!["start", "--layout", layout];
        words.extend(if layout == "ocr" { ["--id", id] } else { ["--goal", "One"] });
        here.run(words).ok();
        if layout == "ocr" {
            here.write(".ocr/sessions/2026-11-14-login/discovered-standards.md", "S\n");
            here.run(["advance", "--phase", "context"]).ok();
        } else {
            here.write(".workflow/WFS-one/IMPL_PLAN.md", "# Plan\n\nOne step.\n");
            here.run(["advance", "--phase", "plan"]).ok();
        }
        let bundle = here.folder().join("one.leftoff").display().to_string();
        here.run(["bundle", "create", &bundle, "--session", id]).ok();
        let taken = there.run(["bundle", "take", &bundle]).ok();
        assert!(!taken.stderr.contains("from-bundle"), "{layout}: {}", taken.stderr);
        assert!(there.path(state).is_file(), "{layout}");
        there.run(["doctor"]).ok();
        there.run(["resume", id, "--yes"]).ok();
        let (ours, theirs) = (here.run(["status", "--json"]), there.run(["status", "--json"]));
        assert_eq!(theirs.ok().json()["current_phase"], ours.ok().json()["current_phase"], "{layout}");
        there.run(["note", "goes on", "--session", id]).ok();
    }
}
