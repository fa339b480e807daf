//! `leftoff bundle`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use crate::ui::counted;
use engine::{BundleMade, Intent};
use std::path::PathBuf;
use std::process::ExitCode;

/// Carry a session to another machine in one file
///
/// A bundle holds one session: its history, the workflow definitions it uses, and the files that it recorded (up to 16 MiB each), with what is kept of their earlier versions. The file is readable by its owner alone; it holds all that the session knows.
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
    /// Put a session into a file
    Create {
        /// File to write; never over an existing one
        file: PathBuf,
    },
    /// Take a session in: a new one, or what is new of one that is here
    ///
    /// It waits here, paused, until you go on with it. Its files are put where none is; beside, as NAME.from-bundle, where another one is. If work went on in both places it is refused, and nothing is changed.
    Take {
        /// File that `bundle create` wrote
        file: PathBuf,
    },
}

impl Run for BundleCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            Action::Create { file } => made(&globals.query()?.bundle_create(&file)?, globals),
            Action::Take { file } => {
                let answer = globals.open(Intent::Create)?.bundle_take(&file)?;
                let done = format!(
                    "taken in, {} of {} phases done",
                    answer.view.completed_phases.len(),
                    answer.view.workflow.total_phases
                );
                answered(&done, &answer, globals)
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
