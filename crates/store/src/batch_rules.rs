//! Validates batches and rows for all stores. Pure: accesses no store.

use crate::{Batch, Error, ItemRow, Result, Rewrite, SessionRow, StreamAppend, TakenHistory};

/// The name of the lifecycle in which a session can occupy its worktree.
const ACTIVE: &str = "active";

/// True if this session occupies its worktree. A worktree has at most one such active session.
pub(crate) fn takes_the_worktree(row: &SessionRow) -> bool {
    row.lifecycle == ACTIVE && !row.parallel && row.exclusive && row.machine.is_none()
}

/// Checks that a batch is consistent. An inconsistent batch is a bug in the caller, not a conflict.
pub(crate) fn check_shape(batch: &Batch) -> Result<()> {
    for (place, stream) in batch.streams.iter().enumerate() {
        check_stream(stream)?;
        let earlier = &batch.streams[..place];
        if earlier.iter().any(|other| same_id(&other.row, &stream.row)) {
            return malformed(format!("session {} is in the batch twice", stream.row.id));
        }
    }
    for replaced in &batch.replace_items {
        if let Some(stray) = replaced.rows.iter().find(|row| row.session != replaced.session) {
            return malformed(format!("item {} does not belong to session {}", stray.id, replaced.session));
        }
    }
    Ok(())
}

/// Returns all item rows of a batch: first those that replace a session's items, then the others.
pub(crate) fn item_rows(batch: &Batch) -> impl Iterator<Item = &ItemRow> {
    batch.replace_items.iter().flat_map(|replaced| &replaced.rows).chain(&batch.items)
}

/// Checks that a rewrite changes only existing events and replaces the snapshot.
pub(crate) fn check_rewrite(rewrite: &Rewrite) -> Result<()> {
    check_stream(&rewrite.stream)?;
    if rewrite.stream.snapshot.is_none() {
        return malformed(format!("session {} would keep its old snapshot", rewrite.stream.row.id));
    }
    if let Some(stray) = rewrite.items.iter().find(|row| row.session != rewrite.stream.row.id) {
        return malformed(format!("item {} does not belong to session {}", stray.id, rewrite.stream.row.id));
    }
    let known = 1..=rewrite.stream.expected;
    match rewrite.events.iter().find(|event| !known.contains(&event.version)) {
        None => Ok(()),
        Some(event) => {
            let id = &rewrite.stream.row.id;
            malformed(format!("session {id} has no event {} to rewrite", event.version))
        }
    }
}

/// Checks that a received history is complete, and that it shares no more events than it and the stored history have.
pub(crate) fn check_history(history: &TakenHistory) -> Result<()> {
    let id = &history.row.id;
    let newest = history.events.len() as u64;
    if newest == 0 || !history.events.iter().map(|event| event.version).eq(1..=newest) {
        return malformed(format!("the history of session {id} is incomplete"));
    }
    if history.shared > newest.min(history.expected) {
        return malformed(format!("session {id} does not share {} events", history.shared));
    }
    if history.row.version != newest || history.snapshot.version != newest {
        return malformed(format!("the row or the snapshot of session {id} does not have version {newest}"));
    }
    if let Some(event) = history.events.iter().find(|event| !history.seals.contains_key(&event.version)) {
        return malformed(format!("event {} of session {id} has no seal", event.version));
    }
    match history.items.iter().find(|row| row.session != *id) {
        None => Ok(()),
        Some(stray) => malformed(format!("item {} does not belong to session {id}", stray.id)),
    }
}

fn check_stream(stream: &StreamAppend) -> Result<()> {
    let id = &stream.row.id;
    let Some(last) = stream.events.last() else {
        return malformed(format!("session {id} has no event"));
    };
    let versions = stream.events.iter().map(|event| event.version);
    if !versions.eq(stream.expected + 1..=last.version) {
        return malformed(format!(
            "the versions of session {id} do not continue from {} without gaps",
            stream.expected
        ));
    }
    let is_snapshot_current = match &stream.snapshot {
        Some(snapshot) => snapshot.version == last.version,
        None => stream.expected > 0,
    };
    if stream.row.version != last.version || !is_snapshot_current {
        return malformed(format!(
            "the row or the snapshot of session {id} does not have version {}",
            last.version
        ));
    }
    Ok(())
}

fn same_id(one: &SessionRow, other: &SessionRow) -> bool {
    one.id.as_str().eq_ignore_ascii_case(other.id.as_str())
}

pub(crate) fn malformed<T>(why: String) -> Result<T> {
    Err(Error::Engine { doing: "storing a batch".to_owned(), why })
}
