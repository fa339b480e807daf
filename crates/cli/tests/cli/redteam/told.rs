//! Cheats by false statements: ticked boxes in files, conditions that are false for a moment, histories under
//! another name.

use super::running::in_snapshot;
use super::{Cheat, Met, PLAN, WORK, agent, hook, refused, row, run_git, with_clean_worktree_asked};
use crate::gates::started;
use crate::git;
use crate::verify::{database, proven, tamper};
use serde_json::{Value, json};
use testkit::{Ran, Sandbox};

/// A phase that requires all items to be done.
pub(super) const ITEMS: &str =
    "[[phase]]\nid = \"build\"\nitems = \"task\"\n[[phase.check]]\nid = \"all\"\nkind = \"items\"\n";

/// A workflow whose second phase applies only if a file exists.
const BY_FILE: &str = "[[phase]]\nid = \"a\"\n[[phase]]\nid = \"audit\"\nwhen = \"exists('RISKY.md')\"\n\
    [[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n";
const RISKY: &str = ".leftoff/sessions/s/RISKY.md";

/// A workflow whose second phase applies only if a field is set.
const BY_FIELD: &str = "[[phase]]\nid = \"a\"\n[[phase]]\nid = \"audit\"\nwhen = \"session.fields.risky == true\"\n\
    [[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n[fields]\nrisky = { type = \"boolean\", default = true }\n";

/// A workflow that requires a file, and a field that says that the tests pass.
const GREEN: &str = "[[phase]]\nid = \"build\"\n[[phase.check]]\nid = \"built\"\nkind = \"artifact\"\npath = \"B.md\"\n\
    [[phase.check]]\nid = \"green\"\nkind = \"expr\"\nexpr = \"session.fields.green == 'yes'\"\n";

/// A workflow in which only the first phase has checks.
const PLANNED: &str = "[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"plan\"\nkind = \"artifact\"\npath = \"PLAN.md\"\n\
    [[phase]]\nid = \"ship\"\n";

pub(super) fn cheats() -> Vec<Cheat> {
    [in_lists(), by_conditions(), by_purges(), under_other_names()].into_iter().flatten().collect()
}

fn in_lists() -> Vec<Cheat> {
    vec![
        row("ticks the boxes of a list before it imports it", Met::Visible("phase build is claimed"), || {
            let sandbox = git();
            sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{ITEMS}"));
            sandbox.write("TASKS.md", "- [x] one\n- [x] two\n");
            agent(&sandbox, &["start", "w", "--id", "s", "--from", "TASKS.md"]).ok();
            agent(&sandbox, &["advance", "--phase", "build"]).ok();
            (sandbox, Vec::new())
        }),
        row("ticks the boxes of a list and imports it again", Met::Visible("phase build is claimed"), || {
            let sandbox = started(ITEMS);
            for list in ["- [ ] one\n- [ ] two\n", "- [ ] one\n- [x] two\n"] {
                sandbox.write("TASKS.md", list);
                agent(&sandbox, &["import", "TASKS.md"]).ok();
            }
            agent(&sandbox, &["item", "done", "one"]).ok();
            agent(&sandbox, &["advance", "--phase", "build"]).ok();
            (sandbox, Vec::new())
        }),
        row("clears the mark of a ticked box", Met::Refused(2), || {
            let sandbox = started(ITEMS);
            sandbox.write("TASKS.md", "- [x] one\n");
            agent(&sandbox, &["import", "TASKS.md"]).ok();
            let ran = vec![
                agent(&sandbox, &["item", "set", "one", "claimed_in=null"]),
                agent(&sandbox, &["set", "--item", "one", "--unset", "claimed_in"]),
                agent(&sandbox, &["item", "add", "two", "--field", "claimed_in=2"]),
            ];
            (sandbox, ran)
        }),
        row("ticks tasks in another tool's files", Met::Visible("phase implement is claimed"), || {
            let sandbox = git();
            agent(&sandbox, &["start", "ccw", "--layout", "ccw", "--title", "t"]).ok();
            sandbox.write(".workflow/WFS-t/IMPL_PLAN.md", "build it\n");
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            agent(&sandbox, &["item", "add", "build it"]).ok();
            edit(&sandbox, ".workflow/WFS-t/.task/impl-1.json", |task| task["status"] = json!("completed"));
            agent(&sandbox, &["advance", "--phase", "implement"]).ok();
            agent(&sandbox, &["advance", "--phase", "review"]).ok();
            (sandbox, Vec::new())
        }),
    ]
}

fn by_conditions() -> Vec<Cheat> {
    vec![
        row(
            "moves the file that makes a phase apply away and back",
            Met::Visible("its condition is not false now"),
            || {
                let sandbox = started(BY_FILE);
                agent(&sandbox, &["advance", "--phase", "a"]).ok();
                sandbox.write(RISKY, "very\n");
                (sandbox, Vec::new())
            },
        ),
        row(
            "moves the file away for a run, and back in the next",
            Met::Visible("its condition is not false now"),
            || {
                let sandbox = started(BY_FILE);
                sandbox.write(".leftoff/workflows/easy.toml", "name = \"easy\"\n[[phase]]\nid = \"only\"\n");
                agent(&sandbox, &["advance", "--phase", "a"]).ok();
                agent(&sandbox, &["run", "start", "easy"]).ok();
                sandbox.write(RISKY, "very\n");
                agent(&sandbox, &["advance", "--phase", "only"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "deletes the committed file that makes a phase apply",
            Met::Visible("RISKY.md is missing, although it is committed"),
            || {
                let sandbox = in_repository(BY_FILE);
                sandbox.write(RISKY, "very\n");
                run_git(&sandbox, &["add", "--force", RISKY]);
                run_git(&sandbox, &["commit", "-q", "-m", "It is risky"]);
                std::fs::remove_file(sandbox.path(RISKY)).unwrap();
                agent(&sandbox, &["advance", "--phase", "a"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "writes a file so that a phase does not apply",
            Met::Visible("RISKY.md exists, which is neither committed nor recorded"),
            || {
                let sandbox = in_repository(&BY_FILE.replace("exists(", "!exists("));
                sandbox.write(RISKY, "not at all\n");
                agent(&sandbox, &["advance", "--phase", "a"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "sets the field that makes a phase apply, and then sets it back",
            Met::Visible("its condition is not false now"),
            || {
                let sandbox = started(BY_FIELD);
                agent(&sandbox, &["set", "risky=false"]).ok();
                agent(&sandbox, &["advance", "--phase", "a"]).ok();
                agent(&sandbox, &["reopen"]).ok();
                agent(&sandbox, &["set", "risky=true"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "says for a moment in another tool's file that a phase does not apply",
            Met::Visible("phase plan: it was skipped as not applicable, but its condition is not false now"),
            || {
                let sandbox = git();
                agent(&sandbox, &["start", "ccw", "--layout", "ccw", "--title", "t"]).ok();
                let path = ".workflow/WFS-t/workflow-session.json";
                edit(&sandbox, path, |state| {
                    state["type"] = json!("simple");
                    state["current_phase"] = json!("IMPLEMENT");
                });
                agent(&sandbox, &["note", "simple"]).ok();
                edit(&sandbox, path, |state| state["type"] = json!("medium"));
                agent(&sandbox, &["note", "not simple"]).ok();
                (sandbox, Vec::new())
            },
        ),
    ]
}

fn by_purges() -> Vec<Cheat> {
    vec![
        row("edits the snapshot after a person's purge", Met::Visible("judged another state"), || {
            let sandbox = with_secret_note();
            sandbox.run_as_person(["purge", "abracadabra", "--yes"]).ok();
            pass_with_edited_snapshot(&sandbox);
            (sandbox, Vec::new())
        }),
        row("edits the snapshot and asks for a purge", Met::Visible("judged another state"), || {
            let sandbox = with_secret_note();
            pass_with_edited_snapshot(&sandbox);
            sandbox.run_as_person(["purge", "abracadabra", "--session", "s", "--yes"]).ok();
            (sandbox, Vec::new())
        }),
        row("lets the text that its gate judged be purged", Met::Visible("was purged"), || {
            let sandbox = with_secret_note();
            agent(&sandbox, &["set", "remark=abracadabra"]).ok();
            pass_with_edited_snapshot(&sandbox);
            sandbox.run_as_person(["purge", "abracadabra", "--session", "s", "--yes"]).ok();
            (sandbox, Vec::new())
        }),
    ]
}

fn under_other_names() -> Vec<Cheat> {
    vec![
        row("brings back a phase that a person opened again", Met::Refused(6), || {
            let sandbox = started(PLANNED);
            sandbox.write(PLAN, "the plan\n");
            let view = agent(&sandbox, &["advance", "--phase", "plan", "--json"]).ok().json();
            sandbox.run_as_person(["rollback", "plan", "--reason", "it is too thin"]).ok();
            let ran = agent(&sandbox, &["undo", "--to", &view["version"].to_string()]);
            (sandbox, vec![ran])
        }),
        row(
            "takes back the items that a person added",
            Met::VisibleWith(&["--allow", "reported"], "taking back items that a person added, is by claude"),
            || {
                let sandbox = started(ITEMS);
                let view = agent(&sandbox, &["item", "add", "Easy", "--id", "task-1", "--json"]).ok().json();
                sandbox.run_as_person(["item", "add", "Hard", "--id", "task-2"]).ok();
                agent(&sandbox, &["undo", "--to", &view["version"].to_string()]).ok();
                agent(&sandbox, &["item", "done", "task-1"]).ok();
                agent(&sandbox, &["advance", "--phase", "build"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "gives a proven history the id of another session",
            Met::VisibleWith(
                &["--session", "t", "--allow", "reported"],
                "the session's history is that of session s",
            ),
            || {
                let sandbox = proven();
                agent(&sandbox, &["start", "w", "--id", "t"]).ok();
                tamper(&sandbox, "UPDATE sessions SET id='other' WHERE id='t'");
                tamper(&sandbox, "UPDATE sessions SET id='t' WHERE id='s'");
                (sandbox, Vec::new())
            },
        ),
    ]
}

/// Cheats that nobody notices. The guide says why.
pub(super) fn through() -> Vec<Cheat> {
    vec![
        row("adds no items where all of them must be done", Met::GetsThrough, || {
            let sandbox = started(ITEMS);
            agent(&sandbox, &["advance", "--phase", "build"]).ok();
            (sandbox, Vec::new())
        }),
        row("puts its changes aside while the gate runs", Met::GetsThrough, || {
            let sandbox = with_clean_worktree_asked();
            sandbox.write("work.txt", "after\n");
            agent(&sandbox, &["advance", "--phase", "all"]).code(5);
            run_git(&sandbox, &["stash", "-q"]);
            agent(&sandbox, &["advance", "--phase", "all"]).ok();
            run_git(&sandbox, &["stash", "pop", "-q"]);
            (sandbox, Vec::new())
        }),
        row("touches a file instead of improving it", Met::GetsThrough, || {
            let sandbox = started(PLANNED);
            sandbox.write(PLAN, "thin\n");
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            sandbox.run_as_person(["rollback", "plan", "--reason", "it is too thin"]).ok();
            sandbox.write(PLAN, "thin\n");
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            agent(&sandbox, &["advance", "--phase", "ship"]).ok();
            (sandbox, Vec::new())
        }),
        row("gives proven work another title in another tool's file", Met::GetsThrough, || {
            let sandbox = git();
            agent(&sandbox, &["start", "ccw", "--layout", "ccw", "--title", "t"]).ok();
            sandbox.write(".workflow/WFS-t/IMPL_PLAN.md", "build it\n");
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            agent(&sandbox, &["item", "add", "build it"]).ok();
            agent(&sandbox, &["item", "done", "impl-1"]).ok();
            agent(&sandbox, &["advance", "--phase", "implement"]).ok();
            agent(&sandbox, &["advance", "--phase", "review"]).ok();
            let path = ".workflow/WFS-t/workflow-session.json";
            edit(&sandbox, path, |state| state["project"] = json!("something else"));
            agent(&sandbox, &["note", "something else"]);
            let said = sandbox.run(["verify"]).ok().stdout;
            assert!(said.contains("when phase plan ended, the session was called \"t\""), "{said}");
            (sandbox, Vec::new())
        }),
        row("deletes the record of its process", Met::GetsThrough, || {
            let (sandbox, _) = refused(|_| Vec::new());
            sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{WORK}"));
            hook(&sandbox, "SessionStart");
            sandbox.run_as_person(["approve", "agreed"]).code(6);
            tamper(&sandbox, "DELETE FROM agents");
            sandbox.run_as_person(["approve", "agreed"]).ok();
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            agent(&sandbox, &["advance", "--phase", "test", "--evidence", "passed=3"]).ok();
            (sandbox, Vec::new())
        }),
    ]
}

fn edit(sandbox: &Sandbox, path: &str, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&sandbox.read(path)).unwrap();
    change(&mut value);
    sandbox.write(path, &value.to_string());
}

/// A session in a real repository. The workflow is committed.
fn in_repository(phases: &str) -> Sandbox {
    let sandbox = Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    run_git(&sandbox, &["init", "-q", "-b", "main"]);
    sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{phases}"));
    run_git(&sandbox, &["add", "-A"]);
    run_git(&sandbox, &["commit", "-q", "-m", "First"]);
    agent(&sandbox, &["start", "w", "--id", "s"]).ok();
    sandbox
}

/// A session in which the tests do not pass. A note says that they do not, and a person purges it.
fn with_secret_note() -> Sandbox {
    let sandbox = started(GREEN);
    agent(&sandbox, &["note", "the word is abracadabra"]).ok();
    agent(&sandbox, &["set", "green=no"]).ok();
    sandbox.write(".leftoff/sessions/s/B.md", "built\n");
    sandbox
}

/// Passes the gate, while the snapshot claims that the tests pass.
fn pass_with_edited_snapshot(sandbox: &Sandbox) -> Ran {
    in_snapshot(sandbox, |body| body.replace(r#""green":"no""#, r#""green":"yes""#));
    let ran = agent(sandbox, &["advance", "--phase", "build"]).ok();
    let passed: u32 = database(sandbox)
        .query_row("SELECT count(*) FROM events WHERE kind='phase_completed'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(passed, 1);
    ran
}
