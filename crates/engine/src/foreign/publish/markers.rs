//! Publishes marker files, which mean something by existing. They are stored like other files. If somebody else creates
//! or removes one, this is an external edit.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::discover::markers::listed;
use crate::foreign::observe::Observation;
use layouts::observation::is_on;
use layouts::tree::Tree;
use std::fs;
use std::path::Path;
use store::{Filter, ViewRow};

impl Engine {
    /// Records in the tree that the project uses marker files: some exist, or this session or the other session that
    /// was changed last has rows of marker files.
    pub(crate) fn add_customs(&self, observation: &Observation, tree: &mut Tree) {
        let layout = observation.located.layout;
        let Some(beginning) = layout.facts().marker_prefix else { return };
        let is_known = |paths: &[String]| paths.iter().any(|path| layout.facts().is_marker(path));
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

/// Creates or removes a marker file. If the removed file has content, returns it, to be quarantined.
pub(crate) fn place(target: &Path, row: &ViewRow) -> Result<Option<Vec<u8>>> {
    let failed = |source| Error::io(format!("writing {}", target.display()), source);
    if is_on(row) {
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
