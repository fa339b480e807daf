//! `leftoff trust`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::exact_lines;
use engine::{Engine, PolicyLine, PolicyReport, TrustRequest, TrustedCommand, Who};
use std::process::ExitCode;

/// Trust a workflow's commands, or the project's policy or server
///
/// Shows the exact text of every command before you are asked: of the current definition of the workflow, and of the
/// definition with which the current session started. Trust is recorded outside the repository: a clone on another
/// machine runs no command until it is trusted there, and a changed command must be trusted again. With `--policy`,
/// accepts `[policy]` of .leftoff/config.toml as it is now, and the keys in .leftoff/allowed_signers, on this machine;
/// with `--store`, accepts the server that the file names for sessions. Only a person can trust, at a terminal. For
/// automation, `--print` prints the value of LEFTOFF_TRUST with which these commands run without a person.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff trust ship\n  leftoff trust --policy\n  leftoff trust --store\n  LEFTOFF_TRUST=$(leftoff trust --print ship)"
)]
pub struct Trust {
    /// The workflow whose commands may run
    #[arg(required_unless_present_any = ["policy", "store"])]
    workflow: Option<String>,
    /// Accept the project's [policy] on this machine
    #[arg(long, conflicts_with = "workflow")]
    policy: bool,
    /// Accept the server that .leftoff/config.toml names for this project's sessions
    #[arg(long, conflicts_with_all = ["workflow", "policy", "print"])]
    store: bool,
    /// Print the hashes of the commands, or with --policy the hash of .leftoff/allowed_signers, for LEFTOFF_TRUST;
    /// nothing is trusted
    #[arg(long)]
    print: bool,
}

impl Run for Trust {
    fn run(self, globals: &Globals) -> Outcome {
        if self.store {
            let url = engine::accept_store(globals.options.clone())?;
            globals.out().text(&format!("sessions of this project are now stored at {url}"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let engine = globals.query()?;
        match &self.workflow {
            None if self.print => {
                globals.out().text(&engine.workflows().policy().signers_hash.unwrap_or_default())?;
                Ok(ExitCode::SUCCESS)
            }
            None => accept_policy(&engine, globals),
            Some(workflow) if self.print => {
                let hashes: Vec<String> =
                    engine.workflows().commands(workflow)?.into_iter().map(|entry| entry.hash).collect();
                globals.out().text(&hashes.join(","))?;
                Ok(ExitCode::SUCCESS)
            }
            Some(workflow) => trust_commands(&engine, workflow, globals),
        }
    }
}

fn trust_commands(engine: &Engine, workflow: &str, globals: &Globals) -> Outcome {
    let commands = engine.workflows().commands(workflow)?;
    let out = globals.out();
    let is_new = commands.iter().any(|entry| !entry.trusted);
    let asks = is_new && globals.options.person_present && !globals.yes;
    for entry in &commands {
        // A person must see the command before the question, so it is shown even with -q.
        if asks { out.raw_error(&shown(entry)) } else { out.say(&shown(entry)) }
    }
    if is_new {
        // A caller who may not trust commands is refused without being asked to confirm.
        engine.workflows().may_trust()?;
        if asks && !ui::ask::yes("Let these commands run on this machine?", globals) {
            return Err(Failure::wrong_usage(
                "nothing was trusted",
                "see the workflow: leftoff workflow show",
            ));
        }
        engine.workflows().trust(TrustRequest::Commands(&commands))?;
    }
    let commands = engine.workflows().commands(workflow)?;
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
    let PolicyReport { lines, signers, .. } = engine.workflows().policy();
    let out = globals.out();
    let is_new = lines.iter().any(|line| !line.counts) || signers.is_some();
    let asks = is_new && globals.options.person_present && !globals.yes;
    let named = signers.iter().flat_map(|text| exact_lines(text)).filter(|line| !line.trim().is_empty());
    let named = named.map(|line| format!("may sign: {line}"));
    for line in lines.iter().map(rule).chain(named) {
        if asks { out.raw_error(&line) } else { out.say(&line) }
    }
    engine.workflows().may_trust()?;
    if asks && !ui::ask::yes("Accept this policy on this machine?", globals) {
        return Err(Failure::wrong_usage(
            "the policy was not accepted",
            "the policy is [policy] in .leftoff/config.toml",
        ));
    }
    engine.workflows().trust(TrustRequest::Policy { signers: signers.as_deref() })?;
    if globals.json {
        out.json(&serde_json::json!({ "policy": engine.workflows().policy().lines }))?;
    } else {
        out.text("the policy of this project is accepted on this machine")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn rule(line: &PolicyLine) -> String {
    let who = match line.who {
        Who::Anyone => "anyone",
        Who::Person => "person",
        Who::Signed => "signed",
    };
    let state = if line.counts { "" } else { " (not accepted yet)" };
    format!("{} = \"{who}\"{state}", line.rule)
}

/// A command with all lines of its text. Exactly this text is trusted.
fn shown(entry: &TrustedCommand) -> String {
    let state = if entry.trusted { " (trusted)" } else { "" };
    let whose = match &entry.session {
        Some(session) => format!(", as session {session} started with it"),
        None => String::new(),
    };
    let mut text = format!("{}/{}{whose}{state}:", entry.phase, entry.check);
    for line in exact_lines(&entry.command) {
        text.push_str("\n    ");
        text.push_str(&line);
    }
    text
}
