//! Simulates random work on three replicas that sync now and then. Everything happens in one process, so that thousands
//! of schedules can be tried. Syncs and purges end between two steps, remotes are unreachable or rewound, clones are
//! copied, stores are restored from backups. `cli/tests/sharing/random.rs` does the same with real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod examples;
mod replica;

use replica::{Folder, Replica};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use testkit::proof::{self, Random};

const STEPS: usize = 30;
/// The maximum number of steps in a sync. Tests end a sync at a random one of them.
const MOST_STEPS_OF_A_SYNC: usize = 30;
/// The maximum number of steps of a purge.
const MOST_STEPS_OF_A_PURGE: usize = 10;
/// The maximum number of rounds of syncs by every replica. After them, no replica may have anything new.
const MOST_ROUNDS: usize = 6;

thread_local! {
    /// After how many more steps the sync of this thread is ended.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The panic with which a test ends a sync, in place of a kill.
struct Ended;

/// Ends the sync at this step if the test asks for it. Unwinding only closes files and releases locks, as a kill would.
pub(crate) fn step() {
    match LEFT.get() {
        None => {}
        Some(0) => {
            LEFT.set(None);
            std::panic::resume_unwind(Box::new(Ended));
        }
        Some(left) => LEFT.set(Some(left - 1)),
    }
}

/// Runs a sync and ends it after this many steps. Returns false if the sync finished before that.
fn ended_after(steps: usize, work: impl FnOnce()) -> bool {
    LEFT.set(Some(steps));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    LEFT.set(None);
    match done {
        Ok(()) => false,
        Err(why) if why.is::<Ended>() => true,
        Err(why) => std::panic::resume_unwind(why),
    }
}

#[derive(Default)]
struct Tried {
    notes: usize,
    forks: usize,
    ended: usize,
    purged: usize,
}

#[test]
fn all_replicas_agree_and_nothing_acknowledged_is_lost() {
    let is_asked = std::env::var_os("LEFTOFF_TEST_SEED").is_some();
    let (first, schedules) = (if is_asked { proof::seed() } else { 1 }, proof::count("SCHEDULES", 12));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let tried: Vec<Tried> = std::thread::scope(|scope| {
        let of_thread = |thread: u64| (first..first + schedules).filter(move |seed| seed % threads == thread);
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || of_thread(thread).map(schedule).collect::<Vec<_>>()))
            .collect();
        running.into_iter().flat_map(|thread| thread.join().expect("every schedule holds")).collect()
    });
    let sum = |of: fn(&Tried) -> usize| tried.iter().map(of).sum::<usize>();
    let (notes, forks, ended) = (sum(|one| one.notes), sum(|one| one.forks), sum(|one| one.ended));
    let purged = sum(|one| one.purged);
    assert!(
        forks > 0 && ended > 0 && purged > 0,
        "schedules in which nothing happens: {forks} forks, {ended} syncs ended, {purged} texts purged"
    );
    let result = format!(
        "all agree; {notes} notes, 0 lost; {purged} purged, 0 left; {forks} forks, {ended} syncs or purges ended between two steps"
    );
    proof::proven("3 git replicas, kills in between", &format!("{schedules} schedules"), first, &result);
}

fn schedule(seed: u64) -> Tried {
    let mut world = World::new(seed);
    for step in 0..STEPS {
        world.folder.an_hour_later();
        world.step(step);
    }
    world.settle();
    world.check();
    let forks = world.replicas[0].forks().len();
    world.resolve_all();
    let purged = world.purged.difference(&world.merged).count();
    Tried { notes: world.kept.len(), forks, ended: world.ended, purged }
}

/// Returns the texts that this replica wrote.
fn of_author(kept: &BTreeSet<String>, name: &str) -> Vec<String> {
    kept.iter().filter(|text| text.starts_with(&format!("{name} wrote "))).cloned().collect()
}

struct World {
    seed: u64,
    random: Random,
    folder: Folder,
    replicas: Vec<Replica>,
    /// The texts of all notes that a command acknowledged.
    kept: BTreeSet<String>,
    /// The texts of notes that their author purged, or began to purge.
    purged: BTreeSet<String>,
    /// The texts of notes that are also in another event, which a purge by the first one's author does not reach: in a
    /// merged note, or in what a copy or a restored store sent under another id.
    merged: BTreeSet<String>,
    /// The sessions whose start a command acknowledged.
    started: BTreeSet<String>,
    backups: BTreeMap<String, PathBuf>,
    backups_made: usize,
    /// The replicas that cannot reach the remote, by name.
    cut_off: BTreeSet<String>,
    /// The replicas, by name, whose store was restored and is older than the data that they sent. Only the remote has
    /// that data.
    restored: BTreeSet<String>,
    restores: usize,
    ended: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let folder = Folder::new();
        let replicas: Vec<Replica> = ["anna", "ben", "carla"].map(|name| folder.replica(name)).into();
        for replica in &replicas {
            replica.share();
        }
        replicas[0].start("shared");
        replicas[0].sync().expect("the remote is there");
        Self {
            seed,
            random: Random::new(seed),
            folder,
            replicas,
            kept: BTreeSet::new(),
            purged: BTreeSet::new(),
            merged: BTreeSet::new(),
            started: BTreeSet::from(["shared".to_owned()]),
            backups: BTreeMap::new(),
            backups_made: 0,
            cut_off: BTreeSet::new(),
            restored: BTreeSet::new(),
            restores: 0,
            ended: 0,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.below(end as u64)).unwrap()
    }

    fn step(&mut self, step: usize) {
        let place = self.below(self.replicas.len());
        match self.below(25) {
            0..=6 => self.work(place, step),
            7 => self.start(place, step),
            8..=10 => self.sync(place),
            20 => drop(self.replicas[place].fetch_only()),
            21 => self.switch_off_and_on(place),
            11..=13 => self.sync_and_end(place),
            14..=15 => self.resolve(place),
            16 => self.cut_off_or_join(place),
            17 => self.rewind(),
            18 => self.back_up_or_restore(place),
            22..=24 => self.purge(place),
            _ => self.copy(place),
        }
    }

    fn work(&mut self, place: usize, step: usize) {
        let replica = &self.replicas[place];
        let text = format!("{} wrote {step}.", replica.name);
        if replica.work("shared", &text) {
            self.kept.insert(text);
        }
    }

    fn start(&mut self, place: usize, step: usize) {
        let id = format!("{}-{step}", self.replicas[place].name);
        self.replicas[place].start(&id);
        self.started.insert(id);
    }

    fn sync(&mut self, place: usize) {
        let replica = &self.replicas[place];
        let synced = replica.sync();
        let is_cut_off = self.cut_off.contains(&replica.name);
        assert_eq!(synced.is_err(), is_cut_off, "seed {}: {}: {synced:?}", self.seed, replica.name);
        if !is_cut_off {
            self.restored.remove(&replica.name);
        }
    }

    fn sync_and_end(&mut self, place: usize) {
        let steps = self.below(MOST_STEPS_OF_A_SYNC);
        let replica = &self.replicas[place];
        self.ended += usize::from(ended_after(steps, || drop(replica.sync())));
    }

    /// Purges a note that this replica wrote, and ends the purge at a step every other time.
    fn purge(&mut self, place: usize) {
        let steps = self.below(2 * MOST_STEPS_OF_A_PURGE);
        let replica = &self.replicas[place];
        if !replica.has("shared") {
            return;
        }
        let own = format!("{} wrote ", replica.name);
        let Some(text) = replica.notes("shared").into_iter().rfind(|text| text.starts_with(&own)) else {
            return;
        };
        self.ended += usize::from(ended_after(steps, || replica.purge("shared", &text).expect("a purge")));
        if !replica.notes("shared").contains(&text) {
            self.kept.remove(&text);
            self.purged.insert(text);
        }
    }

    fn resolve(&mut self, place: usize) {
        let replica = &self.replicas[place];
        if let Some(fork) = replica.forks().first() {
            self.merged.extend(replica.notes(fork));
            let resolved = replica.engine().resolve_fork(fork);
            // Only a replica on the machine of the session can resolve a fork of this session.
            let is_refused = resolved.as_ref().is_err_and(|error| error.class() == crate::Class::Refused);
            assert!(resolved.is_ok() || is_refused, "seed {}: {resolved:?}", self.seed);
        }
    }

    fn cut_off_or_join(&mut self, place: usize) {
        let replica = &self.replicas[place];
        let is_joining = self.cut_off.remove(&replica.name);
        replica.set_remote(if is_joining { "hub.git" } else { "nowhere.git" });
        if !is_joining {
            self.cut_off.insert(replica.name.clone());
        }
    }

    /// Rewinds or deletes a ref, as if somebody restored the host from a backup. Does nothing while only the remote has
    /// data that a store lost.
    fn rewind(&mut self) {
        let refs = self.folder.hub(&["for-each-ref", "--format=%(refname)"]);
        let refs: Vec<&str> = refs.lines().collect();
        if refs.is_empty() || !self.restored.is_empty() {
            return;
        }
        let name = refs[self.below(refs.len())];
        let commits = self.folder.hub(&["rev-list", name]);
        let commits: Vec<&str> = commits.lines().collect();
        match commits.get(1 + self.below(commits.len())) {
            Some(older) => self.folder.hub(&["update-ref", name, older]),
            None => self.folder.hub(&["update-ref", "-d", name]),
        };
    }

    /// Switches sharing off and on. At random, also removes the replica's ref from the remote. The ref stays if the
    /// store lost data that only the remote has.
    fn switch_off_and_on(&mut self, place: usize) {
        let is_erasing = self.below(2) == 0;
        let replica = &self.replicas[place];
        let is_possible = !self.restored.contains(&replica.name) && !self.cut_off.contains(&replica.name);
        replica.switch_off(is_erasing && is_possible).expect("it can be switched off");
        replica.share();
    }

    fn back_up_or_restore(&mut self, place: usize) {
        let replica = &self.replicas[place];
        match self.backups.remove(&replica.name) {
            // Whatever the restored store loses must have been sent before.
            Some(old) if replica.sync().is_ok() => {
                self.merged.extend(of_author(&self.kept, &replica.name));
                replica.restore(&old);
                self.restored.insert(replica.name.clone());
                self.restores += 1;
            }
            // A replica without sessions has no store yet.
            Some(_) | None if !replica.has_store() => {}
            Some(_) | None => {
                self.backups_made += 1;
                let backup = self.folder.path().join(format!("backup-{}.db", self.backups_made));
                replica.back_up(&backup);
                self.backups.insert(replica.name.clone(), backup);
            }
        }
    }

    fn copy(&mut self, place: usize) {
        let from = &self.replicas[place];
        // A restored store may not have received all of its data again. A copy of it would lose that data.
        if self.replicas.len() > 3 || self.restored.contains(&from.name) {
            return;
        }
        self.merged.extend(of_author(&self.kept, &from.name));
        let copy = self.folder.copied(from, "copy");
        if self.random.below(2) == 0 {
            copy.know_no_other_place();
        }
        if self.cut_off.contains(&from.name) {
            self.cut_off.insert(copy.name.clone());
        }
        self.replicas.push(copy);
    }

    /// Lets all replicas sync until no replica has anything new.
    fn settle(&mut self) {
        self.folder.an_hour_later();
        for place in 0..self.replicas.len() {
            if self.cut_off.contains(&self.replicas[place].name) {
                self.cut_off_or_join(place);
            }
        }
        for _ in 0..MOST_ROUNDS {
            let synced = self.replicas.iter().map(|replica| replica.sync().expect("the remote is there"));
            if synced.map(|synced| synced.taken + synced.sent).sum::<usize>() == 0 {
                return;
            }
        }
        panic!("seed {}: there are still news after {MOST_ROUNDS} rounds", self.seed);
    }

    fn check(&self) {
        let refs = self.folder.hub(&["for-each-ref", "--format=%(refname)"]).lines().count();
        // Only copies and restored stores continue under another name.
        let most = self.replicas.len() + self.restores;
        assert!(refs <= most, "seed {}: {refs} refs of {most} replicas", self.seed);
        let first = self.replicas[0].log("shared");
        for replica in &self.replicas {
            let about = format!("seed {}, {}", self.seed, replica.name);
            assert_eq!(replica.log("shared"), first, "{about}");
            let mut there = replica.notes("shared");
            for fork in replica.forks() {
                there.extend(replica.notes(&fork));
            }
            for text in &self.kept {
                assert!(there.contains(text), "{about} lost {text:?}");
            }
            for id in &self.started {
                assert!(replica.has(id), "{about} lost session {id}");
            }
            assert_eq!(replica.findings(), Vec::<String>::new(), "{about}");
            for text in self.purged.difference(&self.merged) {
                assert_eq!(replica.files_with(text), Vec::<String>::new(), "{about} still has {text:?}");
            }
        }
    }

    /// Resolves the forks in one replica. Checks that they then stay resolved in all replicas.
    fn resolve_all(&mut self) {
        self.folder.an_hour_later();
        let owner = &self.replicas[0];
        owner.resume("shared").expect("it is in use nowhere");
        for fork in owner.forks() {
            self.merged.extend(owner.notes(&fork));
            owner.engine().resolve_fork(&fork).expect("the clone that has the session resolves its fork");
        }
        owner.pause("shared");
        self.settle();
        for replica in &self.replicas {
            let about = format!("seed {}, {}", self.seed, replica.name);
            assert_eq!(replica.forks(), Vec::<String>::new(), "{about}");
            let there = replica.notes("shared");
            for text in &self.kept {
                assert!(there.contains(text), "{about} lost {text:?}");
            }
        }
        self.check();
    }
}
