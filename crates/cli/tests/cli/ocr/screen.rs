//! Tests of `progress --once`, which shows the tool's own view.

use super::*;
use serde_json::json;

fn screen(sandbox: &Sandbox, words: &[&str]) -> String {
    sandbox.run(["progress", "--once"].iter().chain(words)).ok().stdout
}

#[test]
fn the_bar_has_24_cells_and_percent_and_labels_are_the_tools_own() {
    let labels = |kind: &str| match kind {
        "review" => vec![
            "Context Discovery",
            "Change Context",
            "Tech Lead Analysis",
            "Parallel Reviews",
            "Aggregate Findings",
            "Reviewer Discourse",
            "Final Synthesis",
            "Complete",
        ],
        _ => vec![
            "Context Discovery",
            "Topology Analysis",
            "Flow Tracing",
            "Requirements Mapping",
            "Map Synthesis",
            "Complete",
        ],
    };
    for (kind, phases, figures) in [
        (
            "review",
            &REVIEW[..],
            &[(13, 3), (25, 6), (38, 9), (50, 12), (63, 15), (75, 18), (88, 21), (100, 24)][..],
        ),
        ("map", &MAP[..], &[(17, 4), (33, 8), (50, 12), (67, 16), (83, 20), (100, 24)][..]),
    ] {
        let sandbox = project();
        artifact(&sandbox, "requirements.md", "x");
        for (position, (percent, full)) in figures.iter().enumerate() {
            let number = position + 1;
            foreign(
                &sandbox,
                ID,
                &json!({ "session_id": ID, "status": "active", "workflow_type": kind,
                    "current_phase": phases[position], "phase_number": number, "started_at": NOW }),
            );
            let screen = screen(&sandbox, &["--session", ID]);
            // A finished map has been presented. An active review has not.
            let is_past = |at: usize| at < position || (number == phases.len() && kind == "map");
            let bar = format!("{}{} {percent} %", "█".repeat(*full), "░".repeat(24 - full));
            assert!(screen.contains(&bar), "{bar} is not in\n{screen}");
            for (at, label) in labels(kind).into_iter().enumerate() {
                let mark = match at {
                    // These phases write no file.
                    at if is_past(at) && ["reviews", "aggregation", "complete"].contains(&phases[at]) => "✓",
                    at if is_past(at) => "?",
                    at if at == position => "▸",
                    _ => "·",
                };
                assert!(
                    screen.contains(&format!("  {mark} {label}\n")),
                    "{mark} {label} is not in\n{screen}"
                );
            }
            assert_eq!(screen.contains("? claimed: no file proves it\n"), position > 0, "{screen}");
        }
    }
}

/// The marks of the phases, in order.
fn marks(screen: &str) -> String {
    let lines = screen.lines().filter(|line| line.starts_with("  ") && !line.contains(':'));
    lines.map(|line| line.trim_start().chars().next().unwrap()).collect()
}

#[test]
fn a_tick_is_for_what_a_file_shows_or_where_there_is_none_for_what_the_number_is_past() {
    let sandbox = project();
    let at = |phase: &str, number: u32| {
        let fields = json!({ "session_id": ID, "status": "active", "workflow_type": "review",
            "current_phase": phase, "phase_number": number, "current_round": 2, "started_at": NOW });
        foreign(&sandbox, ID, &fields);
        marks(&screen(&sandbox, &["--session", ID]))
    };
    assert_eq!(at("analysis", 3), "??▸·····", "nothing is there");
    artifact(&sandbox, "discovered-standards.md", "S\n");
    assert_eq!(at("analysis", 3), "✓?▸·····");
    artifact(&sandbox, "context.md", "C\n");
    assert_eq!(at("context", 1), "▸✓✓·····", "the tool ticks what is there");
    artifact(&sandbox, "rounds/round-1/discourse.md", "D\n");
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    assert_eq!(at("synthesis", 7), "✓✓✓✓✓?▸·", "the first round's files are the first round's");
    artifact(&sandbox, "rounds/round-2/discourse.md", "D\n");
    assert_eq!(at("synthesis", 7), "✓✓✓✓✓✓▸·");
    artifact(&sandbox, "rounds/round-2/final.md", "F\n");
    assert_eq!(at("complete", 8), "✓✓✓✓✓✓✓▸", "it is to be presented");

    let sandbox = begun();
    sandbox.run(["skip", "--reason", "there are none"]).ok();
    assert_eq!(marks(&screen(&sandbox, &[])), "–▸······", "what was left out on purpose is no claim");
}

#[test]
fn what_the_tool_shows_nonsense_for_is_shown_with_its_reason() {
    for (text, reason) in [
        ("{}", "current_phase is missing"),
        ("null", "it is not a JSON object"),
        ("{\"session_id\":\"x\",\"status\":", "it is not JSON"),
        (
            r#"{"session_id":"x","current_phase":"reviews","phase_number":4,"started_at":"soon"}"#,
            "started_at is 'soon', which is not a time",
        ),
        (
            r#"{"session_id":"x","current_phase":"reviews","phase_number":9}"#,
            "phase_number 9 is not in the range 1 to 8",
        ),
        (
            r#"{"session_id":"x","current_phase":"odd","phase_number":9}"#,
            "phase_number 9 is not in the range 1 to 8",
        ),
    ] {
        let sandbox = project();
        sandbox.write(&format!("{FOLDER}/state.json"), text);
        let shown = sandbox.run(["progress", "--once"]).ok();
        assert!(shown.stdout.starts_with(&format!("{ID}\nReview  Round 1")), "{text}: {}", shown.stdout);
        assert!(shown.stdout.contains(" %\n") && !shown.stdout.contains("NaN"), "{text}: {}", shown.stdout);
        assert!(shown.stderr.contains(&format!("state.json: {reason}")), "{text}: {}", shown.stderr);
    }
}

#[test]
fn the_clock_of_a_round_that_is_over_stands_still() {
    let shown = |sandbox: &Sandbox| {
        let at = |time: &str| {
            sandbox.at(time);
            screen(sandbox, &["--session", ID]).lines().nth(1).unwrap().to_owned()
        };
        (at("2026-11-14T11:00:00Z"), at("2026-11-14T17:00:00Z"))
    };
    let expected = |kind: &str| (format!("{kind}  50m 0s"), format!("{kind}  50m 0s"));
    for (kind, status, result, title) in [
        ("review", "closed", "rounds/round-1/final.md", "Review  Round 1"),
        ("map", "active", "map/runs/run-1/map.md", "Map  Run 1"),
    ] {
        let sandbox = project();
        foreign(
            &sandbox,
            ID,
            &json!({ "session_id": ID, "status": status, "workflow_type": kind, "current_phase": "complete",
                "started_at": NOW, "updated_at": "2026-11-14T10:50:00Z" }),
        );
        artifact_at(&sandbox, result, "F\n", "2026-11-14T10:45:00Z");
        assert_eq!(shown(&sandbox), expected(title));
        sandbox.run(["note", "seen", "--session", ID]).ok();
        assert_eq!(shown(&sandbox), expected(title), "a word about it does not make it longer");
    }
}

#[test]
fn elapsed_counts_from_the_round_else_the_session_and_never_below_nothing() {
    let sandbox = project();
    let mut fields = json!({ "session_id": ID, "status": "active", "current_phase": "reviews",
        "phase_number": 4, "started_at": "2026-11-14T08:57:57Z" });
    let shown = |fields: &Value| {
        foreign(&sandbox, ID, fields);
        let screen = screen(&sandbox, &[]);
        // The new review is shown beside the map.
        screen.lines().nth(1).unwrap().split("   ").next().unwrap().to_owned()
    };
    assert_eq!(shown(&fields), "Review  Round 1  1h 2m 3s");
    fields["round_started_at"] = "2026-11-14T09:57:58Z".into();
    assert_eq!(shown(&fields), "Review  Round 1  2m 2s");
    fields["round_started_at"] = "2026-11-14T11:50:00+02:00".into();
    assert_eq!(shown(&fields), "Review  Round 1  10m 0s", "with an offset from UTC");
    fields["round_started_at"] = "2026-11-14T19:00:00Z".into();
    assert_eq!(shown(&fields), "Review  Round 1  0s");
    fields["workflow_type"] = "map".into();
    fields["current_phase"] = "topology".into();
    fields["phase_number"] = 2.into();
    assert_eq!(shown(&fields), "Map  Run 1  1h 2m 3s", "a map has a clock of its own");
    fields["map_started_at"] = "2026-11-14T09:59:30Z".into();
    assert_eq!(shown(&fields), "Map  Run 1  30s");
}

#[test]
fn hand_written_times_are_flagged_and_make_nothing_negative() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "current_phase": "reviews", "phase_number": 4,
            "started_at": "2026-11-14T09:00:00Z", "round_started_at": "2026-11-14T08:00:00Z",
            "updated_at": "2027-01-29T22:00:00Z" }),
    );
    let view = sandbox.run(["status", "--json"]).ok().json();
    for expected in [
        "state.json: updated_at is in the future: 2027-01-29T22:00:00Z",
        "state.json: round_started_at is before started_at",
    ] {
        assert!(warnings(&view).contains(expected), "{expected} is not in\n{}", warnings(&view));
    }
    let seconds = |view: &Value| {
        let phases = view["phases"].as_array().unwrap().iter();
        let mut all: Vec<Value> = phases.map(|phase| phase["duration_seconds"].clone()).collect();
        all.push(view["progress"]["time_in_phase_seconds"].clone());
        all.into_iter().filter_map(|value| value.as_i64()).collect::<Vec<i64>>()
    };
    assert!(seconds(&view).iter().all(|seconds| *seconds >= 0), "{view}");
    sandbox.run(["note", "taken in"]).ok();
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert!(warnings(&view).contains("round_started_at is before started_at"), "taken in, and flagged still");
    assert!(seconds(&view).iter().all(|seconds| *seconds >= 0), "{view}");
}

#[test]
fn reviewers_findings_and_files_of_a_map_are_counted() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "review",
            "current_phase": "reviews", "phase_number": 4, "started_at": NOW }),
    );
    let reviews =
        "# Security\r\n##  Finding 1\r\n## Issue: b\r\n## Suggestion\r\n### Finding\r\n##Finding\r\n";
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", reviews);
    artifact(&sandbox, "rounds/round-1/reviews/quality-2.md", "## Finding\n");
    artifact(&sandbox, "rounds/round-1/reviews/quality-1.md", "nothing\n");
    let shown = screen(&sandbox, &[]);
    let expected = "Round 1: in progress, 3 reviewers\n  quality-1: 0 findings\n  quality-2: 1 finding\n  security-1: 3 findings\n";
    assert!(shown.contains(expected), "{shown}");
    let topology = "# T\n## Canonical File List\n\n```text\na.rs\nb.rs\n```\n\n```\nc.rs\n```\n";
    artifact(&sandbox, "map/runs/run-1/topology.md", topology);
    assert!(screen(&sandbox, &[]).contains("Map run 1: in progress, 2 files"));
}

#[test]
fn both_workflows_stand_side_by_side() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "map", "current_phase": "topology",
            "phase_number": 2, "started_at": NOW, "map_started_at": NOW }),
    );
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding\n");
    artifact(&sandbox, "rounds/round-1/final.md", "x");
    artifact(&sandbox, "map/runs/run-1/topology.md", "x");
    let shown = screen(&sandbox, &[]);
    for expected in [
        "Map  Run 1  0s                   Review  Round 1\n",
        "████████░░░░░░░░░░░░░░░░ 33 %    ████████████████████████ 100 %  Done\n",
        "  ▸ Topology Analysis              ? Change Context\n",
        "  · Complete                       ✓ Aggregate Findings\n",
        "\n.ocr/sessions/2026-11-14-feature-login/rounds/round-1/final.md\n",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in\n{shown}");
    }
    assert!(!shown.contains("Requirements Mapping"), "there is no requirements.md:\n{shown}");
}

#[test]
fn a_round_that_has_no_file_yet_is_the_one_that_stands_beside_a_map() {
    let sandbox = begun();
    artifact(&sandbox, "context.md", "x");
    artifact(&sandbox, "rounds/round-1/final.md", "x");
    sandbox.run(["round"]).ok();
    sandbox.run(["run", "start", "map"]).ok();
    let shown = screen(&sandbox, &[]);
    for expected in
        ["Map  Run 1  0s                   Review  Round 2  0s\n", "17 %    ███░░░░░░░░░░░░░░░░░░░░░ 13 %\n"]
    {
        assert!(shown.contains(expected), "{expected:?} is not in\n{shown}");
    }
    assert!(shown.contains("Round 1: final, 0 reviewers"), "{shown}");
    assert!(!shown.contains("Done"), "{shown}");
}

#[test]
fn a_closed_session_is_waited_beside_and_shown_by_its_name() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "closed", "current_phase": "complete", "phase_number": 8,
            "current_round": 2, "started_at": "2026-11-14T08:00:00Z",
            "round_started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:10:00Z" }),
    );
    artifact(&sandbox, "rounds/round-2/final.md", "x");
    let waiting = screen(&sandbox, &[]);
    assert!(waiting.starts_with("Waiting for session… (the last one, 2026-11-14-feature-login, is closed;"));
    let shown = screen(&sandbox, &["--session", "2026-11"]);
    for expected in [
        "Review  Round 2  10m 0s\n",
        "████████████████████████ 100 %  Done\n",
        "  ✓ Complete\n",
        "\n.ocr/sessions/2026-11-14-feature-login/rounds/round-2/final.md\n",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in\n{shown}");
    }
    assert!(screen(&project(), &[]).starts_with("Waiting for session… (no session here;"));
    let mut fields = state(&sandbox);
    fields["updated_at"] = "2027-11-14T09:10:00Z".into();
    foreign(&sandbox, ID, &fields);
    let shown = screen(&sandbox, &["--session", ID]);
    assert!(shown.contains("Review  Round 2  1h 0m 0s\n"), "it was not closed later than now: {shown}");
}

#[test]
fn a_map_that_is_finished_and_active_is_shown() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "map", "current_phase": "complete",
            "phase_number": 6, "current_map_run": 1, "started_at": NOW }),
    );
    artifact(&sandbox, "map/runs/run-1/map.md", "x");
    let shown = screen(&sandbox, &[]);
    assert!(shown.contains("████████████████████████ 100 %  Done\n"), "{shown}");
    assert!(shown.contains("\n.ocr/sessions/2026-11-14-feature-login/map/runs/run-1/map.md\n"), "{shown}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], ID);
}

#[test]
fn a_brief_tells_the_branch_that_the_review_is_about() {
    let sandbox = project();
    let name = "2026-01-31-feat-login";
    foreign(&sandbox, name, &json!({"current_phase": "reviews", "phase_number": 4, "branch": "fix/logout"}));
    let brief = || sandbox.run(["brief", "--session", name]).ok().stdout;
    assert!(brief().contains("branch fix/logout"), "{}", brief());
    sandbox.run(["note", "taken in", "--session", name]).ok();
    assert!(brief().contains("branch fix/logout"), "{}", brief());
    foreign(&sandbox, "2026-02-01-other", &json!({"current_phase": "reviews", "phase_number": 4}));
    let other = sandbox.run(["brief", "--session", "2026-02-01-other", "--format", "json"]).ok().json();
    assert_eq!(other["branch"], "feature/login", "what is checked out, where nothing else is said");
}

#[test]
fn a_flag_says_which_workflow() {
    let sandbox = project();
    let fields = json!({ "session_id": ID, "status": "active", "workflow_type": "review",
        "current_phase": "reviews", "phase_number": 4, "current_round": 1, "started_at": NOW,
        "map_started_at": NOW, "updated_at": NOW });
    foreign(&sandbox, ID, &fields);
    artifact(&sandbox, "map/runs/run-1/topology.md", "T\n");
    sandbox.at("2026-11-14T10:02:03Z");
    let both = screen(&sandbox, &[]);
    assert!(both.contains("Review  Round 1") && both.contains("Map  Run 1"), "{both}");
    let map = screen(&sandbox, &["--workflow", "map"]);
    assert!(map.contains("Map  Run 1  2m 3s") && !map.contains("Review"), "{map}");
    let review = screen(&sandbox, &["--workflow", "review"]);
    assert!(review.contains("Review  Round 1") && !review.contains("Map"), "{review}");
    sandbox.run(["progress", "--once", "--workflow", "essay"]).code(2);

    std::fs::remove_dir_all(sandbox.path(FOLDER).join("map")).unwrap();
    foreign(&sandbox, ID, &json!({ "session_id": ID, "current_phase": "reviews", "phase_number": 4 }));
    let none = screen(&sandbox, &["--workflow", "map"]);
    assert!(none.starts_with("Waiting for session…") && none.contains(&format!("{ID} has no map")), "{none}");
}

#[test]
fn a_round_that_was_left_for_the_next_one_is_not_told_as_finished() {
    let sandbox = project();
    let fields = json!({ "session_id": ID, "status": "active", "workflow_type": "review",
        "current_phase": "reviews", "phase_number": 4, "current_round": 2, "started_at": NOW,
        "updated_at": NOW });
    foreign(&sandbox, ID, &fields);
    artifact(&sandbox, "context.md", "C\n");
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding\n");
    artifact(&sandbox, "rounds/round-2/reviews/security-1.md", "## Finding\n");
    let shown = screen(&sandbox, &[]);
    assert!(shown.contains("Round 1: left unfinished, 1 reviewer"), "{shown}");
    assert!(shown.contains("Round 2: in progress, 1 reviewer"), "{shown}");
    let history = sandbox.run(["history", "--session", ID]).ok().stdout;
    let first = history.split("Run 2 of review").next().unwrap();
    assert!(first.contains("Run 1 of review") && first.contains("ended unfinished"), "{history}");
    assert!(first.contains("7 Final Synthesis: not started"), "{history}");
    // A missing file does not prevent that the session is closed.
    edit(&sandbox, &json!({ "status": "closed", "current_phase": "complete", "phase_number": 8 }));
    sandbox.run(["note", "taken in", "--session", ID]).ok();
    assert_eq!(sandbox.run(["show", ID, "--json"]).ok().json()["status"], "completed");
}

#[test]
fn of_a_session_that_was_given_up_the_way_on_is_one_that_goes() {
    let sandbox = begun();
    sandbox.run(["abandon"]).ok();
    let waiting = screen(&sandbox, &[]);
    assert!(waiting.contains("is abandoned;"), "{waiting}");
    assert!(waiting.contains(&format!("reopen it: leftoff reopen {ID})")), "{waiting}");
    let refused = sandbox.run(["round"]).code(4).stderr;
    assert!(refused.contains(&format!("reopen the session: leftoff reopen {ID}")), "{refused}");
    sandbox.run(["reopen", ID]).ok();
    assert!(screen(&sandbox, &[]).starts_with(ID), "it goes on");
}

/// The first line of a view that contains this workflow, beginning with its name.
fn column<'a>(screen: &'a str, word: &str) -> &'a str {
    screen
        .lines()
        .find_map(|line| line.find(word).map(|at| &line[at..]))
        .unwrap_or_else(|| panic!("{screen}"))
}

/// The second of two columns: its percentage and its phase.
fn beside(screen: &str) -> (String, Option<String>) {
    let second = |line: &str| line.chars().skip(33).collect::<String>();
    let percent = second(screen.lines().nth(2).unwrap()).trim_matches(['█', '░', ' ']).to_owned();
    let current = screen.lines().map(second).find(|text| text.contains('▸'));
    (percent, current.map(|text| text.trim_matches(['▸', ' ']).to_owned()))
}

#[test]
fn what_stands_beside_a_map_stands_where_the_log_has_it() {
    let sandbox = begun();
    let mut fields = state(&sandbox);
    fields["current_phase"] = "aggregation".into();
    fields["phase_number"] = 5.into();
    foreign(&sandbox, ID, &fields);
    sandbox.run(["note", "taken in"]).ok();
    assert!(screen(&sandbox, &[]).contains(" 63 %\n"));
    sandbox.run(["run", "start", "map"]).ok();
    let there = |percent: &str, phase: &str| (percent.to_owned(), Some(phase.to_owned()));
    assert_eq!(beside(&screen(&sandbox, &[])), there("63 %", "Aggregate Findings"));
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding\n");
    assert_eq!(
        beside(&screen(&sandbox, &[])),
        there("63 %", "Aggregate Findings"),
        "files do not move it back"
    );
    let review = screen(&sandbox, &["--workflow", "review"]);
    assert!(review.contains(" 63 %\n") && review.contains("  ▸ Aggregate Findings\n"), "{review}");
    artifact(&sandbox, "rounds/round-1/discourse.md", "D\n");
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    assert_eq!(
        beside(&screen(&sandbox, &[])),
        there("63 %", "Aggregate Findings"),
        "nor forward: nobody has called those phases done"
    );
    artifact(&sandbox, "rounds/round-2/reviews/security-1.md", "## Finding\n");
    let shown = screen(&sandbox, &[]);
    assert!(column(&shown, "Review").starts_with("Review  Round 2"), "{shown}");
    assert_eq!(beside(&shown), there("50 %", "Parallel Reviews"), "one that the log does not know");
}

#[test]
fn a_later_run_of_a_map_beside_a_review_is_not_moved_by_the_first_ones_files() {
    let sandbox = begun();
    sandbox.run(["run", "start", "map"]).ok();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    artifact(&sandbox, "map/runs/run-1/map.md", "M\n");
    sandbox.run(["run", "start", "map"]).ok();
    sandbox.run(["run", "start", "review"]).ok();
    let shown = screen(&sandbox, &[]);
    assert!(column(&shown, "Map").starts_with("Map  Run 2"), "{shown}");
    assert_eq!(beside(&shown), ("17 %".to_owned(), Some("Context Discovery".to_owned())), "{shown}");

    let sandbox = begun();
    sandbox.run(["skip", "--reason", "there are none"]).ok();
    sandbox.run(["run", "start", "map"]).ok();
    let shown = screen(&sandbox, &[]);
    assert_eq!(beside(&shown).0, "25 %", "{shown}");
    assert!(shown.contains("– Context Discovery\n"), "left out on purpose, beside it too: {shown}");
}

#[test]
fn a_session_that_was_closed_unfinished_says_so_where_it_was_left() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding\n");
    sandbox.at("2026-11-14T10:10:00Z");
    sandbox.run(["close", "--force"]).ok();
    sandbox.at("2026-11-14T12:00:00Z");
    let shown = screen(&sandbox, &["--session", ID]);
    assert!(shown.contains("Review  Round 1  10m 0s\n"), "{shown}");
    assert!(shown.contains(" 13 %  Closed unfinished\n"), "{shown}");
    assert_eq!(marks(&shown), "▸·······", "{shown}");
    assert!(shown.contains("Round 1: left unfinished, 1 reviewer"), "nothing goes on in it: {shown}");
    sandbox.run(["round", "--session", ID]).ok();
    let again = screen(&sandbox, &["--session", ID]);
    assert!(again.contains(" 13 %\n") && !again.contains("Closed"), "it was begun again: {again}");

    for (kind, phase, number, percent, ticks) in
        [("review", "reviews", 4, 50, "???▸····"), ("map", "topology", 2, 33, "?▸···")]
    {
        let sandbox = project();
        let fields = json!({ "session_id": ID, "status": "closed", "workflow_type": kind,
            "current_phase": phase, "phase_number": number, "started_at": NOW, "updated_at": NOW });
        foreign(&sandbox, ID, &fields);
        let shown = screen(&sandbox, &["--session", ID]);
        assert!(shown.contains(&format!(" {percent} %  Closed unfinished\n")), "{kind}: {shown}");
        assert_eq!(marks(&shown), ticks, "{kind}: {shown}");
        sandbox.run(["note", "taken in", "--session", ID]).ok();
        assert_eq!(screen(&sandbox, &["--session", ID]), shown, "{kind}: taking it in changes nothing");
    }
}

#[test]
fn a_session_that_was_given_up_says_so_where_it_was_left() {
    let sandbox = begun();
    sandbox.run(["abandon"]).ok();
    sandbox.at("2026-11-14T12:00:00Z");
    let shown = screen(&sandbox, &["--session", ID]);
    assert!(shown.contains("Review  Round 1  0s\n"), "its clock stands still: {shown}");
    assert!(shown.contains(" 13 %  Abandoned\n") && !shown.contains("Done"), "{shown}");
    sandbox.run(["reopen", ID]).ok();
    assert!(screen(&sandbox, &[]).contains(" 13 %\n"), "it goes on");
}

#[test]
fn a_clock_counts_the_seconds_that_have_passed_whole() {
    let sandbox = project();
    for (began, shown) in [
        ("2026-11-14T09:59:59.999Z", "0s"),
        ("2026-11-14T09:59:59Z", "1s"),
        ("2026-11-14T10:00:00.5Z", "0s"),
        ("2026-11-14T09:58:59.001Z", "1m 0s"),
    ] {
        let fields = json!({ "session_id": ID, "status": "active", "workflow_type": "review",
            "current_phase": "reviews", "phase_number": 4, "started_at": began, "round_started_at": began });
        foreign(&sandbox, ID, &fields);
        let screen = screen(&sandbox, &["--session", ID]);
        assert!(screen.contains(&format!("Review  Round 1  {shown}\n")), "{began}: {screen}");
    }
}
