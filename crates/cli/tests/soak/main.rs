//! A day of a busy team, simulated in one process with a virtual clock: agents that crash, compact their
//! conversation, claim items, fail gates and edit files, in two clones that sync, or in one project on a
//! server. The same seed gives the same log.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod team;

use std::fs;
use std::process::Command;
use team::Team;
use testkit::proof;
use testkit::{Ran, Sandbox};

/// The maximum cost of the last hour, relative to the second one.
const MOST_GROWTH: f64 = 1.1;

#[test]
fn a_simulated_day_stays_flat_and_the_same_seed_gives_the_same_log() {
    let hours = proof::count("SOAK_HOURS", 1);
    let seed = proof::seed();
    let program = std::env::current_exe().unwrap();
    let sandbox = Sandbox::plain(program.to_str().unwrap());
    let first = simulate(&sandbox, 1, seed);
    let second = simulate(&sandbox, 1, seed);
    assert_eq!(first.logs, second.logs, "seed {seed}: the same seed gave another log");
    let other = simulate(&sandbox, 1, seed + 1);
    assert_ne!(first.logs, other.logs, "another seed gave the same log");
    let day = if hours == 1 { first } else { simulate(&sandbox, hours, seed) };
    let growth = |of: fn(&Hour) -> u32| {
        let second = &day.hours[1.min(day.hours.len() - 1)];
        f64::from(of(day.hours.last().unwrap())) / f64::from(of(second))
    };
    let (memory, time) = (growth(|hour| hour.kilobytes), growth(|hour| hour.microseconds));
    // In a few hours, growth cannot be measured.
    if hours > 3 {
        assert!(memory <= MOST_GROWTH, "seed {seed}: memory grew to {memory:.2} of the second hour's");
        assert!(time <= MOST_GROWTH, "seed {seed}: a note took {time:.2} of the second hour's time");
    }
    let commands: u32 = day.hours.iter().map(|hour| hour.commands).sum();
    let result =
        format!("last hour : second: memory {memory:.2}, CPU time of a note {time:.2}; replay equal");
    proof::proven(
        "simulated day of a busy team",
        &format!("{hours} hours, {commands} commands"),
        seed,
        &result,
    );
}

/// The figures of one simulated hour.
struct Hour {
    commands: u32,
    kilobytes: u32,
    /// The median CPU time of a note, in microseconds.
    microseconds: u32,
}

struct Day {
    hours: Vec<Hour>,
    /// A hash of every session's log.
    logs: String,
}

/// Simulates a day in a process of its own, whose clock is a file. The folder has the same name each time,
/// because paths are part of what a gate judges.
fn simulate(sandbox: &Sandbox, hours: u64, seed: u64) -> Day {
    let folder = sandbox.folder().join("day");
    for left in [folder.clone(), sandbox.folder().join("state"), sandbox.folder().join("home")] {
        let _ = fs::remove_dir_all(left);
    }
    fs::create_dir_all(&folder).unwrap();
    sandbox.at(&format!("@{}", folder.join("clock").display()));
    let mut child: Command = sandbox.command(["--exact", "the_day", "--ignored", "--nocapture"]);
    child.env("SOAK", format!("{hours} {seed}")).env("SOAK_FOLDER", &folder);
    let ran = Ran::from(child.output().unwrap());
    assert_eq!(ran.code, 0, "seed {seed}:\n{}\n{}", ran.stdout, ran.stderr);
    let numbers = |line: &str| -> Vec<u32> { line.split(' ').map(|word| word.parse().unwrap()).collect() };
    let lines = |name: &'static str| {
        ran.stdout.lines().filter_map(move |line| line.split_once(name)).map(|(_, rest)| rest)
    };
    let hours = lines("hour: ").map(numbers).map(|row| Hour {
        commands: row[0],
        kilobytes: row[1],
        microseconds: row[2],
    });
    Day { hours: hours.collect(), logs: lines("logs: ").collect() }
}

#[test]
#[ignore = "the test above starts it as a process of its own"]
fn the_day() {
    let given = std::env::var("SOAK").expect("the test above starts this one");
    let (hours, seed) = given.split_once(' ').unwrap();
    let mut team = Team::new(seed.parse().unwrap());
    for _ in 0..hours.parse().unwrap() {
        let (commands, kilobytes, microseconds) = team.hour();
        println!("\nhour: {commands} {kilobytes} {microseconds}");
    }
    println!("\nlogs: {}", team.logs());
}
