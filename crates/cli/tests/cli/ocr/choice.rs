//! Tests of the session, workflow, round and position that are read from files that no command has adopted.

use super::*;
use serde_json::json;

/// The workflow, phase and lifecycle of each session in `list`, keyed by its id.
fn listed(sandbox: &Sandbox) -> BTreeMap<String, (String, String, String)> {
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    let lines = list["sessions"].as_array().unwrap().iter();
    lines
        .map(|line| {
            (text(line, "session_id"), (text(line, "workflow"), text(line, "phase"), text(line, "lifecycle")))
        })
        .collect()
}

#[test]
fn every_phase_and_number_of_both_workflows_is_read() {
    let sandbox = project();
    for (kind, phases) in [("review", &REVIEW[..]), ("map", &MAP[..])] {
        for (number, phase) in (1..).zip(phases) {
            let fields = json!({ "session_id": "x", "status": "active", "workflow_type": kind,
                "current_phase": phase, "phase_number": number, "started_at": NOW, "updated_at": NOW });
            foreign(&sandbox, &format!("{kind}-{number}"), &fields);
        }
    }
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["warnings"], json!([]));
    let listed = listed(&sandbox);
    assert_eq!(listed.len(), 14);
    for (kind, phases) in [("review", &REVIEW[..]), ("map", &MAP[..])] {
        for (number, phase) in (1..).zip(phases) {
            let (workflow, shown, _) = &listed[&format!("{kind}-{number}")];
            assert_eq!((workflow.as_str(), shown.as_str()), (kind, *phase));
        }
    }
}

#[test]
fn files_of_every_era_are_read_without_a_warning() {
    let sandbox = project();
    // A file of release 1.0. It has a branch, completed phases and reviewers, another name for phase 2, and
    // no status.
    foreign(
        &sandbox,
        "one",
        &json!({ "session_id": "one", "branch": "feature/x", "current_phase": "requirements",
            "phase_number": 2, "completed_phases": ["context"], "started_at": NOW,
            "reviewers": { "assigned": ["security-1"], "complete": [] } }),
    );
    // Before release 1.2.0, the files of a round were directly in the session's folder.
    foreign(
        &sandbox,
        "flat",
        &json!({ "session_id": "flat", "status": "active", "current_phase": "discourse", "phase_number": 6 }),
    );
    sandbox.write(".ocr/sessions/flat/reviews/security-1.md", "## Finding: one\n");
    sandbox.write(".ocr/sessions/flat/final.md", "Merge it.\n");
    // A map whose last phase has a name of its own. The tool drops the start of the map when it closes the
    // session.
    foreign(
        &sandbox,
        "map",
        &json!({ "session_id": "map", "workflow_type": "map", "status": "active",
            "current_phase": "map-complete", "phase_number": 6 }),
    );
    foreign(
        &sandbox,
        "closing",
        &json!({ "session_id": "closing", "status": "closed", "current_phase": "complete",
            "phase_number": 8, "current_round": 1, "updated_at": NOW }),
    );
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["warnings"], json!([]));
    let listed = listed(&sandbox);
    let is = |id: &str, workflow: &str, phase: &str, lifecycle: &str| {
        assert_eq!(listed[id], (workflow.to_owned(), phase.to_owned(), lifecycle.to_owned()), "{id}");
    };
    is("one", "review", "change-context", "active");
    is("flat", "review", "discourse", "active");
    is("map", "map", "complete", "active");
    is("closing", "review", "complete", "completed");
    let screen = sandbox.run(["progress", "--once", "--session", "flat"]).ok().stdout;
    assert!(screen.contains("Round 1: final, 1 reviewer\n  security-1: 1 finding\n"), "{screen}");
    assert!(screen.contains("\n.ocr/sessions/flat/final.md\n"), "{screen}");
}

#[test]
fn the_workflow_is_the_one_named_else_the_only_folder_else_the_phase_else_counted_else_a_review() {
    let sandbox = project();
    let with = |name: &str, folders: &[&str], fields: Value| {
        foreign(&sandbox, name, &fields);
        for folder in folders {
            std::fs::create_dir_all(sandbox.path(&format!(".ocr/sessions/{name}/{folder}"))).unwrap();
        }
    };
    let at = |phase: &str, number: u32| json!({ "session_id": "x", "current_phase": phase, "phase_number": number });
    let mut named = at("synthesis", 5);
    named["workflow_type"] = "map".into();
    with("named", &["rounds"], named);
    with("folder-map", &["map"], at("synthesis", 5));
    with("folder-rounds", &["rounds"], at("synthesis", 7));
    with("both", &["map", "rounds"], at("topology", 2));
    with("neither", &[], at("flow-analysis", 3));
    with("default", &[], at("synthesis", 7));
    with("folder-beats-phase", &["map"], at("context", 1));
    with("rounds-beat-phase", &["rounds"], at("topology", 2));
    let counting = |key: &str| json!({ "session_id": "x", "current_phase": "synthesis", key: 1 });
    with("counts-rounds", &[], counting("current_round"));
    with("counts-runs", &["map", "rounds"], counting("current_map_run"));
    with("only-a-folder", &["map"], counting("x_counts"));
    with("word-of-a-map", &[], at("map-complete", 6));
    with("word-of-a-map-in-both", &["map", "rounds"], at("map-complete", 6));
    let listed = listed(&sandbox);
    for (id, workflow) in [
        ("named", "map"),
        ("folder-map", "map"),
        ("folder-rounds", "review"),
        ("both", "map"),
        ("neither", "map"),
        ("default", "review"),
        ("folder-beats-phase", "map"),
        ("rounds-beat-phase", "review"),
        ("counts-rounds", "review"),
        ("counts-runs", "map"),
        ("only-a-folder", "map"),
        ("word-of-a-map", "map"),
        ("word-of-a-map-in-both", "map"),
    ] {
        assert_eq!(listed[id].0, workflow, "{id}");
    }
}

#[test]
fn the_last_by_name_that_is_not_closed_is_meant_and_a_broken_one_hides_none() {
    let sandbox = project();
    let healthy = json!({ "session_id": "x", "status": "active", "current_phase": "reviews",
        "phase_number": 4, "updated_at": NOW });
    foreign(&sandbox, "2026-11-09-older", &healthy);
    foreign(&sandbox, "2026-11-10-healthy", &healthy);
    let mut closed = healthy.clone();
    closed["status"] = "closed".into();
    foreign(&sandbox, "2026-11-11-closed", &closed);
    let mut complete = healthy;
    complete["current_phase"] = "complete".into();
    complete["phase_number"] = 8.into();
    complete["status"] = Value::Null;
    foreign(&sandbox, "2026-11-12-complete", &complete);
    foreign(&sandbox, "2026-11-13-nothing-in-it", &json!({}));
    sandbox.write(".ocr/sessions/2026-11-14-broken/state.json", "{\"session_id\"");
    std::fs::create_dir_all(sandbox.path(".ocr/sessions/2026-11-15-without")).unwrap();
    for folder in ["tmp", ".locks"] {
        sandbox.write(&format!(".ocr/sessions/{folder}/state.json"), "{\"current_phase\":\"reviews\"}");
        sandbox.write(&format!(".ocr/sessions/{folder}/context.md"), "x\n");
    }
    sandbox.write(".ocr/sessions/zzz.txt", "no session");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "2026-11-10-healthy");
    assert_eq!(listed(&sandbox).len(), 6, "tmp, .locks, an empty folder and a file are no sessions");
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.starts_with("2026-11-10-healthy\n"), "{screen}");
}

#[test]
fn the_name_says_which_is_the_last_and_no_time_does() {
    let sandbox = project();
    let at = |moment: &str| {
        json!({ "session_id": "x", "status": "active", "current_phase": "reviews", "phase_number": 4,
            "started_at": "2026-11-01T00:00:00Z", "updated_at": moment })
    };
    foreign(&sandbox, "2026-11-12-later", &at("2026-11-12T10:00:00Z"));
    foreign(&sandbox, "2026-11-10-earlier", &at("2026-11-14T09:59:00Z"));
    for (name, moment) in [("2026-11-12-later", "2026-11-12T10:00:00Z"), ("2026-11-10-earlier", NOW)] {
        let path = format!(".ocr/sessions/{name}/state.json");
        write_at(&sandbox, &path, &sandbox.read(&path), moment);
    }
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "2026-11-12-later");
    let shown = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(shown.starts_with("2026-11-12-later\n"), "{shown}");
}

#[test]
fn o1_a_map_stays_where_its_state_is_and_the_current_runs_map_is_told() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "map", "current_phase": "topology",
            "phase_number": 2, "current_map_run": 2, "updated_at": NOW }),
    );
    let stands = || phase(&sandbox.run(["status", "--session", ID, "--json"]).ok().json()).to_owned();
    artifact(&sandbox, "map/runs/run-1/map.md", "M\n");
    artifact(&sandbox, "map/runs/run-2/flow-analysis.md", "F\n");
    let told = || warnings(&sandbox.run(["status", "--session", ID, "--json"]).ok().json());
    assert_eq!((stands().as_str(), told().as_str()), ("topology", ""), "nothing of the first run counts");
    artifact(&sandbox, "map/runs/run-2/map.md", "M\n");
    assert_eq!(stands(), "topology");
    assert!(
        told().contains("map/runs/run-2/map.md exists, but the session is at phase 2 (topology)"),
        "{}",
        told()
    );
}

#[test]
fn a_session_without_a_state_is_worked_out_from_its_files() {
    let sandbox = project();
    let with = |name: &str, files: &[&str]| {
        for file in files {
            sandbox.write(&format!(".ocr/sessions/{name}/{file}"), "x\n");
        }
    };
    with("standards", &["discovered-standards.md"]);
    with("context", &["discovered-standards.md", "context.md"]);
    with("reviews", &["rounds/round-1/final.md", "rounds/round-2/reviews/a-1.md"]);
    with("discourse", &["rounds/round-1/discourse.md"]);
    with("final", &["rounds/round-3/final.md"]);
    with("map", &["map/runs/run-2/flow-analysis.md"]);
    with("map-with", &["map/runs/run-2/flow-analysis.md", "requirements.md"]);
    let listed = listed(&sandbox);
    for (id, workflow, phase) in [
        ("standards", "review", "change-context"),
        ("context", "review", "analysis"),
        ("reviews", "review", "reviews"),
        ("discourse", "review", "synthesis"),
        ("final", "review", "complete"),
        ("map", "map", "synthesis"),
        ("map-with", "map", "requirements-mapping"),
    ] {
        assert_eq!((listed[id].0.as_str(), listed[id].1.as_str()), (workflow, phase), "{id}");
    }
    let view = sandbox.run(["status", "--session", "reviews", "--json"]).ok().json();
    assert_eq!(view["run"]["ordinal"], 2);
    assert!(warnings(&view).contains("state.json: it is missing; the position was derived"));
}

#[test]
fn o1_a_review_stays_where_its_state_is_and_the_current_rounds_last_files_are_told() {
    let sandbox = project();
    let at = |round: u32| {
        json!({ "session_id": ID, "status": "active", "workflow_type": "review",
        "current_phase": "change-context", "phase_number": 2, "current_round": round, "updated_at": NOW })
    };
    foreign(&sandbox, ID, &at(2));
    for file in ["context.md", "rounds/round-1/discourse.md", "rounds/round-1/final.md"] {
        artifact(&sandbox, file, "x");
    }
    let stands = || phase(&sandbox.run(["status", "--session", ID, "--json"]).ok().json()).to_owned();
    let told = || warnings(&sandbox.run(["status", "--session", ID, "--json"]).ok().json());
    assert_eq!(stands(), "change-context");
    assert_eq!(told(), "", "neither context.md nor the first round's files say anything");
    artifact(&sandbox, "rounds/round-2/discourse.md", "");
    assert_eq!(told(), "", "an empty file says nothing");
    artifact(&sandbox, "rounds/round-2/discourse.md", "x");
    assert!(told().contains("rounds/round-2/discourse.md exists"), "{}", told());
    artifact(&sandbox, "rounds/round-2/final.md", "x");
    assert!(told().contains("discourse.md and .ocr/sessions"), "{}", told());
    assert!(told().contains("rounds/round-2/final.md exist, but the session is at phase 2"), "{}", told());
    assert_eq!(stands(), "change-context");
}

#[test]
fn fifteen_minutes_since_the_file_was_written_and_no_less_is_a_stall() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "current_phase": "reviews", "phase_number": 4,
            "started_at": "2026-11-14T01:00:00Z", "round_started_at": "2026-11-14T02:00:00Z",
            "updated_at": NOW }),
    );
    sandbox.at("2026-11-14T10:14:59Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["status"], "active");
    assert_eq!(view["progress"]["average_phase_seconds"], Value::Null, "when a phase ended is told nowhere");
    sandbox.at("2026-11-14T10:15:00Z");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "possibly_stalled");
}

fn second_worktree(sandbox: &Sandbox) -> std::path::PathBuf {
    std::fs::create_dir_all(sandbox.folder().join("second")).unwrap();
    let git = sandbox.path(".git/worktrees/second");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(git.join("commondir"), "../..\n").unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/feature/login\n").unwrap();
    let second = sandbox.folder().join("second").canonicalize().unwrap();
    std::fs::write(second.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    second
}

#[test]
fn a_session_in_files_is_not_torn_out_of_its_worktree() {
    let sandbox = project();
    let second = second_worktree(&sandbox);
    let there = second.display().to_string();
    sandbox.run(["start", "--layout", "ocr", "--id", ID]).ok();
    for words in [&["resume", ID][..], &["switch", ID]] {
        let refused = sandbox.run(["--project", &there].into_iter().chain(words.iter().copied())).code(4);
        assert!(refused.stderr.contains("belong to another worktree"), "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("leftoff resume {ID} --project ")), "{}", refused.stderr);
    }
    // A review of the same branch on the same day in another worktree is another review.
    let begun =
        sandbox.run(["--project", &there, "start", "--layout", "ocr", "--id", ID, "--json"]).ok().json();
    assert_ne!(begun["session_id"], ID);
    let written = std::fs::read(second.join(FOLDER).join("state.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap()["session_id"], ID, "its folder's name");
    sandbox.run(["--project", &there, "round", "--session", ID]);
    assert_eq!(meant(&sandbox), ID, "the first one stays where it is");
    assert!(sandbox.path(FOLDER).join("state.json").is_file());
}

#[test]
fn a_folder_in_which_nobody_has_begun_is_not_taken() {
    let sandbox = project();
    std::fs::create_dir_all(sandbox.path(FOLDER).join("rounds/round-1/reviews")).unwrap();
    sandbox.write(&format!("{FOLDER}/requirements.md"), "R\n");
    sandbox.run(["start", "map", "--layout", "ocr", "--id", ID]).ok();
    assert_eq!(state(&sandbox)["workflow_type"], "map");
    assert_eq!(sandbox.read(&format!("{FOLDER}/requirements.md")), "R\n");
    for file in ["context.md", "rounds/round-1/discourse.md"] {
        let sandbox = project();
        artifact(&sandbox, file, "x\n");
        sandbox.run(["start", "--layout", "ocr", "--id", ID]).code(4);
    }
}

#[test]
fn two_worktrees_with_a_folder_of_the_same_name_have_two_sessions() {
    let sandbox = project();
    let second = second_worktree(&sandbox);
    let there = second.display().to_string();
    let begin = |arguments: &[&str]| sandbox.run(arguments.iter().copied().chain(["--json"]));
    let fields = |phase: &str, number: u32| {
        json!({ "session_id": ID, "status": "active",
        "workflow_type": "review", "current_phase": phase, "phase_number": number, "updated_at": NOW })
    };
    foreign(&sandbox, ID, &fields("context", 1));
    std::fs::create_dir_all(second.join(FOLDER)).unwrap();
    std::fs::write(second.join(FOLDER).join("state.json"), fields("reviews", 4).to_string()).unwrap();
    begin(&["note", "first"]).ok();
    begin(&["--project", &there, "note", "second"]).ok();
    let (one, other) = (begin(&["status"]).ok().json(), begin(&["--project", &there, "status"]).ok().json());
    assert_ne!(one["session_id"], other["session_id"]);
    assert_eq!((phase(&one), phase(&other)), ("context", "reviews"));
    assert_eq!((&one["notes"][0]["text"], &other["notes"][0]["text"]), (&"first".into(), &"second".into()));
    begin(&["skip", "--reason", "no standards"]).ok();
    assert_eq!(state(&sandbox)["phase_number"], 2);
    let untouched: Value =
        serde_json::from_slice(&std::fs::read(second.join(FOLDER).join("state.json")).unwrap()).unwrap();
    assert_eq!(untouched["phase_number"], 4);
}

#[test]
fn beside_an_active_session_of_ours_what_is_printed_names_the_review() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "native", "--id", "ours"]).ok();
    let begun = sandbox.run(["start", "--layout", "ocr", "--id", ID, "--parallel"]).ok().stdout;
    let command = format!("leftoff advance --phase context --session {ID}");
    assert!(begun.contains(&command), "{begun}");
    let next = sandbox.run(["next", "--session", ID]).ok().stdout;
    assert!(next.contains(&command), "{next}");
    artifact(&sandbox, "discovered-standards.md", "x");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    sandbox.run(words).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "ours");
}

fn review(sandbox: &Sandbox, id: &str, status: &str, phase: &str, number: u32, at: &str) {
    let fields = json!({ "session_id": id, "status": status, "workflow_type": "review",
        "current_phase": phase, "phase_number": number, "started_at": NOW, "updated_at": at });
    foreign(sandbox, id, &fields);
}

fn meant(sandbox: &Sandbox) -> String {
    sandbox.run(["status", "--json"]).ok().json()["session_id"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_session_of_ours_that_the_tool_closed_hides_none_that_goes_on() {
    let sandbox = project();
    review(&sandbox, ID, "active", "reviews", 4, NOW);
    sandbox.run(["note", "taken in"]).ok();
    let next = "2026-11-13-older";
    review(&sandbox, next, "active", "analysis", 3, NOW);
    sandbox.at("2026-11-14T10:05:00Z");
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:04:00Z");
    assert_eq!(meant(&sandbox), ID, "its last file does not close it");
    edit(&sandbox, &json!({ "status": "closed", "current_phase": "complete", "phase_number": 8 }));
    assert_eq!(meant(&sandbox), next);
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.contains(next) && !screen.contains("Waiting"), "{screen}");
    sandbox.run(["note", "on the one that goes on"]).ok();
    let closed = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(closed["notes"].as_array().unwrap().len(), 1, "{closed}");
}

#[test]
fn of_our_own_reviews_the_last_by_name_that_is_not_closed_is_meant() {
    let sandbox = project();
    for id in ["2026-11-10-a", "2026-11-11-b", "2026-11-12-c"] {
        review(&sandbox, id, "active", "reviews", 4, NOW);
        sandbox.run(["note", "taken in", "--session", id]).ok();
    }
    review(&sandbox, "2026-11-12-c", "closed", "complete", 8, NOW);
    assert_eq!(meant(&sandbox), "2026-11-11-b");
}

#[test]
fn a_session_that_the_tool_has_gone_on_to_is_meant_and_not_the_one_before() {
    let sandbox = project();
    review(&sandbox, "2026-11-10-old", "active", "reviews", 4, NOW);
    sandbox.run(["note", "taken in"]).ok();
    review(&sandbox, ID, "active", "context", 1, "2026-11-14T09:59:00Z");
    assert_eq!(meant(&sandbox), "2026-11-10-old", "nothing has happened there since");
    sandbox.at("2026-11-14T10:05:00Z");
    review(&sandbox, ID, "active", "analysis", 3, "2026-11-14T10:04:00Z");
    assert_eq!(meant(&sandbox), ID);
    let printed = sandbox.run(["next", "--session", "2026-11-10-old"]).ok().stdout;
    assert!(printed.contains("--session 2026-11-10-old"), "{printed}");
    sandbox.at("2026-11-14T10:06:00Z");
    sandbox.run(["note", "back to it", "--session", "2026-11-10-old"]).ok();
    assert_eq!(meant(&sandbox), "2026-11-10-old", "whoever goes back to it means it");
}

#[test]
fn a_session_is_called_by_its_folders_name_whatever_letters_it_has() {
    let sandbox = project();
    for branch in ["fix(login)", "ümlaut", "a b"] {
        let folder = format!("2026-11-14-{branch}");
        review(&sandbox, &folder, "active", "reviews", 4, NOW);
        for taken_in in [false, true] {
            let view = sandbox.run(["show", &folder, "--json"]).ok().json();
            assert_eq!(phase(&view), "reviews", "{folder}, taken in: {taken_in}");
            sandbox.run(["note", "x", "--session", &folder]).ok();
        }
    }
}

#[test]
fn of_a_branch_only_the_slashes_are_others_in_the_folders_name() {
    let sandbox = project();
    sandbox.write(".git/HEAD", "ref: refs/heads/fix(login)/ü#1\n");
    sandbox.run(["start", "--layout", "ocr"]).ok();
    let folder = sandbox.path(".ocr/sessions/2026-11-14-fix(login)-ü#1");
    let state: Value = serde_json::from_slice(&std::fs::read(folder.join("state.json")).unwrap()).unwrap();
    assert_eq!(state["session_id"], "2026-11-14-fix(login)-ü#1");
    sandbox.run(["status", "--session", "2026-11-14-fix(login)-ü#1"]).ok();
}

#[test]
fn two_folders_whose_names_differ_only_in_case_are_two_sessions() {
    let sandbox = project();
    let (upper, lower) = ("2026-11-14-Fix", "2026-11-14-fix");
    review(&sandbox, upper, "active", "reviews", 4, NOW);
    review(&sandbox, lower, "active", "analysis", 3, NOW);
    for round in ["looked at", "taken in", "taken in again"] {
        for (folder, expected) in [(lower, "analysis"), (upper, "reviews")] {
            let view = sandbox.run(["show", folder, "--json"]).ok().json();
            assert_eq!(phase(&view), expected, "{folder}, {round}");
            if round != "looked at" {
                sandbox.run(["note", folder, "--session", folder]).ok();
            }
        }
        assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
    }
    for folder in [lower, upper] {
        let view = sandbox.run(["show", folder, "--json"]).ok().json();
        let notes: Vec<&Value> = view["notes"].as_array().unwrap().iter().map(|note| &note["text"]).collect();
        assert_eq!(notes, [folder, folder], "each has its own");
    }
}

#[test]
fn whoever_switches_to_a_review_means_it_from_then_on() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ocr", "--id", "2026-11-13-first"]).ok();
    sandbox.run(["start", "--layout", "ocr", "--id", "2026-11-14-second"]).ok();
    for id in ["2026-11-13-first", "2026-11-14-second"] {
        for command in ["switch", "resume"] {
            sandbox.run([command, id]).ok();
            assert_eq!(meant(&sandbox), id, "{command}");
            let again = sandbox.run([command, id, "--json"]).ok().json();
            assert_eq!(again["already"], true, "the same again changes nothing");
        }
    }
    sandbox.run(["start", "--layout", "native", "--id", "ours"]).ok();
    assert_eq!(meant(&sandbox), "ours");
    let switched = sandbox.run(["switch", "2026-11-13-first"]).ok();
    assert!(switched.stderr.contains("ours"), "what was paused is said: {}", switched.stderr);
    assert_eq!(meant(&sandbox), "2026-11-13-first");
}

#[test]
fn a_list_says_what_status_does_where_files_are_ahead_of_the_state() {
    for (kind, phase, number, file) in [
        ("review", "discourse", 6, "rounds/round-1/final.md"),
        ("review", "aggregation", 5, "rounds/round-1/discourse.md"),
        ("map", "topology", 2, "map/runs/run-1/map.md"),
    ] {
        let sandbox = project();
        let fields = json!({ "session_id": ID, "status": "active", "workflow_type": kind,
            "current_phase": phase, "phase_number": number, "started_at": NOW, "updated_at": NOW });
        foreign(&sandbox, ID, &fields);
        artifact(&sandbox, file, "x\n");
        let list = sandbox.run(["list", "--all", "--json"]).ok().json();
        let (line, view) = (&list["sessions"][0], sandbox.run(["show", ID, "--json"]).ok().json());
        assert_eq!(line["phase"], view["current_phase"]["id"], "{file}");
        assert_eq!(line["phases_done"], view["completed_phases"].as_array().unwrap().len(), "{file}");
        let is_over = |status: &Value| status == "completed";
        assert_eq!(is_over(&line["lifecycle"]), is_over(&view["status"]), "{file}");
    }
}

#[test]
fn commands_that_are_printed_mean_the_session_that_was_named() {
    let sandbox = project();
    sandbox.run(["start", "plan-implement-review"]).ok();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": "discourse",
            "phase_number": 6, "current_round": 1, "started_at": NOW, "updated_at": NOW }),
    );
    let of = |words: &[&str]| {
        let run = sandbox.run(words.iter().chain(&["--session", ID]));
        format!("{}{}", run.stdout, run.stderr)
    };
    for words in [
        &["gate"][..],
        &["status"],
        &["brief"],
        &["brief", "--format", "markdown"],
        &["next"],
        &["item", "list"],
        &["retry"],
        &["advance"],
        &["advance", "--phase", "context"],
        &["undo", "--to", "nothing"],
    ] {
        let told = of(words);
        let commands: Vec<&str> = told.split("leftoff ").skip(1).collect();
        assert!(!commands.is_empty(), "{words:?} prints none: {told}");
        for command in commands {
            let line = command.lines().next().unwrap();
            assert!(line.contains(&format!("--session {ID}")), "{words:?} prints {line:?} in\n{told}");
        }
    }
}

#[test]
fn only_another_session_that_one_can_go_on_with_is_called_similar() {
    let said = |sandbox: &Sandbox| sandbox.run(["start", "--layout", "ocr"]).ok().stderr;
    // The requirements existed before the session.
    let sandbox = project();
    artifact(&sandbox, "requirements.md", "R\n");
    assert!(!said(&sandbox).contains("similar"), "it is no other than itself");
    // The position of this session is unknown.
    let sandbox = project();
    sandbox.write(".ocr/sessions/2026-11-13-feature-login/state.json", "{");
    assert!(!said(&sandbox).contains("similar"), "nobody could go on with it");
    let sandbox = project();
    foreign(
        &sandbox,
        "2026-11-13-feature-login",
        &json!({ "session_id": "x", "status": "active", "current_phase": "reviews", "phase_number": 4 }),
    );
    let said = said(&sandbox);
    assert!(said.contains("continue that session: leftoff switch 2026-11-13-feature-login"), "{said}");
    sandbox.run(["switch", "2026-11-13-feature-login"]).ok();
}

/// The place of a session: only in files, or also in the log.
#[derive(Debug, Clone, Copy)]
enum Stands {
    /// The session is only in files.
    Theirs,
    TheirsClosed,
    TheirsBroken,
    /// The session is in the log.
    Ours,
    OursPaused,
    OursClosed,
}

const OLD: &str = "2026-11-10-old";
const NEW: &str = "2026-11-12-new";

/// Puts one session into this state. A session in the log changed at this moment, one that is only in files
/// at half past nine.
fn make(sandbox: &Sandbox, id: &str, stands: Stands, moment: &str) {
    let earlier = "2026-11-14T09:30:00Z";
    match stands {
        Stands::TheirsClosed => review(sandbox, id, "closed", "complete", 8, earlier),
        Stands::TheirsBroken => sandbox.write(&format!(".ocr/sessions/{id}/state.json"), "{"),
        Stands::Theirs | Stands::Ours | Stands::OursPaused | Stands::OursClosed => {
            review(sandbox, id, "active", "reviews", 4, earlier);
        }
    }
    sandbox.at(moment);
    let words: &[&str] = match stands {
        Stands::Theirs | Stands::TheirsClosed | Stands::TheirsBroken => return,
        Stands::Ours => &["note", "taken in"],
        Stands::OursPaused => &["pause"],
        Stands::OursClosed => &["close", "--force"],
    };
    sandbox.run(words.iter().chain(&["--session", id])).ok();
}

#[test]
fn which_of_two_is_meant_whoever_has_them_and_however_they_stand() {
    use Stands::{Ours, OursClosed, OursPaused, Theirs, TheirsBroken, TheirsClosed};
    // The state of the older session by name, the state of the newer one, and the session that is chosen.
    // Sessions in the log are changed in this order, with the newer one last.
    let table = [
        (Theirs, Theirs, NEW),
        (Theirs, TheirsClosed, OLD),
        (Theirs, TheirsBroken, OLD),
        (TheirsClosed, Theirs, NEW),
        (TheirsBroken, Theirs, NEW),
        // A session in use stays chosen until the tool continues in a later one.
        (Ours, Theirs, OLD),
        (Ours, TheirsClosed, OLD),
        (Ours, TheirsBroken, OLD),
        (Ours, Ours, NEW),
        (Ours, OursPaused, NEW),
        (Ours, OursClosed, OLD),
        // A paused session does not hide a later active one.
        (OursPaused, Theirs, NEW),
        (OursPaused, TheirsClosed, OLD),
        (OursPaused, TheirsBroken, OLD),
        (OursPaused, Ours, NEW),
        (OursPaused, OursPaused, NEW),
        (OursPaused, OursClosed, OLD),
        (OursClosed, Theirs, NEW),
        (OursClosed, Ours, NEW),
        (OursClosed, OursPaused, NEW),
        (Theirs, Ours, NEW),
        (Theirs, OursPaused, NEW),
        (Theirs, OursClosed, OLD),
        (TheirsClosed, OursPaused, NEW),
    ];
    for (old, new, expected) in table {
        let sandbox = project();
        make(&sandbox, OLD, old, "2026-11-14T10:01:00Z");
        make(&sandbox, NEW, new, "2026-11-14T10:02:00Z");
        sandbox.at("2026-11-14T10:03:00Z");
        assert_eq!(meant(&sandbox), expected, "{old:?}, {new:?}");
        let list = sandbox.run(["list", "--all", "--json"]).ok().json();
        let marked: Vec<&Value> =
            list["sessions"].as_array().unwrap().iter().filter(|line| line["current"] == true).collect();
        assert_eq!(marked.len(), 1, "{old:?}, {new:?}: {list}");
        assert_eq!(marked[0]["session_id"], expected, "{old:?}, {new:?}");
    }
    // Both sessions are in the log, and the older one was changed last.
    for (old, new, expected) in [
        (Ours, Ours, OLD),
        (OursPaused, Ours, NEW),
        (OursPaused, OursPaused, OLD),
        (OursClosed, OursClosed, OLD),
    ] {
        let sandbox = project();
        make(&sandbox, NEW, new, "2026-11-14T10:01:00Z");
        make(&sandbox, OLD, old, "2026-11-14T10:02:00Z");
        assert_eq!(meant(&sandbox), expected, "{old:?} last, {new:?}");
    }
}

#[test]
fn the_command_that_takes_a_session_in_tells_its_number() {
    let sandbox = project();
    review(&sandbox, ID, "active", "reviews", 4, NOW);
    let number = sandbox.run(["note", "x", "--json"]).ok().json()["number"].clone();
    assert_eq!((&number, &sandbox.run(["status", "--json"]).ok().json()["number"]), (&1.into(), &number));
}
