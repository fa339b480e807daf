//! A measurement, not a test: ten thousand items against ten, in interleaved samples of whole processes.
//! `cargo test -p leftoff --test cli -- --ignored --nocapture ten_thousand`, on a quiet machine.
//! `LEFTOFF_PROGRAM` names another build of the program, such as a release.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use engine::{Engine, Intent, ItemAdd, Options};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const FEW: usize = 10;
const MANY: usize = 10_000;
const ROUNDS: usize = 60;

/// A session with so many items in its current phase, one in three of them waiting for the one before.
fn with_items(program: &str, count: usize) -> Sandbox {
    let sandbox = Sandbox::git(program);
    sandbox.run(["start", "--id", "s1"]).ok();
    let options = Options { project: Some(sandbox.project().to_owned()), ..Options::default() };
    let mut engine = Engine::open(options, Intent::Command).unwrap();
    for number in 1..=count {
        let needs = if number % 3 == 0 { vec![format!("impl-{}", number - 1)] } else { Vec::new() };
        let (id, title) = (Some(format!("impl-{number}")), format!("Item number {number} of a long plan"));
        engine.item_add(&ItemAdd { title, id, needs, ..ItemAdd::default() }).unwrap();
    }
    sandbox
}

fn timed(sandbox: &Sandbox, words: &[&str]) -> Duration {
    let begun = Instant::now();
    sandbox.run(words).ok();
    begun.elapsed()
}

/// Of samples that were taken in the same round: the median ratio, and both medians.
fn told(what: &str, many: &mut [Duration], few: &mut [Duration]) {
    let mut ratios: Vec<f64> =
        many.iter().zip(&*few).map(|(m, f)| m.as_secs_f64() / f.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    many.sort();
    few.sort();
    let milliseconds = |times: &[Duration]| times[times.len() / 2].as_secs_f64() * 1e3;
    println!(
        "{what}, {MANY} : {FEW} items  {:.2}  ({:.2} ms : {:.2} ms)",
        ratios[ratios.len() / 2],
        milliseconds(many),
        milliseconds(few)
    );
}

#[test]
#[ignore = "a measurement that takes a minute"]
fn ten_thousand_items_against_ten() {
    let program = std::env::var("LEFTOFF_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_leftoff").to_owned());
    let (few, many) = (with_items(&program, FEW), with_items(&program, MANY));
    for words in [["next"].as_slice(), &["status"], &["item", "claim", "impl-1"]] {
        let (mut slow, mut quick) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            slow.push(timed(&many, words));
            quick.push(timed(&few, words));
        }
        told(&words.join(" "), &mut slow, &mut quick);
    }
    // Every round finishes an item that was added for it, so that there are as many open ones as before.
    let (mut slow, mut quick) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let id = format!("round-{round}");
        for (sandbox, times) in [(&many, &mut slow), (&few, &mut quick)] {
            sandbox.run(["item", "add", "Of this round", "--id", &id]).ok();
            times.push(timed(sandbox, &["item", "done", &id]));
        }
    }
    told("item done", &mut slow, &mut quick);
}
