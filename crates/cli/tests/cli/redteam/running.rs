//! Cheats while a gate runs: rows, snapshots and files that differ only while the gate runs, or that come
//! from another worktree.

use super::{CLAUDE, Cheat, Met, PLAN, WORK, agent, refused, row, run_git, with_clean_worktree_asked};
use crate::gates::started;
use crate::verify::{database, tamper};
use sha2::{Digest, Sha256};
use std::process::Command;
use testkit::{Ran, Sandbox};

/// A phase that requires all items to be done, and a field that says so.
const ITEMS: &str = r#"
[[phase]]
id = "build"
items = "task"
produces = ["BUILT.md"]
  [[phase.check]]
  id = "built"
  kind = "artifact"
  path = "BUILT.md"
"#;

pub(super) fn cheats() -> Vec<Cheat> {
    [in_rows(), in_files(), in_worktrees()].into_iter().flatten().collect()
}

fn in_rows() -> Vec<Cheat> {
    vec![
        row("weakens the workflow in the database while its gate runs", Met::Refused(1), || {
            refused(|sandbox| {
                let weaken = |from: &str, to: &str| {
                    tamper(sandbox, &format!("UPDATE definitions SET body=replace(body,'{from}','{to}')"));
                };
                weaken(r#""kind":"approval""#, r#""kind":"expr","expr":"true""#);
                let ran = agent(sandbox, &["advance", "--phase", "plan"]);
                weaken(r#""kind":"expr","expr":"true""#, r#""kind":"approval""#);
                vec![ran]
            })
        }),
        row(
            "lets the gate use another session's workflow by editing the snapshot",
            Met::VisibleWith(&["--session", "s"], "used another definition"),
            || {
                let (sandbox, _) = refused(|_| Vec::new());
                sandbox.write(
                    ".leftoff/workflows/easy.toml",
                    "name = \"easy\"\n[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"test\"\n",
                );
                agent(&sandbox, &["start", "easy", "--id", "t", "--parallel"]).ok();
                let of = |session: &str, field: &str| -> String {
                    let sql = format!(
                        "SELECT json_extract(body,'$.runs[0].{field}') FROM snapshots WHERE session=(SELECT number FROM sessions WHERE id='{session}')"
                    );
                    database(&sandbox).query_row(&sql, [], |row| row.get(0)).unwrap()
                };
                let replaced = ["workflow.hash", "definition"].map(|field| (of("s", field), of("t", field)));
                in_snapshot(&sandbox, |body| {
                    replaced.iter().fold(body.to_owned(), |body, (own, other)| body.replace(own, other))
                });
                agent(&sandbox, &["advance", "--session", "s"]).ok();
                agent(&sandbox, &["advance", "--session", "s"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row("counts items as done in the snapshot", Met::Visible("judged another state"), || {
            let sandbox = with_items("kind = \"items\"");
            in_snapshot(&sandbox, |body| body.replace(r#""total":2,"done":0"#, r#""total":2,"done":2"#));
            agent(&sandbox, &["advance", "--phase", "build"]).ok();
            (sandbox, Vec::new())
        }),
        row("marks items as done in their table", Met::Visible("judged another state"), || {
            let sandbox = with_items("kind = \"expr\"\nexpr = \"items.each.all(item, item.done)\"");
            tamper(
                &sandbox,
                "UPDATE items SET body=replace(body,'\"status\":\"pending\"','\"status\":\"completed\",\"completed_at\":\"2026-11-14T12:00:00Z\"')",
            );
            agent(&sandbox, &["advance", "--phase", "build"]).ok();
            (sandbox, Vec::new())
        }),
        row("sets a field in the snapshot", Met::Visible("judged another state"), || {
            let sandbox = started(&format!(
                "{ITEMS}  [[phase.check]]\n  id = \"safe\"\n  kind = \"expr\"\n  expr = \"session.fields.safe == true\"\n\
                 [fields]\nsafe = {{ type = \"boolean\", default = false }}\n"
            ));
            sandbox.write(".leftoff/sessions/s/BUILT.md", "built\n");
            agent(&sandbox, &["advance", "--phase", "build"]).code(5);
            in_snapshot(&sandbox, |body| body.replace(r#""safe":false"#, r#""safe":true"#));
            agent(&sandbox, &["advance", "--phase", "build"]).ok();
            (sandbox, Vec::new())
        }),
        row("puts an approval into the snapshot", Met::Visible("nobody approved it"), || {
            let (sandbox, _) = refused(|_| Vec::new());
            in_snapshot(&sandbox, |body| {
                let approval = r#""approvals":[{"phase":"plan","check":"agreed","by":"anna","at":"2026-11-14T12:00:00Z"}],"highest_note""#;
                body.replace("\"highest_note\"", approval)
            });
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            (sandbox, Vec::new())
        }),
        row("uses an approval that was given to another run", Met::Refused(5), || {
            refused(|sandbox| {
                sandbox.write(".leftoff/workflows/easy.toml", &format!("name = \"easy\"\n{WORK}"));
                agent(sandbox, &["run", "start", "easy"]).ok();
                sandbox.run_as_person(["approve", "agreed"]).ok();
                agent(sandbox, &["run", "start", "w"]).ok();
                vec![agent(sandbox, &["advance", "--phase", "plan"])]
            })
        }),
        row(
            "passes a weaker gate before the workflow is updated",
            Met::Visible("an earlier definition"),
            || {
                let sandbox = started("[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"test\"\n");
                sandbox.write(PLAN, "the plan\n");
                agent(&sandbox, &["advance", "--phase", "plan"]).ok();
                sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{WORK}"));
                sandbox.run_as_person(["workflow", "update", "--yes"]).ok();
                (sandbox, Vec::new())
            },
        ),
    ]
}

fn in_files() -> Vec<Cheat> {
    vec![
        row("swaps a file while the gate runs", Met::Refused(5), || {
            let sandbox = started(&format!(
                "{}  [[phase.check]]\n  id = \"slow\"\n  kind = \"command\"\n  run = \"sh slow.sh\"\n",
                WORK.split("[[phase]]\nid = \"test\"").next().unwrap()
            ));
            sandbox.write("slow.sh", "exit 0\n");
            sandbox.write(PLAN, "the plan\n");
            sandbox.run_as_person(["trust", "w", "--yes"]).ok();
            sandbox.run_as_person(["approve", "agreed"]).ok();
            sandbox.write("slow.sh", &format!("echo another plan >{PLAN}\n"));
            let ran = agent(&sandbox, &["advance", "--phase", "plan"]);
            assert!(ran.stderr.contains("changed since anna approved them"), "{}", ran.stderr);
            (sandbox, vec![ran])
        }),
        row(
            "excuses a swap with a later phase that only produces the file",
            Met::Visible("was recorded again"),
            || {
                let sandbox = started(
                    "[[phase]]\nid = \"plan\"\nproduces = [\"PLAN.md\"]\n[[phase.check]]\nid = \"plan\"\nkind = \"artifact\"\npath = \"PLAN.md\"\n\
                     [[phase]]\nid = \"build\"\nproduces = [\"PLAN.md\"]\n",
                );
                sandbox.write(PLAN, "the plan\n");
                agent(&sandbox, &["advance", "--phase", "plan"]).ok();
                sandbox.write(PLAN, "another plan\n");
                agent(&sandbox, &["advance", "--phase", "build"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row(
            "proves a file by a hard link and changes it under its other name",
            Met::Visible("changed since it was recorded"),
            || {
                let sandbox = started(
                    "[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"plan\"\nkind = \"artifact\"\npath = \"PLAN.md\"\n",
                );
                let outside = sandbox.folder().join("outside.md");
                std::fs::write(&outside, "the plan\n").unwrap();
                std::fs::create_dir_all(sandbox.path(".leftoff/sessions/s")).unwrap();
                std::fs::hard_link(&outside, sandbox.path(PLAN)).unwrap();
                agent(&sandbox, &["advance", "--phase", "plan"]).ok();
                std::fs::write(&outside, "another plan\n").unwrap();
                (sandbox, Vec::new())
            },
        ),
    ]
}

fn in_worktrees() -> Vec<Cheat> {
    vec![
        row("runs the gate from a clean worktree", Met::Refused(5), || {
            let sandbox = with_clean_worktree_asked();
            let clean = sandbox.folder().join("clean");
            run_git(&sandbox, &["worktree", "add", "-q", &clean.display().to_string()]);
            sandbox.write("new.txt", "not committed\n");
            let mut command = sandbox.command(["advance", "--phase", "all", "--session", "s"]);
            command.current_dir(clean).env("LEFTOFF_AGENT_SESSION", CLAUDE);
            let ran = vec![Ran::from(command.output().unwrap())];
            (sandbox, ran)
        }),
        row("hides its changes from git", Met::Refused(5), || {
            let sandbox = super::with_clean_worktree_asked();
            sandbox.write("work.txt", "after\n");
            let tried = ["--assume-unchanged", "--skip-worktree"].map(|how| {
                run_git(&sandbox, &["update-index", how, "work.txt"]);
                agent(&sandbox, &["advance", "--phase", "all"])
            });
            (sandbox, tried.into())
        }),
        row("names a clean worktree in git's configuration", Met::Refused(5), || {
            let sandbox = with_clean_worktree_asked();
            let clean = sandbox.folder().join("clean");
            let project = sandbox.project().to_owned();
            let cloned = Command::new("git").args(["clone", "-q"]).args([&project, &clean]).status().unwrap();
            assert!(cloned.success());
            sandbox.write("new.txt", "not committed\n");
            run_git(&sandbox, &["config", "core.worktree", &clean.display().to_string()]);
            let ran = vec![agent(&sandbox, &["advance", "--phase", "all"])];
            (sandbox, ran)
        }),
        row("trusts a command by its own hash", Met::Refused(5), || {
            let sandbox = started(
                "[[phase]]\nid = \"all\"\n[[phase.check]]\nid = \"tests\"\nkind = \"command\"\nrun = \"true\"\n",
            );
            let hash = sandbox.run(["trust", "--print", "w"]).ok().stdout;
            let mut command = sandbox.command(["advance", "--phase", "all"]);
            command.env("LEFTOFF_TRUST", hash.trim()).env("LEFTOFF_AGENT_SESSION", CLAUDE);
            let ran = vec![Ran::from(command.output().unwrap())];
            (sandbox, ran)
        }),
    ]
}

/// A session in a phase with a file and two open items. The phase has this check.
fn with_items(check: &str) -> Sandbox {
    let sandbox = started(&format!("{ITEMS}  [[phase.check]]\n  id = \"tasks\"\n  {check}\n"));
    sandbox.write(".leftoff/sessions/s/BUILT.md", "built\n");
    for title in ["one", "two"] {
        agent(&sandbox, &["item", "add", title]).ok();
    }
    agent(&sandbox, &["advance", "--phase", "build"]).code(5);
    sandbox
}

/// Changes the snapshot of session `s` together with its checksum.
pub(super) fn in_snapshot(sandbox: &Sandbox, change: impl Fn(&str) -> String) {
    let rows = database(sandbox);
    let of_it = "session=(SELECT number FROM sessions WHERE id='s')";
    let body: String =
        rows.query_row(&format!("SELECT body FROM snapshots WHERE {of_it}"), [], |row| row.get(0)).unwrap();
    let changed = change(&body);
    assert_ne!(changed, body, "nothing was changed in {body}");
    let sum = Sha256::digest(changed.as_bytes())[..8].to_vec();
    let sql = format!("UPDATE snapshots SET body=?1,sum=?2 WHERE {of_it}");
    rows.execute(&sql, rusqlite::params![changed, sum]).unwrap();
}
