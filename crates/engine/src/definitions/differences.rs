//! The differences between two definitions of a workflow, in full. A person reads them to decide whether a session
//! follows the newer one.

use crate::words::one_line;
use model::workflow::{CheckDefinition, PhaseDefinition, Workflow};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The maximum length of a value when it is shown.
const LONGEST: usize = 200;
/// Parts that do not change the work, or that are compared one by one.
const OF_WORKFLOW: [&str; 6] = ["name", "version", "title", "describe", "hash", "phases"];
const OF_PHASE: [&str; 4] = ["id", "title", "purpose", "checks"];
const OF_CHECK: [&str; 2] = ["id", "help"];

/// Returns one line for each changed phase, one if the order changed, and one for all other changes.
pub(crate) fn differences(before: &Workflow, now: &Workflow) -> Vec<String> {
    let is_in = |workflow: &Workflow, phase: &PhaseDefinition| workflow.phase(phase.id.as_str()).is_some();
    let gone = before.phases.iter().filter(|phase| !is_in(now, phase));
    let gone = gone.map(|phase| format!("- phase {}", phase.id));
    let there = now.phases.iter().filter_map(|phase| match before.phase(phase.id.as_str()) {
        None => Some(format!("+ phase {}", phase.id)),
        Some(known) if known == phase => None,
        Some(known) => Some(format!("~ phase {}: {}", phase.id, changes_of(known, phase))),
    });
    let order = (shared(before, now) != shared(now, before)).then(|| "~ the order of the phases".to_owned());
    let rest = parts_that_differ(before, now, &OF_WORKFLOW);
    let rest = (!rest.is_empty()).then(|| format!("~ {}", rest.join(", ")));
    gone.chain(there).chain(order).chain(rest).collect()
}

/// Returns the phases of one definition that the other definition has too, in the order of the first.
fn shared<'a>(of: &'a Workflow, other: &Workflow) -> Vec<&'a str> {
    let ids = of.phases.iter().map(|phase| phase.id.as_str());
    ids.filter(|id| other.phase(id).is_some()).collect()
}

fn changes_of(before: &PhaseDefinition, now: &PhaseDefinition) -> String {
    let find = |phase: &'_ PhaseDefinition, id: &str| -> Option<CheckDefinition> {
        phase.checks.iter().find(|check| check.id.as_str() == id).cloned()
    };
    let mut changes = Vec::new();
    for check in &before.checks {
        match find(now, check.id.as_str()) {
            None => changes.push(format!("- check {}", check.id)),
            Some(other) => {
                let parts = parts_that_differ(check, &other, &OF_CHECK);
                changes
                    .extend((!parts.is_empty()).then(|| format!("check {}: {}", check.id, parts.join(", "))));
            }
        }
    }
    let added = now.checks.iter().filter(|check| find(before, check.id.as_str()).is_none());
    changes.extend(added.map(|check| format!("+ check {}", check.id)));
    changes.extend(parts_that_differ(before, now, &OF_PHASE));
    if changes.is_empty() { "its description changed".to_owned() } else { changes.join(", ") }
}

/// Returns every part that differs, with its value before and now.
fn parts_that_differ<T: Serialize>(before: &T, now: &T, except: &[&str]) -> Vec<String> {
    let (before, now) = (parts(before), parts(now));
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differ = |name: &&String| !except.contains(&name.as_str()) && before.get(*name) != now.get(*name);
    let line = |name: &String| format!("{name} {} → {}", shown(before.get(name)), shown(now.get(name)));
    names.into_iter().filter(differ).map(line).collect()
}

fn parts<T: Serialize>(whole: &T) -> Map<String, Value> {
    match serde_json::to_value(whole) {
        Ok(Value::Object(parts)) => parts,
        Ok(_) | Err(_) => Map::new(),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| one_line(&value.to_string(), LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow(text: &str) -> Workflow {
        layouts::definition::read(text).expect("a definition").workflow
    }

    const BEFORE: &str = "name = \"w\"\n[[phase]]\nid = \"a\"\nitems = \"task\"\nproduces = [\"A.md\"]\n\
        [[phase.check]]\nid = \"c\"\nkind = \"command\"\nrun = \"cargo test\"\n[[phase]]\nid = \"b\"\n";

    fn after(from: &str, to: &str) -> Vec<String> {
        let now = BEFORE.replace(from, to);
        assert_ne!(now, BEFORE);
        differences(&workflow(BEFORE), &workflow(&now))
    }

    #[test]
    fn nothing_that_weakens_a_gate_is_left_out() {
        assert_eq!(
            after("items = \"task\"", "when = \"false\""),
            ["~ phase a: items \"task\" → nothing, when nothing → \"false\""]
        );
        assert_eq!(after("cargo test", "true"), ["~ phase a: check c: run \"cargo test\" → \"true\""]);
        assert_eq!(after("[\"A.md\"]", "[]"), ["~ phase a: produces [\"A.md\"] → nothing"]);
        assert_eq!(after("id = \"b\"", "id = \"b\"\nstrict = false"), ["~ phase b: strict true → false"]);
        assert_eq!(after("id = \"b\"", "id = \"d\""), ["- phase b", "+ phase d"]);
        assert_eq!(after("id = \"b\"", "id = \"b\"\ntitle = \"B!\""), ["~ phase b: its description changed"]);
    }

    #[test]
    fn an_order_that_changed_and_a_run_that_goes_on_are_told() {
        let first = "name = \"w\"\n[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\n";
        let second = "name = \"w\"\non_complete = \"stay\"\n[[phase]]\nid = \"b\"\n[[phase]]\nid = \"a\"\n";
        let told = differences(&workflow(first), &workflow(second));
        assert!(told.contains(&"~ the order of the phases".to_owned()), "{told:?}");
        assert!(told.iter().any(|line| line.contains("on_complete")), "{told:?}");
    }
}
