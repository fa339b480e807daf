//! Folders of runs, by which some tools count runs. If a folder cannot be created, this is only reported.

use crate::disk;
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::Answer;
use layouts::layout;
use model::id::SessionId;
use model::run::Run;
use model::session::Session;
use std::fs;

impl Engine {
    /// Creates the folder of the current run, in layouts with a folder for each run.
    pub(crate) fn make_run_folder(&self, answer: &mut Answer) {
        let Ok(id) = SessionId::parse(&answer.view.session_id) else { return };
        let Ok((_, session)) = self.load(&id) else { return };
        if let Err(error) = self.made_run_folder(&session) {
            answer.said.push(error.to_string());
        }
    }

    /// Creates the folder of the current run if the folder is missing and the run is not the first. Without the folder,
    /// the tool would show the run before it. The folder is missing in these cases:
    /// - The start of the run was undone and restored.
    /// - Only a state file names the run.
    /// - Somebody removed the folder when it was empty.
    pub(crate) fn keep_run_folder(&self, id: &SessionId) -> Result<()> {
        let (_, session) = self.load_kept(id)?;
        let is_later = session.run().is_some_and(|run| run.ordinal > 1);
        let path = session.path.as_deref().filter(|_| is_later && !session.lifecycle.is_over());
        match path.map(|path| self.root_of(&session).join(path)) {
            Some(folder) if folder.is_dir() => self.made_run_folder(&session),
            Some(_) | None => Ok(()),
        }
    }

    fn made_run_folder(&self, session: &Session) -> Result<()> {
        let Some(path) = session.run().and_then(|run| folder_of(session, run)) else { return Ok(()) };
        disk::make_below(&self.root_of(session), &path).map(drop)
    }

    /// Removes the empty folders of runs whose start was undone.
    pub(crate) fn drop_run_folders(&self, before: &Session) {
        let Ok((_, after)) = self.load(&before.id) else { return };
        let is_there = |run: &Run| {
            after
                .runs
                .iter()
                .any(|kept| kept.workflow.name == run.workflow.name && kept.ordinal == run.ordinal)
        };
        let gone = before.runs.iter().filter(|run| !is_there(run));
        for path in gone.filter_map(|run| folder_of(before, run)) {
            if let Ok(folder) = disk::below(&self.root_of(before), &path) {
                // A folder with files has somebody's work in it, so it stays.
                let _ = fs::remove_dir(folder);
            }
        }
    }
}

fn folder_of(session: &Session, run: &Run) -> Option<String> {
    let (layout, path) = (layout::by_name(&session.layout)?, session.path.as_deref()?);
    let folder = layout.facts().run_folder(run.workflow.name.as_str(), run.ordinal)?;
    Some(format!("{path}/{folder}"))
}
