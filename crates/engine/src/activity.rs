//! Touched files and executed commands. They are recorded outside the log, so recording them never delays a change.

use crate::engine::Engine;
use crate::error::Result;
use crate::redact::cleaned;
use crate::words::one_line;
use model::id::SessionId;
use store::{ActivityKind, ActivityRow};

/// The maximum length of a stored path or command line, in characters.
const LONGEST: usize = 500;

impl Engine {
    pub(crate) fn record_activity_of(
        &mut self,
        session: &SessionId,
        kind: ActivityKind,
        what: &[&str],
        detail: Option<&str>,
    ) -> Result<()> {
        let rows: Vec<ActivityRow> =
            what.iter().filter_map(|what| self.activity_row(kind, what, detail)).collect();
        Ok(self.store.record_activity(session, &rows, self.patience.left())?)
    }

    /// Returns the activity to store: without secrets, on one line, and shortened. `None` if no text remains.
    pub(crate) fn activity_row(
        &self,
        kind: ActivityKind,
        what: &str,
        detail: Option<&str>,
    ) -> Option<ActivityRow> {
        self.bounded_row(kind, what, detail, LONGEST)
    }

    /// Like `activity_row`, but with room for a longer detail.
    pub(crate) fn bounded_row(
        &self,
        kind: ActivityKind,
        what: &str,
        detail: Option<&str>,
        longest_detail: usize,
    ) -> Option<ActivityRow> {
        let row = ActivityRow {
            kind,
            what: one_line(&cleaned(what), LONGEST),
            detail: detail.map(|text| one_line(&cleaned(text), longest_detail)),
            at: self.clock.now(),
            count: 1,
        };
        (!row.what.is_empty()).then_some(row)
    }
}
