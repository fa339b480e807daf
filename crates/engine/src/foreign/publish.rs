//! Publishes a session after a command. The new files are stored with the command's events, then written, then
//! confirmed. If a file cannot be written, this is only reported, because the log has everything.

pub(crate) mod backup;
pub(crate) mod folders;
pub(crate) mod journal;
pub(crate) mod markers;
pub(crate) mod run_folders;
#[cfg(test)]
mod tests;
pub(crate) mod write_files;

use crate::NATIVE;
use crate::engine::{Engine, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::failpoint;
use crate::foreign::observe::disk::Home;
use crate::foreign::observe::{FileState, Observation};
use crate::foreign::publish::write_files::Placed;
use crate::view::Warning;
use crate::walk::{self, check_length};
use layouts::layout::{Depth, FileOp, Purpose, SessionToPublish, WriteRequest};
use layouts::observation::{Origin, Writer};
use layouts::reader::Located;
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

/// How often files are written again because somebody keeps editing them.
const TRIES: usize = 50;
/// Kinds of warnings whose problem a command solves.
const DEALT_WITH: [&str; 6] =
    ["edited_outside", "view_stale", "view_missing", "view_damaged", "several_active", "folder_gone"];

impl Engine {
    /// Adds the new files of a batch's sessions to the batch.
    pub(crate) fn add_views(&self, batch: &mut Batch) -> Result<()> {
        let mut views = Vec::new();
        for stream in batch.streams.iter().filter(|stream| stream.row.layout != NATIVE) {
            let session = read_snapshot(stream)?;
            views.extend(self.views_of(&session, batch, &stream.events)?);
        }
        batch.views.extend(views);
        Ok(())
    }

    /// Returns the files of a session that must be written. `batch` will be committed next.
    fn views_of(&self, session: &Session, batch: &Batch, new: &[store::EventRow]) -> Result<Vec<ViewRow>> {
        let Some(located) = self.located(session) else { return Ok(Vec::new()) };
        let observation = self.observed_or_new(session, &located);
        let moves = located.spot.path != observation.located.spot.path;
        let moved = moves.then(|| observation.moved_to(located));
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
        let disk = Home::below(&self.root_of(session), &observation.located);
        let (boot_id, is_repair) = (&self.processes.boot_id(), self.scope.aim.is_repair());
        let writer = Writer { session, boot_id, is_repair, disk: &disk };
        let Located { layout, spot, .. } = &observation.located;
        for op in &ops {
            if let FileOp::Put { file, .. } = op
                && !observation.leaves_alone(&file.path, &writer)
            {
                check_length(*layout, spot, &file.path, &file.content)?;
            }
        }
        let mut rows = observation.rows_after(&writer, &ops);
        rows.extend(moved.as_ref().and_then(|moved| moved.move_row(&writer)));
        Ok(rows)
    }

    /// Returns the events that the new events undid, if any.
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

    /// Returns the files of a finished session with their whole content. The results of such a session are in files
    /// that are otherwise not read.
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

    /// Returns the observation of a session. A session that was just started has no files.
    fn observed_or_new(&self, session: &Session, located: &Located) -> Rc<Observation> {
        self.observed(&session.id).unwrap_or_else(|| {
            let root = self.root_of(session);
            let tree = walk::read(located.layout, &located.spot, &root, Depth::Short);
            let home = root.join(&located.spot.home);
            self.scope.keep(Observation::of_tree(located.clone(), home, Origin::New, tree), None)
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

    /// Adds messages about adopted sessions and edits. Removes warnings about problems that this command has solved.
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
            // A file can have been edited more than once since leftoff wrote it.
            let displaced = observation.displaced.iter().map(|(path, _)| path.clone());
            let edited: BTreeSet<String> = displaced.chain(observation.in_state(FileState::Edited)).collect();
            for path in edited {
                if observation.row(&path).is_some() {
                    let path = observation.located.spot.below_project(&path);
                    answer.said.push(format!("external edits of {path} were adopted"));
                }
            }
        }
        answer.view.warnings.retain(|warning| !DEALT_WITH.contains(&warning.kind.as_str()));
    }

    /// Writes the files that a command stored. A displaced edit is adopted, and its file is written again.
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
            if let Err(error) = self.keep_run_folder(&id) {
                warnings.push(stale(&id, &error));
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
                // Another process adopted the edit first, so this one continues with that result.
                Err(error) if error.is_contended() => {}
                other => other?,
            }
            if displaced != next {
                waiting.push(displaced);
            }
        }
        Err(Error::io(
            format!("writing the files of {id}"),
            io::Error::new(io::ErrorKind::WouldBlock, "another program keeps changing these files"),
        ))
    }

    /// Writes the files of a session that was stored without being published.
    pub(crate) fn write_files(&mut self, id: &SessionId) -> Vec<Warning> {
        let written = self.adopt_edits(id).and_then(|()| self.publish_session(id));
        self.forget_observations();
        written.unwrap_or_else(|error| vec![stale(id, &error)])
    }

    /// True if an observation found changes that are not in the log yet.
    pub(crate) fn has_found(&self, session: &Session) -> bool {
        self.store.pending(&session.id).is_some()
            && self.observed(&session.id).is_some_and(|observation| !observation.is_left_alone())
    }

    /// Adopts displaced edits in a turn of their own.
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

fn read_snapshot(stream: &StreamAppend) -> Result<Session> {
    // Only native sessions are ever stored without a snapshot.
    let body = stream.snapshot.as_ref().map_or("", |snapshot| &snapshot.body);
    serde_json::from_str(body)
        .map_err(|error| Error::BrokenLog { session: stream.row.id.to_string(), why: error.to_string() })
}

fn stale(id: &SessionId, error: &Error) -> Warning {
    let message = format!("the change is in the log, but the session's files could not be written: {error}");
    let hint =
        Hint::new("after the cause is fixed, write the files: ").run(words!["repair", "--session", id]);
    Warning::new("view_stale", message).hint(hint)
}

fn not_looked_at(path: &Path) -> Error {
    let why = io::Error::other("the existing file cannot be inspected, and is not overwritten");
    Error::io(format!("writing {}", path.display()), why)
}
