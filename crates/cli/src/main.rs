//! The command line: what was typed becomes one call of the engine, its answer becomes text or JSON. Knows no store and no layout.

mod arguments;
mod commands;
mod failure;
mod globals;
mod hooks;
mod ui;

use failure::Failure;
use globals::Globals;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    // A hook never ends with an agent's "blocked", whatever is wrong with us or with how we were called.
    if arguments.get(1).is_some_and(|word| word == "hook") && !asks_for_help(&arguments) {
        return hooks::run(&arguments[2..]);
    }
    let wanted = arguments::subcommand(&arguments);
    // Never taken apart: the process ends soon, and freeing these piece by piece is 2 % of a command's instructions.
    let mut parser = ManuallyDrop::new(commands::parser(wanted.as_deref()));
    let matches = match parser.try_get_matches_from_mut(&arguments) {
        Ok(matches) => ManuallyDrop::new(matches),
        Err(error) => return failure::usage(&error, &arguments),
    };
    let globals = Globals::from(&*matches);
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
