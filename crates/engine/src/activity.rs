//! Files touched and commands run: told beside the log, so that telling it never gets in anybody's way.

use crate::engine::{Engine, Want};
use crate::error::Result;
use crate::redact::cleaned;
use crate::words::one_line;
use model::id::SessionId;
use store::{ActivityKind, ActivityRow};

/// The longest path or command line that is kept.
const LONGEST: usize = 500;

impl Engine {
    /// Records what was done in the session that is meant. No version changes.
    pub fn record_activity(&mut self, kind: ActivityKind, what: &str, detail: Option<&str>) -> Result<()> {
        let session = self.select(Want::Unfinished)?;
        self.record_activity_of(&session, kind, &[what], detail)
    }

    pub(crate) fn record_activity_of(
        &mut self,
        session: &SessionId,
        kind: ActivityKind,
        what: &[&str],
        detail: Option<&str>,
    ) -> Result<()> {
        let at = self.clock.now();
        let rows: Vec<ActivityRow> = what
            .iter()
            .map(|what| ActivityRow {
                kind,
                what: one_line(&cleaned(what), LONGEST),
                detail: detail.map(|text| one_line(&cleaned(text), LONGEST)),
                at,
                count: 1,
            })
            .filter(|row| !row.what.is_empty())
            .collect();
        Ok(self.store.record_activity(session, &rows, self.patience)?)
    }
}
