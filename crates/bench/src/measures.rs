//! The measurements of `./bench`. Each has a function; they are in the order of the output.

use crate::project::{Programs, Project};
use crate::sample::{Contestant, interleaved, median, medians, milliseconds, ratio, timed};
use crate::table::{Must, Table};
use crate::{Effort, Result, fill};
use engine::Request;
use rusqlite::Connection;
use std::time::{Duration, Instant};

/// The number of phases of one session that can be completed one after the other with the same two events.
const ADVANCES_A_SESSION: usize = 4;
pub const NOTE: &str = "replay is visible then";
/// The number of notes of one kind in a session after which a further note does not make the snapshot grow.
const NOTES_UNTIL_STEADY: usize = 60;

pub fn read(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let project = programs.project()?;
    let [ours, json, bare, empty] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [
            &mut || timed(&mut project.leftoff(&["status"])),
            &mut || timed(&mut project.leftoff(&["status", "--json"])),
            &mut || timed(&mut project.bare("read")),
            &mut || timed(&mut programs.empty_process()),
        ],
    )?;
    let of = medians(&ours, &bare);
    table.line("status : bare reader of the same rows", ratio(&ours, &bare), Must::AtMost(1.3), &of);
    let of = medians(&json, &bare);
    table.line("status --json : bare reader", ratio(&json, &bare), Must::Nothing, &of);
    table.line("status : empty process", ratio(&ours, &empty), Must::Nothing, &medians(&ours, &empty));
    Ok(())
}

pub fn write(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (ours, theirs) = (programs.project()?, programs.project()?);
    let renew = |round: usize| -> Result<()> {
        if round.is_multiple_of(ADVANCES_A_SESSION) {
            ours.start()?;
            theirs.start()?;
        }
        Ok(())
    };
    let [advance, bare, empty] = interleaved(
        effort.rounds,
        renew,
        &mut [
            &mut || timed(&mut ours.leftoff(&["advance"])),
            &mut || timed(&mut theirs.bare("advance")),
            &mut || timed(&mut programs.empty_process()),
        ],
    )?;
    same_rows(&ours, &theirs)?;
    let of = medians(&advance, &bare);
    table.line("advance : bare writer of the same rows", ratio(&advance, &bare), Must::AtMost(1.5), &of);
    table.line("advance : empty process", ratio(&advance, &empty), Must::Nothing, &medians(&advance, &empty));
    Ok(())
}

/// Measures what an expression in a gate costs. Most of it is the time to compile the expression.
pub fn gate(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (gated, open) = (programs.empty_project()?, programs.empty_project()?);
    let renew = |round: usize| -> Result<()> {
        if round.is_multiple_of(ADVANCES_A_SESSION) {
            gated.start_workflow("gated")?;
            open.start_workflow("steps")?;
        }
        Ok(())
    };
    let words = ["advance", "--evidence", "coverage=82"];
    let [with, without] = interleaved(
        effort.rounds / 2,
        renew,
        &mut [&mut || timed(&mut gated.leftoff(&words)), &mut || timed(&mut open.leftoff(&words))],
    )?;
    let added = median(&with).saturating_sub(median(&without));
    let of = medians(&with, &without);
    table.line("a gate with an expression adds, in ms", added.as_secs_f64() * 1000.0, Must::AtMost(1.5), &of);
    Ok(())
}

/// Measures writing a long history to a bundle, and importing the bundle elsewhere.
pub fn bundle(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (from, to) = (programs.project()?, programs.empty_project()?);
    note(&from, effort.long_history - 5)?;
    let file = to.folder().join("session.bundle");
    let file = file.to_string_lossy();
    let made = timed(&mut from.leftoff(&["bundle", "create", &file]))?;
    let taken = timed(&mut to.leftoff(&["bundle", "take", &file]))?;
    for (what, time) in [("create", made), ("take", taken)] {
        let what = format!("bundle {what}, {} events, in s", effort.long_history);
        table.line(&what, time.as_secs_f64(), Must::AtMost(1.0), &milliseconds(time));
    }
    Ok(())
}

pub fn resume_and_brief(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let project = programs.project()?;
    let [both, empty] = interleaved(
        effort.rounds / 4,
        |_| project.run(&["pause"]),
        &mut [
            &mut || {
                let resumed = timed(&mut project.leftoff(&["resume"]))?;
                Ok(resumed + timed(&mut project.leftoff(&["brief", "--format", "markdown"]))?)
            },
            &mut || timed(&mut programs.empty_process()),
        ],
    )?;
    let of = medians(&both, &empty);
    table.line("resume, then brief : empty process", ratio(&both, &empty), Must::Nothing, &of);
    Ok(())
}

pub fn many_sessions(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (few, many) = (programs.project()?, programs.project()?);
    for project in [&few, &many] {
        for _ in 1..10 {
            project.start()?;
        }
    }
    fill::fill(&many.database(), effort.sessions, effort.events)?;
    few.settle()?;
    let what = format!("status, {} sessions : 10", effort.sessions);
    compare(&what, effort, &many, &few, &["status"], Must::AtMost(1.15), table)?;
    let what = format!("note, {} sessions : 10", effort.sessions);
    compare(&what, effort, &many, &few, &["note", NOTE], Must::AtMost(1.15), table)?;
    few.run(&["pause"])?;
    many.run(&["pause"])?;
    let what = format!("status when paused, {} sessions : 10", effort.sessions);
    compare(&what, effort, &many, &few, &["status"], Must::AtMost(1.15), table)
}

pub fn long_history(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (short, long) = (programs.project()?, programs.project()?);
    note(&short, 10 - 5)?;
    note(&long, effort.long_history - 5)?;
    short.settle()?;
    long.settle()?;
    for arguments in [["status"].as_slice(), &["note", NOTE]] {
        // The notes make the short history longer, but too little to change the result.
        let what = format!("{}, {} events : 10", arguments[0], effort.long_history);
        compare(&what, effort, &long, &short, arguments, Must::AtMost(1.15), table)?;
    }
    Ok(())
}

/// Measures how many pages one `note` writes to the log, by the growth of the log.
pub fn pages(programs: &Programs, table: &mut Table) -> Result<()> {
    const FRAME_BYTES: u64 = 24 + 4096;
    const NOTES: usize = 40;
    let project = programs.project()?;
    note(&project, NOTES_UNTIL_STEADY)?;
    let log =
        || std::fs::metadata(project.database().with_extension("db-wal")).map_or(0, |found| found.len());
    let mut pages = Vec::new();
    for _ in 0..NOTES {
        let before = log();
        project.run(&["note", NOTE])?;
        // If the log is shorter than before, it was truncated, and the sample says nothing.
        pages.extend(log().checked_sub(before).map(|grown| grown / FRAME_BYTES));
    }
    pages.sort_unstable();
    let (middle, most) = (pages[pages.len() / 2], pages[pages.len() - 1]);
    let of = format!("{} notes, at most {most}", pages.len());
    table.line(
        "pages that a note writes to the log",
        count(usize::try_from(middle)?),
        Must::AtMost(5.0),
        &of,
    );
    Ok(())
}

pub fn in_process(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    const BLOCK: u32 = 25;
    let (ours, theirs) = (programs.project()?, programs.project()?);
    note(&ours, NOTES_UNTIL_STEADY)?;
    note(&theirs, NOTES_UNTIL_STEADY)?;
    let mut engine = ours.engine()?;
    let writer = bare::Writer::open(&theirs.database())?;
    let worktree = theirs.worktree();
    let [engine_times, bare_times] = interleaved(
        effort.rounds / 4,
        |_| Ok(()),
        &mut [
            &mut || {
                let begun = Instant::now();
                for _ in 0..BLOCK {
                    engine.execute(Request::note(NOTE))?;
                }
                Ok(begun.elapsed())
            },
            &mut || {
                let begun = Instant::now();
                for _ in 0..BLOCK {
                    writer.write(&worktree, bare::NOTE, bare::NOTE_GROWS_SNAPSHOT_BY)?;
                }
                Ok(begun.elapsed())
            },
        ],
    )?;
    same_rows(&ours, &theirs)?;
    let rate = |times: &[Duration]| format!("{:.0}/s", f64::from(BLOCK) / median(times).as_secs_f64());
    let of = format!("{} : {}", rate(&engine_times), rate(&bare_times));
    let measured = ratio(&bare_times, &engine_times);
    table.line("in-process commands a second : bare loop", measured, Must::AtLeast(0.7), &of);
    Ok(())
}

pub fn many_processes(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let rounds: Vec<Crowd> = (0..CROWDS)
        .map(|_| Crowd::of(&programs.project()?, effort.commands_a_process))
        .collect::<Result<_>>()?;
    let sum = |what: fn(&Crowd) -> usize| rounds.iter().map(what).sum::<usize>();
    let (acknowledged, kept) = (sum(|crowd| crowd.times.len()), sum(|crowd| crowd.kept));
    let what = format!("{PROCESSES} x {} commands at once: ", effort.commands_a_process);
    let of = format!("{acknowledged} acknowledged, {kept} kept, in {CROWDS} rounds");
    table.line(&format!("{what}lost"), count(acknowledged.abs_diff(kept)), Must::AtMost(0.0), &of);
    let errors: Vec<&String> = rounds.iter().flat_map(|crowd| &crowd.errors).collect();
    let first = errors.first().map_or("", |error| error.as_str());
    table.line(&format!("{what}errors"), count(errors.len()), Must::AtMost(0.0), first);
    let mut waits: Vec<(Duration, String)> = rounds.iter().map(Crowd::worst_wait).collect();
    waits.sort();
    let (wait, of) = &waits[CROWDS / 2];
    table.line(&format!("{what}worst wait, s"), wait.as_secs_f64(), Must::AtMost(0.1), of);
    Ok(())
}

const PROCESSES: usize = 8;
/// The number of rounds. The median of the rounds is reported, because the maximum depends on other programs
/// on the machine.
const CROWDS: usize = 3;

/// The result of many processes that wrote to one session at the same time.
struct Crowd {
    times: Vec<Duration>,
    errors: Vec<String>,
    /// How many events the store has more than before.
    kept: usize,
}

impl Crowd {
    fn of(project: &Project, commands: usize) -> Result<Self> {
        let before = events_of(project)?;
        let one = || {
            let command = || timed(&mut project.leftoff(&["note", NOTE])).map_err(|error| error.to_string());
            (0..commands).map(|_| command()).collect::<Vec<_>>()
        };
        let all: Vec<std::result::Result<Duration, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(one)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let (done, failed): (Vec<_>, Vec<_>) = all.into_iter().partition(std::result::Result::is_ok);
        Ok(Self {
            times: done.into_iter().flatten().collect(),
            errors: failed.into_iter().filter_map(std::result::Result::err).collect(),
            kept: usize::try_from(events_of(project)? - before)?,
        })
    }

    /// The longest time that a command waited for other processes or for a core: the longest time of a
    /// command minus the typical time.
    fn worst_wait(&self) -> (Duration, String) {
        let (typical, worst) = (median(&self.times), self.times.iter().max().copied().unwrap_or_default());
        let of = format!("worst {} - typical {}", milliseconds(worst), milliseconds(typical));
        (worst.saturating_sub(typical), of)
    }
}

pub fn memory(programs: &Programs, table: &mut Table) -> Result<()> {
    let project = programs.project()?;
    let mut figures = Vec::new();
    for arguments in [["status"].as_slice(), &["advance"], &["note", NOTE], &["brief"], &["list"]] {
        figures.push((arguments[0], project.memory(arguments)?));
    }
    let worst = figures.iter().map(|(_, megabytes)| *megabytes).fold(0.0, f64::max);
    let of: Vec<String> = figures.iter().map(|(name, megabytes)| format!("{name} {megabytes:.1}")).collect();
    table.line("peak memory of a command, MB", worst, Must::AtMost(16.0), &of.join(", "));
    Ok(())
}

fn compare(
    what: &str,
    effort: Effort,
    one: &Project,
    other: &Project,
    arguments: &[&str],
    must: Must,
    table: &mut Table,
) -> Result<()> {
    let first: Contestant<'_> = &mut || timed(&mut one.leftoff(arguments));
    let second: Contestant<'_> = &mut || timed(&mut other.leftoff(arguments));
    let [times, to] = interleaved(effort.rounds, |_| Ok(()), &mut [first, second])?;
    table.line(what, ratio(&times, &to), must, &medians(&times, &to));
    Ok(())
}

/// Writes notes as commands do, without starting a process for each.
fn note(project: &Project, times: usize) -> Result<()> {
    let mut engine = project.engine()?;
    for _ in 0..times {
        engine.execute(Request::note(NOTE))?;
    }
    Ok(())
}

fn events_of(project: &Project) -> Result<u64> {
    let connection = Connection::open(project.database())?;
    Ok(connection.query_row("SELECT count(*) FROM events", [], |row| row.get(0))?)
}

/// Checks that both programs wrote the same number of rows, and the same number of bytes to within a tenth,
/// because otherwise they cannot be compared. Only the last snapshot is included, because pausing a session
/// rewrites older snapshots.
fn same_rows(ours: &Project, theirs: &Project) -> Result<()> {
    let written = |project: &Project| -> Result<(u64, f64)> {
        let sql = "SELECT count(*),sum(length(actor)+length(kind)+length(body))+\
                   (SELECT length(p.body)FROM snapshots p JOIN sessions s ON s.number=p.session WHERE lifecycle='active')\
                   FROM events";
        let connection = Connection::open(project.database())?;
        Ok(connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
    };
    let ((rows, bytes), (their_rows, their_bytes)) = (written(ours)?, written(theirs)?);
    if rows != their_rows || (bytes / their_bytes - 1.0).abs() > 0.1 {
        return Err(format!("not the same rows: {rows} ({bytes} B) : {their_rows} ({their_bytes} B)").into());
    }
    Ok(())
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
