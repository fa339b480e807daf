//! Items in memory, found by linear search, which is fast enough for tests.

use super::{MemoryStore, folded};
use crate::batch_rules::{item_rows, malformed};
use crate::{Batch, ItemFilter, ItemRow, ReadyQuery, Result};
use model::id::SessionId;
use model::item::ItemState;

impl MemoryStore {
    pub(super) fn refuse_stray_items(&self, batch: &Batch) -> Result<()> {
        let sessions = batch.replace_items.iter().map(|replaced| &replaced.session);
        for session in sessions.chain(item_rows(batch).map(|row| &row.session)) {
            let begins = batch.streams.iter().any(|stream| stream.row.id == *session);
            if !begins && self.find_exactly(session).is_none() {
                return malformed(format!("the batch has items of session {session}, which does not exist"));
            }
        }
        Ok(())
    }

    pub(super) fn keep_items(&mut self, batch: &Batch) {
        for replaced in &batch.replace_items {
            self.replace_items(&replaced.session, &replaced.rows);
        }
        for row in &batch.items {
            self.keep_item(row);
        }
    }

    pub(super) fn replace_items(&mut self, session: &SessionId, rows: &[ItemRow]) {
        self.items.retain(|_, row| row.session != *session);
        for row in rows {
            self.keep_item(row);
        }
    }

    fn keep_item(&mut self, row: &ItemRow) {
        self.items.insert((folded(row.session.as_str()), row.id.key()), row.clone());
    }

    pub(super) fn items_where(
        &self,
        session: &SessionId,
        limit: Option<usize>,
        wanted: impl Fn(&ItemRow) -> bool,
    ) -> Vec<ItemRow> {
        let of_session = self.items.values().filter(|row| row.session == *session);
        let mut found: Vec<ItemRow> = of_session.filter(|row| wanted(row)).cloned().collect();
        found.sort_by_key(|row| (row.place, row.id.key()));
        found.truncate(limit.unwrap_or(usize::MAX));
        found
    }
}

pub(super) fn is_wanted(filter: &ItemFilter, row: &ItemRow) -> bool {
    filter.run.as_ref().is_none_or(|run| *run == row.run)
        && filter.phase.as_ref().is_none_or(|phase| *phase == row.phase)
        && filter.state.is_none_or(|state| state == row.state)
        && filter.status.as_ref().is_none_or(|status| *status == row.status)
        && filter.parent.as_ref().is_none_or(|parent| row.parent.as_ref().is_some_and(|of| of.is(parent)))
}

pub(super) fn is_free(query: &ReadyQuery<'_>, row: &ItemRow) -> bool {
    row.run == query.run
        && row.phase == query.phase
        && row.state == ItemState::Ready
        && (row.lease_until.is_none_or(|until| until <= query.now)
            || row.holder.as_deref() == Some(query.holder))
}
