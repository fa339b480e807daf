//! Items. Every query uses an index, so that finding the first ready item takes as long among ten thousand items as
//! among ten.

use super::Scope;
use super::columns::{at_most, folded, nanoseconds, timestamp, unreadable, values};
use super::queries::OF_ID;
use super::wire::{Sent, Step};
use crate::{ItemFilter, ItemRow, ReadyQuery};
use model::id::{ItemId, SessionId};
use model::item::ItemState;
use tokio_postgres::Row;

/// An item's columns, in the order in which `item_row` reads them.
const ITEM: &str = "i.id,i.run,i.phase,i.parent,i.place,i.state,i.status,i.holder,i.until,i.needs,i.body";

const ORDER: &str = "ORDER BY i.place,i.folded";

pub(super) async fn one(scope: Scope<'_>, session: &SessionId, id: &ItemId) -> Step<Option<ItemRow>> {
    let sql = format!(
        "SELECT {ITEM} FROM leftoff.items i WHERE i.project=$1 AND i.session={OF_ID} AND i.folded=lower($3)"
    );
    let row = scope.ask.row(&sql, values![scope.project, session.as_str(), id.as_str()]).await?;
    row.map(|row| item_row(&row, session)).transpose()
}

pub(super) async fn list(scope: Scope<'_>, session: &SessionId, filter: &ItemFilter) -> Step<Vec<ItemRow>> {
    let sql = format!(
        "SELECT {ITEM} FROM leftoff.items i WHERE i.project=$1 AND i.session={OF_ID} AND($3 IS NULL OR i.run=$3)\
         AND($4 IS NULL OR i.phase=$4)AND($5 IS NULL OR i.state=$5)AND($6 IS NULL OR i.status=$6)\
         AND($7 IS NULL OR lower(i.parent)=lower($7)){ORDER} LIMIT $8"
    );
    let values = values![
        scope.project,
        session.as_str(),
        filter.run,
        filter.phase,
        filter.state.map(number),
        filter.status,
        filter.parent.as_ref().map(ItemId::as_str),
        at_most(filter.limit),
    ];
    read(&scope.ask.rows(&sql, values).await?, session)
}

pub(super) async fn ready(
    scope: Scope<'_>,
    session: &SessionId,
    query: &ReadyQuery<'_>,
) -> Step<Vec<ItemRow>> {
    let sql = format!(
        "SELECT {ITEM} FROM leftoff.items i WHERE i.project=$1 AND i.session={OF_ID} AND i.run=$3 AND i.phase=$4 \
         AND i.state=0 AND(i.until IS NULL OR i.until<=$5 OR i.holder=$6){ORDER} LIMIT $7"
    );
    let values = values![
        scope.project,
        session.as_str(),
        query.run,
        query.phase,
        nanoseconds(query.now),
        query.holder,
        at_most(Some(query.limit)),
    ];
    read(&scope.ask.rows(&sql, values).await?, session)
}

pub(super) async fn held(scope: Scope<'_>, session: &SessionId, holder: &str) -> Step<Vec<ItemRow>> {
    let sql = format!(
        "SELECT {ITEM} FROM leftoff.items i WHERE i.project=$1 AND i.session={OF_ID} AND i.holder=$3 {ORDER}"
    );
    read(&scope.ask.rows(&sql, values![scope.project, session.as_str(), holder]).await?, session)
}

pub(super) async fn dependents(scope: Scope<'_>, session: &SessionId, id: &ItemId) -> Step<Vec<ItemRow>> {
    let sql = format!(
        "SELECT {ITEM} FROM leftoff.needs n JOIN leftoff.items i ON i.project=n.project AND i.session=n.session \
         AND i.folded=n.item WHERE n.project=$1 AND n.session={OF_ID} AND n.needed=lower($3){ORDER}"
    );
    read(&scope.ask.rows(&sql, values![scope.project, session.as_str(), id.as_str()]).await?, session)
}

pub(super) fn remove_all<'f>(scope: Scope<'f>, session: i64) -> [Sent<'f>; 2] {
    let remove = move |sql: &'static str| -> Sent<'f> {
        Box::pin(async move { scope.ask.change(sql, values![scope.project, session]).await })
    };
    [
        remove("DELETE FROM leftoff.needs WHERE project=$1 AND session=$2"),
        remove("DELETE FROM leftoff.items WHERE project=$1 AND session=$2"),
    ]
}

/// Returns statements that store new or changed items of one session. One statement stores any number of items.
pub(super) fn keep<'f>(scope: Scope<'f>, session: i64, rows: &[&ItemRow]) -> Vec<Sent<'f>> {
    // A statement may name each item only once, so only the last row of each item is stored.
    let mut last: std::collections::BTreeMap<String, &ItemRow> = std::collections::BTreeMap::new();
    for row in rows {
        last.insert(folded(row.id.as_str()), row);
    }
    let of =
        |read: &dyn Fn(&ItemRow) -> String| -> Vec<String> { last.values().map(|row| read(row)).collect() };
    let names: Vec<String> = last.keys().cloned().collect();
    let ids = of(&|row| row.id.to_string());
    let (runs, phases) = (of(&|row| row.run.clone()), of(&|row| row.phase.clone()));
    let parents: Vec<Option<String>> =
        last.values().map(|row| row.parent.as_ref().map(ToString::to_string)).collect();
    let places: Vec<i64> = last.values().map(|row| row.place).collect();
    let states: Vec<i32> = last.values().map(|row| number(row.state)).collect();
    let (statuses, bodies) = (of(&|row| row.status.clone()), of(&|row| row.body.clone()));
    let holders: Vec<Option<String>> = last.values().map(|row| row.holder.clone()).collect();
    let untils: Vec<Option<i64>> = last.values().map(|row| row.lease_until.map(nanoseconds)).collect();
    let needs = of(&|row| joined(&row.depends_on));
    let (mut needed, mut needing): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, row) in &last {
        for need in &row.depends_on {
            needed.push(folded(need.as_str()));
            needing.push(name.clone());
        }
    }
    let gone = names.clone();
    let mut sent: Vec<Sent<'f>> = vec![Box::pin(async move {
        let sql = "DELETE FROM leftoff.needs WHERE project=$1 AND session=$2 AND item=ANY($3)";
        scope.ask.change(sql, values![scope.project, session, gone]).await
    })];
    if !needed.is_empty() {
        sent.push(Box::pin(async move {
            let sql = "INSERT INTO leftoff.needs(project,session,needed,item)SELECT $1,$2,n,i \
                       FROM unnest($3::text[],$4::text[])AS x(n,i)ON CONFLICT DO NOTHING";
            scope.ask.change(sql, values![scope.project, session, needed, needing]).await
        }));
    }
    sent.push(Box::pin(async move {
        let sql = "INSERT INTO leftoff.items(project,session,folded,id,run,phase,parent,place,state,status,holder,until,\
                   needs,body)SELECT $1,$2,x.* FROM unnest($3::text[],$4::text[],$5::text[],$6::text[],$7::text[],\
                   $8::bigint[],$9::int[],$10::text[],$11::text[],$12::bigint[],$13::text[],$14::text[])AS x \
                   ON CONFLICT(project,session,folded)DO UPDATE SET id=excluded.id,run=excluded.run,\
                   phase=excluded.phase,parent=excluded.parent,place=excluded.place,state=excluded.state,\
                   status=excluded.status,holder=excluded.holder,until=excluded.until,needs=excluded.needs,\
                   body=excluded.body";
        let values = values![
            scope.project, session, names, ids, runs, phases, parents, places, states, statuses, holders, untils,
            needs, bodies,
        ];
        scope.ask.change(sql, values).await
    }));
    sent
}

/// Joins ids with spaces, which no id contains.
fn joined(ids: &[ItemId]) -> String {
    ids.iter().map(ItemId::as_str).collect::<Vec<_>>().join(" ")
}

fn number(state: ItemState) -> i32 {
    match state {
        ItemState::Ready => 0,
        ItemState::Waiting => 1,
        ItemState::Done => 2,
    }
}

fn read(rows: &[Row], session: &SessionId) -> Step<Vec<ItemRow>> {
    rows.iter().map(|row| item_row(row, session)).collect()
}

fn item_row(row: &Row, session: &SessionId) -> Step<ItemRow> {
    let parse = |text: &str| ItemId::parse(text).map_err(|error| unreadable(&error));
    let needs: &str = row.try_get(9)?;
    Ok(ItemRow {
        session: session.clone(),
        id: parse(row.try_get(0)?)?,
        run: row.try_get(1)?,
        phase: row.try_get(2)?,
        parent: row.try_get::<_, Option<&str>>(3)?.map(parse).transpose()?,
        place: row.try_get(4)?,
        state: match row.try_get::<_, i32>(5)? {
            0 => ItemState::Ready,
            1 => ItemState::Waiting,
            2 => ItemState::Done,
            other => return Err(unreadable(&format!("unknown state of an item: {other}"))),
        },
        status: row.try_get(6)?,
        holder: row.try_get(7)?,
        lease_until: row.try_get::<_, Option<i64>>(8)?.map(timestamp).transpose()?,
        depends_on: needs.split(' ').filter(|id| !id.is_empty()).map(parse).collect::<Step<_>>()?,
        body: row.try_get(10)?,
    })
}
