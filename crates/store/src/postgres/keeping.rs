//! The statements that store changes of sessions. Decides nothing.

use super::append::Line;
use super::values::{nanoseconds, note_of, plain, signed, values};
use super::wire::Sent;
use super::{Scope, session_rows};
use crate::chain::Seal;
use crate::{EventRow, Snapshot, StreamAppend};

pub(super) fn commit(scope: Scope<'_>) -> Sent<'_> {
    Box::pin(async move { scope.ask.plainly("COMMIT").await.map(|_| 0) })
}

pub(super) fn keep_counters(scope: Scope<'_>, cursor: u64, numbers: i64) -> Sent<'_> {
    Box::pin(async move {
        let sql = "UPDATE leftoff.projects SET cursor=$2,numbers=$3 WHERE project=$1";
        scope.ask.change(sql, values![scope.project, signed(cursor), numbers]).await
    })
}

/// The statements for a change of one session. `cursor` is the cursor of the last event before the change.
pub(super) fn keep_stream<'f>(
    scope: Scope<'f>,
    stream: &'f StreamAppend,
    line: &Line,
    seals: &'f [Seal],
    cursor: u64,
    turn: u64,
) -> Vec<Sent<'f>> {
    let head = seals.last().map(|seal| seal.link).or(line.head);
    let since = stream.expected + 1;
    vec![
        session_rows::keep(scope, &stream.row, line, head, since, Some(turn)),
        keep_events(scope, line.number, cursor, &stream.events, seals),
        keep_snapshot(scope, line.number, &stream.snapshot),
    ]
}

pub(super) fn keep_events<'f>(
    scope: Scope<'f>,
    session: i64,
    cursor: u64,
    events: &'f [EventRow],
    seals: &'f [Seal],
) -> Sent<'f> {
    Box::pin(async move {
        let sql = "INSERT INTO leftoff.events(project,session,version,cursor,at,actor,kind,body,command,ordinal,salt,hash,\
                   link,note)SELECT $1,$2,x.* FROM unnest($3::bigint[],$4::bigint[],$5::bigint[],$6::text[],$7::text[],\
                   $8::text[],$9::text[],$10::bigint[],$11::bytea[],$12::bytea[],$13::bytea[],$14::text[])AS x";
        let versions: Vec<i64> = events.iter().map(|event| signed(event.version)).collect();
        let cursors: Vec<i64> = (cursor + 1..).take(events.len()).map(signed).collect();
        let times: Vec<i64> = events.iter().map(|event| nanoseconds(event.at)).collect();
        let actors: Vec<&str> = events.iter().map(|event| event.actor.as_str()).collect();
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        let bodies: Vec<&str> = events.iter().map(|event| event.body.as_str()).collect();
        let commands: Vec<Option<&str>> =
            events.iter().map(|event| event.command.as_ref().map(|command| command.name.as_str())).collect();
        let ordinals: Vec<Option<i64>> = events
            .iter()
            .map(|event| event.command.as_ref().map(|command| signed(command.ordinal)))
            .collect();
        let salts: Vec<Option<&[u8]>> =
            seals.iter().map(|seal| seal.salt.as_ref().map(<[u8; 16]>::as_slice)).collect();
        let hashes: Vec<&[u8]> = seals.iter().map(|seal| seal.hash.as_slice()).collect();
        let links: Vec<&[u8]> = seals.iter().map(|seal| seal.link.as_slice()).collect();
        let notes: Vec<Option<String>> = events.iter().map(note_of).collect();
        let values = values![
            scope.project,
            session,
            versions,
            cursors,
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
        ];
        scope.ask.change(sql, values).await
    })
}

pub(super) fn keep_snapshot<'f>(scope: Scope<'f>, session: i64, snapshot: &'f Snapshot) -> Sent<'f> {
    Box::pin(async move {
        let sql = "INSERT INTO leftoff.snapshots(project,session,fold_version,version,body)VALUES($1,$2,$3,$4,$5)\
                   ON CONFLICT(project,session)DO UPDATE SET fold_version=excluded.fold_version,\
                   version=excluded.version,body=excluded.body";
        let values = values![
            scope.project,
            session,
            i64::from(snapshot.fold_version),
            signed(snapshot.version),
            plain(&snapshot.body),
        ];
        scope.ask.change(sql, values).await
    })
}
