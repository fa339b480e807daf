//! Takes interleaved samples, and computes statistics. Times are compared only if they were taken
//! alternately.

use crate::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The number of rounds at the start that are not used.
const WARM_UP: usize = 5;

/// A function that does some work once, and returns how long it took.
pub type Contestant<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// Calls all contestants one after the other, in every round, so that a disturbance affects all of them.
/// `before` prepares a round, and is not timed.
pub fn interleaved<const N: usize>(
    rounds: usize,
    mut before: impl FnMut(usize) -> Result<()>,
    contestants: &mut [Contestant<'_>; N],
) -> Result<[Vec<Duration>; N]> {
    let mut times = [const { Vec::new() }; N];
    for round in 0..rounds + WARM_UP {
        before(round)?;
        for step in 0..N {
            // In each round, another contestant comes first.
            let place = (round + step) % N;
            let time = contestants[place]()?;
            if round >= WARM_UP {
                times[place].push(time);
            }
        }
    }
    Ok(times)
}

/// The median of the ratios of two samples from the same round.
pub fn ratio(times: &[Duration], to: &[Duration]) -> f64 {
    let mut ratios: Vec<f64> =
        times.iter().zip(to).map(|(time, other)| time.as_secs_f64() / other.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

pub fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2]
}

/// A time such as `1.23 ms`.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// The medians of two series of times, such as `1.23 ms : 0.61 ms`.
pub fn medians(times: &[Duration], to: &[Duration]) -> String {
    format!("{} : {}", milliseconds(median(times)), milliseconds(median(to)))
}

/// The time of a process, like `timed`. The file is the input of the process.
pub fn timed_with_input(command: &mut Command, input: &Path) -> Result<Duration> {
    command.stdin(std::fs::File::open(input)?).stdout(Stdio::null());
    run_timed(command)
}

/// The time from before a process starts until after it ended. It is an error if the process fails.
pub fn timed(command: &mut Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    run_timed(command)
}

fn run_timed(command: &mut Command) -> Result<Duration> {
    let begun = Instant::now();
    let ended = command.status()?;
    let time = begun.elapsed();
    if ended.success() { Ok(time) } else { Err(format!("{command:?} ended with {ended}").into()) }
}
