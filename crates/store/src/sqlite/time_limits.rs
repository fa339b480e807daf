//! The limits of waiting in the SQLite store: for its turn, if the caller names no limit, and for other programs.

use std::time::Duration;

/// How long `append` waits for its turn if the caller has not taken it before.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long SQLite waits for other programs, such as a sqlite3 shell. leftoff's own writers wait for their turn
/// instead.
pub(super) const BUSY_WAIT: Duration = Duration::from_secs(2);
