//! What tells this process to end while a check's command runs: noticed here, so that the command ends first. At all
//! other times such a signal does what it always did.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// As long as this lives, signals that would end this process are kept for whoever asks.
pub(super) struct Watch(&'static Signals);

struct Signals {
    /// No command runs: a signal does at once what it does by default.
    idle: Arc<AtomicBool>,
    /// The signal that came, 0 for none.
    came: Arc<AtomicUsize>,
}

impl Watch {
    /// Begun before the command is there: no moment in which a signal would end us and leave it alone.
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
    /// Ends this process as the signal would have, if one came. What the command started has been ended by now.
    fn drop(&mut self) {
        self.0.idle.store(true, Ordering::SeqCst);
        if let Ok(signal @ 1..) = i32::try_from(self.0.came.load(Ordering::SeqCst)) {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

impl Signals {
    /// Once for the whole process: a handler that was taken away again would leave the signal without any effect.
    fn register() -> Self {
        let signals = Self { idle: Arc::new(AtomicBool::new(true)), came: Arc::new(AtomicUsize::new(0)) };
        let ignored = ignored();
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
            // Whoever started us with `nohup` wants the command to go on as well.
            let is_ignored = ignored & (1 << (signal - 1)) != 0;
            if let Ok(number) = usize::try_from(signal)
                && !is_ignored
            {
                // A signal that cannot be watched does what it did before.
                let _ = flag::register_conditional_default(signal, Arc::clone(&signals.idle));
                let _ = flag::register_usize(signal, Arc::clone(&signals.came), number);
            }
        }
        signals
    }
}

/// The signals that this process was started to ignore, a bit for each; none where the system does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
