//! Stores with several processes, another user, a full disk and kill -9.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test stops at the first surprise; children speak through their standard output"
)]

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use store::contract::rows::{PATIENCE, batch, begin, everything, go_on, id, line, paused, with};
use store::{Access, Error, SessionRow, SqliteStore, Store};

const ROLE: &str = "LEFTOFF_TEST_ROLE";
const PLACE: &str = "LEFTOFF_TEST_PLACE";
const NAME: &str = "LEFTOFF_TEST_NAME";

/// The unprivileged user of most systems.
const NOBODY: u32 = 65534;

/// A child process with a role, which communicates by lines.
struct Actor {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Actor {
    fn start(mut command: Command, role: &str, place: &Path, name: &str) -> Self {
        let mut process = command
            .args(["--ignored", "--exact", "--nocapture", "as_a_child"])
            .env(ROLE, role)
            .env(PLACE, place)
            .env(NAME, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    fn here(role: &str, place: &Path, name: &str) -> Self {
        Self::start(Command::new(std::env::current_exe().unwrap()), role, place, name)
    }

    /// Returns the next line that the role itself printed, without the lines of the test harness.
    fn hears(&mut self) -> Option<String> {
        self.lines.find_map(|line| line.unwrap().split_once("said: ").map(|(_, text)| text.to_owned()))
    }

    fn tells(&mut self) {
        self.process.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    fn ends_well(mut self) {
        while self.hears().is_some() {}
        assert!(self.process.wait().unwrap().success());
    }
}

#[test]
#[ignore = "the other tests start it as a process of its own"]
fn as_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
    let name = std::env::var(NAME).unwrap();
    match role.as_str() {
        "create" => create_and_begin(&place, &name),
        "hold" => hold_the_turn(&place),
        "append" => append_for_ever(&place),
        "look" => look_without_permission(&place, &name),
        other => panic!("there is no role {other}"),
    }
}

fn say(text: &str) {
    println!("said: {text}");
    std::io::stdout().flush().unwrap();
}

fn wait_to_be_told() {
    std::io::stdin().lines().next().unwrap().unwrap();
}

fn create_and_begin(place: &Path, name: &str) {
    say("ready");
    wait_to_be_told();
    let mut store = SqliteStore::open(place, Access::Create).unwrap();
    store.append(&batch([begin(paused(name))])).unwrap();
}

fn hold_the_turn(place: &Path) {
    let mut store = SqliteStore::open(place, Access::Write).unwrap();
    store.take_turn(PATIENCE).unwrap();
    say("held");
    wait_to_be_told();
}

fn append_for_ever(place: &Path) {
    loop {
        let mut store = SqliteStore::open(place, Access::Create).unwrap();
        store.take_turn(PATIENCE).unwrap();
        let row = match store.load(&id("first")).unwrap() {
            Some(loaded) => loaded.row,
            None => SessionRow { version: 0, ..line("first") },
        };
        let stream = go_on(row, 1);
        store.append(&batch([stream.clone()])).unwrap();
        say(&stream.row.version.to_string());
    }
}

fn look_without_permission(place: &Path, expected: &str) {
    let store = SqliteStore::open(place, Access::Read).unwrap();
    assert_eq!(store.load(&id("first")).unwrap().unwrap().row.version.to_string(), expected);
    assert_eq!(store.check().unwrap(), [""; 0]);
    let copies = || {
        let ours = format!("leftoff-read-{}-", std::process::id());
        let entries = std::fs::read_dir(std::env::temp_dir()).unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(&ours))
            .count()
    };
    say(&copies().to_string());
    drop(store);
    assert_eq!(copies(), 0, "a copy is removed");
    for access in [Access::Write, Access::Create] {
        let told =
            SqliteStore::open(place, access).and_then(|mut store| store.append(&batch([begin(paused("x"))])));
        assert!(matches!(told, Err(Error::ReadOnly { .. })), "{told:?}");
    }
    let told = SqliteStore::open(&place.with_file_name("new.db"), Access::Create);
    assert!(matches!(told, Err(Error::ReadOnly { .. })), "{told:?}");
}

/// Returns a command that runs this program as a user without write access. This is needed because root can write
/// everything.
fn as_another_user(folder: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(std::env::current_exe().unwrap());
    }
    let program = folder.join("program");
    // Another process copies the program: a file that is open for writing cannot be executed, and a child
    // that another test starts meanwhile would inherit the open file.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
    assert!(copied.unwrap().success());
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    command.uid(NOBODY).gid(NOBODY).current_dir("/");
    command
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn processes_that_create_at_once_find_one_store() {
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deeper/leftoff.db");
        let names = ["a", "b", "c", "d"];
        let mut actors: Vec<Actor> = names.iter().map(|name| Actor::here("create", &path, name)).collect();
        for actor in &mut actors {
            assert_eq!(actor.hears().as_deref(), Some("ready"));
        }
        actors.iter_mut().for_each(Actor::tells);
        actors.into_iter().for_each(Actor::ends_well);
        let store = SqliteStore::open(&path, Access::Read).unwrap();
        assert_eq!(store.info().unwrap().sessions, 4, "in round {round}");
        assert_eq!(store.check().unwrap(), [""; 0]);
    }
}

#[test]
fn a_stopped_holder_of_the_turn_makes_the_store_busy_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leftoff.db");
    let mut store = SqliteStore::open(&path, Access::Create).unwrap();
    with(&mut store, [line("first")]);
    let before = everything(&store);
    let mut holder = Actor::here("hold", &path, "");
    assert_eq!(holder.hears().as_deref(), Some("held"));
    holder.signal(Signal::STOP);
    for patience in [Duration::ZERO, Duration::from_millis(50)] {
        let asked = std::time::Instant::now();
        let told = store.take_turn(patience);
        assert!(matches!(told, Err(Error::Busy { waited }) if waited == patience), "{told:?}");
        assert!(asked.elapsed() < patience + Duration::from_secs(2));
    }
    assert_eq!(everything(&store), before, "queries go on");
    holder.signal(Signal::KILL);
    holder.process.wait().unwrap();
    store.take_turn(PATIENCE).unwrap();
    store.append(&batch([go_on(line("first"), 1)])).unwrap();
}

#[test]
fn somebody_who_may_not_write_reads_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    allow(folder.path(), 0o755);
    let inside = folder.path().join("it's 100% here");
    let path = inside.join("leftoff.db");
    let command = || as_another_user(folder.path());
    let mut store = SqliteStore::open(&path, Access::Create).unwrap();
    with(&mut store, [line("first")]);
    drop(store);
    allow(&path, 0o644);
    allow(&path.with_extension("db-wal"), 0o644);
    allow(&inside, 0o555);
    let names = || std::fs::read_dir(&inside).unwrap().count();
    let before = names();
    // While there is a write-ahead log, the newest commit is only in the log. Reading then needs a copy, and the copy
    // has no name while it is used.
    let mut reader = Actor::start(command(), "look", &path, "1");
    assert_eq!(reader.hears().as_deref(), Some("0"), "no copy would be left behind");
    reader.ends_well();

    allow(&inside, 0o755);
    let shell = rusqlite::Connection::open(&path).unwrap();
    shell.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    std::mem::drop(shell);
    let before_without_log = names();
    allow(&inside, 0o555);
    let mut reader = Actor::start(command(), "look", &path, "1");
    assert_eq!(reader.hears().as_deref(), Some("0"), "no copy is needed");
    reader.ends_well();
    assert_eq!(names(), before_without_log);
    assert!(before_without_log <= before);
    allow(&inside, 0o755);
}

/// A small file system of its own, if this process may mount one.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs"], folder.path());
        mounted.then_some(Self { folder })
    }

    fn grow(&self) {
        assert!(run("mount", &["-o", "remount,size=4m"], self.folder.path()));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &[], self.folder.path());
    }
}

fn run(program: &str, arguments: &[&str], last: &Path) -> bool {
    let ended = Command::new(program).args(arguments).arg(last).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}

#[test]
fn a_full_disk_loses_nothing_and_is_told() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!(
            "SKIPPED: a full disk cannot be tried, because mounting a small tmpfs is not permitted here"
        );
        return;
    };
    let path = disk.folder.path().join("leftoff.db");
    let mut store = SqliteStore::open(&path, Access::Create).unwrap();
    let mut row = SessionRow { version: 0, ..line("first") };
    let told = loop {
        let mut stream = go_on(row.clone(), 1);
        stream.events[0].body = format!("{{\"text\":\"{}\"}}", "x".repeat(5_000));
        match store.append(&batch([stream.clone()])) {
            Ok(()) => row = stream.row,
            Err(error) => break error,
        }
    };
    assert!(matches!(told, Error::Full { .. }), "{told:?}");
    assert!(row.version > 10, "only {} were kept", row.version);
    for access in [Access::Read, Access::Write] {
        let store = SqliteStore::open(&path, access).unwrap();
        assert_eq!(store.load(&row.id).unwrap().unwrap().row, row);
        assert_eq!(store.events(&row.id, 0, None).unwrap().len() as u64, row.version);
        assert_eq!(store.check().unwrap(), [""; 0]);
    }
    let told = store.backup(&disk.folder.path().join("copy.db"));
    assert!(matches!(told, Err(Error::Full { .. })), "{told:?}");
    let drafts = std::fs::read_dir(disk.folder.path()).unwrap();
    assert!(!drafts.map(Result::unwrap).any(|entry| entry.file_name().to_string_lossy().starts_with("copy")));
    disk.grow();
    store.append(&batch([go_on(row.clone(), 1)])).unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    const KILLS: u32 = 50;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leftoff.db");
    let mut acknowledged = 0;
    let mut random = Random(u64::from(std::process::id()) | 1);
    println!("seed {}", random.0);
    for kill in 0..KILLS {
        let mut writers = [Actor::here("append", &path, ""), Actor::here("append", &path, "")];
        for _ in 0..=random.below(12) {
            let version: u64 = writers[0].hears().unwrap().parse().unwrap();
            acknowledged = acknowledged.max(version);
        }
        // The kill comes somewhere in the middle of the next operation.
        for _ in 0..random.below(200_000) {
            std::hint::spin_loop();
        }
        for writer in &mut writers {
            writer.process.kill().unwrap();
            writer.process.wait().unwrap();
            while let Some(version) = writer.hears() {
                acknowledged = acknowledged.max(version.parse().unwrap());
            }
        }
        let store = SqliteStore::open(&path, Access::Read).unwrap();
        let kept = store.load(&id("first")).unwrap().unwrap();
        assert!(kept.row.version >= acknowledged, "kill {kill}: {acknowledged} was acknowledged");
        assert!(
            kept.row.version <= acknowledged + 2,
            "kill {kill}: one a writer may be kept without being told"
        );
        acknowledged = kept.row.version;
        assert_eq!(kept.snapshot.unwrap().version, kept.row.version);
        assert_eq!(store.check().unwrap(), [""; 0]);
    }
    println!("{KILLS} kills, {acknowledged} acknowledged, 0 lost");
}

struct Random(u64);

impl Random {
    /// Returns the next random number, by Marsaglia's xorshift.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
