//! `leftoff trust`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::exact_lines;
use engine::{Engine, PolicyLine, TrustedCommand, Who};
use std::process::ExitCode;

/// Let a workflow's commands run here, or the project's policy count
///
/// Shows the exact text of every command first: of the workflow as it is now, and of the definition that the current session began with. What you trust is recorded outside the repository: a clone of it runs nothing on another machine, and a command that is changed has to be trusted again. With `--policy`, lets `[policy]` of .leftoff/config.toml count on this machine as it is now. Only a person can, at a terminal. For automation, `--print` prints the value of LEFTOFF_TRUST by which these commands run without a person.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff trust ship\n  leftoff trust --policy\n  LEFTOFF_TRUST=$(leftoff trust --print ship)"
)]
pub struct Trust {
    /// The workflow whose commands may run
    #[arg(required_unless_present = "policy")]
    workflow: Option<String>,
    /// Accept the project's [policy] on this machine
    #[arg(long, conflicts_with = "workflow")]
    policy: bool,
    /// Print the hashes of the commands, for LEFTOFF_TRUST; trusts nothing
    #[arg(long, conflicts_with = "policy")]
    print: bool,
}

impl Run for Trust {
    fn run(self, globals: &Globals) -> Outcome {
        let engine = globals.query()?;
        match &self.workflow {
            None => accept_policy(&engine, globals),
            Some(workflow) if self.print => {
                let hashes: Vec<String> =
                    engine.commands_of(workflow)?.into_iter().map(|entry| entry.hash).collect();
                globals.out().text(&hashes.join(","))?;
                Ok(ExitCode::SUCCESS)
            }
            Some(workflow) => trust_commands(&engine, workflow, globals),
        }
    }
}

fn trust_commands(engine: &Engine, workflow: &str, globals: &Globals) -> Outcome {
    let commands = engine.commands_of(workflow)?;
    let out = globals.out();
    let is_new = commands.iter().any(|entry| !entry.trusted);
    let asks = is_new && globals.options.person_present && !globals.yes;
    for entry in &commands {
        // Nobody is asked about what was not shown, however quiet it is to be.
        if asks { out.raw_error(&shown(entry)) } else { out.say(&shown(entry)) }
    }
    if is_new {
        if asks && !ui::ask::yes("Let these commands run on this machine?", globals) {
            return Err(Failure::wrong_usage(
                "nothing was trusted",
                "look at the workflow: leftoff workflow show",
            ));
        }
        engine.trust(&commands)?;
    }
    let commands = engine.commands_of(workflow)?;
    if globals.json {
        out.json(&serde_json::json!({ "commands": commands }))?;
    } else {
        let count = match commands.len() {
            1 => "1 command of".to_owned(),
            count => format!("{count} commands of"),
        };
        out.text(&format!("trusted here: {count} {workflow}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn accept_policy(engine: &Engine, globals: &Globals) -> Outcome {
    let lines = engine.policy_lines();
    let out = globals.out();
    let asks = lines.iter().any(|line| !line.counts) && globals.options.person_present && !globals.yes;
    for line in &lines {
        if asks { out.raw_error(&rule(line)) } else { out.say(&rule(line)) }
    }
    if asks && !ui::ask::yes("Let this policy count on this machine?", globals) {
        return Err(Failure::wrong_usage(
            "the policy was not accepted",
            "it is [policy] in .leftoff/config.toml",
        ));
    }
    engine.accept_policy()?;
    if globals.json {
        out.json(&serde_json::json!({ "policy": engine.policy_lines() }))?;
    } else {
        out.text("the policy of this project counts on this machine")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rule(line: &PolicyLine) -> String {
    let who = match line.who {
        Who::Anyone => "anyone",
        Who::Person => "person",
    };
    let state = if line.counts { "" } else { " (does not count yet)" };
    format!("{} = \"{who}\"{state}", line.rule)
}

/// A command with every line of its text: what is trusted is exactly this.
fn shown(entry: &TrustedCommand) -> String {
    let state = if entry.trusted { " (trusted)" } else { "" };
    let whose = match &entry.session {
        Some(session) => format!(", as session {session} began with it"),
        None => String::new(),
    };
    let mut text = format!("{}/{}{whose}{state}:", entry.phase, entry.check);
    for line in exact_lines(&entry.command) {
        text.push_str("\n    ");
        text.push_str(&line);
    }
    text
}
