//! Tests of edits by the tool or by hand to the file of a known session: they are adopted, and never
//! reverted.

use super::*;
use crate::layout::Merge;
use crate::reconcile::{Draft, Laid, reconcile};

/// A known session, with its file as leftoff last wrote it.
struct Known {
    session: Session,
    file: Case,
}

impl Known {
    fn new(file: Case) -> Self {
        Self { session: file.session(), file }
    }

    /// The case after another writer changed the file, and a command adopted that change and wrote the file.
    fn changed(self, at: &str, change: impl FnOnce(&mut Map<String, Value>)) -> Self {
        let mut fields = self.fields();
        change(&mut fields);
        let path = file_of(&self.file.spot, &self.file.tree);
        let mut theirs = Case { spot: self.file.spot.clone(), tree: self.file.tree.clone() };
        theirs.tree.insert(path.clone(), Entry::File(Value::Object(fields).to_string().into_bytes()));
        let items = ItemBook::default();
        let at: Timestamp = at.parse().expect("a time");
        let mut draft = Draft::new(self.session, items.clone(), at, actor());
        let (before, now) = (self.file.session(), theirs.session());
        reconcile(
            &mut draft,
            Laid { session: &before, items: &items },
            Laid { session: &now, items: &items },
        );
        let session = draft.into_parts().1;
        if let Some(text) = theirs.written(&session) {
            theirs.tree.insert(path, Entry::File(text.into_bytes()));
        }
        Self { session, file: theirs }
    }

    fn fields(&self) -> Map<String, Value> {
        let path = file_of(&self.file.spot, &self.file.tree);
        crate::json::object(self.file.tree.content(&path).expect("its file")).expect("an object")
    }

    /// The outcome and evidence of every attempt at a phase in the session.
    fn attempts(&self, at: usize) -> Vec<(String, Value)> {
        let attempts = &self.session.run().expect("a run").phases[at].attempts;
        let told = |attempt: &model::gate::Attempt| {
            let outcome = json!(attempt.outcome).as_str().expect("a word").to_owned();
            (outcome, attempt.report.evidence.get("n").cloned().unwrap_or_default())
        };
        attempts.iter().map(told).collect()
    }

    /// The outcome and evidence of every attempt at a phase in the file.
    fn kept(&self, number: &str) -> Vec<(String, Value)> {
        let fields = self.fields();
        let kept = fields["metadata"]["attempts"][number].as_array().cloned().unwrap_or_default();
        let told = |attempt: &Value| {
            (attempt["outcome"].as_str().expect("a word").to_owned(), attempt["evidence"]["n"].clone())
        };
        kept.iter().map(told).collect()
    }
}

/// Does what the tool does when phase 2 passes or fails: its new artifact replaces the previous one.
fn tool(fields: &mut Map<String, Value>, at: &str, n: u32, passes: bool) {
    fields["phase_artifacts"]["2"] = json!({"phase_number": 2, "evidence": {"n": n}, "outputs": {},
        "commands_executed": [], "timestamp": at});
    fields["checkpoints"]["2"] = json!(if passes { "passed" } else { "failed" });
    if passes {
        fields["completed_phases"] = json!([0, 1, 2]);
        fields["current_phase"] = json!(3);
    }
    fields["updated_at"] = json!(at);
}

fn tried(all: &[(&str, u32)]) -> Vec<(String, Value)> {
    all.iter().map(|(outcome, n)| ((*outcome).to_owned(), json!(n))).collect()
}

#[test]
fn every_attempt_of_the_tool_is_kept_in_order_and_the_newest_is_the_artifact() {
    let known = Known::new(Case::first(FIRST_FILE))
        .changed("2025-11-02T10:00:00Z", |fields| tool(fields, "2025-11-02T10:59:00.100000", 0, false))
        .changed("2025-11-02T10:10:00Z", |fields| tool(fields, "2025-11-02T11:09:00.100000", 0, false))
        .changed("2025-11-02T10:20:00Z", |fields| tool(fields, "2025-11-02T11:19:00.100000", 1, false));
    let failures = [("failed", 0), ("failed", 0), ("failed", 1)];
    assert_eq!(known.attempts(2), tried(&failures));
    assert_eq!(known.fields()["phase_artifacts"]["2"]["evidence"], json!({"n": 1}), "not set back");
    let known = known
        .changed("2025-11-02T10:30:00Z", |fields| tool(fields, "2025-11-02T11:29:00.100000", 5, true))
        .changed("2025-11-02T10:40:00Z", |fields| fields["metadata"]["theirs"] = json!(1));
    let all = [("failed", 0), ("failed", 0), ("failed", 1), ("passed", 5)];
    assert_eq!(known.attempts(2), tried(&all));
    assert_eq!(known.kept("2"), tried(&all));
    let found = known.fields();
    assert_eq!(found["phase_artifacts"]["2"]["evidence"], json!({"n": 5}));
    assert_eq!(found["phase_artifacts"]["2"]["timestamp"], json!("2025-11-02T11:29:00.100000"));
    assert_eq!(found["checkpoints"]["2"], json!("passed"));
}

/// A session in the newest format, with these values in `lifecycle`.
fn living(lifecycle: &Value) -> Known {
    let mut fields = crate::json::object(SEED_FILE.as_bytes()).expect("an object");
    fields["lifecycle"] = lifecycle.clone();
    Known::new(Case::first(&Value::Object(fields).to_string()))
}

#[test]
fn an_error_that_the_tool_wrote_down_stays_and_is_shown() {
    let paused = json!({"completed": false, "paused": true, "paused_at": "2025-11-02T09:50:00Z",
        "paused_reason": "system_error", "paused_context": null, "resume_count": 1,
        "last_error": "disk full", "last_error_at": "2025-11-02T09:49:00Z"});
    let known = living(&paused).changed("2025-11-02T10:00:00Z", |fields| fields["metadata"]["n"] = json!(1));
    assert_eq!(known.fields()["lifecycle"], paused);
    let model::lifecycle::Lifecycle::Paused { context, .. } = &known.session.lifecycle else {
        panic!("{:?}", known.session.lifecycle)
    };
    assert_eq!(context.as_deref(), Some("disk full"));
    let mut explained = paused;
    explained["paused_context"] = json!("the disk is being cleaned");
    living(&explained).file.warns("the last recorded error: disk full");
}

#[test]
fn a_session_that_was_resumed_after_its_last_error_has_not_failed() {
    let old = json!({"completed": false, "paused": false, "resume_count": 1, "resumed_at": "2025-11-02T09:55:00Z",
        "last_error": "disk full", "last_error_at": "2025-11-02T09:49:00Z"});
    let known = living(&old).changed("2025-11-02T10:00:00Z", |fields| fields["metadata"]["n"] = json!(1));
    known.file.stands(("active", 1, 1, 3)).warns("the last recorded error: disk full");
    assert_eq!(known.fields()["lifecycle"]["last_error"], json!("disk full"));
    let mut later = old;
    later["last_error_at"] = json!("2025-11-02T09:56:00Z");
    living(&later).file.stands(("failed", 1, 1, 3));
}

#[test]
fn what_somebody_corrects_in_a_phase_that_is_done_is_its_newest_attempt_and_never_written_back() {
    let correct =
        |fields: &mut Map<String, Value>| fields["phase_artifacts"]["2"]["evidence"]["n"] = json!(42);
    let known = Known::new(Case::first(FIRST_FILE))
        .changed("2025-11-02T10:00:00Z", |fields| tool(fields, "2025-11-02T10:59:00.100000", 41, true))
        .changed("2025-11-02T10:10:00Z", correct)
        .changed("2025-11-02T10:20:00Z", |fields| fields["metadata"]["theirs"] = json!(1));
    assert_eq!(known.attempts(2), tried(&[("passed", 41), ("passed", 42)]));
    assert_eq!(known.fields()["phase_artifacts"]["2"]["evidence"], json!({"n": 42}));
    assert_eq!(known.kept("2"), tried(&[("passed", 41), ("passed", 42)]));
    known.file.stands(("completed", 2, 3, 3));
    let ours = Case::first(FIRST_FILE).after(&[("2025-11-02T09:30:00Z", completed(2, json!({"n": 41})))]).1;
    let known = Known::new(ours)
        .changed("2025-11-02T10:10:00Z", correct)
        .changed("2025-11-02T10:20:00Z", |fields| fields["metadata"]["theirs"] = json!(1));
    assert_eq!(known.attempts(2), tried(&[("passed", 41), ("passed", 42)]));
    assert_eq!(known.fields()["phase_artifacts"]["2"]["evidence"], json!({"n": 42}));
}

#[test]
fn a_note_changes_no_checkpoint_and_no_number_that_is_the_files_own() {
    let case = Case::first_with(|fields| {
        fields["checkpoints"]["2"] = json!("skipped");
    });
    let known = Known::new(case).changed("2025-11-02T10:00:00Z", |fields| fields["metadata"]["n"] = json!(1));
    assert_eq!(known.fields()["checkpoints"]["2"], json!("skipped"));
    let one_based = Case::first_with(|fields| {
        fields["current_phase"] = json!(1);
        fields["completed_phases"] = json!([0]);
        fields.insert("workflow_structure".to_owned(), json!({"total_phases": 3, "starting_phase": 1}));
    });
    let known =
        Known::new(one_based).changed("2025-11-02T10:00:00Z", |fields| fields["metadata"]["n"] = json!(1));
    assert_eq!(known.fields()["completed_phases"], json!([0]));
    let (text, _) = known.file.after(&[("2025-11-02T10:30:00Z", completed(1, json!({})))]);
    assert_eq!(crate::json::object(text.as_bytes()).expect("an object")["completed_phases"], json!([0, 1]));
}

/// A snapshot of a session contains only the last attempts.
#[test]
fn attempts_that_are_no_longer_at_hand_stay_where_they_are_in_the_file() {
    let at = "2025-11-02T09:30:00Z";
    let mut known = Known::new(Case::first(FIRST_FILE));
    let mut all = Vec::new();
    for n in 1..=4 {
        let events = [(at, failed(2, json!({"n": n})))];
        known.session = events.iter().fold(known.session, |session, (at, event)| {
            let version = session.version + 1;
            session.apply(&Recorded {
                version,
                at: at.parse().expect("a time"),
                actor: actor(),
                event: event.clone(),
            })
        });
        let attempts = &mut known.session.runs[0].phases[2].attempts;
        attempts.drain(..attempts.len().saturating_sub(2));
        let path = file_of(&known.file.spot, &known.file.tree);
        let text = known.file.written(&known.session).expect("a change");
        known.file.tree.insert(path, Entry::File(text.into_bytes()));
        all.push(("failed", n));
    }
    assert_eq!(known.kept("2"), tried(&all));
    assert_eq!(known.fields()["phase_artifacts"]["2"]["evidence"], json!({"n": 4}));
}

#[test]
fn what_a_gate_found_in_the_evidence_of_the_tool_is_written_down() {
    let known = Known::new(Case::first(FIRST_FILE))
        .changed("2025-11-02T10:00:00Z", |fields| tool(fields, "2025-11-02T10:59:00.100000", 5, true));
    let Event::PhaseCompleted { phase, mut attempt, .. } = completed(2, json!({"n": 5})) else {
        unreachable!()
    };
    attempt.checks.push(
        crate::reconcile::shown_by("a.md").checks.pop().expect("what is found by a file that is there"),
    );
    let proven = Recorded {
        version: known.session.version + 1,
        at: "2025-11-02T10:10:00Z".parse().expect("a time"),
        actor: actor(),
        event: Event::PhaseCompleted { phase, attempt, branch: None, head: None },
    };
    let session = known.session.clone().apply(&proven);
    let text = known.file.written(&session).expect("a change");
    let found = crate::json::object(text.as_bytes()).expect("an object");
    let kept = found["metadata"]["attempts"]["2"].as_array().expect("a list");
    let with_checks: Vec<bool> = kept.iter().map(|attempt| attempt.get("checks").is_some()).collect();
    assert_eq!(with_checks, [false, true]);
}

#[test]
fn attempts_never_make_the_file_one_that_is_not_read() {
    const TRIES: u64 = 30;
    let mut case = Case::first(FIRST_FILE);
    let mut session = case.session();
    for n in 0..TRIES {
        let at =
            jiff::Timestamp::from_second(1_762_080_000 + i64::try_from(n).expect("small")).expect("a time");
        let (long, list) = ("x".repeat(30_000), vec![1; 2_000]);
        let event = failed(2, json!({"n": n, "long": long, "list": list}));
        session =
            session.clone().apply(&Recorded { version: session.version + 1, at, actor: actor(), event });
        let text = case.written(&session).expect("a change");
        assert!((text.len() as u64) < crate::file_rules::MOST_BYTES, "{} bytes after try {n}", text.len());
        case = case.with(FIRST_PATH, &text);
    }
    assert_eq!(case.written(&session), None, "what is left out is not put in again and again");
    let last: Vec<Value> = case.session().run().expect("a run").phases[2]
        .attempts
        .iter()
        .map(|attempt| attempt.report.evidence["n"].clone())
        .collect();
    assert_eq!(last.last(), Some(&json!(TRIES - 1)));
    assert!(last.len() > 1 && last.len() < 30, "the newest of them: {last:?}");
}

#[test]
fn a_section_that_somebody_emptied_undoes_nothing() {
    let paused = SEED_FILE.replace("\"paused\": false", "\"paused\": true");
    let theirs = {
        let mut fields = crate::json::object(paused.as_bytes()).expect("an object");
        fields["lifecycle"] = Value::Null;
        Value::Object(fields).to_string()
    };
    let merged =
        Praxis.merge(FIRST_PATH, Merge::Dropped { base: paused.as_bytes(), theirs: theirs.as_bytes() });
    let merged = crate::json::object(&merged).expect("an object");
    assert_eq!(merged["lifecycle"], crate::json::object(paused.as_bytes()).expect("an object")["lifecycle"]);
    // Values that only the other writer had added are not restored.
    let never = crate::json::object(FIRST_FILE.as_bytes()).expect("an object");
    let mut with_null = never.clone();
    with_null.insert("lifecycle".to_owned(), Value::Null);
    let text = Value::Object(with_null).to_string();
    assert_eq!(
        Praxis.merge(FIRST_PATH, Merge::Dropped { base: FIRST_FILE.as_bytes(), theirs: text.as_bytes() }),
        text.as_bytes()
    );
}

#[test]
fn what_was_handed_in_for_a_phase_that_is_only_claimed_is_told_with_the_claim() {
    let events = |case: &Case, number: u32| -> Vec<String> {
        let phase = definition::phase_name(number);
        let of_phase = |event: &Event| match event {
            Event::PhaseClaimed { phase: of, .. } | Event::PhaseCompleted { phase: of, .. } => *of == phase,
            _ => false,
        };
        let history = case.told().value.history;
        let events = history.iter().map(|dated| &dated.event);
        events.filter(|event| of_phase(event)).map(|event| event.kind().to_owned()).collect()
    };
    let mut case = Case::first(FIRST_FILE);
    for (path, text) in super::definitions::FILES {
        case = case.with(path, text);
    }
    assert_eq!(events(&case, 0), ["phase_completed"], "it has no gate");
    assert_eq!(events(&case, 1), ["phase_claimed"], "nothing shows it");
    let run = case.session().run().cloned().expect("a run");
    assert!(run.phases[1].claimed && run.phases[1].attempts.len() == 1);
    assert_eq!(run.phases[1].attempts[0].report.outputs["note"], json!("caf\u{e9}"));
    assert_eq!(case.written(&case.session()), None);
}
