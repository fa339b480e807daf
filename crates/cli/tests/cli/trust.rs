//! Tests of what only a person can do, and of who counts as a person.

use crate::gates::started;
use crate::git;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use testkit::{Ran, Sandbox};

const CLAUDE: &str = "claude:a4326893";

/// A workflow of two phases. The first has a gate that never passes.
const GATED: &str = "[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"never\"\nkind = \"expr\"\nexpr = \"false\"\n\
                     [[phase]]\nid = \"build\"\n";

/// Runs a command on a terminal, with this variable in the environment.
fn at_terminal_with(sandbox: &Sandbox, (name, value): (&str, &str), arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(arguments);
    command.env(name, value);
    sandbox.as_person(&command)
}

fn refused(ran: Ran) -> String {
    ran.code(6).stderr
}

#[test]
fn t1_only_a_person_skips_a_phase_that_has_a_gate() {
    let sandbox = started(GATED);
    let skip = ["skip", "--reason", "in a hurry"];
    let output = sandbox.command(skip).output().unwrap();
    let said = refused(Ran::from(output));
    assert!(said.contains("skipping a phase that has a gate needs a person"), "{said}");
    refused(sandbox.run_as(CLAUDE, skip));
    assert_eq!(sandbox.run(["status", "--json"]).json()["current_phase"]["id"], "plan");
    let view = sandbox.run_as_person(["skip", "--reason", "agreed with the customer", "--json"]).ok().json();
    assert_eq!(view["phases"][0]["outcome"], "skipped");
    // Anyone may skip a phase without a gate.
    sandbox.run_as(CLAUDE, ["skip", "--reason", "nothing to build"]).ok();
}

#[test]
fn t1_a_session_whose_phases_were_all_skipped_is_not_done() {
    let sandbox = started(GATED);
    sandbox.run_as_person(["skip", "--reason", "x"]).ok();
    let view = sandbox.run_as_person(["skip", "--reason", "x", "--json"]).ok().json();
    assert_eq!(view["progress"]["percent"], 0);
    assert_eq!(view["progress"]["outcomes"]["skipped"], 2);
    assert_eq!(view["completed_phases"], serde_json::json!([]));
    let status = sandbox.run(["status"]).ok().stdout;
    assert!(status.contains("0 of 2 phases done (0 %), 2 skipped"), "{status}");
    for format in ["text", "markdown"] {
        let brief = sandbox.run(["brief", "--format", format]).ok().stdout;
        assert!(brief.contains("2 skipped"), "{brief}");
        assert!(!brief.contains("100") && !brief.contains("all 2 phases"), "{brief}");
    }
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"][0]["phases_done"], 0);
}

#[test]
fn t1_only_a_person_closes_an_unfinished_session_or_purges() {
    let sandbox = started(GATED);
    refused(sandbox.run_as(CLAUDE, ["close", "--force"]));
    sandbox.run_as(CLAUDE, ["note", "the word is swordfish"]).ok();
    refused(sandbox.run_as(CLAUDE, ["purge", "swordfish", "--yes"]));
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["status"], "active");
    assert!(sandbox.run(["log"]).ok().stdout.contains("swordfish"));
    sandbox.run_as_person(["close", "--force"]).ok();
}

#[test]
fn t2_an_agent_at_a_terminal_is_no_person() {
    let sandbox = started(GATED);
    let skip = ["skip", "--reason", "x"];
    for marker in [("LEFTOFF_AGENT_SESSION", CLAUDE), ("CLAUDECODE", "1"), ("GEMINI_CLI", "1")] {
        let said = refused(at_terminal_with(&sandbox, marker, &skip));
        assert!(said.contains("this runs under"), "{said}");
    }
    // The process that sent the event of a hook is an agent. Commands of its children are the agent's, even
    // on a terminal.
    let event = serde_json::json!({ "session_id": "a4326893", "hook_event_name": "SessionStart",
        "source": "startup", "cwd": sandbox.project(), "transcript_path": "/dev/null" });
    sandbox.run_with_input(&["hook", "claude"], &event.to_string()).ok();
    refused(sandbox.run_as_person(skip));
}

#[test]
fn t3_a_weaker_policy_counts_only_when_a_person_accepted_it_here() {
    let sandbox = started(
        "[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n[[phase]]\nid = \"q\"\n",
    );
    sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"anyone\"\n");
    refused(sandbox.run_as(CLAUDE, ["approve", "agreed", "--by", "CEO"]));
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(status["warnings"][0]["kind"], "policy_not_accepted", "{status}");
    refused(sandbox.run_as(CLAUDE, ["trust", "--policy"]));
    refused(at_terminal_with(&sandbox, ("CLAUDECODE", "1"), &["trust", "--policy", "--yes"]));
    sandbox.run_as_person(["trust", "--policy", "--yes"]).ok();
    sandbox.run_as(CLAUDE, ["approve", "agreed", "--by", "CEO"]).ok();
    // The agent is recorded as the author, whatever name it gives.
    let gate = sandbox.run(["gate", "--json"]).json();
    let found = gate["checks"][0]["found"].as_str().unwrap();
    assert!(found.contains("approved by claude a4326893 (CEO)"), "{found}");
    // If the policy allows more than before, a person must accept it again.
    sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"anyone\"\nclose = \"anyone\"\n");
    refused(sandbox.run_as(CLAUDE, ["close", "--force"]));
}

#[test]
fn t4_an_agent_session_that_cannot_be_one_is_an_error_and_no_person() {
    let sandbox = started(GATED);
    for bad in ["claude", "claude:", ":a4326893", "claude:a b", "claude:a'b", "claude:../../x"] {
        let said = sandbox.run_as(bad, ["note", "x"]).code(2).stderr;
        assert!(said.contains("LEFTOFF_AGENT_SESSION"), "{said}");
        at_terminal_with(&sandbox, ("LEFTOFF_AGENT_SESSION", bad), &["skip", "--reason", "x"]).code(2);
        let mut hook = sandbox.command(["hook", "claude"]);
        assert!(
            hook.env("LEFTOFF_AGENT_SESSION", bad).output().unwrap().status.success(),
            "a hook never fails"
        );
    }
}

#[test]
fn t5_automation_runs_commands_that_are_trusted_by_their_hash() {
    let sandbox = git();
    let definition = |run: &str| {
        format!(
            "name = \"w\"\n[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"c\"\nkind = \"command\"\nrun = \"{run}\"\n"
        )
    };
    sandbox.write(".leftoff/workflows/w.toml", &definition("true"));
    let hash = sandbox.run(["trust", "--print", "w"]).ok().stdout.trim().to_owned();
    assert!(hash.starts_with("sha256:") && hash.len() == 71, "{hash}");
    sandbox.run(["start", "w", "--id", "s"]).ok();
    sandbox.run(["advance", "--phase", "p"]).code(5);
    let with_hash = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(["advance", "--phase", "p", "--json"]);
        command.env("LEFTOFF_TRUST", &hash).envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    };
    // An agent cannot make a definition trusted by giving its hash.
    with_hash(&[("LEFTOFF_AGENT_SESSION", CLAUDE)]).code(5);
    with_hash(&[("CLAUDECODE", "1")]).code(5);
    let view = with_hash(&[]).ok().json();
    let found = &view["phases"][0]["gate"]["checks"][0]["found"];
    assert!(found.as_str().unwrap().contains("trusted by LEFTOFF_TRUST"), "{found}");
}

#[test]
fn t3_the_policy_lists_a_line_for_each_signer_and_none_for_a_blank_line() {
    let sandbox = git();
    sandbox.write(".leftoff/allowed_signers", "anna@example.org ssh-ed25519 AAAA\n\n");
    let told = sandbox.run_as_person(["trust", "--policy", "--yes"]).ok();
    let told = format!("{}{}", told.stdout, told.stderr);
    let listed: Vec<&str> = told.lines().filter(|line| line.contains("may sign")).map(str::trim).collect();
    assert_eq!(listed, ["may sign: anna@example.org ssh-ed25519 AAAA"], "{told}");
}

#[test]
fn t3_only_the_signers_that_were_shown_are_accepted() {
    let sandbox = git();
    sandbox.write(".leftoff/allowed_signers", "anna@example.org ssh-ed25519 AAAA\n");
    let inner = sandbox.command(["trust", "--policy"]);
    let line = format!("{} trust --policy", inner.get_program().to_string_lossy());
    let mut asking = testkit::at_terminal(&line);
    asking.current_dir(sandbox.project()).env_clear().env("TERM", "dumb");
    asking.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut asking = asking.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(asking.stdout.take().unwrap()).lines();
    let shown = said.find_map(|line| line.ok().filter(|line| line.contains("may sign: anna"))).unwrap();
    assert!(!shown.contains("eve"), "{shown}");
    // Another program changes the file while the person reads the commands.
    sandbox.write(".leftoff/allowed_signers", "eve@example.org ssh-ed25519 AAAA\n");
    asking.stdin.take().unwrap().write_all(b"y\n").unwrap();
    said.for_each(drop);
    assert!(asking.wait().unwrap().success());
    let trusted = std::fs::read_dir(sandbox.folder().join("state/leftoff/trust")).unwrap();
    let mut signers = trusted
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("signers-"));
    let accepted = std::fs::read_to_string(signers.next().unwrap()).unwrap();
    assert_eq!(accepted, "anna@example.org ssh-ed25519 AAAA\n");
}

#[test]
fn t6_a_person_moves_a_running_session_to_an_edited_definition() {
    let sandbox = started(GATED);
    sandbox.write(
        ".leftoff/workflows/w.toml",
        "name = \"w\"\n[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"check\"\n[[phase]]\nid = \"build\"\n",
    );
    // A session in progress does not change if checks are removed from the definition's file.
    sandbox.run_as(CLAUDE, ["advance", "--phase", "plan"]).code(5);
    refused(sandbox.run_as(CLAUDE, ["workflow", "update"]));
    let moved = sandbox.run_as_person(["workflow", "update", "--yes"]).ok();
    for line in ["~ phase plan: - check never", "+ phase check"] {
        assert!(moved.stderr.contains(line), "{line:?} is not in {}", moved.stderr);
    }
    let view = sandbox.run_as(CLAUDE, ["advance", "--phase", "plan", "--json"]).ok().json();
    assert_eq!(view["current_phase"]["id"], "check");
    assert!(sandbox.run(["log"]).ok().stdout.contains("now follows w v1"));
    let again = sandbox.run_as_person(["workflow", "update", "--yes", "--json"]).ok().json();
    assert_eq!(again["already"], true);
    // The new definition must contain the current phase of the session.
    sandbox.write(".leftoff/workflows/w.toml", "name = \"w\"\n[[phase]]\nid = \"build\"\n");
    sandbox.run_as_person(["workflow", "update", "--yes"]).code(3);
}

/// The author of a session's last event.
fn last_actor(sandbox: &Sandbox) -> serde_json::Value {
    let log = sandbox.run(["log", "--json"]).ok().json();
    log["events"].as_array().unwrap().last().unwrap()["actor"].clone()
}

#[test]
fn the_log_says_who_it_was_and_how_that_was_decided() {
    let sandbox = started(GATED);
    let actor = last_actor(&sandbox);
    assert_eq!((&actor["kind"], &actor["name"]), (&"automation".into(), &"anna".into()));
    sandbox.run_as_person(["note", "at a terminal"]).ok();
    let actor = last_actor(&sandbox);
    assert_eq!((&actor["kind"], &actor["known_by"]), (&"person".into(), &"terminal".into()));
    sandbox.run_as(CLAUDE, ["note", "by an agent"]).ok();
    let actor = last_actor(&sandbox);
    assert_eq!((&actor["kind"], &actor["known_by"]), (&"agent".into(), &"environment".into()));
    at_terminal_with(&sandbox, ("CLAUDECODE", "1"), &["note", "by a marked one"]).ok();
    let actor = last_actor(&sandbox);
    assert_eq!((&actor["kind"], &actor["known_by"]), (&"agent".into(), &"marker".into()));
}

#[test]
fn a_person_is_called_what_git_calls_them() {
    let sandbox = started(GATED);
    std::fs::write(sandbox.folder().join("home/.gitconfig"), "[user]\n\tname = Anna Lund\n").unwrap();
    sandbox.run_as_person(["note", "at a terminal"]).ok();
    assert_eq!(last_actor(&sandbox)["name"], "Anna Lund");
}

#[test]
fn u11_an_agent_session_in_the_environment_of_one_process_is_nobody_elses() {
    let sandbox = started(GATED);
    let program = env!("CARGO_BIN_EXE_leftoff");
    let line = format!(
        "LEFTOFF_AGENT_SESSION={CLAUDE} {program} note one; {program} note two; {program} skip --reason agreed"
    );
    let mut shell = std::process::Command::new("sh");
    let ours = sandbox.command(["status"]);
    shell.args(["-c", &line]).current_dir(sandbox.project());
    shell.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    sandbox.as_person(&shell).ok();
    let log = sandbox.run(["log", "--json"]).ok().json();
    let kinds: Vec<&str> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| matches!(event["type"].as_str(), Some("note_added" | "phase_skipped")))
        .map(|event| event["actor"]["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["agent", "person", "person"]);
}

#[test]
fn a_cloned_repository_sends_no_work_to_a_server_that_nobody_accepted() {
    let sandbox = git();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    sandbox.write(
        ".leftoff/config.toml",
        &format!("store = \"postgres://127.0.0.1:{port}/work?sslmode=disable\"\n"),
    );
    let ran = sandbox.run(["start", "--goal", "Secret plans"]).code(6);
    assert!(ran.stderr.contains("leftoff trust --store"), "{}", ran.stderr);
    let event =
        serde_json::json!({ "session_id": "a", "cwd": sandbox.project(), "hook_event_name": "SessionStart" });
    sandbox.run_with_input(&["hook", "claude"], &event.to_string()).ok();
    refused(sandbox.run_as(CLAUDE, ["trust", "--store"]));
    assert!(listener.accept().is_err(), "nothing was sent");
    sandbox.run_as_person(["trust", "--store"]).ok();
    sandbox.write(".leftoff/config.toml", "store = \"postgres://127.0.0.1:1/other\"\n");
    sandbox.run(["start"]).code(6);
}
