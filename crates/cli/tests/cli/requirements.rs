//! Tests of `leftoff req` as people and agents use it, alone and at the same time as a program that follows
//! the original's protocol.

use crate::agent::Agent;
use crate::{git, plain, unbroken};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::{Ran, Sandbox};

const ANNA: &str = "claude:a4326893-7dc8-405b-aaa4-035b9c0d34a8";
const PLAN: &str = "requirements: {commit_plan: {enabled: true, auto_resolve_skill: arch-review}}\n";

fn with(settings: &str) -> Sandbox {
    let sandbox = git();
    sandbox.write(".claude/requirements.yaml", settings);
    sandbox
}

fn branch_file(sandbox: &Sandbox) -> PathBuf {
    let head = sandbox.read(".git/HEAD");
    let branch = head.trim().strip_prefix("ref: refs/heads/").expect("a branch");
    sandbox.path(&format!(".git/requirements/{branch}.json"))
}

fn state(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&fs::read_to_string(branch_file(sandbox)).unwrap()).unwrap()
}

/// Processes that end when this value is dropped.
struct Living(Vec<Child>);

impl Living {
    fn new(count: usize) -> Self {
        let start = || Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        Self((0..count).map(|_| start()).collect())
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        for process in &mut self.0 {
            drop(process.stdin.take());
            let _ = process.wait();
        }
    }
}

/// Adds agent sessions to the original's list, each with a live process.
fn listed(sandbox: &Sandbox, ids: &[&str], living: &Living) {
    let entries: serde_json::Map<String, Value> = ids
        .iter()
        .zip(&living.0)
        .map(|(id, process)| {
            let project = sandbox.project().canonicalize().unwrap();
            let entry = json!({ "pid": 1, "ppid": process.id(), "project_dir": project, "branch": "main", "started_at": 1, "last_active": 2 });
            ((*id).to_owned(), entry)
        })
        .collect();
    let folder = sandbox.folder().join("home/.claude");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("sessions.json"), json!({ "version": "1.0", "sessions": entries }).to_string())
        .unwrap();
}

#[test]
fn a_requirement_is_listed_satisfied_and_cleared() {
    let sandbox = with(PLAN);
    let shown = sandbox.run_as(ANNA, ["req", "list"]).ok().stdout;
    let shown = unbroken(&shown);
    assert!(
        shown.contains("[ ] commit_plan (session) open Run /arch-review leftoff req satisfy commit_plan"),
        "{shown}"
    );
    let answer = sandbox
        .run_as(ANNA, ["req", "satisfy", "commit_plan", "--field", "ticket=#42", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&answer["requirements"][0]["satisfied"], &answer["requirements"][0]["satisfied_by"]),
        (&json!(true), &json!("cli"))
    );
    let entry = &state(&sandbox)["requirements"]["commit_plan"]["sessions"]["a4326893"];
    assert_eq!((&entry["metadata"]["ticket"], &entry["expires_at"]), (&json!("#42"), &Value::Null));
    sandbox.run_as(ANNA, ["req", "clear", "commit_plan"]).ok();
    let list = sandbox.run_as(ANNA, ["req", "list", "--json"]).ok().json();
    assert_eq!(list["requirements"][0]["satisfied"], false);
    let again = sandbox.run_as(ANNA, ["req", "clear", "commit_plan", "--json"]).ok().json();
    assert_eq!(again["already"], true);
}

#[test]
fn every_way_to_satisfy_has_its_word() {
    let sandbox =
        with("requirements: {a: {enabled: true}, b: {enabled: true}, c: {enabled: true, scope: branch}}\n");
    sandbox.run_as(ANNA, ["req", "satisfy", "a", "--bypass"]).ok();
    sandbox.run_as(ANNA, ["req", "approve", "b", "--ttl", "10m"]).code(6);
    sandbox.run_as_person(["req", "approve", "b", "--ttl", "10m", "--agent-session", "a4326893"]).ok();
    sandbox.run_as(ANNA, ["req", "satisfy", "c", "--ttl", "1h"]).ok();
    let state = state(&sandbox);
    let sessions = |name: &str| state["requirements"][name]["sessions"]["a4326893"].clone();
    assert_eq!(sessions("a")["satisfied_by"], "cli_bypass");
    assert_eq!(sessions("b")["satisfied_by"], "approval");
    let lasts =
        |entry: &Value| entry["expires_at"].as_i64().unwrap() - entry["satisfied_at"].as_i64().unwrap();
    assert_eq!((lasts(&sessions("b")), lasts(&state["requirements"]["c"])), (600, 3600));
    assert_eq!(sessions("b")["metadata"]["approved_by"], "anna");
}

#[test]
fn a_session_shows_and_tells_what_became_of_requirements() {
    let sandbox = with(PLAN);
    sandbox.run(["start", "--id", "s"]).ok();
    let view = sandbox.run_as(ANNA, ["status", "--json"]).ok().json();
    assert_eq!(
        (&view["requirements"][0]["name"], &view["requirements"][0]["satisfied"]),
        (&json!("commit_plan"), &json!(false))
    );
    assert!(sandbox.run(["status"]).ok().stdout.contains("Required: commit_plan"));
    for format in ["text", "markdown"] {
        let brief = sandbox.run_as(ANNA, ["brief", "--format", format]).ok().stdout;
        assert!(unbroken(&brief).contains("Run /arch-review"), "{brief}");
    }
    sandbox.run_as(ANNA, ["req", "satisfy", "commit_plan"]).ok();
    let log = sandbox.run(["log"]).ok().stdout;
    assert!(log.contains("requirement commit_plan satisfied by cli"), "{log}");
    assert!(!sandbox.run_as(ANNA, ["status"]).ok().stdout.contains("Required:"));
}

#[test]
fn whom_it_is_about_is_found_or_asked() {
    let sandbox = with(PLAN);
    let nobody = sandbox.run(["req", "satisfy", "commit_plan", "--json"]).code(3);
    assert_eq!(nobody.error()["kind"], "no_agent_session");
    let living = Living::new(2);
    listed(&sandbox, &["bbbb2222"], &living);
    sandbox.run(["req", "satisfy", "commit_plan"]).ok();
    assert!(
        state(&sandbox)["requirements"]["commit_plan"]["sessions"]["bbbb2222"].is_object(),
        "the only one alive"
    );
    listed(&sandbox, &["bbbb2222", "cccc3333"], &living);
    let several = sandbox.run(["req", "satisfy", "commit_plan", "--json"]).code(6).error();
    let told = several["message"].as_str().unwrap();
    assert!(told.contains("bbbb2222") && told.contains("cccc3333"), "{told}");
    sandbox.run(["req", "clear", "commit_plan", "--agent-session", "bbbb2222"]).ok();
    assert_eq!(state(&sandbox)["requirements"]["commit_plan"]["sessions"]["bbbb2222"], Value::Null);
    sandbox.run(["req", "satisfy", "commit_plan", "--agent-session", "cccc3333"]).ok();
    sandbox.run(["req", "clear", "commit_plan"]).ok();
    assert_eq!(
        state(&sandbox)["requirements"]["commit_plan"],
        Value::Null,
        "of everybody, unless one is named"
    );
    sandbox.run(["req", "satisfy", "commit_plan", "--branch"]).ok();
    assert_eq!(
        state(&sandbox)["requirements"]["commit_plan"]["satisfied"],
        true,
        "the branch needs nobody in particular"
    );
}

#[test]
fn an_agent_is_known_by_its_process() {
    let sandbox = with(PLAN);
    sandbox.run(["start", "--id", "s"]).ok();
    let id = "a4326893-7dc8-405b-aaa4-035b9c0d34a8";
    let mut anna = Agent::new(&sandbox, "claude");
    let mut ben = Agent::new(&sandbox, "codex");
    anna.hook(&sandbox, id, "startup").ok();
    ben.hook(&sandbox, "b8800000-1111", "startup").ok();
    anna.run(&sandbox, &["req", "satisfy", "commit_plan"]).ok();
    let sessions = state(&sandbox)["requirements"]["commit_plan"]["sessions"].clone();
    assert_eq!(sessions.as_object().unwrap().keys().collect::<Vec<_>>(), ["a4326893"], "not the other one");
    assert_eq!(sessions["a4326893"]["session_id"], id);
    let agents = sandbox.run(["list", "--agents"]).ok().stdout;
    assert!(agents.contains("a4326893  alive") && agents.contains(", process "), "{agents}");
}

#[test]
fn names_that_are_not_required_and_places_without_a_branch_are_told() {
    let sandbox = with(PLAN);
    let unknown = sandbox.run_as(ANNA, ["req", "satisfy", "commit_plam", "--json"]).code(3).error();
    assert_eq!(unknown["kind"], "unknown_requirement");
    assert!(unknown["hint"].as_str().unwrap().contains("commit_plan"));
    assert!(!branch_file(&sandbox).exists());
    sandbox.run_as(ANNA, ["req", "satisfy"]).code(2);
    sandbox.run_as(ANNA, ["req", "satisfy", "commit_plan", "--agent-session", "a b"]).code(2);
    let outside = plain();
    outside.write(".leftoff/config.toml", "");
    let ran = outside.run_as(ANNA, ["req", "satisfy", "commit_plan", "--json"]).code(3);
    assert_eq!(ran.error()["kind"], "no_requirements_here");
    assert_eq!(outside.run(["req", "list", "--json"]).ok().json()["requirements"], json!([]));
}

#[test]
fn a_mistake_in_the_configuration_is_told_with_file_and_key() {
    let sandbox = with("requirements: {commit_plan: {enabled: true, scope: sesion}}\n");
    let list = sandbox.run_as(ANNA, ["req", "list", "--json"]).ok().json();
    let warning = list["warnings"][0]["message"].as_str().unwrap();
    assert!(warning.contains(".claude/requirements.yaml: requirements.commit_plan.scope"), "{warning}");
    sandbox.write(
        ".claude/requirements.yaml",
        "requirements: {a: {enabled: true, trigger_tools: [{tool: Bash, command_pattern: '(x'}]}}\n",
    );
    sandbox.write(".git/requirements/main.json", "{");
    let findings = sandbox.run(["doctor", "--json"]).code(4).json().to_string();
    for told in ["requirements.a.trigger_tools: the pattern", "main.json cannot be used"] {
        assert!(findings.contains(told), "{findings}");
    }
}

#[test]
fn the_same_key_counts_once() {
    let sandbox = with(PLAN);
    sandbox.at("2026-11-14T10:00:00Z");
    let satisfy = ["req", "satisfy", "commit_plan", "--ttl", "10m", "--key", "k", "--json"];
    assert_eq!(sandbox.run_as(ANNA, satisfy).ok().json()["already"], false);
    let until =
        || state(&sandbox)["requirements"]["commit_plan"]["sessions"]["a4326893"]["expires_at"].clone();
    let first = until();
    sandbox.at("2026-11-14T10:05:00Z");
    assert_eq!(sandbox.run_as(ANNA, satisfy).ok().json()["already"], true);
    assert_eq!(until(), first);
}

#[test]
fn a_broken_store_keeps_nobody_from_satisfying() {
    let sandbox = with(PLAN);
    sandbox.write(".git/leftoff/leftoff.db", "no database at all, but long enough to be looked at as one");
    let ran = sandbox.run_as(ANNA, ["req", "satisfy", "commit_plan"]).ok();
    assert!(ran.stderr.contains("warning:"), "{}", ran.stderr);
    assert_eq!(state(&sandbox)["requirements"]["commit_plan"]["sessions"]["a4326893"]["satisfied"], true);
}

fn many(count: usize) -> String {
    let entries: String = (0..count).map(|number| format!("  r{number}: {{enabled: true}}\n")).collect();
    format!("requirements:\n{entries}")
}

fn satisfying(sandbox: &Sandbox, numbers: std::ops::Range<usize>) -> Vec<Child> {
    numbers
        .map(|number| {
            sandbox
                .command(["req", "satisfy", &format!("r{number}")])
                .env("LEFTOFF_AGENT_SESSION", ANNA)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect()
}

fn all_done(children: Vec<Child>) {
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

fn satisfied_in(state: &Value) -> usize {
    let all = state["requirements"].as_object().unwrap();
    all.values().filter(|one| one["sessions"]["a4326893"]["satisfied"] == true).count()
}

#[test]
fn behaviour_18_twenty_at_a_time_are_twenty() {
    let sandbox = with(&many(20));
    all_done(satisfying(&sandbox, 0..20));
    assert_eq!(satisfied_in(&state(&sandbox)), 20);
}

const TOLD: &str = "LEFTOFF_TEST_SECOND_WRITER";
const WRITES: usize = 40;

/// Another program that writes the file, if an environment variable says so. It takes the lock of the
/// original program, reads the file, adds an entry, and replaces the file. Without that variable, this test
/// does nothing.
#[test]
fn second_writer() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let path = Path::new(&told);
    let lock = File::options().append(true).create(true).open(path.with_extension("lock")).unwrap();
    for number in 0..WRITES {
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        let mut state: Value = fs::read_to_string(path).map_or_else(
            |_| json!({ "version": "1.0", "branch": "main", "requirements": {} }),
            |text| serde_json::from_str(&text).expect("never half a file"),
        );
        state["requirements"][format!("theirs{number}")] = json!({ "scope": "branch", "satisfied": true });
        let temporary = path.with_extension("json.theirs.tmp");
        let mut file = File::create(&temporary).unwrap();
        file.write_all(state.to_string().as_bytes()).unwrap();
        file.sync_all().unwrap();
        fs::rename(&temporary, path).unwrap();
        flock(&lock, FlockOperation::Unlock).unwrap();
    }
}

#[test]
fn beside_a_program_that_follows_the_originals_protocol_nothing_is_lost() {
    let sandbox = with(&many(40));
    let path = branch_file(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "requirements::second_writer", "--test-threads=1"])
        .env(TOLD, &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    all_done(satisfying(&sandbox, 0..40));
    all_done(vec![other]);
    let state = state(&sandbox);
    let theirs =
        (0..WRITES).filter(|number| state["requirements"][format!("theirs{number}")]["satisfied"] == true);
    assert_eq!((satisfied_in(&state), theirs.count()), (40, WRITES));
}

#[test]
fn a_secret_is_not_kept_and_several_are_satisfied_together_or_not_at_all() {
    let sandbox = with("requirements: {a: {enabled: true}, b: {enabled: true}}\n");
    sandbox.run(["start", "--id", "s"]).ok();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    sandbox.run_as(ANNA, ["req", "satisfy", "a", "nosuch"]).code(3);
    assert!(!branch_file(&sandbox).exists(), "nothing of a refused command is kept");
    sandbox.run_as(ANNA, ["req", "satisfy", "a", "b", "--field", &format!("note=with {token}")]).ok();
    let text = fs::read_to_string(branch_file(&sandbox)).unwrap();
    assert!(!text.contains(&token), "{text}");
    let log = sandbox.run(["log", "--json"]).ok().stdout;
    assert_eq!(log.matches("requirement_satisfied").count(), 2, "{log}");
}

/// Runs leftoff through a link with the name of the original program.
fn req(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let link = sandbox.folder().join("bin/req");
    let ours = sandbox.command(words);
    if !link.exists() {
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(ours.get_program(), &link).unwrap();
    }
    let mut command = Command::new(&link);
    command.args(ours.get_args()).current_dir(sandbox.project()).env_clear();
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::from(command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn r10_the_originals_own_words_satisfy_show_and_clear() {
    let sandbox = with("requirements: {a: {enabled: true}, b: {enabled: true}, c: {enabled: true}}\n");
    req(&sandbox, &["satisfy", "a", "--session", "bbbb2222", "-m", r##"{"ticket":"#1"}"##]).ok();
    req(&sandbox, &["satisfy", "b", "-s", "bbbb2222"]).ok();
    let entry = state(&sandbox)["requirements"]["a"]["sessions"]["bbbb2222"].clone();
    assert_eq!((&entry["satisfied_by"], &entry["metadata"]["ticket"]), (&json!("cli"), &json!("#1")));
    let line = req(&sandbox, &["status", "--summary", "-s", "bbbb2222"]).ok().stdout;
    assert_eq!(line, "⚠️  2/3 requirements satisfied (c needed)\n");
    assert!(req(&sandbox, &["-s", "bbbb2222"]).code(2).stderr.contains("error"), "as the original's parser");
    assert!(req(&sandbox, &["status", "-v", "--session", "bbbb2222"]).ok().stdout.contains("❌ c (session)"));
    req(&sandbox, &["satisfy", "c", "--branch", "feature/x"]).ok();
    let other: Value = serde_json::from_str(&sandbox.read(".git/requirements/feature-x.json")).unwrap();
    assert_eq!(other["requirements"]["c"]["satisfied"], true);
    let summary = req(&sandbox, &["status", "--summary", "-b", "feature/x"]).ok().stdout;
    assert!(summary.contains("(a, b needed)"), "{summary}");
    req(&sandbox, &["clear", "c", "-b", "feature/x"]).ok();
    req(&sandbox, &["clear", "--all"]).ok();
    assert_eq!(state(&sandbox)["requirements"], json!({}));
    req(&sandbox, &["pause", "--session", "bbbb2222", "--reason", "a break"]).ok();
    assert!(sandbox.path(".git/requirements/sessions/bbbb2222.paused").exists());
    req(&sandbox, &["resume", "--session", "bbbb2222"]).ok();
    assert!(!sandbox.path(".git/requirements/sessions/bbbb2222.paused").exists());
}

/// In the original program, `--session` says who runs the command. A requirement is always cleared for
/// everybody.
#[test]
fn r7_under_its_name_clear_clears_for_every_session_whoever_is_named() {
    let sandbox = with("requirements: {a: {enabled: true}}\n");
    for session in ["aaaa1111", "bbbb2222"] {
        req(&sandbox, &["satisfy", "a", "-s", session]).ok();
    }
    req(&sandbox, &["clear", "a", "-s", "aaaa1111"]).ok();
    let recorded = state(&sandbox)["requirements"]["a"]["sessions"].clone();
    assert!(recorded.get("bbbb2222").is_none(), "{recorded}");
}

/// Otherwise a mistyped id would satisfy nobody's requirement, and the right agent session would stay
/// blocked.
#[test]
fn r10_the_beginning_of_a_live_agent_sessions_id_means_that_one() {
    let sandbox = with(PLAN);
    let living = Living::new(2);
    listed(&sandbox, &["cafe1111", "cade2222"], &living);
    sandbox.run(["req", "satisfy", "commit_plan", "--agent-session", "caf"]).ok();
    let sessions = state(&sandbox)["requirements"]["commit_plan"]["sessions"].clone();
    assert_eq!(sessions.as_object().unwrap().keys().collect::<Vec<_>>(), ["cafe1111"], "{sessions}");
}

#[test]
fn r4_a_pattern_that_cannot_be_used_is_told_wherever_requirements_are_listed() {
    let sandbox = with(
        "requirements: {a: {enabled: true, trigger_tools: [{tool: Bash, command_pattern: '(unclosed'}]}}\n",
    );
    for words in [["req", "list"], ["req", "status"]] {
        let told = sandbox.run(words).ok().stderr;
        assert!(told.contains("the pattern \"(unclosed\" cannot be used"), "{told}");
    }
}

/// Scripts search the output of the original program for these words.
#[test]
fn r10_under_its_name_answers_have_the_originals_words() {
    let sandbox =
        with("requirements: {a: {enabled: true}, b: {enabled: true}, w: {enabled: true, scope: branch}}\n");
    let said = |words: &[&str]| {
        let words: Vec<&str> = words.iter().chain(&["-s", "bbbb2222"]).copied().collect();
        req(&sandbox, &words).ok().stdout
    };
    let open = said(&["status"]);
    for part in ["Branch: main\n", "❌ Unsatisfied Requirements:", "→ req satisfy a\n", "req satisfy a b w\n"]
    {
        assert!(open.contains(part), "{part}: {open}");
    }
    assert_eq!(said(&["satisfy", "a"]), "✅ Satisfied 'a' for main (session scope)\n");
    assert_eq!(said(&["clear", "a"]), "✅ Cleared 'a' for main\n");
    assert_eq!(said(&["approve", "a"]), "✅ Satisfied 'a' for main (session scope)\n");
    let several = said(&["satisfy", "b", "w"]);
    assert_eq!(
        several,
        "✅ Satisfied 2 requirement(s) for main\n   - b (session scope)\n   - w (branch scope)\n"
    );
    assert_eq!(said(&["status", "--summary"]), "✅ All 3 requirements satisfied\n");
    assert!(said(&["status"]).contains("✅ All requirements satisfied"));
    assert!(said(&["status", "--verbose"]).contains("  ✅ w (branch)\n"));
    assert_eq!(said(&["clear", "--all"]), "✅ Cleared all requirements for main\n");
    let branch = req(&sandbox, &["satisfy", "a", "--branch", "other"]).ok().stdout;
    assert_eq!(branch, "✅ Satisfied 'a' at branch level for other\n");
    assert!(
        req(&sandbox, &["sessions"]).ok().stdout.starts_with("ℹ️  No active Claude Code sessions found.\n")
    );
    let off = req(&sandbox, &["disable"]).ok().stdout;
    assert!(off.starts_with("✅ Requirements framework disabled for this project\n"), "{off}");
    req(&sandbox, &["enable"]).ok();
    sandbox.write(".claude/requirements.yaml", "requirements: {a: {enabled: \"yes\"}}\n");
    let wrong = said(&["status", "--verbose"]);
    assert!(
        wrong.contains("Configuration validation failed") && wrong.contains("Fix .claude/requirements.yaml"),
        "{wrong}"
    );
    // JSON has leftoff's form under both names.
    assert!(req(&sandbox, &["status", "--json", "-s", "bbbb2222"]).ok().json()["requirements"].is_array());
}

#[test]
fn r10_failures_end_as_the_originals_do() {
    let sandbox = with(PLAN);
    assert_eq!(req(&sandbox, &["satisfy", "commit_plan"]).code, 1, "nobody is alive here");
    assert_eq!(req(&sandbox, &["satisfy"]).code, 2);
    assert_eq!(req(&sandbox, &["clear"]).code, 1);
    sandbox.run(["req", "clear"]).code(2);
    assert_eq!(req(&sandbox, &["nonsense"]).code, 2);
    assert_eq!(req(&sandbox, &["config", "nonsense"]).code, 1);
    req(&sandbox, &["satisfy", "not_configured", "--session", "bbbb2222"]).ok();
    assert_eq!(req(&sandbox, &[]).code, 0, "alone it is status");
    assert_eq!(req(&plain(), &["status"]).code, 1, "no repository");
    sandbox.run(["req", "satisfy", "not_configured", "--session", "bbbb2222"]).code(3);
}

#[test]
fn r10_branches_are_listed_and_those_that_are_gone_are_pruned() {
    let sandbox = with(PLAN);
    sandbox.run(["req", "satisfy", "commit_plan", "--branch"]).ok();
    sandbox.run(["req", "satisfy", "commit_plan", "--branch", "gone"]).ok();
    let listed = req(&sandbox, &["list"]).ok().stdout;
    assert_eq!(listed, "📋 Tracked Branches (2)\n  gone: 1 requirement(s)\n  main: 1 requirement(s)\n");
    let ours = sandbox.run(["req", "branches"]).ok().stdout;
    assert_eq!(ours, "gone: 1 requirement\nmain: 1 requirement\n");
    let git = Command::new("git").args(["init", "-q", "."]).current_dir(sandbox.project()).output().unwrap();
    assert!(git.status.success());
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
    let pruned = req(&sandbox, &["prune"]).ok().stdout;
    assert!(pruned.contains("✅ Removed 1 state file(s) for deleted branches"), "{pruned}");
    assert_eq!(sandbox.run(["req", "branches"]).ok().stdout, "main: 1 requirement\n");
}

#[test]
fn r10_a_configuration_is_begun_changed_and_switched() {
    let sandbox = git();
    assert_eq!(req(&sandbox, &["enable"]).code, 1, "there is nothing to switch on");
    assert!(req(&sandbox, &["init", "--preview"]).ok().stdout.contains("commit_plan:"));
    assert!(!sandbox.path(".claude/requirements.yaml").exists());
    req(&sandbox, &["init", "--yes", "--preset", "strict"]).ok();
    let begun = sandbox.read(".claude/requirements.yaml");
    req(&sandbox, &["init", "-y"]).ok();
    assert_eq!(sandbox.read(".claude/requirements.yaml"), begun, "only --force replaces it");
    assert!(req(&sandbox, &["config", "commit_plan"]).ok().stdout.contains("scope: session\n"));
    let change = ["config", "commit_plan", "--scope", "branch", "--set", "approval_ttl=60", "--local", "-y"];
    req(&sandbox, &change).ok();
    let list = sandbox.run_as(ANNA, ["req", "list", "--json"]).ok().json();
    assert_eq!(list["requirements"][0]["scope"], "branch");
    req(&sandbox, &["disable"]).ok();
    assert_eq!(sandbox.run_as(ANNA, ["req", "list", "--json"]).ok().json()["requirements"], json!([]));
    req(&sandbox, &["enable"]).ok();
    let local = sandbox.read(".claude/requirements.local.yaml");
    assert!(local.contains("enabled: true") && local.contains("approval_ttl: 60"), "{local}");
    assert_eq!(sandbox.read(".claude/requirements.yaml"), begun);
    // A requirement can be disabled and enabled by its name.
    let is_on = || {
        let list = sandbox.run_as(ANNA, ["req", "list", "--json"]).ok().json();
        let all = list["requirements"].as_array().unwrap().clone();
        all.iter().any(|one| one["name"] == "commit_plan")
    };
    req(&sandbox, &["disable", "commit_plan"]).ok();
    assert!(!is_on());
    req(&sandbox, &["enable", "commit_plan"]).ok();
    assert!(is_on());
    assert_eq!(req(&sandbox, &["enable", "nonsense"]).code, 1);
}

#[test]
fn r10_sessions_are_shown_and_the_installation_is_verified() {
    let sandbox = with(PLAN);
    let living = Living::new(1);
    listed(&sandbox, &["bbbb2222"], &living);
    sandbox.run(["req", "satisfy", "commit_plan"]).ok();
    for words in [["sessions", "--project"], ["sessions", "--json"]] {
        let shown = req(&sandbox, &words).ok().stdout;
        assert!(shown.contains("bbbb2222") && shown.contains("commit_plan"), "{shown}");
    }
    assert!(req(&sandbox, &["verify"]).code(1).stdout.contains("no agent is connected here"));
    sandbox.run(["init", "--agent", "claude"]).ok();
    let verified = req(&sandbox, &["verify"]);
    assert!(!verified.stdout.contains("no agent is connected here"), "{verified:?}");
    let diagnosed = req(&sandbox, &["doctor", "--verbose", "--repo", "/nowhere"]);
    assert_eq!((diagnosed.code, &diagnosed.stdout), (verified.code, &verified.stdout));
    assert!(req(&sandbox, &["doctor", "--json"]).json()["wired"].is_array());
}

#[test]
fn r10_init_links_the_originals_program_to_ours_and_takes_only_its_own_away() {
    let sandbox = git();
    let link = sandbox.folder().join("home/.local/bin/req");
    sandbox.run(["init", "--req-shim"]).ok();
    assert!(fs::read_link(&link).unwrap().ends_with("leftoff"));
    assert!(sandbox.run(["init", "--req-shim"]).ok().stdout.contains("kept"));
    sandbox.run(["init", "--remove", "--req-shim"]).ok();
    assert!(fs::symlink_metadata(&link).is_err());
    fs::write(&link, "#!/bin/sh\n").unwrap();
    sandbox.run(["init", "--req-shim"]).code(4);
    sandbox.run(["init", "--remove", "--req-shim"]).ok();
    assert_eq!(fs::read_to_string(&link).unwrap(), "#!/bin/sh\n");
}
