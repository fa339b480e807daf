//! Publishes a session after a command: the new files are stored with the command's events, then written,
//! then confirmed. A file that cannot be written is reported, but fails nothing: the log has everything.

pub(crate) mod backup;
pub(crate) mod folders;
pub(crate) mod initial_files;
pub(crate) mod journal;
pub(crate) mod markers;
pub(crate) mod place;
pub(crate) mod run_folders;
#[cfg(test)]
mod tests;

use crate::NATIVE;
use crate::disk::exchange;
use crate::engine::{Engine, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::failpoint;
use crate::foreign::discover::markers::is_marker;
use crate::foreign::observe::shared::settled;
use crate::foreign::observe::{FileState, Observation, hash as hash_of};
use crate::foreign::publish::place::Placed;
use crate::view::Warning;
use crate::walk::check_length;
use layouts::layout::{FileOp, Purpose, SessionToPublish, WriteRequest, puts};
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
use std::rc::Rc;
use store::{Batch, StreamAppend, ViewRow};

/// How many hashes of earlier versions are kept.
const KEPT_HASHES: usize = 64;
/// How often to retry a write because of concurrent edits.
const TRIES: usize = 50;
/// Warnings that a command resolves.
const DEALT_WITH: [&str; 6] =
    ["edited_outside", "view_stale", "view_missing", "view_damaged", "several_active", "folder_gone"];

impl Engine {
    /// Adds the new files of a batch's sessions.
    pub(crate) fn add_views(&self, batch: &mut Batch) -> Result<()> {
        let mut views = Vec::new();
        for stream in batch.streams.iter().filter(|stream| stream.row.layout != NATIVE) {
            let session = read_snapshot(stream)?;
            views.extend(self.views_of(&session, batch, &stream.events)?);
        }
        batch.views.extend(views);
        Ok(())
    }

    /// The files of a session that must change. `batch` is about to be committed.
    fn views_of(&self, session: &Session, batch: &Batch, new: &[store::EventRow]) -> Result<Vec<ViewRow>> {
        let Some(observation) = self.observed_or_new(session) else { return Ok(Vec::new()) };
        let moved = self.where_it_is_to_be(session, &observation);
        let observation = moved.as_ref().unwrap_or(&*observation);
        let is_shown = |row: &&ViewRow| observation.state(&row.path) != Some(FileState::Moved);
        let versions: BTreeMap<String, u64> =
            observation.rows().filter(is_shown).map(|row| (row.path.clone(), row.version)).collect();
        let kept = self.store.events(&session.id, versions.values().min().copied().unwrap_or(0), None)?;
        let since: Vec<Recorded> =
            kept.iter().chain(new).map(|row| read_event(&session.id, row)).collect::<Result<_>>()?;
        let items = self.items_after(&session.id, batch)?;
        let mut tree =
            self.with_all_contents(session, observation).unwrap_or_else(|| observation.documents.clone());
        self.add_customs(observation, &mut tree);
        let folder = self.folder(&observation.located, session, &tree);
        let undone = self.undone_among(session, &since, new)?;
        let publication = SessionToPublish::new(session, &items, &since);
        let publication = SessionToPublish { shown: &versions, undone: &undone, ..publication };
        let is_import = |row: &store::EventRow| row.kind == "imported";
        let purpose = if new.iter().any(is_import) { Purpose::Newest } else { Purpose::Update };
        let request = WriteRequest { purpose, publication: &publication };
        let ops = observation.located.layout.write(&request, &folder);
        let markers = self.marker_rows(session, observation, &ops);
        let lost: BTreeMap<String, String> = ops.iter().filter_map(lost_by).collect();
        let changes = puts(ops);
        // Inaccessible files are left alone unless they are to be quarantined. The content of our own files
        // is known, and is written once possible.
        let is_left_alone = |path: &String| match observation.state(path) {
            Some(FileState::Unreadable) => !self.scope.aim.is_repair() && observation.row(path).is_none(),
            state => state == Some(FileState::NeverRead),
        };
        for change in changes.iter().filter(|change| !is_left_alone(&change.path)) {
            check_length(
                observation.located.layout,
                &observation.located.spot,
                &change.path,
                &change.content,
            )?;
        }
        let mut paths: BTreeSet<&String> = observation
            .states()
            .filter(|(path, state)| *state != FileState::Moved && !is_left_alone(path))
            .filter(|(path, _)| !is_marker(observation.located.layout, path))
            .map(|(path, _)| path)
            .collect();
        paths.extend(changes.iter().map(|change| &change.path).filter(|path| !is_left_alone(path)));
        let rows = paths.into_iter().filter_map(|path| {
            let changed =
                changes.iter().find(|change| change.path == *path).map(|change| &change.content[..]);
            let body = changed.or_else(|| observation.documents.content(path))?;
            let row = self.view_row(session, observation, path, body)?;
            Some(with_loss(row, lost.get(path), observation.row(path)))
        });
        let place = observation.place_row(session, self.processes.boot_id()).filter(|_| moved.is_some());
        let rows = rows.chain(self.initial_rows(session, observation)).chain(place);
        Ok(rows.chain(markers).collect())
    }

    /// The events that these events undid, if any.
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

    /// The results of a finished session are in files that are not read otherwise.
    fn with_all_contents(&self, session: &Session, observation: &Observation) -> Option<Tree> {
        let is_finished = matches!(session.lifecycle, Lifecycle::Completed { .. });
        let (_, mut tree) = is_finished.then(|| self.whole_tree(session)).flatten()?;
        if let Some(moving) = &observation.moving {
            tree = tree.moved(&moving.from, &moving.to);
        }
        for path in observation.documents.files().filter(|path| observation.documents.content(path).is_some())
        {
            tree.insert(path, Entry::File(observation.documents.content(path).unwrap_or_default().to_vec()));
        }
        Some(tree)
    }

    /// A file's new row; `None` if nothing changes.
    pub(crate) fn view_row(
        &self,
        session: &Session,
        observation: &Observation,
        path: &str,
        body: &[u8],
    ) -> Option<ViewRow> {
        let known = observation.row(path);
        let hash = hash_of(body);
        let there = observation.tree.content(path);
        let is_there = there == Some(body) && observation.over(path).is_none();
        // A moved file is known at its new place.
        let is_as_known = known.is_some_and(|row| row.hash == hash && row.confirmed && is_there);
        if is_as_known && observation.displaced.is_empty() && observation.moving.is_none() {
            return None;
        }
        let mut earlier = known.map(|row| row.earlier.clone()).unwrap_or_default();
        // Displaced edits are adopted with this, and become the previous version: they must not be adopted
        // again.
        let displaced = observation.displaced.iter().filter(|(of, _)| of == path);
        earlier.extend(displaced.map(|(_, edit)| hash_of(&edit.bytes)));
        earlier.extend(there.filter(|_| observation.over(path).is_some()).map(hash_of));
        // Damage is recognised when replaced.
        earlier.extend(there.filter(|_| self.is_damage_of_ours(observation, path)).map(hash_of));
        if let Some(row) = known {
            // Earlier foreign content is not an edit when it reappears. Ours is last.
            let previous = Some(hash_of(&row.previous)).filter(|_| !observation.is_known_in_part(row));
            let before = previous.into_iter().chain([row.hash.clone()]);
            earlier.extend(before.filter(|before| *before != hash));
        }
        let from = earlier.len().saturating_sub(KEPT_HASHES);
        let row = ViewRow {
            body: body.to_vec(),
            previous: self.base_there(observation, path),
            earlier: earlier.split_off(from),
            confirmed: is_there,
            ..new_row(session, path.to_owned(), hash, self.processes.boot_id())
        };
        Some(if is_there { settled(&observation.located, &row) } else { row })
    }

    /// The base for other writers' edits: the current content; for a damaged file its substitute, which its
    /// writer had before the damage.
    fn base_there(&self, observation: &Observation, path: &str) -> Vec<u8> {
        match observation.row(path).filter(|_| self.is_damage_of_ours(observation, path)) {
            Some(row) => observation.whole(path, row),
            None => self.seen_there(observation, path),
        }
    }

    fn is_damage_of_ours(&self, observation: &Observation, path: &str) -> bool {
        observation.state(path) == Some(FileState::Damaged)
            && observation.row(path).is_some()
            && observation.tree.content(path).is_some()
            && observation.over(path).is_none()
    }

    /// The content on disk when observed, readable or not; displaced edits are known by now as well.
    fn seen_there(&self, observation: &Observation, path: &str) -> Vec<u8> {
        if let Some(over) = observation.over(path) {
            return over.clone();
        }
        let known = observation.row(path).filter(|_| !self.scope.aim.is_repair());
        match (observation.tree.get(path), known) {
            (Some(Entry::File(content)), _) => content.clone(),
            // Nothing else is known to be there.
            (Some(Entry::Unusable(_) | Entry::Folder), Some(row)) => row.body.clone(),
            (Some(Entry::Unusable(_)), None) => {
                exchange::read(&observation.home.join(path)).unwrap_or_default()
            }
            (Some(Entry::Folder | Entry::Unread { .. }) | None, _) => Vec::new(),
        }
    }

    /// A newly started session has no files.
    fn observed_or_new(&self, session: &Session) -> Option<Rc<Observation>> {
        self.observed(&session.id).or_else(|| {
            let located = self.located(session)?;
            Some(self.scope.keep(Observation::of_new(located, &self.root_of(session))))
        })
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

    /// Removes findings that are resolved by now: adopted, or about to be written.
    pub(crate) fn describe_adopted(&self, batch: &Batch, answer: &mut Answer) {
        let shown = batch.streams.iter().filter(|stream| stream.row.layout != NATIVE);
        for observation in shown.filter_map(|stream| self.observed(&stream.row.id)) {
            if observation.is_foreign() {
                let spot = &observation.located.spot;
                answer.said.push(match observation.brought_from() {
                    Some(from) => format!("{} was copied to {}", from.display(), spot.path),
                    None => format!("{} was adopted from {}", observation.located.id, observation.place()),
                });
            }
            let displaced = observation.displaced.iter().map(|(path, _)| path);
            for path in displaced.chain(observation.in_state(FileState::Edited).iter()) {
                if observation.row(path).is_some() {
                    let path = observation.located.spot.below_project(path);
                    answer.said.push(format!("external edits of {path} were adopted"));
                }
            }
        }
        answer.view.warnings.retain(|warning| !DEALT_WITH.contains(&warning.kind.as_str()));
    }

    /// Writes the files that a command stored. Displaced edits are adopted, and the file is rewritten.
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

    pub(crate) fn publish_session(&mut self, id: &SessionId) -> Result<Vec<Warning>> {
        let mut said = Vec::new();
        let mut waiting = vec![id.clone()];
        for _ in 0..TRIES {
            let Some(next) = waiting.last().cloned() else { return Ok(said) };
            let Placed { left_alone, displaced, said: told } = self.place(&next)?;
            said.extend(told);
            failpoint::reached("view-confirmed");
            let Some(displaced) = displaced else {
                said.extend(left_alone.iter().map(|path| stale(&next, &not_looked_at(path))));
                waiting.pop();
                continue;
            };
            match self.adopt_edits(&displaced) {
                // Another process was first: look at its result as well.
                Err(error) if error.is_contended() => {}
                other => other?,
            }
            if displaced != next {
                waiting.push(displaced);
            }
        }
        Err(Error::io(
            format!("writing the files of {id}"),
            io::Error::new(io::ErrorKind::WouldBlock, "another program keeps changing them"),
        ))
    }

    /// Writes the files of a session that was stored without them.
    pub(crate) fn write_files(&mut self, id: &SessionId) -> Vec<Warning> {
        let written = self.adopt_edits(id).and_then(|()| self.publish_session(id));
        self.forget_observations();
        written.unwrap_or_else(|error| vec![stale(id, &error)])
    }

    /// True if files have changes to store that the log lacks.
    pub(crate) fn has_found(&self, session: &Session) -> bool {
        self.store.pending(&session.id).is_some()
            && self.observed(&session.id).is_some_and(|observation| !observation.is_left_alone())
    }

    /// Adopts displaced edits, in its own turn.
    pub(crate) fn adopt_edits(&mut self, id: &SessionId) -> Result<()> {
        self.forget_observations();
        self.pause_rival_first(id)?;
        self.store.take_turn(self.patience.left())?;
        let done = self.adopt_edits_now(id);
        self.store.give_turn_back();
        done
    }

    fn adopt_edits_now(&mut self, id: &SessionId) -> Result<()> {
        self.forget_observations();
        let (_, session) = self.load(id)?;
        let pending = self.store.pending(id);
        let mut batch = Batch::default();
        batch.views = match &pending {
            Some(stream) => self.views_of(&read_snapshot(stream)?, &batch, &[])?,
            None => self.views_of(&session, &batch, &[])?,
        };
        let came_out = self.observed(id).map(|observation| observation.came_out()).unwrap_or_default();
        self.store.keep_pending(id, &batch)?;
        self.keep_displaced(&session, &came_out)?;
        self.forget_observations();
        Ok(())
    }
}

/// A write without further data.
fn new_row(session: &Session, path: String, hash: String, boot_id: String) -> ViewRow {
    ViewRow {
        session: session.id.clone(),
        path,
        hash,
        body: Vec::new(),
        previous: Vec::new(),
        earlier: Vec::new(),
        version: session.version,
        boot_id,
        confirmed: false,
        journal: store::WriteJournal::default(),
    }
}

/// Unknown content that a write drops.
fn lost_by(op: &FileOp) -> Option<(String, String)> {
    match op {
        FileOp::Put { file, loses } => Some((file.path.clone(), loses.clone()?)),
        FileOp::Create(_) | FileOp::Folder(_) | FileOp::Marker { .. } => None,
    }
}

/// A row with the content it drops, including that of an earlier write that did not arrive.
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
    let message = format!("the change is in the log, but the session's files could not be written: {error}");
    let hint = Hint::new("when that is fixed, write them: ").run(words!["repair", "--session", id]);
    Warning::new("view_stale", message).hint(hint)
}

fn not_looked_at(path: &Path) -> Error {
    let why = io::Error::other("the existing file cannot be inspected, and is not overwritten");
    Error::io(format!("writing {}", path.display()), why)
}

/// True if no file is out of step.
pub(crate) fn is_settled(observation: &Observation) -> bool {
    let is_in_step = |(path, state): (&String, FileState)| match state {
        FileState::Same | FileState::Moved | FileState::Unreadable | FileState::NeverRead => true,
        // Adopted parts of other sessions may not be there yet.
        FileState::OfOthers => observation.row(path).is_none_or(|row| row.confirmed),
        FileState::Edited
        | FileState::Behind
        | FileState::Leftover
        | FileState::Missing
        | FileState::Damaged => false,
    };
    let is_over = observation.verdicts.values().any(|found| found.over.is_some());
    let is_quiet = observation.displaced.is_empty() && !is_over && observation.moving.is_none();
    is_quiet && observation.states().all(is_in_step)
}
