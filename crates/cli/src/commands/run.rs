//! `leftoff run`

use crate::commands::{Outcome, Run, answered, shown};
use crate::globals::Globals;
use crate::ui;
use engine::Request;

/// Start the next run of a workflow
///
/// The run belongs to the same session, such as the next round of a review. If the workflow has an unfinished run, work
/// continues with that run instead. A completed session becomes active again. `leftoff run` alone means `leftoff run
/// start`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff run start\n  leftoff run start map\n  leftoff round start review"
)]
pub struct RunCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Start the next run
    Start {
        /// The workflow to run [default: the current run's]
        workflow: Option<String>,
    },
}

impl Run for RunCommand {
    fn run(self, globals: &Globals) -> Outcome {
        let workflow = match self.action {
            Some(Action::Start { workflow }) => workflow,
            None => None,
        };
        let answer = globals.command()?.execute(Request::StartRun { workflow })?;
        let run = &answer.view.run;
        let done = format!("run {} of {}", run.ordinal, run.workflow);
        if answer.view.already {
            let state = format!("{done} is already open");
            return shown(&state, &answer, ui::answer::already, globals);
        }
        answered(&done, &answer, globals)
    }
}
