//! Exporting: a session as one plain JSON document, or as the files of a layout. Changes no session, and never writes
//! over a file.

use crate::disk::below;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::sync::tree;
use layouts::layout::{self, Beginning, Depth, FileChange, Folder, Layout, Spot, Standing};
use layouts::tree::{Entry, Tree};
use model::event::{Event, Recorded};
use model::session::Session;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Of the document's shape; a change that a reader would stumble over raises it.
const VERSION: u32 = 1;

/// All that is known of a session, for any program to read.
#[derive(Debug, Serialize)]
pub struct Export {
    pub leftoff_export: u32,
    /// As `show` has it.
    pub session: Value,
    /// Everything that happened, oldest first.
    pub events: Vec<Value>,
    /// The definitions that its runs followed.
    pub workflows: Vec<Value>,
    /// All items, whole.
    pub items: Vec<Value>,
}

impl Engine {
    /// The session that is meant, as one document.
    pub fn export(&self) -> Result<Export> {
        let id = self.select(Want::Latest)?;
        let mut view = self.show(Some(id.as_str()))?;
        // What is to be done next, and what is odd here and now, is not the session.
        view.warnings.clear();
        let (_, history) = self.log(Some(id.as_str()), 0)?;
        Ok(Export {
            leftoff_export: VERSION,
            session: value(&view)?,
            workflows: self.workflows_of(&history)?,
            items: self.all_items(&id)?.iter().map(value).collect::<Result<_>>()?,
            events: history.iter().map(Self::event_json).collect(),
        })
    }

    /// The same, in a new file of a folder.
    pub fn export_to(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let export = self.export()?;
        let id = export.session["session_id"].as_str().unwrap_or("session").to_owned();
        let mut content = serde_json::to_vec_pretty(&export).map_err(|error| broken(&id, &error))?;
        content.push(b'\n');
        put_all(folder, &[FileChange { path: format!("{id}.json"), content }])
    }

    /// The session that is meant, as the files of a layout below a folder, where a project of that tool has them.
    pub fn export_as(&self, layout: &str, folder: &Path) -> Result<Vec<PathBuf>> {
        let names: Vec<&str> = layout::all().iter().map(|layout| layout.name()).collect();
        let layout = layout::by_name(layout).ok_or_else(|| Error::WrongUsage {
            message: format!("there is no layout '{layout}' that has files"),
            hint: format!("one of: {}", names.join(", ")),
        })?;
        let id = self.select(Want::Latest)?;
        let (_, history) = self.log(Some(id.as_str()), 0)?;
        let session = self.replay(&id)?;
        let spot = self.spot_for(layout, &session)?;
        let tree = self.files_before(layout, &spot, &session);
        let items = self.all_items(&id)?;
        let standing = Standing { session: &session, items: &items, since: &history };
        let now = self.clock.now();
        let changes = layout.write_anew(
            &standing,
            &Folder { spot: &spot, id: &id, worktree: &session.worktree, tree: &tree, now },
        );
        if changes.is_empty() {
            let run = session.run().map(|run| run.workflow.name.to_string()).unwrap_or_default();
            return Err(Error::WrongUsage {
                message: format!("{} has no way to show a session that follows '{run}'", layout.title()),
                hint: "export it as JSON: leave --layout out".to_owned(),
            });
        }
        let below_folder =
            |change: FileChange| FileChange { path: spot.below_project(&change.path), ..change };
        put_all(folder, &changes.into_iter().map(below_folder).collect::<Vec<_>>())
    }

    /// Where it was, in its own layout; else where a new one of that name goes.
    fn spot_for(&self, layout: &dyn Layout, session: &Session) -> Result<Spot> {
        let path = session.path.as_deref();
        if let Some(spot) = path.and_then(|path| layout.spot(path, true).or_else(|| layout.spot(path, false)))
        {
            return Ok(spot);
        }
        let begin = layout.begin(&Beginning {
            id: Some(session.id.as_str()),
            title: &session.title,
            today: session.created_at.to_zoned(jiff::tz::TimeZone::UTC).date(),
            now: self.clock.now(),
            branch: None,
            is_taken: &|_| false,
            random: [0; 16],
        });
        begin.map_err(|message| Error::WrongUsage {
            message,
            hint: "export it as JSON: leave --layout out".to_owned(),
        })
    }

    /// What its files had that the log has no word for.
    fn files_before(&self, layout: &dyn Layout, spot: &Spot, session: &Session) -> Tree {
        if session.path.as_deref() != Some(spot.path.as_str()) {
            return Tree::default();
        }
        let mut tree = tree::read(layout, spot, &self.root_of(session), Depth::Whole);
        // Of what it shares with others, only its own part goes with it.
        let paths: Vec<String> = tree.files().map(ToOwned::to_owned).collect();
        for path in paths {
            let share = tree.content(&path).and_then(|content| layout.share(spot, &path, content));
            match share {
                Some(share) if share.is_empty() => tree.remove(&path),
                Some(share) => tree.insert(path, Entry::File([share.as_slice(), b"\n"].concat())),
                None => {}
            }
        }
        tree
    }

    fn workflows_of(&self, history: &[Recorded]) -> Result<Vec<Value>> {
        let hashes: BTreeSet<&String> = history
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::RunStarted { workflow, .. } => Some(&workflow.hash),
                _ => None,
            })
            .collect();
        let mut found = Vec::new();
        for hash in hashes {
            if let Some(workflow) = self.definition(hash)? {
                found.push(value(&*workflow)?);
            }
        }
        Ok(found)
    }
}

/// New files below a folder: all of them, or none where one is there already.
fn put_all(folder: &Path, files: &[FileChange]) -> Result<Vec<PathBuf>> {
    let failed = |path: &Path, source| Error::io(format!("writing {}", path.display()), source);
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let targets: Vec<PathBuf> = files.iter().map(|file| below(folder, &file.path)).collect::<Result<_>>()?;
    if let Some(path) = targets.iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(Error::AlreadyThere { path: path.clone() });
    }
    for (target, file) in targets.iter().zip(files) {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        }
        let mut out = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(target)
            .map_err(|source| failed(target, source))?;
        out.write_all(&file.content)
            .and_then(|()| out.sync_all())
            .map_err(|source| failed(target, source))?;
    }
    Ok(targets)
}

fn value(of: &impl Serialize) -> Result<Value> {
    serde_json::to_value(of).map_err(|error| broken("(being exported)", &error))
}

fn broken(session: &str, error: &serde_json::Error) -> Error {
    Error::BrokenLog { session: session.to_owned(), why: error.to_string() }
}
