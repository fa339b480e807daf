//! The minimal program with which leftoff is compared. It reads the same rows as leftoff, or writes them as
//! durably, and decides nothing.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result, Transaction, TransactionBehavior, params};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// The three rules by which leftoff copies its log to the database; the baseline follows them, too. The rule
/// for the length: a connection that finds a log of more than this size copies and truncates it.
const LONG_LOG_BYTES: u64 = 256 * 1024;
/// A connection that has written more often than this stays open, and copies the log by the rule for open connections.
const WRITES_OF_ONE_COMMAND: u32 = 8;
/// A snapshot is padded to a multiple of this length, so that its row is overwritten in place.
const SNAPSHOT_STEP: usize = 1024;
/// The rule for open connections: the log is copied after this number of pages.
const COPY_BACK_OFTEN: &str = "PRAGMA wal_autocheckpoint=192";

const ACTIVE: &str = "worktree=?1 AND lifecycle='active' AND parallel=0 AND exclusive=1 AND machine IS NULL";

const ACTOR: &str = r#"{"kind":"person","name":"anna","host":"bench"}"#;

/// The events of one command as leftoff writes them. Each event has a kind and a body.
pub type Events = &'static [(&'static str, &'static str)];

/// The events of `leftoff advance` in a phase without a gate.
pub const ADVANCE: Events = &[
    (
        "phase_completed",
        r#"{"type":"phase_completed","phase":"implementation","attempt":{"judged":{"definition":"1582185ae753a958c3e6dd3c368c8794f7add1c2a1c1c4e7b7d5a03e7e605a08","state":"c70f2578f533439fb4e89114fac2982871efa975e5ab6d4836bdfae1b6e9f506"}}}"#,
    ),
    ("phase_started", r#"{"type":"phase_started","phase":"testing"}"#),
];

/// The event of `leftoff note`, with the text that the measurements use.
pub const NOTE: Events =
    &[("note_added", r#"{"type":"note_added","id":1000,"kind":"note","text":"replay is visible then"}"#)];

/// The number of bytes by which one `advance` makes the snapshot grow: an attempt and two times. A note adds
/// nothing, because it replaces an older note.
pub const ADVANCE_GROWS_SNAPSHOT_BY: usize = 170;
pub const NOTE_GROWS_SNAPSHOT_BY: usize = 0;

/// Reads the rows that `leftoff status` reads: the active session of the worktree, its snapshot, its
/// definition, and the agents.
pub fn read(database: &Path, worktree: &str) -> Result<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let session = format!(
        "SELECT s.number,s.id,s.worktree,s.layout,s.workflow,s.title,s.goal,s.target,s.lifecycle,s.parallel,s.phase,\
         s.phases_done,s.phases_total,s.created_at,s.updated_at,s.version,p.fold_version,p.version,p.body \
         FROM sessions s JOIN snapshots p ON p.session=s.number WHERE {ACTIVE}"
    );
    let body: String = connection.query_row(&session, [worktree], |row| row.get(18))?;
    let hash = definition_hash(&body);
    let definition: String =
        connection.query_row("SELECT body FROM definitions WHERE hash=?1", [hash], |row| row.get(0))?;
    let mut agents = connection.prepare(
        "SELECT agent,agent_session,host,pid,process_start,boot_id,worktree,branch,started_at,last_seen,session \
         FROM agents WHERE worktree=?1",
    )?;
    let agents = agents.query_map([worktree], |row| row.get::<_, String>(0))?.count();
    Ok(format!("{body}\n{definition}\n{agents} agents\n"))
}

/// Writes the rows that a command writes. Each change is one durable transaction.
pub struct Writer {
    connection: Connection,
    log: PathBuf,
    writes: Cell<u32>,
}

impl Writer {
    pub fn open(database: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(database, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.execute_batch("PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0")?;
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { connection, log: log.into(), writes: Cell::new(0) })
    }

    /// Writes the events, the index row and the snapshot of the active session of the worktree.
    pub fn write(&self, worktree: &str, events: Events, growth: usize) -> Result<()> {
        let change = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let (number, mut version, at, mut body) = find(&change, worktree)?;
        let mut cursor: i64 =
            change.prepare_cached("SELECT max(turn) FROM sessions")?.query_row([], |row| row.get(0))?;
        let ordinal = version + 1;
        for (kind, text) in events {
            version += 1;
            cursor += 1;
            let sql = "INSERT INTO events(session,version,at,actor,kind,body,cursor,command,ordinal)\
                       VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)";
            let values = params![number, version, at, ACTOR, kind, text, cursor, "note", ordinal];
            change.prepare_cached(sql)?.execute(values)?;
        }
        let sql =
            "UPDATE sessions SET phase=?2,phases_done=?3,updated_at=?4,version=?5,turn=?6 WHERE number=?1";
        change.prepare_cached(sql)?.execute(params![number, "testing", 3, at, version, cursor])?;
        put_version(&mut body, version, growth);
        let sql = "INSERT INTO snapshots(session,fold_version,version,body)VALUES(?1,?2,?3,?4)ON CONFLICT DO UPDATE \
                   SET fold_version=excluded.fold_version,version=excluded.version,body=excluded.body";
        change.prepare_cached(sql)?.execute(params![number, 1, version, body])?;
        change.commit()?;
        self.shorten_log()
    }

    /// Opens a database for data that may be lost in a crash, as leftoff does for activity.
    pub fn open_without_sync(database: &Path) -> Result<Self> {
        let writer = Self::open(database)?;
        writer.connection.execute_batch("PRAGMA synchronous=NORMAL")?;
        Ok(writer)
    }

    /// Records a file that an agent touched. Writes the agent's session, the key that prevents counting the
    /// file twice, the time when the agent was seen, and the row itself. The oldest rows are removed.
    pub fn trace(&self, worktree: &str, agent: &str, round: &str) -> Result<()> {
        let number: usize = round.parse().unwrap_or(0);
        let at: i64 = 1_800_000_000_000_000_000 + i64::try_from(number).unwrap_or(0);
        let change = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let bound: String = change
            .prepare_cached(
                "SELECT session FROM agents WHERE agent='claude' AND agent_session=?1 AND worktree=?2",
            )?
            .query_row([agent, worktree], |row| row.get(0))?;
        let session: i64 = change
            .prepare_cached("SELECT number FROM sessions WHERE id=?1")?
            .query_row([bound], |row| row.get(0))?;
        let sql = "INSERT OR REPLACE INTO keys(key,fingerprint,answer,at)VALUES(?1,'','',?2)";
        change.prepare_cached(sql)?.execute(params![format!("hook {agent} after toolu_{number}"), at])?;
        let sql = "DELETE FROM keys WHERE rowid IN(SELECT rowid FROM keys ORDER BY rowid LIMIT 8)AND at<=?1";
        change.prepare_cached(sql)?.execute([at - 7 * 24 * 3_600_000_000_000])?;
        let sql = "UPDATE agents SET last_seen=?2 WHERE agent='claude' AND agent_session=?1";
        change.prepare_cached(sql)?.execute(params![agent, at])?;
        let sql = "INSERT INTO activity(session,kind,what,detail,at,count)VALUES(?1,'file',?2,NULL,?3,1)\
                   ON CONFLICT DO UPDATE SET count=count+excluded.count,at=max(at,excluded.at)";
        let file = format!("src/part-{}.rs", (number - 1) % 40);
        change.prepare_cached(sql)?.execute(params![session, file, at])?;
        let sql = "DELETE FROM activity WHERE session=?1 AND(kind,what)IN(\
                   SELECT kind,what FROM activity WHERE session=?1 ORDER BY at DESC,what LIMIT -1 OFFSET 500)";
        change.prepare_cached(sql)?.execute([session])?;
        change.commit()?;
        self.shorten_log()
    }

    fn shorten_log(&self) -> Result<()> {
        self.writes.set(self.writes.get() + 1);
        if self.writes.get() == WRITES_OF_ONE_COMMAND {
            self.connection.execute_batch(COPY_BACK_OFTEN)?;
        }
        if self.writes.get() >= WRITES_OF_ONE_COMMAND {
            return Ok(());
        }
        if std::fs::metadata(&self.log).map_or(0, |log| log.len()) <= LONG_LOG_BYTES {
            return Ok(());
        }
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}

/// The number and version of the session, a later time, and the snapshot.
fn find(connection: &Connection, worktree: &str) -> Result<(i64, i64, i64, String)> {
    let sql = format!(
        "SELECT s.number,s.version,s.updated_at+1000000,p.body \
         FROM sessions s JOIN snapshots p ON p.session=s.number WHERE {ACTIVE}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([worktree], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
}

/// Replaces the version at the end of a snapshot. White space before it stands for the growth caused by a
/// change.
fn put_version(snapshot: &mut String, version: i64, growth: usize) {
    let field = "\"version\":";
    snapshot.truncate(snapshot.rfind(field).unwrap_or(snapshot.len()));
    snapshot.push_str(&format!("{:growth$}{field}{version}}}", ""));
    let padding = snapshot.len().next_multiple_of(SNAPSHOT_STEP) - snapshot.len();
    snapshot.extend(std::iter::repeat_n(' ', padding));
}

/// The hash of the definition. It is found without parsing JSON, because a minimal program would not parse
/// it.
fn definition_hash(snapshot: &str) -> &str {
    let after = snapshot.split_once(r#""hash":""#).map_or("", |(_, after)| after);
    after.split('"').next().unwrap_or_default()
}
