//! `leftoff bundle`

use crate::commands::{Outcome, Run, answered_or};
use crate::globals::Globals;
use crate::ui::counted;
use engine::{BundleMade, Intent, Request};
use std::path::PathBuf;
use std::process::ExitCode;

/// Carry a session to another machine in one file
///
/// A bundle contains one session: its history, the workflow definitions that it uses, and its recorded files (up to 16
/// MiB each), with their stored earlier versions. The file contains everything about the session, so only its owner can
/// read it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff bundle create login.leftoff\n  leftoff bundle create login.leftoff --session k3v9\n  leftoff bundle take login.leftoff"
)]
pub struct BundleCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Write a session to a file
    Create {
        /// The file to write; an existing file is not overwritten
        file: PathBuf,
    },
    /// Import a session: a new one, or the new part of a session that is already here
    ///
    /// The session is paused here until you resume it. Its files are written where none exist; otherwise they are
    /// written beside the existing ones, as NAME.from-bundle. If work continued in both places, the bundle is refused
    /// and nothing changes.
    Take {
        /// A file written by `bundle create`
        file: PathBuf,
    },
}

impl Run for BundleCommand {
    fn run(self, globals: &Globals) -> Outcome {
        globals.say_that_it_works();
        match self.action {
            Action::Create { file } => made(&globals.query()?.sessions().bundle(&file)?, globals),
            Action::Take { file } => {
                let answer = globals.open(Intent::Create)?.execute(Request::TakeBundle { path: file })?;
                let done = format!(
                    "imported, {} of {} phases done",
                    answer.view.completed_phases.len(),
                    answer.view.workflow.total_phases
                );
                answered_or("already here", &done, &answer, globals)
            }
        }
    }
}

fn made(bundle: &BundleMade, globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(bundle)?;
    } else {
        for line in &bundle.said {
            out.say(line);
        }
        out.text(&format!(
            "{}: session {}, {}, {}, {}",
            bundle.path.display(),
            bundle.session_id,
            counted(bundle.events, "event"),
            counted(bundle.files, "file"),
            counted(usize::try_from(bundle.bytes).unwrap_or(usize::MAX), "byte")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
