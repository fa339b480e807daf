//! `leftoff export`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use model::hint::Hint;
use model::words;
use std::path::PathBuf;
use std::process::ExitCode;

/// Export a session as JSON or as another tool's files
///
/// The JSON contains the session as in `show --json`, every event, the definitions of its runs, all items, and the
/// session's state files, if it has or had any. With --layout, the session's files and documents are written below DIR,
/// in the places where a project of that tool has them. A layout that cannot represent the session's phases is refused,
/// and alternatives are listed. Changes no session and overwrites no file.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff export > session.json\n  leftoff export backup --session 062f24e7\n  leftoff export --layout praxis ../other-project"
)]
pub struct Export {
    /// The folder to write to; created if missing [default for JSON: stdout]
    dir: Option<PathBuf>,
    /// The layout of the files [default: JSON]
    #[arg(long, value_name = "L")]
    layout: Option<String>,
}

impl Run for Export {
    fn run(self, globals: &Globals) -> Outcome {
        globals.say_that_it_works();
        let engine = globals.query()?;
        let out = globals.out();
        let written = match (&self.layout, &self.dir) {
            (Some(layout), Some(folder)) => engine.sessions().export_as(layout, folder)?,
            (None, Some(folder)) => engine.sessions().export()?.write(folder)?,
            (None, None) => {
                out.json(&engine.sessions().export()?)?;
                return Ok(ExitCode::SUCCESS);
            }
            (Some(layout), None) => {
                return Err(Failure::from(engine::Error::WrongUsage {
                    message: format!("no folder was given for the files of {layout}"),
                    hint: Hint::new("give a folder: ").run_here(words!["export", "--layout", layout, "DIR"]),
                }));
            }
        };
        let paths: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        if globals.json {
            out.json(&serde_json::json!({ "written": paths }))?;
        } else {
            for path in &paths {
                out.text(path)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
