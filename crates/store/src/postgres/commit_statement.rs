//! The statement that stores a change of a session. Makes no decision.

use super::Scope;
use super::append::Line;
use super::columns::{nanoseconds, note_of, plain, signed, values};
use super::turn::milliseconds;
use super::wire::{Sent, Step};
use crate::chain::{Hash, Seal};
use crate::{EventRow, Snapshot, StreamAppend};
use jiff::Timestamp;
use std::time::Duration;

pub(super) fn commit(scope: Scope<'_>) -> Sent<'_> {
    Box::pin(async move { scope.ask.plainly("COMMIT").await.map(|_| 0) })
}

/// New events of a session whose row exists, and the state that results from them.
pub(super) struct Growth<'f> {
    /// The number of the session to which the events belong.
    pub(super) session: i64,
    /// The last link of the session's chain after the change.
    pub(super) head: Option<Hash>,
    /// The version of the session before these events.
    pub(super) version: u64,
    pub(super) events: &'f [EventRow],
    pub(super) seals: &'f [Seal],
    /// The new snapshot; `None` keeps the stored one.
    pub(super) snapshot: Option<&'f Snapshot>,
    pub(super) updated_at: Timestamp,
    /// The cursor of the project's last event before the change.
    pub(super) cursor: u64,
    /// The cursor of the project's last event after the change; `None` if the change does not move the session to the
    /// front of lists.
    pub(super) turn: Option<u64>,
    /// The highest session number in the project after the change.
    pub(super) numbers: i64,
    /// `None` in a turn with the lock.
    pub(super) unlocked: Option<Unlocked>,
}

/// The terms on which the server stores a change in a turn without the lock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unlocked {
    /// The counter of changes outside the log that the server must still have.
    pub(super) signs: u64,
    /// How long the change may wait for the lock.
    pub(super) patience: Duration,
}

impl<'f> Growth<'f> {
    pub(super) fn of(
        line: &Line,
        stream: &'f StreamAppend,
        seals: &'f [Seal],
        cursor: u64,
        turn: Option<u64>,
        numbers: i64,
    ) -> Self {
        let StreamAppend { expected, events, row, snapshot } = stream;
        Self {
            session: line.number,
            head: seals.last().map(|seal| seal.link).or(line.head),
            version: *expected,
            events,
            seals,
            snapshot: snapshot.as_ref(),
            updated_at: row.updated_at,
            cursor,
            turn,
            numbers,
            unlocked: None,
        }
    }
}

pub(super) fn keep<'f>(scope: Scope<'f>, growth: Growth<'f>) -> Sent<'f> {
    Box::pin(call(scope, growth))
}

async fn call(scope: Scope<'_>, growth: Growth<'_>) -> Step<u64> {
    let (events, seals) = (growth.events, growth.seals);
    let times: Vec<i64> = events.iter().map(|event| nanoseconds(event.at)).collect();
    let actors: Vec<&str> = events.iter().map(|event| event.actor.as_str()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    let bodies: Vec<&str> = events.iter().map(|event| event.body.as_str()).collect();
    let of_command = |event: &EventRow| event.command.as_ref().map(|command| signed(command.ordinal));
    let ordinals: Vec<Option<i64>> = events.iter().map(of_command).collect();
    let commands: Vec<Option<&str>> =
        events.iter().map(|event| event.command.as_ref().map(|command| command.name.as_str())).collect();
    let salts: Vec<Option<&[u8]>> =
        seals.iter().map(|seal| seal.salt.as_ref().map(<[u8; 16]>::as_slice)).collect();
    let hashes: Vec<&[u8]> = seals.iter().map(|seal| seal.hash.as_slice()).collect();
    let links: Vec<&[u8]> = seals.iter().map(|seal| seal.link.as_slice()).collect();
    let notes: Vec<Option<String>> = events.iter().map(note_of).collect();
    let values = values![
        scope.project,
        growth.session,
        signed(growth.cursor),
        growth.numbers,
        growth.turn.map(signed),
        signed(growth.version),
        nanoseconds(growth.updated_at),
        growth.head.map(|head| head.to_vec()),
        times,
        actors,
        kinds,
        bodies,
        commands,
        ordinals,
        salts,
        hashes,
        links,
        notes,
        growth.snapshot.map(|snapshot| i64::from(snapshot.fold_version)),
        growth.snapshot.map(|snapshot| plain(&snapshot.body)),
        growth.unlocked.map(|unlocked| signed(unlocked.signs)),
        growth.unlocked.map(|unlocked| milliseconds(unlocked.patience)),
    ];
    let sql =
        "SELECT leftoff.keep($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22)";
    scope.ask.change(sql, values).await
}
