//! Histories from other places: invented bundles, segments under the name of somebody else, copies of a
//! store, abandoned sessions.

use super::{Cheat, Met, PLAN, WORK, agent, refused, row, run_git};
use crate::git;
use crate::verify::{database, proven, signed_work, tamper, verified};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::Sandbox;

/// The file name of an invented bundle in a project.
const BUNDLE: &str = "invented.leftoff";
const OF_BUNDLE: &[&str] = &["--bundle", BUNDLE, "--branch", "main"];

pub(super) fn cheats() -> Vec<Cheat> {
    [in_bundles(), in_shared_histories(), with_other_chains()].into_iter().flatten().collect()
}

fn in_bundles() -> Vec<Cheat> {
    vec![
        row(
            "brings a bundle whose run lacks the phases with a gate",
            Met::VisibleWith(OF_BUNDLE, "does not have the phases of workflow w"),
            || {
                let sandbox = proven();
                let there = with_bundle(&sandbox, |events| {
                    events.retain(|event| {
                        !matches!(
                            event["kind"].as_str(),
                            Some("artifact_recorded" | "check_approved" | "phase_skipped")
                        )
                    });
                    let mut phases = 0;
                    events.retain_mut(|event| {
                        let mut body = body_of(event);
                        match event["kind"].as_str().unwrap() {
                            "run_started" => body["phases"] = json!([{ "id": "x", "title": "x" }]),
                            "phase_started" | "phase_completed" => {
                                body["phase"] = json!("x");
                                body["attempt"] = json!({});
                                phases += 1;
                            }
                            _ => {}
                        }
                        event["body"] = json!(body.to_string());
                        phases <= 2
                            || event["kind"] == "run_completed"
                            || event["kind"] == "session_completed"
                    });
                });
                (there, Vec::new())
            },
        ),
        row(
            "appends an invented run to a signed bundle",
            Met::VisibleWith(OF_BUNDLE, "does not have the phases of workflow w"),
            || {
                let sandbox = signed_work();
                let there = with_bundle(&sandbox, |events| {
                    let copy =
                        |kind: &str| events.iter().find(|event| event["kind"] == kind).unwrap().clone();
                    let mut invented = ["run_started", "phase_started", "phase_completed"].map(copy);
                    for event in &mut invented {
                        let mut body = body_of(event);
                        if event["kind"] == "run_started" {
                            body["ordinal"] = json!(2);
                            body["phases"] = json!([{ "id": "x", "title": "x" }]);
                        } else {
                            body["phase"] = json!("x");
                            body["attempt"] = json!({});
                        }
                        event["body"] = json!(body.to_string());
                    }
                    events.extend(invented);
                });
                there.write(".leftoff/allowed_signers", &sandbox.read(".leftoff/allowed_signers"));
                there.run_as_person(["trust", "--policy", "--yes"]).ok();
                (there, Vec::new())
            },
        ),
        row(
            "abandons every session of the branch",
            Met::VisibleWith(&["--branch", "main"], "every session of the branch was abandoned"),
            || {
                let (sandbox, _) = refused(|_| Vec::new());
                agent(&sandbox, &["abandon", "s"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "brings a bundle of an abandoned session",
            Met::VisibleWith(OF_BUNDLE, "the session is abandoned"),
            || {
                let (sandbox, _) = refused(|_| Vec::new());
                agent(&sandbox, &["abandon", "s"]).ok();
                (with_bundle(&sandbox, |_| {}), Vec::new())
            },
        ),
    ]
}

fn in_shared_histories() -> Vec<Cheat> {
    vec![
        row(
            "sends a history under its reader's name",
            Met::VisibleWith(&["--session", "s"], "is claimed"),
            || {
                let (hub, anna) = shared();
                let eve = worked_on_by_another(&hub);
                say_that_it_wrote(&hub, &eve, &anna);
                anna.run(["sync"]).ok();
                (anna, Vec::new())
            },
        ),
        row(
            "continues its reader's session under the reader's name",
            Met::VisibleWith(&["--session", "s"], "is claimed"),
            || {
                let (hub, anna) = shared();
                start_work(&anna);
                agent(&anna, &["pause"]).ok();
                anna.run(["sync"]).ok();
                let eve = clone_of(&hub);
                eve.run(["sync"]).ok();
                eve.run_as_person(["resume", "s", "--take"]).ok();
                finish_work(&eve);
                eve.run(["sync"]).ok();
                say_that_it_wrote(&hub, &eve, &anna);
                anna.run(["sync"]).ok();
                (anna, Vec::new())
            },
        ),
        row(
            "makes a history its own by copying the store",
            Met::VisibleWith(&["--session", "s"], "is claimed"),
            || {
                let anna = received();
                let copy = anna.folder().join("copy.db").display().to_string();
                agent(&anna, &["store", "copy", "--from", "sqlite", "--to", &copy]).ok();
                for name in ["leftoff.db", "leftoff.db-wal", "leftoff.db-shm", "sync.json"] {
                    let _ = std::fs::remove_file(anna.path(".git/leftoff").join(name));
                }
                agent(&anna, &["store", "restore", &copy, "--yes"]).ok();
                (anna, Vec::new())
            },
        ),
        row(
            "deletes the record that a history came from elsewhere",
            Met::VisibleWith(&["--session", "s"], "is claimed"),
            || {
                let anna = received();
                tamper(&anna, "DELETE FROM arrivals");
                (anna, Vec::new())
            },
        ),
        row(
            "deletes both records that a shared history came from elsewhere",
            Met::VisibleWith(&["--session", "s"], "is claimed"),
            || {
                let anna = received();
                tamper(&anna, "DELETE FROM arrivals");
                std::fs::remove_file(anna.path(".git/leftoff/arrived.json")).unwrap();
                agent(&anna, &["reopen", "s"]).ok();
                (anna, Vec::new())
            },
        ),
        row("deletes both records that a bundle was taken", Met::Visible("is claimed"), || {
            let there = taken();
            tamper(&there, "DELETE FROM arrivals");
            std::fs::remove_file(there.path(".git/leftoff/arrived.json")).unwrap();
            (there, Vec::new())
        }),
        row(
            "deletes both records, and switches sharing off",
            Met::VisibleWith(&["--session", "s"], "is claimed"),
            || {
                let anna = received();
                tamper(&anna, "DELETE FROM arrivals");
                std::fs::remove_file(anna.path(".git/leftoff/arrived.json")).unwrap();
                agent(&anna, &["sync", "off"]).ok();
                (anna, Vec::new())
            },
        ),
    ]
}

fn with_other_chains() -> Vec<Cheat> {
    vec![
        row("computes a new chain", Met::Visible("is not the one that this machine noted"), || {
            let sandbox = proven();
            chain_again(&sandbox, "UPDATE events SET at=at+1");
            (sandbox, Vec::new())
        }),
        row(
            "restores the database from before a person opened a phase again",
            Met::VisibleWith(&["--allow", "reported"], "is not the one that this machine noted"),
            || {
                let sandbox = proven();
                let copy = sandbox.folder().join("before.db").display().to_string();
                agent(&sandbox, &["store", "copy", "--from", "sqlite", "--to", &copy]).ok();
                sandbox.run_as_person(["reopen"]).ok();
                sandbox.run_as_person(["rollback", "plan", "--reason", "it is too thin"]).ok();
                for name in ["leftoff.db", "leftoff.db-wal", "leftoff.db-shm"] {
                    let _ = std::fs::remove_file(sandbox.path(".git/leftoff").join(name));
                }
                agent(&sandbox, &["store", "restore", &copy, "--yes"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "computes a new chain after the old one was shared",
            Met::VisibleWith(&["--session", "s"], "sync has sent another history"),
            || {
                let (_, anna) = shared();
                start_work(&anna);
                finish_work(&anna);
                anna.run(["sync"]).ok();
                chain_again(&anna, "UPDATE events SET at=at+1");
                (anna, Vec::new())
            },
        ),
    ]
}

fn hash_of(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_vec()
}

/// Changes rows, and computes the whole hash chain of the only session again.
fn chain_again(sandbox: &Sandbox, sql: &str) {
    tamper(sandbox, sql);
    let rows = database(sandbox);
    let mut select =
        rows.prepare("SELECT version,at,actor,kind,body,salt FROM events ORDER BY version").unwrap();
    let events = select.query_map([], |row| {
        let parts = [
            row.get::<_, Vec<u8>>(5)?,
            row.get::<_, i64>(0)?.to_be_bytes().to_vec(),
            row.get::<_, i64>(1)?.to_be_bytes().to_vec(),
            row.get::<_, String>(2)?.into_bytes(),
            row.get::<_, String>(3)?.into_bytes(),
            row.get::<_, String>(4)?.into_bytes(),
        ];
        Ok((row.get::<_, i64>(0)?, hash_of(&parts)))
    });
    let events: Vec<(i64, Vec<u8>)> = events.unwrap().map(Result::unwrap).collect();
    let mut link = vec![0; 32];
    for (version, hash) in events {
        link = Sha256::new().chain_update(&link).chain_update(&hash).finalize().to_vec();
        rows.execute("UPDATE events SET hash=?,link=? WHERE version=?", (&hash, &link, version)).unwrap();
    }
    rows.execute("UPDATE sessions SET head=?", [&link]).unwrap();
}

/// A project that imported a signed bundle. The bundle was made before the approval was withdrawn.
pub(super) fn took_older_bundle() -> Sandbox {
    let sandbox = signed_work();
    let there = with_bundle(&sandbox, |_| {});
    sandbox.run_as_person(["reopen"]).ok();
    sandbox.run_as_person(["rollback", "plan", "--reason", "it is too thin"]).ok();
    there.write(".leftoff/allowed_signers", &sandbox.read(".leftoff/allowed_signers"));
    there.run_as_person(["trust", "--policy", "--yes"]).ok();
    agent(&there, &["bundle", "take", BUNDLE]).ok();
    there
}

/// The folder with the notes of where histories stood.
pub(super) fn noted_heads(sandbox: &Sandbox) -> PathBuf {
    let command = sandbox.command(["status"]);
    let of = |name: &str| command.get_envs().find(|(known, _)| *known == name).and_then(|(_, value)| value);
    let state = of("XDG_STATE_HOME").expect("the sandbox has a state folder of its own");
    Path::new(state).join("leftoff/heads")
}

/// A project that imported the bundle of another project's work.
pub(super) fn taken() -> Sandbox {
    let sandbox = proven();
    let there = with_bundle(&sandbox, |_| {});
    there.write(PLAN, "the plan\n");
    agent(&there, &["bundle", "take", BUNDLE]).ok();
    verified(&there, &[]).code(5);
    there
}

fn body_of(event: &Value) -> Value {
    serde_json::from_str(event["body"].as_str().unwrap()).unwrap()
}

/// A project with the same workflow, and with a session from a bundle whose events were changed and numbered
/// again.
fn with_bundle(sandbox: &Sandbox, change: impl FnOnce(&mut Vec<Value>)) -> Sandbox {
    let path = sandbox.folder().join("s.leftoff");
    sandbox.run(["bundle", "create", "--session", "s", &path.display().to_string()]).ok();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.pop();
    let mut events: Vec<Value> = lines.iter().filter_map(|line| line.get("event").cloned()).collect();
    lines.retain(|line| line.get("event").is_none());
    change(&mut events);
    for (event, version) in events.iter_mut().zip(1..) {
        event["version"] = json!(version);
        event.as_object_mut().unwrap().remove("command");
        event.as_object_mut().unwrap().remove("ordinal");
    }
    // A bundle has a header, then definitions, then events, and then files.
    let at = lines.iter().rposition(|line| line.get("definition").is_some()).unwrap() + 1;
    lines.splice(at..at, events.into_iter().map(|event| json!({ "event": event })));
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let hash: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let there = git();
    there.write(".leftoff/workflows/w.toml", &sandbox.read(".leftoff/workflows/w.toml"));
    there.write(BUNDLE, &format!("{body}{}\n", json!({ "end": { "sha256": hash } })));
    there
}

/// A bare repository with the workflow, and a clone of it that shares its sessions.
fn shared() -> (PathBuf, Sandbox) {
    let anna = Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    let hub = anna.folder().join("hub.git");
    run_git(&anna, &["init", "-q", "--bare", "-b", "main", &hub.display().to_string()]);
    run_git(&anna, &["init", "-q", "-b", "main"]);
    anna.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{WORK}"));
    run_git(&anna, &["add", "-A"]);
    run_git(&anna, &["commit", "-q", "-m", "First"]);
    run_git(&anna, &["remote", "add", "origin", &hub.display().to_string()]);
    run_git(&anna, &["push", "-q", "origin", "main"]);
    anna.run(["init", "--sync"]).ok();
    anna.run(["sync"]).ok();
    (hub, anna)
}

fn clone_of(hub: &Path) -> Sandbox {
    let clone = Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    run_git(&clone, &["init", "-q", "-b", "main"]);
    run_git(&clone, &["remote", "add", "origin", &hub.display().to_string()]);
    run_git(&clone, &["pull", "-q", "origin", "main"]);
    clone.run(["init", "--sync"]).ok();
    clone
}

fn start_work(sandbox: &Sandbox) {
    agent(sandbox, &["start", "w", "--id", "s"]).ok();
}

fn finish_work(sandbox: &Sandbox) {
    sandbox.write(PLAN, "the plan\n");
    sandbox.run_as_person(["approve", "agreed"]).ok();
    agent(sandbox, &["advance", "--phase", "plan"]).ok();
    agent(sandbox, &["advance", "--phase", "test", "--evidence", "passed=3"]).ok();
}

/// Another clone, which did the work and sent it.
fn worked_on_by_another(hub: &Path) -> Sandbox {
    let eve = clone_of(hub);
    start_work(&eve);
    finish_work(&eve);
    eve.run(["sync"]).ok();
    eve
}

/// A clone that received the work of another clone.
fn received() -> Sandbox {
    let (hub, anna) = shared();
    worked_on_by_another(&hub);
    anna.run(["sync"]).ok();
    anna
}

fn replica(clone: &Sandbox) -> String {
    let settings: Value = serde_json::from_str(&clone.read(".git/leftoff/sync.json")).unwrap();
    settings["replica"].as_str().unwrap().to_owned()
}

/// Writes the reader's name as the author of every segment in the writer's ref.
fn say_that_it_wrote(hub: &Path, writer: &Sandbox, reader: &Sandbox) {
    let work = writer.folder().join("segments");
    let name = format!("refs/leftoff/v1/{}", replica(writer));
    let git = |folder: &Path, words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=eve", "-c", "user.email=eve@example.org", "-c", "commit.gpgsign=false"]);
        git.args(words).current_dir(folder).env("HOME", writer.folder()).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.status().unwrap().success(), "git {words:?}");
    };
    std::fs::create_dir_all(&work).unwrap();
    let hub = hub.display().to_string();
    git(&work, &["init", "-q"]);
    git(&work, &["fetch", "-q", &hub, &name]);
    git(&work, &["checkout", "-q", "FETCH_HEAD"]);
    let (own, other) = (replica(writer), replica(reader));
    let mut changed = 0;
    for path in segments(&work.join("s")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        let forged = first.replace(&format!("\"author\":\"{own}\""), &format!("\"author\":\"{other}\""));
        changed += usize::from(forged != first);
        std::fs::write(&path, format!("{forged}\n{rest}")).unwrap();
    }
    assert!(changed > 0, "no segment names its author");
    git(&work, &["add", "--all", "."]);
    git(&work, &["commit", "-q", "-m", "sync"]);
    git(&work, &["push", "-q", &hub, &format!("+HEAD:{name}")]);
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { segments(&path) } else { vec![path] }).collect()
}
