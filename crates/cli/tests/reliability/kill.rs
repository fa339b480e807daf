//! Invariant 1: acknowledged changes survive `kill -9`. Four writers run real commands, a killer ends them at
//! random moments, and an oracle remembers what each answer promised.

mod oracle;
mod writer;

use crate::{git, worktrees};
use oracle::Promises;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use testkit::Sandbox;
use testkit::proof::{self, Random};
use writer::Writer;

const WRITERS: usize = 4;
const KILLS: u64 = 1_000;
/// The number of kills with a store on a server, where a command takes longer.
const KILLS_ON_A_SERVER: u64 = 60;

/// State shared by the writers and the killer.
pub struct Arena {
    wanted: u64,
    kills: AtomicU64,
    acknowledged: AtomicU64,
    at_work: AtomicUsize,
    /// The process of each writer. It is removed from here before it is reaped, so that its id is not used
    /// again meanwhile.
    children: [Mutex<Option<Child>>; WRITERS],
}

impl Arena {
    /// True while there is somebody to kill, so that writers continue.
    pub fn goes_on(&self) -> bool {
        self.kills.load(Ordering::Relaxed) < self.wanted
    }
}

#[test]
fn what_was_acknowledged_survives_kill_9_and_is_there_once() {
    let seed = proof::seed();
    let sandbox = git();
    sandbox.run(["start", "--id", "shared"]).ok();
    let arena = Arena {
        wanted: proof::count("KILLS", if testkit::is_on_postgres() { KILLS_ON_A_SERVER } else { KILLS }),
        kills: AtomicU64::new(0),
        acknowledged: AtomicU64::new(0),
        at_work: AtomicUsize::new(WRITERS),
        children: [const { Mutex::new(None) }; WRITERS],
    };
    let folders: Vec<_> = (0..WRITERS).map(|at| worktrees::add(&sandbox, &format!("tree{at}"))).collect();
    let program = sandbox.command([""; 0]);
    let promises: Vec<Promises> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|at| {
                let writer = Writer::new(at, &arena, &program, &folders[at], Random::new(seed + at as u64));
                scope.spawn(move || writer.work())
            })
            .collect();
        kill_at_random(&arena, Random::new(seed ^ 0xdead));
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let kept = oracle::compare(&sandbox, &promises);
    assert!(kept.lost.is_empty(), "acknowledged and not there: {:#?}", kept.lost);
    assert!(kept.doubled.is_empty(), "there twice: {:#?}", kept.doubled);
    assert_sound(&sandbox);
    let (kills, acknowledged) = (&arena.kills, arena.acknowledged.load(Ordering::Relaxed));
    let result =
        format!("{acknowledged} acknowledged, 0 lost, 0 double, {} there without an answer", kept.unanswered);
    proof::proven("kill -9, 4 writers", &format!("{} kills", kills.load(Ordering::Relaxed)), seed, &result);
}

/// Sends SIGKILL at moments unrelated to the writers' work, about as often as a command is acknowledged.
fn kill_at_random(arena: &Arena, mut random: Random) {
    let mut pause = 4_000;
    while arena.goes_on() && arena.at_work.load(Ordering::Relaxed) > 0 {
        std::thread::sleep(Duration::from_micros(random.below(2 * pause)));
        let often = arena.kills.load(Ordering::Relaxed) > arena.acknowledged.load(Ordering::Relaxed);
        pause = if often { pause + pause / 16 } else { pause - pause / 16 }.clamp(100, 1_000_000);
        let victim = usize::try_from(random.below(WRITERS as u64)).unwrap();
        if let Some(child) = arena.children[victim].lock().unwrap().as_mut() {
            child.kill().unwrap();
        }
    }
}

/// Checks that the database is sound, and that every session's snapshot matches its log.
fn assert_sound(sandbox: &Sandbox) {
    sandbox.run(["doctor"]).ok();
    if testkit::is_on_postgres() {
        return;
    }
    let database = rusqlite::Connection::open(sandbox.path(".git/leftoff/leftoff.db")).unwrap();
    let found: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
}
