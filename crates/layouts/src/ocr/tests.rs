use super::rounds_and_runs::Reviewer;
use super::session::{OcrSession, OcrWorkflow};
use super::*;
use crate::layout::Proof;
use crate::screen::Mark;
use crate::tree::Entry;
use jiff::Timestamp;
use model::actor::Actor;
use model::session::Session;
use model::status::Status;

const NOW: &str = "2026-02-01T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

/// A folder with these files; parent folders are implied.
fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        let mut parent = String::new();
        for part in
            path.rsplit_once('/').map(|(folder, _)| folder).into_iter().flat_map(|folder| folder.split('/'))
        {
            parent = if parent.is_empty() { part.to_owned() } else { format!("{parent}/{part}") };
            tree.insert(parent.clone(), Entry::Folder);
        }
        tree.insert(*path, Entry::File(text.as_bytes().to_vec()));
    }
    tree
}

fn reading(files: &[(&str, &str)]) -> Reading<OcrSession> {
    read("2026-01-31-feature-x", &tree(files), now())
}

fn told(tree: &Tree) -> Reading<ForeignSession> {
    let spot = Ocr.identify(".ocr/sessions/2026-01-31-feature-x", true).expect("a session's folder");
    Ocr.read(&Folder { spot: &spot, id: &spot.id, worktree: "/w", tree, now: now(), read_as: ReadAs::Found })
}

/// A session folded from its files.
fn folded(tree: &Tree) -> Session {
    let actor = Actor::person("ocr", String::new());
    told(tree).value.fold(&actor).expect("a session").1
}

/// Expects these files to give this workflow, run, phase and status, and these warnings.
#[track_caller]
fn check(files: &[(&str, &str)], expected: (&str, u32, &str, Status), warnings: &[&str]) {
    let tree = tree(files);
    let (reading, session) = (told(&tree), folded(&tree));
    let run = session.run().expect("a run");
    let found =
        (run.workflow.name.as_str(), run.ordinal, run.current().id().as_str(), Status::of(&session, now()));
    assert_eq!(found, expected);
    let said: Vec<String> = reading.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), warnings.len(), "{said:?}");
    for (said, expected) in said.iter().zip(warnings) {
        assert!(said.contains(expected), "{expected:?} is not in {said:?}");
    }
}

fn state(fields: &str) -> String {
    format!("{{\"session_id\":\"2026-01-31-feature-x\",{fields}}}")
}

const TIMES: &str = "\"started_at\":\"2026-01-31T09:00:00Z\",\"updated_at\":\"2026-01-31T10:00:00Z\"";

#[test]
fn a_review_in_the_middle() {
    let json = state(&format!(
        "\"status\":\"active\",\"workflow_type\":\"review\",\"current_phase\":\"reviews\",\"phase_number\":4,\"current_round\":1,{TIMES}"
    ));
    check(&[("state.json", &json)], ("review", 1, "reviews", Status::PossiblyStalled), &[]);
}

#[test]
fn a_finished_review_is_closed_and_a_finished_map_stays_active() {
    let json = state(&format!(
        "\"status\":\"closed\",\"current_phase\":\"complete\",\"phase_number\":8,\"current_round\":1,{TIMES}"
    ));
    check(
        &[("state.json", &json), ("rounds/round-1/final.md", "x")],
        ("review", 1, "complete", Status::Completed),
        &[],
    );
    let json = state(&format!(
        "\"status\":\"active\",\"workflow_type\":\"map\",\"current_phase\":\"map-complete\",\"phase_number\":6,\"current_map_run\":1,{TIMES}"
    ));
    check(
        &[("state.json", &json), ("map/runs/run-1/map.md", "x")],
        ("map", 1, "complete", Status::Active),
        &[],
    );
}

#[test]
fn no_file_of_a_round_moves_a_phase_past_the_states() {
    let json =
        state(&format!("\"current_phase\":\"reviews\",\"phase_number\":4,\"current_round\":2,{TIMES}"));
    let first = ("rounds/round-1/final.md", "done");
    check(
        &[("state.json", &json), first, ("rounds/round-2/reviews/a-1.md", "x"), ("context.md", "x")],
        ("review", 2, "reviews", Status::PossiblyStalled),
        &[],
    );
    check(
        &[("state.json", &json), first, ("rounds/round-2/discourse.md", "x")],
        ("review", 2, "reviews", Status::PossiblyStalled),
        &[],
    );
}

#[test]
fn o1_final_md_does_not_close_a_session_or_move_its_phase() {
    for (phase, number) in [("reviews", 4), ("synthesis", 7), ("complete", 8)] {
        for status in ["\"status\":\"active\",", ""] {
            if (phase, status) == ("complete", "") {
                continue;
            }
            let json = state(&format!(
                "{status}\"current_phase\":\"{phase}\",\"phase_number\":{number},\"current_round\":1,{TIMES}"
            ));
            let files = [("state.json", json.as_str()), ("rounds/round-1/final.md", "x")];
            check(&files, ("review", 1, phase, Status::PossiblyStalled), &[]);
            let reading = told(&tree(&files)).value;
            let work: Vec<&Proof> = reading
                .proofs
                .iter()
                .filter(|proof| matches!(proof, Proof::Work { .. } | Proof::Result { .. }))
                .collect();
            assert_eq!(work.len(), 2, "the file and the round's end are facts: {work:?}");
        }
    }
    let json = state(&format!(
        "\"status\":\"active\",\"workflow_type\":\"map\",\"current_phase\":\"topology\",\"phase_number\":2,{TIMES}"
    ));
    let files = [("state.json", json.as_str()), ("map/runs/run-1/map.md", "x")];
    check(&files, ("map", 1, "topology", Status::PossiblyStalled), &[]);
}

#[test]
fn o2_complete_is_a_phase_of_its_own_until_the_review_is_closed() {
    let at = |status: &str| {
        let json = state(&format!(
            "\"status\":\"{status}\",\"current_phase\":\"complete\",\"phase_number\":8,\"current_round\":1,{TIMES}"
        ));
        let session = folded(&tree(&[("state.json", &json)]));
        let run = session.run().expect("a run");
        (run.current().status(), run.is_open(), session.lifecycle.name())
    };
    assert_eq!(at("active"), ("in_progress", true, "active"));
    assert_eq!(at("closed"), ("completed", false, "completed"));
}

#[test]
fn o3_the_status_alone_closes_a_session() {
    let line = |status: &str, phase: &str, number: u32| {
        let json = state(&format!(
            "{status}\"workflow_type\":\"review\",\"current_phase\":\"{phase}\",\"phase_number\":{number},{TIMES}"
        ));
        let tree = tree(&[("state.json", &json), ("rounds/round-1/final.md", "x")]);
        let spot = Ocr.identify(".ocr/sessions/2026-01-31-feature-x", true).expect("a session's folder");
        let folder = Folder {
            spot: &spot,
            id: &spot.id,
            worktree: "/w",
            tree: &tree,
            now: now(),
            read_as: ReadAs::Found,
        };
        let line = Ocr.summary(&folder).expect("a line").value;
        assert_eq!(line.lifecycle, folded(&tree).lifecycle.name(), "a list says what the session is");
        (line.lifecycle, line.phases_done)
    };
    assert_eq!(line("\"status\":\"active\",", "complete", 8), ("active", 7));
    assert_eq!(line("\"status\":\"active\",", "synthesis", 7), ("active", 6));
    assert_eq!(line("\"status\":\"closed\",", "complete", 8), ("completed", 8));
    assert_eq!(line("", "complete", 8), ("completed", 8), "of a release that wrote no status");
}

#[test]
fn round_10_comes_after_round_9() {
    let json = state(&format!("\"current_phase\":\"context\",\"phase_number\":1,{TIMES}"));
    check(
        &[("state.json", &json), ("rounds/round-9/final.md", "x"), ("rounds/round-10/reviews/a-1.md", "x")],
        ("review", 10, "context", Status::PossiblyStalled),
        &[],
    );
}

#[test]
fn what_broke_the_tool_is_a_warning_here() {
    check(
        &[("state.json", "{}")],
        ("review", 1, "context", Status::Active),
        &["session_id is missing", "current_phase is missing", "phase_number is missing"],
    );
    check(&[("state.json", "null")], ("review", 1, "context", Status::Active), &["not a JSON object"]);
    check(&[("state.json", "{\"session_id\":")], ("review", 1, "context", Status::Active), &["not JSON"]);
    check(&[("state.json", "")], ("review", 1, "context", Status::Active), &["it is empty"]);
    check(&[], ("review", 1, "context", Status::Active), &["it is missing"]);
    let json = state("\"current_phase\":\"odd\",\"phase_number\":9,\"started_at\":\"yesterday\"");
    check(
        &[("state.json", &json)],
        ("review", 1, "context", Status::Active),
        &[
            "started_at is 'yesterday', which is not a time",
            "phase_number 9 is not in the range 1 to 8",
            "'odd'",
        ],
    );
}

#[test]
fn a_time_in_the_future_is_taken_and_flagged() {
    let json =
        state("\"current_phase\":\"analysis\",\"phase_number\":3,\"started_at\":\"2027-01-01T00:00:00Z\"");
    check(&[("state.json", &json)], ("review", 1, "analysis", Status::Active), &["in the future"]);
}

#[test]
fn older_eras_are_read() {
    let old = "{\"session_id\":\"s\",\"branch\":\"x\",\"current_phase\":\"requirements\",\"phase_number\":2,\"completed_phases\":[\"context\"],\"started_at\":\"2026-01-31T09:00:00Z\"}";
    check(&[("state.json", old)], ("review", 1, "change-context", Status::PossiblyStalled), &[]);
    let flat = state(&format!("\"current_phase\":\"discourse\",\"phase_number\":6,{TIMES}"));
    check(
        &[("state.json", &flat), ("reviews/security-1.md", "## Finding 1"), ("final.md", "x")],
        ("review", 1, "discourse", Status::PossiblyStalled),
        &[],
    );
}

#[test]
fn where_it_stands_is_worked_out_from_the_files_alone() {
    check(
        &[("discovered-standards.md", "x"), ("context.md", "x")],
        ("review", 1, "analysis", Status::Active),
        &["missing"],
    );
    check(&[("rounds/round-1/reviews/a-1.md", "x")], ("review", 1, "reviews", Status::Active), &["missing"]);
    check(&[("map/runs/run-2/topology.md", "x")], ("map", 2, "flow-analysis", Status::Active), &["missing"]);
    check(&[("rounds/round-1/final.md", "x")], ("review", 1, "complete", Status::Active), &["missing"]);
    check(&[("map/runs/run-1/map.md", "x")], ("map", 1, "complete", Status::Active), &["missing"]);
}

#[test]
fn reviewers_and_their_findings_are_counted() {
    let review = "# Security\n## Finding 1\ntext\n## Issue: b\n##Finding no space\n### Finding deeper\n## Suggestion\n";
    let reading = reading(&[
        ("rounds/round-1/reviews/security-1.md", review),
        ("rounds/round-1/reviews/notes.txt", "x"),
    ]);
    let round = &reading.value.rounds[0];
    assert_eq!(round.reviewers, [Reviewer { name: "security-1".to_owned(), findings: Some(3) }]);
}

#[test]
fn files_of_a_map_are_the_lines_of_its_list() {
    let topology = "# T\n## Canonical File List\n\n```\na.rs\nb.rs\n\n```\n```\nnot.this\n```\n";
    let reading = reading(&[("map/runs/run-1/topology.md", topology)]);
    assert_eq!(reading.value.map_runs[0].files, Some(2));
}

#[test]
fn requirements_mapping_is_a_phase_only_with_requirements() {
    let json = state(&format!(
        "\"workflow_type\":\"map\",\"current_phase\":\"synthesis\",\"phase_number\":5,{TIMES}"
    ));
    let without = folded(&tree(&[("state.json", &json)]));
    assert_eq!(without.run().expect("a run").phases[3].status(), "skipped");
    let with = folded(&tree(&[("state.json", &json), ("requirements.md", "x")]));
    assert_eq!(with.run().expect("a run").phases[3].status(), "completed");
}

#[test]
fn phases_before_the_current_one_are_shown_by_their_own_file_or_left_out() {
    let json = |kind: &str, number: u32| {
        state(&format!(
            "\"status\":\"active\",\"workflow_type\":\"{kind}\",\"current_phase\":\"complete\",\"phase_number\":{number},{TIMES}"
        ))
    };
    let publication = |session: &Session| -> Vec<&'static str> {
        let phases = session.run().expect("a run").phases.iter();
        phases.map(|phase| if phase.claimed { "claimed" } else { phase.status() }).collect()
    };
    let review = json("review", 8);
    let (first, last) = (("discovered-standards.md", "x"), ("rounds/round-1/final.md", "x"));
    let files = [("state.json", review.as_str()), first, ("context.md", "x"), last];
    let session = folded(&tree(&files));
    let done = "completed";
    let current = "in_progress";
    assert_eq!(publication(&session), [done, done, done, "claimed", "claimed", "claimed", done, current]);
    let more = [("rounds/round-1/reviews/a-1.md", "x"), ("rounds/round-1/discourse.md", "x")];
    let all = publication(&folded(&tree(&[&files[..], &more[..]].concat())));
    // The aggregation of findings writes no file.
    assert_eq!(all, [done, done, done, done, "claimed", done, done, current]);

    let map = json("map", 6);
    let files = [("state.json", map.as_str()), first, ("map/runs/run-1/map.md", "x")];
    assert_eq!(publication(&folded(&tree(&files))), [done, "claimed", "claimed", "skipped", done, "claimed"]);
    let with = [&files[..], &[("requirements.md", "x")][..]].concat();
    assert_eq!(publication(&folded(&tree(&with))), [done, "claimed", "claimed", "claimed", done, "claimed"]);
}

#[test]
fn folder_names_become_ids_without_two_becoming_one() {
    let ids: std::collections::BTreeSet<String> =
        ["2026-01-31-a#b", "2026-01-31-a@b", "2026-01-31-ä", "2026-01-31-"]
            .iter()
            .map(|name| id_of(name).to_string())
            .collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(id_of("2026-01-31-feature-x").as_str(), "2026-01-31-feature-x");
}

#[test]
fn mutated_files_never_make_it_panic() {
    let json = state(&format!(
        "\"status\":\"active\",\"workflow_type\":\"review\",\"current_phase\":\"reviews\",\"phase_number\":4,\"current_round\":1,{TIMES}"
    ));
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..3_000 {
        let mut bytes = json.clone().into_bytes();
        for _ in 0..4 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let at = usize::try_from(seed % bytes.len() as u64).expect("in range");
            bytes[at] = u8::try_from(seed >> 56).expect("a byte");
        }
        let mut tree = Tree::default();
        tree.insert("state.json", Entry::File(bytes));
        assert!(folded(&tree).run().is_some());
    }
}

#[test]
fn o4_folders_tell_the_round_and_the_run_and_a_state_that_differs_is_told() {
    let at = |round: u32| {
        state(&format!(
            "\"status\":\"active\",\"current_phase\":\"reviews\",\"phase_number\":4,\"current_round\":{round},{TIMES}"
        ))
    };
    let first = ("rounds/round-1/final.md", "x");
    let second = ("rounds/round-2/reviews/a-1.md", "x");
    let stalled = Status::PossiblyStalled;
    let said = "current_round is 5, but the last folder is rounds/round-2; the folder is used";
    check(&[("state.json", &at(5)), first, second], ("review", 2, "reviews", stalled), &[said]);
    check(
        &[("state.json", &at(1)), first, second],
        ("review", 2, "reviews", stalled),
        &["is 1, but the last"],
    );
    check(&[("state.json", &at(2)), first], ("review", 2, "reviews", stalled), &[]);
    check(
        &[("state.json", &at(3)), first, second],
        ("review", 2, "reviews", stalled),
        &["is 3, but the last"],
    );
    let map = state(&format!(
        "\"workflow_type\":\"map\",\"current_phase\":\"topology\",\"phase_number\":2,\"current_map_run\":4,{TIMES}"
    ));
    let files = [("state.json", map.as_str()), ("map/runs/run-1/topology.md", "x")];
    check(
        &files,
        ("map", 1, "topology", stalled),
        &["current_map_run is 4, but the last folder is map/runs/run-1"],
    );
}

#[test]
fn o10_times_that_were_copied_from_an_example_are_told_and_not_used() {
    let json = state(
        "\"current_phase\":\"reviews\",\"phase_number\":4,\"started_at\":\"2026-01-27T09:45:00Z\",\"updated_at\":\"2026-01-31T10:00:00Z\"",
    );
    let reading = reading(&[("state.json", &json)]);
    assert_eq!((reading.value.state.started_at, reading.value.since()), (None, None));
    assert_eq!(reading.value.state.updated_at, "2026-01-31T10:00:00Z".parse().ok());
    let said = reading.warnings[0].to_string();
    assert!(
        said.starts_with("started_at is long before") && said.ends_with("2026-01-27T09:45:00Z"),
        "{said}"
    );
    // If the name of the folder contains no date, times are compared with the modification time of the file.
    let named = |written: &str| {
        let json = "{\"session_id\":\"x\",\"current_phase\":\"reviews\",\"phase_number\":4,\"started_at\":\"2026-01-20T09:00:00Z\",\"updated_at\":\"2026-01-27T09:45:00Z\"}";
        let mut tree = tree(&[("state.json", json)]);
        tree.set_modified("state.json", written.parse().expect("a time"));
        read("feature-x", &tree, now()).value.state.started_at.is_some()
    };
    assert!(named("2026-01-27T09:45:01Z"), "written when it says");
    assert!(!named("2026-01-31T09:45:01Z"), "nobody makes a time of four days ago");
    assert!(named("2026-03-01T00:00:00Z"), "a file's time that lies ahead says nothing");
}

#[test]
fn o11_a_session_that_was_closed_in_the_middle_stands_there() {
    let json = state(&format!(
        "\"status\":\"closed\",\"workflow_type\":\"review\",\"current_phase\":\"reviews\",\"phase_number\":4,{TIMES}"
    ));
    let session = reading(&[("state.json", &json)]).value;
    assert_eq!((session.phase, session.is_closed, session.is_finished), (3, true, false));
    let row =
        |position: usize| session.row(OcrWorkflow::Review, 1, (session.phase, session.is_finished), position);
    assert_eq!((row(4), row(6), row(7)), (Mark::Open, Mark::Open, Mark::Open));
}

#[test]
fn o12_the_seeds_own_example_has_no_map_beside_it() {
    let json = state(&format!(
        "\"workflow_type\":\"review\",\"status\":\"active\",\"current_phase\":\"reviews\",\"phase_number\":4,\"current_round\":1,\"current_map_run\":1,\"round_started_at\":\"2026-01-31T09:00:00Z\",\"map_started_at\":\"2026-01-31T09:00:00Z\",{TIMES}"
    ));
    assert_eq!(reading(&[("state.json", &json)]).value.beside, None);
    let begun = reading(&[("state.json", &json), ("map/runs/run-1/topology.md", "x")]).value.beside;
    assert_eq!(begun.map(|beside| (beside.kind, beside.ordinal)), Some((OcrWorkflow::Map, 1)));
}
