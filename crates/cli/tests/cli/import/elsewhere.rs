//! Tests of sessions that are imported from another project and keep their layout. All of their files are
//! copied, under a name that is not taken.

use super::{OLD, REVIEW, json_at, one_of_each};
use crate::fresh;
use serde_json::{Value, json};
use testkit::Sandbox;

const FOLDER: &str = ".workflow/WFS-oauth";
const REGISTRY: &str = ".workflow/session_status.jsonl";

/// A project with one session of Claude-Code-Workflow. The session is active in that project.
fn workflow(plan: &str) -> Sandbox {
    let sandbox = fresh();
    sandbox.write(
        &format!("{FOLDER}/workflow-session.json"),
        r#"{"session_id":"WFS-oauth","project":"Sign in","type":"medium","current_phase":"IMPLEMENT","status":"active","mine":[1.50],"progress":{"completed_phases":["PLAN"],"current_tasks":["impl-1"]},"meta":{"created":"2026-11-14T09:00:00Z","updated":"2026-11-14T10:00:00Z"}}"#,
    );
    sandbox.write(
        REGISTRY,
        concat!(
            r#"{"id":"WFS-oauth","status":"active","description":"Sign in","created":"2026-11-14T09:00:00Z","note":"kept","directory":".workflow/WFS-oauth"}"#,
            "\n",
            r#"{"id":"WFS-other","status":"completed","description":"Other","created":"2026-11-13T09:00:00Z","directory":".workflow/WFS-other"}"#,
            "\n",
        ),
    );
    sandbox.write(
        &format!("{FOLDER}/.task/impl-1.json"),
        r#"{"id":"impl-1","title":"Tokens","status":"active","type":"feature","context":{"inherited_from":"WFS-oauth"}}"#,
    );
    sandbox.write(&format!("{FOLDER}/.task/impl-2.json"), "{ half");
    sandbox.write(&format!("{FOLDER}/IMPL_PLAN.md"), plan);
    sandbox.write(&format!("{FOLDER}/.summaries/IMPL-1-summary.md"), "one\n");
    sandbox.write(&format!("{FOLDER}/.chat/first.md"), "said\n");
    sandbox
}

fn lines(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.read(REGISTRY).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bring(sandbox: &Sandbox, from: &Sandbox) -> Value {
    sandbox.run(["import", &from.path(FOLDER).display().to_string(), "--layout", "ccw", "--json"]).ok().json()
}

#[test]
fn a_whole_workflow_session_comes_with_its_files_and_waits() {
    let (elsewhere, sandbox) = (workflow("# Plan\n"), fresh());
    sandbox.at("2026-11-16T09:00:00Z");
    sandbox.run(["start", "--id", "ours"]).ok();
    let imported = bring(&sandbox, &elsewhere);
    assert_eq!((&imported["session_id"], &imported["layout"]), (&json!("WFS-oauth"), &json!("ccw")));
    assert_eq!(imported["lifecycle"]["state"], "paused", "{imported}");
    for path in ["IMPL_PLAN.md", ".summaries/IMPL-1-summary.md", ".chat/first.md", ".task/impl-2.json"] {
        let path = format!("{FOLDER}/{path}");
        assert_eq!(sandbox.read(&path), elsewhere.read(&path), "{path}");
    }
    let state = sandbox.read(&format!("{FOLDER}/workflow-session.json"));
    assert!(state.contains(r#""mine":[1.50]"#) && state.contains(r#""status":"paused""#), "{state}");
    assert_eq!(json_at(&sandbox, &format!("{FOLDER}/.task/impl-1.json"))["title"], "Tokens");
    assert_eq!(lines(&sandbox).len(), 1, "the other one's line stays there");
    assert_eq!(
        (&lines(&sandbox)[0]["note"], &lines(&sandbox)[0]["status"]),
        (&json!("kept"), &json!("paused"))
    );
    let active = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(active["session_id"], "ours", "what was active stays so");
    let doctor = sandbox.run(["doctor"]);
    assert!(!doctor.stdout.contains("missing") && !doctor.stdout.contains("damaged"), "{}", doctor.stdout);
    assert!(elsewhere.read(&format!("{FOLDER}/workflow-session.json")).contains(r#""status":"active""#));
}

#[test]
fn two_of_one_name_are_two_sessions_in_two_folders_and_neither_comes_twice() {
    let (one, other, sandbox) = (workflow("# One\n"), workflow("# Other\n"), fresh());
    let ids: Vec<Value> =
        [&one, &other, &one, &other].map(|from| bring(&sandbox, from)["session_id"].clone()).to_vec();
    assert_eq!(ids, ["WFS-oauth", "WFS-oauth-002", "WFS-oauth", "WFS-oauth-002"]);
    assert_eq!(sandbox.read(".workflow/WFS-oauth/IMPL_PLAN.md"), "# One\n");
    assert_eq!(sandbox.read(".workflow/WFS-oauth-002/IMPL_PLAN.md"), "# Other\n");
    assert_eq!(
        json_at(&sandbox, ".workflow/WFS-oauth-002/workflow-session.json")["session_id"],
        "WFS-oauth-002"
    );
    let task = json_at(&sandbox, ".workflow/WFS-oauth-002/.task/impl-1.json");
    assert_eq!(task["context"]["inherited_from"], "WFS-oauth-002");
    let named = |key: &str| lines(&sandbox).iter().map(|line| line[key].clone()).collect::<Vec<_>>();
    assert_eq!(named("id"), ["WFS-oauth", "WFS-oauth-002"]);
    assert_eq!(named("directory"), [".workflow/WFS-oauth", ".workflow/WFS-oauth-002"]);
    assert_eq!(sandbox.run(["list", "--all", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn what_came_from_elsewhere_goes_out_again_in_its_own_layout() {
    let (elsewhere, sandbox) = (workflow("# Plan\n"), fresh());
    bring(&sandbox, &elsewhere);
    sandbox.run(["resume", "WFS-oauth"]).ok();
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["export", "--layout", "ccw", "out"]).ok();
    for path in ["IMPL_PLAN.md", ".summaries/IMPL-1-summary.md", ".chat/first.md"] {
        let path = format!("{FOLDER}/{path}");
        assert_eq!(sandbox.read(&format!("out/{path}")), elsewhere.read(&path));
    }
    let task = json_at(&sandbox, &format!("out/{FOLDER}/.task/impl-1.json"));
    assert_eq!((&task["status"], &task["type"]), (&json!("completed"), &json!("feature")));
    assert_eq!(json_at(&sandbox, &format!("out/{FOLDER}/workflow-session.json"))["mine"], json!([1.5]));
}

#[test]
fn sessions_of_every_layout_come_whole_from_another_project() {
    let (elsewhere, sandbox) = (one_of_each(), fresh());
    let review = format!("{REVIEW}/rounds/round-1/reviews/principal-1.md");
    elsewhere.write(&review, "# Review\n");
    for (layout, path) in [
        ("ocr", REVIEW),
        ("ccw", ".workflow/WFS-csv"),
        ("praxis", OLD),
        ("essay", "essay-pipeline-20261114-100000"),
    ] {
        let place = elsewhere.path(path).display().to_string();
        for expected in [false, true] {
            let here = sandbox.run(["import", &place, "--layout", layout, "--json"]).ok().json();
            assert_eq!((&here["already"], &here["layout"]), (&json!(expected), &json!(layout)), "{here}");
            assert_eq!(here["lifecycle"]["state"], "paused", "{layout}");
        }
        assert!(sandbox.path(path).exists(), "{layout}");
    }
    assert_eq!(sandbox.read(&review), "# Review\n");
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 4, "{list}");
}

/// A number means the session with that number in the last list. A number with leading zeros is the end of an
/// id.
#[test]
fn an_import_pauses_nothing_and_moves_no_number() {
    let (elsewhere, sandbox) = (workflow("# Plan\n"), fresh());
    sandbox.at("2026-11-14T11:00:00Z");
    for (id, status) in [("WFS-a", "active"), ("WFS-z", "paused")] {
        let state = json!({ "session_id": id, "current_phase": "PLAN", "status": status,
            "meta": { "created": "2026-11-01T09:00:00Z", "updated": "2026-11-02T09:00:00Z" } });
        sandbox.write(&format!(".workflow/{id}/workflow-session.json"), &state.to_string());
    }
    let numbers = || {
        let list = sandbox.run(["list", "--json"]).ok().json();
        let lines = list["sessions"].as_array().unwrap().iter();
        let mut found: Vec<String> = lines
            .map(|line| format!("{} {} {}", line["number"], line["session_id"], line["lifecycle"]))
            .collect();
        found.sort();
        found.join("; ").replace('"', "")
    };
    assert_eq!(numbers(), "1 WFS-a active; 2 WFS-z paused");
    bring(&sandbox, &elsewhere);
    assert_eq!(numbers(), "1 WFS-a active; 2 WFS-z paused; 3 WFS-oauth paused");
    let again = sandbox.run(["import", &elsewhere.path(FOLDER).display().to_string(), "--json"]).ok().json();
    assert_eq!(
        (&again["already"], &again["layout"]),
        (&json!(true), &json!("ccw")),
        "it goes on as what it became"
    );
    bring(&sandbox, &workflow("# Another\n"));
    assert_eq!(numbers(), "1 WFS-a active; 2 WFS-z paused; 3 WFS-oauth paused; 4 WFS-oauth-002 paused");
    sandbox.run(["import", &workflow("# Third\n").path(FOLDER).display().to_string()]).ok();
    assert!(
        numbers()
            .starts_with("1 WFS-a active; 2 WFS-z paused; 3 WFS-oauth paused; 4 WFS-oauth-002 paused; 5 ")
    );
    let shown = |asked: &str| sandbox.run(["show", asked, "--json"]).ok().json()["session_id"].clone();
    assert_eq!((shown("2"), shown("002")), (json!("WFS-z"), json!("WFS-oauth-002")));
    sandbox.run(["show", "003"]).code(3);
}

#[test]
fn an_import_that_was_killed_has_brought_all_or_nothing() {
    for (point, counts) in [
        ("disk-staged", false),
        ("before-append", false),
        ("after-append", true),
        ("disk-after-step-0", true),
        ("view-confirmed", true),
    ] {
        let (elsewhere, sandbox) = (workflow("# Plan\n"), fresh());
        let path = elsewhere.path(FOLDER).display().to_string();
        let killed = ["import", &path, "--layout", "ccw"];
        let crashed = sandbox.command(killed).env("LEFTOFF_TEST_CRASH", point).output().unwrap();
        assert_eq!(testkit::Ran::from(crashed).code, 134, "{point}");
        let again = bring(&sandbox, &elsewhere);
        assert_eq!(
            (&again["already"], &again["session_id"]),
            (&json!(counts), &json!("WFS-oauth")),
            "{point}"
        );
        sandbox.run(["note", "go on", "--session", "WFS-oauth"]).ok();
        for file in ["IMPL_PLAN.md", ".summaries/IMPL-1-summary.md", ".task/impl-2.json"] {
            let path = format!("{FOLDER}/{file}");
            assert_eq!(sandbox.read(&path), elsewhere.read(&path), "{point}");
        }
        assert_eq!(json_at(&sandbox, &format!("{FOLDER}/.task/impl-1.json"))["title"], "Tokens", "{point}");
        assert_eq!(lines(&sandbox)[0]["note"], "kept", "{point}");
    }
}

#[test]
fn one_of_a_later_release_is_registered_where_there_is_a_registry_and_none_is_made_where_there_is_not() {
    let elsewhere = fresh();
    let folder = ".workflow/active/WFS-later";
    elsewhere.write(
        &format!("{folder}/workflow-session.json"),
        r#"{"session_id":"WFS-later","project":"Later","status":"implementing","created_at":"2026-11-10T09:00:00Z"}"#,
    );
    elsewhere.write(".workflow/.active-WFS-later", "");
    let path = elsewhere.path(folder).display().to_string();
    let (with, without) = (workflow("# Plan\n"), fresh());
    for sandbox in [&with, &without] {
        sandbox.run(["import", &path, "--layout", "ccw"]).ok();
        let list = sandbox.run(["list", "--json"]).ok().json();
        let later =
            list["sessions"].as_array().unwrap().iter().find(|line| line["session_id"] == "WFS-later");
        assert_eq!(later.unwrap()["lifecycle"], "paused", "{list}");
        assert!(!list["warnings"].to_string().contains("registry"), "{list}");
        assert!(
            !sandbox.path(".workflow/.active-WFS-later").exists(),
            "it was not asked to be the active one"
        );
    }
    assert_eq!(lines(&with).len(), 3, "its line and those that were there");
    assert_eq!((&lines(&with)[2]["id"], &lines(&with)[2]["status"]), (&json!("WFS-later"), &json!("paused")));
    assert_eq!(&lines(&with)[2]["directory"], folder);
    assert!(!without.path(REGISTRY).exists());
    for layout in ["ocr", "none"] {
        with.run(["import", &path, "--layout", layout]).code(2);
    }
}
