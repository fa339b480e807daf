//! Cheats about who runs a command: an agent that hides its variables, or that is started by a person's
//! command.

use super::{CLAUDE, Cheat, Met, agent, given, refused, row};
use crate::gates::started;
use crate::verify::tamper;
use std::path::PathBuf;
use std::process::Command;
use testkit::{Ran, Sandbox};

pub(super) fn cheats() -> Vec<Cheat> {
    vec![
        row("hides its variables behind a long row of shells", Met::Refused(6), || {
            refused(|sandbox| {
                let script = sandbox.folder().join("row.sh");
                let line = format!("{} approve agreed", program(sandbox));
                let next = "env -u CLAUDECODE sh \"$0\" $(($1 - 1)); exit $?";
                std::fs::write(&script, format!("[ \"$1\" -gt 0 ] && {{ {next}; }}\n{line}; exit $?\n"))
                    .unwrap();
                vec![below(sandbox, &format!("sh {} 40", script.display()), ("CLAUDECODE", "1"))]
            })
        }),
        row("replaces its shell, and with it its variables", Met::Refused(6), || {
            refused(|sandbox| {
                let own = own_program(sandbox, "claude");
                let inner = format!("exec env -u CLAUDECODE {} approve agreed", program(sandbox));
                let line = format!("{} -c 'CLAUDECODE=1 sh -c \"{inner}\"; exit $?'", own.display());
                vec![below(sandbox, &line, ("NOBODY", "1"))]
            })
        }),
        row("removes the name that its hook gave it", Met::Refused(6), || {
            refused(|sandbox| {
                let names = [("LEFTOFF_AGENT_SESSION", CLAUDE), ("CLAUDE_SESSION_ID", "a4326893")];
                let without = |name: &str| format!("env -u {name} {} approve agreed", program(sandbox));
                names.map(|variable| below(sandbox, &without(variable.0), variable)).into()
            })
        }),
        row("trusts a command by its own hash, without its variables", Met::Refused(5), || {
            let sandbox = with_command("true");
            let hash = sandbox.run(["trust", "--print", "w"]).ok().stdout;
            let mut shell = Command::new("sh");
            let line = format!("env -u CLAUDECODE {} advance --phase all; exit $?", program(&sandbox));
            surround(&sandbox, shell.args(["-c", &line]));
            shell.env("CLAUDECODE", "1").env("LEFTOFF_TRUST", hash.trim());
            let ran = Ran::from(shell.output().unwrap());
            (sandbox, vec![ran])
        }),
        row("opens a terminal in the command of a check", Met::Refused(5), || {
            let sandbox = with_command("sh tests.sh");
            sandbox.run_as_person(["trust", "w", "--yes"]).ok();
            let approve = format!("{} approve agreed", program(&sandbox));
            sandbox.write(
                "tests.sh",
                &format!("env -u LEFTOFF_CHECK script -qec '{approve}' /dev/null </dev/null\nexit 0\n"),
            );
            // A person runs the gate, so no parent of the command is an agent.
            let mut gate = testkit::at_terminal(&format!("{} advance --phase all", program(&sandbox)));
            surround(&sandbox, &mut gate);
            let ran = Ran::from(gate.output().unwrap());
            (sandbox, vec![ran])
        }),
        row(
            "shows leftoff its own accepted policy",
            Met::Visible("bringing back what a person took back"),
            || {
                let sandbox = started("[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"ship\"\n");
                let view = agent(&sandbox, &["advance", "--phase", "plan", "--json"]).ok().json();
                sandbox.run_as_person(["rollback", "plan", "--reason", "it is too thin"]).ok();
                with_own_policy(&sandbox, &["undo", "--to", &view["version"].to_string()]).ok();
                agent(&sandbox, &["advance", "--phase", "ship"]).ok();
                (sandbox, Vec::new())
            },
        ),
        row("purges under its own accepted policy", Met::Visible("purging text from the history"), || {
            let sandbox = started("[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"ship\"\n");
            agent(&sandbox, &["note", "the tests are red"]).ok();
            with_own_policy(&sandbox, &["purge", "the tests are red", "--yes"]).ok();
            agent(&sandbox, &["advance", "--phase", "plan"]).ok();
            agent(&sandbox, &["advance", "--phase", "ship"]).ok();
            (sandbox, Vec::new())
        }),
    ]
}

/// Cheats that succeed. The guide says why.
pub(super) fn through() -> Vec<Cheat> {
    vec![
        row("deletes all three records that a bundle was taken", Met::GetsThrough, || {
            let there = super::elsewhere::taken();
            tamper(&there, "DELETE FROM arrivals");
            std::fs::remove_file(there.path(".git/leftoff/arrived.json")).unwrap();
            std::fs::remove_dir_all(super::elsewhere::noted_heads(&there)).unwrap();
            (there, Vec::new())
        }),
        row("brings a signed bundle from before something was taken back", Met::GetsThrough, || {
            (super::elsewhere::took_older_bundle(), Vec::new())
        }),
    ]
}

/// A phase that is checked by a command, and by the approval of a person.
fn with_command(run: &str) -> Sandbox {
    started(&format!(
        "[[phase]]\nid = \"all\"\n[[phase.check]]\nid = \"tests\"\nkind = \"command\"\nrun = \"{run}\"\n\
         [[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n"
    ))
}

fn program(sandbox: &Sandbox) -> String {
    sandbox.command(["status"]).get_program().to_string_lossy().into_owned()
}

/// A shell that has the name of an agent's program.
fn own_program(sandbox: &Sandbox, name: &str) -> PathBuf {
    let own = sandbox.folder().join(name);
    std::fs::copy("/bin/sh", &own).unwrap();
    own
}

/// A command like those of the sandbox, but with parent processes.
fn surround(sandbox: &Sandbox, command: &mut Command) {
    let inner = sandbox.command(["status"]);
    command.current_dir(sandbox.project()).env_clear().envs(given(&inner)).env("TERM", "dumb");
    command.env_remove("LEFTOFF_TEST_ALONE");
}

/// Runs a shell line on a new terminal, with this variable set.
fn below(sandbox: &Sandbox, line: &str, variable: (&str, &str)) -> Ran {
    let mut shell = testkit::at_terminal(line);
    surround(sandbox, &mut shell);
    Ran::from(shell.env(variable.0, variable.1).output().unwrap())
}

/// Runs the agent's command with everything accepted, in another folder.
fn with_own_policy(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let before = std::fs::read_to_string(sandbox.path(".leftoff/config.toml")).unwrap_or_default();
    let rules = ["approve", "override", "skip", "purge"];
    let lines: String = rules.iter().map(|rule| format!("{rule} = \"anyone\"\n")).collect();
    sandbox.write(".leftoff/config.toml", &format!("[policy]\n{lines}"));
    let own = sandbox.folder().join("own-state");
    let accepted: serde_json::Map<String, serde_json::Value> =
        rules.iter().map(|rule| ((*rule).to_owned(), "anyone".into())).collect();
    super::accept_in(&own, sandbox, &serde_json::Value::Object(accepted).to_string());
    let mut command = sandbox.command(arguments);
    command.env("LEFTOFF_AGENT_SESSION", CLAUDE).env("XDG_STATE_HOME", own);
    let ran = Ran::from(command.output().unwrap());
    sandbox.write(".leftoff/config.toml", &before);
    ran
}
