//! The command line: what was typed becomes one call of the engine, its answer becomes text or JSON. Knows no store and no layout.

mod arguments;
mod commands;
mod failure;
mod globals;
mod hooks;
mod ui;

use failure::Failure;
use globals::Globals;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = arguments::without_help_command(std::env::args_os().collect());
    // A hook never ends with an agent's "blocked", whatever is wrong with us or with how we were called.
    let wanted = arguments::subcommand(&arguments);
    if wanted.as_deref() == Some("hook") && !asks_for_help(&arguments) {
        let behind = arguments.iter().skip_while(|word| *word != "hook").skip(1);
        return hooks::run(&behind.cloned().collect::<Vec<_>>());
    }
    let matches = match commands::parser(wanted.as_deref()).try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => return failure::usage(&error, &arguments),
    };
    let globals = Globals::from(&matches);
    let Some((name, matches)) = matches.subcommand() else {
        return failure::report(&Failure::no_command(), &globals);
    };
    match commands::run(name, matches, &globals) {
        Ok(code) => code,
        Err(failure) => failure::report(&failure, &globals),
    }
}

fn asks_for_help(arguments: &[std::ffi::OsString]) -> bool {
    arguments.iter().skip(2).any(|word| word == "--help" || word == "-h")
}
