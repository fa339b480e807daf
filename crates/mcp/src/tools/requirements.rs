//! `requirements`: the conditions under which agents may use tools. Only a person may approve or bypass one.

use super::schema::{ArgumentType, optional, required};
use super::{Call, Effect, Entry};
use crate::answer::{Answer, warned};
use crate::error::Mishap;
use engine::words::one_line;
use engine::{Clearing, Engine, Intent, RequirementList, RequirementRequest, SatisfyRequest};
use model::typed_value::guess;

const ACTIONS: &[&str] = &["list", "satisfy", "clear"];
/// Actions that an agent may not take.
const OF_PERSONS: &[&str] = &["approve", "bypass", "pause", "resume"];
const LONGEST_LINE: usize = 300;

pub(super) const ENTRY: Entry = Entry {
    name: "requirements",
    description: "What some tools require before they may be used here (a plan, a ticket), and whether it is satisfied. satisfy `names` only after you did the work.",
    parameters: &[
        required("action", ArgumentType::Choice(ACTIONS), ""),
        optional("names", ArgumentType::List, ""),
        optional("branch", ArgumentType::Flag, "for every agent of this branch"),
        optional("fields", ArgumentType::Object, ""),
    ],
    fields: &[("requirements", "array")],
    effect: Effect::AddsOnce,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let asked = call.arguments.name("action")?.unwrap_or_default();
    if let Some(name) = OF_PERSONS.iter().find(|name| name.eq_ignore_ascii_case(&asked)) {
        let command = if *name == "bypass" { "satisfy NAME --bypass" } else { name };
        return Err(Mishap::needs_a_person(&format!("'{name}'"), &format!("leftoff req {command}")));
    }
    let action = call.arguments.required_choice("action", ACTIONS)?;
    if action == "list" {
        return Ok(listed("listed", &call.open(Intent::Query)?.requirements().list(None, None)?));
    }
    let names = call.arguments.list("names")?;
    if names.is_empty() {
        return Err(Mishap::wrong_usage(
            "'names' is missing",
            "give the names of requirements; action list shows them",
        ));
    }
    let request = if action == "satisfy" {
        RequirementRequest::Satisfy(satisfying(call, names)?)
    } else {
        let clearing = Clearing::Named(names);
        RequirementRequest::Clear { clearing, branch: None, agent_session: None }
    };
    let answer = open(call)?.change_requirements(request)?;
    let outcome = if answer.already { "already" } else { "done" };
    Ok(listed(outcome, &answer.list).with_said(&answer.said))
}

fn satisfying(call: &Call, names: Vec<String>) -> Result<SatisfyRequest, Mishap> {
    let fields = call.arguments.values("fields")?;
    Ok(SatisfyRequest {
        names,
        for_the_branch: call.arguments.flag("branch")?,
        metadata: fields.iter().map(|(name, value)| (name.clone(), guess(value))).collect(),
        ..SatisfyRequest::default()
    })
}

/// Opens the engine. It opens even if the store cannot be opened, because requirements are in the branch's file.
fn open(call: &Call) -> Result<Engine, Mishap> {
    match Engine::open(call.options.clone(), Intent::Command) {
        Err(engine::Error::Store(_)) => Ok(Engine::open(call.options.clone(), Intent::WithoutStore)?),
        opened => Ok(opened?),
    }
}

fn listed(outcome: &str, list: &RequirementList) -> Answer {
    let mut text = warned(&list.warnings);
    if list.requirements.is_empty() {
        text.push_str("No requirements here.");
    }
    for one in &list.requirements {
        let state = if one.satisfied { "satisfied" } else { "open" };
        let line = format!("- {} ({state}): {}\n", one.name, one_line(&one.how.join("; "), LONGEST_LINE));
        text.push_str(&line);
    }
    Answer::new(outcome, text).with_fields(list)
}
