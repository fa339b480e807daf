//! How long, and how many of, a store's temporary rows are kept: keys of commands, edited files, executed commands.

use jiff::{SignedDuration, Timestamp};

/// How long a store remembers that the key of a command (`--key`) was used.
pub const KEY_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The maximum number of activities per session. An activity is an edited file or an executed command. If there are
/// more, the newest are kept.
pub const KEPT_ACTIVITIES: usize = 500;

/// How many expired keys are removed for each new key: enough to keep up with new keys, and few enough to be fast.
pub(crate) const KEYS_SWEPT: i64 = 8;

/// Returns the time up to which used keys no longer count for a command at `now`.
pub fn keys_expire_at(now: Timestamp) -> Timestamp {
    now.checked_sub(KEY_LIFETIME).unwrap_or(Timestamp::MIN)
}
