//! Catches signals that ask this process to end while a check's command runs, so that the command ends first. At other
//! times these signals have their normal effect.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// While a value of this type exists, signals that would end this process are only noted.
pub(super) struct Watch(&'static Signals);

struct Signals {
    /// True while no command runs. A signal then has its default effect at once.
    idle: Arc<AtomicBool>,
    /// The signal that was received; 0 if none was.
    came: Arc<AtomicUsize>,
}

impl Watch {
    /// Must be called before the command starts, so that no signal can end this process and leave the command
    /// running.
    pub(super) fn begin() -> Self {
        static SIGNALS: OnceLock<Signals> = OnceLock::new();
        let signals = SIGNALS.get_or_init(Signals::register);
        signals.idle.store(false, Ordering::SeqCst);
        Self(signals)
    }

    pub(super) fn is_told_to_end(&self) -> bool {
        self.0.came.load(Ordering::SeqCst) != 0
    }
}

impl Drop for Watch {
    /// Ends this process in the way that the received signal would have ended it. The command's processes have already
    /// ended.
    fn drop(&mut self) {
        self.0.idle.store(true, Ordering::SeqCst);
        if let Ok(signal @ 1..) = i32::try_from(self.0.came.load(Ordering::SeqCst)) {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

impl Signals {
    /// Registers the handlers once per process. They are never removed, because without its handler a signal would have
    /// no effect.
    fn register() -> Self {
        let signals = Self { idle: Arc::new(AtomicBool::new(true)), came: Arc::new(AtomicUsize::new(0)) };
        let ignored = ignored();
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
            // If this process ignores the signal, as under `nohup`, the command should survive it too.
            let is_ignored = ignored & (1 << (signal - 1)) != 0;
            if let Ok(number) = usize::try_from(signal)
                && !is_ignored
            {
                // A signal for which no handler can be registered keeps its normal effect.
                let _ = flag::register_conditional_default(signal, Arc::clone(&signals.idle));
                let _ = flag::register_usize(signal, Arc::clone(&signals.came), number);
            }
        }
        signals
    }
}

/// Returns the signals that this process ignored from its start, one bit each; none if the system does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
