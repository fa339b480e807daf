//! The command line: what was typed becomes one call of the engine, its answer becomes text or JSON. Knows no store and no layout.

mod arguments;
mod commands;
mod failure;
mod globals;
mod hooks;
mod install;
mod original;
mod ui;

use failure::Failure;
use globals::Globals;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let as_req = original::is_called_as_req(&typed);
    let arguments = arguments::without_help_command(original::translated(typed));
    // A hook never ends with an agent's "blocked", whatever is wrong with us or with how we were called.
    let wanted = arguments::subcommand(&arguments);
    if wanted.as_deref() == Some("hook") && !asks_for_help(&arguments) {
        let behind = arguments.iter().skip_while(|word| *word != "hook").skip(1);
        return hooks::run(&behind.cloned().collect::<Vec<_>>());
    }
    if wanted.as_deref() == Some("statusline") && !asks_for_help(&arguments) {
        return hooks::statusline::run();
    }
    if let [_, _] = arguments.as_slice()
        && let Some(alone) = wanted.as_deref().and_then(commands::alone)
    {
        let globals = Globals::of_nothing_typed();
        return alone(&globals).unwrap_or_else(|failure| failure::report(&failure, &globals));
    }
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
        Err(failure) if as_req => failure::report(&failure.with_original_code(), &globals),
        Err(failure) => failure::report(&failure, &globals),
    }
}

fn asks_for_help(arguments: &[std::ffi::OsString]) -> bool {
    arguments.iter().skip(2).any(|word| word == "--help" || word == "-h")
}
