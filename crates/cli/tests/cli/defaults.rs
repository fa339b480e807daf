//! Tests of the defaults of `start` and of the words of `list`. The layout and the workflow are those of the
//! configuration, or else those of the project's only tool.

use crate::fresh;
use serde_json::json;
use testkit::Sandbox;

fn started(sandbox: &Sandbox, words: &[&str]) -> (String, String, String) {
    let words: Vec<&str> = ["start", "--json"].iter().chain(words).copied().collect();
    let ran = sandbox.run(words).ok();
    let view = ran.json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (text(&view["layout"]), text(&view["workflow"]["name"]), ran.stderr)
}

#[test]
fn the_only_layout_of_a_project_is_what_start_begins_and_that_is_said() {
    for (folder, layout, workflow) in [
        (".workflow", "ccw", "ccw"),
        (".ocr/sessions", "ocr", "review"),
        ("essay-pipeline-20261101-100000", "essay", "essay"),
    ] {
        let sandbox = fresh();
        sandbox.at("2026-11-14T10:00:00Z");
        std::fs::create_dir_all(sandbox.path(folder)).unwrap();
        let (found, followed, _) = started(&sandbox, &["--goal", "Add CSV export"]);
        assert_eq!((found.as_str(), followed.as_str()), (layout, workflow), "{folder}");
        sandbox.at("2026-11-15T10:00:00Z");
        let said = sandbox.run(["start", "--goal", "Another thing"]).ok().stderr;
        assert!(crate::unbroken(&said).contains("the only layout in this project"), "{folder}: {said}");
        assert!(crate::unbroken(&said).contains("leftoff start --layout native"), "{folder}: {said}");
    }
}

#[test]
fn two_layouts_native_sessions_a_workflow_of_another_kind_and_parallel_work_begin_native_sessions() {
    let sandbox = fresh();
    for folder in [".workflow", ".ocr/sessions"] {
        std::fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    assert_eq!(started(&sandbox, &[]).0, "native", "two of them");
    let sandbox = fresh();
    sandbox.run(["start"]).ok();
    std::fs::create_dir_all(sandbox.path(".workflow")).unwrap();
    assert_eq!(started(&sandbox, &[]).0, "native", "native ones are kept here, too");
    for words in [&["review"][..], &["--layout", "native"], &["--parallel"]] {
        let sandbox = fresh();
        std::fs::create_dir_all(sandbox.path(".workflow")).unwrap();
        assert_eq!(started(&sandbox, words).0, "native", "{words:?}");
    }
    // For this tool, sessions follow named workflows, so the user must name one.
    let sandbox = fresh();
    std::fs::create_dir_all(sandbox.path(".praxis-os/state/sessions")).unwrap();
    std::fs::create_dir_all(sandbox.path(".praxis-os/workflow_states")).unwrap();
    assert_eq!(started(&sandbox, &[]).0, "native");
}

/// If the project defines only one workflow for the tool, a new session follows it.
#[test]
fn the_only_workflow_that_a_tool_defines_is_what_its_sessions_follow() {
    let sandbox = fresh();
    std::fs::create_dir_all(sandbox.path(".praxis-os/.cache/state")).unwrap();
    let define = |name: &str| {
        let phases =
            json!([{ "phase_number": 0, "phase_name": "A" }, { "phase_number": 1, "phase_name": "B" }]);
        let text = json!({ "workflow_type": name, "version": "1", "total_phases": 2, "phases": phases });
        sandbox.write(&format!(".praxis-os/workflows/{name}/metadata.json"), &text.to_string());
    };
    define("ship_v1");
    let (layout, workflow, _) = started(&sandbox, &[]);
    assert_eq!((layout.as_str(), workflow.as_str()), ("praxis", "ship_v1"));
    let said = sandbox.run(["start", "review"]).ok().stderr;
    assert!(said.contains("a native session; praxis OS has no workflow 'review'"), "{said}");
    let sandbox = fresh();
    std::fs::create_dir_all(sandbox.path(".workflow")).unwrap();
    let said = sandbox.run(["start", "--parallel"]).ok().stderr;
    assert!(
        said.contains("a native session; a session of Claude-Code-Workflow cannot be parallel"),
        "{said}"
    );
}

#[test]
fn a_tool_that_keeps_its_sessions_elsewhere_by_now_is_no_default() {
    let sandbox = fresh();
    std::fs::create_dir_all(sandbox.path(".ocr/sessions")).unwrap();
    sandbox.write(".ocr/data/ocr.db", "");
    assert_eq!(started(&sandbox, &[]).0, "native");
}

#[test]
fn the_configuration_sets_the_layout_and_the_workflow() {
    let sandbox = fresh();
    sandbox.write(".leftoff/config.toml", "layout = \"ccw\"\n");
    let (layout, _, _) = started(&sandbox, &["--goal", "One"]);
    assert_eq!(layout, "ccw");
    assert_eq!(started(&sandbox, &["spec"]).0, "native", "what is asked for comes first");
    sandbox.write(".leftoff/config.toml", "layout = \"ocr\"\nworkflow = \"map\"\n");
    let (layout, workflow, _) = started(&sandbox, &["--goal", "Two"]);
    assert_eq!((layout.as_str(), workflow.as_str()), ("ocr", "map"));
    sandbox.write(".leftoff/config.toml", "layout = \"native\"\n");
    assert_eq!(started(&sandbox, &[]).0, "native", "two tools keep sessions here by now");
    sandbox.write(".leftoff/config.toml", "# which\nlayout = \"cccw\"\n");
    let refused = sandbox.run(["start"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("there is no layout 'cccw'"), "{}", refused.stderr);
    let found = sandbox.run(["doctor", "--json"]).code(4).json()["findings"].clone();
    assert!(found.to_string().contains("config.toml:2"), "{found}");
    assert_ne!(found, json!([]));
}

/// `list --status` accepts the words of each tool, and the states of an active session.
#[test]
fn list_takes_the_words_of_the_tools_for_how_a_session_stands() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    let state = json!({ "session_id": "2026-11-13-main", "workflow_type": "review", "status": "closed",
        "current_phase": "complete", "phase_number": 8, "current_round": 1,
        "started_at": "2026-11-13T10:00:00Z", "updated_at": "2026-11-13T11:00:00Z" });
    sandbox.write(".ocr/sessions/2026-11-13-main/state.json", &state.to_string());
    sandbox.run(["start", "--layout", "native", "--id", "held"]).ok();
    sandbox.run(["advance"]).code(5);
    sandbox.run(["start", "--layout", "native", "--id", "going", "--parallel"]).ok();
    sandbox.run(["start", "--layout", "native", "--id", "waiting", "--paused"]).ok();
    let ids = |status: &str| -> Vec<String> {
        let list = sandbox.run(["list", "--status", status, "--json"]).ok().json();
        let lines = list["sessions"].as_array().unwrap().clone();
        let mut ids: Vec<String> =
            lines.iter().map(|line| line["session_id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("closed"), ["2026-11-13-main"]);
    assert_eq!(ids("closed"), ids("completed"));
    assert_eq!(ids("in_progress"), ["going", "held"]);
    assert_eq!(ids("checkpoint_failed"), ["held"]);
    assert_eq!(ids("interrupted"), ["waiting"]);
    assert_eq!(ids("inactive"), ["waiting"]);
    let refused = sandbox.run(["list", "--status", "copmleted"]).code(2);
    assert!(refused.stderr.contains("did you mean 'completed'?"), "{}", refused.stderr);
}
