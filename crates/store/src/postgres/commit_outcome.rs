//! Finds out whether a commit succeeded if its answer was lost. Never repeats the change.

use super::append::Mark;
use super::columns::{nanoseconds, signed, values};
use super::queries::OF_ID;
use super::time_limits::RESTART;
use super::turn::{begin, count_sign};
use super::wire::{Limit, Step, Wire};
use super::{PostgresStore, Scope};
use crate::{Error, Result};
use std::time::{Duration, Instant};

const BETWEEN: Duration = Duration::from_millis(100);

impl PostgresStore {
    /// Returns the result of statements that ended with a commit. If the answer was lost, asks the server whether the
    /// change is stored.
    pub(super) fn settled(&mut self, doing: &str, sent: Step<()>, mark: &Mark<'_>) -> Result<()> {
        match sent {
            Ok(()) => Ok(()),
            Err(stop) if stop.is_unanswered() => {
                let lost = self.wire.failure(doing, stop);
                self.turn = None;
                self.after_lost_answer(mark, &lost)
            }
            Err(stop) => Err(self.wire.failure(doing, stop)),
        }
    }

    fn after_lost_answer(&mut self, mark: &Mark<'_>, lost: &Error) -> Result<()> {
        let unknown = |why: &dyn std::fmt::Display| Error::Unknown { why: format!("{lost}; then {why}") };
        let wait = match self.wire.limit {
            Limit::Each(_) => RESTART,
            Limit::Until(end) => end.saturating_duration_since(Instant::now()),
        };
        let end = Instant::now() + wait;
        loop {
            match self.look_again(mark) {
                Ok(Some(true)) => return Ok(()),
                Ok(Some(false)) => {
                    let why = "the connection was lost, and nothing was changed".to_owned();
                    return Err(Error::Unreachable { place: self.wire.address.place.clone(), why });
                }
                Ok(None) => return Err(unknown(&"this change cannot be identified")),
                Err(error) if Instant::now() >= end => return Err(unknown(&error)),
                Err(_) => std::thread::sleep(BETWEEN),
            }
        }
    }

    /// Returns true if the server has stored the change; `None` if the mark cannot tell. Takes the turn first: the lock
    /// is free only after the earlier transaction has ended, even if the server notices the lost client late.
    fn look_again(&mut self, mark: &Mark<'_>) -> Result<Option<bool>> {
        let wire = Wire::connect(self.wire.address.clone(), self.wire.limit)?;
        let begun = begin(self.project, RESTART, false);
        let found = wire.run("checking if the change was stored", async {
            let scope = Scope { ask: wire.ask(), project: self.project, machine: &self.machine };
            scope.ask.plainly(&begun).await?;
            let found = find(scope, mark).await?;
            // The server may still receive what was sent on the lost connection. If the lost transaction had no lock,
            // the counter that is changed here makes the server refuse it.
            count_sign(scope).await?;
            scope.ask.plainly("COMMIT").await?;
            Ok(found)
        })?;
        self.wire = wire;
        Ok(found)
    }
}

async fn find(scope: Scope<'_>, mark: &Mark<'_>) -> Step<Option<bool>> {
    let row = match mark {
        Mark::Event { session, version, link } => {
            let sql = format!(
                "SELECT 1 FROM leftoff.events WHERE project=$1 AND session={OF_ID} AND version=$3 AND link=$4"
            );
            let values = values![scope.project, session.as_str(), signed(*version), link.as_slice()];
            scope.ask.row(&sql, values).await?
        }
        Mark::Key(key) => {
            let sql = "SELECT 1 FROM leftoff.keys WHERE project=$1 AND key=$2 AND at=$3 AND fingerprint=$4";
            let values = values![scope.project, key.key, nanoseconds(key.at), key.fingerprint];
            scope.ask.row(sql, values).await?
        }
        Mark::None => return Ok(None),
    };
    Ok(Some(row.is_some()))
}
