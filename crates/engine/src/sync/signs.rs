//! Files that say something about a session by being there, and hold nothing: made and taken away with what they say.
//! Kept as other files are, so that somebody else's making or taking one away is an edit like any other.

use super::look::{Look, hash};
use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use layouts::layout::{self, FileOp, Layout};
use layouts::problem::Change;
use layouts::tree::{Entry, Tree};
use model::session::Session;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use store::{Filter, ViewRow};

/// In place of a hash: the file must not be there.
const GONE: &str = "gone";

/// Whether a path is one of such a file.
pub(super) fn is_sign(layout: &dyn Layout, path: &str) -> bool {
    layout.facts().marker_prefix.is_some_and(|beginning| path.starts_with(beginning))
}

/// Names right below a layout's home that are such files.
pub(super) fn listed(layout: &dyn Layout, home: &Path) -> Vec<String> {
    let Some(beginning) = layout.facts().marker_prefix else { return Vec::new() };
    let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(beginning)).collect()
}

/// Those of all sessions of a project, by the layout that they belong to.
#[derive(Debug, Default)]
pub(crate) struct Signs(BTreeMap<&'static str, Vec<String>>);

impl Signs {
    /// A session's tree tells of those of others, too: they may say that it is not the one.
    pub(super) fn add_to(&self, tree: &mut Tree, layout: &dyn Layout) {
        for name in self.0.get(layout.facts().name).into_iter().flatten() {
            if tree.get(name).is_none() {
                tree.insert(name.clone(), Entry::Unread { size: 0 });
            }
        }
    }
}

pub(super) fn is_to_be_there(row: &ViewRow) -> bool {
    row.hash != GONE
}

impl Look {
    /// As we left it.
    pub(super) fn put_sign(tree: &mut Tree, row: &ViewRow) {
        if is_to_be_there(row) {
            tree.insert(row.path.clone(), Entry::File(Vec::new()));
        } else {
            tree.remove(&row.path);
        }
    }

    /// Whether somebody took away what we put there.
    pub(super) fn is_taken_away(&self, path: &str) -> bool {
        self.tree.get(path).is_none() && self.rows.get(path).is_some_and(is_to_be_there)
    }

    /// What became of it, in words.
    pub(super) fn sign_edit(&self, path: &str) -> Change {
        if self.is_taken_away(path) { Change::TakenAway } else { Change::Made }
    }
}

impl Engine {
    /// Listed once, until something changes: a list of a thousand asks a thousand times.
    pub(super) fn signs_here(&self) -> Arc<Signs> {
        let mut known = self.seen.signs.borrow_mut();
        let found = known.get_or_insert_with(|| {
            let of = |layout: &&'static dyn Layout| {
                let home = self.project.root.join(layout.capabilities().registry?.file().home);
                Some((layout.facts().name, listed(*layout, &home)))
            };
            Arc::new(Signs(layout::all().iter().filter_map(of).collect()))
        });
        Arc::clone(found)
    }

    /// Which marker files are to be there, where that is not known of them.
    pub(super) fn marker_rows(&self, session: &Session, look: &Look, ops: &[FileOp]) -> Vec<ViewRow> {
        let row = |op: &FileOp| {
            let FileOp::Marker { path, on } = op else { return None };
            let is_so = look.tree.get(path).is_some() == *on;
            let hash = if *on { hash(&[]) } else { GONE.to_owned() };
            let is_known = look.rows.get(path).is_some_and(|row| row.hash == hash && row.confirmed);
            (!is_known || !is_so).then(|| self.sign_row(session, path.clone(), hash, is_so))
        };
        ops.iter().filter_map(row).collect()
    }

    fn sign_row(&self, session: &Session, path: String, hash: String, is_so: bool) -> ViewRow {
        ViewRow {
            session: session.id.clone(),
            path,
            hash,
            body: Vec::new(),
            previous: Vec::new(),
            earlier: Vec::new(),
            version: session.version,
            boot_id: self.processes.boot_id(),
            confirmed: is_so,
            journal: store::WriteJournal::default(),
        }
    }

    /// Lets a tree know whether its project has such files at all: its own or others' that are there, else what is known
    /// of this session, or of the one that changed last.
    pub(super) fn add_customs(&self, look: &Look, tree: &mut Tree) {
        let layout = look.located.layout;
        let Some(beginning) = layout.facts().marker_prefix else { return };
        let is_known = |paths: &[String]| paths.iter().any(|path| is_sign(layout, path));
        let own: Vec<String> = look.rows.keys().cloned().collect();
        if is_known(&own) || is_known(&listed(layout, &look.home)) || is_known(&self.paths_of_siblings(look))
        {
            tree.take_away(beginning);
        }
    }

    fn paths_of_siblings(&self, look: &Look) -> Vec<String> {
        let layout = Some(look.located.layout.facts().name.to_owned());
        let worktree = Some(self.project.worktree());
        let filter = Filter { worktree, layout, limit: Some(2), ..Filter::default() };
        let siblings = self.store.list(&filter).unwrap_or_default().into_iter().map(|listed| listed.row.id);
        let others = siblings.filter(|id| *id != look.located.id);
        let rows = others.flat_map(|id| self.store.views(&id).unwrap_or_default());
        rows.map(|row| row.path).collect()
    }
}

/// Makes such a file, or takes it away. One that holds something after all is given back, to be set aside.
pub(super) fn place(target: &Path, row: &ViewRow) -> Result<Option<Vec<u8>>> {
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
