//! Tests of further rules of the format: places of definitions, phases that start at 1, the order of a gate's
//! stages, tasks as items, and other things where a session or a definition is expected.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn definitions_are_found_in_each_of_the_four_folders_and_the_first_counts() {
    let folders = [".praxis-os/workflows", ".agent-os/workflows", "universal/workflows", "workflows"];
    let sandbox = fresh();
    for (place, folder) in folders.iter().enumerate().rev() {
        sandbox.write(
            &format!("{folder}/only_{place}/metadata.json"),
            r#"{"total_phases": 1, "phases": [{"phase_number": 0, "phase_name": "Alone"}]}"#,
        );
        sandbox.write(
            &format!("{folder}/all/metadata.json"),
            &format!(
                r#"{{"total_phases": 1, "phases": [{{"phase_number": 0, "phase_name": "Of {folder}"}}]}}"#
            ),
        );
        let seen = sandbox.run(["workflow", "show", "all", "--json"]).ok().json();
        assert_eq!(seen["definition"]["phases"][0]["title"], format!("Of {folder}"), "before those after it");
    }
    for (place, folder) in folders.iter().enumerate() {
        let name = format!("only_{place}");
        let started =
            sandbox.run(["start", &name, "--layout", "praxis", "--id", &name, "--json"]).ok().json();
        assert_eq!(started["current_phase"]["title"], "Alone", "{folder}");
    }
}

#[test]
fn a_workflow_that_begins_at_phase_1_is_one_based_in_its_sessions_too() {
    let sandbox = fresh();
    sandbox.write(
        METADATA,
        r#"{"workflow_type": "ship_v1", "version": "1.0.0", "total_phases": 2, "phases": [
            {"phase_number": 1, "phase_name": "Build"}, {"phase_number": 2, "phase_name": "Release"}]}"#,
    );
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "s"]).ok();
    let found = file(&sandbox, NEW);
    assert_eq!((&found["current_phase"], &found["completed_phases"]), (&json!(1), &json!([])));
    let structure = &found["workflow_structure"];
    assert_eq!(
        (&structure["starting_phase"], &structure["indexing_scheme"]),
        (&json!(1), &json!("one_based"))
    );
    sandbox.run(["advance", "--phase", "0"]).code(3);
    sandbox.run(["advance", "--phase", "1"]).ok();
    assert_eq!(file(&sandbox, NEW)["completed_phases"], json!([1]));
    sandbox.run(["advance", "--phase", "2"]).ok();
    let found = file(&sandbox, NEW);
    assert_eq!((&found["current_phase"], &found["completed_phases"]), (&json!(2), &json!([1, 2])));
    assert_eq!(found["lifecycle"]["completed"], true);
    assert!(view(&sandbox)["warnings"].as_array().unwrap().is_empty(), "{}", view(&sandbox)["warnings"]);
}

/// The stages of a gate are, in this order: required, type, validator, cross-field. Each of these attempts
/// fails two of them.
#[test]
fn a_gate_that_fails_two_stages_at_once_names_the_first_of_them() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    let held = |evidence: &[&str]| {
        let words = ["advance", "--phase", "1"].into_iter();
        let evidence = evidence.iter().flat_map(|one| ["--evidence", one]);
        sandbox.run(words.chain(evidence)).code(5).stderr
    };
    let hint =
        |said: &str| said.lines().find(|line| line.starts_with("hint: ")).unwrap_or_default().to_owned();
    let required = "Field 'tests' is required but missing";
    let typed = "Field 'failed' must be integer, got: str";
    let validator = "Validator 'positive' failed for field 'tests'";
    let crossed = "what fails";
    for (evidence, first, later) in [
        (&["failed=many"][..], required, typed),
        (&["failed=1"], required, crossed),
        (&["tests=0", "failed=many"], typed, validator),
        (&["tests=0", "failed=1"], validator, crossed),
    ] {
        let said = hint(&held(evidence));
        let at = |words: &str| said.find(words);
        assert!(at(first).is_some(), "{evidence:?}: {first} is not in {said}");
        assert!(at(later).is_none_or(|later| Some(later) > at(first)), "{evidence:?}: {said}");
    }
}

/// With the original tool, agents kept their own to-do lists. Here, the tasks of a phase are shown with the
/// phase, and its items are the to-do list.
#[test]
fn an_agent_has_the_tasks_of_the_phase_and_its_own_list_in_one_place() {
    let sandbox = started();
    let brief = || crate::unbroken(&sandbox.run(["brief"]).ok().stdout);
    assert!(brief().contains("Tasks: 1. Read the issue (task-1.md)"), "{}", brief());
    let added = sandbox.run(["item", "add", "Read the issue", "--json"]).ok().json();
    let listed = sandbox.run(["item", "list", "--json"]).ok().json();
    let item = &listed["items"][0];
    assert_eq!((&item["kind"], &item["phase"]), (&json!("task"), &json!("0")), "{added:#} {listed:#}");
    let id = item["id"].as_str().unwrap().to_owned();
    assert!(brief().contains("Read the issue") && brief().contains(&id), "{}", brief());
    assert_eq!(view(&sandbox)["item_counts"]["total"], 1);
    sandbox.run(["item", "done", &id]).ok();
    assert_eq!(view(&sandbox)["item_counts"]["done"], 1);
    // The next phase has a list of its own.
    sandbox.run(["advance", "--phase", "0"]).ok();
    assert!(!brief().contains("Tasks: 1. Read the issue"), "{}", brief());
    sandbox.run(["item", "add", "Compile"]).ok();
    let listed = sandbox.run(["item", "list", "--json"]).ok().json();
    let phases: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["phase"]).collect();
    assert_eq!(phases, ["1"], "{listed:#}");
}

#[test]
fn estimated_duration_and_primary_outputs_are_told_to_whoever_works_on_it() {
    let sandbox = fresh();
    define(&sandbox);
    let text = sandbox.read(METADATA).replacen(
        '{',
        "{\"estimated_duration\": \"2 days\", \"primary_outputs\": [\"a tag\", \"a package\"], ",
        1,
    );
    sandbox.write(METADATA, &text);
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "s"]).ok();
    let brief = crate::unbroken(&sandbox.run(["brief"]).ok().stdout);
    assert!(brief.contains("All phases take: 2 days."), "{brief}");
    sandbox.run(["advance", "--phase", "0"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=1"]).ok();
    let brief = crate::unbroken(&sandbox.run(["brief"]).ok().stdout);
    assert!(brief.contains("All phases deliver: a tag; a package."), "{brief}");
}

/// A loop of links, a link that leads out of the project, ten million brackets, and a folder. None of them
/// hides the sessions.
#[test]
fn what_is_in_the_way_where_a_session_should_be_is_named_and_left_alone() {
    let sandbox = with_old();
    let at = |name: &str| format!(".praxis-os/.cache/state/{name}.json");
    let outside = sandbox.folder().join("outside.json");
    std::fs::write(&outside, pretty(&old_file())).unwrap();
    symlink(&outside, sandbox.path(&at("leads-out"))).unwrap();
    symlink("loop.json", sandbox.path(&at("loop"))).unwrap();
    symlink("nowhere.json", sandbox.path(&at("broken"))).unwrap();
    let brackets = "[".repeat(10 * 1024 * 1024);
    sandbox.write(&at("brackets"), &brackets);
    let deep = format!("{{\"session_id\":\"d\",\"current_phase\":{}", "[".repeat(500_000));
    sandbox.write(&at("deep"), &deep);
    std::fs::create_dir_all(sandbox.path(&at("folder"))).unwrap();
    let list = sandbox.run(["list", "--json"]).ok().json();
    let said = list["warnings"].to_string();
    for (name, why) in [
        ("leads-out", "it is a link, and links are not followed"),
        ("loop", "it is a link"),
        ("broken", "it is a link"),
        ("brackets", "it is larger than"),
        ("deep", "it is not JSON"),
    ] {
        assert!(said.contains(&format!("{}: {why}", at(name))), "{name}: {why} in {said}");
    }
    assert!(list["sessions"].to_string().contains(ID), "{list:#}");
    sandbox.run(["pause", "--session", ID]).ok();
    sandbox.run(["repair"]);
    assert_eq!(file(&sandbox, OLD)["lifecycle"]["paused"], true);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), pretty(&old_file()), "where it led to");
    assert_eq!(
        (sandbox.read(&at("brackets")), sandbox.read(&at("deep"))),
        (brackets, deep),
        "nothing is written over"
    );
}

#[test]
fn a_definition_that_is_a_link_or_too_large_is_refused_by_name() {
    let sandbox = fresh();
    define(&sandbox);
    let elsewhere = sandbox.folder().join("metadata.json");
    std::fs::rename(sandbox.path(METADATA), &elsewhere).unwrap();
    symlink(&elsewhere, sandbox.path(METADATA)).unwrap();
    let refused = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
    assert!(
        refused.stderr.contains(METADATA) && refused.stderr.contains("symbolic link"),
        "{}",
        refused.stderr
    );
    std::fs::remove_file(sandbox.path(METADATA)).unwrap();
    sandbox.write(METADATA, &"[".repeat(10 * 1024 * 1024));
    let refused = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
    assert!(refused.stderr.contains("larger than"), "{}", refused.stderr);
    assert!(!sandbox.path(".praxis-os/.cache").exists());
}
