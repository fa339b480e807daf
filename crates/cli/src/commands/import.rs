//! `leftoff import`

use crate::commands::{Outcome, Run, answered_or, answered_unless};
use crate::globals::Globals;
use engine::{FoundList, Intent, Request};

/// Import a task list or another tool's session
///
/// A task list becomes items of the current session: a Markdown file with check boxes, such as spec-kit's, Kiro's and
/// OpenSpec's tasks.md, or task-master's tasks.json; or a folder with one of these. Numbers become ids, and
/// dependencies become needs; a ticked box counts as claimed. Importing the list again updates the items and never
/// duplicates them. `leftoff start --from PATH` starts a session from a list.
///
/// Another tool's session becomes a native session unless --layout is given: its whole history is stored in leftoff's
/// log, it stays paused until you resume it, and its original files are left alone from then on. Importing it again
/// changes nothing. With --layout and the session's own layout, it stays in its files, in the current format of that
/// layout; a backup of the original file stays next to it. A session of another project is copied completely into this
/// one, under its name or, if that name exists, under a numbered one; it is paused as well, and its own files are not
/// touched. Nothing is imported automatically: other commands leave a session in its files and keep their format.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff import specs/001-albums/tasks.md\n  leftoff import .taskmaster\n  leftoff import 062f24e7\n  leftoff import .praxis-os/.cache/state/062f24e7-6fdc-40b3-a2d8-7ffaea6351b6.json\n  leftoff import ../other/.ocr/sessions/2026-01-31-login\n  leftoff import 062f24e7 --layout praxis"
)]
pub struct Import {
    /// A task list; or a session: its file or folder, in this project or another, or its id [default: the current
    /// session]
    path: Option<String>,
    /// The layout of the result: native, or the session's own layout in its current format
    #[arg(long, value_name = "L")]
    layout: Option<String>,
}

impl Run for Import {
    fn run(self, globals: &Globals) -> Outcome {
        let mut engine = globals.open(Intent::Create)?;
        if let Some(path) = self.path.as_deref().filter(|_| self.layout.is_none())
            && let Some(list) = FoundList::at(path, engine.project())?
        {
            let done = format!("imported {}", list.path);
            let answer = engine.execute(Request::ImportTasks(list))?;
            return answered_unless("has all of these tasks already", &done, &answer, globals);
        }
        let answer = engine.execute(Request::Import { session: self.path, layout: self.layout })?;
        let view = &answer.view;
        let (done, total) = (view.completed_phases.len(), view.workflow.total_phases);
        let imported = format!("imported: {}, {done} of {total} phases done", view.layout);
        answered_or("already imported", &imported, &answer, globals)
    }
}
