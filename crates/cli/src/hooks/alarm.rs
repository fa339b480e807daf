//! Ends a hook that takes too long, as if it had nothing to say. Where the store's locks fail, SQLite itself tries for
//! ten seconds and cannot be called off; a thread that watches it would cost every hook its start.

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;
use signal_hook::consts::SIGALRM;
use signal_hook::flag::register_conditional_shutdown;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Far more than a hook takes that has no locks to wait for, also on a busy machine.
const LONGEST: Duration = Duration::from_secs(1);

/// From now on, until what it gives is dropped. None where the system has no such clock: then nothing ends it.
pub(super) fn set() -> Option<Timer> {
    register_conditional_shutdown(SIGALRM, 0, Arc::new(AtomicBool::new(true))).ok()?;
    let notify = SigevNotify::SigevSignal { signal: Signal::SIGALRM, si_value: 0 };
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(notify)).ok()?;
    timer.set(Expiration::OneShot(LONGEST.into()), TimerSetTimeFlags::empty()).ok()?;
    Some(timer)
}
