//! Limits a hook's waits, and ends a hanging one as if it had nothing to say. If locks fail or are held,
//! SQLite sleeps between retries, up to ten seconds in all. It counts retries, not time: a signal ends each
//! sleep early, so that it soon runs out of retries and reports why. A watching thread would cost every hook
//! its start.

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::os::raw::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// For this long, SQLite's sleeps keep their own length. A hook that need not wait ends before that.
const UNDISTURBED: Duration = Duration::from_millis(25);
/// After that, each sleep: 100 retries take 20 ms. In all less than a hook may wait (`PATIENCE` in the engine's
/// `hooks.rs`).
const LONGEST_SLEEP: Duration = Duration::from_micros(200);
/// Far longer than a hook takes, even on a busy machine.
const LONGEST: Duration = Duration::from_secs(1);

/// In force until dropped.
pub(super) struct Hurry {
    _timers: [Timer; 2],
}

/// `None` if the system has no such timers: a hook then takes as long as it takes.
pub(super) fn set() -> Option<Hurry> {
    register(Signal::SIGURG as c_int, Arc::default()).ok()?;
    let wake = timer(Signal::SIGURG, Expiration::IntervalDelayed(UNDISTURBED.into(), LONGEST_SLEEP.into()))?;
    register_conditional_shutdown(Signal::SIGALRM as c_int, 0, Arc::new(AtomicBool::new(true))).ok()?;
    let end = timer(Signal::SIGALRM, Expiration::OneShot(LONGEST.into()))?;
    Some(Hurry { _timers: [wake, end] })
}

fn timer(signal: Signal, when: Expiration) -> Option<Timer> {
    let notify = SigevNotify::SigevSignal { signal, si_value: 0 };
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(notify)).ok()?;
    timer.set(when, TimerSetTimeFlags::empty()).ok()?;
    Some(timer)
}
