//! The command line: turns arguments into one call of the engine, and the answer into text or JSON. Knows neither
//! stores nor layouts.

mod arguments;
mod commands;
mod completion;
mod failure;
mod globals;
mod help;
mod hooks;
mod install;
mod origin;
mod original_req;
mod ui;
mod usage_errors;
mod wait_for_changes;
mod wrong_words;

use globals::Globals;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let as_req = original_req::is_called_as_req(&typed);
    let arguments = arguments::without_help_command(original_req::translated(typed));
    // A hook must never exit with the code that blocks an agent, whatever is wrong with leftoff or with the arguments.
    let wanted = match arguments.as_slice() {
        [_] => Some("status".to_owned()),
        _ => arguments::subcommand(&arguments),
    };
    if wanted.as_deref() == Some("hook") && !asks_for_help(&arguments) {
        let behind = arguments.iter().skip_while(|word| *word != "hook").skip(1);
        return hooks::run(&behind.cloned().collect::<Vec<_>>());
    }
    if wanted.as_deref() == Some("statusline") && !asks_for_help(&arguments) {
        return hooks::statusline::run();
    }
    if wanted.as_deref() == Some(completion::COMMAND) {
        let behind: Vec<_> = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
        let globals = Globals::of_nothing_typed();
        let found = completion::lines(&behind);
        if found.is_empty() {
            return ExitCode::SUCCESS;
        }
        let told = globals.out().text(found.trim_end());
        return told.map_or_else(|failure| failure::report(&failure, &globals), |_| ExitCode::SUCCESS);
    }
    // `leftoff` without a command means `leftoff status`.
    if let [_] | [_, _] = arguments.as_slice()
        && let Some(alone) = wanted.as_deref().and_then(commands::alone)
    {
        let globals = Globals::of_nothing_typed();
        return alone(&globals).unwrap_or_else(|failure| failure::report(&failure, &globals));
    }
    if let Some(code) = answered_by_help(wanted.as_deref(), &arguments) {
        return code;
    }
    // The parser is never dropped, because the process ends soon. To free it takes 2 % of a command's instructions.
    let mut parser = ManuallyDrop::new(commands::parser(wanted.as_deref()));
    let matches = match parser.try_get_matches_from_mut(&arguments) {
        Ok(matches) => ManuallyDrop::new(matches),
        Err(error) => return failure::usage(&error, &mut parser, &arguments),
    };
    let globals = Globals::from(&*matches);
    let Some((name, matches)) = matches.subcommand() else {
        return commands::status(&globals).unwrap_or_else(|failure| failure::report(&failure, &globals));
    };
    let code = match commands::run(name, matches, &globals) {
        Ok(code) => code,
        Err(failure) if as_req => failure::report(&failure.with_original_code(), &globals),
        Err(failure) => failure::report(&failure, &globals),
    };
    ui::progress_line::stop();
    code
}

/// Prints the page of a topic. For other words, prints a suggestion of a command.
fn answered_by_help(wanted: Option<&str>, arguments: &[std::ffi::OsString]) -> Option<ExitCode> {
    let name = wanted.filter(|name| !commands::exists(name))?;
    let mut globals = Globals::of_nothing_typed();
    globals.json = arguments.iter().any(|word| word == "--json");
    let page = help::topic(name).filter(|_| arguments.last().is_some_and(|word| word == "--help"));
    let shown = match page {
        Some(page) => globals.out().text(page.trim_end()).map(drop),
        None => Err(usage_errors::no_such_command(name)),
    };
    Some(shown.map_or_else(|failure| failure::report(&failure, &globals), |()| ExitCode::SUCCESS))
}

fn asks_for_help(arguments: &[std::ffi::OsString]) -> bool {
    arguments.iter().skip(2).any(|word| word == "--help" || word == "-h")
}
