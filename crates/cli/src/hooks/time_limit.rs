//! Limits the time of a hook. A hook that hangs is ended as if it had no answer.
//!
//! While locks are held, SQLite sleeps between retries, up to ten seconds in total. SQLite counts retries and not time.
//! So a signal ends each sleep early: the retries are used up soon, and SQLite reports the reason. A thread that
//! watches the time would make every hook slower.

use engine::hooks::Happened;
use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::os::raw::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long SQLite's sleeps keep their full length. A hook that does not have to wait ends before that.
const UNDISTURBED: Duration = Duration::from_millis(25);
/// The maximum length of each later sleep, so that 100 retries take 20 ms. Both times together are shorter than the
/// time that a hook may wait (`PATIENCE` in the engine's `hooks.rs`).
const LONGEST_SLEEP: Duration = Duration::from_micros(200);
/// The maximum time of a hook. Even on a busy machine, a hook takes much less.
const LONGEST: Duration = Duration::from_secs(1);
/// The maximum time of the hook at the start of a conversation. Without its answer the agent would know nothing of the
/// work, and agents wait for it for at least ten seconds.
const LONGEST_AT_START: Duration = Duration::from_secs(8);

/// The timers that limit the time of a hook. They end when this value is dropped.
pub(super) struct Hurry {
    _timers: [Timer; 2],
}

/// Starts the timers. `None` if the system has no such timers; the time of the hook is then not limited.
pub(super) fn set(happened: &Happened) -> Option<Hurry> {
    let is_start = matches!(happened, Happened::Arrived { .. });
    let longest = if is_start { LONGEST_AT_START } else { LONGEST };
    register(Signal::SIGURG as c_int, Arc::default()).ok()?;
    let wake = timer(Signal::SIGURG, Expiration::IntervalDelayed(UNDISTURBED.into(), LONGEST_SLEEP.into()))?;
    register_conditional_shutdown(Signal::SIGALRM as c_int, 0, Arc::new(AtomicBool::new(true))).ok()?;
    let end = timer(Signal::SIGALRM, Expiration::OneShot(longest.into()))?;
    Some(Hurry { _timers: [wake, end] })
}

fn timer(signal: Signal, when: Expiration) -> Option<Timer> {
    let notify = SigevNotify::SigevSignal { signal, si_value: 0 };
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(notify)).ok()?;
    timer.set(when, TimerSetTimeFlags::empty()).ok()?;
    Some(timer)
}
