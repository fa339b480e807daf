//! Examples of rules in full, event by event.

use crate::given::{
    Given, HERE, advance, advance_past, at, fail_the_gate, failing_attempt, given, name, note, pause, plan,
    recorded, resume, skip, started,
};
use model::actor::Actor;
use model::approval::Approval;
use model::artifact::ArtifactVersion;
use model::command::{Command, decide};
use model::event::{Event, Recorded};
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::session::Session;
use model::workflow::OnComplete::{Close, Stay};

fn three_phases() -> Given {
    given(started(plan("build", Close, &["plan", "implement", "review"])))
}

fn completed(phase: &str) -> Event {
    Event::PhaseCompleted { phase: name(phase), attempt: AttemptReport::default(), branch: None, head: None }
}

fn begun(phase: &str) -> Event {
    Event::PhaseStarted { phase: name(phase) }
}

#[test]
fn completing_a_phase_begins_the_next() {
    three_phases().when(advance(None)).then([completed("plan"), begun("implement")]);
    three_phases().when(advance(Some("1"))).then([completed("plan"), begun("implement")]);
}

#[test]
fn a_later_phase_is_refused_and_one_that_is_done_changes_nothing() {
    three_phases()
        .when(advance(Some("review")))
        .then_refused("phase_not_current", "cannot complete phase 'review': the current phase is 'plan'");
    three_phases().after([advance(None)]).when(advance(Some("plan"))).then_nothing();
    three_phases()
        .when(advance(Some("implemnt")))
        .then_refused("unknown_phase", "there is no phase 'implemnt' in workflow 'build'");
}

#[test]
fn a_done_phase_is_done_also_when_the_session_is_over() {
    let over = three_phases().after([advance(None), Command::Abandon { reason: None, operation: None }]);
    over.when(advance(Some("plan"))).then_nothing();
    over.when(advance(Some("implement")))
        .then_refused("not_active", "cannot advance: session k3v9x2mp is abandoned");
}

#[test]
fn the_last_phase_completes_the_run_and_the_session() {
    let last = three_phases().after([advance(None), advance(None)]);
    last.when(advance(None)).then([
        completed("review"),
        Event::RunCompleted,
        Event::SessionCompleted { forced: false },
    ]);
    let staying = given(started(plan("map", Stay, &["only"])));
    staying.when(advance(None)).then([completed("only"), Event::RunCompleted]);
    let done = staying.after([advance(None)]);
    assert_eq!(done.session.lifecycle, Lifecycle::Active);
    done.when(advance(None)).then_refused("run_finished", "cannot advance: run 1 of 'map' is finished");
}

#[test]
fn a_terminal_phase_is_complete_when_it_is_reached() {
    let review = given(started(plan("review", Close, &["synthesis", "complete!"])));
    review.when(advance(None)).then([
        completed("synthesis"),
        begun("complete"),
        completed("complete"),
        Event::RunCompleted,
        Event::SessionCompleted { forced: false },
    ]);
}

#[test]
fn a_skipped_phase_is_passed_over_and_counts_as_done() {
    let skipped = Event::PhaseSkipped {
        phase: name("implement"),
        reason: skip("implement").reason,
        not_applicable: true,
    };
    three_phases().when(advance_past(None, &["implement"])).then([
        completed("plan"),
        skipped,
        begun("review"),
    ]);
    let after = three_phases().after([advance_past(None, &["implement"])]);
    assert_eq!(after.session.run().unwrap().over(), 2);
}

#[test]
fn when_all_that_is_left_is_skipped_the_run_is_complete_on_its_last_phase() {
    let after = three_phases().after([advance_past(None, &["implement", "review"])]);
    let run = after.session.run().unwrap();
    assert!(!run.is_open());
    assert_eq!((run.current().id().as_str(), run.over()), ("review", 3));
}

#[test]
fn a_gate_that_did_not_pass_is_kept_and_the_phase_goes_on() {
    three_phases()
        .when(fail_the_gate())
        .then([Event::GateFailed { phase: name("plan"), attempt: failing_attempt() }]);
    let after = three_phases().after([fail_the_gate(), fail_the_gate(), advance(None)]);
    let phase = &after.session.run().unwrap().phases[0];
    assert_eq!((phase.attempts.len(), phase.attempt_count), (3, 3));
    assert!(phase.is_done() && !phase.last_attempt_failed());
}

#[test]
fn a_lenient_gate_passes_with_what_failed_in_its_attempt() {
    let attempt = AttemptReport { lenient: true, ..failing_attempt() };
    let command = Command::CompletePhase { phase: None, attempt: attempt.clone(), skips: Vec::new() };
    three_phases().when(command).then([
        Event::PhaseCompleted { phase: name("plan"), attempt, branch: None, head: None },
        begun("implement"),
    ]);
}

#[test]
fn a_run_of_another_workflow_keeps_the_session_open_until_both_are_done() {
    let both = three_phases()
        .after([Command::StartRun { run: plan("map", Stay, &["only"]), is_next: false }, advance(None)]);
    assert_eq!(both.session.run().unwrap().workflow.name, name("map"));
    let back = both.after([Command::StartRun {
        run: plan("build", Close, &["plan", "implement", "review"]),
        is_next: false,
    }]);
    assert_eq!(back.session.run().unwrap().workflow.name, name("build"), "the unfinished run goes on");
    assert_eq!(back.session.runs_of(&name("build")), 1);
    let done = back.after([advance(None), advance(None), advance(None)]);
    assert!(matches!(done.session.lifecycle, Lifecycle::Completed { forced: false, .. }));
}

/// Both workflows have a phase and a check of the same name.
#[test]
fn an_approval_is_for_the_run_that_was_current() {
    let approval = Approval {
        phase: name("plan"),
        check: name("agreed"),
        by: "anna".to_owned(),
        remark: None,
        at: at(0),
        expires_at: None,
        evidence: None,
    };
    let start = |workflow: &str, phases: &[&str]| Command::StartRun {
        run: plan(workflow, Close, phases),
        is_next: false,
    };
    let approved = three_phases().after([start("map", &["plan"]), Command::Approve { approval }]);
    assert!(approved.session.approval(&name("plan"), &name("agreed")).is_some());
    let back = approved.after([start("build", &["plan", "implement", "review"])]);
    assert_eq!(back.session.approval(&name("plan"), &name("agreed")), None);
}

#[test]
fn a_completed_session_begins_its_next_run_and_is_active_again() {
    let only = plan("round", Close, &["only"]);
    let again =
        given(started(only.clone())).after([advance(None), Command::StartRun { run: only, is_next: false }]);
    assert_eq!(again.session.lifecycle, Lifecycle::Active);
    assert_eq!(again.session.run().unwrap().ordinal, 2);
    assert_eq!(again.session.runs_of(&name("round")), 2);
}

#[test]
fn paused_time_is_not_working_time() {
    let mut history = three_phases().history;
    let mut add = |seconds, event| {
        let version = history.len() as u64 + 1;
        history.push(recorded(version, at(seconds), event));
    };
    add(1_000, Event::SessionPaused { reason: "night".to_owned(), context: None, saved: Vec::new() });
    add(50_000, Event::SessionResumed { worktree: "/here".to_owned(), parallel: false, machine: None });
    add(50_100, completed("plan"));
    let session = Session::fold(&history).unwrap();
    let phase = &session.run().unwrap().phases[0];
    let started = phase.started_at().unwrap().duration_since(at(0)).as_secs();
    assert_eq!(phase.paused_seconds, 49_000);
    assert_eq!(phase.duration_seconds(), Some(u64::try_from(50_100 - 49_000 - started).unwrap()));
}

/// A session was closed in the evening and reopened the next day: the night is not working time.
#[test]
fn time_while_a_session_was_closed_is_not_working_time() {
    let build = plan("build", Close, &["plan", "implement", "review"]);
    let closed = three_phases().after([Command::Close { force: true }]);
    let worked = closed.session.run().unwrap().current().time_in_phase(closed.session.working_until(at(0)));
    let mut history = closed.history.clone();
    let Ok(events) = closed.when(Command::StartRun { run: build, is_next: false }).0 else {
        panic!("it goes on")
    };
    for event in events {
        history.push(recorded(history.len() as u64 + 1, at(80_000), event));
    }
    let session = Session::fold(&history).unwrap();
    assert_eq!(session.run().unwrap().current().time_in_phase(at(80_000)), worked);
}

#[test]
fn a_paused_sessions_clock_stands_still() {
    let paused = three_phases().after([pause()]).session;
    let phase = paused.run().unwrap().current();
    let then = paused.updated_at;
    let later = at(9_000_000);
    assert_eq!(
        phase.time_in_phase(paused.working_until(later)),
        phase.time_in_phase(paused.working_until(then))
    );
}

#[test]
fn notes_are_numbered_for_good() {
    let noted = three_phases().after([note(NoteKind::Blocker, "a"), Command::ResolveNote { id: 1 }]);
    noted.when(note(NoteKind::Note, "b")).then([Event::NoteAdded {
        id: 2,
        kind: NoteKind::Note,
        text: "b".into(),
        fields: [].into(),
        origin: None,
    }]);
    noted.when(Command::ResolveNote { id: 1 }).then_nothing();
    noted
        .when(Command::ResolveNote { id: 2 })
        .then_refused("unknown_note", "there is no note 2 in this session");
    noted.after([note(NoteKind::Decision, "c")]).when(Command::ResolveNote { id: 2 }).then_refused(
        "nothing_to_resolve",
        "note 2 is a decision: only a blocker, a question or a deferred point can be resolved",
    );
}

#[test]
fn a_note_with_the_highest_number_is_followed_by_others() {
    let added = |id: u32, text: &str| Event::NoteAdded {
        id,
        kind: NoteKind::Note,
        text: text.to_owned(),
        fields: [].into(),
        origin: None,
    };
    let noted = three_phases().and([added(u32::MAX, "from elsewhere")]);
    noted.when(note(NoteKind::Note, "b")).then([added(u32::MAX, "b")]);
}

#[test]
fn a_session_that_is_active_in_another_worktree_moves_to_this_one() {
    let there = Command::Resume { worktree: "/there".to_owned(), parallel: true };
    let moved = three_phases().after([there]);
    assert_eq!((moved.session.worktree.as_str(), moved.session.parallel), ("/there", true));
    moved.when(resume()).then([Event::SessionResumed {
        worktree: "/here".to_owned(),
        parallel: false,
        machine: None,
    }]);
}

#[test]
fn what_was_restored_is_the_session_as_it_was_under_a_newer_version() {
    let before = three_phases().after([note(NoteKind::Note, "kept")]);
    let version = before.session.version;
    let undone =
        before.clone().after([advance(None), advance(None)]).and([Event::Restored { to_version: version }]);
    let mut expected = before.session.clone();
    expected.version = undone.session.version;
    expected.updated_at = undone.session.updated_at;
    expected.went_back_at = Some(undone.session.updated_at);
    assert_eq!(undone.session, expected);
    undone.when(advance(None)).then([completed("plan"), begun("implement")]);
}

/// Repeatedly undoing an undo takes no more time than the length of the log requires.
#[test]
fn a_thousand_restorations_are_folded_in_no_time() {
    let mut history = three_phases().history;
    for version in history.len() as u64 + 1..1_000 {
        let event = Event::Restored { to_version: version - 1 };
        history.push(recorded(version, at(0), event));
    }
    let session = Session::fold(&history).unwrap();
    assert_eq!((session.version, session.run().unwrap().current().id().as_str()), (999, "plan"));
}

#[test]
fn a_session_that_goes_to_another_place_takes_along_what_it_recorded_in_its_folder() {
    let recorded = |path: &str| Event::ArtifactRecorded {
        artifact: ArtifactVersion {
            path: path.to_owned(),
            hash: "h".to_owned(),
            size: 1,
            version: 1,
            phase: Some(name("plan")),
        },
    };
    let adopted = Event::Adopted { layout: "ccw".to_owned(), path: ".workflow/active/WFS-a".to_owned() };
    let moved = Event::SessionMoved { path: ".workflow/archives/WFS-a".to_owned() };
    let files =
        [".workflow/active/WFS-a/PLAN.md", ".workflow/active/WFS-ab/PLAN.md", "src/main.rs"].map(recorded);
    let before = three_phases().and([adopted]).and(files);
    let session = before.and([moved.clone()]).session;
    assert_eq!(session.path.as_deref(), Some(".workflow/archives/WFS-a"));
    let paths: Vec<&str> = session.artifacts.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [".workflow/active/WFS-ab/PLAN.md", ".workflow/archives/WFS-a/PLAN.md", "src/main.rs"],
        "and nothing else"
    );
    for (path, artifact) in &session.artifacts {
        assert_eq!(*path, artifact.newest.path);
    }
    // A session without files has no file to move.
    assert_eq!(three_phases().and([moved]).session.artifacts.len(), 0);
}

#[test]
fn o2_a_run_that_has_its_result_ends_as_it_is_and_the_next_one_begins() {
    let build = || plan("build", Close, &["plan", "implement", "review"]);
    let again = three_phases().after([Command::StartRun { run: build(), is_next: true }]);
    let session = &again.session;
    let standing: Vec<(u32, bool)> = session.runs.iter().map(|run| (run.ordinal, run.is_open())).collect();
    assert_eq!(standing, [(1, false), (2, true)]);
    assert_eq!(session.runs[0].completed(), 0, "what was not done is not called done");
    let same = three_phases().after([Command::StartRun { run: build(), is_next: false }]);
    assert_eq!(same.session.runs.len(), 1, "without its result it is gone on with");
}

#[test]
fn b1_a_run_does_not_end_over_a_phase_that_only_a_file_calls_done_against_a_gate_that_failed() {
    let claimed = Event::PhaseClaimed { phase: name("implement"), attempt: None };
    let tried = three_phases().after([advance(None)]);
    let uncontested = tried.clone().and([claimed.clone(), begun("review")]);
    let ended = [completed("review"), Event::RunCompleted, Event::SessionCompleted { forced: false }];
    uncontested.when(advance(None)).then(ended.clone());
    let contested = tried.after([fail_the_gate()]).and([claimed, begun("review")]);
    contested.when(advance(None)).then([completed("review"), begun("implement")]);
    contested.after([advance(Some("implement"))]).when(advance(None)).then(ended);
}

/// Adds events that a file reports. The tool of the file is recorded as their actor.
fn said_by_its_file(before: Given, events: impl IntoIterator<Item = Event>) -> Given {
    let mut history = before.history;
    for event in events {
        let version = history.last().map_or(1, |last| last.version + 1);
        let actor = Actor::Tool { name: "ocr".to_owned(), host: "desk".to_owned() };
        history
            .push(Recorded { actor, ..recorded(version, at(60 * i64::try_from(version).unwrap()), event) });
    }
    let session = Session::fold(&history).expect("it begins with a start");
    Given { history, session }
}

/// Completes all phases after the plan, and then the session. A file reports all of this.
fn closed_in_its_file(before: Given) -> Given {
    let claimed = |phase: &str| Event::PhaseClaimed { phase: name(phase), attempt: None };
    let events = [
        claimed("implement"),
        claimed("review"),
        Event::RunCompleted,
        Event::SessionCompleted { forced: false },
    ];
    said_by_its_file(before, events)
}

fn reopened() -> Command {
    Command::Reopen { worktree: HERE.to_owned(), parallel: false }
}

#[test]
fn b1_a_session_that_a_file_closed_over_a_failed_gate_goes_on_at_that_gate() {
    let closed = closed_in_its_file(three_phases().after([advance(None), fail_the_gate()]));
    assert_eq!(closed.session.closed_over(), Some(1));
    let events = decide(&closed.session, reopened()).unwrap();
    let version = closed.session.version + 1;
    let open = closed.session.clone().apply(&recorded(version, at(900), events[0].clone()));
    let run = open.run().unwrap();
    assert!(run.is_open());
    assert_eq!((run.current().id().as_str(), run.current().status()), ("implement", "in_progress"));
    assert_eq!(run.phases[2].status(), "not_started", "what followed was claimed as well");
    assert!(open.failed_here(run.current()), "its attempts are not forgotten");
    let started = closed.session.run().unwrap().phases[1].started_at();
    assert_eq!(run.current().started_at(), started, "files written since still count");
}

#[test]
fn b1_only_a_person_closes_a_finished_run_over_a_phase_that_failed_here() {
    let claimed = Event::PhaseClaimed { phase: name("implement"), attempt: None };
    let ended = [claimed, completed("review"), Event::RunCompleted];
    let contested = three_phases().after([advance(None), fail_the_gate()]).and(ended.clone());
    // The engine lets only a person force the end of a session.
    contested.when(Command::Close { force: false }).then([Event::SessionCompleted { forced: true }]);
    let uncontested = three_phases().after([advance(None)]).and(ended);
    uncontested.when(Command::Close { force: false }).then([Event::SessionCompleted { forced: false }]);
}

#[test]
fn b1_a_session_that_a_file_closed_over_mere_claims_goes_on_where_our_proof_ends() {
    let closed = closed_in_its_file(three_phases().after([advance(None)]));
    assert_eq!(closed.session.closed_over(), Some(1));
    let of_ours = three_phases().after([advance(None), advance(None), advance(None)]);
    assert_eq!(of_ours.session.closed_over(), None, "nothing was claimed");
    let run = plan("build", Close, &["plan", "implement", "review"]);
    let told =
        said_by_its_file(given(started(run.clone()).into_iter().take(1)), started(run).into_iter().skip(1));
    let told = closed_in_its_file(told);
    assert_eq!(told.session.closed_over(), None, "a run that a file began and ended is the file's");
}

#[test]
fn o11_a_session_that_a_file_closed_in_the_middle_goes_on_there() {
    let claimed = Event::PhaseClaimed { phase: name("implement"), attempt: None };
    let begun = Event::PhaseStarted { phase: name("review") };
    let ended = [claimed, begun, Event::SessionCompleted { forced: false }];
    let closed = said_by_its_file(three_phases().after([advance(None)]), ended);
    assert_eq!(closed.session.closed_over(), None);
    let events = decide(&closed.session, reopened()).unwrap();
    let version = closed.session.version + 1;
    let open = closed.session.clone().apply(&recorded(version, at(900), events[0].clone()));
    let run = open.run().unwrap();
    assert_eq!((run.current().id().as_str(), run.phases[1].claimed), ("review", true));
}

#[test]
fn b1_a_claimed_phase_is_not_proven_before_an_earlier_one_that_failed_here() {
    let closed = closed_in_its_file(three_phases().after([advance(None)]));
    let message =
        "cannot complete phase 'review': phase 'implement' comes first, and it is not proven to be done";
    // A phase without a gate is proven only by the phases before it.
    closed.when(advance(Some("review"))).then_refused("earlier_unproven", message);
    let failing = Command::CompletePhase {
        phase: Some("implement".to_owned()),
        attempt: failing_attempt(),
        skips: Vec::new(),
    };
    let failed = closed.clone().after([failing]);
    let passing = Command::CompletePhase {
        phase: Some("review".to_owned()),
        attempt: AttemptReport { checks: passed_checks(), ..AttemptReport::default() },
        skips: Vec::new(),
    };
    failed.when(passing.clone()).then_refused("earlier_unproven", message);
    assert!(closed.when(passing).0.is_ok(), "a gate of its own proves it while nothing earlier failed");
}

fn passed_checks() -> Vec<CheckResult> {
    let mut checks = failing_attempt().checks;
    for check in &mut checks {
        check.outcome = CheckOutcome::Passed;
    }
    checks
}
