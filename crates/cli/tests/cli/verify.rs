//! Tests of `leftoff verify`, which says whether a session's work is proven.

use crate::gates::started;
use crate::git;
use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::{Ran, Sandbox};

const CLAUDE: &str = "claude:a4326893";

/// A workflow of three phases: one requires a file, one an approval by a person, and the last has no gate.
const PROVEN: &str = r#"
[[phase]]
id = "plan"
produces = ["PLAN.md"]
  [[phase.check]]
  id = "plan"
  kind = "artifact"
  path = "PLAN.md"
[[phase]]
id = "agree"
  [[phase.check]]
  id = "agreed"
  kind = "approval"
[[phase]]
id = "ship"
"#;

const PLAN: &str = ".leftoff/sessions/s/PLAN.md";

/// A session in which all phases of `PROVEN` are over. A person approved the second phase.
pub(crate) fn proven() -> Sandbox {
    let sandbox = started(PROVEN);
    sandbox.write(PLAN, "the plan\n");
    sandbox.run_as(CLAUDE, ["advance", "--phase", "plan"]).ok();
    sandbox.run_as_person(["approve", "agreed"]).ok();
    sandbox.run_as(CLAUDE, ["advance", "--phase", "agree"]).ok();
    sandbox.run_as(CLAUDE, ["advance", "--phase", "ship"]).ok();
    sandbox
}

pub(crate) fn verified(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.run([&["verify", "--json"], more].concat())
}

/// The only session in a report of `verify`.
pub(crate) fn report(ran: &Ran) -> Value {
    ran.json()["sessions"][0].clone()
}

/// The reasons why a session is not proven, in the words of `verify`.
#[track_caller]
pub(crate) fn unproven(sandbox: &Sandbox, more: &[&str]) -> String {
    let ran = verified(sandbox, more).code(5);
    ran.error()["message"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
pub(crate) fn assert_unproven(sandbox: &Sandbox, more: &[&str], why: &str) {
    let said = unproven(sandbox, more);
    assert!(said.contains(why), "{why:?} is not in {said:?}");
}

pub(crate) fn database(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.path(".git/leftoff/leftoff.db")).unwrap()
}

/// Changes rows of the database without leftoff.
pub(crate) fn tamper(sandbox: &Sandbox, sql: &str) {
    assert!(database(sandbox).execute(sql, []).unwrap() > 0, "nothing was changed by {sql}");
}

#[test]
fn work_whose_every_phase_is_shown_is_proven() {
    let sandbox = proven();
    let report = report(&verified(&sandbox, &[]).ok());
    let outcomes: Vec<&Value> =
        report["runs"][0]["phases"].as_array().unwrap().iter().map(|phase| &phase["outcome"]).collect();
    assert_eq!(outcomes, [&json!("verified"), &json!("verified"), &json!("done")]);
    assert_eq!(report["files"][0]["state"], "as_recorded");
    assert_eq!(report["runs"][0]["phases"][1]["approvals"][0]["by"], "anna");
    assert_eq!(report["head"].as_str().map(str::len), Some(64));
    let text = sandbox.run(["verify"]).ok().stdout;
    assert!(text.contains("✓ plan verified: plan: .leftoff/sessions/s/PLAN.md (9 bytes)"), "{text}");
}

#[test]
fn a_phase_that_is_open_skipped_or_overridden_is_named() {
    let sandbox = started(PROVEN);
    assert_unproven(&sandbox, &[], "phase plan is open; phase agree is open; phase ship is open");
    sandbox.run_as_person(["skip", "--reason", "known already"]).ok();
    sandbox.run_as_person(["advance", "--override", "agreed by phone"]).ok();
    sandbox.run(["advance", "--phase", "ship"]).ok();
    assert_unproven(&sandbox, &["--allow", "overridden"], "phase plan is skipped");
    let without = unproven(&sandbox, &[]);
    assert_eq!(without, "not proven: phase plan is skipped; phase agree is overridden");
}

#[test]
fn outcomes_that_rest_on_words_count_when_they_are_allowed() {
    let sandbox = started(
        "[[phase]]\nid = \"a\"\n[phase.evidence]\nn = { type = \"integer\", required = true }\n\
         [[phase]]\nid = \"b\"\nstrict = false\n[[phase.check]]\nid = \"never\"\nkind = \"expr\"\nexpr = \"false\"\n",
    );
    sandbox.run(["advance", "--phase", "a", "--evidence", "n=3"]).ok();
    sandbox.run(["advance", "--phase", "b"]).ok();
    assert_eq!(unproven(&sandbox, &[]), "not proven: phase a is reported; phase b is warned");
    assert_unproven(&sandbox, &["--allow", "reported"], "phase b is warned");
    verified(&sandbox, &["--allow", "reported,warnings"]).ok();
    sandbox.run(["verify", "--allow", "skipped"]).code(2);
}

#[test]
fn a_file_that_is_not_as_recorded_is_named_and_a_missing_one_is_taken_as_kept() {
    let sandbox = proven();
    sandbox.write(PLAN, "another plan\n");
    assert_unproven(&sandbox, &[], "PLAN.md changed since it was recorded");
    std::fs::remove_file(sandbox.path(PLAN)).unwrap();
    let kept = report(&verified(&sandbox, &[]).ok());
    assert_eq!(kept["files"][0]["state"], "kept");
    tamper(&sandbox, "UPDATE contents SET body=CAST('another plan' AS BLOB)");
    assert_unproven(&sandbox, &[], "PLAN.md is missing");
}

#[test]
fn a_file_that_passed_a_gate_and_was_recorded_anew_is_no_proof() {
    let sandbox = started(PROVEN);
    sandbox.write(PLAN, "the plan\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.write(PLAN, "another plan\n");
    sandbox.run(["artifact", "add", PLAN, "--phase", "agree"]).ok();
    assert_unproven(
        &sandbox,
        &[],
        "phase plan: .leftoff/sessions/s/PLAN.md was recorded again after the gate",
    );
}

#[test]
fn rows_that_were_changed_put_in_or_taken_out_break_the_chain() {
    for (sql, why) in [
        (
            "UPDATE events SET body=replace(body,'PLAN.md','plan.md') WHERE kind='artifact_recorded'",
            "was changed",
        ),
        (
            "UPDATE events SET actor=replace(actor,'agent','person') WHERE kind='phase_completed'",
            "was changed",
        ),
        (
            "DELETE FROM events WHERE version=(SELECT max(version) FROM events)",
            "events at the end are missing",
        ),
        ("UPDATE sessions SET head=NULL", "has no hash chain"),
        ("UPDATE sessions SET chained_since=3", "events before event 3"),
        ("DELETE FROM definitions", "the definition of workflow w is missing"),
        (
            r#"UPDATE definitions SET body=replace(body,'"strict":true','"strict":false')"#,
            "was changed after the run",
        ),
    ] {
        let sandbox = proven();
        tamper(&sandbox, sql);
        assert_unproven(&sandbox, &[], why);
    }
}

#[test]
fn a_definition_that_the_project_does_not_have_is_named() {
    let sandbox = proven();
    let definition = ".leftoff/workflows/w.toml";
    let text = sandbox.read(definition);
    sandbox.write(definition, &text.replace("kind = \"approval\"", "kind = \"expr\"\n  expr = \"true\""));
    assert_unproven(&sandbox, &[], "another definition of workflow w than this project has: ~ phase agree");
    std::fs::remove_file(sandbox.path(definition)).unwrap();
    assert_unproven(&sandbox, &[], "that is not in this project");
    sandbox.write(definition, &text);
    verified(&sandbox, &[]).ok();
}

#[test]
fn a_purged_proof_is_none_any_more() {
    let sandbox =
        started("[[phase]]\nid = \"a\"\n[phase.evidence]\nwho = { type = \"string\", required = true }\n");
    sandbox.run(["advance", "--phase", "a", "--evidence", "who=abracadabra"]).ok();
    verified(&sandbox, &["--allow", "reported"]).ok();
    sandbox.run(["purge", "abracadabra", "--yes"]).ok();
    assert_unproven(&sandbox, &["--allow", "reported"], "phase a: its proof, event");
}

#[test]
fn the_head_must_be_the_one_that_was_written_down() {
    let sandbox = proven();
    let head = report(&verified(&sandbox, &[]).ok())["head"].as_str().unwrap().to_owned();
    verified(&sandbox, &["--head", &head]).ok();
    sandbox.run(["reopen"]).ok();
    sandbox.run(["close", "--force"]).ok();
    assert_unproven(&sandbox, &["--head", &head], "more events follow it");
    assert_unproven(&sandbox, &["--head", &"0".repeat(64)], "does not contain the head");
}

#[test]
fn a_bundle_is_a_claim_unless_its_head_was_written_down() {
    let sandbox = proven();
    let path = sandbox.folder().join("s.leftoff").display().to_string();
    sandbox.run(["bundle", "create", &path]).ok();
    let head = report(&verified(&sandbox, &[]).ok())["head"].as_str().unwrap().to_owned();
    let there = git();
    there.write(".leftoff/workflows/w.toml", &sandbox.read(".leftoff/workflows/w.toml"));
    let claimed = unproven(&there, &["--bundle", &path]);
    assert_eq!(claimed, "not proven: phase plan is claimed; phase agree is claimed");
    let whole = report(&verified(&there, &["--bundle", &path, "--head", &head]).ok());
    assert_eq!((&whole["source"], &whole["files"][0]["state"]), (&json!("bundle"), &json!("kept")));
    there.run(["bundle", "take", &path]).ok();
    assert_unproven(&there, &[], "phase plan is claimed; phase agree is claimed");
    there.run(["verify", "--bundle", &path, "--session", "other"]).code(2);
}

#[test]
fn the_sessions_of_a_branch_are_verified_together() {
    let sandbox = proven();
    sandbox.run(["start", "w", "--id", "t"]).ok();
    let reports = verified(&sandbox, &["--branch", "main"]).code(5).json();
    assert_eq!(reports["sessions"].as_array().map(Vec::len), Some(2));
    assert_unproven(&sandbox, &["--branch", "main"], "phase plan is open");
    sandbox.run(["abandon", "t"]).ok();
    verified(&sandbox, &["--branch", "main"]).ok();
    let shown = sandbox.run(["verify", "--branch", "main", "--format", "markdown"]).ok().stdout;
    assert!(shown.contains("### Abandoned: ") && shown.contains("| ✗ | plan | open |"), "{shown}");
    sandbox.run(["verify", "--branch", "other"]).code(3);
}

#[test]
fn a_trivial_run_beside_it_does_not_hide_the_one_that_is_open() {
    let sandbox = started(PROVEN);
    sandbox.write(".leftoff/workflows/easy.toml", "name = \"easy\"\n[[phase]]\nid = \"only\"\n");
    sandbox.run(["run", "start", "easy"]).ok();
    sandbox.run(["advance"]).ok();
    assert_unproven(&sandbox, &[], "phase plan is open");
}

#[test]
fn markdown_tells_a_reviewer_everything_and_no_typed_text_passes_for_ours() {
    let sandbox = started(PROVEN);
    sandbox.run_as_person(["skip", "--reason", "none |\n### Proven: all of it"]).ok();
    let shown = sandbox.run(["verify", "--format", "markdown"]).code(5).stdout;
    assert!(shown.starts_with("### Not proven: "), "{shown}");
    assert!(shown.contains("- plan skipped, by anna: none \\| \\#\\#\\# Proven: all of it"), "{shown}");
    let proven = proven();
    let shown = proven.run(["verify", "--format", "markdown"]).ok().stdout;
    for part in ["### Proven: ", "| ✓ | plan | verified |", "- agreed of agree by anna", "PLAN.md", "head `"]
    {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
}

/// Creates a key with this name in the sandbox's folder. Returns its path, and its line for the file of
/// allowed signers.
pub(crate) fn key(sandbox: &Sandbox, name: &str) -> (String, String) {
    let path = sandbox.folder().join(name);
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    let public = std::fs::read_to_string(path.with_extension("pub")).unwrap();
    (path.display().to_string(), format!("{name}@example.org {public}"))
}

/// Approves as a person who signs with this key.
pub(crate) fn approve_signed(sandbox: &Sandbox, key: &str, more: &[&str]) -> Ran {
    let mut command = sandbox.command([&["approve", "agreed"], more].concat());
    command.env("LEFTOFF_SIGNING_KEY", key);
    sandbox.as_person(&command)
}

#[test]
fn a_policy_of_signed_asks_for_a_key_that_was_accepted_here() {
    let sandbox = started(PROVEN);
    let (anna, line) = key(&sandbox, "anna");
    let (eve, of_eve) = key(&sandbox, "eve");
    sandbox.write(PLAN, "the plan\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"signed\"\n");
    sandbox.write(".leftoff/allowed_signers", &line);
    let said = approve_signed(&sandbox, &anna, &[]).code(4).stderr;
    assert!(said.contains("were not accepted on this machine"), "{said}");
    sandbox.run_as_person(["trust", "--policy", "--yes"]).ok();
    sandbox.run_as(CLAUDE, ["approve", "agreed"]).code(6);
    sandbox.run_as_person(["approve", "agreed"]).code(4);
    let said = approve_signed(&sandbox, &eve, &[]).code(4).stderr;
    assert!(said.contains("your key is not among the allowed signers"), "{said}");
    // Adding a key to the file has no effect until a person accepts the file.
    sandbox.write(".leftoff/allowed_signers", &format!("{line}{of_eve}"));
    approve_signed(&sandbox, &eve, &[]).code(4);
    // Removing the rule has no effect until a person accepts that, either.
    sandbox.write(".leftoff/config.toml", "");
    sandbox.run_as_person(["approve", "agreed"]).code(4);
    approve_signed(&sandbox, &anna, &[]).ok();
    sandbox.run(["advance", "--phase", "agree"]).ok();
    sandbox.run(["advance", "--phase", "ship"]).ok();
    let report = report(&verified(&sandbox, &[]).ok());
    assert_eq!(report["runs"][0]["phases"][1]["approvals"][0]["signed_by"], "anna@example.org");
}

#[test]
fn an_unsigned_approval_is_a_claim_where_signatures_are_asked_for() {
    let sandbox = proven();
    sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"signed\"\n");
    assert_eq!(unproven(&sandbox, &[]), "not proven: phase agree is claimed");
}

/// A session in which all phases of `PROVEN` are over. Anna signed the approval of the second phase.
pub(crate) fn signed_work() -> Sandbox {
    let sandbox = started(PROVEN);
    let (anna, line) = key(&sandbox, "anna");
    sandbox.write(".leftoff/allowed_signers", &line);
    sandbox.run_as_person(["trust", "--policy", "--yes"]).ok();
    sandbox.write(PLAN, "the plan\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    approve_signed(&sandbox, &anna, &["--sign"]).ok();
    sandbox.run(["advance", "--phase", "agree"]).ok();
    sandbox.run(["advance", "--phase", "ship"]).ok();
    sandbox
}

#[test]
fn a_signature_vouches_for_a_bundle_up_to_where_it_was_given() {
    let sandbox = signed_work();
    let line = sandbox.read(".leftoff/allowed_signers");
    let path = sandbox.folder().join("s.leftoff").display().to_string();
    sandbox.run(["bundle", "create", &path]).ok();
    let there = git();
    there.write(".leftoff/workflows/w.toml", &sandbox.read(".leftoff/workflows/w.toml"));
    there.write(".leftoff/allowed_signers", &line);
    assert_unproven(&there, &["--bundle", &path], "the allowed signers were not accepted here");
    let hash = there.run(["trust", "--policy", "--print"]).ok().stdout;
    let automation = |path: &str, agent: Option<&str>| {
        let mut command = there.command(["verify", "--bundle", path, "--json"]);
        command.env("LEFTOFF_TRUST", hash.trim());
        command.envs(agent.map(|agent| ("LEFTOFF_AGENT_SESSION", agent)));
        Ran::from(command.output().unwrap())
    };
    automation(&path, None).ok();
    automation(&path, Some(CLAUDE)).code(5);
    // An event before the signature cannot be replaced, because the history would then not contain the head
    // that was signed.
    let forged = crate::bundles::forged(&path, |line| {
        if line["event"]["kind"] == "artifact_recorded" {
            let body = line["event"]["body"].as_str().unwrap().replace("\"size\":9", "\"size\":8");
            line["event"]["body"] = json!(body);
        }
    });
    let said = automation(&forged, None).code(5).error()["message"].to_string();
    assert!(said.contains("is not by an allowed key") && said.contains("phase plan is claimed"), "{said}");
}

#[test]
fn a_yes_is_to_the_files_as_they_were() {
    let sandbox = started(
        "[[phase]]\nid = \"plan\"\nproduces = [\"PLAN.md\"]\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n",
    );
    sandbox.write(PLAN, "the plan\n");
    sandbox.run_as_person(["approve", "agreed"]).ok();
    sandbox.write(PLAN, "another plan\n");
    let ran = sandbox.run_as(CLAUDE, ["advance", "--phase", "plan"]).code(5);
    assert!(ran.stderr.contains("changed since anna approved them"), "{}", ran.stderr);
    assert!(ran.stderr.contains("leftoff approve agreed"), "{}", ran.stderr);
    sandbox.write(PLAN, "the plan\n");
    sandbox.run_as(CLAUDE, ["advance", "--phase", "plan"]).ok();
    verified(&sandbox, &[]).ok();
}

#[test]
fn a_repeated_approval_of_changed_files_is_not_answered_with_the_old_one() {
    let sandbox = started(
        "[[phase]]\nid = \"plan\"\nproduces = [\"PLAN.md\"]\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n",
    );
    sandbox.write(PLAN, "the plan\n");
    let approve = || sandbox.run_as_person(["approve", "agreed", "--key", "K"]);
    approve().ok();
    approve().ok();
    sandbox.write(PLAN, "another plan\n");
    approve().code(4);
}

#[test]
fn a_list_says_how_phases_ended() {
    let sandbox = started(PROVEN);
    sandbox.run_as_person(["skip", "--reason", "known already"]).ok();
    let line = &sandbox.run(["list", "--json"]).ok().json()["sessions"][0];
    assert_eq!(line["outcomes"]["skipped"], 1, "{line}");
    let text = sandbox.run(["list"]).ok().stdout;
    assert!(text.contains("agree (1 skipped)"), "{text}");
}

#[test]
fn an_agent_is_not_sent_to_a_version_that_it_may_not_restore() {
    let sandbox =
        started("[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n");
    sandbox.run_as_person(["approve", "agreed"]).ok();
    sandbox.run_as_person(["undo"]).ok();
    let ran = sandbox.run_as(CLAUDE, ["redo"]).code(6);
    assert!(!ran.stderr.contains("undo --to"), "{}", ran.stderr);
}

#[test]
fn a_command_of_the_gate_may_write_the_file_that_an_earlier_check_saw() {
    let sandbox = started(
        "[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"plan\"\nkind = \"artifact\"\npath = \"PLAN.md\"\n\
         [[phase.check]]\nid = \"format\"\nkind = \"command\"\nrun = \"echo formatted >>.leftoff/sessions/s/PLAN.md\"\n",
    );
    sandbox.write(PLAN, "the plan\n");
    sandbox.run_as_person(["trust", "w", "--yes"]).ok();
    sandbox.run_as(CLAUDE, ["advance", "--phase", "plan"]).ok();
    verified(&sandbox, &[]).ok();
}
