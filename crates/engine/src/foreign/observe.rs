//! Observes a session's files: finds external edits and derives events from them. Compares content, never times alone.
//! An edit is never refused, and an unreadable file does not count as an edit.

pub(crate) mod disk;
pub(crate) mod lost_folder;
pub(crate) mod read;
pub(crate) mod stamp;
pub(crate) mod stored_session;
#[cfg(test)]
mod tests;
pub(crate) mod too_little_known;
pub(crate) mod wait_for_writer;
pub(crate) mod work_ahead;

pub(crate) use layouts::observation::Observation;
pub(crate) use layouts::verdict::{FileState, hash};

use crate::NATIVE;
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan;
use crate::foreign::discover::path::Pointed;
use crate::foreign::observe::stamp::Stamp;
use crate::items::item_row;
use crate::redact;
use crate::view::Warning;
use layouts::reader::{Foreign, Located};
use layouts::reading::Dated;
use model::event::{Event, Recorded};
use model::id::SessionId;
use model::item::ItemBook;
use model::progress::SignsOfWork;
use model::session::Session;
use model::workflow::Workflow;
use std::path::PathBuf;
use std::rc::Rc;
use store::{Batch, ItemsReplaced, Loaded};

/// How often a session is observed again because other processes keep changing it.
const MOST_LOOKS: usize = 50;

impl Engine {
    /// Observes a session's files. The result is kept, and returned again until something changes. Edits are applied in
    /// memory as uncommitted events. Returns `None` for a session without files.
    pub(crate) fn observe(&self, id: &SessionId) -> Result<Option<Rc<Observation>>> {
        if let Some(known) = self.observed(id) {
            return Ok(Some(known));
        }
        // Without the turn to write, another process may commit between two steps. The session is then observed again.
        let mut more = 0..MOST_LOOKS;
        loop {
            match self.observe_once(id) {
                Err(error) if error.is_contended() && more.next().is_some() => {}
                found => return Ok(found?.map(|(found, stamp)| self.scope.keep(found, stamp))),
            }
        }
    }

    fn observe_once(&self, id: &SessionId) -> Result<Option<(Observation, Option<Stamp>)>> {
        match self.store.load(id)? {
            // If the session moved to another machine, its files are not here.
            Some(loaded) if loaded.row.layout == NATIVE || loaded.row.machine.is_some() => Ok(None),
            Some(loaded) => self.observe_kept(&loaded),
            None => {
                let found = self.foreign_when_written(id).map(|found| self.apply_found(found, None));
                Ok(found.transpose()?.map(|found| (found, None)))
            }
        }
    }

    /// Observes a session at a known place that is not in the store.
    pub(crate) fn observe_found(&self, located: &Located) -> Result<()> {
        if self.observed(&located.id).is_some() {
            return Ok(());
        }
        // A repair writes files and must know them completely. A list of many sessions need not.
        let is_repair = self.scope.aim.is_repair();
        let found = if is_repair { self.foreign_found(located) } else { self.foreign_among_many(located) };
        let Some(found) = found else { return Ok(()) };
        match self.apply_found(found, None) {
            // Another process adopted the session after it was looked up here.
            Err(error) if error.is_contended() => self.observe(&located.id).map(drop),
            found => found.map(|found| drop(self.scope.keep(found, None))),
        }
    }

    /// Observes a session in another project's files as if it were in this project. Returns the id that it gets here.
    pub(crate) fn observe_elsewhere(&self, pointed: &Pointed) -> Result<SessionId> {
        let found = self.foreign_elsewhere(pointed)?;
        let observation = self.apply_found(found, Some(pointed.place()))?;
        Ok(self.scope.keep(observation, None).located.id.clone())
    }

    fn observe_kept(&self, loaded: &Loaded) -> Result<Option<(Observation, Option<Stamp>)>> {
        let session = self.folded(loaded)?;
        let Some(located) = self.located(&session) else { return Ok(None) };
        let items = self.all_items(&session.id)?;
        let rows = self.store.views(&session.id)?;
        let (observation, stamp, events) = self.observe_files(&located, &session, &rows, items.clone());
        if !events.is_empty() {
            self.apply_edits(&observation, &session, items, events)?;
        }
        Ok(Some((observation, stamp)))
    }

    /// Applies external edits in memory.
    fn apply_edits(
        &self,
        observation: &Observation,
        session: &Session,
        mut items: ItemBook,
        mut events: Vec<Dated>,
    ) -> Result<()> {
        for dated in &mut events {
            drop(redact::event(&mut dated.event));
        }
        let actor = self.tree_reader().actor(observation.located.layout);
        let recorded: Vec<Recorded> = events
            .into_iter()
            .zip(session.version + 1..)
            .map(|(Dated { at, event }, version)| Recorded { version, at, actor: actor.clone(), event })
            .collect();
        let after = recorded.iter().fold(session.clone(), Session::apply).trimmed();
        let stream = plan::stream(&after, session.version, &recorded)?;
        for recorded in &recorded {
            if let Event::Item(event) = &recorded.event {
                items.apply(event, recorded.at, &recorded.actor);
            }
        }
        // If an item was removed, the session's whole list of items is replaced. Otherwise only changed items are
        // stored.
        let has_removed = recorded.iter().any(|recorded| plan::removes_an_item(&recorded.event));
        let row = |item| item_row(&session.id, item);
        let (rows, replaced) = if has_removed {
            let rows = items.iter().map(row).collect::<Result<_>>()?;
            (Vec::new(), vec![ItemsReplaced { session: session.id.clone(), rows }])
        } else {
            (items.touched().map(row).collect::<Result<_>>()?, Vec::new())
        };
        let begins_a_run = recorded.iter().any(|recorded| matches!(recorded.event, Event::RunStarted { .. }));
        let definitions =
            if begins_a_run { self.definitions_of_runs(&observation.workflows, &after)? } else { Vec::new() };
        let rest = Batch { definitions, items: rows, replace_items: replaced, ..Batch::default() };
        Ok(self.store.lay_over(&stream, rest)?)
    }

    /// Adds a whole foreign session to the uncommitted changes in memory. `from` is its place, if it is in another
    /// project.
    pub(crate) fn apply_found(&self, mut found: Foreign, from: Option<PathBuf>) -> Result<Observation> {
        for recorded in &mut found.recorded {
            drop(redact::event(&mut recorded.event));
        }
        // The session is folded again from events without secrets, so that no copy of a secret remains.
        let session = plan::fold_whole(&found.recorded, None)?.trimmed();
        let items = ItemBook::fold(&found.recorded);
        let stream = plan::stream(&session, 0, &found.recorded)?;
        let definitions = self.definitions_of_runs(&found.told.workflows, &session)?;
        let rows = items.iter().map(|item| item_row(&session.id, item));
        let rest = Batch { definitions, items: rows.collect::<Result<_>>()?, ..Batch::default() };
        self.store.lay_over(&stream, rest)?;
        Ok(Observation::of_found(found, from))
    }

    /// Returns those definitions of a session's runs that are in its files or built in.
    fn definitions_of_runs(
        &self,
        brought: &[Workflow],
        session: &Session,
    ) -> Result<Vec<store::DefinitionRow>> {
        let mut rows = Vec::new();
        for run in &session.runs {
            let name = &run.workflow.name;
            let own = brought.iter().find(|own| own.name == *name).cloned();
            let known = own.or_else(|| crate::definitions::load_builtin(name.as_str()));
            if let Some(workflow) = known.filter(|known| known.hash == run.workflow.hash) {
                rows.push(plan::definition_row(&workflow)?);
            }
        }
        Ok(rows)
    }

    /// Returns warnings about a session's files.
    pub(crate) fn file_warnings(&self, id: &SessionId) -> Vec<Warning> {
        let of =
            |observation: Rc<Observation>| Warning::of_files(&observation.located, &observation.problems);
        self.observed(id).map(of).unwrap_or_default()
    }

    /// Returns signs of recent work in a session's own files.
    pub(crate) fn signs_of_work(&self, id: &SessionId) -> SignsOfWork {
        let Some(observation) = self.observed(id) else { return SignsOfWork::default() };
        let (layout, spot) = (observation.located.layout, &observation.located.spot);
        let now = self.clock.now();
        let is_own = |path: &&str| spot.below_project(path).starts_with(&spot.path);
        let files = observation.tree.files().filter(is_own);
        // A modification time in the future does not show when somebody worked.
        let written = files.filter_map(|path| observation.tree.modified(path)).filter(|at| *at <= now).max();
        SignsOfWork { written, alone: layout.facts().stalls_in_silence }
    }
}
