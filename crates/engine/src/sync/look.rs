//! One look at a session's files: which are as we wrote them, which somebody changed, and what that means. The rule is
//! fixed: bytes are compared, never times alone; an edit is never refused; what cannot be read is not an edit.

use super::find::{Foreign, Located, why_of};
use super::furniture::is_furniture;
use super::late::Before;
use super::moving::Moving;
use super::signs::is_sign;
use super::tree;
use crate::disk::exchange;
use crate::engine::Engine;
use crate::view::Warning;
use layouts::layout::{Depth, Interest, Proof, Told};
use layouts::reconcile::{self, Draft, Laid};
use layouts::tree::{Entry, Tree};
use model::event::Event;
use model::item::ItemBook;
use model::session::Session;
use model::workflow::Workflow;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use store::ViewRow;

const FILE_CLOCK_LAG: i64 = 10;

/// How a file stands to what was written there last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileState {
    Same,
    /// An earlier version of ours, because a write did not get there: to be written again.
    Leftover,
    Missing,
    /// Whose session it shows has put it in another of the layout's places, where it is read.
    Moved,
    /// It cannot be opened, is too large, or is no file: nobody knows what is in it, and it is left alone.
    Unreadable,
    /// Somebody left it empty or unreadable: not an edit.
    Damaged,
    /// The same of a part that could not be read before either: nobody knows what was in it, and it is left alone.
    NeverRead,
    Edited,
    /// Shared with other sessions, and only what is theirs has changed.
    OfOthers,
    /// The same, and a write of what is this session's did not get there.
    Behind,
}

/// An edit that is in no file any more.
#[derive(Debug, Clone)]
pub(crate) struct Slip {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// What its writer had before them.
    pub(super) before: Vec<u8>,
}

/// What one look found.
pub(crate) struct Look {
    pub(crate) located: Located,
    /// Where the paths of the tree begin.
    pub(crate) home: PathBuf,
    /// As it is on disk.
    pub(crate) tree: Tree,
    /// What is to be edited: theirs where somebody changed something, with what they dropped put back.
    pub(crate) documents: Tree,
    /// Files that we wrote before, and those that appeared.
    pub(crate) states: BTreeMap<String, FileState>,
    pub(crate) rows: BTreeMap<String, ViewRow>,
    /// Edits that came between two of our steps, the earlier first: they are in nobody's file any more.
    pub(crate) slipped: Vec<Slip>,
    /// Why a damaged file cannot be read.
    pub(super) damage: BTreeMap<String, String>,
    pub(crate) warnings: Vec<Warning>,
    /// Definitions that its files brought along.
    pub(crate) workflows: Vec<Workflow>,
    /// The store does not have the session yet.
    pub(crate) is_foreign: bool,
    /// Other files show more than those of its state say.
    pub(crate) is_proven: bool,
    /// It was begun just now, or there is nothing left of what it was begun with.
    pub(crate) is_bare: bool,
    /// Its folder is yet to go to its place.
    pub(crate) moving: Option<Moving>,
}

impl Look {
    /// A session that only its files tell of: all there is on disk is theirs.
    pub(super) fn of_foreign(found: Foreign) -> Self {
        let state = |path: &String| match found.tree.get(path) {
            Some(Entry::Unusable(_) | Entry::Folder) => FileState::Unreadable,
            Some(_) | None if found.damaged.contains(path) => FileState::Damaged,
            Some(_) | None if found.told.cannot_read(path) => FileState::NeverRead,
            Some(_) | None => FileState::Edited,
        };
        let located = Located { layout: found.layout, spot: found.spot.clone(), id: found.id.clone() };
        let files = state_files(&located, &found.tree).chain(found.damaged.clone());
        let states = files.map(|path| (path.clone(), state(&path))).collect();
        Self {
            home: PathBuf::from(&found.session.worktree).join(&found.spot.home),
            located,
            documents: found.documents,
            tree: found.tree,
            states,
            rows: BTreeMap::new(),
            slipped: Vec::new(),
            damage: BTreeMap::new(),
            warnings: found.warnings,
            workflows: Vec::new(),
            is_foreign: true,
            is_proven: found.recorded.len() > found.told.history.len(),
            is_bare: !found.told.unreadable.is_empty(),
            moving: None,
        }
    }

    /// A session that has no file yet.
    pub(super) fn of_nothing(located: Located, root: &std::path::Path) -> Self {
        let tree = tree::read(located.layout, &located.spot, root, Depth::Short);
        Self {
            home: root.join(&located.spot.home),
            located,
            // What it shares with others may be there.
            documents: tree.clone(),
            tree,
            states: BTreeMap::new(),
            rows: BTreeMap::new(),
            slipped: Vec::new(),
            damage: BTreeMap::new(),
            warnings: Vec::new(),
            workflows: Vec::new(),
            is_foreign: false,
            is_proven: false,
            is_bare: true,
            moving: None,
        }
    }

    /// A session of ours, against what was written last.
    pub(super) fn of_kept(engine: &Engine, located: Located, session: &Session, rows: Vec<ViewRow>) -> Self {
        let root = engine.root_of(session);
        let tree = tree::read(located.layout, &located.spot, &root, Depth::Short);
        let mut look = Self {
            home: root.join(&located.spot.home),
            documents: tree.clone(),
            tree,
            located,
            states: BTreeMap::new(),
            rows: rows.into_iter().map(|row| (row.path.clone(), row)).collect(),
            slipped: Vec::new(),
            damage: BTreeMap::new(),
            warnings: Vec::new(),
            workflows: Vec::new(),
            is_foreign: false,
            is_proven: false,
            is_bare: false,
            moving: None,
        };
        look.find_unmoved();
        look.leave_out_furniture();
        let boot_id = engine.processes.boot_id();
        for (path, row) in look.rows.clone() {
            let state = look.state_of(&path, &row, &boot_id);
            look.states.insert(path, state);
        }
        for path in state_files(&look.located, &look.tree) {
            look.states.entry(path).or_insert(FileState::Edited);
        }
        let before = Before::seen(&root);
        look.find_slipped(&before);
        look.find_late(&before);
        look
    }

    fn state_of(&self, path: &str, row: &ViewRow, boot_id: &str) -> FileState {
        if is_sign(self.located.layout, path) {
            return self.state_of_sign(path, row);
        }
        // Where it once was, another session of that name may be by now.
        if self.located.layout.has_moved(&self.located.spot, path, &self.tree) {
            return FileState::Moved;
        }
        match self.tree.get(path) {
            None if is_furniture(&self.located, path) => FileState::Leftover,
            None => FileState::Missing,
            Some(Entry::File(content)) => {
                let hash = hash(content);
                let is_earlier = row.earlier.contains(&hash);
                if hash == row.hash {
                    FileState::Same
                } else if self.is_of_others(path, row, content) {
                    FileState::OfOthers
                } else if self.is_behind_others(path, row, content) {
                    FileState::Behind
                } else if is_earlier && (!row.confirmed || row.boot_id != boot_id) {
                    FileState::Leftover
                } else {
                    FileState::Edited
                }
            }
            Some(Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_)) => FileState::Unreadable,
        }
    }

    /// What waits beside a file after a crash is either ours, or the edit that came out of an exchange. The version
    /// before it may have been written on by somebody who had it open.
    fn find_slipped(&mut self, before: &Before) {
        let is_file = |(path, _): &(&String, &ViewRow)| !is_sign(self.located.layout, path);
        for (path, row) in self.rows.iter().filter(is_file) {
            let target = self.home.join(path);
            let is_ours = |bytes: &[u8]| {
                let hash = hash(bytes);
                bytes == row.previous || hash == row.hash || row.earlier.contains(&hash)
            };
            let most = self.located.layout.most_bytes(path);
            let is_shared = self.is_shared(path);
            let waiting = match tree::content(&exchange::waiting(&target), most) {
                // Cut off while we wrote it.
                Entry::File(bytes) if !row.confirmed && row.body.starts_with(&bytes) => None,
                Entry::File(bytes) => Some(bytes),
                Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_) => None,
            };
            // The version before of a shared file may be any session's.
            let is_readable = |bytes: &Vec<u8>| self.located.layout.is_readable(path, bytes);
            let backup = before.written_on(&target).filter(|bytes| !is_shared && is_readable(bytes));
            let had_one_before = !row.previous.is_empty() || (is_shared && !row.earlier.is_empty());
            for bytes in backup.into_iter().chain(waiting) {
                if had_one_before && !is_ours(&bytes) && self.tree.content(path) != Some(&bytes) {
                    let before = self.before_waiting(path, row);
                    self.slipped.push(Slip { path: path.clone(), bytes, before });
                }
            }
        }
    }

    /// What somebody added to the version before of a shared file, as if they had added it to what we know.
    fn find_late(&mut self, before: &Before) {
        for (path, row) in &self.rows {
            let has_slipped = self.slipped.iter().any(|slip| slip.path == *path);
            let late = before.late(&self.home.join(path)).filter(|_| self.is_shared(path) && !has_slipped);
            let Some(late) = late else { continue };
            let there = self.tree.content(path).unwrap_or_default();
            if self.located.layout.merge_slipped(path, &[], &late, there) != there {
                let end: &[u8] = if row.previous.ends_with(b"\n") { b"" } else { b"\n" };
                let bytes = [row.previous.as_slice(), end, &late].concat();
                self.slipped.push(Slip { path: path.clone(), bytes, before: row.previous.clone() });
            }
        }
    }

    /// What the files tell that the session's log does not, as events.
    pub(super) fn taken_in(&mut self, engine: &Engine, session: &Session, items: ItemBook) -> Vec<Event> {
        let base = self.with_rows(|_| true, true);
        let is_theirs = |state: &FileState| {
            matches!(state, FileState::Edited | FileState::OfOthers | FileState::Behind | FileState::Moved)
        };
        let is_ours = |state: &FileState| !is_theirs(state);
        let mut theirs = self.with_rows(is_ours, false);
        let mut reading = engine.read_tree(&self.located, &theirs);
        let told = reading.value.clone();
        for path in told.unreadable.iter().chain(&told.unreadable_parts) {
            let is_part = told.unreadable_parts.contains(path);
            let Some(content) = self.instead_of(path, is_part) else {
                if is_part && self.tree.content(path).is_some() {
                    self.states.insert(path.clone(), FileState::NeverRead);
                }
                continue;
            };
            self.states.insert(path.clone(), FileState::Damaged);
            theirs.insert(path.clone(), Entry::File(content));
            let why =
                reading.warnings.iter().find(|oddity| oddity.path == *path).map(|oddity| &oddity.message);
            let why = why.map(|message| why_of(message).unwrap_or(message).to_owned());
            self.damage.insert(path.clone(), why.unwrap_or_default());
            reading = engine.read_tree(&self.located, &theirs);
        }
        self.documents = theirs;
        self.tell(session, &reading);
        let actor = engine.actor_of(self.located.layout);
        let mut draft = Draft::new(session.clone(), items, engine.clock.now(), actor);
        // What came out of an exchange was there before whatever is there now.
        for slip in self.slipped.clone() {
            self.bring_in_slipped(engine, &mut draft, &base, &slip);
        }
        // What only the version before tells of is as new to the log as an edit.
        let is_new = |path: &String| !self.rows.contains_key(path);
        let from_before = self.in_state(&FileState::Damaged).into_iter().filter(is_new);
        let edited: Vec<String> = self.in_state(&FileState::Edited).into_iter().chain(from_before).collect();
        if !edited.is_empty() {
            self.bring_in(engine, &mut draft, &base, &reading.value, &edited);
        }
        self.bring_in_move(&mut draft);
        self.prove(&mut draft, &reading.value);
        self.put_back_what_was_dropped();
        self.workflows.clone_from(&reading.value.workflows);
        draft.into_parts().0
    }

    /// What counts in place of a file that cannot be read: what we wrote; of a part that we never did, the version before.
    fn instead_of(&self, path: &str, is_part: bool) -> Option<Vec<u8>> {
        if let Some(row) = self.rows.get(path) {
            return Some(self.whole(path, row));
        }
        let backup = exchange::read(&exchange::backup(&self.home.join(path))).ok()?;
        let is_file = self.tree.content(path).is_some();
        Some(backup).filter(|backup| is_part && is_file && self.located.layout.is_readable(path, backup))
    }

    /// Laid over: what differs between what we wrote and what is there.
    fn bring_in(&self, engine: &Engine, draft: &mut Draft, base: &Tree, theirs: &Told, paths: &[String]) {
        let actor = engine.actor_of(self.located.layout);
        let before = engine.read_tree(&self.located, base).value;
        let (Some(before), Some(now)) = (fold(&before, &actor), fold(theirs, &actor)) else { return };
        let (title, goal, target) = reconcile::described(&before.0, &now.0);
        let paths = paths.iter().map(|path| self.located.spot.below_project(path)).collect();
        draft.push(Event::ExternalEdit { paths, title, goal, target });
        // A place that there is not is no claim: it stays where the log has it, and the warning names the file.
        if !theirs.says_where_it_stands() {
            return;
        }
        reconcile::reconcile(
            draft,
            Laid { session: &before.0, items: &before.1 },
            Laid { session: &now.0, items: &now.1 },
        );
    }

    /// An edit that is in no file any more, against what its writer had before them.
    fn bring_in_slipped(&mut self, engine: &Engine, draft: &mut Draft, base: &Tree, slip: &Slip) {
        let Slip { path, bytes, before } = slip;
        let (mut was, mut now) = (base.clone(), base.clone());
        was.insert(path, Entry::File(before.clone()));
        now.insert(path, Entry::File(bytes.clone()));
        let theirs = engine.read_tree(&self.located, &now).value;
        if theirs.unreadable.contains(path) {
            return;
        }
        let is_known = self.is_same_share(path, &self.rows[path].body, bytes);
        if !is_known && !self.is_same_share(path, before, bytes) {
            self.bring_in(engine, draft, &was, &theirs, std::slice::from_ref(path));
        }
        let onto = self.documents.content(path).unwrap_or(bytes).to_vec();
        let merged = if self.states.get(path) == Some(&FileState::Edited) {
            self.before_a_later_edit(slip, &onto)
        } else {
            self.located.layout.merge_slipped(path, before, bytes, &onto)
        };
        self.documents.insert(path, Entry::File(merged));
    }

    /// Somebody changed the file again after this came out of it: the later edit stands, and what only the earlier one
    /// changed is added to it.
    fn before_a_later_edit(&self, slip: &Slip, later: &[u8]) -> Vec<u8> {
        let Slip { path, bytes, before } = slip;
        let (layout, body) = (self.located.layout, &self.rows[path].body);
        let with_the_earlier = layout.merge_slipped(path, before, bytes, body);
        let with_both = layout.merge_slipped(path, body, later, &with_the_earlier);
        layout.merge_slipped(path, later, &with_both, later)
    }

    /// What other files show: forward only, and only what was written since the phase began that it would end.
    fn prove(&self, draft: &mut Draft, told: &Told) {
        let is_new_enough = |draft: &Draft, proof: &Proof| {
            let (Proof::Run { path, .. } | Proof::Phase { path, .. }) = proof;
            let began =
                draft.session().run().and_then(|run| run.current().started_at().or(Some(run.started_at)));
            match (self.tree.modified(path), began) {
                // A file's time comes from a clock that ticks a few milliseconds behind.
                (Some(modified), Some(began)) => {
                    modified.as_millisecond().saturating_add(FILE_CLOCK_LAG) >= began.as_millisecond()
                }
                // A folder has no time of its own that counts; that there is one is new when the log has none.
                (None, _) | (_, None) => matches!(proof, Proof::Run { .. }),
            }
        };
        reconcile::prove(draft, told, &is_new_enough);
    }

    fn put_back_what_was_dropped(&mut self) {
        for path in self.in_state(&FileState::Edited) {
            let (Some(row), Some(theirs)) = (self.rows.get(&path), self.documents.content(&path)) else {
                continue;
            };
            if is_sign(self.located.layout, &path) {
                continue;
            }
            let merged = self.located.layout.merge(&path, &row.body, theirs);
            self.documents.insert(path, Entry::File(merged));
        }
    }

    pub(super) fn in_state(&self, wanted: &FileState) -> Vec<String> {
        let found = self.states.iter().filter(|(_, state)| *state == wanted);
        found.map(|(path, _)| path.clone()).collect()
    }
}

/// Files of a session's state: those whose content even a short look wants.
fn state_files(located: &Located, tree: &Tree) -> impl Iterator<Item = String> {
    let is_state = |path: &&str| {
        located.layout.interest(&located.spot, path, false, Depth::Short) == Interest::Content
            && !located.layout.has_moved(&located.spot, path, tree)
    };
    tree.files().filter(is_state).map(ToOwned::to_owned).collect::<Vec<_>>().into_iter()
}

fn fold(told: &Told, actor: &model::actor::Actor) -> Option<(Session, ItemBook)> {
    let without_proofs = Told { proofs: Vec::new(), ..told.clone() };
    without_proofs.fold(actor).map(|(_, session, items)| (session, items))
}

pub(super) fn hash(bytes: &[u8]) -> String {
    crate::hex(&Sha256::digest(bytes))
}
