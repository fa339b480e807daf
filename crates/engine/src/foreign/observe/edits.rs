//! Converts edits of a session's files to events, relative to the last write.

use crate::engine::Engine;
use crate::foreign::discover::markers::is_marker;
use crate::foreign::observe::Observation;
use crate::foreign::observe::read::reason;
use crate::view::Warning;
use jiff::Timestamp;
use layouts::layout::{ForeignSession, Merge, Proof};
use layouts::reading::Dated;
use layouts::reconcile::{self, Draft, Laid};
use layouts::tree::{Entry, Tree};
use layouts::verdict::{Base, FileState};
use model::event::Event;
use model::hint::Hint;
use model::id::ItemId;
use model::item::ItemBook;
use model::session::Session;
use model::words;

/// File times come from a clock that lags by a few milliseconds.
const FILE_CLOCK_LAG: i64 = 10;

impl Observation {
    /// External edits as events, each with its time.
    pub(crate) fn external_edits(
        &mut self,
        engine: &Engine,
        session: &Session,
        items: ItemBook,
    ) -> Vec<Dated> {
        let read = engine.clock.now();
        let mut base = self.with_rows(|_| true, true);
        for row in self.edited_before_they_arrived() {
            base.insert(row.path.clone(), Entry::File(row.previous.clone()));
        }
        let is_theirs = |state: &FileState| {
            matches!(state, FileState::Edited | FileState::OfOthers | FileState::Behind | FileState::Moved)
        };
        let is_ours = |state: &FileState| !is_theirs(state);
        let mut theirs = self.with_rows(is_ours, false);
        for (path, found) in &self.verdicts {
            if let Some(backup) = &found.stands_for {
                theirs.insert(path.clone(), Entry::File(backup.clone()));
            }
        }
        let is_stood_for =
            |state| matches!(state, FileState::Missing | FileState::Unreadable | FileState::Damaged);
        if self.states().any(|(_, state)| is_stood_for(state)) {
            self.add_what_is_named(&mut theirs);
        }
        self.find_damage(engine);
        let mut reading = engine.read_tree(&self.located, &theirs);
        self.documents = theirs;
        // Content known only from the backup is as new to the log as an edit.
        let is_new = |path: &String| self.row(path).is_none();
        let from_before = self.in_state(FileState::Damaged).into_iter().filter(is_new);
        let edited: Vec<String> = self.in_state(FileState::Edited).into_iter().chain(from_before).collect();
        if self.put_back_what_was_dropped() {
            reading = engine.read_tree(&self.located, &self.documents);
        }
        self.put_ours_onto_what_was_edited_before();
        self.describe(session, &reading);
        let actor = engine.actor_of(self.located.layout);
        let at = self.edited_at(session, engine.clock.now());
        let mut draft = Draft::new(session.clone(), items, at, actor).dated_by_files(read);
        // Replaced content preceded the current one.
        for edit in self.displaced.clone() {
            self.apply_displaced(engine, &mut draft, &base, &edit);
        }
        if !edited.is_empty() {
            self.apply_edit(engine, &mut draft, &base, &reading.value, &edited);
        }
        self.apply_move(&mut draft);
        self.prove(engine, &mut draft, &reading.value, session);
        self.workflows.clone_from(&reading.value.workflows);
        self.proofs.clone_from(&reading.value.proofs);
        draft.dated()
    }

    /// When the files were edited, according to them: not before the log's last event, and not after now.
    /// Looking at last week's edit does not make a session active again.
    fn edited_at(&self, session: &Session, now: Timestamp) -> Timestamp {
        let edited = self.in_state(FileState::Edited);
        // A shared file has one time for all sessions: it counts only if nothing else does.
        let own: Vec<String> = edited.iter().filter(|path| !self.is_shared(path)).cloned().collect();
        let edited = if own.is_empty() { edited } else { own };
        let modified: Option<Vec<Timestamp>> = edited.iter().map(|path| self.tree.modified(path)).collect();
        let last = modified.filter(|_| self.displaced.is_empty()).and_then(|all| all.into_iter().max());
        last.map_or(now, |last| last.max(session.updated_at).min(now))
    }

    /// Why each damaged file is unreadable.
    fn find_damage(&mut self, engine: &Engine) {
        let damaged = self.in_state(FileState::Damaged);
        if damaged.is_empty() {
            return;
        }
        let said = engine.read_tree(&self.located, &self.tree).warnings;
        for path in damaged {
            let why = said.iter().find(|problem| problem.path == path).map(reason);
            if let Some(found) = self.verdicts.get_mut(&path) {
                found.why = Some(why.unwrap_or_default());
            }
        }
    }

    /// Applies the differences between what we wrote and what is there.
    pub(crate) fn apply_edit(
        &mut self,
        engine: &Engine,
        draft: &mut Draft,
        base: &Tree,
        theirs: &ForeignSession,
        paths: &[String],
    ) {
        let actor = engine.actor_of(self.located.layout);
        let before = engine.read_as_written(&self.located, base);
        let only_claims = self.located.layout.facts().edits_only_claim;
        let spelled = |told: ForeignSession| reconcile::in_known_spelling(told, self.located.layout, draft);
        let laid =
            |told: ForeignSession| fold(&if only_claims { told.only_claiming() } else { told }, &actor);
        let approved = before.approved.clone();
        let (before, now) = (laid(spelled(before)), laid(spelled(theirs.clone())));
        let (Some(before), Some(now)) = (before, now) else { return };
        let (title, goal, target) = reconcile::described(&before.0, &now.0);
        let paths = paths.iter().map(|path| self.located.spot.below_project(path)).collect();
        draft.push(Event::ExternalEdit { paths, title, goal, target });
        // An unknown position is not a claim: the log's stays, and the warning names the file.
        if !theirs.says_where_it_stands() {
            return;
        }
        reconcile::reconcile(
            draft,
            Laid { session: &before.0, items: &before.1 },
            Laid { session: &now.0, items: &now.1 },
        );
        reconcile::withdraw(draft, &approved, &theirs.approved);
        if self.located.layout.facts().counts_parts {
            reconcile::count_parts(draft, &before.1, &now.1);
            let mut stays = reconcile::drop_parts(draft, &before.1, &now.1);
            stays.extend(reconcile::drop_listed(draft, &before.1, &now.1));
            self.describe_what_stays(&stays);
        }
    }

    fn describe_what_stays(&mut self, items: &[ItemId]) {
        for id in items {
            let message = format!("the files no longer list {id}; somebody worked on it, so it stays");
            let hint = Hint::new("see it: ").run_here(words!["item", "list", "--all"]);
            self.problems.push(Warning::new("item_stays", message).hint(hint));
        }
    }

    /// Runs proven by other files: forward only, and only files written since the log's current phase
    /// started.
    fn prove(&self, engine: &Engine, draft: &mut Draft, told: &ForeignSession, session: &Session) {
        let run_began = session.run().and_then(|run| {
            let began = engine.files_count_since(session, run, run.current().id());
            began.or(Some(run.started_at))
        });
        // After going back, older files prove nothing.
        let began = run_began.max(session.went_back_at);
        let is_new_enough = |proof: &Proof| match proof {
            Proof::Run { path, .. } => match (self.tree.modified(path), began) {
                (Some(modified), Some(began)) => {
                    modified.as_millisecond().saturating_add(FILE_CLOCK_LAG) >= began.as_millisecond()
                }
                // A folder's time does not count; its existence is new if the log has none.
                (None, _) | (_, None) => true,
            },
            Proof::Work { .. } | Proof::Result { .. } => false,
        };
        reconcile::prove(draft, told, &is_new_enough);
    }

    /// Keys dropped by another writer were not deleted: they are read as present, and written back. Returns
    /// whether there were any.
    fn put_back_what_was_dropped(&mut self) -> bool {
        let mut any = false;
        for path in self.in_state(FileState::Edited) {
            let (Some(row), Some(theirs)) = (self.row(&path), self.documents.content(&path)) else {
                continue;
            };
            if is_marker(self.located.layout, &path) {
                continue;
            }
            // An edit of the previous version dropped nothing that came later.
            let had = if self.was_edited_before(&path) { &row.previous } else { &row.body };
            let merged = self.located.layout.merge(&path, Merge::Dropped { base: had, theirs });
            any |= merged != theirs;
            self.documents.insert(path, Entry::File(merged));
        }
        any
    }

    /// True if a file was edited before our last write arrived.
    fn was_edited_before(&self, path: &str) -> bool {
        self.verdicts.get(path).is_some_and(|found| found.base == Base::Previous)
    }

    pub(crate) fn edited_before_they_arrived(&self) -> impl Iterator<Item = &store::ViewRow> {
        self.rows().filter(|row| self.was_edited_before(&row.path))
    }
}

fn fold(told: &ForeignSession, actor: &model::actor::Actor) -> Option<(Session, ItemBook)> {
    let without_proofs = ForeignSession { proofs: Vec::new(), ..told.clone() };
    without_proofs.fold(actor).map(|(_, session, items)| (session, items))
}
