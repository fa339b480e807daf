//! `leftoff sync`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use crate::ui::counted;
use engine::{Intent, SyncRequest, SyncStatus, Synced};
use std::process::ExitCode;

/// Share sessions with other clones through a git remote
///
/// Fetches and applies what other clones sent, and sends local changes. Uses the project's own remote, with its address
/// and credentials, and refs of its own (refs/leftoff/v1/); branches, tags, hooks and your own pushes are not touched.
/// Sharing is off until `leftoff init --sync` switches it on. The following data leave this machine: whole sessions
/// with titles, goals, notes and evidence, the workflow definitions that they use, and recorded files in the store. A
/// session that contains a secret is not sent.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  leftoff init --sync\n  leftoff sync\n  leftoff sync status\n  leftoff sync resolve k3v9x2mp"
)]
pub struct SyncCommand {
    #[command(subcommand)]
    action: Option<Action>,

    /// Fetch what other clones sent, but send nothing
    #[arg(long)]
    fetch_only: bool,

    /// For hooks: never asks, prints nothing, and does nothing if the last sync was less than a minute ago
    #[arg(long, hide = true)]
    unattended: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the remote, replicas, pending changes, forks and the last error
    Status,
    /// Merge a fork's additions into the session
    ///
    /// Notes and items get new ids; phases completed in the fork become claims, and its approvals become notes for a
    /// person to check. From then on, the merged history is valid in all clones.
    Resolve {
        /// The session, or one of its forks
        session: String,
    },
    /// Remove an unused replica from the remote
    Forget {
        /// A prefix of its id, as `sync status` shows it
        replica: String,
    },
    /// Stop sharing; sessions stay in this clone
    Off {
        /// Also remove this clone's data from the remote
        #[arg(long)]
        erase: bool,
    },
}

impl Run for SyncCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            None => self.sync(globals),
            Some(Action::Status) => status(&globals.query()?.store().sync_status()?, globals),
            Some(Action::Resolve { session }) => {
                let (answer, resolved) = globals.open(Intent::Command)?.resolve_fork(&session)?;
                let done = format!(
                    "{} merged: {}, {}, {}",
                    resolved.fork,
                    counted(resolved.notes, "note"),
                    counted(resolved.items, "item"),
                    counted(resolved.claims, "claimed phase")
                );
                answered(&done, &answer, globals)
            }
            Some(Action::Forget { replica }) => {
                let forgotten = globals.open(Intent::Command)?.sync(SyncRequest::Forget { replica })?;
                globals.out().text(&forgotten.said.join("\n"))?;
                Ok(ExitCode::SUCCESS)
            }
            Some(Action::Off { erase }) => {
                let said = globals.open(Intent::Command)?.sync(SyncRequest::Off { erase })?.said;
                let out = globals.out();
                for line in &said {
                    out.say(line);
                }
                out.text("sessions of this project are no longer shared")?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl SyncCommand {
    fn sync(&self, globals: &Globals) -> Outcome {
        let request = SyncRequest::Now { fetch_only: self.fetch_only, unattended: self.unattended };
        let done = globals.open(Intent::Create)?.sync(request);
        if self.unattended {
            // A hook must not fail, so this is not an error. `sync status` shows the last error.
            return Ok(ExitCode::SUCCESS);
        }
        synced(&done?, globals)
    }
}

fn synced(done: &Synced, globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(done)?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in &done.said {
        out.say(line);
    }
    let mut line = match (done.taken, done.sent) {
        (0, 0) => "everything is in sync".to_owned(),
        (taken, sent) => format!("received {}, sent {}", counted(taken, "session"), counted(sent, "session")),
    };
    if done.forks > 0 {
        line.push_str(&format!("; {}, see: leftoff sync status", counted(done.forks, "fork")));
    }
    out.text(&line)?;
    Ok(ExitCode::SUCCESS)
}

fn status(status: &SyncStatus, globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(status)?;
        return Ok(ExitCode::SUCCESS);
    }
    out.text(&status_text(status))?;
    Ok(ExitCode::SUCCESS)
}

/// The status of sharing, as lines for people.
pub(super) fn status_text(status: &SyncStatus) -> String {
    if !status.on {
        return "Sessions of this project are not shared. Enable it: leftoff init --sync".to_owned();
    }
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let address = status.address.as_ref().map(|address| format!(" ({address})"));
    let mut lines = vec![format!("Shared through {}{}", text(&status.remote), text(&address))];
    lines.push(match status.last_sync {
        None => "Not synced yet: leftoff sync".to_owned(),
        Some(at) => format!("Last sync {}", at.strftime("%Y-%m-%d %H:%M UTC")),
    });
    if status.ahead > 0 {
        lines.push(format!("Ahead: {} with changes that were not sent", counted(status.ahead, "session")));
    }
    if status.behind > 0 {
        lines.push(format!("Behind: {} sent changes", counted(status.behind, "replica")));
    }
    for replica in &status.replicas {
        let sent = replica.last_sent.map(|at| at.strftime(", sent %Y-%m-%d %H:%M UTC").to_string());
        let this = if replica.is_this { ", this clone" } else { "" };
        let name = if replica.name.is_empty() { "(no name)" } else { replica.name.as_str() };
        lines.push(format!("  {}  {name}{}{this}", &replica.id[..8], sent.unwrap_or_default()));
    }
    for fork in &status.forks {
        lines.push(format!(
            "Fork {}: {} that {} lacks, from event {} on. Merge them: leftoff sync resolve {}",
            fork.id,
            counted(usize::try_from(fork.events).unwrap_or(usize::MAX), "event"),
            fork.session,
            fork.differs_from,
            fork.id
        ));
    }
    for held in &status.held {
        lines.push(format!(
            "Held back: session {}, because {}. Remove it: leftoff purge '<text>' --session {}",
            held.session, held.why, held.session
        ));
    }
    lines.extend(status.refused.iter().map(|line| format!("Refused: {line}")));
    if let Some(error) = &status.last_error {
        lines.push(format!("Last error: {error}"));
    }
    lines.join("\n")
}
