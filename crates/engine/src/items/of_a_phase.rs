//! Ids of the items of one phase: the unfinished ones and the dropped ones.

use super::{Spot, sort};
use crate::engine::Engine;
use crate::error::Result;
use model::id::{ItemId, Name};
use model::item::{ItemState, RunRef};
use model::session::Session;
use store::ItemFilter;

impl Engine {
    /// Returns the ids of the first unfinished items of a phase of the current run.
    pub(crate) fn unfinished_items(
        &self,
        session: &Session,
        phase: &Name,
        limit: usize,
    ) -> Result<Vec<ItemId>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let spot = Spot { run: RunRef::from(run).to_string(), phase: phase.to_string() };
        let mut rows = self.store.items(&session.id, &spot.filter(ItemState::Ready, limit))?;
        rows.extend(self.store.items(&session.id, &spot.filter(ItemState::Waiting, limit))?);
        sort(&mut rows);
        rows.truncate(limit);
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// Returns the ids of the first dropped items of a phase of the current run.
    pub(crate) fn dropped_items(&self, session: &Session, phase: &Name, limit: usize) -> Result<Vec<String>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: Some(phase.to_string()),
            status: Some("dropped".to_owned()),
            limit: Some(limit),
            ..ItemFilter::default()
        };
        Ok(self.store.items(&session.id, &filter)?.into_iter().map(|row| row.id.to_string()).collect())
    }
}
