//! Shows a session in its files again after a command: what is to be written is kept with the command's own events, put
//! in place after them, and confirmed. A file that cannot be written is told, and fails nothing: the log has it all.

use super::NATIVE;
use super::look::{FileState, Look, hash};
use super::placing::Placed;
use super::shared::settled;
use super::signs::is_sign;
use super::tree::check_length;
use crate::disk::exchange;
use crate::engine::{Engine, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::failpoint;
use crate::view::Warning;
use layouts::layout::{FileOp, Folder, Purpose, ReadAs, Standing, WriteRequest, puts};
use layouts::tree::{Entry, Tree};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::SessionId;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::lineage::step;
use model::session::Session;
use model::words;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use store::{Batch, StreamAppend, ViewRow};

/// Of how many earlier versions of a file the hashes are kept.
const KEPT_HASHES: usize = 64;
/// How often a write begins again because somebody else's edits keep slipping in.
const TRIES: usize = 50;
/// Warnings of a look that a command does something about.
const DEALT_WITH: [&str; 6] =
    ["edited_outside", "view_stale", "view_missing", "view_damaged", "several_active", "folder_gone"];

impl Engine {
    /// Adds to a batch what the files of its sessions are to be.
    pub(crate) fn add_views(&self, batch: &mut Batch) -> Result<()> {
        let mut views = Vec::new();
        for stream in batch.streams.iter().filter(|stream| stream.row.layout != NATIVE) {
            let session = read_snapshot(stream)?;
            views.extend(self.views_of(&session, batch, &stream.events)?);
        }
        batch.views.extend(views);
        Ok(())
    }

    /// What the files of a session are to be, where they are not. `batch` is about to be kept.
    fn views_of(&self, session: &Session, batch: &Batch, new: &[store::EventRow]) -> Result<Vec<ViewRow>> {
        self.begin_look(session);
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(&session.id) else { return Ok(Vec::new()) };
        let moved = self.where_it_is_to_be(session, look);
        let look = moved.as_ref().unwrap_or(look);
        let is_shown = |row: &&ViewRow| look.states.get(&row.path) != Some(&FileState::Moved);
        let versions: BTreeMap<String, u64> =
            look.rows.values().filter(is_shown).map(|row| (row.path.clone(), row.version)).collect();
        let kept = self.store.events(&session.id, versions.values().min().copied().unwrap_or(0), None)?;
        let since: Vec<Recorded> =
            kept.iter().chain(new).map(|row| read_event(&session.id, row)).collect::<Result<_>>()?;
        let items = self.items_after(&session.id, batch)?;
        let mut tree = self.with_all_contents(session, look).unwrap_or_else(|| look.documents.clone());
        self.add_customs(look, &mut tree);
        let folder = Folder {
            spot: &look.located.spot,
            id: &session.id,
            worktree: &session.worktree,
            tree: &tree,
            now: self.clock.now(),
            read_as: ReadAs::Found,
        };
        let undone = self.undone_among(session, &since, new)?;
        let standing =
            Standing { shown: &versions, undone: &undone, ..Standing::new(session, &items, &since) };
        let is_import = |row: &store::EventRow| row.kind == "imported";
        let purpose = if new.iter().any(is_import) { Purpose::Newest } else { Purpose::Update };
        let ops = look.located.layout.write(&WriteRequest { purpose, standing: &standing }, &folder);
        let markers = self.marker_rows(session, look, &ops);
        let lost: BTreeMap<String, String> = ops.iter().filter_map(lost_by).collect();
        let changes = puts(ops);
        // What nobody can look at is left alone, unless it is to be set aside. What is to be in a file of ours is
        // known: it is written when somebody can.
        let is_left_alone = |path: &String| match look.states.get(path) {
            Some(FileState::Unreadable) => !self.seen.is_mending.get() && !look.rows.contains_key(path),
            state => state == Some(&FileState::NeverRead),
        };
        for change in changes.iter().filter(|change| !is_left_alone(&change.path)) {
            check_length(look.located.layout, &look.located.spot, &change.path, &change.content)?;
        }
        let mut paths: BTreeSet<&String> = look
            .states
            .iter()
            .filter(|(path, state)| **state != FileState::Moved && !is_left_alone(path))
            .filter(|(path, _)| !is_sign(look.located.layout, path))
            .map(|(path, _)| path)
            .collect();
        paths.extend(changes.iter().map(|change| &change.path).filter(|path| !is_left_alone(path)));
        let rows = paths.into_iter().filter_map(|path| {
            let changed =
                changes.iter().find(|change| change.path == *path).map(|change| &change.content[..]);
            let body = changed.or_else(|| look.documents.content(path))?;
            let row = self.view_row(session, look, path, body)?;
            Some(with_loss(row, lost.get(path), look.rows.get(path)))
        });
        let place = look.place_row(session, self.processes.boot_id()).filter(|_| moved.is_some());
        let rows = rows.chain(self.furniture_rows(session, look)).chain(place);
        Ok(rows.chain(markers).collect())
    }

    /// What these events undid, where one of them undid anything.
    fn undone_among(
        &self,
        session: &Session,
        since: &[Recorded],
        new: &[store::EventRow],
    ) -> Result<Vec<Recorded>> {
        let went_back = |recorded: &&Recorded| matches!(recorded.event, Event::Restored { .. });
        let Some(first) = since.iter().find(went_back) else { return Ok(Vec::new()) };
        let kept = self.store.events(&session.id, 0, None)?;
        let all: Vec<Recorded> =
            kept.iter().chain(new).map(|row| read_event(&session.id, row)).collect::<Result<_>>()?;
        let (gone, _) = step(&all, first.version - 1, session.version);
        Ok(gone.into_iter().cloned().collect())
    }

    /// What a finished session came to stands in files that are not read otherwise.
    fn with_all_contents(&self, session: &Session, look: &Look) -> Option<Tree> {
        let is_finished = matches!(session.lifecycle, Lifecycle::Completed { .. });
        let (_, mut tree) = is_finished.then(|| self.whole_tree(session)).flatten()?;
        if let Some(moving) = &look.moving {
            tree = tree.moved(&moving.from, &moving.to);
        }
        for path in look.documents.files().filter(|path| look.documents.content(path).is_some()) {
            tree.insert(path, Entry::File(look.documents.content(path).unwrap_or_default().to_vec()));
        }
        Some(tree)
    }

    /// A file as it is to be kept; none when that is what is known of it.
    pub(super) fn view_row(
        &self,
        session: &Session,
        look: &Look,
        path: &str,
        body: &[u8],
    ) -> Option<ViewRow> {
        let known = look.rows.get(path);
        let hash = hash(body);
        let there = look.tree.content(path);
        let is_there = there == Some(body) && !look.over.contains_key(path);
        // What goes to another place is known there from now on.
        let is_as_known = known.is_some_and(|row| row.hash == hash && row.confirmed && is_there);
        if is_as_known && look.slipped.is_empty() && look.moving.is_none() {
            return None;
        }
        let mut earlier = known.map(|row| row.earlier.clone()).unwrap_or_default();
        // What slipped in is taken in with this, and becomes the version before: it must not be taken in again.
        let slipped = look.slipped.iter().filter(|slip| slip.path == path);
        earlier.extend(slipped.map(|slip| super::look::hash(&slip.bytes)));
        earlier.extend(there.filter(|_| look.over.contains_key(path)).map(super::look::hash));
        // Damage is known when it comes out.
        earlier.extend(there.filter(|_| self.is_damage_of_ours(look, path)).map(super::look::hash));
        if let Some(row) = known {
            // What others had there before is no edit either, when it comes back. Ours is the last.
            let previous = Some(super::look::hash(&row.previous)).filter(|_| !look.is_known_in_part(row));
            let before = previous.into_iter().chain([row.hash.clone()]);
            earlier.extend(before.filter(|before| *before != hash));
        }
        let from = earlier.len().saturating_sub(KEPT_HASHES);
        let row = ViewRow {
            session: session.id.clone(),
            path: path.to_owned(),
            hash,
            body: body.to_vec(),
            previous: self.base_there(look, path),
            earlier: earlier.split_off(from),
            version: session.version,
            boot_id: self.processes.boot_id(),
            confirmed: is_there,
            journal: store::WriteJournal::default(),
        };
        Some(if is_there { settled(&look.located, &row) } else { row })
    }

    /// What others' edits of the file are told from: what was there; of a damaged file what counted in its place, which
    /// whoever damaged it had before them.
    fn base_there(&self, look: &Look, path: &str) -> Vec<u8> {
        match look.rows.get(path).filter(|_| self.is_damage_of_ours(look, path)) {
            Some(row) => look.whole(path, row),
            None => self.seen_there(look, path),
        }
    }

    fn is_damage_of_ours(&self, look: &Look, path: &str) -> bool {
        let is_damaged = look.states.get(path) == Some(&FileState::Damaged);
        is_damaged
            && look.rows.contains_key(path)
            && look.tree.content(path).is_some()
            && !look.over.contains_key(path)
    }

    /// What was on disk when it was looked at, readable or not; what slipped in is known by now as well.
    fn seen_there(&self, look: &Look, path: &str) -> Vec<u8> {
        if let Some(over) = look.over.get(path) {
            return over.clone();
        }
        let known = look.rows.get(path).filter(|_| !self.seen.is_mending.get());
        match (look.tree.get(path), known) {
            (Some(Entry::File(content)), _) => content.clone(),
            // Nothing else is known to be there.
            (Some(Entry::Unusable(_)), Some(row)) => row.body.clone(),
            (Some(Entry::Unusable(_)), None) => exchange::read(&look.home.join(path)).unwrap_or_default(),
            (Some(Entry::Folder | Entry::Unread { .. }) | None, _) => Vec::new(),
        }
    }

    /// A session that was just begun has files nowhere.
    fn begin_look(&self, session: &Session) {
        let is_known = self.seen.looks.borrow().contains_key(&session.id);
        if let Some(located) = self.located(session).filter(|_| !is_known) {
            let look = Look::of_nothing(located, &self.root_of(session));
            self.seen.looks.borrow_mut().insert(session.id.clone(), look);
        }
    }

    fn items_after(&self, id: &SessionId, batch: &Batch) -> Result<ItemBook> {
        let is_replaced = batch.replace_items.iter().any(|replaced| replaced.session == *id);
        let mut book = if is_replaced { ItemBook::default() } else { self.all_items(id)? };
        for row in batch.replace_items.iter().flat_map(|replaced| &replaced.rows).chain(&batch.items) {
            if row.session == *id
                && let Ok(item) = serde_json::from_str(&row.body)
            {
                book.insert(item);
            }
        }
        Ok(book)
    }

    /// What a look found is dealt with by now: taken in, or about to be written.
    pub(crate) fn taken_in_is_told(&self, batch: &Batch, answer: &mut Answer) {
        let looks = self.seen.looks.borrow();
        let shown = batch.streams.iter().filter(|stream| stream.row.layout != NATIVE);
        for look in shown.filter_map(|stream| looks.get(&stream.row.id)) {
            if look.is_foreign {
                let spot = &look.located.spot;
                answer.said.push(match &look.brought_from {
                    Some(from) => format!("{} was copied to {}", from.display(), spot.path),
                    None => format!("{} was taken in from {}", look.located.id, look.place()),
                });
            }
            let slipped = look.slipped.iter().map(|slip| &slip.path);
            for path in slipped.chain(look.in_state(FileState::Edited).iter()) {
                if look.rows.contains_key(path) {
                    let path = look.located.spot.below_project(path);
                    answer.said.push(format!("what somebody else changed in {path} was taken in"));
                }
            }
        }
        answer.view.warnings.retain(|warning| !DEALT_WITH.contains(&warning.kind.as_str()));
    }

    /// Puts in place what a command kept. Whatever slipped in is taken in and the file written once more.
    pub(crate) fn publish(&mut self, batch: &Batch) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let ids: Vec<SessionId> = batch
            .streams
            .iter()
            .filter(|stream| stream.row.layout != NATIVE)
            .map(|stream| stream.row.id.clone())
            .collect();
        for id in ids {
            match self.publish_session(&id) {
                Ok(said) => warnings.extend(said),
                Err(error) => warnings.push(stale(&id, &error)),
            }
        }
        warnings
    }

    pub(super) fn publish_session(&mut self, id: &SessionId) -> Result<Vec<Warning>> {
        let mut said = Vec::new();
        let mut waiting = vec![id.clone()];
        for _ in 0..TRIES {
            let Some(next) = waiting.last().cloned() else { return Ok(said) };
            let Placed { rows, left_alone, slipped } = self.place(&next)?;
            for (row, aside) in rows {
                self.store.confirm_view(&row, self.patience)?;
                said.extend(aside);
            }
            failpoint::reached("view-confirmed");
            let Some(slipped) = slipped else {
                said.extend(left_alone.iter().map(|path| stale(&next, &not_looked_at(path))));
                waiting.pop();
                continue;
            };
            match self.take_in(&slipped) {
                // Another process was first: what it did is looked at, too.
                Err(error) if error.is_contended() => {}
                other => other?,
            }
            if slipped != next {
                waiting.push(slipped);
            }
        }
        Err(Error::io(
            format!("writing the files of {id}"),
            io::Error::new(io::ErrorKind::WouldBlock, "somebody else keeps changing them"),
        ))
    }

    /// Writes the files of a session that was kept without them.
    pub(crate) fn write_files(&mut self, id: &SessionId) -> Vec<Warning> {
        let written = self.take_in(id).and_then(|()| self.publish_session(id));
        self.look_again();
        written.unwrap_or_else(|error| vec![stale(id, &error)])
    }

    /// Whether files tell something of a session that the log does not have, and that is to be kept.
    pub(crate) fn has_found(&self, session: &Session) -> bool {
        let is_left_alone = |look: &Look| look.is_foreign && !look.is_proven;
        self.store.pending(&session.id).is_some()
            && !self.seen.looks.borrow().get(&session.id).is_none_or(is_left_alone)
    }

    /// Takes in what slipped between two steps, in a turn of its own.
    pub(super) fn take_in(&mut self, id: &SessionId) -> Result<()> {
        self.look_again();
        self.make_way(id)?;
        self.store.take_turn(self.patience)?;
        let done = self.take_in_now(id);
        self.store.give_turn_back();
        done
    }

    fn take_in_now(&mut self, id: &SessionId) -> Result<()> {
        self.look_again();
        let (_, session) = self.load(id)?;
        let pending = self.store.pending(id);
        let mut batch = Batch::default();
        batch.views = match &pending {
            Some(stream) => self.views_of(&read_snapshot(stream)?, &batch, &[])?,
            None => self.views_of(&session, &batch, &[])?,
        };
        let came_out = self.seen.looks.borrow().get(id).map(Look::came_out).unwrap_or_default();
        self.store.keep_pending(id, &batch)?;
        self.keep_slipped(&session, &came_out)?;
        self.look_again();
        Ok(())
    }
}

/// What a write makes a file say no longer, though nobody understood it.
fn lost_by(op: &FileOp) -> Option<(String, String)> {
    match op {
        FileOp::Put { file, loses } => Some((file.path.clone(), loses.clone()?)),
        FileOp::Create(_) | FileOp::Folder(_) | FileOp::Marker { .. } => None,
    }
}

/// A file as it is to be kept, with what is lost by it; also by a write before it that did not get there.
fn with_loss(mut row: ViewRow, lost: Option<&String>, known: Option<&ViewRow>) -> ViewRow {
    let before = known.filter(|known| !known.confirmed).and_then(|known| known.journal.loses.as_ref());
    row.journal.loses = lost.or(before).cloned();
    row
}

fn read_snapshot(stream: &StreamAppend) -> Result<Session> {
    serde_json::from_str(&stream.snapshot.body)
        .map_err(|error| Error::BrokenLog { session: stream.row.id.to_string(), why: error.to_string() })
}

fn stale(id: &SessionId, error: &Error) -> Warning {
    Warning {
        kind: "view_stale".to_owned(),
        message: format!("it is done and in the log, but the session's files are not written: {error}"),
        hint: Some(Hint::new("write them when that is mended: ").run(words!["repair", "--session", id])),
        path: None,
        problem: None,
    }
}

fn not_looked_at(path: &Path) -> Error {
    let why = io::Error::other("what is there cannot be looked at, and is not written over");
    Error::io(format!("writing {}", path.display()), why)
}

/// Nothing of a file is out of step.
pub(super) fn is_settled(look: &Look) -> bool {
    let is_in_step = |(path, state): (&String, &FileState)| match state {
        FileState::Same | FileState::Moved | FileState::Unreadable | FileState::NeverRead => true,
        // What was taken in of others' parts may not be there yet.
        FileState::OfOthers => look.rows.get(path).is_none_or(|row| row.confirmed),
        FileState::Edited
        | FileState::Behind
        | FileState::Leftover
        | FileState::Missing
        | FileState::Damaged => false,
    };
    let is_quiet = look.slipped.is_empty() && look.over.is_empty() && look.moving.is_none();
    is_quiet && look.states.iter().all(is_in_step)
}
