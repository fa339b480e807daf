//! Rewrites a history to remove a secret, and erases the old text from the disk.

use super::queries::signed;
use super::{SqliteStore, activity, append, items, log_size};
use crate::batch_rules::check_rewrite;
use crate::{Error, Result, Rewrite};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

impl SqliteStore {
    pub(super) fn rewrite_in_turn(
        &mut self,
        rewrite: &Rewrite,
        answers: &dyn Fn(&str) -> Option<String>,
    ) -> Result<()> {
        check_rewrite(rewrite)?;
        // With this setting, SQLite overwrites freed space in a page with zeros at once, not only at the next VACUUM.
        self.connection.execute_batch("PRAGMA secure_delete=ON").map_err(self.fail("rewriting a session"))?;
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(self.fail("starting a transaction"))?;
        match write(&transaction, rewrite, answers) {
            Ok(()) => {}
            Err(append::Stop::Refused(error)) => return Err(error),
            Err(append::Stop::Failed(error)) => return Err(self.fail("rewriting a session")(error)),
        }
        // The transaction can be repeated without harm, so an unknown outcome need not be settled.
        transaction.commit().map_err(|error| Error::Unknown { why: error.to_string() })
    }

    /// Erases replaced content. Returns true if no replaced content remains in the database or in its write-ahead log.
    pub(super) fn erase_in_turn(&mut self) -> Result<bool> {
        self.connection.execute_batch("VACUUM").map_err(self.fail("rewriting the database"))?;
        let journal: String = self
            .connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .map_err(self.fail("reading the journal mode"))?;
        if journal != "wal" {
            return Ok(true);
        }
        log_size::empty_log(&self.connection).map_err(self.fail("emptying the log"))
    }
}

fn write(
    connection: &Connection,
    rewrite: &Rewrite,
    answers: &dyn Fn(&str) -> Option<String>,
) -> append::Step<()> {
    let number = append::keep_stream(connection, &rewrite.stream)?;
    let mut replace = connection
        .prepare_cached("UPDATE events SET actor=?3,body=?4,salt=NULL WHERE session=?1 AND version=?2")?;
    for event in &rewrite.events {
        replace.execute(params![number, signed(event.version), event.actor, event.body])?;
    }
    activity::replace(connection, number, &rewrite.activity)?;
    for hash in &rewrite.contents {
        connection.prepare_cached("DELETE FROM contents WHERE hash=?1")?.execute([hash])?;
    }
    items::remove_all(connection, number)?;
    for row in &rewrite.items {
        items::keep(connection, number, row)?;
    }
    rewrite_answers(connection, answers)?;
    Ok(())
}

fn rewrite_answers(
    connection: &Connection,
    answers: &dyn Fn(&str) -> Option<String>,
) -> rusqlite::Result<()> {
    let mut read =
        connection.prepare_cached("SELECT rowid,answer FROM keys WHERE rowid>?1 ORDER BY rowid LIMIT 1")?;
    let mut replace = connection.prepare_cached("UPDATE keys SET answer=?2 WHERE rowid=?1")?;
    let mut last = i64::MIN;
    // Answers are read one at a time, because there may be many, and each can be as large as the output of `show`.
    while let Some((row, answer)) =
        read.query_row([last], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))).optional()?
    {
        last = row;
        if let Some(other) = answers(&answer) {
            replace.execute(params![row, other])?;
        }
    }
    Ok(())
}
