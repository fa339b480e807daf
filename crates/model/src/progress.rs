//! Computes figures of progress: how far, how long, how much longer. They are never stored.

use crate::lifecycle::Lifecycle;
use crate::outcome::Outcomes;
use crate::phase::Phase;
use crate::run::Run;
use crate::session::Session;
use crate::stalled::{is_quiet, is_stalled};
use crate::workflow::OnComplete;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Completed phases as a percentage of the phases that apply.
    pub percent: u32,
    pub remaining: usize,
    /// The number of finished phases by outcome.
    #[serde(default)]
    pub outcomes: Outcomes,
    pub average_phase_seconds: Option<u64>,
    pub estimated_remaining_seconds: Option<u64>,
    pub time_in_phase_seconds: Option<u64>,
    pub stalled: bool,
}

/// Signs of work found in a session's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignsOfWork {
    /// The modification time of the newest file.
    pub written: Option<Timestamp>,
    /// True to judge a stall by file times alone. While somebody writes files, a phase is then not stalled.
    pub alone: bool,
}

impl Progress {
    pub fn of(session: &Session, run: &Run, now: Timestamp) -> Self {
        Self::with_signs(session, run, now, SignsOfWork::default())
    }

    /// Like `of`, but also considers signs of work in the session's files.
    pub fn with_signs(session: &Session, run: &Run, now: Timestamp, signs: SignsOfWork) -> Self {
        // In other tools' files, facts without a date all get the same timestamp. Durations computed from them mean
        // nothing.
        let is_native = session.layout == "native";
        let average = average_phase_seconds(run, |seconds| is_native || seconds > 0);
        let time_in_phase = run.current().time_in_phase(session.working_until(now));
        let is_active = matches!(session.lifecycle, Lifecycle::Active);
        // A session that was closed before its last phase is not being worked on, although its run is open.
        let is_over = session.lifecycle.is_over();
        let timed_remaining = run.phases.iter().filter(|phase| !phase.is_done() && !phase.stub.terminal);
        let timed_remaining = timed_remaining.count() as u64;
        Self {
            percent: percent(counted(session, run), run.applicable()),
            remaining: run.phases.len() - run.over(),
            outcomes: Outcomes::of(run),
            average_phase_seconds: average,
            estimated_remaining_seconds: average
                .filter(|_| timed_remaining == 0 || has_enough_to_estimate(run))
                .filter(|_| !is_over || timed_remaining == 0)
                .filter(|_| is_over || run.workflow.on_complete != OnComplete::Grow)
                .map(|seconds| seconds.saturating_mul(timed_remaining)),
            time_in_phase_seconds: time_in_phase,
            stalled: is_active
                && match average.filter(|_| !signs.alone) {
                    None if !is_native => run.is_open() && is_quiet(session, now, signs.written),
                    // The log of a native session shows when somebody last worked on it.
                    usual => {
                        is_stalled(time_in_phase, usual)
                            && (!is_native || is_quiet(session, now, signs.written))
                    }
                },
        }
    }
}

/// Returns the number of completed phases. A claimed phase does not count if the log contradicts it by a failed gate or
/// open items.
fn counted(session: &Session, run: &Run) -> usize {
    run.phases.iter().filter(|phase| phase.is_completed() && !session.is_contested(phase)).count()
}

/// Returns a percentage, rounded to the nearest integer. It is 100 only if nothing remains.
fn percent(done: usize, total: usize) -> u32 {
    if done >= total {
        return 100;
    }
    let rounded = (done * 100 + total / 2) / total;
    u32::try_from(rounded.min(99)).unwrap_or(99)
}

/// True if at least two phases took at least a minute each. Shorter phases do not predict the duration of others.
fn has_enough_to_estimate(run: &Run) -> bool {
    const LEAST_PHASES: usize = 2;
    const LEAST_SECONDS: u64 = 60;
    let timed = run.phases.iter().filter(|phase| !phase.stub.terminal);
    timed.filter_map(Phase::duration_seconds).filter(|seconds| *seconds >= LEAST_SECONDS).count()
        >= LEAST_PHASES
}

fn average_phase_seconds(run: &Run, counts: impl Fn(u64) -> bool) -> Option<u64> {
    let timed = run.phases.iter().filter(|phase| !phase.stub.terminal);
    let durations: Vec<u64> =
        timed.filter_map(Phase::duration_seconds).filter(|seconds| counts(*seconds)).collect();
    let count = u64::try_from(durations.len()).ok().filter(|count| *count > 0)?;
    Some(durations.iter().sum::<u64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_rounded_and_100_only_at_the_end() {
        assert_eq!(percent(3, 6), 50);
        assert_eq!(percent(1, 8), 13);
        assert_eq!(percent(7, 8), 88);
        assert_eq!(percent(999, 1000), 99);
        assert_eq!(percent(6, 6), 100);
    }
}
