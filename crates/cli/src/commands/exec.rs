//! `leftoff exec`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use engine::Context;
use std::ffi::OsString;
use std::process::ExitCode;

/// Run a command in the session's context
///
/// The command gets LEFTOFF_SESSION, LEFTOFF_WORKSPACE (a folder for its files), LEFTOFF_PHASE, LEFTOFF_TASK (the item
/// that you hold, or a started item that nobody holds) with LEFTOFF_TASK_TITLE and LEFTOFF_TASK_REQUIREMENTS (one per
/// line), LEFTOFF_GOAL and LEFTOFF_DOCUMENTS (existing files of finished phases, and documents of the session's own
/// tool, separated by ':'). The exit code is that of the command: 128 + signal if a signal ended the command, 127 if it
/// was not found, 126 if it could not be started. Without a session, the command gets a temporary workspace, whose path
/// is printed. A temporary workspace stays only if something was written to it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff exec -- cargo test\n  leftoff exec -- sh -c 'echo \"$LEFTOFF_PHASE\" > \"$LEFTOFF_WORKSPACE/where.txt\"'"
)]
pub struct Exec {
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Run for Exec {
    fn run(self, globals: &Globals) -> Outcome {
        let context = Context::find(&globals.options)?;
        let out = globals.out();
        if context.session.is_none() {
            out.say(&format!("no active session; workspace {}", context.workspace.display()));
        }
        let ran = context.run(&globals.options, &self.command);
        if let Some(why) = &ran.not_started {
            let program = self.command.first().map(|word| word.to_string_lossy().into_owned());
            out.error(&format!("{} cannot be started: {why}", program.unwrap_or_default()), None);
        }
        if let Some(folder) = &ran.kept {
            out.say(&format!("workspace kept, because it is not empty: {}", folder.display()));
        }
        Ok(ExitCode::from(ran.code))
    }
}
