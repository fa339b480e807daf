//! `leftoff completions`

use crate::commands::{Outcome, Run, parser};
use crate::globals::Globals;
use clap_complete::Shell;
use std::process::ExitCode;

/// Print completions for a shell
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff completions bash > ~/.local/share/bash-completion/completions/leftoff\n  leftoff completions zsh > ~/.zfunc/_leftoff"
)]
pub struct Completions {
    /// The shell that completes
    shell: Shell,
}

impl Run for Completions {
    fn run(self, globals: &Globals) -> Outcome {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut parser(None), "leftoff", &mut text);
        let script = String::from_utf8_lossy(&text);
        if globals.json {
            globals.out().json(&serde_json::json!({ "shell": self.shell.to_string(), "script": script }))?;
        } else {
            globals.out().text(&script)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
