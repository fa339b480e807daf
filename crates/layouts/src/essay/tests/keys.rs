//! Tests of every key of the schema: where the model stores it, and that setting it changes only its own
//! line.

use super::*;
use crate::reconcile::{Draft, Laid, drop_listed, drop_parts, reconcile, withdraw};
use model::event::ItemEvent;
use model::id::Name;
use model::item::{ItemChange, ItemStatus, NewItem};
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::phase::PhaseState;
use model::revision::{Archived, Impact, Revision};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn id(text: &str) -> ItemId {
    ItemId::parse(text).expect("an id")
}

fn fields(pairs: Value) -> BTreeMap<String, Value> {
    serde_json::from_value(pairs).expect("fields")
}

fn set(pairs: Value) -> Vec<Event> {
    vec![Event::FieldsSet { phase: None, fields: fields(pairs) }]
}

fn set_in(phase: &str, pairs: Value) -> Vec<Event> {
    vec![Event::FieldsSet { phase: Some(name(phase)), fields: fields(pairs) }]
}

fn item(event: ItemEvent) -> Event {
    Event::Item(event)
}

fn done(read: &Read, text: &str) -> Event {
    let known = read.item(text);
    item(ItemEvent::ItemCompleted { id: id(text), run: known.run.clone(), phase: known.phase.clone() })
}

/// Expects that these events change only these lines and `last_activity`.
#[track_caller]
fn check(before: &str, events: Vec<Event>, lines: &[(&str, &str)]) {
    let mut expected = before.to_owned();
    for (old, new) in lines {
        assert_eq!(expected.matches(old).count(), 1, "{old:?} is not there once");
        expected = expected.replacen(old, new, 1);
    }
    let old = before.lines().find(|line| line.starts_with("last_activity")).expect("a line");
    let stamp = old.find(['"', '\'']).map(|at| (old.as_bytes()[at] as char).to_string()).unwrap_or_default();
    let rest = old.rsplit(['"', '\'']).next().unwrap_or_default();
    expected = expected.replacen(old, &format!("last_activity: {stamp}2026-02-16T12:00:00Z{stamp}{rest}"), 1);
    let written = read(whole(before)).written_after(events).expect("a change");
    assert_eq!(written, expected);
}

#[test]
fn the_late_session_has_every_key_in_its_place() {
    let read = read(whole(LATE));
    let session = &read.session;
    assert_eq!(read.warnings, Vec::<String>::new());
    assert_eq!(session.layout, "essay");
    assert_eq!(session.created_at.to_string(), "2026-02-14T14:30:22Z");
    assert_eq!(session.updated_at.to_string(), "2026-02-16T10:00:00Z", "as active as the file says");
    assert_eq!(read.statuses(), ["completed", "needs_review", "completed", "in_progress"]);
    let run = session.run().expect("a run");
    assert_eq!((run.current_number(), run.current().id().as_str()), (4, "paragraph_writing"));
    let expected = json!({
        "pipeline_id": "essay-1f0c9a52", "style_profile_path": "/home/ada/voice/profile.md",
        "samples_dir_path": "/home/ada/voice/samples", "pushback_level": "full", "editor": "Ada", "budget": 12.5,
        "claim_type": "argument", "total_sections": 3, "target_word_count": 2000, "audience": "semi-technical",
        "birds_eye_approved": true, "first_assessment_user_rating": 4, "voice_reference_mode": "hybrid",
        "calibration_notes": "Shorter sentences. Fewer adverbs.\n",
    });
    assert_eq!(session.fields, fields(expected));
    assert_eq!(run.phases[0].fields["thesis_file"], format!("{FOLDER}/stage-1-thesis.md"));
    assert_eq!(run.phases[3].fields["draft_file"], format!("{FOLDER}/stage-4-draft.md"));
    assert_eq!(run.phases[0].fields_at_completion["claim_type"], "argument", "known when it was completed");
    let section = read.item("section-1");
    assert!(section.is_done() && section.counters["verified_claims"] == 5);
    assert_eq!(section.fields["argument_map_file"], format!("{FOLDER}/stage-3-section-1-arguments.md"));
    assert_eq!(read.item("draft-1").fields["voice_check_score"], 4.5);
    let parts: Vec<&str> = ["draft-2.1", "draft-2.2", "draft-2.3", "draft-2.4"]
        .map(|part| read.item(part).status.name())
        .to_vec();
    assert_eq!(parts, ["completed", "completed", "active", "pending"]);
    let deferred = &session.notes[0];
    assert_eq!((deferred.kind, deferred.text.as_str()), (NoteKind::Deferred, "Half of all harbours silt up"));
    assert_eq!((&deferred.fields["section"], &deferred.fields["reason"]), (&json!(2), &json!("timeout")));
    let against = &session.notes[1];
    assert_eq!(against.kind, NoteKind::Override);
    assert_eq!(against.fields["user_rationale"], "My grandmother built it");
    let revision = &session.revisions[0].revision;
    assert_eq!((revision.phase.as_str(), revision.impact), ("thesis_development", Impact::Minor));
}

/// `needs_review` is a stage status distinct from `in_progress`.
#[test]
fn needs_review_is_kept_apart_from_in_progress() {
    let reviewed = read(whole(LATE));
    assert!(matches!(reviewed.session.run().expect("a run").phases[1].state, PhaseState::NeedsReview { .. }));
    let text = LATE.replace("status: \"needs_review\" ", "status: \"in_progress\" ");
    assert_eq!(read(whole(&text)).statuses()[1], "in_progress");
    // The current stage and a section may have this status, too.
    let text = LATE
        .replace("current_stage: 4", "current_stage: 2")
        .replace("name: paragraph_writing", "name: essay_structuring");
    let current = read(whole(&text));
    let run = current.session.run().expect("a run");
    assert_eq!((run.current().id().as_str(), run.current().status()), ("essay_structuring", "needs_review"));
    assert_eq!(current.written_after(Vec::new()), None);
    let text = LATE.replacen("        status: \"completed\"", "        status: \"needs_review\"", 1);
    let section = read(whole(&text));
    assert!(!section.item("section-1").is_done());
    assert_eq!(section.written_after(Vec::new()), None, "and it stays in the file");
    let started = section.written_after(vec![item(ItemEvent::ItemStarted { id: id("section-1") })]);
    assert!(started.expect("a change").contains("        status: \"in_progress\""));
}

#[test]
fn settings_are_set_in_their_lines() {
    check(
        EARLY,
        set(json!({"pushback_level": "minimal"})),
        &[("pushback_level: \"light\"", "pushback_level: \"minimal\"")],
    );
    check(EARLY, set(json!({"style_profile_path": "p"})), &[("\"/home/ada/voice/profile.md\"", "\"p\"")]);
    check(EARLY, set(json!({"samples_dir_path": "s"})), &[("\"/home/ada/voice/samples\"", "\"s\"")]);
    check(EARLY, set(json!({"claim_type": "hybrid"})), &[("claim_type: null", "claim_type: \"hybrid\"")]);
    check(
        EARLY,
        set(json!({"target_word_count": 900})),
        &[("target_word_count: null", "target_word_count: 900")],
    );
    check(EARLY, set(json!({"audience": "expert"})), &[("audience: null", "audience: \"expert\"")]);
    check(
        EARLY,
        set(json!({"birds_eye_approved": true})),
        &[("birds_eye_approved: false", "birds_eye_approved: true")],
    );
    check(
        LATE,
        set(json!({"total_sections": 4})),
        &[
            ("    total_sections: 3\n    target", "    total_sections: 4\n    target"),
            ("    total_sections: 3\n    current", "    total_sections: 4\n    current"),
        ],
    );
}

#[test]
fn voice_output_and_unknown_keys_are_set_in_their_lines() {
    check(EARLY, set(json!({"first_assessment_user_rating": 5})), &[("user_rating: null", "user_rating: 5")]);
    check(
        LATE,
        set(json!({"calibration_notes": "As it is."})),
        &[(
            "calibration_notes: >\n    Shorter sentences.\n    Fewer adverbs.\n",
            "calibration_notes: \"As it is.\"\n",
        )],
    );
    check(LATE, set(json!({"voice_reference_mode": "sample"})), &[("\"hybrid\"", "\"sample\"")]);
    for (key, value) in [
        ("final_essay_file", json!("f.md")),
        ("sources_verified", json!(9)),
        ("voice_consistency_score", json!(4.25)),
        ("total_word_count", json!(1980)),
    ] {
        check(LATE, set(json!({key: value})), &[(&format!("{key}: null"), &format!("{key}: {value}"))]);
    }
    check(LATE, set(json!({"budget": 13})), &[("budget: 12.50", "budget: 13")]);
    let nowhere = read(whole(LATE)).written_after(set(json!({"mood": "good"})));
    assert_eq!(nowhere, None, "what the file has no key for stays in the log");
}

#[test]
fn files_of_stages_are_set_in_their_lines() {
    check(
        EARLY,
        set_in("thesis_development", json!({"thesis_file": "t.md"})),
        &[("thesis_file: null", "thesis_file: \"t.md\"")],
    );
    check(
        EARLY,
        set_in("essay_structuring", json!({"outline_file": "o.md"})),
        &[("outline_file: null", "outline_file: \"o.md\"")],
    );
    check(
        EARLY,
        set_in("paragraph_writing", json!({"draft_file": "d.md"})),
        &[("draft_file: null", "draft_file: \"d.md\"")],
    );
    check(
        EARLY,
        set_in("paragraph_writing", json!({"paragraph_log": "l.md"})),
        &[("paragraph_log: null", "paragraph_log: \"l.md\"")],
    );
    check(
        LATE,
        set_in("thesis_development", json!({"development_log": "l.md"})),
        &[("development_log: null", "development_log: \"l.md\"")],
    );
}

#[test]
fn statuses_of_a_session_are_those_of_the_file() {
    let pause = Event::SessionPaused { reason: "r".into(), context: None, saved: Vec::new() };
    for (event, status) in [
        (pause, "paused"),
        (Event::SessionFailed { error: "e".into() }, "paused"),
        (Event::SessionAbandoned { reason: None, operation: None }, "abandoned"),
        (Event::SessionExpired { since: now() }, "paused"),
    ] {
        check(EARLY, vec![event], &[("status: \"in_progress\"  #", &format!("status: \"{status}\"  #"))]);
        let text = EARLY.replacen("status: \"in_progress\"  #", &format!("status: \"{status}\"  #"), 1);
        assert_eq!(read(whole(&text)).session.lifecycle.name(), status);
    }
    let completed = EARLY.replacen("status: \"in_progress\"  #", "status: \"completed\"  #", 1);
    assert!(matches!(read(whole(&completed)).session.lifecycle, Lifecycle::Completed { forced: true, .. }));
}

#[test]
fn completing_a_stage_names_its_files_and_begins_the_next() {
    let report = || crate::reconcile::shown_by("stage-1-thesis.md");
    check(
        EARLY,
        vec![
            Event::PhaseCompleted {
                phase: name("thesis_development"),
                attempt: report(),
                branch: None,
                head: None,
            },
            Event::PhaseStarted { phase: name("essay_structuring") },
        ],
        &[
            ("current_stage: 1 ", "current_stage: 2 "),
            ("\"thesis_development\"", "\"essay_structuring\""),
            (
                "    status: \"in_progress\"\n    thesis_file: null",
                "    status: \"completed\"\n    thesis_file: \"/tmp/essay-pipeline-20260214-143022/stage-1-thesis.md\"",
            ),
            (
                "    claim_type: null\n    completed_at: null",
                "    claim_type: null\n    completed_at: \"2026-02-16T12:00:00Z\"",
            ),
            (
                "    status: \"not_started\"\n    outline_file",
                "    status: \"in_progress\"\n    outline_file",
            ),
        ],
    );
}

#[test]
fn sections_are_added_and_set_in_the_list() {
    let run = read(whole(EARLY)).session.run().expect("a run").into();
    let new = |number: u32| NewItem {
        id: id(&format!("section-{number}")),
        kind: name("section"),
        title: "T".into(),
        run: model::item::RunRef::clone(&run),
        phase: name("argument_development"),
        parent: None,
        order: number * 10,
        depends_on: Vec::new(),
        fields: BTreeMap::new(),
    };
    let counters = BTreeMap::from([("verified_claims".to_owned(), 2)]);
    let counted = ItemChange { counters, ..ItemChange::default() };
    check(
        EARLY,
        vec![
            item(ItemEvent::ItemAdded { item: new(1) }),
            item(ItemEvent::ItemSet { id: id("section-1"), change: counted }),
            item(ItemEvent::ItemAdded { item: new(2) }),
        ],
        &[(
            "      #   status: \"not_started\"\n    birds",
            "      #   status: \"not_started\"\n      - section_index: 1\n        status: \"not_started\"\n        argument_map_file: null\n        verified_claims: 2\n        deferred_claims: 0\n        completed_at: null\n      - section_index: 2\n        status: \"not_started\"\n        argument_map_file: null\n        verified_claims: 0\n        deferred_claims: 0\n        completed_at: null\n    birds",
        )],
    );
}

#[test]
fn paragraphs_are_counted_in_their_section() {
    let late = read(whole(LATE));
    check(
        LATE,
        vec![done(&late, "draft-2.3"), item(ItemEvent::ItemStarted { id: id("draft-2.4") })],
        &[
            ("completed_paragraphs: 2\n", "completed_paragraphs: 3\n"),
            ("current_paragraph: 3", "current_paragraph: 4"),
        ],
    );
    let score = ItemChange { fields: fields(json!({"voice_check_score": 4})), ..ItemChange::default() };
    check(
        LATE,
        vec![item(ItemEvent::ItemSet { id: id("draft-2"), change: score })],
        &[("voice_check_score: null", "voice_check_score: 4")],
    );
    // An entry that is written in one line stays in one line.
    let change = ItemChange { fields: fields(json!({"voice_check_score": 3.5})), ..ItemChange::default() };
    check(
        LATE,
        vec![item(ItemEvent::ItemSet { id: id("draft-1"), change })],
        &[("voice_check_score: 4.5}", "voice_check_score: 3.5}")],
    );
}

#[test]
fn deferred_claims_and_overrides_are_notes() {
    let note = |id, kind, text: &str, pairs| Event::NoteAdded {
        id,
        kind,
        text: text.into(),
        fields: fields(pairs),
        origin: None,
    };
    check(LATE, vec![Event::NoteResolved { id: 1 }], &[("resolved: false", "resolved: true")]);
    check(
        EARLY,
        vec![note(1, NoteKind::Deferred, "Sand moves", json!({"section": 1, "reason": "no_results"}))],
        &[(
            "deferred_verifications: []\n  # - claim_text: \"what it says\"\n  #   section: N\n",
            "deferred_verifications:\n  # - claim_text: \"what it says\"\n  #   section: N\n  - claim_text: \"Sand moves\"\n    section: 1\n    paragraph: null\n    reason: \"no_results\"\n    added_at: \"2026-02-16T12:00:00Z\"\n    resolved: false\n",
        )],
    );
    check(
        LATE,
        vec![note(
            3,
            NoteKind::Override,
            "Boats float",
            json!({"fact_checker_result": "unverified", "user_rationale": "They do"}),
        )],
        &[(
            "    logged_at: \"2026-02-15T10:30:00Z\"\n",
            "    logged_at: \"2026-02-15T10:30:00Z\"\n  - claim_text: \"Boats float\"\n    fact_checker_result: \"unverified\"\n    user_action: \"override\"\n    user_rationale: \"They do\"\n    logged_at: \"2026-02-16T12:00:00Z\"\n",
        )],
    );
    let elsewhere = read(whole(LATE)).written_after(vec![note(3, NoteKind::Decision, "d", json!({}))]);
    assert_eq!(elsewhere, None, "other notes have no place in the file");
}

#[test]
fn a_revision_is_logged_with_what_it_archived() {
    let revision = Revision {
        phase: name("thesis_development"),
        impact: Impact::Major,
        reason: "an explainer after all".into(),
        flagged: Vec::new(),
        restarted: ["essay_structuring", "argument_development", "paragraph_writing"].map(name).to_vec(),
        archived: vec![
            Archived {
                from: "x/stage-1-thesis.md".into(),
                to: "x/stage-1-thesis.v1.md".into(),
                copied: true,
            },
            Archived {
                from: "x/stage-2-outline.md".into(),
                to: "x/stage-2-outline.v1.md".into(),
                copied: false,
            },
        ],
        operation: None,
    };
    let text = read(whole(LATE)).written_after(vec![Event::PhaseRevised { revision }]).expect("a change");
    let entry = "    timestamp: \"2026-02-15T08:00:00Z\"\n  - stage_revisited: 1\n    impact: \"major\"\n    reason: \"an explainer after all\"\n    downstream_archived: [\"stage-2-outline.v1.md\"]\n    timestamp: \"2026-02-16T12:00:00Z\"\n";
    assert!(text.contains(entry), "{text}");
    let again = read(whole(&text));
    assert_eq!(again.statuses(), ["in_progress", "not_started", "not_started", "not_started"]);
    assert_eq!(again.session.revisions.len(), 2);
    assert_eq!(again.written_after(Vec::new()), None);
}

#[test]
fn output_is_filled_on_completion() {
    let mut files = ARTIFACTS.to_vec();
    files.extend([(STATE, LATE), ("final-essay.md", "# Harbours\n\nOne two three\nfour.\n")]);
    let late = read(tree(&files));
    let mut events = Vec::new();
    for part in ["draft-2.3", "draft-2.4", "draft-2"] {
        events.push(done(&late, part));
    }
    events.push(Event::PhaseCompleted {
        phase: name("paragraph_writing"),
        attempt: crate::reconcile::shown_by("d"),
        branch: None,
        head: None,
    });
    events.extend([Event::RunCompleted, Event::SessionCompleted { forced: false }]);
    let text = late.written_after(events).expect("a change");
    let output = "output:\n  final_essay_file: \"/tmp/essay-pipeline-20260214-143022/final-essay.md\"\n  sources_verified: 12\n  voice_consistency_score: 4.5\n  total_word_count: 4\n  completed_at: \"2026-02-16T12:00:00Z\"\n# the end\n";
    assert!(text.ends_with(output), "{text}");
    assert!(text.contains("status: completed\n"), "plain as it was: {text}");
}

/// Edits by a person or by the pipeline are adopted as events, and not overwritten.
#[test]
fn edits_of_every_kind_are_taken_in_and_never_reverted() {
    let base = read(whole(LATE));
    for (old, new, wanted) in [
        ("current_paragraph: 3", "current_paragraph: 4", &["item_started"][..]),
        ("completed_paragraphs: 2\n", "completed_paragraphs: 4\n", &["item_completed"]),
        ("completed_paragraphs: 2\n", "completed_paragraphs: 1\n", &["item_reopened"]),
        ("total_paragraphs: 4\n", "total_paragraphs: 6\n", &["item_added"]),
        ("total_paragraphs: 4\n", "total_paragraphs: 3\n", &["item_dropped"]),
        ("total_paragraphs: 4\n", "total_paragraphs: 2\n", &["item_dropped"]),
        ("total_paragraphs: 4\n", "total_paragraphs: null\n", &[]),
        ("audience: \"semi-technical\"", "audience: \"expert\"", &["fields_set"]),
        ("audience: \"semi-technical\"", "audience: null", &[]),
        ("status: \"needs_review\" ", "status: \"completed\" ", &["phase_completed"]),
        ("status: in_progress\n", "status: paused\n", &["session_paused"]),
        ("resolved: false", "resolved: yes", &["note_resolved"]),
        ("reason: \"timeout\"", "reason: \"no_results\"", &["note_changed"]),
        ("    section: 2\n    paragraph: null", "    section: 2\n    paragraph: 4", &["note_changed"]),
        ("\"Half of all harbours silt up\"", "\"Most harbours silt up\"", &["note_changed"]),
        ("fact_checker_result: \"disputed\"", "fact_checker_result: \"false\"", &["note_changed"]),
        ("\"My grandmother built it\"", "\"It is in the parish register\"", &["note_changed"]),
        ("verified_claims: 4", "verified_claims: 6", &["item_set"]),
        ("editor: \"Ada\"", "editor: \"Bob\"", &["fields_set"]),
    ] {
        assert_eq!(LATE.matches(old).count(), 1, "{old}");
        let text = LATE.replacen(old, new, 1);
        let theirs = read(whole(&text));
        let mut draft = Draft::new(base.session.clone(), base.items.clone(), now(), actor());
        let laid = |read: &Read| (read.session.clone(), read.items.clone());
        let ((base_session, base_items), (their_session, their_items)) = (laid(&base), laid(&theirs));
        reconcile(
            &mut draft,
            Laid { session: &base_session, items: &base_items },
            Laid { session: &their_session, items: &their_items },
        );
        assert!(Essay.facts().counts_parts);
        assert_eq!(drop_parts(&mut draft, &base_items, &their_items), Vec::<ItemId>::new());
        let kinds: Vec<&str> = draft.events().iter().map(Event::kind).collect();
        for kind in wanted {
            assert!(kinds.contains(kind), "{new}: {kinds:?}");
        }
        let (_, session, items) = draft.into_parts();
        let publication = SessionToPublish::new(&session, &items, &[]);
        let written = with_folder(&theirs.tree, |folder| {
            puts(Essay.write(&WriteRequest { purpose: Purpose::Update, publication: &publication }, folder))
        });
        let written: Vec<String> =
            written.into_iter().map(|change| String::from_utf8(change.content).expect("text")).collect();
        assert!(written.is_empty() || written[0].contains(new), "{new}: {}", written[0]);
    }
}

/// A smaller `total_paragraphs` drops an unapproved paragraph. A paragraph that somebody worked on stays and
/// is reported.
#[test]
fn fewer_paragraphs_in_the_file_drop_those_that_nobody_worked_on() {
    let base = read(whole(LATE));
    let text = LATE.replace("total_paragraphs: 4\n", "total_paragraphs: 2\n");
    let theirs = read(whole(&text));
    let dropped = |events: Vec<Event>| {
        let mut draft = Draft::new(base.session.clone(), base.items.clone(), now(), actor());
        for event in events {
            draft.push(event);
        }
        let stays = drop_parts(&mut draft, &base.items, &theirs.items);
        let (_, session, items) = draft.into_parts();
        let of: Vec<String> = items.parts_of(&id("draft-2")).map(|part| part.id.to_string()).collect();
        let section = items.get(&id("draft-2")).expect("the section").clone();
        assert_eq!(section.parts as usize, of.len());
        (of, section.open_parts, session.run().expect("a run").phases[3].items.total, stays)
    };
    let gone = (vec!["draft-2.1".to_owned(), "draft-2.2".to_owned()], 0, 7, Vec::new());
    assert_eq!(dropped(Vec::new()), gone, "two sections, three paragraphs and two");
    let (of, open, total, stays) = dropped(vec![done(&base, "draft-2.4")]);
    assert_eq!((of.len(), open, total, stays), (3, 0, 8, vec![id("draft-2.4")]), "approved");
    let change = ItemChange { fields: fields(json!({"text": "words"})), ..ItemChange::default() };
    let said = item(ItemEvent::ItemSet { id: id("draft-2.3"), change });
    assert_eq!(dropped(vec![said]).3, [id("draft-2.3")], "it has content");
    let unknown = read(whole(&LATE.replace(
        "total_paragraphs: 4\n        completed_paragraphs: 2",
        "total_paragraphs: null\n        completed_paragraphs: 0",
    )));
    let mut draft = Draft::new(base.session.clone(), base.items.clone(), now(), actor());
    assert!(drop_parts(&mut draft, &base.items, &unknown.items).is_empty());
    assert_eq!(draft.events(), [], "how many there are is not said: none goes");
}

/// If the file says again that a resolved claim is unresolved, the claim is open again.
#[test]
fn a_claim_that_is_called_unresolved_again_is_open_again() {
    let settled = read(whole(&LATE.replace("resolved: false", "resolved: true")));
    let theirs = read(whole(LATE));
    let mut draft = Draft::new(settled.session.clone(), settled.items.clone(), now(), actor());
    reconcile(
        &mut draft,
        Laid { session: &settled.session, items: &settled.items },
        Laid { session: &theirs.session, items: &theirs.items },
    );
    assert!(draft.session().notes[0].is_open());
    assert_eq!(draft.session().notes.len(), 2, "and it is no other one");
}

/// The pipeline itself makes a minor revision: the thesis is in progress again, and every later stage needs
/// review.
#[test]
fn a_revision_in_the_file_is_a_revision_in_the_log() {
    let text = LATE
        .replace("current_stage: 4", "current_stage: 1")
        .replace("name: paragraph_writing", "name: thesis_development")
        .replacen("    status: \"completed\"\n    thesis_file", "    status: \"in_progress\"\n    thesis_file", 1)
        .replacen("    status: \"completed\"\n    total", "    status: \"needs_review\"\n    total", 1)
        .replacen("    status: \"in_progress\"\n    current", "    status: \"not_started\"\n    current", 1)
        .replace(
            "    timestamp: \"2026-02-15T08:00:00Z\"\n",
            "    timestamp: \"2026-02-15T08:00:00Z\"\n  - {stage_revisited: 1, impact: moderate, reason: \"new claim\", downstream_archived: [stage-2-outline.v1.md], timestamp: \"2026-02-16T11:00:00Z\"}\n",
        );
    let (base, theirs) = (read(whole(LATE)), read(whole(&text)));
    assert_eq!(theirs.statuses(), ["in_progress", "needs_review", "needs_review", "not_started"]);
    let mut draft = Draft::new(base.session.clone(), base.items.clone(), now(), actor());
    let (base_laid, their_laid) = (
        Laid { session: &base.session, items: &base.items },
        Laid { session: &theirs.session, items: &theirs.items },
    );
    reconcile(&mut draft, base_laid, their_laid);
    let (_, session, _) = draft.into_parts();
    let run = session.run().expect("a run");
    let statuses: Vec<&str> = run.phases.iter().map(model::phase::Phase::status).collect();
    assert_eq!(statuses[..3], ["in_progress", "needs_review", "needs_review"]);
    assert_eq!(run.current().id().as_str(), "thesis_development");
    let made = session.revisions.last().expect("a revision");
    assert_eq!((made.revision.impact, made.revision.reason.as_str()), (Impact::Moderate, "new claim"));
    assert_eq!(made.revision.archived[0].from, "stage-2-outline.md");
}

#[test]
fn a_section_that_goes_on_is_said_to() {
    let late = read(whole(LATE));
    assert!(matches!(late.item("draft-2").status, ItemStatus::Active));
    let events = vec![done(&late, "draft-2.3"), done(&late, "draft-2.4"), done(&late, "draft-2")];
    check(
        LATE,
        events,
        &[(
            "completed_paragraphs: 2\n        status: \"in_progress\"",
            "completed_paragraphs: 4\n        status: \"completed\"",
        )],
    );
}

/// The file has only one list of sections. A new run empties that list, and the log keeps the earlier
/// results.
#[test]
fn another_run_begins_without_the_sections_of_the_one_before() {
    let late = read(whole(LATE));
    let run = late.session.run().expect("a run");
    let stubs = run.phases.iter().map(|phase| phase.stub.clone()).collect();
    let publication = SessionToPublish::new(&late.session, &late.items, &[]);
    let dropped = Essay.of_new_run(&publication);
    let begun =
        Event::RunStarted { workflow: run.workflow.clone(), ordinal: 2, phases: stubs, definition: None };
    let events: Vec<Event> = [begun].into_iter().chain(dropped).collect();
    let text = late.written_after(events.clone()).expect("a change");
    assert!(!text.contains("section_index"), "{text}");
    for line in ["birds_eye_approved: false", "current_section: null", "current_paragraph: null"] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let (mut session, mut items) = (late.session.clone(), late.items.clone());
    for event in events {
        if let Event::Item(event) = &event {
            items.apply(event, now(), &actor());
        }
        let version = session.version + 1;
        session = session.apply(&Recorded { version, at: now(), actor: actor(), event });
    }
    assert_eq!(items.iter().count(), 0, "their ids are free");
    assert_eq!(session.runs[0].phases[3].items, run.phases[3].items);
}

/// A section removed from the middle of a list is dropped if nobody worked on it, and reported otherwise.
#[test]
fn a_section_that_is_not_listed_any_more_goes_unless_somebody_worked_on_it() {
    let base = read(whole(&LATE.replace("verified_claims: 4", "verified_claims: 0")));
    let listed = "      - section_index: 2   # the long one\n";
    let from = LATE.find(listed).expect("the section");
    let to = from + LATE[from..].find("      - section_index: 3").expect("the next one");
    let theirs = read(whole(&format!("{}{}", &LATE[..from], &LATE[to..])));
    let dropped = |base: &Read| {
        let mut draft = Draft::new(base.session.clone(), base.items.clone(), now(), actor());
        let stays = drop_listed(&mut draft, &base.items, &theirs.items);
        (stays, draft.items().contains(&id("section-2")))
    };
    assert_eq!(dropped(&base), (vec![id("section-2")], true), "it is done");
    let open = LATE
        .replace(
            "verified_claims: 4\n        deferred_claims: 1",
            "verified_claims: 0\n        deferred_claims: 0",
        )
        .replace(
            "# the long one\n        status: \"completed\"",
            "# the long one\n        status: \"not_started\"",
        );
    assert_eq!(dropped(&read(whole(&open))), (Vec::new(), false), "nobody has begun it");
}

#[test]
fn an_approval_that_the_file_takes_back_makes_the_stage_a_claim() {
    let base = read(whole(LATE));
    assert_eq!(base.approved, [Approved { phase: "argument_development", check: "birds-eye" }]);
    for no in ["birds_eye_approved: false", "birds_eye_approved: null"] {
        let theirs = read(whole(&LATE.replace("birds_eye_approved: true", no)));
        assert_eq!(theirs.approved, [], "{no}");
        let mut draft = Draft::new(base.session.clone(), base.items.clone(), now(), actor());
        withdraw(&mut draft, &base.approved, &theirs.approved);
        let kinds: Vec<&str> = draft.events().iter().map(Event::kind).collect();
        assert_eq!(kinds, ["phase_claimed"], "nobody approved it here");
    }
}
