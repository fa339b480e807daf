//! Tests of `import` and `export`: another tool's session becomes a native one, and is exported again.

mod elsewhere;
mod round_trips;
mod unreadable;
mod while_native;

use crate::fresh;
use serde_json::{Value, json};
use testkit::Sandbox;

const OLD: &str = ".praxis-os/.cache/state/old.json";
const REVIEW: &str = ".ocr/sessions/2026-11-14-login";

fn project() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let old = json!({
        "session_id": "old", "workflow_type": "ship_v1", "target_file": "docs/import.md", "current_phase": 1,
        "completed_phases": [0],
        "phase_artifacts": {"0": {"phase_number": 0, "evidence": {"read": 3}, "outputs": {},
            "commands_executed": [], "timestamp": "2026-11-14T09:30:00.500000"}},
        "checkpoints": {"0": "passed"}, "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:30:00.500000", "metadata": {"total_phases": 3}, "extra": {"kept": true},
    });
    sandbox.write(OLD, &serde_json::to_string_pretty(&old).unwrap());
    sandbox.write(
        &format!("{REVIEW}/state.json"),
        r#"{"session_id":"2026-11-14-login","workflow_type":"review","status":"active","current_phase":"reviews","phase_number":4,"current_round":1,"started_at":"2026-11-14T09:00:00Z","updated_at":"2026-11-14T10:00:00Z"}"#,
    );
    sandbox
}

fn json_at(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap()
}

#[test]
fn a_foreign_session_becomes_a_native_one_and_its_files_are_left_alone() {
    let sandbox = project();
    let (old, review) = (sandbox.read(OLD), sandbox.read(&format!("{REVIEW}/state.json")));
    let imported = sandbox.run(["import", OLD, "--json"]).ok().json();
    assert_eq!((&imported["session_id"], &imported["layout"]), (&json!("old"), &json!("native")));
    assert_eq!(
        (&imported["lifecycle"]["state"], &imported["current_phase"]["number"]),
        (&json!("paused"), &json!(1))
    );
    let by_id = sandbox.run(["import", "2026-11-14-login", "--json"]).ok().json();
    assert_eq!((&by_id["layout"], &by_id["current_phase"]["id"]), (&json!("native"), &json!("reviews")));
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "not once more as the tool's own: {list}");
    sandbox.run(["resume", "old"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "n=1"]).ok();
    sandbox.run(["resume", "2026-11-14-login"]).ok();
    assert_eq!((sandbox.read(OLD), sandbox.read(&format!("{REVIEW}/state.json"))), (old, review));
    assert!(!sandbox.path(&format!("{OLD}.bak")).exists());
    let log = sandbox.run(["log", "--session", "old"]).ok().stdout;
    assert!(log.contains("imported from praxis") && log.contains("phase 0 completed"), "{log}");
    let again = sandbox.run(["import", OLD, "--json"]).ok().json();
    assert_eq!((&again["already"], &again["session_id"]), (&json!(true), &json!("old")));
}

#[test]
fn a_session_of_another_project_is_imported_by_its_path() {
    let elsewhere = project();
    let sandbox = fresh();
    let path = elsewhere.path(OLD).display().to_string();
    let imported = sandbox.run(["import", &path, "--json"]).ok().json();
    assert_eq!((&imported["session_id"], &imported["layout"]), (&json!("old"), &json!("native")));
    assert_eq!(imported["phases"][0]["attempts"][0]["evidence"]["read"], 3);
    let review = elsewhere.path(REVIEW).display().to_string();
    sandbox.run(["import", &review]).ok();
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
    assert!(!sandbox.path(".praxis-os").exists() && !sandbox.path(".ocr").exists());
}

#[test]
fn importing_a_session_of_another_project_again_is_not_twice() {
    let elsewhere = project();
    let sandbox = fresh();
    for relative in [OLD.to_owned(), REVIEW.to_owned(), format!("{REVIEW}/state.json")] {
        let path = elsewhere.path(&relative).display().to_string();
        let first = sandbox.run(["import", &path, "--json"]).ok().json();
        let log =
            sandbox.run(["log", "--json", "--session", first["session_id"].as_str().unwrap()]).ok().stdout;
        let again = sandbox.run(["import", &path, "--json"]).ok().json();
        assert_eq!((&again["already"], &again["session_id"]), (&json!(true), &first["session_id"]));
        assert!(again["said"].to_string().contains("was already imported, as"), "{}", again["said"]);
        assert!(!again["said"].to_string().contains("changed"), "{}", again["said"]);
        assert_eq!(
            sandbox.run(["log", "--json", "--session", first["session_id"].as_str().unwrap()]).ok().stdout,
            log
        );
    }
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{list}");
    // Somebody continues the session in the other project. The change is reported, but not imported.
    let edited = elsewhere.read(OLD).replace("docs/import.md", "docs/other.md");
    elsewhere.write(OLD, &edited);
    let again = sandbox.run(["import", &elsewhere.path(OLD).display().to_string()]).ok();
    assert!(
        again.stderr.contains("old.json changed since then; those changes were not imported"),
        "{}",
        again.stderr
    );
    assert_eq!(sandbox.run(["show", "old", "--json"]).ok().json()["target"], "docs/import.md");
}

#[test]
fn imports_of_one_session_at_the_same_time_make_one() {
    let elsewhere = project();
    let sandbox = fresh();
    sandbox.run(["start", "--id", "ours"]).ok();
    let path = elsewhere.path(OLD).display().to_string();
    let started: Vec<_> = (0..6)
        .map(|_| {
            sandbox.command(["import", &path, "--json"]).stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let answers: Vec<Value> = started
        .into_iter()
        .map(|child| serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    assert!(answers.iter().all(|answer| answer["session_id"] == "old"), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer["already"] == false).count(), 1);
}

#[test]
fn sessions_of_the_same_name_in_other_projects_are_others_and_hide_none_of_here() {
    let (one, other, sandbox) = (project(), project(), project());
    let path = |project: &Sandbox| project.path(OLD).display().to_string();
    let ids: Vec<Value> = [&one, &other, &one, &other]
        .map(|project| sandbox.run(["import", &path(project), "--json"]).ok().json()["session_id"].clone())
        .to_vec();
    assert_eq!((&ids[0], &ids[1]), (&ids[2], &ids[3]));
    assert_ne!(ids[0], ids[1]);
    let list = sandbox.run(["list", "--json"]).ok().json();
    let praxis: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().filter(|line| line["layout"] == "praxis").collect();
    assert_eq!(praxis.len(), 1, "this project's own is still there: {list}");
    assert_eq!(praxis[0]["session_id"], "old");
    let own = sandbox.run(["import", OLD, "--json"]).ok().json();
    assert_eq!((&own["session_id"], &own["already"]), (&json!("old"), &json!(false)));
    // Another session can be imported later, even one that has the same path in its project as the first.
    let sandbox = fresh();
    sandbox.run(["import", &path(&one)]).ok();
    sandbox.write(OLD, &one.read(OLD));
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{list}");
    sandbox.run(["import", OLD]).ok();
    assert_eq!(
        sandbox.run(["list", "--layout", "native", "--json"]).ok().json()["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_session_of_another_project_that_stays_in_its_layout_is_written_here_once() {
    let elsewhere = project();
    let sandbox = fresh();
    let path = elsewhere.path(OLD).display().to_string();
    sandbox.run(["import", &path, "--layout", "praxis"]).ok();
    assert_eq!(json_at(&sandbox, OLD)["extra"], json!({"kept": true}));
    let again = sandbox.run(["import", &path, "--layout", "praxis", "--json"]).ok().json();
    assert_eq!((&again["already"], &again["session_id"]), (&json!(true), &json!("old")));
    assert_eq!(sandbox.run(["list", "--all", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 1);
    // Importing a session of this project a second time changes nothing, either.
    elsewhere.run(["import", OLD, "--layout", "praxis"]).ok();
    let again = elsewhere.run(["import", OLD, "--layout", "praxis", "--json"]).ok().json();
    assert_eq!(again["already"], true);
}

#[test]
fn the_files_that_an_import_keeps_travel_in_a_bundle_and_can_be_purged() {
    let elsewhere = project();
    let text = elsewhere.read(OLD).replace("\"kept\": true", "\"kept\": \"a word of theirs\"");
    elsewhere.write(OLD, &text);
    let sandbox = fresh();
    sandbox.run(["import", &elsewhere.path(OLD).display().to_string()]).ok();
    std::fs::remove_file(elsewhere.path(OLD)).unwrap();
    sandbox.run(["bundle", "create", "old.bundle", "--session", "old"]).ok();
    let other = fresh();
    other.write("old.bundle", &sandbox.read("old.bundle"));
    other.run(["bundle", "take", "old.bundle"]).ok();
    other.run(["export", "--layout", "praxis", "out", "--session", "old"]).ok();
    assert_eq!(json_at(&other, &format!("out/{OLD}"))["extra"]["kept"], "a word of theirs");
    let whole = other.run(["export", "--session", "old"]).ok().json();
    assert!(whole["files"][0]["text"].as_str().unwrap().contains("a word of theirs"), "{}", whole["files"]);
    other.run(["purge", "a word of theirs", "--session", "old", "--yes"]).ok();
    assert!(!other.run(["export", "--session", "old"]).ok().stdout.contains("a word of theirs"));
    other.run(["export", "--layout", "praxis", "clean", "--session", "old"]).ok();
    assert!(!other.read(&format!("clean/{OLD}")).contains("a word of theirs"));
}

#[test]
fn what_is_no_session_is_not_imported_and_it_is_said_what_would_be() {
    let sandbox = project();
    sandbox.write("README.md", "# Read me\n");
    sandbox.write("docs/a.md", "a\n");
    sandbox.write(&format!("{REVIEW}/context.md"), "c\n");
    sandbox.write(".praxis-os/.cache/state/package.json", r#"{"name": "package"}"#);
    sandbox.write(".praxis-os/.cache/state/torn.json", "{\"session_id\": ");
    sandbox.write(".ocr/sessions/2026-11-15-empty/notes.txt", "n\n");
    sandbox.run(["start", "--id", "ours"]).ok();
    sandbox.run(["export", "backup", "--session", "ours"]).ok();
    sandbox.run(["bundle", "create", "ours.bundle", "--session", "ours"]).ok();
    let root = sandbox.project().display().to_string();
    for (asked, why, hint) in [
        ("nothing-there", "there is no session 'nothing-there'", "leftoff list --all"),
        (
            "README.md",
            "looked for ocr (a folder in .ocr/sessions), ccw (a folder WFS-…, or one with a workflow-session.json, in .workflow)",
            "leftoff list --all",
        ),
        ("docs", "praxis (a .json file in .praxis-os", "leftoff list --project DIR"),
        (root.as_str(), "looked for", "a session in the folder: leftoff import"),
        ("backup/ours.json", "looked for", "the file is an export for other programs"),
        ("ours.bundle", "looked for", "leftoff bundle take ours.bundle"),
        (
            &format!("{REVIEW}/context.md"),
            "looked for",
            "the path is inside a session; import the session: leftoff import",
        ),
        (".praxis-os/.cache/state/package.json", "it has none of the keys session_id", "fix the file"),
        (".praxis-os/.cache/state/torn.json", "it is not JSON", "fix the file"),
        (".ocr/sessions/2026-11-15-empty", "state.json: it is missing", "fix the file"),
    ] {
        let refused = sandbox.run(["import", asked, "--json"]).code(3).error();
        assert!(refused["message"].as_str().unwrap().contains(why), "{asked}: {refused}");
        assert!(refused["hint"].as_str().unwrap().contains(hint), "{asked}: {refused}");
    }
    let other = sandbox.run(["import", OLD, "--layout", "ocr"]).code(2);
    assert!(other.stderr.contains("cannot become one of ocr"), "{}", other.stderr);
    let own = sandbox.run(["import", "ours"]).ok();
    assert!(
        own.stderr.contains("ours is already a leftoff session: there is nothing to import"),
        "{}",
        own.stderr
    );
    let native = sandbox.run(["list", "--layout", "native", "--json"]).ok().json();
    assert_eq!(native["sessions"].as_array().unwrap().len(), 1, "{native}");
    assert_eq!(native["sessions"][0]["version"], 3, "nothing was written: {native}");
}

#[test]
fn only_import_brings_an_old_praxis_file_into_the_newest_shape() {
    let sandbox = project();
    let before = sandbox.read(OLD);
    sandbox.run(["note", "a command", "--session", "old"]).ok();
    assert!(json_at(&sandbox, OLD).get("lifecycle").is_none(), "no migration by itself");
    assert_eq!(json_at(&sandbox, OLD)["created_at"], "2026-11-14T09:00:00");
    let imported = sandbox.run(["import", "old", "--layout", "praxis", "--json"]).ok().json();
    assert_eq!((&imported["layout"], &imported["lifecycle"]["state"]), (&json!("praxis"), &json!("active")));
    let found = json_at(&sandbox, OLD);
    assert_eq!(found["created_at"], "2026-11-14T09:00:00Z");
    assert_eq!(
        (&found["workflow_structure"]["total_phases"], &found["lifecycle"]["completed"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(found["extra"], json!({"kept": true}), "what nobody here knows is kept");
    assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"read": 3}));
    let backup = json_at(&sandbox, &format!("{OLD}.bak"));
    assert_eq!(backup["created_at"], serde_json::from_str::<Value>(&before).unwrap()["created_at"]);
    let seen = sandbox.run(["show", "old", "--json"]).ok().json();
    assert!(!seen["warnings"].to_string().contains("legacy"), "{}", seen["warnings"]);
    sandbox.run(["advance", "--phase", "1", "--session", "old"]).ok();
    assert_eq!(json_at(&sandbox, OLD)["updated_at"], "2026-11-14T11:00:00Z");
}

#[test]
fn any_session_is_exported_as_plain_json() {
    let sandbox = project();
    sandbox.run(["start", "--id", "ours", "--goal", "a goal"]).ok();
    sandbox.run(["note", "remember"]).ok();
    let export = sandbox.run(["export", "--session", "ours"]).ok().json();
    assert_eq!((&export["leftoff_export"], &export["session"]["goal"]), (&json!(1), &json!("a goal")));
    let kinds: Vec<&str> =
        export["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert!(
        kinds.starts_with(&["session_started", "run_started"]) && kinds.contains(&"note_added"),
        "{kinds:?}"
    );
    assert_eq!(export["workflows"][0]["name"], "plan-implement-review");
    let foreign = sandbox.run(["export", "--session", "old"]).ok().json();
    assert_eq!(foreign["session"]["layout"], "praxis");
    assert_eq!(sandbox.run(["export", "out", "--session", "ours"]).ok().stdout.trim(), "out/ours.json");
    assert_eq!(json_at(&sandbox, "out/ours.json")["session"]["session_id"], "ours");
    let again = sandbox.run(["export", "out", "--session", "ours", "--json"]).code(4);
    assert_eq!(again.error()["kind"], "already_there");
}

#[test]
fn a_session_goes_in_and_comes_out_into_its_own_layout() {
    let sandbox = project();
    let untouched = sandbox.run(["export", "--layout", "praxis", "out", "--session", "old"]).ok();
    assert_eq!(untouched.stdout.trim(), format!("out/{OLD}"));
    assert!(!sandbox.path(".git/leftoff").exists(), "a foreign session is exported without being taken in");
    sandbox.run(["import", OLD]).ok();
    sandbox.run(["resume", "old"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "n=1"]).ok();
    sandbox.run(["advance", "--phase", "2"]).ok();
    sandbox.run(["export", "--layout", "praxis", "back", "--session", "old"]).ok();
    let found = json_at(&sandbox, &format!("back/{OLD}"));
    assert_eq!(found["completed_phases"], json!([0, 1, 2]));
    assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"read": 3}));
    assert_eq!(
        (&found["phase_artifacts"]["1"]["evidence"], &found["lifecycle"]["completed"]),
        (&json!({"n": 1}), &json!(true))
    );
    // The export is again a session of that tool.
    let other = fresh();
    let text = sandbox.read(&format!("back/{OLD}"));
    other.write(OLD, &text);
    let shown = other.run(["show", "old", "--json"]).ok().json();
    assert_eq!((&shown["layout"], &shown["lifecycle"]["state"]), (&json!("praxis"), &json!("completed")));
    let review = sandbox.run(["export", "--layout", "ocr", "back", "--session", "2026-11-14-login"]).ok();
    assert_eq!(review.stdout.trim(), format!("back/{REVIEW}/state.json"));
    assert!(
        sandbox.run(["export", "--session", "2026-11-14-login"]).ok().json()["files"][0]["path"]
            == "state.json"
    );
    assert_eq!(json_at(&sandbox, &format!("back/{REVIEW}/state.json"))["current_phase"], "reviews");
}

/// A session of each kind: in other tools' files, and native ones with their workflows.
fn one_of_each() -> Sandbox {
    let sandbox = project();
    sandbox.write(".workflow/WFS-csv/workflow-session.json",
        r#"{"session_id":"WFS-csv","project":"CSV","current_phase":"IMPLEMENT","status":"paused","meta":{"created":"2026-11-14T09:00:00Z"}}"#);
    let essay = "essay-pipeline-20261114-100000";
    sandbox.write(&format!("{essay}/session-state.yaml"),
        "pipeline_id: e\nstarted_at: \"2026-11-14T10:00:00Z\"\nstatus: in_progress\ncurrent_stage: 2\ncurrent_stage_name: essay_structuring\n");
    for workflow in ["plan-implement-review", "spec", "review", "map", "ccw", "essay"] {
        sandbox.run(["start", workflow, "--id", &format!("n-{workflow}"), "--parallel"]).ok();
    }
    sandbox
}

/// A project with native sessions and sessions of all four layouts. The list has one line for each, sorted by
/// last activity, with valid numbers and true statements.
#[test]
fn one_list_shows_sessions_of_every_layout_beside_native_ones() {
    let sandbox = one_of_each();
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    let lines = list["sessions"].as_array().unwrap();
    let layouts: std::collections::BTreeSet<&str> =
        lines.iter().map(|line| line["layout"].as_str().unwrap()).collect();
    assert_eq!(layouts.into_iter().collect::<Vec<_>>(), ["ccw", "essay", "native", "ocr", "praxis"]);
    let mut numbers: Vec<u64> = lines.iter().map(|line| line["number"].as_u64().unwrap()).collect();
    for line in lines {
        let found = sandbox.run(["show", &line["number"].to_string(), "--json"]).ok().json();
        assert_eq!(found["session_id"], line["session_id"]);
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), lines.len());
    let text = sandbox.run(["list", "--all"]).ok().stdout;
    assert_eq!(text.lines().count(), lines.len(), "{text}");
    for line in lines {
        let id = line["session_id"].as_str().unwrap();
        assert!(text.contains(id), "{id} in {text}");
    }
    // The entries of each column are aligned.
    let column = |line: &str| {
        ["native", "ocr ", "ccw ", "praxis", "essay "]
            .iter()
            .filter_map(|word| line.find(&format!("  {word}")))
            .min()
    };
    let first = text.lines().next().and_then(column);
    assert!(first.is_some() && text.lines().all(|line| column(line) == first), "{text}");
}

#[test]
fn each_kind_of_session_goes_where_there_are_words_for_its_phases_and_is_refused_elsewhere() {
    let sandbox = one_of_each();
    let kinds: [(&str, &[&str]); 10] = [
        ("2026-11-14-login", &["ocr", "praxis"]),
        ("WFS-csv", &["ccw", "praxis"]),
        ("old", &["praxis"]),
        ("essay-pipeline-20261114-100000", &["praxis", "essay"]),
        ("n-plan-implement-review", &["ccw", "praxis"]),
        ("n-spec", &["praxis"]),
        ("n-review", &["ocr", "praxis"]),
        ("n-map", &["ocr", "praxis"]),
        ("n-ccw", &["ccw", "praxis"]),
        ("n-essay", &["praxis", "essay"]),
    ];
    for (id, able) in kinds {
        let before = sandbox.run(["show", id, "--json"]).ok().json();
        for layout in ["ocr", "ccw", "praxis", "essay"] {
            let folder = format!("out/{id}-{layout}");
            let ran = sandbox.run(["export", "--layout", layout, &folder, "--session", id, "--json"]);
            if !able.contains(&layout) {
                let refused = ran.code(2).error();
                let (message, hint) = (refused["message"].to_string(), refused["hint"].as_str().unwrap());
                assert!(
                    message.contains("cannot represent a session of workflow"),
                    "{id} to {layout}: {message}"
                );
                assert!(
                    hint.contains(&format!(
                        "{} can: leftoff export --layout {}",
                        able.join(" and "),
                        able[0]
                    )),
                    "{hint}"
                );
                assert!(!sandbox.path(&folder).exists(), "nothing half done");
                continue;
            }
            ran.ok();
            // The export is a session of that tool, and in the same phase.
            let read = fresh();
            for path in sandbox
                .run([
                    "export",
                    "--layout",
                    layout,
                    &read.project().display().to_string(),
                    "--session",
                    id,
                    "--json",
                ])
                .ok()
                .json()["written"]
                .as_array()
                .unwrap()
            {
                assert!(std::path::Path::new(path.as_str().unwrap()).exists(), "{path}");
            }
            let list = read.run(["list", "--all", "--json"]).ok().json();
            let found = list["sessions"][0]["session_id"].as_str().unwrap();
            let after = read.run(["show", found, "--json"]).ok().json();
            assert_eq!(after["layout"], layout, "{id}");
            assert_eq!(
                after["current_phase"]["number"], before["current_phase"]["number"],
                "{id} as {layout}"
            );
            assert_eq!(
                after["workflow"]["total_phases"], before["workflow"]["total_phases"],
                "{id} as {layout}"
            );
        }
    }
}

#[test]
fn what_a_layout_cannot_show_is_refused_and_where_to_must_be_said() {
    let sandbox = project();
    sandbox.run(["start", "--id", "ours"]).ok();
    let refused = sandbox.run(["export", "--layout", "ocr", "out", "--session", "ours"]).code(2);
    assert!(
        refused.stderr.contains("cannot represent a session of workflow 'plan-implement-review'"),
        "{}",
        refused.stderr
    );
    sandbox.run(["export", "--layout", "nowhere", "out"]).code(2);
    sandbox.run(["export", "--layout", "praxis"]).code(2);
    assert!(!sandbox.path("out").exists());
    // A native session has phases, so praxis OS can represent it.
    sandbox.run(["export", "--layout", "praxis", "out", "--session", "ours"]).ok();
    assert_eq!(json_at(&sandbox, "out/.praxis-os/.cache/state/ours.json")["current_phase"], 1);
}
