//! The next write of each file of a session. The layout's operations give the new content. Each write also
//! records which versions of the file leftoff knows afterwards.

use super::{Moving, Observation, settled};
use crate::layout::{FileOp, Purpose, SessionToPublish, WriteRequest};
use crate::reader::{Disk, Located};
use crate::tree::{Entry, Tree};
use crate::verdict::{FileState, hash};
use model::item::ItemBook;
use model::session::Session;
use model::written_file::{ViewRow, WriteJournal};
use std::collections::{BTreeMap, BTreeSet};

/// The number of a file's earlier versions whose hashes are stored.
const KEPT_HASHES: usize = 64;
/// Stored instead of a hash if a marker file must not exist.
const GONE: &str = "gone";

/// The session after the change, and the circumstances of the write.
pub struct Writer<'a> {
    pub session: &'a Session,
    pub boot_id: &'a str,
    /// True if unreadable files must be quarantined and written again.
    pub is_repair: bool,
    pub disk: &'a dyn Disk,
}

/// True for the row of a marker file that should exist.
pub fn is_on(row: &ViewRow) -> bool {
    row.hash != GONE
}

/// Adds a marker file to the tree, as leftoff left it.
pub(super) fn put_marker(tree: &mut Tree, row: &ViewRow) {
    if is_on(row) {
        tree.insert(row.path.clone(), Entry::File(Vec::new()));
    } else {
        tree.remove(&row.path);
    }
}

/// The operations for the folder of a new session, without those for its state.
pub fn initial(located: &Located, session: &Session) -> Vec<FileOp> {
    let (items, tree) = (ItemBook::default(), Tree::default());
    let folder = located.folder(&session.worktree, &tree, session.updated_at);
    let publication = SessionToPublish::new(session, &items, &[]);
    located.layout.write(&WriteRequest { purpose: Purpose::New, publication: &publication }, &folder)
}

impl Writer<'_> {
    /// The row of a write, with its other fields empty.
    fn row(&self, path: impl Into<String>, hash: String) -> ViewRow {
        ViewRow {
            session: self.session.id.clone(),
            path: path.into(),
            hash,
            body: Vec::new(),
            previous: Vec::new(),
            earlier: Vec::new(),
            version: self.session.version,
            boot_id: self.boot_id.to_owned(),
            confirmed: false,
            journal: WriteJournal::default(),
        }
    }
}

impl Observation {
    /// The rows of the files that these operations change.
    pub fn rows_after(&self, writer: &Writer<'_>, ops: &[FileOp]) -> Vec<ViewRow> {
        let puts: BTreeMap<&String, (&[u8], Option<&String>)> = ops
            .iter()
            .filter_map(|op| match op {
                FileOp::Put { file, loses } => Some((&file.path, (&file.content[..], loses.as_ref()))),
                FileOp::Create(_) | FileOp::Folder(_) | FileOp::Marker { .. } => None,
            })
            .collect();
        let is_meant =
            |path: &&String| self.state(path) != Some(FileState::Moved) && !self.located.is_marker(path);
        let paths: BTreeSet<&String> =
            self.verdicts.keys().filter(is_meant).chain(puts.keys().copied()).collect();
        let files = paths.into_iter().filter(|path| !self.leaves_alone(path, writer)).filter_map(|path| {
            let put = puts.get(path);
            let body = put.map(|(body, _)| *body).or_else(|| self.documents.content(path))?;
            let row = self.next_write(writer, path, body)?;
            Some(with_loss(row, put.and_then(|(_, lost)| *lost), self.row(path)))
        });
        let markers = ops.iter().filter_map(|op| match op {
            FileOp::Marker { path, on } => self.next_marker(writer, path, *on),
            FileOp::Put { .. } | FileOp::Create(_) | FileOp::Folder(_) => None,
        });
        files.chain(self.initial_rows(writer)).chain(markers).collect()
    }

    /// True for a file whose content is unknown, so that it must not be written. A file that leftoff wrote is
    /// written again as soon as it can be accessed. A repair quarantines any other file.
    pub fn leaves_alone(&self, path: &str, writer: &Writer<'_>) -> bool {
        match self.state(path) {
            Some(FileState::Unreadable) => !writer.is_repair && self.row(path).is_none(),
            state => state == Some(FileState::NeverRead),
        }
    }

    /// Rows for the initial files, if the session has no files.
    fn initial_rows(&self, writer: &Writer<'_>) -> Vec<ViewRow> {
        if !self.is_bare() || writer.session.lifecycle.is_over() {
            return Vec::new();
        }
        let files = initial(&self.located, writer.session).into_iter().filter_map(|op| match op {
            FileOp::Create(file) => Some(file),
            FileOp::Put { .. } | FileOp::Folder(_) | FileOp::Marker { .. } => None,
        });
        let missing = files.filter(|file| self.tree.get(&file.path).is_none());
        missing.filter_map(|file| self.next_write(writer, &file.path, &file.content)).collect()
    }

    /// The row that records a move until it is done.
    pub fn move_row(&self, writer: &Writer<'_>) -> Option<ViewRow> {
        let Moving { from, to } = self.moving.as_ref()?;
        let row = writer.row(format!("{to}/"), hash(from.as_bytes()));
        Some(ViewRow { body: from.clone().into_bytes(), ..row })
    }

    fn next_marker(&self, writer: &Writer<'_>, path: &str, on: bool) -> Option<ViewRow> {
        let confirmed = self.tree.get(path).is_some() == on;
        let hash = if on { hash(&[]) } else { GONE.to_owned() };
        let is_known = self.row(path).is_some_and(|row| row.hash == hash && row.confirmed);
        (!is_known || !confirmed).then(|| ViewRow { confirmed, ..writer.row(path, hash) })
    }

    /// True if somebody removed a marker file that leftoff created.
    pub(super) fn is_taken_away(&self, path: &str) -> bool {
        self.tree.get(path).is_none() && self.row(path).is_some_and(is_on)
    }

    /// The row for a file's next write; `None` if nothing changes.
    fn next_write(&self, writer: &Writer<'_>, path: &str, body: &[u8]) -> Option<ViewRow> {
        let known = self.row(path);
        let hash_now = hash(body);
        let there = self.tree.content(path);
        let is_there = there == Some(body) && self.over(path).is_none();
        // If a file moves, its row is written again for the new place.
        let is_as_known = known.is_some_and(|row| row.hash == hash_now && row.confirmed && is_there);
        if is_as_known && self.displaced.is_empty() && self.moving.is_none() {
            return None;
        }
        let mut earlier = known.map(|row| row.earlier.clone()).unwrap_or_default();
        // This write adopts displaced edits. Their content is recorded as an earlier version, so that they
        // are not adopted twice.
        let displaced = self.displaced.iter().filter(|(of, _)| of == path);
        earlier.extend(displaced.map(|(_, edit)| hash(&edit.bytes)));
        // Current content, also damaged content, is recorded, so that it is recognised after the write
        // replaced it.
        let is_known_now = self.over(path).is_some() || self.is_damage_of_ours(path);
        earlier.extend(there.filter(|_| is_known_now).map(hash));
        if let Some(row) = known {
            // Content that this write replaces must not be taken for an edit if it appears again. The last
            // hash is that of leftoff's own write.
            let previous = Some(hash(&row.previous)).filter(|_| !self.is_known_in_part(row));
            let before = previous.into_iter().chain([row.hash.clone()]);
            earlier.extend(before.filter(|before| *before != hash_now));
        }
        let from = earlier.len().saturating_sub(KEPT_HASHES);
        let row = ViewRow {
            body: body.to_vec(),
            previous: self.base_there(writer, path),
            earlier: earlier.split_off(from),
            confirmed: is_there,
            ..writer.row(path, hash_now)
        };
        Some(if is_there { settled(&self.located, &row) } else { row })
    }

    fn is_damage_of_ours(&self, path: &str) -> bool {
        self.state(path) == Some(FileState::Damaged)
            && self.row(path).is_some()
            && self.tree.content(path).is_some()
            && self.over(path).is_none()
    }

    /// The version on which edits by other writers are based: the current content of the file, readable or
    /// not. For a damaged file it is the content before the damage. For a file with a displaced edit it is
    /// the content used instead.
    fn base_there(&self, writer: &Writer<'_>, path: &str) -> Vec<u8> {
        let known = self.row(path);
        if let Some(row) = known.filter(|_| self.is_damage_of_ours(path)) {
            return self.whole(row, writer.disk);
        }
        if let Some(over) = self.over(path) {
            return over.clone();
        }
        match (self.tree.get(path), known.filter(|_| !writer.is_repair)) {
            (Some(Entry::File(content)), _) => content.clone(),
            // The file is unreadable, so only the content that leftoff wrote is known.
            (Some(Entry::Unusable(_) | Entry::Folder), Some(row)) => row.body.clone(),
            (Some(Entry::Unusable(_)), None) => writer.disk.unusable(path),
            // The file is missing because its folder is missing. It is restored together with the folder.
            (None, Some(row)) if self.is_gone => row.body.clone(),
            (Some(Entry::Folder | Entry::Unread { .. }) | None, _) => Vec::new(),
        }
    }
}

/// The row, with the unknown content that the write drops. If an earlier write of that kind did not finish,
/// its dropped content is included.
pub(super) fn with_loss(mut row: ViewRow, lost: Option<&String>, known: Option<&ViewRow>) -> ViewRow {
    let before = known.filter(|known| !known.confirmed).and_then(|known| known.journal.loses.as_ref());
    row.journal.loses = lost.or(before).cloned();
    row
}
