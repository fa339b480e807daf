//! Tests with an agent that has a shell and cheats. Each cheat is refused, or `verify` shows it. Cheats that
//! are neither refused nor shown are listed, too, so that the table in docs/guides/trust.md is true.

mod elsewhere;
mod parents;
mod running;
mod told;

use crate::gates::started;
use crate::git;
use crate::verify::{approve_signed, database, key, proven, report, tamper, unproven, verified};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use testkit::{Ran, Sandbox};

const CLAUDE: &str = "claude:a4326893";
const PLAN: &str = ".leftoff/sessions/s/PLAN.md";

/// A workflow with a plan that a person approves, and a number with a condition.
const WORK: &str = r#"
[[phase]]
id = "plan"
produces = ["PLAN.md"]
  [[phase.check]]
  id = "plan"
  kind = "artifact"
  path = "PLAN.md"
  [[phase.check]]
  id = "agreed"
  kind = "approval"
[[phase]]
id = "test"
  [phase.evidence]
  passed = { type = "integer", required = true }
"#;

/// The result of a cheat.
#[derive(Debug)]
enum Met {
    /// Nothing changed. The number is the exit code of the command.
    Refused(i32),
    /// `verify` exits with code 5 and prints this.
    Visible(&'static str),
    /// With these arguments, `verify` exits with code 5 and prints this.
    VisibleWith(&'static [&'static str], &'static str),
    /// `verify` exits with code 0.
    GetsThrough,
}

/// A row in the table of the guide.
struct Cheat {
    name: &'static str,
    play: fn() -> (Sandbox, Vec<Ran>),
    met: Met,
}

fn agent(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    sandbox.run_as(CLAUDE, arguments)
}

/// Runs a command as the agent, on a terminal that the agent opens.
fn with_terminal(sandbox: &Sandbox, variable: (&str, &str), arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(arguments);
    command.env(variable.0, variable.1);
    sandbox.as_person(&command)
}

/// An event of Claude Code.
fn event(sandbox: &Sandbox, name: &str) -> String {
    let fields = json!({ "hook_event_name": name, "source": "startup", "reason": "other" });
    crate::agent::event(sandbox, "a4326893", &fields)
}

/// Sends an event from the process of this test, as an agent would.
fn hook(sandbox: &Sandbox, name: &str) {
    sandbox.run_with_input(&["hook", "claude"], &event(sandbox, name)).ok();
}

fn given(command: &Command) -> impl Iterator<Item = (&OsStr, &OsStr)> {
    command.get_envs().filter_map(|(name, value)| Some((name, value?)))
}

fn refused(cheat: impl Fn(&Sandbox) -> Vec<Ran>) -> (Sandbox, Vec<Ran>) {
    let sandbox = started(WORK);
    sandbox.write(PLAN, "the plan\n");
    let ran = cheat(&sandbox);
    (sandbox, ran)
}

fn after(cheat: impl Fn(&Sandbox)) -> (Sandbox, Vec<Ran>) {
    let sandbox = proven();
    cheat(&sandbox);
    (sandbox, Vec::new())
}

fn row(name: &'static str, met: Met, play: fn() -> (Sandbox, Vec<Ran>)) -> Cheat {
    Cheat { name, play, met }
}

/// The cheats, in the order of the table in the guide.
fn cheats() -> Vec<Cheat> {
    let own = [as_a_person(), at_the_gate(), in_files(), in_the_database()];
    let others = [parents::cheats(), running::cheats(), elsewhere::cheats(), told::cheats()];
    let through = [past_leftoff(), past_conditions(), told::through(), parents::through()];
    own.into_iter().chain(others).chain(through).flatten().collect()
}

fn as_a_person() -> Vec<Cheat> {
    vec![
        row("skips a phase with a gate", Met::Refused(6), || {
            refused(|sandbox| vec![agent(sandbox, &["skip", "--reason", "done already"])])
        }),
        row("drops the tasks that a gate waits for", Met::Refused(6), || {
            let sandbox = started(told::ITEMS);
            agent(&sandbox, &["item", "add", "the work"]).ok();
            let dropped = agent(&sandbox, &["item", "drop", "task-1", "--reason", "not needed"]);
            (sandbox, vec![dropped])
        }),
        row("undoes what a person decided", Met::Refused(6), || {
            refused(|sandbox| {
                sandbox.run_as_person(["skip", "--reason", "no time"]).ok();
                vec![agent(sandbox, &["undo"]), agent(sandbox, &["undo", "--to", "3"])]
            })
        }),
        row("closes by force", Met::Refused(6), || {
            refused(|sandbox| vec![agent(sandbox, &["close", "--force"])])
        }),
        row("gives itself a terminal", Met::Refused(6), || {
            refused(|sandbox| {
                let variables = [("LEFTOFF_AGENT_SESSION", CLAUDE), ("CLAUDECODE", "1"), ("GEMINI_CLI", "1")];
                variables.map(|variable| with_terminal(sandbox, variable, &["approve", "agreed"])).into()
            })
        }),
        row("edits the policy", Met::Refused(6), || {
            refused(|sandbox| {
                sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"anyone\"\n");
                vec![agent(sandbox, &["approve", "agreed"]), agent(sandbox, &["trust", "--policy", "--yes"])]
            })
        }),
        row("names somebody else with --by", Met::Refused(6), || {
            refused(|sandbox| vec![agent(sandbox, &["approve", "agreed", "--by", "the CEO"])])
        }),
        row("pretends to be another agent", Met::Refused(6), || {
            refused(|sandbox| {
                let of_other =
                    with_terminal(sandbox, ("LEFTOFF_AGENT_SESSION", "codex:7"), &["approve", "agreed"]);
                let mut command = sandbox.command(["approve", "agreed"]);
                command.env("LEFTOFF_AGENT_SESSION", CLAUDE).env("USER", "boss").env("LOGNAME", "boss");
                vec![of_other, Ran::from(command.output().unwrap())]
            })
        }),
        row("sets an invalid agent session", Met::Refused(2), || {
            refused(|sandbox| {
                vec![with_terminal(sandbox, ("LEFTOFF_AGENT_SESSION", "x"), &["approve", "agreed"])]
            })
        }),
        row("gives its own variable an invalid value", Met::Refused(6), || {
            refused(|sandbox| {
                let variables = [("CODEX_SESSION_ID", "a b"), ("CLAUDE_SESSION_ID", "a b")];
                variables.map(|variable| with_terminal(sandbox, variable, &["approve", "agreed"])).into()
            })
        }),
        row("removes its variables from a command's environment", Met::Refused(6), || {
            refused(|sandbox| {
                let inner = sandbox.command(["approve", "agreed"]);
                let line =
                    format!("env -u CLAUDECODE {} approve agreed", inner.get_program().to_string_lossy());
                let mut shell = testkit::at_terminal(&line);
                shell.current_dir(sandbox.project()).env_clear().envs(given(&inner));
                shell.env_remove("LEFTOFF_TEST_ALONE").env("CLAUDECODE", "1");
                vec![Ran::from(shell.output().unwrap())]
            })
        }),
        row("says that its conversation is over", Met::Refused(6), || {
            refused(|sandbox| {
                hook(sandbox, "SessionStart");
                hook(sandbox, "SessionEnd");
                vec![sandbox.run_as_person(["approve", "agreed"])]
            })
        }),
        row("lets a child of its process send the hook's event", Met::Refused(6), || {
            refused(|sandbox| {
                hook(sandbox, "SessionStart");
                std::fs::write(sandbox.folder().join("event"), event(sandbox, "SessionStart")).unwrap();
                // `script` is another process between the agent and the hook.
                let inner = sandbox.command(["hook", "claude"]);
                let line = format!(
                    "{} hook claude <{}",
                    inner.get_program().to_string_lossy(),
                    sandbox.folder().join("event").display()
                );
                let mut child = testkit::at_terminal(&line);
                child.current_dir(sandbox.project()).env_clear().envs(given(&inner));
                assert!(child.output().unwrap().status.success());
                vec![sandbox.run_as_person(["approve", "agreed"])]
            })
        }),
    ]
}

/// A git repository with a session in a phase whose gate requires a worktree without changes.
fn with_clean_worktree_asked() -> Sandbox {
    let sandbox = Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    run_git(&sandbox, &["init", "-q", "-b", "main"]);
    sandbox.write("work.txt", "before\n");
    sandbox.write(
        ".leftoff/workflows/w.toml",
        "name = \"w\"\n[[phase]]\nid = \"all\"\n[[phase.check]]\nid = \"clean\"\nkind = \"git\"\nclean = true\n",
    );
    run_git(&sandbox, &["add", "-A"]);
    run_git(&sandbox, &["commit", "-q", "-m", "First"]);
    agent(&sandbox, &["start", "w", "--id", "s"]).ok();
    sandbox
}

fn run_git(sandbox: &Sandbox, words: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=anna", "-c", "user.email=anna@example.org", "-c", "commit.gpgsign=false"]);
    git.args(words).current_dir(sandbox.project()).env("HOME", sandbox.folder());
    assert!(git.env("GIT_CONFIG_NOSYSTEM", "1").status().unwrap().success(), "git {words:?}");
}

fn at_the_gate() -> Vec<Cheat> {
    vec![
        row("uses an approval for another text", Met::Refused(5), || {
            refused(|sandbox| {
                sandbox.run_as_person(["approve", "agreed"]).ok();
                sandbox.write(PLAN, "another plan\n");
                vec![agent(sandbox, &["advance", "--phase", "plan"])]
            })
        }),
        row("gives evidence of the wrong type", Met::Refused(5), || {
            refused(|sandbox| {
                sandbox.run_as_person(["approve", "agreed"]).ok();
                agent(sandbox, &["advance", "--phase", "plan"]).ok();
                vec![agent(sandbox, &["advance", "--phase", "test", "--evidence", "passed=all"])]
            })
        }),
        row("brings back an approval that a person took back", Met::Refused(6), || {
            refused(|sandbox| {
                let view = sandbox.run_as_person(["approve", "agreed", "--json"]).ok().json();
                sandbox.run_as_person(["undo"]).ok();
                let to = view["version"].to_string();
                let undone = agent(sandbox, &["undo", "--to", &to]);
                agent(sandbox, &["advance", "--phase", "plan"]).code(5);
                vec![undone]
            })
        }),
        row("brings back an override that a person took back", Met::Refused(6), || {
            refused(|sandbox| {
                let view = sandbox.run_as_person(["advance", "--override", "late", "--json"]).ok().json();
                sandbox.run_as_person(["undo"]).ok();
                vec![agent(sandbox, &["undo", "--to", &view["version"].to_string()])]
            })
        }),
        row("shows git another repository", Met::Refused(5), || {
            let sandbox = with_clean_worktree_asked();
            sandbox.write("new.txt", "not committed\n");
            let other = sandbox.folder().join("other").display().to_string();
            run_git(&sandbox, &["init", "-q", &other]);
            let mut command = sandbox.command(["advance", "--phase", "all"]);
            command.env("GIT_DIR", format!("{other}/.git")).env("GIT_WORK_TREE", &other);
            let ran = Ran::from(command.env("LEFTOFF_AGENT_SESSION", CLAUDE).output().unwrap());
            (sandbox, vec![ran])
        }),
        row("purges the evidence of it", Met::Refused(6), || {
            refused(|sandbox| {
                agent(sandbox, &["note", "the tests do not pass"]).ok();
                vec![agent(sandbox, &["purge", "the tests do not pass", "--yes"])]
            })
        }),
        row("moves the run to a weaker workflow", Met::Refused(6), || {
            refused(|sandbox| {
                sandbox.write(".leftoff/workflows/w.toml", "name = \"w\"\n[[phase]]\nid = \"plan\"\n");
                vec![agent(sandbox, &["workflow", "update", "--yes"])]
            })
        }),
    ]
}

fn in_files() -> Vec<Cheat> {
    vec![
        row("edits a layout's state file", Met::Visible("is claimed"), || {
            let sandbox = git();
            sandbox.write(".ocr/config.yaml", "");
            let started = sandbox.run(["start", "review", "--layout", "ocr", "--json"]).ok().json();
            let path = format!(".ocr/sessions/{}/state.json", started["session_id"].as_str().unwrap());
            let mut state: serde_json::Value = serde_json::from_str(&sandbox.read(&path)).unwrap();
            state["current_phase"] = json!("complete");
            state["phase_number"] = json!(8);
            state["status"] = json!("closed");
            sandbox.write(&path, &state.to_string());
            (sandbox, Vec::new())
        }),
        row(
            "says in praxis's file that a gate passed",
            Met::VisibleWith(&["--allow", "reported"], "phase 1 is claimed"),
            || {
                let sandbox = crate::praxis::started();
                crate::praxis::edit(&sandbox, crate::praxis::NEW, |state| {
                    state["current_phase"] = json!(2);
                    state["completed_phases"] = json!([0, 1]);
                    state["checkpoints"] = json!({ "0": "passed", "1": "passed" });
                    let artifact = |number: u32, evidence: serde_json::Value| {
                        json!({ "phase_number": number, "evidence": evidence, "outputs": {},
                            "commands_executed": [], "timestamp": "2026-11-14T11:30:00" })
                    };
                    state["phase_artifacts"] = json!({ "0": artifact(0, json!({})), "1": artifact(1, json!({ "tests": 3, "failed": 0 })) });
                });
                (sandbox, Vec::new())
            },
        ),
        row("sends an agent's events by hand", Met::Visible("phase plan is open"), || {
            refused(|sandbox| {
                for name in ["SessionStart", "PostToolUse", "Stop", "SessionEnd"] {
                    hook(sandbox, name);
                }
                Vec::new()
            })
        }),
        row(
            "starts with a weaker workflow and restores the file",
            Met::Visible("another definition"),
            || {
                let sandbox = started("[[phase]]\nid = \"plan\"\n");
                agent(&sandbox, &["advance", "--phase", "plan"]).ok();
                sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{WORK}"));
                (sandbox, Vec::new())
            },
        ),
        row(
            "hides the project's workflow behind the built-in one",
            Met::Visible("another definition of workflow spec"),
            || {
                let sandbox = git();
                agent(&sandbox, &["start", "spec", "--id", "s"]).ok();
                sandbox.write(".leftoff/workflows/spec.toml", &format!("name = \"spec\"\n{WORK}"));
                (sandbox, Vec::new())
            },
        ),
    ]
}

fn in_the_database() -> Vec<Cheat> {
    vec![
        row(
            "weakens the workflow in the database",
            Met::Visible("was changed after the run started"),
            || {
                after(|sandbox| {
                    tamper(
                        sandbox,
                        r#"UPDATE definitions SET body=replace(body,'"strict":true','"strict":false')"#,
                    );
                })
            },
        ),
        row("swaps a file after its gate", Met::Visible("changed since it was recorded"), || {
            after(|sandbox| sandbox.write(PLAN, "another plan\n"))
        }),
        row("swaps a file and records it again", Met::Visible("was recorded again"), || {
            after(|sandbox| {
                sandbox.write(PLAN, "another plan\n");
                agent(sandbox, &["reopen"]);
                agent(sandbox, &["artifact", "add", PLAN, "--phase", "ship"]).ok();
            })
        }),
        row("brings its own list of trusted commands", Met::Visible("not by a person"), || {
            let (sandbox, _) = refused(|_| Vec::new());
            sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"anyone\"\n");
            let own = sandbox.folder().join("own-state");
            accept_in(&own, &sandbox, r#"{"approve":"anyone"}"#);
            let mut command = sandbox.command(["approve", "agreed"]);
            command.env("LEFTOFF_AGENT_SESSION", CLAUDE).env("XDG_STATE_HOME", own);
            Ran::from(command.output().unwrap()).ok();
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            (sandbox, Vec::new())
        }),
        row("changes a row", Met::Visible("was changed after it was written"), || {
            after(|sandbox| tamper(sandbox, "UPDATE events SET actor=replace(actor,'agent','person')"))
        }),
        row("deletes rows", Met::Visible("events at the end are missing"), || {
            after(|sandbox| tamper(sandbox, "DELETE FROM events WHERE version>5"))
        }),
        row("removes the hash chain", Met::Visible("has no hash chain"), || {
            after(|sandbox| tamper(sandbox, "UPDATE sessions SET head=NULL"))
        }),
        row("edits the snapshot", Met::Visible("phase plan is open"), || {
            let (sandbox, _) = refused(|_| Vec::new());
            tamper(&sandbox, "UPDATE sessions SET phases_done=2,lifecycle='completed'");
            (sandbox, Vec::new())
        }),
        row("sets the clock back", Met::Visible("a clock was set back"), || {
            let sandbox = started(WORK);
            sandbox.at("2020-01-01T00:00:00Z");
            agent(&sandbox, &["note", "an old one"]).ok();
            (sandbox, Vec::new())
        }),
        row("sets the clock back little by little", Met::Visible("a clock was set back"), || {
            let sandbox = started(WORK);
            for minute in ["30", "26", "22"] {
                sandbox.at(&format!("2026-11-14T12:{minute}:00Z"));
                agent(&sandbox, &["note", "a little earlier"]).ok();
            }
            (sandbox, Vec::new())
        }),
        row("imports a bundle with an invented history", Met::Visible("phase plan is claimed"), || {
            let sandbox = proven();
            let path = sandbox.folder().join("s.leftoff").display().to_string();
            sandbox.run(["bundle", "create", &path]).ok();
            let invented = crate::bundles::forged(&path, |line| {
                if let Some(actor) = line["event"]["actor"].as_str() {
                    line["event"]["actor"] = json!(actor.replace("claude", "codex"));
                }
            });
            let there = git();
            there.write(".leftoff/workflows/w.toml", &sandbox.read(".leftoff/workflows/w.toml"));
            agent(&there, &["bundle", "take", &invented]).ok();
            (there, Vec::new())
        }),
        row(
            "puts another text under a signed approval in a bundle",
            Met::Visible("is claimed"),
            with_another_text,
        ),
    ]
}

/// Accepts a policy for this project, as a person who controls the list of what is trusted.
fn accept_in(state: &Path, sandbox: &Sandbox, policy: &str) {
    let root = sandbox.project().as_os_str().as_encoded_bytes();
    let hash: String = Sha256::digest(root).iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::create_dir_all(state.join("leftoff/trust")).unwrap();
    std::fs::write(state.join(format!("leftoff/trust/policy-{hash}")), policy).unwrap();
}

/// Anna signed her approval of one text. The bundle contains another text, which was recorded after her
/// signature.
fn with_another_text() -> (Sandbox, Vec<Ran>) {
    const AGREED: &str = ".leftoff/sessions/s/AGREED.md";
    let sandbox = started(
        "[[phase]]\nid = \"agree\"\nproduces = [\"AGREED.md\"]\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n",
    );
    let (anna, line) = key(&sandbox, "anna");
    sandbox.write(".leftoff/allowed_signers", &line);
    sandbox.run_as_person(["trust", "--policy", "--yes"]).ok();
    sandbox.write(AGREED, "what was agreed\n");
    approve_signed(&sandbox, &anna, &["--sign"]).ok();
    agent(&sandbox, &["advance", "--phase", "agree"]).ok();
    let path = sandbox.folder().join("s.leftoff").display().to_string();
    sandbox.run(["bundle", "create", &path]).ok();
    let there = git();
    for file in [".leftoff/workflows/w.toml", ".leftoff/allowed_signers", AGREED] {
        there.write(file, &sandbox.read(file));
    }
    there.run_as_person(["trust", "--policy", "--yes"]).ok();
    verified(&there, &["--bundle", &path]).ok();
    let hash = |text: &str| -> String {
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let invented = crate::bundles::forged(&path, |line| {
        if line["event"]["kind"] == "artifact_recorded" {
            let body = line["event"]["body"].as_str().unwrap();
            line["event"]["body"] = json!(body.replace(&hash("what was agreed\n"), &hash("anything\n")));
        }
    });
    there.write(AGREED, "anything\n");
    agent(&there, &["bundle", "take", &invented]).ok();
    (there, Vec::new())
}

fn past_leftoff() -> Vec<Cheat> {
    vec![
        row("lets git ignore its changes", Met::GetsThrough, || {
            let sandbox = with_clean_worktree_asked();
            sandbox.write("more.txt", "after\n");
            sandbox.write(".git/info/exclude", "more.txt\n");
            agent(&sandbox, &["advance", "--phase", "all"]).ok();
            (sandbox, Vec::new())
        }),
        row("edits the script that a trusted command runs", Met::GetsThrough, || {
            let sandbox = started(
                "[[phase]]\nid = \"all\"\n[[phase.check]]\nid = \"tests\"\nkind = \"command\"\nrun = \"sh tests.sh\"\n",
            );
            sandbox.write("tests.sh", "exit 1\n");
            sandbox.run_as_person(["trust", "w", "--yes"]).ok();
            agent(&sandbox, &["advance", "--phase", "all"]).code(5);
            sandbox.write("tests.sh", "exit 0\n");
            agent(&sandbox, &["advance", "--phase", "all"]).ok();
            (sandbox, Vec::new())
        }),
        row("deletes a session as a whole", Met::GetsThrough, || {
            let (sandbox, _) = refused(|_| Vec::new());
            sandbox.write(".leftoff/workflows/easy.toml", "name = \"easy\"\n[[phase]]\nid = \"only\"\n");
            agent(&sandbox, &["start", "easy", "--id", "t", "--parallel"]).ok();
            agent(&sandbox, &["advance", "--session", "t"]).ok();
            verified(&sandbox, &["--branch", "main"]).code(5);
            let of_it = "(SELECT number FROM sessions WHERE id='s')";
            for table in ["events", "snapshots", "items", "needs", "activity", "views"] {
                let _ = database(&sandbox).execute(&format!("DELETE FROM {table} WHERE session={of_it}"), []);
            }
            tamper(&sandbox, "DELETE FROM sessions WHERE id='s'");
            verified(&sandbox, &["--branch", "main"]).ok();
            (sandbox, Vec::new())
        }),
        row("works in a workflow without gates", Met::GetsThrough, || {
            let sandbox = started("[[phase]]\nid = \"all\"\n");
            agent(&sandbox, &["advance", "--phase", "all"]).ok();
            (sandbox, Vec::new())
        }),
        row("runs a gate with programs of its own", Met::GetsThrough, || {
            let sandbox = started(
                "[[phase]]\nid = \"all\"\n[[phase.check]]\nid = \"clean\"\nkind = \"git\"\nclean = true\n",
            );
            let bin = sandbox.folder().join("bin");
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("git"), "#!/bin/sh\nexit 0\n").unwrap();
            std::fs::set_permissions(bin.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
            let mut command = sandbox.command(["advance", "--phase", "all"]);
            command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
            Ran::from(command.env("LEFTOFF_AGENT_SESSION", CLAUDE).output().unwrap()).ok();
            (sandbox, Vec::new())
        }),
        row("computes a new chain where no person and no run's end was noted", Met::GetsThrough, || {
            after(|sandbox| {
                agent(sandbox, &["reopen"]).ok();
                let rows = database(sandbox);
                let kept = "(SELECT max(version)-1 FROM events)";
                rows.execute(&format!("UPDATE sessions SET head=(SELECT link FROM events WHERE version={kept}),version={kept}"), [])
                    .unwrap();
                rows.execute("DELETE FROM events WHERE version=(SELECT max(version) FROM events)", [])
                    .unwrap();
            })
        }),
    ]
}

/// Cheats that change the rules, or who seems to run a command.
fn past_conditions() -> Vec<Cheat> {
    vec![
        row("says in a field that a phase does not apply", Met::GetsThrough, || {
            let sandbox = started(
                "[[phase]]\nid = \"a\"\n[[phase]]\nid = \"audit\"\nwhen = \"session.fields.risky == true\"\n\
                 [[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n[fields]\nrisky = { type = \"boolean\", default = true }\n",
            );
            agent(&sandbox, &["set", "risky=false"]).ok();
            agent(&sandbox, &["advance", "--phase", "a"]).ok();
            let said = sandbox.run(["verify"]).ok().stdout;
            assert!(said.contains("because of the field risky, last set by claude a4326893"), "{said}");
            (sandbox, Vec::new())
        }),
        row("removes the file that makes a phase apply", Met::GetsThrough, || {
            let sandbox = started(
                "[[phase]]\nid = \"a\"\n[[phase]]\nid = \"audit\"\nwhen = \"exists('RISKY.md')\"\n\
                 [[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n",
            );
            sandbox.write(".leftoff/sessions/s/RISKY.md", "very\n");
            std::fs::remove_file(sandbox.path(".leftoff/sessions/s/RISKY.md")).unwrap();
            agent(&sandbox, &["advance", "--phase", "a"]).ok();
            let said = sandbox.run(["verify"]).ok().stdout;
            assert!(said.contains("because .leftoff/sessions/s/RISKY.md is missing; git has no"), "{said}");
            (sandbox, Vec::new())
        }),
        row("leaves the workflow weakened", Met::GetsThrough, || {
            let sandbox = with_clean_worktree_asked();
            agent(&sandbox, &["abandon", "s"]).ok();
            sandbox.write(".leftoff/workflows/w.toml", "name = \"w\"\n[[phase]]\nid = \"all\"\n");
            agent(&sandbox, &["start", "w", "--id", "t"]).ok();
            agent(&sandbox, &["advance", "--phase", "all"]).ok();
            run_git(&sandbox, &["update-index", "--assume-unchanged", ".leftoff/workflows/w.toml"]);
            let said = sandbox.run(["verify"]).ok().stdout;
            assert!(said.contains("the definition of workflow w differs from the committed one"), "{said}");
            (sandbox, Vec::new())
        }),
        row("leaves its process and its environment behind", Met::GetsThrough, || {
            let (sandbox, _) = refused(|_| Vec::new());
            sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{WORK}"));
            sandbox.run_as_person(["approve", "agreed"]).ok();
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            agent(&sandbox, &["advance", "--phase", "test", "--evidence", "passed=3"]).ok();
            (sandbox, Vec::new())
        }),
    ]
}

#[test]
fn every_cheat_is_refused_or_visible_or_said_to_get_through() {
    let failed: Vec<String> = cheats().iter().filter_map(|cheat| not_met(cheat).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let all = cheats();
    let through = all.iter().filter(|cheat| matches!(cheat.met, Met::GetsThrough)).count();
    let result =
        format!("{} refused or visible, {through} get through and are listed as such", all.len() - through);
    testkit::proof::proven("a cheating agent", &format!("{} cheats", all.len()), 0, &result);
}

/// Plays a cheat. Returns what happened if that differs from the table.
fn not_met(cheat: &Cheat) -> Result<(), String> {
    let (sandbox, ran) = (cheat.play)();
    let wrong = |ran: &Ran| format!("{}: {} {} {}", cheat.name, ran.code, ran.stdout, ran.stderr);
    let seen = |how: &[&str], why: &str| {
        let ran = verified(&sandbox, how);
        let is_said = ran.code == 5 && ran.error()["message"].as_str().is_some_and(|said| said.contains(why));
        if is_said { Ok(()) } else { Err(wrong(&ran)) }
    };
    match cheat.met {
        Met::Refused(code) => {
            assert!(!ran.is_empty(), "{}: nothing was tried", cheat.name);
            ran.iter().find(|one| one.code != code).map_or(Ok(()), |one| Err(wrong(one)))?;
            seen(&["--allow", "reported"], "")
        }
        Met::Visible(why) => seen(&[], why),
        Met::VisibleWith(how, why) => seen(how, why),
        Met::GetsThrough => {
            let ran = verified(&sandbox, &["--allow", "reported"]);
            if ran.code == 0 { Ok(()) } else { Err(wrong(&ran)) }
        }
    }
}

#[test]
fn a_head_that_was_written_down_catches_a_new_chain() {
    let sandbox = proven();
    agent(&sandbox, &["reopen"]).ok();
    let head = report(&verified(&sandbox, &[]).ok())["head"].as_str().unwrap().to_owned();
    let rows = database(&sandbox);
    let before = "(SELECT link FROM events WHERE version=(SELECT max(version)-1 FROM events))";
    rows.execute(&format!("UPDATE sessions SET head={before},version=version-1"), []).unwrap();
    rows.execute("DELETE FROM events WHERE version=(SELECT max(version) FROM events)", []).unwrap();
    verified(&sandbox, &[]).ok();
    let said = unproven(&sandbox, &["--head", &head]);
    assert!(said.contains("does not contain the head"), "{said}");
}

#[test]
fn a_deleted_note_about_a_history_is_missed() {
    let sandbox = proven();
    let remarks = |sandbox: &Sandbox| report(&verified(sandbox, &[]).ok())["remarks"].to_string();
    assert!(!remarks(&sandbox).contains("not_noted"));
    std::fs::remove_dir_all(elsewhere::noted_heads(&sandbox)).unwrap();
    assert!(remarks(&sandbox).contains("not_noted"));
}

/// Compares the cheats with the rows of the table in the guide, in their order.
#[test]
fn the_guide_has_a_row_for_every_cheat() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/trust.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let table = text.split("| cheat | what happens |").nth(1).expect("a table of cheats");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let shown: Vec<(String, bool)> = rows
        .map(|line| {
            let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
            let name = cells.next().unwrap_or_default().to_owned();
            (name, cells.next().is_some_and(|what| what.starts_with("**gets through**")))
        })
        .collect();
    let known: Vec<(String, bool)> =
        cheats().iter().map(|cheat| (cheat.name.to_owned(), matches!(cheat.met, Met::GetsThrough))).collect();
    assert_eq!(shown, known);
}
