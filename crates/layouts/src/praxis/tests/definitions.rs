//! Tests of workflows in metadata.json, gate-definition.yaml and tasks.md.

use super::*;
use crate::refused::Refused;
use model::workflow::{CheckKind, ValueType, Workflow};

pub(super) const METADATA: &str = ".praxis-os/workflows/ship_v1/metadata.json";
pub(super) const GATE: &str = ".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml";

pub(super) const FILES: &[(&str, &str)] = &[
    (
        METADATA,
        r#"{"workflow_type": "ship_v1", "version": "1.2.0", "name": "Ship it", "total_phases": 3,
 "estimated_duration": "1 day", "primary_outputs": ["a release"],
 "phases": [
  {"phase_number": 0, "phase_name": "Plan", "purpose": "Agree.", "estimated_effort": "1 h",
   "key_deliverables": ["plan.md"], "validation_criteria": ["agreed"],
   "tasks": [{"task_number": 1, "name": "Read", "file": "task-1.md", "purpose": "know"}]},
  {"phase_number": 1, "phase_name": "Build", "purpose": "Make it."},
  {"phase_number": 2, "phase_name": "Release"}]}"#,
    ),
    (
        GATE,
        "checkpoint:\n  strict: true\n  allow_override: true\nevidence_schema:\n  tests:\n    type: integer\n    required: true\n    validator: positive\n    description: tests that pass\n  range:\n    type: integer\n    validator: in_range\n    validator_params: {low: 3, high: 50}\n  words: {type: list, required: false}\nvalidators:\n  positive: \"lambda x: x > 0\"\n  in_range: \"lambda x, low, high: low <= x <= high\"\ncross_field_validation:\n  - rule: \"lambda e: e['tests'] >= e.get('range', 0)\"\n    error_message: too few tests\n",
    ),
];

pub(super) fn defined_with(files: &[(&str, &str)], target: Option<&str>) -> Defined {
    let mut tree = Tree::default();
    tree.set_root("/w/");
    // Like the engine, reads the needed files until no more files are needed.
    for _ in 0..5 {
        let asked = Asked { name: "ship_v1", target, tree: &tree };
        let Defined::Needs(paths) = Praxis.define(&asked) else { return Praxis.define(&asked) };
        for path in paths {
            match files.iter().find(|(known, _)| *known == path) {
                Some((_, text)) => tree.insert(path, Entry::File(text.as_bytes().to_vec())),
                None => tree.set_absent(path),
            }
        }
    }
    panic!("it asks for more and more")
}

#[track_caller]
pub(super) fn found(files: &[(&str, &str)], target: Option<&str>) -> Workflow {
    match defined_with(files, target) {
        Defined::Found(reading) => reading.value,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(files: &[(&str, &str)], target: Option<&str>, part: &str) {
    match defined_with(files, target) {
        Defined::Refused(why) => {
            assert!(
                why.iter().any(|problem| problem.to_string().contains(part)),
                "{part:?} is not in {why:?}"
            );
        }
        other => panic!("{other:?}"),
    }
}

/// The gate with one string replaced.
fn gate(from: &str, to: &str) -> Vec<(&'static str, String)> {
    assert!(FILES[1].1.contains(from), "{from}");
    vec![(METADATA, FILES[0].1.to_owned()), (GATE, FILES[1].1.replace(from, to))]
}

#[track_caller]
fn gate_refused(from: &str, to: &str, part: &str) {
    let files = gate(from, to);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    refused(&files, None, part);
}

#[test]
fn metadata_json_becomes_a_workflow() {
    let workflow = found(FILES, None);
    assert_eq!(
        (workflow.name.as_str(), workflow.version.as_str(), workflow.title.as_str()),
        ("ship_v1", "1.2.0", "Ship it")
    );
    let titles: Vec<(&str, &str)> =
        workflow.phases.iter().map(|phase| (phase.id.as_str(), phase.title.as_str())).collect();
    assert_eq!(titles, [("0", "Plan"), ("1", "Build"), ("2", "Release")]);
    assert_eq!(
        workflow.phases[0].purpose.as_deref(),
        Some(
            "Agree. Delivers: plan.md. Done when: agreed. Tasks: 1. Read (task-1.md): know. Effort: 1 h. All phases take: 1 day."
        )
    );
    assert_eq!(
        workflow.phases[0].items.as_deref(),
        Some("task"),
        "a second to-do list is not needed beside it"
    );
}

#[test]
fn a_gate_has_evidence_with_types_and_its_checks_in_order() {
    let workflow = found(FILES, None);
    let (open, gated) = (&workflow.phases[0], &workflow.phases[1]);
    assert!(gated.strict && !open.strict && open.checks.is_empty());
    let fields: Vec<(&str, ValueType, bool)> =
        gated.evidence.iter().map(|field| (field.name.as_str(), field.value_type, field.required)).collect();
    assert_eq!(
        fields,
        [
            ("tests", ValueType::Integer, true),
            ("range", ValueType::Integer, false),
            ("words", ValueType::List, false)
        ]
    );
    let ids: Vec<&str> = gated.checks.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(ids, ["tests-positive", "range-in_range", "rule-1"], "validators before cross-field rules");
    assert!(gated.checks.iter().all(|check| matches!(check.kind, CheckKind::Expr { .. })));
    assert_eq!(gated.checks[2].help.as_deref(), Some("too few tests"));
    assert_eq!(
        gated.checks[1].help.as_deref(),
        Some(
            "Validator 'in_range' failed for field 'range': lambda x, low, high: low <= x <= high (low=3, high=50)"
        )
    );
    let CheckKind::Expr { written, .. } = &gated.checks[0].kind else { panic!("an expression") };
    assert_eq!(
        written.as_deref(),
        Some("tests that pass (lambda x: x > 0)"),
        "what is shown is what people wrote"
    );
}

#[test]
fn strict_is_false_and_override_allowed_unless_said_and_a_disabled_gate_asks_for_nothing() {
    let lenient = gate("checkpoint:\n  strict: true\n  allow_override: true\n", "");
    let files: Vec<(&str, &str)> = lenient.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert!(!found(&files, None).phases[1].strict);
    let off = gate("allow_override: true", "allow_override: false\n  enabled: false");
    let files: Vec<(&str, &str)> = off.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let Defined::Found(reading) = defined_with(&files, None) else { panic!("it is usable") };
    assert!(reading.value.phases[1].checks.is_empty() && reading.value.phases[1].evidence.is_empty());
    assert!(reading.value.phases[1].no_override && !found(FILES, None).phases[1].no_override);
    assert_eq!(reading.warnings.len(), 1);
}

#[test]
fn true_is_no_integer_and_the_messages_are_kept() {
    use model::gate::read_evidence;
    use model::typed_value::Given;
    let workflow = found(FILES, None);
    let declared = &workflow.phases[1].evidence;
    let given = |value: Value| [("tests".to_owned(), Given::Json(value))].into_iter().collect();
    let help = |value: Option<Value>| {
        let given = value.map(given).unwrap_or_default();
        read_evidence(declared, &given, &|_, value| value.clone()).1.remove(0).help.unwrap_or_default()
    };
    assert_eq!(help(None), "Field 'tests' is required but missing (tests that pass)");
    assert!(
        help(Some(json!(true))).starts_with("Field 'tests' must be integer, got: "),
        "true is no integer"
    );
    assert!(help(Some(json!(90.0))).starts_with("Field 'tests' must be integer, got: "), "90.0 is a float");
    assert_eq!(help(Some(json!(90))), "");
    let says = |given: &Value| {
        let needed = ValueType::Integer;
        Praxis.say(&Saying::Refused(&Refused::Mistyped { field: "n", needed, given })).expect("words")
    };
    for (given, python) in [
        (json!("four"), "str"),
        (json!(true), "bool"),
        (json!(1.5), "float"),
        (json!(1), "int"),
        (json!([1]), "list"),
        (json!({}), "dict"),
        (Value::Null, "NoneType"),
    ] {
        assert_eq!(says(&given), format!("Field 'n' must be integer, got: {python}"));
    }
    let (asked, current) = (definition::phase_name(4), definition::phase_name(2));
    assert_eq!(
        Praxis
            .say(&Saying::Refused(&Refused::PhaseNotCurrent { asked: &asked, current: &current }))
            .as_deref(),
        Some("Cannot complete phase 4. Current phase is 2. Complete phase 2 first.")
    );
}

#[test]
fn a_lambda_that_is_not_simple_is_refused_by_name_and_never_passes_by_itself() {
    gate_refused(
        "lambda x: x > 0",
        "lambda x: __import__('os').system('id')",
        "validator 'positive' of the field 'tests' cannot be translated: it uses '__import__'",
    );
    gate_refused(
        "lambda e: e['tests'] >= e.get('range', 0)",
        "lambda e: sum(e.values()) > 1",
        "cross-field rule 1 cannot be translated: it uses 'sum'",
    );
    gate_refused(
        "validator: positive",
        "validator: nobody",
        "validator 'nobody' of the field 'tests' cannot be translated: it uses a validator that is not defined under `validators`",
    );
    // A session that already exists is shown, and a person approves the rule.
    let files = gate("lambda x: x > 0", "lambda x: isinstance(x, int)");
    let case = files.iter().fold(Case::first(FIRST_FILE), |case, (path, text)| case.with(path, text));
    case.warns("cannot be translated: it uses 'isinstance'");
    let workflow = &case.told().value.workflows[0];
    assert!(matches!(workflow.phases[1].checks[0].kind, CheckKind::Approval { .. }));
}

#[test]
fn a_gate_that_is_no_usable_yaml_is_refused() {
    gate_refused("type: integer", "type: float", "the field 'tests' has the type 'float'; the types are");
    gate_refused("strict: true", "strict: maybe", "strict is \"maybe\", not true or false");
    gate_refused(
        "validator: positive",
        "validator: [positive, small]",
        "validator [\"positive\",\"small\"] of the field 'tests' cannot be translated: it uses a value that is not the name of a validator",
    );
    gate_refused("validator: positive", "validator: 5", "validator 5 of the field 'tests'");
    gate_refused("checkpoint:\n", "checkpoint:\n\tx: 1\n", "it is not usable YAML");
    gate_refused("  allow_override: true", "  strict: false", "it is not usable YAML");
    gate_refused(FILES[1].1, "- a\n- b\n", "it is not a mapping");
    gate_refused(
        "cross_field_validation:",
        "cross_field_validation: 3\nx:",
        "cross_field_validation is not a list",
    );
}

#[test]
fn a_phase_without_a_number_or_with_that_of_another_is_not_dropped_silently() {
    for (old, new, why) in [
        ("\"phase_number\": 1,", "", "phase_number of phase 2 in the list is missing, not a number"),
        ("\"phase_number\": 1,", "\"phase_number\": \"1\",", "phase_number of phase 2 in the list is \"1\""),
        ("\"phase_number\": 1,", "\"phase_number\": 0,", "phase_number 0 is used more than once"),
    ] {
        let metadata = FILES[0].1.replace(old, new);
        assert_ne!(metadata, FILES[0].1);
        let files = [(FILES[0].0, metadata.as_str()), FILES[1]];
        let Defined::Refused(refused) = defined_with(&files, None) else {
            panic!("{new}: it is not refused")
        };
        assert!(refused.iter().any(|problem| problem.to_string().contains(why)), "{refused:?}");
    }
}

#[test]
fn a_yaml_tag_is_never_acted_upon() {
    let files = gate("strict: true", "strict: !!python/object/apply:os.system [id]");
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    refused(&files, None, "strict is [\"id\"], not true or false");
    let files = gate("strict: true", "strict: !custom true");
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert!(found(&files, None).phases[1].strict);
}

#[test]
fn yaml_anchors_are_followed_and_do_not_grow_without_bound() {
    let files = gate(
        "  words: {type: list, required: false}",
        "  words: &w {type: list, required: true}\n  more: *w",
    );
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let names: Vec<String> =
        found(&files, None).phases[1].evidence.iter().map(|field| field.name.clone()).collect();
    assert_eq!(names, ["tests", "range", "words", "more"]);
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let before = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", ")));
    }
    refused(&[FILES[0], (GATE, &bomb)], None, "it is not usable YAML");
}

#[test]
fn a_total_that_is_wrong_is_refused() {
    for total in ["0", "2", "\"six\"", "-1", "3.5"] {
        let text = FILES[0].1.replace("\"total_phases\": 3", &format!("\"total_phases\": {total}"));
        refused(&[(METADATA, &text)], None, "but the number of described phases is 3");
    }
    refused(&[(METADATA, "{\"phases\": []}")], None, "it describes no phases");
    refused(&[(METADATA, "{")], None, "it is not JSON");
    let gap =
        FILES[0].1.replace("\"phase_number\": 1", "\"phase_number\": 7").replace("\"total_phases\": 3, ", "");
    refused(&[(METADATA, &gap)], None, "its phases are 0, 2, 7");
    let other = FILES[0].1.replace("\"workflow_type\": \"ship_v1\"", "\"workflow_type\": \"other\"");
    refused(&[(METADATA, &other)], None, "workflow_type is 'other'");
}

#[test]
fn an_unknown_workflow_is_refused_and_six_phases_are_not_made_up() {
    assert_eq!(defined_with(&[], None), Defined::Unknown);
    let tree = Tree::default();
    let odd = Praxis.define(&Asked { name: "../../etc", target: None, tree: &tree });
    assert!(matches!(odd, Defined::Unknown), "a name never becomes a path unchecked");
}

pub(super) const DYNAMIC: &str = r#"{"workflow_type": "ship_v1", "total_phases": "dynamic", "dynamic_phases": true,
 "phases": [{"phase_number": 0, "phase_name": "Analysis"}, {"phase_number": "1-N", "phase_name": "The rest"}]}"#;

#[test]
fn dynamic_phases_come_from_the_tasks_of_the_specification() {
    let tasks = "# T\n## Phase 1: Setup\n## Phase 2 - Core\n### Phase 1: Setup (summary)\n";
    let workflow = found(&[(METADATA, DYNAMIC), ("specs/x/tasks.md", tasks)], Some("specs/x"));
    let titles: Vec<&str> = workflow.phases.iter().map(|phase| phase.title.as_str()).collect();
    assert_eq!(titles, ["Analysis", "Setup", "Core"]);
    let named = found(&[(METADATA, DYNAMIC), ("specs/x/tasks.md", tasks)], Some("specs/x/tasks.md"));
    assert_eq!(named.phases.len(), 3);
    for path in ["./specs/x", "specs//x/", "specs/./y/../x", "/w/specs/x", "/w/./specs/x/tasks.md"] {
        let found = found(&[(METADATA, DYNAMIC), ("specs/x/tasks.md", tasks)], Some(path));
        assert_eq!(found.phases.len(), 3, "{path}");
    }
    // Either of the two keys is enough.
    let flagged = DYNAMIC.replace("\"total_phases\": \"dynamic\", ", "");
    assert_eq!(found(&[(METADATA, &flagged), ("specs/x/tasks.md", tasks)], Some("specs/x")).phases.len(), 3);
    needs_target(Some("specs/x"), "its phases are dynamic, but specs/x/tasks.md cannot be read");
    needs_target(None, "name a specification as the target");
    for path in ["../x", "/etc", "/works/specs/x", "/w/../x", "a/../../b", "a\\b", "."] {
        needs_target(Some(path), "the tasks.md of a specification below the project");
    }
}

#[test]
fn phase_0_of_the_specification_follows_the_workflows_own() {
    let tasks = "## Phase 0: Groundwork\n## Phase 1: Setup\n";
    let workflow = found(&[(METADATA, DYNAMIC), ("specs/x/tasks.md", tasks)], Some("specs/x"));
    let titles: Vec<&str> = workflow.phases.iter().map(|phase| phase.title.as_str()).collect();
    assert_eq!(titles, ["Analysis", "Groundwork", "Setup"]);
    assert_eq!(workflow.phases[1].purpose.as_deref(), Some("Phase 0 of tasks.md."));
}

#[track_caller]
fn needs_target(target: Option<&str>, part: &str) {
    match defined_with(&[(METADATA, DYNAMIC)], target) {
        Defined::NeedsTarget(why) => assert!(why.to_string().contains(part), "{part:?} is not in {why:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_of_a_dynamic_workflow_with_a_wrong_total_has_the_phases_of_its_specification() {
    let case = Case::first_with(|fields| {
        fields["current_phase"] = json!(3);
        fields["completed_phases"] = json!([0, 1, 2]);
        fields["metadata"]["total_phases"] = json!(2);
    })
    .with(METADATA, DYNAMIC)
    .with(
        ".praxis-os/specs/2025-11-02-import/tasks.md",
        "## Phase 1: A\n## Phase 2: B\n## Phase 3: C\n## Phase 4: D\n",
    );
    case.stands(("active", 3, 3, 5)).warns("it is wrong and not used");
    assert_eq!(case.session().run().expect("a run").current().stub.title, "C");
}

/// The tool recorded a total of 2 for every dynamic workflow, even in sessions that have not completed two
/// phases.
#[test]
fn a_total_that_the_tool_made_up_does_not_end_a_session_of_a_dynamic_workflow() {
    const TASKS: &str = ".praxis-os/specs/2025-11-02-import/tasks.md";
    let of = |total: u32, tasks: &str| {
        let case = Case::first_with(|fields| fields["metadata"]["total_phases"] = json!(total));
        case.with(METADATA, DYNAMIC).with(TASKS, tasks)
    };
    let three = "## Phase 1: A\n## Phase 2: B\n";
    of(2, three)
        .stands(("active", 2, 2, 3))
        .warns("the specification has 3 phases: it is wrong and not used");
    of(2, "## Phase 1: A\n").stands(("completed", 1, 2, 2));
    of(3, "## Phase 1: A\n## Phase 2: B\n## Phase 3: C\n")
        .stands(("active", 2, 2, 3))
        .warns("the recorded number is used");
}

#[test]
fn a_session_finds_the_phases_of_a_specification_that_it_names_by_its_whole_path() {
    let mut case = Case::first_with(|fields| {
        fields["metadata"] = json!({"spec_path": "/w/.praxis-os/specs/2025-11-02-import"});
    })
    .with(METADATA, DYNAMIC)
    .with(".praxis-os/specs/2025-11-02-import/tasks.md", "## Phase 1: A\n## Phase 2: B\n");
    case.tree.set_root("/w");
    case.stands(("active", 2, 2, 3));
    assert_eq!(case.session().run().expect("a run").current().stub.title, "B");
}

#[test]
fn a_session_keeps_the_number_of_phases_that_it_was_begun_with() {
    let five = FILES[0].1.replace("\"total_phases\": 3", "\"total_phases\": 5").replace(
        "{\"phase_number\": 2, \"phase_name\": \"Release\"}",
        "{\"phase_number\": 2, \"phase_name\": \"Release\"}, {\"phase_number\": 3}, {\"phase_number\": 4}",
    );
    let case = Case::first(FIRST_FILE).with(METADATA, &five);
    case.stands(("active", 2, 2, 3))
        .warns("total_phases is 3, but its workflow has 5 phases; the recorded number is used");
}

fn needed(spot: &Spot, tree: &Tree) -> Vec<String> {
    let needs = Praxis.more_files(spot, tree, Depth::Short).into_iter();
    let path = |need| match need {
        Need::Content(path) => path,
        Need::Name(path) => panic!("only the name of {path}"),
    };
    needs.map(path).collect()
}

#[test]
fn what_is_asked_for_to_read_a_session_is_its_file_its_definition_and_its_tasks() {
    let empty = Case::first("");
    assert_eq!(needed(&empty.spot, &Tree::default()), [FIRST_PATH]);
    let case = Case::first(FIRST_FILE);
    let wanted = needed(&case.spot, &case.tree);
    assert!(wanted.contains(&METADATA.to_owned()) && !wanted.contains(&GATE.to_owned()), "{wanted:?}");
    let case = case.with(METADATA, DYNAMIC);
    let wanted = needed(&case.spot, &case.tree);
    assert!(wanted.contains(&".praxis-os/specs/2025-11-02-import/tasks.md".to_owned()), "{wanted:?}");
    let case = case.with(METADATA, FILES[0].1);
    assert!(needed(&case.spot, &case.tree).contains(&GATE.to_owned()));
}

#[test]
fn an_evidence_that_a_strict_gate_would_not_take_is_a_claim() {
    let strict = |evidence: Value, more: Value| {
        let case = Case::first_with(|fields| {
            fields["phase_artifacts"]["1"]["evidence"] = evidence;
            fields["metadata"]["attempts"] = more;
        });
        let case = FILES.iter().fold(case, |case, (path, text)| case.with(path, text));
        case.session().run().expect("a run").phases[1].claimed
    };
    assert!(strict(json!({}), json!({})), "what is required is missing");
    assert!(!strict(json!({"tests": 4}), json!({})), "the rules hold for it");
    assert!(strict(json!({"tests": 0}), json!({})), "a rule does not");
    let checks = |outcome: &str| {
        json!(
            ["tests-positive", "range-in_range", "rule-1"]
                .map(|id| json!({"id": id, "kind": "expr", "outcome": outcome}))
        )
    };
    let attempts = |outcome: &str| json!({"1": [{"at": "2025-11-02T10:00:00", "outcome": "passed", "evidence": {"tests": 4}, "checks": checks(outcome)}]});
    assert!(!strict(json!({"tests": 4}), attempts("passed")), "each rule was found to hold");
    assert!(strict(json!({"tests": 4}), attempts("failed")));
}
