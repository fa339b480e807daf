//! Items. Every query uses an index, so that finding the first ready item takes as long among ten thousand items as
//! among ten.

use super::columns::Moment;
use super::queries::at_most;
use crate::{ItemFilter, ItemRow, ReadyQuery};
use model::id::{ItemId, SessionId};
use model::item::ItemState;
use rusqlite::types::{Type, Value};
use rusqlite::{Connection, Error, OptionalExtension, Result, Row, params, params_from_iter};

/// An item's columns, in the order in which `item_row` reads them.
const ITEM: &str = "i.id,i.run,i.phase,i.parent,i.place,i.state,i.status,i.holder,i.until,i.needs,i.body";

/// Finds the number of the session with exactly this id. The index ignores case, so the id is compared again.
const SESSION: &str = "(SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY)";

pub(super) fn one_statement() -> String {
    format!("SELECT {ITEM} FROM items i WHERE i.session={SESSION} AND i.id=?2")
}

pub(super) fn ready_statement() -> String {
    format!(
        "SELECT {ITEM} FROM items i WHERE i.session={SESSION} AND i.run=?2 AND i.phase=?3 AND i.state=0 \
         AND(i.until IS NULL OR i.until<=?4 OR i.holder=?5)ORDER BY i.place,i.id LIMIT ?6"
    )
}

/// Returns the query for held items. It names the index: SQLite expects at most ten items per session, and would
/// otherwise scan all items.
pub(super) fn held_statement() -> String {
    format!(
        "SELECT {ITEM} FROM items i INDEXED BY items_by_holder WHERE i.session={SESSION} AND i.holder=?2 \
         ORDER BY i.place,i.id"
    )
}

pub(super) fn dependents_statement() -> String {
    format!(
        "SELECT {ITEM} FROM needs n JOIN items i ON i.session=n.session AND i.id=n.item \
         WHERE n.session={SESSION} AND n.needed=?2 ORDER BY i.place,i.id"
    )
}

pub(super) fn list_statement(session: &SessionId, filter: &ItemFilter) -> (String, Vec<Value>) {
    let mut values = vec![Value::Text(session.to_string())];
    let mut conditions = format!("i.session={SESSION}");
    let parent = filter.parent.as_ref().map(ToString::to_string);
    let wanted = [
        ("run", filter.run.clone().map(Value::Text)),
        ("phase", filter.phase.clone().map(Value::Text)),
        ("state", filter.state.map(|state| Value::Integer(number(state)))),
        ("status", filter.status.clone().map(Value::Text)),
        ("parent", parent.map(Value::Text)),
    ];
    for (column, value) in wanted.into_iter().filter_map(|(column, value)| Some((column, value?))) {
        values.push(value);
        conditions.push_str(&format!(" AND i.{column}=?{}", values.len()));
    }
    values.push(Value::Integer(at_most(filter.limit)));
    let index = if filter.parent.is_some() { " INDEXED BY items_by_parent" } else { "" };
    let sql = format!(
        "SELECT {ITEM} FROM items i{index} WHERE {conditions} ORDER BY i.place,i.id LIMIT ?{}",
        values.len()
    );
    (sql, values)
}

pub(super) fn one(connection: &Connection, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>> {
    let mut statement = connection.prepare_cached(&one_statement())?;
    statement.query_row([session.as_str(), id.as_str()], |row| item_row(row, session)).optional()
}

pub(super) fn list(
    connection: &Connection,
    session: &SessionId,
    filter: &ItemFilter,
) -> Result<Vec<ItemRow>> {
    let (sql, values) = list_statement(session, filter);
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(values), |row| item_row(row, session))?.collect()
}

pub(super) fn ready(
    connection: &Connection,
    session: &SessionId,
    query: &ReadyQuery<'_>,
) -> Result<Vec<ItemRow>> {
    let mut statement = connection.prepare_cached(&ready_statement())?;
    let values = params![
        session.as_str(),
        query.run,
        query.phase,
        Moment(query.now),
        query.holder,
        at_most(Some(query.limit)),
    ];
    statement.query_map(values, |row| item_row(row, session))?.collect()
}

pub(super) fn held(connection: &Connection, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>> {
    let mut statement = connection.prepare_cached(&held_statement())?;
    statement.query_map([session.as_str(), holder], |row| item_row(row, session))?.collect()
}

pub(super) fn dependents(connection: &Connection, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>> {
    let mut statement = connection.prepare_cached(&dependents_statement())?;
    statement.query_map([session.as_str(), id.as_str()], |row| item_row(row, session))?.collect()
}

pub(super) fn session_number(connection: &Connection, session: &SessionId) -> Result<Option<i64>> {
    let sql = "SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY";
    connection.prepare_cached(sql)?.query_row([session.as_str()], |row| row.get(0)).optional()
}

pub(super) fn remove_all(connection: &Connection, session: i64) -> Result<()> {
    connection.prepare_cached("DELETE FROM needs WHERE session=?1")?.execute([session])?;
    connection.prepare_cached("DELETE FROM items WHERE session=?1")?.execute([session])?;
    Ok(())
}

pub(super) fn keep(connection: &Connection, session: i64, row: &ItemRow) -> Result<()> {
    let needs = joined(&row.depends_on);
    keep_needs(connection, session, row, &needs)?;
    // Existing rows are updated in place, because replacing a row would rewrite every index.
    let mut statement = connection.prepare_cached(
        "INSERT INTO items(session,id,run,phase,parent,place,state,status,holder,until,needs,body)\
         VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)ON CONFLICT DO UPDATE SET id=excluded.id,run=excluded.run,\
         phase=excluded.phase,parent=excluded.parent,place=excluded.place,state=excluded.state,\
         status=excluded.status,holder=excluded.holder,until=excluded.until,needs=excluded.needs,body=excluded.body",
    )?;
    let values = params![
        session,
        row.id.as_str(),
        row.run,
        row.phase,
        row.parent.as_ref().map(ItemId::as_str),
        row.place,
        number(row.state),
        row.status,
        row.holder,
        row.lease_until.map(Moment),
        needs,
        row.body,
    ];
    statement.execute(values).map(drop)
}

/// Stores the dependencies of an item if they changed. Most changes of an item do not change them.
fn keep_needs(connection: &Connection, session: i64, row: &ItemRow, needs: &str) -> Result<()> {
    let mut known = connection.prepare_cached("SELECT needs FROM items WHERE session=?1 AND id=?2")?;
    let known: Option<String> =
        known.query_row(params![session, row.id.as_str()], |row| row.get(0)).optional()?;
    if known.as_deref().unwrap_or_default() == needs {
        return Ok(());
    }
    for gone in known.iter().flat_map(|known| known.split(' ')).filter(|id| !id.is_empty()) {
        let sql = "DELETE FROM needs WHERE session=?1 AND needed=?2 AND item=?3";
        connection.prepare_cached(sql)?.execute(params![session, gone, row.id.as_str()])?;
    }
    for need in &row.depends_on {
        let sql = "INSERT OR IGNORE INTO needs(session,needed,item)VALUES(?1,?2,?3)";
        connection.prepare_cached(sql)?.execute(params![session, need.as_str(), row.id.as_str()])?;
    }
    Ok(())
}

/// Joins ids with spaces, which no id contains.
fn joined(ids: &[ItemId]) -> String {
    ids.iter().map(ItemId::as_str).collect::<Vec<_>>().join(" ")
}

fn number(state: ItemState) -> i64 {
    match state {
        ItemState::Ready => 0,
        ItemState::Waiting => 1,
        ItemState::Done => 2,
    }
}

fn item_row(row: &Row<'_>, session: &SessionId) -> Result<ItemRow> {
    let needs: String = row.get(9)?;
    Ok(ItemRow {
        session: session.clone(),
        id: parse(row.get_ref(0)?.as_str()?, 0)?,
        run: row.get(1)?,
        phase: row.get(2)?,
        parent: row.get_ref(3)?.as_str_or_null()?.map(|text| parse(text, 3)).transpose()?,
        place: row.get(4)?,
        state: match row.get(5)? {
            0 => ItemState::Ready,
            1 => ItemState::Waiting,
            2 => ItemState::Done,
            other => return Err(Error::IntegralValueOutOfRange(5, other)),
        },
        status: row.get(6)?,
        holder: row.get(7)?,
        lease_until: row.get::<_, Option<Moment>>(8)?.map(|moment| moment.0),
        depends_on: needs
            .split(' ')
            .filter(|id| !id.is_empty())
            .map(|text| parse(text, 9))
            .collect::<Result<_>>()?,
        body: row.get(10)?,
    })
}

fn parse(text: &str, column: usize) -> Result<ItemId> {
    ItemId::parse(text).map_err(|error| Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}
