//! The limits of waiting between a client and a server. The limit of waiting for a turn is a parameter of the command.

use std::time::Duration;

/// How long `append` waits for its turn if the caller has not taken it before.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long connecting may take if the server's address sets no limit.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// The usual limit for each wait, far longer than any statement takes. If it is exceeded, the server counts as lost.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
/// How long to wait until the server can be reached again. This is long enough for a restart or a failover.
pub(super) const RESTART: Duration = Duration::from_secs(10);
/// A connection that is silent for this long is probed.
pub(super) const PROBED_AFTER: Duration = Duration::from_secs(30);
/// The time between two probes.
pub(super) const BETWEEN_PROBES: Duration = Duration::from_secs(10);

/// If a transaction that holds the turn sends nothing for this long, the server ends it, because the client is probably
/// gone.
pub(super) const LONGEST_SILENCE: &str = "15s";
/// A statement may run this much longer than its client waits for the turn. Then the server ends the statement.
pub(super) const STATEMENT_MILLISECONDS: i64 = 15_000;
