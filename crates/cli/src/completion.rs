//! Shell completion. `leftoff __complete -- WORDS` lists candidates for the next word: commands, options, and the names
//! of sessions, phases, items, workflows and checks. After an error, it lists nothing.

use crate::commands;
use crate::globals::Globals;
use clap::{Arg, Command};
use engine::{Current, Engine, Intent, ItemListRequest, ListRequest};
use std::ffi::OsString;

/// The hidden command that shells call for completion.
pub const COMMAND: &str = "__complete";
const MOST: usize = 200;

/// The kind of name that an argument expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Sessions,
    Phases,
    Items,
    Workflows,
    Checks,
    Checkpoints,
    Layouts,
    NoteKinds,
}

/// The candidates for the last word, one on each line.
pub fn lines(arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (last, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let mut found = candidates(before, last);
    found.retain(|candidate| candidate.starts_with(last));
    found.dedup();
    found.into_iter().map(|candidate| format!("{candidate}\n")).collect()
}

fn candidates(before: &[String], last: &str) -> Vec<String> {
    let root = commands::parser(None);
    let mut command = &root;
    let mut path: Vec<&str> = Vec::new();
    let mut waiting: Option<&Arg> = None;
    let mut given = 0;
    for word in before {
        if waiting.take().is_some() {
            continue;
        }
        if word.starts_with('-') {
            waiting = option(command, &root, word).filter(|option| option.get_action().takes_values());
        } else if let Some(below) = command.find_subcommand(word).filter(|_| given == 0) {
            command = below;
            path.push(below.get_name());
        } else {
            given += 1;
        }
    }
    if let Some(option) = waiting {
        return values(option, &path);
    }
    if last.starts_with('-') {
        return options(command, &root);
    }
    // After an unknown command, there are no candidates.
    if path.is_empty() && given > 0 {
        return Vec::new();
    }
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let mut found: Vec<String> = below.map(|below| below.get_name().to_owned()).collect();
    if found.is_empty() {
        let positionals: Vec<&Arg> = command.get_positionals().collect();
        let argument = positionals.get(given).or_else(|| positionals.last().filter(|_| given > 0));
        found.extend(argument.map(|argument| values(argument, &path)).unwrap_or_default());
    }
    found
}

fn option<'a>(command: &'a Command, root: &'a Command, word: &str) -> Option<&'a Arg> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let is_named = |option: &&Arg| {
        let long = option.get_long().map(|long| format!("--{long}"));
        let short = option.get_short().map(|short| format!("-{short}"));
        long.as_deref() == Some(name) || short.as_deref() == Some(name)
    };
    let all = command.get_arguments().chain(root.get_arguments());
    all.into_iter().find(is_named).filter(|_| value.is_none())
}

fn options(command: &Command, root: &Command) -> Vec<String> {
    let all = command.get_arguments().chain(root.get_arguments()).filter(|option| !option.is_hide_set());
    let mut found: Vec<String> =
        all.filter_map(|option| option.get_long()).map(|long| format!("--{long}")).collect();
    found.push("--help".to_owned());
    found.sort();
    found
}

fn values(argument: &Arg, path: &[&str]) -> Vec<String> {
    let fixed = argument.get_possible_values();
    if !fixed.is_empty() && argument.get_action().takes_values() {
        return fixed.iter().map(|value| value.get_name().to_owned()).collect();
    }
    match names(argument.get_id().as_str(), path) {
        Some(names) => named(names).unwrap_or_default(),
        None => Vec::new(),
    }
}

/// The kind of name that the argument `id` of a command expects.
fn names(id: &str, path: &[&str]) -> Option<Names> {
    let command = path.first().copied().unwrap_or_default();
    match (command, id) {
        (_, "session") => Some(Names::Sessions),
        (_, "layout") => Some(Names::Layouts),
        ("item", "id" | "parent" | "needs" | "no_longer") | ("set", "item") => Some(Names::Items),
        (_, "phase" | "named" | "affects") => Some(Names::Phases),
        ("start" | "run" | "trust", "workflow") | ("workflow", "name" | "names") => Some(Names::Workflows),
        ("approve", "check") => Some(Names::Checks),
        ("undo", "to") | ("diff", "from" | "to") => Some(Names::Checkpoints),
        ("note", "kind") => Some(Names::NoteKinds),
        ("import", _) => None,
        (_, "id") => Some(Names::Sessions),
        _ => None,
    }
}

fn named(names: Names) -> Option<Vec<String>> {
    let globals = Globals::of_nothing_typed();
    let engine = Engine::open(globals.options, Intent::Query).ok()?;
    let found = match names {
        Names::Sessions => {
            let request = ListRequest { limit: Some(MOST), ..ListRequest::default() };
            let listing = engine.sessions().list(&request).ok()?;
            listing.sessions.into_iter().map(|line| line.session_id).collect()
        }
        Names::Phases => phases(&engine)?,
        Names::Items => {
            let request = ItemListRequest { all: true, limit: MOST, ..ItemListRequest::default() };
            engine.items(&request).ok()?.items.iter().map(|item| item.id().to_string()).collect()
        }
        Names::Workflows => engine.project().workflow_names().into_iter().map(|(name, _)| name).collect(),
        Names::Checks => checks(&engine)?,
        Names::Checkpoints => {
            let history = engine.sessions().log(None, 0).ok()?.history(engine.now()).ok()?;
            history.checkpoints.into_iter().map(|made| made.name).collect()
        }
        Names::Layouts => {
            engine::layout_names().iter().map(ToString::to_string).chain(["native".to_owned()]).collect()
        }
        Names::NoteKinds => model::note::NoteKind::ALL.map(|kind| kind.name().to_owned()).to_vec(),
    };
    Some(found)
}

fn phases(engine: &Engine) -> Option<Vec<String>> {
    match engine.sessions().status().ok()? {
        Current::Session(view) => Some(view.phases.iter().map(|phase| phase.id.to_string()).collect()),
        Current::Nothing(_) => None,
    }
}

/// The names of the checks that wait for approval.
fn checks(engine: &Engine) -> Option<Vec<String>> {
    let Current::Session(view) = engine.sessions().status().ok()? else { return None };
    let all = view.phases.iter().flat_map(|phase| &phase.gate.checks);
    Some(all.filter(|check| check.kind == "approval").map(|check| check.id.clone()).collect())
}

/// The completion script for a shell.
pub fn script(shell: clap_complete::Shell) -> Option<&'static str> {
    use clap_complete::Shell::{Bash, Fish, Zsh};
    match shell {
        Bash => Some(include_str!("completion/leftoff.bash")),
        Zsh => Some(include_str!("completion/leftoff.zsh")),
        Fish => Some(include_str!("completion/leftoff.fish")),
        _ => None,
    }
}
