//! `leftoff completions`

use crate::commands::{Outcome, Run, parser};
use crate::completion;
use crate::globals::Globals;
use clap_complete::Shell;
use std::process::ExitCode;

/// Print completions for a shell
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff completions bash > ~/.local/share/bash-completion/completions/leftoff\n  leftoff completions zsh > ~/.zfunc/_leftoff"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Run for Completions {
    fn run(self, globals: &Globals) -> Outcome {
        let script =
            completion::script(self.shell).map_or_else(|| static_script(self.shell), ToOwned::to_owned);
        if globals.json {
            globals.out().json(&serde_json::json!({ "shell": self.shell.to_string(), "script": script }))?;
        } else {
            globals.out().text(&script)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A script that completes only commands and options. It is for shells that cannot call the program.
fn static_script(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut parser(None), "leftoff", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
