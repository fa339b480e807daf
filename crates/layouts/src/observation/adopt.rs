//! Converts edits of a session's files to events, by comparison with leftoff's last write. An edit between
//! two steps of a write is merged with the write. The write journal decides which of the two is newer, never
//! a time.

use super::{FileVerdict, Observation};
use crate::layout::{ForeignSession, Merge, Proof};
use crate::problem::{Problem, What};
use crate::reader::{Disk, Reader};
use crate::reading::Dated;
use crate::reconcile::{self, Draft, Laid};
use crate::tree::{Entry, Tree};
use crate::verdict::{Base, DisplacedEdit, FileState};
use jiff::Timestamp;
use model::actor::Actor;
use model::event::Event;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::written_file::ViewRow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The maximum lag of the clock that sets file times, in milliseconds.
const FILE_CLOCK_LAG: i64 = 10;
/// The reason recorded when a session is paused because its folder is missing.
const FOLDER_GONE: &str = "its folder is gone";

/// The session according to the log.
pub struct Log<'a> {
    pub session: &'a Session,
    pub items: ItemBook,
    /// When the current phase started. Only files written after that are used as proof.
    pub began: Option<Timestamp>,
    /// The content that this process last wrote to each file, including the parts of other sessions.
    pub put: &'a BTreeMap<PathBuf, Vec<u8>>,
}

/// The files as leftoff wrote them, and the events that were created so far.
struct Adoption<'a> {
    reader: &'a Reader,
    base: Tree,
    draft: Draft,
    actor: Actor,
    put: &'a BTreeMap<PathBuf, Vec<u8>>,
}

impl Observation {
    /// Converts external edits to events, each with its time. Also sets the documents, the problems and the
    /// proofs of the observation.
    pub fn adopt(&mut self, reader: &Reader, disk: &dyn Disk, log: Log<'_>) -> Vec<Dated> {
        let Log { session, items, began, put } = log;
        let base = self.as_written();
        self.documents = self.as_found(disk);
        let mut reading = reader.read(&self.located, &self.documents);
        // Content that only a backup contains is as new to the log as an edit.
        let is_new = |path: &String| self.row(path).is_none();
        let from_before = self.in_state(FileState::Damaged).into_iter().filter(is_new);
        let edited: Vec<String> = self.in_state(FileState::Edited).into_iter().chain(from_before).collect();
        if self.restore_dropped() {
            reading = reader.read(&self.located, &self.documents);
        }
        self.put_ours_onto_edits_before_it();
        self.compare(reader, session, &reading);
        let actor = reader.actor(self.located.layout);
        let at = self.edited_at(session, reader.now);
        let draft = Draft::new(session.clone(), items, at, actor.clone()).dated_by_files(reader.now);
        let mut adoption = Adoption { reader, base, draft, actor, put };
        // Displaced edits come first, because they are older than the current content.
        for edit in self.displaced.clone() {
            self.adopt_displaced(&mut adoption, &edit);
        }
        if !edited.is_empty() {
            let base = adoption.base.clone();
            self.adopt_edit(&mut adoption, &base, &reading.value, &edited);
        }
        let Adoption { mut draft, .. } = adoption;
        self.adopt_move(&mut draft);
        self.adopt_loss(&mut draft);
        let is_new_enough = |proof: &Proof| self.is_new_enough(proof, began);
        reconcile::prove(&mut draft, &reading.value, &is_new_enough);
        self.workflows = reading.value.workflows;
        self.proofs = reading.value.proofs;
        draft.dated()
    }

    /// The files as leftoff wrote them, without files that it never wrote. For a file that was edited before
    /// leftoff's last write reached it, the version before that write is used.
    fn as_written(&self) -> Tree {
        let mut tree = self.tree.clone();
        for (path, FileVerdict { state, row, base, .. }) in &self.verdicts {
            match row {
                // The file still has the content that leftoff wrote, including other sessions' parts.
                Some(_) if *state == FileState::Same => {}
                Some(row) if self.located.is_marker(path) => super::write::put_marker(&mut tree, row),
                Some(row) if *base == Base::Previous => {
                    tree.insert(path.clone(), Entry::File(row.previous.clone()));
                }
                Some(row) => tree.insert(path.clone(), Entry::File(row.body.clone())),
                None => tree.remove(path),
            }
        }
        tree
    }

    /// The files as found. For a file without usable content, the content that leftoff wrote is used.
    fn as_found(&self, disk: &dyn Disk) -> Tree {
        let mut tree = self.tree.clone();
        for (path, FileVerdict { state, row, stands_for, .. }) in &self.verdicts {
            let is_theirs = matches!(
                state,
                FileState::Edited | FileState::OfOthers | FileState::Behind | FileState::Moved
            );
            match row {
                Some(_) if *state == FileState::Same => {}
                Some(row) if self.located.is_marker(path) && !is_theirs => {
                    super::write::put_marker(&mut tree, row);
                }
                Some(_) if self.located.is_marker(path) && self.is_taken_away(path) => {
                    tree.take_away(path.clone());
                }
                Some(row) if !is_theirs => tree.insert(path.clone(), Entry::File(self.whole(row, disk))),
                Some(_) => {}
                None => {
                    if let Some(backup) = stands_for {
                        tree.insert(path.clone(), Entry::File(backup.clone()));
                    }
                }
            }
        }
        let has_substitute =
            |state| matches!(state, FileState::Missing | FileState::Unreadable | FileState::Damaged);
        if self.states().any(|(_, state)| has_substitute(state)) {
            disk.add_named(&mut tree);
        }
        tree
    }

    /// Pauses a session whose folder is missing, in a layout that allows only one active session, so that
    /// another session can be active.
    fn adopt_loss(&self, draft: &mut Draft) {
        let is_active = matches!(draft.session().lifecycle, Lifecycle::Active);
        if self.is_gone && self.located.layout.facts().exclusive && is_active {
            let reason = FOLDER_GONE.to_owned();
            draft.push(Event::SessionPaused { reason, context: None, saved: Vec::new() });
        }
    }

    /// When the files were edited, according to their modification times. The time is not before the log's
    /// last event, and not in the future. An edit from last week thus gets its own time, even if it is
    /// observed today.
    fn edited_at(&self, session: &Session, now: Timestamp) -> Timestamp {
        let edited = self.in_state(FileState::Edited);
        // All sessions in a shared file have its modification time. It is used only if no other file was
        // edited.
        let own: Vec<String> = edited.iter().filter(|path| !self.located.is_shared(path)).cloned().collect();
        let edited = if own.is_empty() { edited } else { own };
        let modified: Option<Vec<Timestamp>> = edited.iter().map(|path| self.tree.modified(path)).collect();
        let last = modified.filter(|_| self.displaced.is_empty()).and_then(|all| all.into_iter().max());
        last.map_or(now, |last| last.max(session.updated_at).min(now))
    }

    /// Restores keys that another writer dropped, because a writer that drops a key does not mean to delete
    /// its value. The keys are read as if they were present, and written back. Returns true if any key was
    /// restored.
    fn restore_dropped(&mut self) -> bool {
        let mut any = false;
        for path in self.in_state(FileState::Edited) {
            let (Some(row), Some(theirs)) = (self.row(&path), self.documents.content(&path)) else {
                continue;
            };
            if self.located.is_marker(&path) {
                continue;
            }
            // An edit of the previous version cannot have dropped keys that were added later.
            let base = if self.was_edited_before(&path) { &row.previous } else { &row.body };
            let merged = self.located.layout.merge(&path, Merge::Dropped { base, theirs });
            any |= merged != theirs;
            self.documents.insert(path, Entry::File(merged));
        }
        any
    }

    /// True if the file was edited before leftoff's last write reached it.
    fn was_edited_before(&self, path: &str) -> bool {
        self.verdicts.get(path).is_some_and(|found| found.base == Base::Previous)
    }

    /// Merges leftoff's write with an edit of the version before it.
    fn put_ours_onto_edits_before_it(&mut self) {
        let is_it = |row: &&ViewRow| self.was_edited_before(&row.path);
        for row in self.rows().filter(is_it).cloned().collect::<Vec<_>>() {
            let theirs = self.documents.content(&row.path).filter(|theirs| *theirs != row.body);
            // If the version before the edit is unreadable, the changes of the edit are unknown, and the edit
            // stays as it is.
            let Some(theirs) = theirs.filter(|_| self.located.is_whole(&row.path, &row.previous)) else {
                continue;
            };
            let merged = self.with_additions(&row.path, &row.previous, theirs, &row.body);
            self.documents.insert(row.path, Entry::File(merged));
        }
    }

    /// Merges two versions of `base`. `theirs` is kept, and changes that only `ours` contains are added.
    fn with_additions(&self, path: &str, base: &[u8], theirs: &[u8], ours: &[u8]) -> Vec<u8> {
        let both = self.located.onto(path, base, theirs, ours);
        self.located.onto(path, theirs, &both, theirs)
    }

    /// Applies a displaced edit, by comparison with the content that was edited.
    fn adopt_displaced(&mut self, adoption: &mut Adoption<'_>, (path, edit): &(String, DisplacedEdit)) {
        let DisplacedEdit { bytes, before } = edit;
        let (mut was, mut now) = (adoption.base.clone(), adoption.base.clone());
        was.insert(path, Entry::File(before.clone()));
        let restored = self.located.layout.merge(path, Merge::Dropped { base: before, theirs: bytes });
        now.insert(path, Entry::File(restored));
        let theirs = adoption.reader.read(&self.located, &now).value;
        if theirs.unreadable.contains(path) {
            return;
        }
        let Some(row) = self.row(path).cloned() else { return };
        let is_known = self.located.is_same_part(path, &row.body, bytes);
        if !is_known && !self.located.is_same_part(path, before, bytes) {
            self.adopt_edit(adoption, &was, &theirs, std::slice::from_ref(path));
        }
        let onto = self.documents.content(path).unwrap_or(bytes);
        let put = adoption.put.get(&self.home.join(path)).unwrap_or(&row.body);
        let is_theirs =
            |state: FileState| matches!(state, FileState::Edited | FileState::OfOthers | FileState::Behind);
        let is_edited_since =
            self.state(path).is_some_and(is_theirs) && self.tree.content(path) != Some(&put[..]);
        let merged = if is_edited_since {
            let with_the_earlier = self.located.onto(path, before, bytes, put);
            self.with_additions(path, put, onto, &with_the_earlier)
        } else {
            self.located.onto(path, before, bytes, onto)
        };
        self.documents.insert(path, Entry::File(merged));
    }

    /// Applies the differences between the files as leftoff wrote them and the files as they are now.
    fn adopt_edit(
        &mut self,
        adoption: &mut Adoption<'_>,
        base: &Tree,
        theirs: &ForeignSession,
        paths: &[String],
    ) {
        let (facts, draft) = (self.located.layout.facts(), &mut adoption.draft);
        let before = adoption.reader.read_as_written(&self.located, base);
        let approved = before.approved.clone();
        let laid = |told: ForeignSession| {
            let told = reconcile::in_known_spelling(told, self.located.layout, draft);
            let told = if facts.edits_only_claim { told.only_claiming() } else { told };
            let without_proofs = ForeignSession { proofs: Vec::new(), ..told };
            without_proofs.fold(&adoption.actor).map(|(_, session, items)| (session, items))
        };
        let (Some(before), Some(now)) = (laid(before), laid(theirs.clone())) else { return };
        let (title, goal, target) = reconcile::described(&before.0, &now.0);
        let paths = paths.iter().map(|path| self.located.below_project(path)).collect();
        draft.push(Event::ExternalEdit { paths, title, goal, target });
        // An edit after which the position is unreadable changes nothing. The position in the log stays, and
        // a warning names the file.
        if !theirs.says_where_it_stands() {
            return;
        }
        reconcile::reconcile(
            draft,
            Laid { session: &before.0, items: &before.1 },
            Laid { session: &now.0, items: &now.1 },
        );
        reconcile::withdraw(draft, &approved, &theirs.approved);
        if facts.counts_parts {
            reconcile::count_parts(draft, &before.1, &now.1);
            let mut stays = reconcile::drop_parts(draft, &before.1, &now.1);
            stays.extend(reconcile::drop_listed(draft, &before.1, &now.1));
            let problem = |item| Problem::of_file("", What::ItemStays { item });
            self.problems.extend(stays.into_iter().map(problem));
        }
    }

    /// True if the file of a proof was written after the current phase started in the log. An older file
    /// proves nothing about that phase.
    fn is_new_enough(&self, proof: &Proof, began: Option<Timestamp>) -> bool {
        match proof {
            Proof::Run { path, .. } => match (self.tree.modified(path), began) {
                (Some(modified), Some(began)) => {
                    modified.as_millisecond().saturating_add(FILE_CLOCK_LAG) >= began.as_millisecond()
                }
                // The modification time of a folder means nothing, so a folder is always new enough. Every
                // file is new enough if the log contains no start.
                (None, _) | (_, None) => true,
            },
            Proof::Work { .. } | Proof::Result { .. } => false,
        }
    }
}
