//! `leftoff import`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::Intent;

/// Take another tool's session fully into leftoff, or bring its file into the newest shape
///
/// Without --layout it becomes a native session: its whole history is in leftoff's log, it waits paused until you resume it, and the files that it came from are left alone from then on. Importing it again changes nothing. With --layout and its own layout it stays there, in the shape that new sessions of that layout have; the file as it was is kept as a backup beside it. One of another project is copied whole into this one, under its name or, where that is taken, a numbered one; it waits as well, and its own files are not touched. Nothing is imported by itself: other commands leave a session in its files and write those as they are.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff import 062f24e7\n  leftoff import .praxis-os/.cache/state/062f24e7-6fdc-40b3-a2d8-7ffaea6351b6.json\n  leftoff import ../other/.ocr/sessions/2026-01-31-login\n  leftoff import 062f24e7 --layout praxis"
)]
pub struct Import {
    /// Session: its file or folder, in this project or another; or its id [default: the one that is meant]
    path: Option<String>,
    /// What it is afterwards: native, or its own layout in its newest shape
    #[arg(long, value_name = "L")]
    layout: Option<String>,
}

impl Run for Import {
    fn run(self, globals: &Globals) -> Outcome {
        let mut engine = globals.open(Intent::Create)?;
        let answer = engine.import(self.path.as_deref(), self.layout.as_deref())?;
        let view = &answer.view;
        let (done, total) = (view.completed_phases.len(), view.workflow.total_phases);
        answered(&format!("imported: {}, {done} of {total} phases done", view.layout), &answer, globals)
    }
}
