//! Random work on three clones that sync now and then: syncs are killed between two steps, remotes cannot be
//! reached or are rewound, a clone is copied, a store is restored from a backup. The engine's own tests try
//! many more schedules, without processes.

use crate::clones::{Clone, Hub};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use testkit::proof::{self, Random};

const STEPS: usize = 36;

struct Dice(Random);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.below(end as u64)).unwrap()
    }
}

struct World<'a> {
    hub: &'a Hub,
    clones: Vec<Clone<'a>>,
    dice: Dice,
    /// The notes that were acknowledged.
    kept: BTreeSet<String>,
    /// The sessions that were acknowledged.
    started: BTreeSet<String>,
    backups: BTreeMap<String, PathBuf>,
    backups_made: usize,
    /// Clones that cannot reach the remote.
    cut_off: BTreeSet<String>,
    /// Clones whose store is older than what they have sent: only the remote has the rest.
    restored: BTreeSet<String>,
}

#[test]
fn all_clones_agree_and_nothing_acknowledged_is_lost() {
    // The schedules are fixed, unless somebody asks for others.
    let is_asked = std::env::var_os("LEFTOFF_TEST_SEED").is_some();
    let (first, schedules) = (if is_asked { proof::seed() } else { 1 }, proof::count("PROCESS_SCHEDULES", 3));
    let mut notes = 0;
    for seed in first..first + schedules {
        let hub = Hub::new();
        let clones = vec![hub.clone("anna"), hub.clone("ben"), hub.clone("carla")];
        clones[0].ok(&["start", "--goal", "shared", "--id", "shared"]);
        clones[0].ok(&["pause", "--reason", "away"]);
        clones[0].sync();
        let mut world = World {
            hub: &hub,
            clones,
            dice: Dice(Random::new(seed)),
            kept: BTreeSet::new(),
            started: BTreeSet::from(["shared".to_owned()]),
            backups: BTreeMap::new(),
            backups_made: 0,
            cut_off: BTreeSet::new(),
            restored: BTreeSet::new(),
        };
        for step in 0..STEPS {
            // Each step takes an hour, so no agent was seen recently, and anybody may resume a session.
            hub.at(&format!("2026-11-{:02}T{:02}:00:00Z", 17 + step / 24, step % 24));
            world.step(step, seed);
        }
        world.settle();
        world.check(seed);
        world.resolve_all(seed);
        notes += world.kept.len();
    }
    let result = format!("all agree; {notes} acknowledged notes, 0 lost");
    proof::proven(
        "3 git replicas, processes killed in between",
        &format!("{schedules} schedules"),
        first,
        &result,
    );
}

impl World<'_> {
    fn step(&mut self, step: usize, seed: u64) {
        let place = self.dice.below(self.clones.len());
        match self.dice.below(20) {
            0..=6 => self.work(place, step),
            7 => self.start(place, step),
            8..=11 => self.sync(place),
            12..=13 => {
                let call = 1 + self.dice.below(14);
                self.clones[place].sync_killed_before(call);
            }
            14..=15 => self.resolve(place, seed),
            16 => self.cut_off_or_join(place),
            17 => self.rewind(),
            18 => self.back_up_or_restore(place),
            _ => self.copy(place),
        }
    }

    fn work(&mut self, place: usize, step: usize) {
        let clone = &self.clones[place];
        let text = format!("{} {step}", clone.name);
        if clone.run(&["resume", "shared"]).status.success()
            && clone.run(&["note", "--session", "shared", &text]).status.success()
        {
            self.kept.insert(text);
        }
        clone.run(&["pause", "--session", "shared", "--reason", "away"]);
    }

    fn start(&mut self, place: usize, step: usize) {
        let id = format!("{}-{step}", self.clones[place].name);
        self.clones[place].ok(&["start", "--goal", "own", "--id", &id]);
        self.clones[place].ok(&["pause", "--session", &id, "--reason", "away"]);
        self.started.insert(id);
    }

    fn sync(&mut self, place: usize) {
        let clone = &self.clones[place];
        let worked = clone.run(&["sync"]).status.success();
        assert_eq!(worked, !self.cut_off.contains(&clone.name), "{}", clone.name);
        if worked {
            self.restored.remove(&clone.name);
        }
    }

    fn resolve(&mut self, place: usize, seed: u64) {
        let clone = &self.clones[place];
        if let Some(fork) = clone.forks().first() {
            let output = clone.run(&["sync", "resolve", fork]);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 4)), "seed {seed}: {}", crate::clones::said(&output));
        }
    }

    fn cut_off_or_join(&mut self, place: usize) {
        let name = self.clones[place].name.clone();
        let is_joining = self.cut_off.remove(&name);
        let address = self.hub.folder.path().join(if is_joining { "hub.git" } else { "nowhere.git" });
        self.hub
            .git(&self.clones[place].project, &["remote", "set-url", "origin", &address.to_string_lossy()]);
        if !is_joining {
            self.cut_off.insert(name);
        }
    }

    /// Restores the host of the remote: a ref is as it was before, or gone. Does nothing while only the
    /// remote has what a store lost.
    fn rewind(&mut self) {
        let refs = self.hub.refs("refs/leftoff/v1");
        if refs.is_empty() || !self.restored.is_empty() {
            return;
        }
        let name = &refs[self.dice.below(refs.len())];
        let commits = self.hub.git(&self.hub.bare(), &["rev-list", name]);
        let commits: Vec<&str> = commits.lines().collect();
        match commits.get(1 + self.dice.below(commits.len())) {
            Some(older) => self.hub.git(&self.hub.bare(), &["update-ref", name, older]),
            None => self.hub.git(&self.hub.bare(), &["update-ref", "-d", name]),
        };
    }

    fn back_up_or_restore(&mut self, place: usize) {
        let clone = &self.clones[place];
        self.backups_made += 1;
        let backup = self.hub.folder.path().join(format!("backup-{}.db", self.backups_made));
        match self.backups.remove(&clone.name) {
            // Everything that is lost with the store was sent before.
            Some(old) if clone.run(&["sync"]).status.success() => {
                for suffix in ["-wal", "-shm", ".lock"] {
                    let _ = fs::remove_file(format!("{}{suffix}", clone.database().display()));
                }
                fs::copy(old, clone.database()).unwrap();
                self.restored.insert(clone.name.clone());
            }
            Some(_) | None => {
                clone.ok(&["store", "backup", &backup.to_string_lossy()]);
                self.backups.insert(clone.name.clone(), backup);
            }
        }
    }

    fn copy(&mut self, place: usize) {
        let from = &self.clones[place];
        // A copy of a restored store would not have what the store has not received again yet.
        if self.clones.len() > 3 || self.restored.contains(&from.name) {
            return;
        }
        let copy = self.hub.copy_of(&from.name);
        if self.cut_off.contains(&from.name) {
            self.cut_off.insert("copy".to_owned());
        }
        self.clones.push(copy);
    }

    /// Syncs until no clone has anything to send any more.
    fn settle(&mut self) {
        self.hub.at("2026-11-30T00:00:00Z");
        for place in 0..self.clones.len() {
            if self.cut_off.contains(&self.clones[place].name) {
                self.cut_off_or_join(place);
            }
        }
        for _ in 0..3 {
            for clone in &self.clones {
                clone.ok(&["sync"]);
            }
        }
    }

    fn check(&self, seed: u64) {
        let first = self.clones[0].ok(&["log", "shared"]);
        for clone in &self.clones {
            assert_eq!(clone.ok(&["log", "shared"]), first, "seed {seed}, {}", clone.name);
            let mut there: Vec<String> = clone.notes("shared");
            for fork in clone.forks() {
                there.extend(clone.notes(&fork));
            }
            for text in &self.kept {
                assert!(there.contains(text), "seed {seed}: {} lost {text:?}", clone.name);
            }
            for id in &self.started {
                assert_eq!(
                    clone.json(&["show", id])["session_id"],
                    id.as_str(),
                    "seed {seed}, {}",
                    clone.name
                );
            }
            assert_eq!(clone.findings(), Vec::<String>::new(), "seed {seed}, {}", clone.name);
        }
    }

    /// Resolves all forks: a fork that is resolved in one clone is resolved in all of them, for good.
    fn resolve_all(&mut self, seed: u64) {
        self.hub.at("2026-12-01T00:00:00Z");
        self.clones[0].ok(&["resume", "shared"]);
        for fork in self.clones[0].forks() {
            self.clones[0].ok(&["sync", "resolve", &fork]);
        }
        self.clones[0].ok(&["pause", "--session", "shared", "--reason", "resolved"]);
        self.settle();
        for clone in &self.clones {
            assert_eq!(clone.forks(), Vec::<String>::new(), "seed {seed}, {}", clone.name);
            let there = clone.notes("shared");
            for text in &self.kept {
                assert!(there.contains(text), "seed {seed}: {} lost {text:?}", clone.name);
            }
        }
        self.check(seed);
    }
}

#[test]
fn a_sync_that_is_killed_between_any_two_steps_loses_nothing() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "shared", "--id", "shared"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    let mut notes = Vec::new();
    let mut kills = 0;
    for call in 1.. {
        let id = format!("of-ben-{call}");
        ben.ok(&["start", "--goal", "of ben", "--id", &id]);
        ben.ok(&["pause", "--session", &id, "--reason", "away"]);
        ben.sync();
        notes.push(format!("before call {call}"));
        anna.ok(&["note", "--session", "shared", &notes[call - 1]]);
        let was_killed = anna.sync_killed_before(call);
        anna.sync();
        ben.sync();
        assert_eq!(ben.notes("shared"), notes, "killed before call {call}");
        assert_eq!(anna.json(&["show", &id])["goal"], "of ben", "killed before call {call}");
        for clone in [&anna, &ben] {
            assert_eq!(clone.forks(), Vec::<String>::new(), "killed before call {call}");
            assert_eq!(clone.findings(), Vec::<String>::new(), "killed before call {call}");
        }
        if !was_killed {
            break;
        }
        kills = call;
    }
    assert!(kills >= 8, "a sync runs git more often than {kills} times");
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 2, "each is the replica that it was");
}
