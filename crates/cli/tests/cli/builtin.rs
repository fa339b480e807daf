//! Completes every built-in workflow with only the commands that leftoff prints.

use crate::fresh as git;
use serde_json::Value;
use testkit::Sandbox;

/// The maximum number of steps. Every workflow has far fewer.
const MOST_STEPS: usize = 60;

#[test]
fn review_is_finished_by_its_printed_commands() {
    check("review", 8, &End::Completed);
}

#[test]
fn map_is_finished_by_its_printed_commands() {
    check("map", 6, &End::Completed);
}

#[test]
fn plan_implement_review_is_finished_by_its_printed_commands() {
    check("plan-implement-review", 3, &End::Completed);
}

#[test]
fn ccw_is_finished_by_its_printed_commands() {
    check("ccw", 3, &End::Completed);
}

#[test]
fn spec_goes_on_to_the_tests_whose_numbers_only_the_reader_knows() {
    check("spec", 6, &missing_work(&["tests_passed", "tests_total"]));
}

#[test]
fn essay_stops_at_what_only_its_user_can_say() {
    check("essay", 4, &missing_work(&["specific", "defensible"]));
}

/// How the attempt to complete a workflow ended.
#[derive(Debug, PartialEq)]
enum End {
    Completed,
    /// A gate blocked, and named all of its failed checks.
    MissingWork(Vec<String>),
    NeedsAPerson,
}

fn missing_work(checks: &[&str]) -> End {
    End::MissingWork(checks.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn check(workflow: &str, phases: usize, expected: &End) {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    let started = sandbox.run(["start", workflow, "--goal", "No log-out", "--json"]).ok().json();
    let all: Vec<String> = ids(&started);
    assert_eq!(all.len(), phases);
    let (end, offered) = go_through(&sandbox, workflow);
    assert_eq!(end, *expected);
    let view = sandbox.run(["status", "--json"]).ok().json();
    match end {
        End::Completed => {
            assert_eq!((&view["status"], &view["progress"]["percent"]), (&"completed".into(), &100.into()));
            let not_applicable = view["progress"]["outcomes"]["not_applicable"].as_u64().unwrap();
            let completed = view["completed_phases"].as_array().unwrap().len();
            assert_eq!(completed + usize::try_from(not_applicable).unwrap(), phases);
            assert_eq!(view["current_phase"]["id"], *all.last().unwrap());
            // All phases that were not skipped were offered, in their order.
            let skipped: Vec<&Value> = view["phases"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|phase| phase["status"] == "skipped")
                .collect();
            let is_offered = |id: &&String| !skipped.iter().any(|phase| phase["id"] == **id);
            let worked: Vec<&String> = all.iter().filter(is_offered).collect();
            assert_eq!(offered.iter().collect::<Vec<_>>(), worked);
        }
        End::MissingWork(checks) => {
            assert!(!checks.is_empty(), "a gate holds and does not say why: {view:#}");
        }
        End::NeedsAPerson => {}
    }
}

/// Runs the command in `next.command` again and again. Returns the phases that were offered, in order.
#[track_caller]
fn go_through(sandbox: &Sandbox, workflow: &str) -> (End, Vec<String>) {
    let mut offered: Vec<String> = Vec::new();
    for _ in 0..MOST_STEPS {
        let view = sandbox.run(["status", "--json"]).ok().json();
        if view["status"] == "completed" {
            return (End::Completed, offered);
        }
        let command = view["next"]["command"].as_str().expect("a command for the next step").to_owned();
        let printed = sandbox.run(["next"]).ok().stdout;
        assert_eq!(printed.lines().last(), Some(command.as_str()), "next prints what the view says");
        if let Some(phase) = phase_of(&command) {
            assert_eq!(view["current_phase"]["id"], *phase, "{command}");
            assert!(!is_done(&view, phase), "{phase} is finished and offered again");
            if offered.last().is_none_or(|last| last != phase) {
                assert!(!offered.iter().any(|earlier| earlier == phase), "{phase} is offered a second time");
                offered.push(phase.to_owned());
            }
        }
        // Only the reader knows the tasks.
        let ran = sandbox.run_printed(&command.replace("'<title>'", "'Rotate tokens'"));
        match ran.code {
            0 => {}
            5 => {
                let missing = missing(&sandbox.run(["status", "--json"]).ok().json());
                assert!(
                    missing.iter().all(|check| ran.stderr.contains(check)),
                    "{missing:?} in {}",
                    ran.stderr
                );
                if !supply(sandbox) {
                    return (End::MissingWork(missing), offered);
                }
            }
            // A command with a placeholder is refused if it is run unchanged, and is not an attempt.
            2 => {
                let before = view["phases"].as_array().expect("phases").clone();
                let after = sandbox.run(["status", "--json"]).ok().json();
                assert_eq!(after["phases"].as_array(), Some(&before), "{}", ran.stderr);
                return (End::MissingWork(asked_for(&command)), offered);
            }
            6 => return (End::NeedsAPerson, offered),
            other => panic!("{command} ended with {other}:\n{}", ran.stderr),
        }
    }
    panic!("{workflow} never ends; offered {offered:?}");
}

/// The pieces of evidence in a command that have a placeholder.
fn asked_for(command: &str) -> Vec<String> {
    let pieces = command.split('\'').filter(|piece| piece.ends_with('>'));
    pieces.filter_map(|piece| Some(piece.split_once('=')?.0.to_owned())).collect()
}

/// Writes the files of the current phase. Returns true if a file was new or changed.
fn supply(sandbox: &Sandbox) -> bool {
    let view = sandbox.run(["status", "--json"]).ok().json();
    let current = &view["current_phase"]["id"];
    let phases = view["phases"].as_array().expect("phases");
    let phase = phases.iter().find(|phase| phase["id"] == *current).expect("the current phase exists");
    let files = phase["produces"].as_array().cloned().unwrap_or_default();
    let mut did = false;
    for file in files {
        let path = file.as_str().expect("a path").replace("{item}", "security-1");
        // A file of an earlier phase is written again, because it must be newer than the start of this phase.
        if !sandbox.path(&path).exists() || sandbox.read(&path) != format!("{current}") {
            sandbox.write(&path, &format!("{current}"));
            did = true;
        }
    }
    did
}

fn missing(view: &Value) -> Vec<String> {
    let current = &view["current_phase"]["id"];
    let phases = view["phases"].as_array().expect("phases");
    let phase = phases.iter().find(|phase| phase["id"] == *current).expect("the current phase exists");
    let checks = phase["gate"]["checks"].as_array().expect("checks").iter();
    let failed = checks.filter(|check| check["outcome"] == "failed");
    failed.map(|check| check["id"].as_str().expect("an id").to_owned()).collect()
}

fn phase_of(command: &str) -> Option<&str> {
    command.strip_prefix("leftoff advance --phase ")?.split(' ').next()
}

fn is_done(view: &Value, phase: &str) -> bool {
    let phases = view["phases"].as_array().expect("phases");
    phases.iter().any(|found| found["id"] == *phase && found["status"] != "in_progress")
}

fn ids(view: &Value) -> Vec<String> {
    let phases = view["phases"].as_array().expect("phases").iter();
    phases.map(|phase| phase["id"].as_str().expect("an id").to_owned()).collect()
}

/// A new run of a finished session contains nothing of the first run.
#[test]
fn the_next_round_of_a_review_begins_anew() {
    let sandbox = git();
    sandbox.run(["start", "review", "--id", "auth"]).ok();
    go_through(&sandbox, "review");
    let refused = sandbox.run(["resume", "auth"]).code(4);
    let hint = "start the next run: leftoff run start review --session auth";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    let again = sandbox.run(["run", "start", "review", "--session", "auth", "--json"]).ok().json();
    assert_eq!((&again["run"]["ordinal"], &again["status"]), (&2.into(), &"active".into()));
    assert_eq!(again["completed_phases"], serde_json::json!([]));
    let produced = again["phases"][5]["produces"][0].as_str().unwrap_or_default();
    assert!(produced.ends_with("sessions/auth/rounds/round-2/discourse.md"), "{produced}");
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(crate::unbroken(&brief).contains("Workflow review v2, run 2,"), "{brief}");
    assert_eq!(go_through(&sandbox, "review").0, End::Completed);
}

/// A finished `map` leaves its session open. The command offered next ends the session.
#[test]
fn a_finished_map_leaves_the_session_open_for_a_review() {
    let sandbox = git();
    sandbox.run(["start", "map", "--id", "auth"]).ok();
    for phase in ["map-context", "topology", "flow-analysis", "synthesis", "complete"] {
        supply(&sandbox);
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["status"], &view["next"]["command"]), (&"active".into(), &"leftoff close".into()));
    assert_eq!(view["progress"]["percent"], 100);
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(
        brief.contains("Run 1 is **finished**: 5 of 5 phases done (100 %); the session is still open."),
        "{brief}"
    );
    let text = sandbox.run(["brief"]).ok().stdout;
    assert!(text.contains("Run 1 of map is finished"), "{text}");
    sandbox.run(["run", "start", "review"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["workflow"]["name"], "review");
}
