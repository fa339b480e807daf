//! A line that appears on the terminal if a command takes longer than a second. It shows what the command is doing, how
//! much of that is done, and how long it has taken. The first output of the command replaces the line.

use super::cut;
use super::output::overwrite;
use engine::words::duration;
use engine::{Progress, Watcher, Work};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The state of the line. It exists from the start of a command until its first output.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    doing: Doing,
    since: Instant,
    shown: bool,
}

/// The work that the command last reported.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Doing {
    Something,
    Upgrade,
    Check { check: String, command: String },
    Part { work: Work, done: usize, total: usize },
}

static LINE: Mutex<Option<Line>> = Mutex::new(None);
const SECOND: Duration = Duration::from_secs(1);
const WIDTH: usize = 78;

/// Makes the line appear after a second, if stderr is a terminal.
pub fn start() {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if line.is_none() {
        *line = Some(Line { doing: Doing::Something, since: Instant::now(), shown: false });
        std::thread::spawn(tick);
    }
}

/// A function that receives the engine's reports and shows them on the line. It does nothing if the line was not
/// started.
pub fn watcher() -> Watcher {
    Watcher::new(|progress| {
        if let Some(line) = LINE.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            line.see(Doing::from(progress));
        }
    })
}

/// Removes the line. Must be called before anything else is printed.
pub fn stop() {
    let line = LINE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if line.is_some_and(|line| line.shown) {
        overwrite("");
    }
}

fn tick() {
    loop {
        std::thread::sleep(SECOND);
        let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(line) = line.as_mut() else { return };
        overwrite(&line.text(line.since.elapsed()));
        line.shown = true;
    }
}

impl Line {
    fn see(&mut self, doing: Doing) {
        if !doing.continues(&self.doing) {
            self.since = Instant::now();
        }
        self.doing = doing;
    }

    fn text(&self, elapsed: Duration) -> String {
        let doing = match &self.doing {
            Doing::Something => "working".to_owned(),
            Doing::Upgrade => "upgrading the database".to_owned(),
            Doing::Check { check, command } => cut(&format!("{check}: {command}"), WIDTH - 12),
            Doing::Part { work, done, total } => format!("{}: {done} of {total}", words(*work)),
        };
        match elapsed.as_secs() {
            0 => doing,
            seconds => format!("{doing} ({})", duration(seconds)),
        }
    }
}

impl Doing {
    /// True if both values describe the same work, and only their numbers differ.
    fn continues(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::Part { work, .. }, Self::Part { work: other, .. }) => work == other,
            (new, old) => new == old,
        }
    }
}

impl From<Progress<'_>> for Doing {
    fn from(progress: Progress<'_>) -> Self {
        match progress {
            Progress::Upgrade => Self::Upgrade,
            Progress::Check { check, command, .. } => {
                Self::Check { check: check.to_owned(), command: command.to_owned() }
            }
            Progress::Part { work, done, total } => Self::Part { work, done, total },
        }
    }
}

fn words(work: Work) -> &'static str {
    match work {
        Work::ImportTasks => "importing tasks",
        Work::ImportFiles => "copying documents",
        Work::PackFiles => "packing files",
        Work::UnpackFiles => "writing files",
        Work::CheckEvents => "checking events",
        Work::CopyTexts => "copying stored texts",
        Work::CopySessions => "copying sessions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(reports: &[Progress<'_>], seconds: u64) -> String {
        let mut line = Line { doing: Doing::Something, since: Instant::now(), shown: false };
        for report in reports {
            line.see(Doing::from(*report));
        }
        line.text(Duration::from_secs(seconds))
    }

    #[test]
    fn the_line_says_what_is_done_how_far_and_for_how_long() {
        let part = |done| Progress::Part { work: Work::CopySessions, done, total: 312 };
        let check = Progress::Check { check: "tests", command: "cargo test", elapsed: SECOND };
        assert_eq!(after(&[], 3), "working (3 s)");
        assert_eq!(after(&[], 0), "working");
        assert_eq!(after(&[Progress::Upgrade], 61), "upgrading the database (1 min)");
        assert_eq!(after(&[Progress::Upgrade, part(0), part(40)], 2), "copying sessions: 40 of 312 (2 s)");
        assert_eq!(after(&[check], 12), "tests: cargo test (12 s)");
        let long = "x".repeat(200);
        let check = Progress::Check { check: "tests", command: &long, elapsed: SECOND };
        assert!(after(&[check], 3600).chars().count() <= WIDTH);
    }

    #[test]
    fn the_time_starts_again_with_other_work_and_not_with_the_next_part() {
        let start = Instant::now().checked_sub(Duration::from_mins(1)).expect("a minute ago");
        let part = |work, done| Doing::Part { work, done, total: 9 };
        let mut line = Line { doing: part(Work::CopyTexts, 1), since: start, shown: false };
        line.see(part(Work::CopyTexts, 2));
        assert_eq!(line.since, start);
        line.see(part(Work::CopySessions, 0));
        assert!(line.since > start);
    }
}
