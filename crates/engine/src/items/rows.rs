//! Converts between items and rows of the store.

use crate::error::{Error, Result};
use model::event::Recorded;
use model::id::SessionId;
use model::item::{Item, ItemBook};
use store::ItemRow;

pub(crate) fn item_row(session: &SessionId, item: &Item) -> Result<ItemRow> {
    let body = serde_json::to_string(item).map_err(|error| broken(session, &error))?;
    Ok(ItemRow {
        session: session.clone(),
        id: item.id.clone(),
        run: item.run.to_string(),
        phase: item.phase.to_string(),
        parent: item.parent.clone(),
        place: item.sort_key(),
        state: item.state(),
        status: item.status.name().to_owned(),
        holder: item.lease.as_ref().map(|lease| lease.actor.key()),
        lease_until: item.lease.as_ref().map(|lease| lease.until),
        depends_on: item.depends_on.clone(),
        body,
    })
}

/// Returns all items of a whole log.
pub(crate) fn item_rows(session: &SessionId, events: &[Recorded]) -> Result<Vec<ItemRow>> {
    ItemBook::fold(events).iter().map(|item| item_row(session, item)).collect()
}

pub(crate) fn read_item(row: &ItemRow) -> Result<Item> {
    serde_json::from_str(&row.body).map_err(|error| broken(&row.session, &error))
}

fn broken(session: &SessionId, error: &serde_json::Error) -> Error {
    Error::BrokenLog { session: session.to_string(), why: format!("one of its items: {error}") }
}
