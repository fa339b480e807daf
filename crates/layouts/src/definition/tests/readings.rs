//! Tests of the result of reading a valid definition.

use super::super::{Place, read, template};
use crate::builtin;
use model::id::Name;
use model::workflow::{CheckKind, Indexing, OnComplete, RequirementScope, ValueType, Workflow};
use serde_json::json;

pub(super) const WHOLE: &str = r#"name = "ship"
version = 3
title = "Ship it"
indexing = "zero"
on_complete = "stay"
keep_going = true
hold_at_stop = true

[[phase]]
id = "plan"
title = "Plan"
purpose = "Agree."
produces = ["PLAN.md"]
[[phase.check]]
id = "accepted"
kind = "artifact"
path = "PLAN.md"
matches = "^x"
stale = "ok"
help = "Write it."
[[phase.check]]
id = "agreed"
kind = "approval"
expires = "24h"

[[phase]]
id = "design"

[[phase]]
id = "build"
needs = ["plan"]
when = "true"
items = "task"
strict = false
[phase.evidence]
tests = { type = "integer", required = true, describe = "how many" }
coverage = { type = "number" }
[[phase.check]]
id = "all"
kind = "expr"
expr = "evidence.tests > 0"
[[phase.check]]
id = "tests"
kind = "command"
run = "make"
[[phase.check]]
id = "quick"
kind = "command"
run = "make quick"
timeout = "2m"
[[phase.check]]
id = "clean"
kind = "git"
clean = true
[[phase.check]]
id = "tasks"
kind = "items"

[[phase]]
id = "done"
needs = []
terminal = true

[fields]
level = { type = "string", one_of = ["full", "light"], default = "full", describe = "how much" }

[requirement.planned]
scope = "single_use"
tools = ["Edit"]
satisfied_by = ["phase:plan"]
message = "Plan first."
"#;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn workflow(text: &str) -> Workflow {
    read(text).unwrap().workflow
}

#[test]
fn the_whole_of_a_definition_arrives() {
    let workflow = workflow(WHOLE);
    assert_eq!(workflow.name, name("ship"));
    assert_eq!(workflow.version, "3");
    assert_eq!(workflow.title, "Ship it");
    assert_eq!(workflow.indexing, Indexing::Zero);
    assert_eq!(workflow.on_complete, OnComplete::Stay);
    assert!(workflow.keep_going && workflow.hold_at_stop);
    let level = &workflow.fields["level"];
    assert_eq!(level.value_type, ValueType::String);
    assert_eq!(level.one_of, [json!("full"), json!("light")]);
    assert_eq!(level.default, Some(json!("full")));
    assert_eq!(level.describe.as_deref(), Some("how much"));
    let planned = &workflow.requirements["planned"];
    assert_eq!(planned.scope, RequirementScope::SingleUse);
    assert_eq!(planned.tools, ["Edit"]);
    assert_eq!(planned.satisfied_by, ["phase:plan"]);
    assert_eq!(planned.message.as_deref(), Some("Plan first."));
}

#[test]
fn phases_arrive_in_order_with_what_they_say() {
    let phases = workflow(WHOLE).phases;
    let ids: Vec<&str> = phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(ids, ["plan", "design", "build", "done"]);
    let [plan, design, build, done] = phases.as_slice() else { unreachable!("four ids were just compared") };
    assert_eq!(plan.title, "Plan");
    assert_eq!(plan.purpose.as_deref(), Some("Agree."));
    assert_eq!(plan.produces, ["PLAN.md"]);
    assert!(plan.strict && !plan.terminal);
    assert_eq!(design.title, "design");
    assert_eq!((plan.needs.len(), &design.needs), (0, &vec![name("plan")]));
    assert_eq!(build.needs, [name("plan")]);
    assert_eq!(build.when.as_deref(), Some("true"));
    assert_eq!(build.items.as_deref(), Some("task"));
    assert!(!build.strict);
    assert!(done.terminal && done.needs.is_empty());
    // The evidence keeps the order of the source, because people are asked for it in that order.
    let evidence: Vec<_> =
        build.evidence.iter().map(|entry| (entry.name.as_str(), entry.value_type, entry.required)).collect();
    assert_eq!(evidence, [("tests", ValueType::Integer, true), ("coverage", ValueType::Number, false)]);
}

#[test]
fn checks_arrive_as_their_kinds() {
    let workflow = workflow(WHOLE);
    let kinds: Vec<CheckKind> = workflow
        .phases
        .iter()
        .flat_map(|phase| phase.checks.iter().map(|check| check.kind.clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            CheckKind::Artifact {
                path: "PLAN.md".to_owned(),
                matches: Some("^x".to_owned()),
                stale_ok: true,
                is_shared: false
            },
            CheckKind::Approval { expires_seconds: Some(86_400) },
            CheckKind::Expr { expr: "evidence.tests > 0".to_owned(), written: None },
            CheckKind::Command { run: "make".to_owned(), timeout_seconds: 600 },
            CheckKind::Command { run: "make quick".to_owned(), timeout_seconds: 120 },
            CheckKind::Git { clean: Some(true) },
            CheckKind::Items,
        ]
    );
    assert_eq!(workflow.phases[0].checks[0].help.as_deref(), Some("Write it."));
}

#[test]
fn what_is_left_out_has_its_default() {
    let workflow = workflow("name = \"w\"\n[[phase]]\nid = \"a\"\n");
    assert_eq!((workflow.version.as_str(), workflow.title.as_str()), ("1", "w"));
    assert_eq!(workflow.indexing, Indexing::One);
    assert_eq!(workflow.on_complete, OnComplete::Close);
    assert!(!workflow.keep_going && !workflow.hold_at_stop);
    assert!(workflow.phases[0].strict);
}

#[test]
fn places_lead_to_what_the_engine_compiles() {
    let lines = read(WHOLE).unwrap().lines;
    let line = |phase: &str, check: &str| {
        lines.of_check(&name(phase), &name(check)).map(|place| WHOLE.lines().nth(place.line - 1).unwrap())
    };
    assert_eq!(line("plan", "accepted"), Some("matches = \"^x\""));
    assert_eq!(line("plan", "agreed"), Some("kind = \"approval\""));
    assert_eq!(line("build", "all"), Some("expr = \"evidence.tests > 0\""));
    assert_eq!(line("build", "tests"), Some("run = \"make\""));
    assert_eq!(line("plan", "all"), None);
    assert_eq!(lines.of_when(&name("build")), Some(Place { line: 32, column: 8 }));
    assert_eq!(lines.of_when(&name("plan")), None);
}

#[test]
fn the_hash_is_that_of_the_text() {
    let text = "name = \"w\"\n[[phase]]\nid = \"a\"\n";
    let hash = workflow(text).hash;
    assert_eq!(hash, "c5dafd0a43eab8700b1accf9b79fe168a963600cd22889d226020ea490558b18");
    assert_ne!(workflow(&format!("{text}# a comment\n")).hash, hash);
}

#[test]
fn the_template_reads_under_its_new_name() {
    let text = template(&name("ship-it"));
    let workflow = workflow(&text);
    assert_eq!(workflow.name, name("ship-it"));
    assert_eq!(workflow.title, "Ship it");
    assert!(!text.contains("your-workflow"));
    // The lines that are comments in the template must be valid, too.
    let uncommented: String = text
        .lines()
        .map(|line| match line.trim_start().strip_prefix("# ") {
            Some(rest) if rest.starts_with('[') || rest.contains(" = ") => format!("{rest}\n"),
            Some(_) | None => format!("{line}\n"),
        })
        .collect();
    let everything = read(&uncommented).unwrap().workflow;
    let checks: usize = everything.phases.iter().map(|phase| phase.checks.len()).sum();
    assert_eq!(checks, 6);
    assert_eq!(everything.requirements.len(), 1);
    assert_eq!(everything.fields.len(), 1);
}

#[test]
fn every_builtin_reads_under_its_own_name() {
    let shapes: Vec<(String, usize, Indexing, OnComplete, bool)> = builtin::all()
        .iter()
        .map(|builtin| {
            let workflow = workflow(builtin.text);
            assert_eq!(workflow.name, name(builtin.name));
            let ends_by_entering = workflow.phases.last().is_some_and(|phase| phase.terminal);
            (
                builtin.name.to_owned(),
                workflow.phases.len(),
                workflow.indexing,
                workflow.on_complete,
                ends_by_entering,
            )
        })
        .collect();
    let shape = |name: &str, phases, indexing, on_complete, ends_by_entering| {
        (name.to_owned(), phases, indexing, on_complete, ends_by_entering)
    };
    assert_eq!(
        shapes,
        [
            shape("plan-implement-review", 3, Indexing::One, OnComplete::Close, false),
            shape("spec", 6, Indexing::Zero, OnComplete::Close, false),
            shape("review", 8, Indexing::One, OnComplete::Close, false),
            shape("map", 6, Indexing::One, OnComplete::Stay, false),
            shape("essay", 4, Indexing::One, OnComplete::Close, false),
            shape("ccw", 3, Indexing::One, OnComplete::Close, false),
        ]
    );
}

#[test]
fn every_phase_of_a_builtin_tells_a_stranger_what_to_do() {
    for builtin in builtin::all() {
        for phase in workflow(builtin.text).phases {
            let purpose = phase.purpose.unwrap_or_default();
            assert!(
                purpose.len() > 60 && purpose.ends_with('.'),
                "{} of {}: {purpose:?}",
                phase.id,
                builtin.name
            );
        }
    }
}

#[test]
fn a_builtin_is_found_by_its_exact_name() {
    assert_eq!(builtin::find("map").map(|builtin| builtin.name), Some("map"));
    assert_eq!(builtin::find("Map"), None);
}
