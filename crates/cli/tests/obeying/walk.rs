//! One walk: after a random history, an agent does only what the brief says, while others disturb it.

use crate::doors::{CommandLine, Door, Said};
use crate::ground::Ground;
use crate::harm::{Progress, Standing, printed};
use std::collections::BTreeMap;

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The session is finished.
    Finished,
    /// Only a person can continue.
    PersonsQuestion,
    /// Other agents hold the remaining work.
    WaitsForOthers,
    /// Only the session's files say that it is finished, and no command changes that.
    ClosedInDoubt,
}

/// The maximum number of steps. Even with disturbances, every workflow needs far fewer.
const MOST_STEPS: usize = 120;
/// The maximum number of times that one step is tried: before its work is done, once more after that, and
/// again after a disturbance.
const MOST_TIMES: u32 = 6;
const OTHER: &str = "codex:bbbb0000-other";

/// A generator of pseudo-random numbers. The same seed gives the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

pub fn obey(ground: &Ground, door: &dyn Fn(&Ground) -> Box<dyn Door>, seed: u64) -> End {
    let mut dice = Dice(seed);
    let door = door(ground);
    for _ in 0..dice.roll(6) {
        disturb(ground, &mut dice);
        if dice.roll(2) == 0 {
            step(ground, &*door, &mut dice);
        }
    }
    let mut seen: BTreeMap<(Progress, String), u32> = BTreeMap::new();
    let mut rounds = 1;
    for number in 0..MOST_STEPS {
        ground.later();
        if number < MOST_STEPS / 2 && dice.roll(8) == 0 {
            disturb(ground, &mut dice);
        }
        let standing = Standing::of(ground);
        let Some(next) = standing.view["next"]["command"].as_str() else {
            if standing.is_closed_in_doubt() && dice.roll(4) > 0 {
                reopen(ground, &standing);
                continue;
            }
            let end = ended(&standing);
            if end == End::Finished && rounds == 1 && dice.roll(2) == 0 && ground.another_round() {
                rounds += 1;
                ground.invite_reviewer();
                continue;
            }
            return end;
        };
        let times = seen.entry((standing.progress(), next.to_owned())).or_insert(0);
        *times += 1;
        let brief = || door.brief(&ground.sandbox);
        assert!(*times <= MOST_TIMES, "seed {seed}: {next} changes nothing, again and again\n{}", brief());
        if step(ground, &*door, &mut dice) == Some(Said::NeedsAPerson) {
            return End::PersonsQuestion;
        }
    }
    panic!("seed {seed}: it never ends\n{}", door.brief(&ground.sandbox));
}

/// Takes the step that the brief suggests for a session that is finished only according to its files.
fn reopen(ground: &Ground, before: &Standing) {
    let summary = before.view["next"]["summary"].as_str().unwrap();
    let command = summary.split_once(": leftoff ").map(|(_, words)| format!("leftoff {words}"));
    let command = command.unwrap_or_else(|| panic!("no way to continue: {summary}"));
    assert_eq!(typed(ground, &CommandLine, &command), Some(Said::Done), "{command}");
    let after = Standing::of(ground);
    let is_open = !after.is_over && !after.view["next"]["command"].is_null();
    let waits = after.view["next"]["summary"].as_str().unwrap().contains("No item is ready");
    assert!(is_open || waits, "{command} leads nowhere: {:#}", after.view);
    assert_ne!(after.view["next"]["command"], "leftoff close", "{:#}", after.view);
}

fn ended(standing: &Standing) -> End {
    if standing.is_closed_in_doubt() {
        return End::ClosedInDoubt;
    }
    if standing.is_over {
        return End::Finished;
    }
    let summary = standing.view["next"]["summary"].as_str().unwrap_or_default();
    assert!(summary.contains("No item is ready"), "nothing is offered, and it is not over: {summary}");
    End::WaitsForOthers
}

/// Runs all commands in the brief unchanged. Then does the work of the next step, and runs its command.
fn step(ground: &Ground, door: &dyn Door, dice: &mut Dice) -> Option<Said> {
    let before = Standing::of(ground);
    let next = before.view["next"]["command"].as_str()?.to_owned();
    assert_eq!(door.next(&ground.sandbox).as_ref(), Some(&next), "{:#}", before.view);
    let text = if dice.roll(4) == 0 { ground.after_compaction() } else { door.brief(&ground.sandbox) };
    let commands = printed(&text);
    // The brief of a finished session suggests nothing. Any other brief contains the next step.
    let is_meant = commands.contains(&next);
    let others: Vec<&String> = commands.iter().filter(|command| **command != next).collect();
    if !others.is_empty() && dice.roll(3) == 0 {
        let other = others[usize::try_from(dice.roll(others.len() as u64)).unwrap()];
        typed(ground, door, other);
    }
    let said = typed(ground, door, &next)?;
    if next.contains('<') {
        assert_eq!(said, Said::Refused, "{next}");
    }
    match said {
        Said::Done => Some(Said::Done),
        Said::NeedsAPerson if dice.roll(4) > 0 => {
            // A person is asked whether to trust the commands. `--yes` answers yes.
            let sure = if next.starts_with("leftoff trust ") { " --yes" } else { "" };
            let approved = ground.as_person(&format!("{next}{sure}"));
            assert_eq!(approved.code, 0, "{next}: {}{}", approved.stdout, approved.stderr);
            Some(Said::Done)
        }
        Said::NeedsAPerson => Some(Said::NeedsAPerson),
        Said::Refused | Said::GateFailed | Said::Other => {
            assert!(is_meant || !before.is_over, "{next} is not in the brief");
            if let Some(phase) = testkit::words_of(&next).get(3).filter(|_| next.contains(" advance ")) {
                ground.work(phase);
            }
            typed(ground, door, &Ground::filled(&next))
        }
    }
}

/// Runs one command, and checks that it did no harm.
fn typed(ground: &Ground, door: &dyn Door, command: &str) -> Option<Said> {
    let before = Standing::of(ground);
    // If the server has no tool for a command, the agent uses a shell.
    let said = door.enter(&ground.sandbox, command).or_else(|| CommandLine.enter(&ground.sandbox, command));
    let is_persons = ["leftoff approve ", "leftoff trust "].iter().any(|own| command.starts_with(own));
    assert!(!is_persons || said == Some(Said::NeedsAPerson), "{command}: {said:?}");
    let after = Standing::of(ground);
    after.keeps(&before, ground, command);
    if said == Some(Said::Refused) {
        assert_eq!(after.version, before.version, "{command} was refused and changed something");
    }
    said
}

/// Disturbs the walk, as other programs or agents might.
fn disturb(ground: &Ground, dice: &mut Dice) {
    let sandbox = &ground.sandbox;
    let session = ground.session.as_str();
    let named = |words: &[&str]| -> Vec<String> {
        words.iter().chain(&["--session", session]).map(|word| (*word).to_owned()).collect()
    };
    match dice.roll(18) {
        0 => drop(ground.as_agent(&["note", "The certificate expired", "--kind", "blocker"])),
        1 => drop(sandbox.run_as(OTHER, named(&["note", "Who signs?", "--kind", "question"]))),
        2 => drop(ground.as_agent(&["item", "add", "A task"])),
        3 => drop(sandbox.run_as(OTHER, named(&["item", "claim"]))),
        4 => drop(ground.as_agent(&["pause", "--reason", "lunch", "--context", "half a test"])),
        5 => drop(ground.as_agent(&["advance"])),
        6 => ground.edit(true),
        7 => ground.edit(false),
        8 | 16 => ground.close_in_file(),
        9 => ground.lose_file(),
        10 => ground.damage_file(),
        11 => drop(ground.as_agent(&["undo"])),
        12 => cheat(ground),
        13 => assert_compaction_tells_the_same(ground),
        14 => killed(ground, dice, &["advance"]),
        15 => ground.invite_reviewer(),
        _ => killed(ground, dice, &["note", "Killed"]),
    }
}

/// Runs a command that ends before it is complete.
fn killed(ground: &Ground, dice: &mut Dice, words: &[&str]) {
    let places = ["before-append", "after-append", "view-written-beside"];
    let place = places[usize::try_from(dice.roll(3)).unwrap()];
    let mut command = ground.sandbox.command(words.iter().chain(&["--session", &ground.session]));
    let _ = command.env("LEFTOFF_AGENT_SESSION", OTHER).env("LEFTOFF_TEST_CRASH", place).output();
}

/// Lets another agent try what only a person can do.
fn cheat(ground: &Ground) {
    for words in [
        &["close", "--force"][..],
        &["advance", "--override", "in a hurry"],
        &["purge", "certificate", "--yes"],
    ] {
        let before = Standing::of(ground);
        let ran = ground.sandbox.run_as(OTHER, words.iter().chain(&["--session", ground.session.as_str()]));
        let after = Standing::of(ground);
        assert!(!after.is_over || before.is_over, "{words:?} ended it: {}{}", ran.stdout, ran.stderr);
        assert_eq!(after.view["progress"]["outcomes"]["overridden"], 0, "{words:?}");
    }
}

/// Expects that the next step that an agent reads after a compaction is the same as everywhere else.
fn assert_compaction_tells_the_same(ground: &Ground) {
    let standing = Standing::of(ground);
    let told = ground.after_compaction();
    let is_its = told.is_empty() || told.contains(&format!("(session {})", ground.session));
    assert!(is_its, "another session is told of:\n{told}");
    let Some(next) = standing.view["next"]["command"].as_str() else { return };
    assert!(printed(&told).iter().any(|command| command == next), "{next} is not in\n{told}");
}
