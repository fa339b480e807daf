//! The limits of waiting: commands and hooks wait for each other, for a locked database and for a server. Each store has
//! further limits in a `time_limits.rs` of its own.

use std::time::Duration;

/// How long a command waits for its turn to write.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long recording a command of `exec` may wait for other processes. The wait is short, because the record may be
/// lost.
pub(crate) const EXEC_PATIENCE: Duration = Duration::from_secs(1);

/// The maximum time that a hook may wait in total. Hooks run on every tool call, so the time is short. `time_limit.rs`
/// of the command line ends SQLite's own waits within this time.
pub(crate) const HOOK_PATIENCE: Duration = Duration::from_millis(50);
/// After this time, the hook at the start of a conversation says what the work is and what is next instead of preparing
/// a whole brief. `time_limit.rs` of the command line ends it some seconds later.
pub(crate) const TOO_LATE_FOR_A_BRIEF: Duration = Duration::from_secs(2);
/// How long a hook waits for another program that has the database locked.
pub(crate) const HOOK_BUSY_WAIT: Duration = Duration::from_millis(20);
/// How long a hook waits for a server in total, including the connection.
pub(crate) const HOOK_SERVER_WAIT: Duration = Duration::from_millis(50);
/// How long the hook at the start of a conversation waits for a server. It is longer than for other hooks, because the
/// brief is worth it.
pub(crate) const ARRIVAL_SERVER_WAIT: Duration = Duration::from_millis(300);
