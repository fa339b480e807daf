//! Interleaved samples and their statistics. Never compares times that were not taken side by side.

use crate::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Warm-up rounds.
const WARM_UP: usize = 5;

/// One timed way to do something.
pub type Contestant<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// Takes all contestants in turn, round after round, so that disturbances affect all of them. `before`
/// prepares a round and is not timed.
pub fn interleaved<const N: usize>(
    rounds: usize,
    mut before: impl FnMut(usize) -> Result<()>,
    contestants: &mut [Contestant<'_>; N],
) -> Result<[Vec<Duration>; N]> {
    let mut times = [const { Vec::new() }; N];
    for round in 0..rounds + WARM_UP {
        before(round)?;
        for step in 0..N {
            // Each goes first equally often.
            let place = (round + step) % N;
            let time = contestants[place]()?;
            if round >= WARM_UP {
                times[place].push(time);
            }
        }
    }
    Ok(times)
}

/// The median of the ratios of samples from the same round.
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

/// `1.23 ms`
pub fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// `1.23 ms : 0.61 ms`, the medians behind a ratio.
pub fn medians(times: &[Duration], to: &[Duration]) -> String {
    format!("{} : {}", milliseconds(median(times)), milliseconds(median(to)))
}

/// As `timed`, for a process that reads this file.
pub fn timed_with_input(command: &mut Command, input: &Path) -> Result<Duration> {
    command.stdin(std::fs::File::open(input)?).stdout(Stdio::null());
    run_timed(command)
}

/// From before a process starts until after it ends. It must succeed.
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
