//! Turns the parser's errors into one line, and a hint that says what to type instead. The parser's own tips ("to pass
//! '--all' as a value, use '-- --all'") answer questions that nobody asked.

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use model::hint::Hint;
use model::nearest_name::nearest;
use std::ffi::OsString;

/// A placeholder in a command for the mistyped word.
const TYPED: &str = "{}";
/// A placeholder in a command for all words after the command, as a single word.
const ALL: &str = "{all}";

/// A command, wrong words after it, an introduction to the advice, and the right command.
type Instead = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const OPTIONS: [Instead; 41] = [
    ("note", &["--message", "-m", "--text"], "", &["note", "<text>"]),
    ("note", &["--type", "-k", "-t"], "", &["note", "<text>", "--kind", "decision"]),
    ("note", &["--decision", "--decided"], "", &["note", "<text>", "--kind", "decision"]),
    ("note", &["--tried", "--dead-end", "--failed"], "", &["note", "<text>", "--kind", "tried"]),
    ("note", &["--blocker", "--blocked"], "", &["note", "<text>", "--kind", "blocker"]),
    ("note", &["--question"], "", &["note", "<text>", "--kind", "question"]),
    ("list", &["--paused", "--done", "--completed", "--closed"], "", &["list", "--all"]),
    ("item list", &["--open", "--ready", "--done"], "", &["item", "list", "--all"]),
    ("item add", &["--parts", "--subtask", "--sub"], "", &["item", "add", "<title>", "--parent", "<item>"]),
    ("brief", &["--markdown", "--md"], "", &["brief", "--format", "markdown"]),
    ("brief", &["--short", "--max-tokens", "--tokens"], "", &["brief", "--budget", "600"]),
    ("undo", &["--all", "--hard"], "choose a version to return to: ", &["undo", "--to", "<version>"]),
    ("checkpoint", &["--message"], "", &["checkpoint", "-m", "<name>"]),
    ("item add", &["--title", "--name", "--text", "--message", "-m"], "", &["item", "add", "<title>"]),
    ("item add", &["--description"], "", &["item", "add", "<title>", "--field", "description=<text>"]),
    (
        "item add",
        &["--depends-on", "--depends", "--after", "--deps"],
        "",
        &["item", "add", "<title>", "--needs", "<item>"],
    ),
    ("item done", &["--id", "--item"], "", &["item", "done", "<item>"]),
    ("item start", &["--id", "--item"], "", &["item", "start", "<item>"]),
    ("item claim", &["--id", "--item"], "", &["item", "claim", "<item>"]),
    ("item claim", &["--ttl", "--lease", "--duration"], "", &["item", "claim", "--for", "30m"]),
    ("item release", &["--id", "--item"], "", &["item", "release", "<item>"]),
    (
        "item block",
        &["--message", "-m", "--because"],
        "",
        &["item", "block", "<item>", "--reason", "<reason>"],
    ),
    ("item done", &["--message", "-m", "--note"], "add a remark as a note: ", &["note", "<text>"]),
    ("advance", &["--message", "-m", "--note"], "add a remark as a note: ", &["note", "<text>"]),
    ("advance", &["--all"], "complete one phase at a time: ", &["advance"]),
    ("advance", &["-e", "--proof"], "", &["advance", "--evidence", "<name=value>"]),
    (
        "advance",
        &["--force", "-f", "--skip"],
        "only a person can override a failed gate: ",
        &["advance", "--override", "<reason>"],
    ),
    ("start", &["--name"], "", &["start", "--title", "<title>"]),
    ("start", &["--workflow", "-w"], "", &["start", "<workflow>", "--goal", "<goal>"]),
    ("start", &["--description", "--message", "-m", "--task"], "", &["start", "--goal", "<goal>"]),
    ("status", &["--all"], "all sessions: ", &["list", "--all"]),
    ("next", &["--all"], "all remaining items: ", &["item", "list", "--all"]),
    ("show", &["--all"], "all sessions: ", &["list", "--all"]),
    ("brief", &["-f", "-o", "--output"], "", &["brief", "--format", "markdown"]),
    ("list", &["--active"], "", &["list", "--status", "active"]),
    (
        "log",
        &["--limit", "-n", "--tail"],
        "the newest events come last; pipe the output into tail: ",
        &["log"],
    ),
    ("close", &["--reason", "--message", "-m"], "record the reason first: ", &["note", "<reason>"]),
    ("pause", &["--message", "-m"], "", &["pause", "--reason", "<reason>"]),
    ("undo", &["--steps", "-n"], "repeat the command to go further back: ", &["undo"]),
    (
        "resume",
        &["--last", "--latest", "--continue"],
        "without an option, the last session is resumed: ",
        &["resume"],
    ),
    ("import", &["--from", "--file"], "", &["import", "<path>"]),
];

/// Commands that take no further word.
const VALUES: [Instead; 16] = [
    ("skip", &[], "only the current phase can be skipped: ", &["skip", "--reason", "<reason>"]),
    ("fail", &[], "", &["fail", "--error", TYPED]),
    ("init", &[], "", &["init", "--agent", TYPED]),
    ("undo", &[], "return to a version: ", &["undo", "--to", TYPED]),
    ("item block", &[], "", &["item", "block", "<item>", "--reason", TYPED]),
    ("item split", &[], "", &["item", "split", "<item>", "--into", TYPED]),
    ("item add", &[], "quote the whole title: ", &["item", "add", ALL]),
    ("item done", &[], "give one item at a time, by its id; see the items: ", &["item", "list"]),
    ("item start", &[], "give one item at a time, by its id; see the items: ", &["item", "list"]),
    ("item claim", &[], "give one item at a time, by its id; see the items: ", &["item", "list"]),
    ("start", &[], "this looks like a goal: ", &["start", "--goal", ALL]),
    ("pause", &[], "", &["pause", "--reason", ALL]),
    ("abandon", &[], "", &["abandon", "--reason", ALL]),
    ("checkpoint", &[], "", &["checkpoint", "-m", ALL]),
    ("exec", &[], "", &["exec", "--", ALL]),
    ("advance", &[], "complete one phase at a time: ", &["advance"]),
];

const SUBCOMMANDS: [Instead; 10] = [
    ("item", &["update", "edit", "mark", "status"], "mark an item as done: ", &["item", "done", "<item>"]),
    ("item", &["show", "get", "view", "info"], "", &["item", "list", "--all"]),
    ("item", &["next", "take", "pick"], "", &["item", "claim"]),
    ("item", &["reopen", "undone"], "undo your last command: ", &["undo"]),
    ("bundle", &["export", "save", "make"], "", &["bundle", "create", "<file>"]),
    ("bundle", &["import", "load", "open"], "", &["bundle", "take", "<file>"]),
    ("workflow", &["create", "add", "init"], "", &["workflow", "new", "<name>"]),
    ("workflow", &["validate", "lint"], "", &["workflow", "check"]),
    ("store", &["status", "show"], "", &["store", "info"]),
    ("artifact", &["save", "record", "new"], "", &["artifact", "add", "<path>"]),
];

/// The error on one line, and what to type instead.
pub fn explained(error: &Error, parser: &mut Command, arguments: &[OsString]) -> (String, Hint) {
    let (path, mut command) = typed_command(parser, arguments);
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => unknown(error, &path, &mut command, arguments),
        ErrorKind::InvalidSubcommand => no_subcommand(error, &path, &command, arguments),
        ErrorKind::MissingRequiredArgument => Some(Hint::new(usage(&mut command))),
        _ => None,
    };
    let mut all: Vec<String> = path.split_whitespace().map(str::to_owned).collect();
    all.push("--help".to_owned());
    let hint = hint.map_or_else(|| Hint::new("see all options: "), |hint| hint.then("; all options: "));
    (first_paragraph(&error.render().to_string()), hint.run(all))
}

/// The deepest command that the typed words name, with its path.
fn typed_command(parser: &mut Command, arguments: &[OsString]) -> (String, Command) {
    parser.build();
    let mut command: &Command = parser;
    let mut path: Vec<&str> = Vec::new();
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(found) = command.find_subcommand(word) {
            path.push(found.get_name());
            command = found;
        }
    }
    (path.join(" "), command.clone())
}

fn unknown(error: &Error, path: &str, command: &mut Command, arguments: &[OsString]) -> Option<Hint> {
    let typed = text(error, ContextKind::InvalidArg)?;
    if !typed.starts_with('-') {
        let known = VALUES.iter().find(|(of, ..)| *of == path);
        return Some(
            known.map_or_else(|| Hint::new(usage(command)), |instead| meant(instead, typed, arguments)),
        );
    }
    let option = typed.split('=').next().unwrap_or(typed);
    if let Some(instead) = OPTIONS.iter().find(|(of, wrong, ..)| *of == path && wrong.contains(&option)) {
        return Some(meant(instead, typed, arguments));
    }
    if matches!(option, "--format" | "--output" | "-o" | "-j") {
        let words = path.split_whitespace().chain(["--json"]).map(str::to_owned);
        return Some(Hint::new("as JSON: ").run(words.collect()));
    }
    let options: Vec<String> =
        command.get_arguments().filter_map(|known| known.get_long()).map(dashed).collect();
    let near = nearest(option, options.iter().map(String::as_str));
    Some(near.map_or_else(|| Hint::new(usage(command)), |near| Hint::new(format!("did you mean {near}?"))))
}

fn no_subcommand(error: &Error, path: &str, command: &Command, arguments: &[OsString]) -> Option<Hint> {
    let typed = text(error, ContextKind::InvalidSubcommand)?;
    if let Some(instead) = SUBCOMMANDS.iter().find(|(of, wrong, ..)| *of == path && wrong.contains(&typed)) {
        return Some(meant(instead, typed, arguments));
    }
    let names: Vec<&str> =
        command.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect();
    Some(match nearest(typed, names.iter().copied()) {
        Some(near) => {
            let words = path.split_whitespace().chain([near]).map(str::to_owned);
            Hint::new("did you mean: ").run(words.collect())
        }
        None => Hint::new(format!("use one of {}", names.join(", "))),
    })
}

fn meant((of, _, when, command): &Instead, typed: &str, arguments: &[OsString]) -> Hint {
    let mut words = Vec::new();
    for word in *command {
        match *word {
            TYPED => words.push(typed.to_owned()),
            // After `--`, the words of a program stay separate words.
            ALL if command.contains(&"--") => words.extend(behind(of, arguments)),
            ALL => words.push(behind(of, arguments).join(" ")),
            plain => words.push(plain.to_owned()),
        }
    }
    Hint::new(*when).run(words)
}

/// The words typed after a command, without options.
fn behind(command: &str, arguments: &[OsString]) -> Vec<String> {
    let mut path = command.split(' ').peekable();
    let typed = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let behind = typed.filter(|word| path.next_if_eq(&word.as_ref()).is_none() && !word.starts_with('-'));
    behind.map(std::borrow::Cow::into_owned).collect()
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        Some(_) | None => None,
    }
}

fn dashed(name: &str) -> String {
    format!("--{name}")
}

/// For example `usage: leftoff item block --reason <REASON> <ID>`.
fn usage(command: &mut Command) -> String {
    let usage = command.render_usage().to_string().replacen("Usage", "usage", 1);
    usage.replace(" [OPTIONS]", "")
}

/// The parser's message. After it, the parser adds usage and tips, separated by an empty line.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    lines.join(" ").replace("invalid digit found in string", "write a whole number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;

    /// Every named command exists, the wrong words are indeed wrong, and the right ones can be parsed.
    #[test]
    fn mistakes_are_mistakes_and_what_is_meant_can_be_typed() {
        for (of, wrong, _, command) in OPTIONS.iter().chain(&VALUES).chain(&SUBCOMMANDS) {
            let typed = |words: Vec<&str>| {
                let words = std::iter::once("leftoff").chain(words);
                commands::parser(None).try_get_matches_from(words).map(drop)
            };
            for word in *wrong {
                let error = typed(of.split(' ').chain([*word]).collect()).expect_err("a mistake");
                let kinds = [
                    ErrorKind::UnknownArgument,
                    ErrorKind::InvalidSubcommand,
                    ErrorKind::MissingRequiredArgument,
                ];
                assert!(kinds.contains(&error.kind()), "{of} {word}: {:?}", error.kind());
            }
            assert!(typed(command.to_vec()).is_ok(), "{command:?}");
        }
    }
}
