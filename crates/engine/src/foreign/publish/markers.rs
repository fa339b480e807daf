//! Publishes marker files: created and removed with their meaning. Stored like other files, so that creating
//! or removing one elsewhere is an edit like any other.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::discover::markers::{is_marker, listed};
use crate::foreign::observe::{Observation, hash};
use crate::foreign::publish::new_row;
use layouts::layout::FileOp;
use layouts::problem::Change;
use layouts::tree::{Entry, Tree};
use model::session::Session;
use std::fs;
use std::path::Path;
use store::{Filter, ViewRow};

/// In place of a hash: the file must not exist.
const GONE: &str = "gone";

pub(crate) fn is_to_be_there(row: &ViewRow) -> bool {
    row.hash != GONE
}

impl Observation {
    /// The marker as we left it.
    pub(crate) fn put_marker(tree: &mut Tree, row: &ViewRow) {
        if is_to_be_there(row) {
            tree.insert(row.path.clone(), Entry::File(Vec::new()));
        } else {
            tree.remove(&row.path);
        }
    }

    /// True if somebody removed our marker.
    pub(crate) fn is_taken_away(&self, path: &str) -> bool {
        self.tree.get(path).is_none() && self.row(path).is_some_and(is_to_be_there)
    }

    /// The edit of a marker, for a message.
    pub(crate) fn marker_edit(&self, path: &str) -> Change {
        if self.is_taken_away(path) { Change::TakenAway } else { Change::Made }
    }
}

impl Engine {
    /// The marker files to create or remove.
    pub(crate) fn marker_rows(
        &self,
        session: &Session,
        observation: &Observation,
        ops: &[FileOp],
    ) -> Vec<ViewRow> {
        let row = |op: &FileOp| {
            let FileOp::Marker { path, on } = op else { return None };
            let is_so = observation.tree.get(path).is_some() == *on;
            let hash = if *on { hash(&[]) } else { GONE.to_owned() };
            let is_known = observation.row(path).is_some_and(|row| row.hash == hash && row.confirmed);
            (!is_known || !is_so).then(|| self.marker_row(session, path.clone(), hash, is_so))
        };
        ops.iter().filter_map(row).collect()
    }

    fn marker_row(&self, session: &Session, path: String, hash: String, is_so: bool) -> ViewRow {
        ViewRow { confirmed: is_so, ..new_row(session, path, hash, self.processes.boot_id()) }
    }

    /// Tells a tree whether its project uses marker files: existing ones decide, or else this session's rows,
    /// or those of the session changed last.
    pub(crate) fn add_customs(&self, observation: &Observation, tree: &mut Tree) {
        let layout = observation.located.layout;
        let Some(beginning) = layout.facts().marker_prefix else { return };
        let is_known = |paths: &[String]| paths.iter().any(|path| is_marker(layout, path));
        let own: Vec<String> = observation.rows().map(|row| row.path.clone()).collect();
        if is_known(&own)
            || is_known(&listed(layout, &observation.home))
            || is_known(&self.paths_of_siblings(observation))
        {
            tree.take_away(beginning);
        }
    }

    fn paths_of_siblings(&self, observation: &Observation) -> Vec<String> {
        let layout = Some(observation.located.layout.facts().name.to_owned());
        let worktree = Some(self.project.worktree());
        let filter = Filter { worktree, layout, limit: Some(2), ..Filter::default() };
        let siblings = self.store.list(&filter).unwrap_or_default().into_iter().map(|listed| listed.row.id);
        let others = siblings.filter(|id| *id != observation.located.id);
        let rows = others.flat_map(|id| self.store.views(&id).unwrap_or_default());
        rows.map(|row| row.path).collect()
    }
}

/// Creates or removes a marker file. One that has content is returned, to be quarantined.
pub(crate) fn place(target: &Path, row: &ViewRow) -> Result<Option<Vec<u8>>> {
    let failed = |source| Error::io(format!("writing {}", target.display()), source);
    if is_to_be_there(row) {
        exchange::put_new(target, &[]).map_err(failed)?;
        return Ok(None);
    }
    let Ok(found) = fs::symlink_metadata(target) else { return Ok(None) };
    if found.is_file() && found.len() == 0 {
        fs::remove_file(target).map_err(failed)?;
        return Ok(None);
    }
    let bytes = exchange::read(target).map_err(failed)?;
    fs::rename(target, exchange::waiting(target)).map_err(failed)?;
    Ok(Some(bytes))
}
