//! What every store asks of a batch and of a row. Pure: touches no store.

use crate::{Batch, Error, ItemRow, Result, Rewrite, SessionRow, StreamAppend};
use jiff::{SignedDuration, Timestamp};

/// How long a key makes a command count once.
const KEY_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The lifecycle that takes a worktree's place, as rows spell it.
const ACTIVE: &str = "active";

/// Whether this session takes its worktree's one place for an active session.
pub(crate) fn takes_the_worktree(row: &SessionRow) -> bool {
    row.lifecycle == ACTIVE && !row.parallel && row.exclusive && row.machine.is_none()
}

/// Keys used at this moment or before no longer count for a command of `now`.
pub(crate) fn keys_expire_at(now: Timestamp) -> Timestamp {
    now.checked_sub(KEY_LIFETIME).unwrap_or(Timestamp::MIN)
}

/// A batch that breaks its own promises is a mistake of the caller, not a conflict.
pub(crate) fn check_shape(batch: &Batch) -> Result<()> {
    for (place, stream) in batch.streams.iter().enumerate() {
        check_stream(stream)?;
        let earlier = &batch.streams[..place];
        if earlier.iter().any(|other| same_id(&other.row, &stream.row)) {
            return malformed(format!("session {} is in it twice", stream.row.id));
        }
    }
    for replaced in &batch.replace_items {
        if let Some(stray) = replaced.rows.iter().find(|row| row.session != replaced.session) {
            return malformed(format!("item {} is not of session {}", stray.id, replaced.session));
        }
    }
    Ok(())
}

/// All item rows of a batch, those that replace others first.
pub(crate) fn item_rows(batch: &Batch) -> impl Iterator<Item = &ItemRow> {
    batch.replace_items.iter().flat_map(|replaced| &replaced.rows).chain(&batch.items)
}

/// Only events that are there already can be given other words.
pub(crate) fn check_rewrite(rewrite: &Rewrite) -> Result<()> {
    check_stream(&rewrite.stream)?;
    if let Some(stray) = rewrite.items.iter().find(|row| row.session != rewrite.stream.row.id) {
        return malformed(format!("item {} is not of session {}", stray.id, rewrite.stream.row.id));
    }
    let known = 1..=rewrite.stream.expected;
    match rewrite.events.iter().find(|event| !known.contains(&event.version)) {
        None => Ok(()),
        Some(event) => {
            let id = &rewrite.stream.row.id;
            malformed(format!("session {id} has no event {} to be rewritten", event.version))
        }
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
            "the versions of session {id} do not follow {} one by one",
            stream.expected
        ));
    }
    if stream.row.version != last.version || stream.snapshot.version != last.version {
        return malformed(format!(
            "the line or the snapshot of session {id} is not of version {}",
            last.version
        ));
    }
    Ok(())
}

fn same_id(one: &SessionRow, other: &SessionRow) -> bool {
    one.id.as_str().eq_ignore_ascii_case(other.id.as_str())
}

pub(crate) fn malformed<T>(why: String) -> Result<T> {
    Err(Error::Engine { doing: "taking a batch".to_owned(), why })
}
