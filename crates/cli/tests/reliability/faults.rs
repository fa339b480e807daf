//! System calls that fail, or at which the process is killed, in every type of command. There are three valid
//! outcomes: the command is acknowledged, and the change is stored; it is refused, and nothing has changed;
//! the outcome is unknown, and the change is stored completely or not at all.

use crate::git;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::proof::{self, Random};
use testkit::{Ran, Sandbox};

/// System calls that change a file, or on which a change depends.
const CALLS: &str =
    "openat,write,pwrite64,pread64,fdatasync,fsync,rename,renameat2,unlink,ftruncate,mkdir,flock,fcntl";
const ERRORS: [&str; 4] = ["error=ENOSPC", "error=EIO", "error=EINTR", "signal=SIGKILL"];

/// A command that changes something, with its preconditions and its stdin.
struct Kind {
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    input: &'static str,
}

const fn kind(before: &'static [&'static [&'static str]], command: &'static [&'static str]) -> Kind {
    Kind { before, command, input: "" }
}

const STARTED: &[&str] = &["start", "--id", "s"];
const ITEM: &[&str] = &["item", "add", "first", "--id", "first"];
const REVIEW: &[&str] = &["start", "--layout", "ocr", "--id", "2026-11-14-x"];
const TASKS: &[&str] = &["start", "--layout", "ccw", "--id", "WFS-x"];

const KINDS: &[Kind] = &[
    kind(&[], STARTED),
    kind(&[STARTED], &["start", "--id", "second"]),
    kind(&[STARTED], &["note", "a note"]),
    kind(&[STARTED], &["note", "with a key", "--key", "k"]),
    kind(&[STARTED], &["advance", "--phase", "plan"]),
    kind(&[STARTED], &["pause", "--reason", "lunch"]),
    kind(&[STARTED, &["pause"]], &["resume", "s"]),
    kind(&[STARTED], &["set", "ticket=4711"]),
    kind(&[STARTED], &["checkpoint", "here"]),
    kind(&[STARTED, &["note", "a note"]], &["undo"]),
    kind(&[STARTED], ITEM),
    kind(&[STARTED, ITEM], &["item", "claim", "first"]),
    kind(&[STARTED, ITEM], &["item", "done", "first"]),
    kind(&[STARTED], &["run", "start", "map"]),
    kind(&[STARTED], &["abandon", "--reason", "no"]),
    kind(&[STARTED, &["abandon"]], &["reopen", "s"]),
    kind(&[STARTED, &["start", "--id", "t"]], &["switch", "s"]),
    kind(&[STARTED], &["bundle", "create", "out.bundle"]),
    kind(&[], REVIEW),
    kind(&[REVIEW], &["note", "on a review", "--session", "2026-11-14-x"]),
    kind(&[REVIEW], &["run", "start", "map", "--session", "2026-11-14-x"]),
    kind(&[TASKS], &["note", "on tasks", "--session", "WFS-x"]),
    Kind {
        before: &[STARTED],
        command: &["hook", "claude"],
        input: r#"{"hook_event_name":"SessionStart","session_id":"a1","source":"startup","cwd":"."}"#,
    },
];

/// The events of every session after recovery.
fn logs(sandbox: &Sandbox) -> BTreeMap<String, Vec<String>> {
    let listed = sandbox.run(["list", "--all", "--json"]).ok().json();
    let ids =
        listed["sessions"].as_array().unwrap().iter().map(|session| session["session_id"].as_str().unwrap());
    let kinds = |id: &str| {
        let log = sandbox.run(["log", id, "--json"]).ok().json();
        let events = log["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    ids.map(|id| (id.to_owned(), kinds(id))).collect()
}

fn traced(strace: &Path, sandbox: &Sandbox, kind: &Kind, options: &[String]) -> (Ran, String) {
    let inner = sandbox.command(kind.command);
    let trace = sandbox.folder().join("trace");
    let mut command = Command::new(strace);
    command.args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-o"]).arg(&trace).args(options);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(sandbox.project()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null());
    let ran = testkit::with_input(command, kind.input);
    (ran, std::fs::read_to_string(trace).unwrap_or_default())
}

/// The number of system calls in a trace, by name.
fn calls(trace: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in trace.lines().filter(|line| !line.contains("resumed>")) {
        let Some((head, _)) = line.split_once('(') else { continue };
        let Some(name) = head.split_whitespace().next_back() else { continue };
        if CALLS.split(',').any(|known| known == name) {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

fn prepared(kind: &Kind) -> Sandbox {
    let sandbox = git();
    for words in kind.before {
        sandbox.run(*words).ok();
    }
    sandbox
}

/// Tries one fault: the command, the system call, which of the calls of that name, and the effect.
fn try_one(strace: &Path, kind: &Kind, call: &str, when: u64, error: &str) -> &'static str {
    let what = format!("{:?} with {call}:{error}:when={when}", kind.command);
    let sandbox = prepared(kind);
    let before = logs(&sandbox);
    let inject = ["-e".to_owned(), format!("inject={call}:{error}:when={when}")];
    let (ran, _) = traced(strace, &sandbox, kind, &inject);
    let after = logs(&sandbox);
    let whole = {
        let undisturbed = prepared(kind);
        testkit::with_input(undisturbed.command(kind.command), kind.input);
        logs(&undisturbed)
    };
    let is_hook = kind.command[0] == "hook";
    let outcome = match ran.code {
        0 if is_hook => {
            assert!(after == before || after == whole, "{what}: {after:?}");
            "acknowledged"
        }
        code if code == 0 || ran.stderr.contains("the command itself succeeded") => {
            assert_eq!(after, whole, "{what}: acknowledged and not there: {ran:?}");
            "acknowledged"
        }
        7 | 137 => {
            assert!(after == before || after == whole, "{what}: there in part: {after:?}");
            "unknown"
        }
        code => {
            // Exit code 127 means that the dynamic loader could not read a library.
            assert!(!is_hook && (1..=6).contains(&code) || code == 127, "{what}: {ran:?}");
            assert_eq!(after, before, "{what}: refused and changed: {ran:?}");
            "refused"
        }
    };
    let _ = sandbox.run(["repair"]);
    let found = sandbox.run(["doctor"]);
    assert_eq!(found.code, 0, "{what}: {found:?}");
    outcome
}

#[test]
fn system_calls_that_fail_lose_nothing_and_change_nothing_that_is_refused() {
    let Some(strace) = testkit::strace("faults of system calls").map(PathBuf::from) else { return };
    let seed = proof::seed();
    let wanted = proof::count("FAULTS", 23);
    let mut random = Random::new(seed);
    let made: Vec<BTreeMap<String, u64>> =
        KINDS.iter().map(|kind| calls(&traced(&strace, &prepared(kind), kind, &[]).1)).collect();
    assert!(made.iter().all(|calls| calls.values().sum::<u64>() > 5), "{made:?}");
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for number in 0..wanted {
        let at = usize::try_from(number).unwrap() % KINDS.len();
        let names: Vec<&String> = made[at].keys().collect();
        let call = random.one_of(&names);
        let when = 1 + random.below(made[at][*call]);
        let error = random.one_of(&ERRORS);
        *outcomes.entry(try_one(&strace, &KINDS[at], call, when, error)).or_default() += 1;
    }
    let told: Vec<String> = outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    let number = format!("{wanted} faults in {} kinds of commands", KINDS.len());
    proof::proven("system-call faults", &number, seed, &format!("{}; 0 violations", told.join(", ")));
}
