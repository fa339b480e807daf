//! Tests of workflows that are defined in the tool's own files.

use super::*;

#[test]
fn an_unknown_workflow_is_refused_with_the_names_that_there_are() {
    let sandbox = fresh();
    define(&sandbox);
    let refused = sandbox.run(["start", "ship_v2", "--layout", "praxis", "--json"]).code(3);
    assert_eq!(refused.error()["kind"], "unknown_workflow");
    assert!(refused.error()["hint"].as_str().unwrap().contains("ship_v1"), "{}", refused.stderr);
    sandbox.run(["start", "../ship_v1", "--layout", "praxis"]).code(3);
    assert!(!sandbox.path(".praxis-os/.cache").exists());
}

#[test]
fn a_lambda_that_is_not_simple_is_refused_by_name_and_nothing_is_evaluated() {
    let sandbox = fresh();
    define(&sandbox);
    let gate = sandbox.read(GATE).replace("lambda x: x > 0", "lambda x: open('evaluated', 'w') and x > 0");
    sandbox.write(GATE, &gate);
    let refused = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
    assert!(
        refused
            .stderr
            .contains("validator 'positive' of the field 'tests' cannot be translated: it uses 'open'"),
        "{}",
        refused.stderr
    );
    assert!(!sandbox.path("evaluated").exists());
    // An existing session of the workflow continues, and a person must approve the rule.
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(OLD, &pretty(&old_file()));
    let held = sandbox.run(["advance", "--phase", "1", "--evidence", "tests=3", "--session", ID]).code(5);
    assert!(held.stderr.contains("is not evaluated by leftoff"), "{}", held.stderr);
    assert!(!sandbox.path("evaluated").exists());
}

#[test]
fn definitions_that_are_no_use_are_refused() {
    let sandbox = fresh();
    for (text, part) in [
        ("{", "it is not JSON"),
        (r#"{"total_phases": 0, "phases": []}"#, "total_phases is 0"),
        (r#"{"total_phases": 6, "phases": [{"phase_number": 0}]}"#, "the number of described phases is 1"),
    ] {
        sandbox.write(METADATA, text);
        let refused = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
        assert!(refused.stderr.contains(part), "{part} is not in {}", refused.stderr);
    }
    define(&sandbox);
    sandbox.write(GATE, "checkpoint:\n\tstrict: true\n");
    let tab = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
    assert!(tab.stderr.contains("it is not usable YAML"), "{}", tab.stderr);
    assert!(!sandbox.path(".praxis-os/.cache").exists());
}

#[test]
fn dynamic_phases_come_from_the_specification_and_a_session_keeps_those_it_began_with() {
    let sandbox = fresh();
    sandbox.write(
        METADATA,
        r#"{"total_phases": "dynamic", "phases": [{"phase_number": 0, "phase_name": "Analysis"}]}"#,
    );
    sandbox.write(
        ".praxis-os/specs/x/tasks.md",
        "# Tasks\n## Phase 1: Setup\n## Phase 2: Core\n## Summary\n### Phase 1: Setup\n",
    );
    sandbox
        .run(["start", "ship_v1", "--layout", "praxis", "--id", "s", "--target", ".praxis-os/specs/x"])
        .ok();
    let titles = |view: &Value| -> Vec<String> {
        view["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| phase["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles(&view(&sandbox)), ["Analysis", "Setup", "Core"]);
    assert_eq!(file(&sandbox, NEW)["workflow_structure"]["total_phases"], 3);
    let tasks = sandbox.read(".praxis-os/specs/x/tasks.md");
    sandbox.write(".praxis-os/specs/x/tasks.md", &format!("{tasks}## Phase 3: Docs\n"));
    let seen = view(&sandbox);
    assert_eq!(titles(&seen), ["Analysis", "Setup", "Core"]);
    let said = seen["warnings"].to_string();
    assert!(said.contains("its workflow has 4 phases; the recorded number is used"), "{said}");
    let none = sandbox.run(["start", "ship_v1", "--layout", "praxis", "--target", "../outside"]).code(4);
    assert!(
        none.stderr.contains("its phases are dynamic") && none.stderr.contains("--target"),
        "{}",
        none.stderr
    );
}

#[test]
fn its_definitions_are_listed_shown_and_checked() {
    let sandbox = fresh();
    define(&sandbox);
    sandbox.write(".praxis-os/workflows/bad_v1/metadata.json", "{");
    sandbox
        .write(".agent-os/workflows/spec_v1/metadata.json", r#"{"total_phases": "dynamic", "phases": []}"#);
    sandbox.write(".agent-os/workflows/ship_v1/metadata.json", r#"{"phases": [{"phase_number": 0}]}"#);
    sandbox.write(".praxis-os/workflows/no-metadata/README.md", "nothing\n");
    let list = sandbox.run(["workflow", "list"]).ok().stdout;
    let theirs: Vec<&str> = list.lines().filter(|line| line.contains("praxis")).collect();
    assert_eq!(
        theirs,
        [
            "bad_v1                    praxis    1 mistake",
            "ship_v1                   praxis    3 phases  ship_v1",
            "spec_v1                   praxis    phases of its target",
        ],
        "the first folder that has one counts"
    );
    assert!(list.contains("plan-implement-review     built-in"), "{list}");
    let shown = sandbox.run(["workflow", "show", "ship_v1"]).ok();
    for (path, text) in [(METADATA, sandbox.read(METADATA)), (GATE, sandbox.read(GATE))] {
        assert!(shown.stdout.contains(&format!("# {path}\n{text}")), "{path} is not in {}", shown.stdout);
    }
    let json = sandbox.run(["workflow", "show", "ship_v1", "--json"]).ok().json();
    assert_eq!(
        (&json["layout"], &json["origin"]),
        (&json!("praxis"), &json!(".praxis-os/workflows/ship_v1"))
    );
    assert_eq!(json["definition"]["phases"][1]["title"], "Build");
    assert!(json["definition"]["phases"][1]["checks"].to_string().contains("evidence.tests > 0"), "{json:#}");
    let dynamic = sandbox.run(["workflow", "show", "spec_v1", "--json"]).ok().json();
    assert_eq!((&dynamic["definition"], &dynamic["mistakes"]), (&Value::Null, &json!([])));
    assert!(dynamic["needs_target"].as_str().unwrap().contains("its phases are dynamic"));
    let checked = sandbox.run(["workflow", "check"]).code(4);
    assert!(
        checked.stdout.contains(".praxis-os/workflows/bad_v1/metadata.json:1: it is not JSON"),
        "{checked:?}"
    );
    sandbox.run(["workflow", "check", "ship_v1"]).ok();
    assert!(!sandbox.path(".praxis-os/.cache").exists() && !sandbox.path(".git/leftoff").exists());
}

#[test]
fn a_project_s_own_definition_comes_before_theirs_of_the_same_name() {
    let sandbox = fresh();
    define(&sandbox);
    sandbox.write(
        ".leftoff/workflows/ship_v1.toml",
        "name = \"ship_v1\"\nversion = \"9\"\ntitle = \"Ours\"\n[[phase]]\nid = \"a\"\ntitle = \"A\"\n",
    );
    let json = sandbox.run(["workflow", "show", "ship_v1", "--json"]).ok().json();
    assert_eq!((&json["layout"], &json["definition"]["title"]), (&Value::Null, &json!("Ours")));
    let list = sandbox.run(["workflow", "list"]).ok().stdout;
    assert_eq!(list.matches("ship_v1 ").count(), 2, "both are told:\n{list}");
    let theirs = sandbox.run(["start", "ship_v1", "--layout", "praxis", "--json"]).ok().json();
    assert_eq!(theirs["workflow"]["total_phases"], 3, "its sessions follow its own");
}

#[test]
fn a_start_without_a_workflow_names_those_that_there_are_and_makes_no_phases_up() {
    let sandbox = fresh();
    let none = sandbox.run(["start", "--layout", "praxis"]).code(3).stderr;
    assert!(none.starts_with("error: no workflow of praxis OS is defined in this project\n"), "{none}");
    for part in ["metadata.json", ".praxis-os/workflows", ".agent-os/workflows"] {
        assert!(none.contains(part), "{part} is not in {none}");
    }
    let asked = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(3).stderr;
    assert!(asked.contains("a folder ship_v1 with a metadata.json"), "{asked}");
    sandbox.write(".praxis-os/workflows/bad_v1/metadata.json", "{");
    define(&sandbox);
    let some = sandbox.run(["start", "--layout", "praxis"]).code(2).stderr;
    assert!(some.starts_with("error: a session of praxis OS needs the name of its workflow\n"), "{some}");
    assert!(
        some.contains("defined here: bad_v1, ship_v1; for example: leftoff start ship_v1 --layout praxis"),
        "{some}"
    );
    let other = sandbox.run(["start", "release", "--layout", "praxis"]).code(3).stderr;
    assert!(
        other.contains("the workflows are bad_v1, ship_v1; write your own: .praxis-os/workflows/NAME"),
        "{other}"
    );
    // The project also has a native session, so nothing shows that a new session should be the tool's.
    sandbox.run(["start", "--layout", "native"]).ok();
    let ours = sandbox.run(["start", "ship_v1"]).code(3).stderr;
    assert!(ours.contains("leftoff start ship_v1 --layout praxis"), "{ours}");
    assert!(!sandbox.path(".praxis-os/.cache").exists());
    sandbox.write(".leftoff/config.toml", "workflow = \"ship_v1\"\n");
    sandbox.run(["start", "--layout", "praxis"]).ok();
}

#[test]
fn the_gate_of_a_definition_that_was_found_later_holds_for_what_is_adopted() {
    let sandbox = with_old();
    define(&sandbox);
    let shown = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(shown["phases"][1]["title"], "Build");
    sandbox.run(["advance", "--phase", "1", "--session", ID]).code(5);
    sandbox.run(["advance", "--phase", "1", "--session", ID, "--evidence", "tests=1"]).ok();
}

#[test]
fn a_gate_that_allows_no_override_is_not_overridden() {
    let sandbox = started();
    sandbox.allow_anyone(&["override"]);
    let gate = sandbox.read(GATE).replace("{strict: true}", "{strict: true, allow_override: false}");
    sandbox.write(GATE, &gate);
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "t", "--target", "x.md"]).ok();
    sandbox.run(["advance", "--phase", "0", "--session", "t"]).ok();
    let refused = sandbox.run(["advance", "--phase", "1", "--override", "in a hurry", "--session", "t"]);
    let said = refused.code(4).stderr;
    assert!(said.contains("the gate of phase '1' cannot be overridden: workflow 'ship_v1'"), "{said}");
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=1", "--session", "t"]).ok();
    // Without this key, a person can override the gate.
    sandbox.run(["advance", "--phase", "0", "--session", "s"]).ok();
    sandbox.write(GATE, &gate.replace("allow_override: false", "allow_override: true"));
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "u", "--target", "x.md"]).ok();
    sandbox.run(["advance", "--phase", "0", "--session", "u"]).ok();
    sandbox.run(["advance", "--phase", "1", "--override", "in a hurry", "--session", "u"]).ok();
}

#[test]
fn a_specification_may_be_named_from_here_or_by_its_whole_path() {
    let sandbox = fresh();
    sandbox.write(
        METADATA,
        r#"{"workflow_type": "ship_v1", "total_phases": "dynamic", "phases": [{"phase_number": 0, "phase_name": "Plan"}]}"#,
    );
    sandbox.write("specs/a/tasks.md", "## **Phase 1**: Build\n## Phase 2: Ship\n");
    let whole = sandbox.path("specs/a").to_string_lossy().into_owned();
    for (id, target) in [("one", "./specs/a"), ("two", &whole)] {
        sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", id, "--target", target]).ok();
        let seen = sandbox.run(["show", id, "--json"]).ok().json();
        let titles: Vec<&Value> =
            seen["phases"].as_array().unwrap().iter().map(|phase| &phase["title"]).collect();
        assert_eq!(titles, ["Plan", "Build", "Ship"], "{target}: {}", seen["warnings"]);
        assert!(seen["warnings"].as_array().unwrap().is_empty(), "{}", seen["warnings"]);
    }
}

#[test]
fn a_field_that_is_missing_is_said_once_and_no_rule_says_something_else_of_it() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0", "--session", "s"]).ok();
    sandbox.write(
        GATE,
        "checkpoint: {strict: true}\nevidence_schema:\n  tests: {type: integer, required: true, validator: positive}\n  failed: {type: integer}\nvalidators:\n  positive: \"lambda x: x > 0\"\ncross_field_validation:\n  - rule: \"lambda e: e['tests'] > 10\"\n    error_message: write more tests\n  - rule: \"lambda e: e['failed'] == 0\"\n    error_message: fix what fails\n",
    );
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "t", "--parallel"]).ok();
    sandbox.run(["advance", "--phase", "0", "--session", "t"]).ok();
    let failed = sandbox.run(["advance", "--phase", "1", "--session", "t"]).code(5);
    let hint = failed.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap().to_owned();
    assert_eq!(hint.matches("Field 'tests' is required but missing").count(), 1, "{hint}");
    assert!(hint.contains("Field 'failed' is missing (fix what fails)"), "{hint}");
    assert!(!hint.contains("Write more tests"), "it could not be looked at: {hint}");
    let gate = sandbox.run(["gate", "--session", "t"]).code(5).stdout;
    assert_eq!(gate.matches("Field 'tests' is required but missing").count(), 1, "{gate}");
    let failed = sandbox.run(["advance", "--phase", "1", "--session", "t", "--evidence", "tests=3"]).code(5);
    assert!(failed.stderr.contains("Write more tests"), "{}", failed.stderr);
}
