//! Errors about something that the user typed. Each is on one line, with a hint that says what to type instead. The
//! parser's own tips, such as "to pass '--all' as a value, use '-- --all'", rarely help, and are not shown.

use crate::commands;
use crate::failure::Failure;
use crate::wrong_words::{ALL, COMMANDS, Instead, OPTIONS, SUBCOMMANDS, TYPED, VALUES};
use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use model::hint::Hint;
use model::nearest_name::nearest;
use model::words;
use std::ffi::OsString;

/// The error for an unknown command, with a suggestion.
pub fn no_such_command(typed: &str) -> Failure {
    let message = format!("unknown command '{typed}'");
    let word = typed.to_lowercase();
    let meant = COMMANDS.iter().find(|(asked, _)| asked.contains(&word.as_str()));
    let hint = match (meant, nearest(&word, commands::names())) {
        (Some((_, meanings)), _) => meanings.iter().fold(Hint::default(), |hint, (when, command)| {
            let command: Vec<String> = command.iter().map(ToString::to_string).collect();
            hint.then(*when).run(command)
        }),
        (None, Some(name)) => Hint::new("did you mean: ").run(words![name]),
        (None, None) => Hint::new("see all commands: ").run(words!["help"]),
    };
    Failure::wrong_usage(message, hint)
}

/// The error on one line, and a hint that says what to type instead.
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

/// The command or subcommand that the user typed, with all of its words.
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
            // The words of a program after `--` stay separate words.
            ALL if command.contains(&"--") => words.extend(behind(of, arguments)),
            ALL => words.push(behind(of, arguments).join(" ")),
            plain => words.push(plain.to_owned()),
        }
    }
    Hint::new(*when).run(words)
}

/// The words that were typed after a command. Options are left out.
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

/// The usage of a command, such as `usage: leftoff item block --reason <REASON> <ID>`.
fn usage(command: &mut Command) -> String {
    let usage = command.render_usage().to_string().replacen("Usage", "usage", 1);
    usage.replace(" [OPTIONS]", "")
}

/// The message of the parser, without the usage and the tips that follow it after an empty line.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    lines.join(" ").replace("invalid digit found in string", "write a whole number")
}
