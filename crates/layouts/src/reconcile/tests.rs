use super::*;
use crate::layout::{ForeignSession, Proof};
use crate::reading::Dated;
use crate::{builtin, definition};
use jiff::Timestamp;
use model::actor::Actor;
use model::event::{ItemEvent, Recorded};
use model::gate::AttemptReport;
use model::id::{ItemId, Name, SessionId};
use model::item::{NewItem, RunRef};
use model::note::NoteKind;
use model::run::RunPlan;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PHASES: [&str; 7] =
    ["context", "change-context", "analysis", "reviews", "aggregation", "discourse", "synthesis"];

fn at() -> Timestamp {
    "2026-11-14T10:00:00Z".parse().expect("a time")
}

fn actor() -> Actor {
    Actor::person("ocr", String::new())
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn run(ordinal: u32) -> Event {
    let text = builtin::find("review").expect("it is built in").text;
    let plan = RunPlan::new(&definition::read(text).expect("no mistakes").workflow, Vec::new());
    Event::RunStarted { workflow: plan.workflow, ordinal, phases: plan.phases, definition: None }
}

/// The events of a review that has reached this phase. All earlier phases are claimed.
fn reached(ordinal: u32, phase: &str) -> Vec<Event> {
    let mut events = vec![run(ordinal)];
    for before in PHASES.iter().take_while(|before| **before != phase) {
        events.push(Event::PhaseStarted { phase: name(before) });
        events.push(Event::PhaseClaimed { phase: name(before), attempt: None });
    }
    events.push(Event::PhaseStarted { phase: name(phase) });
    events
}

fn recorded(events: &[Event]) -> Vec<Recorded> {
    let start = Event::SessionStarted {
        id: SessionId::parse("s").expect("an id"),
        title: "S".to_owned(),
        goal: None,
        target: None,
        layout: "ocr".to_owned(),
        worktree: "/w".to_owned(),
        parallel: false,
        fields: BTreeMap::new(),
        path: Some(".ocr/sessions/s".to_owned()),
        machine: None,
        branch: None,
        head: None,
    };
    let all = std::iter::once(&start).chain(events).zip(1..);
    all.map(|(event, version)| Recorded { version, at: at(), actor: actor(), event: event.clone() }).collect()
}

fn folded(events: &[Event]) -> (Session, ItemBook) {
    let recorded = recorded(events);
    (Session::fold(&recorded).expect("a session"), ItemBook::fold(&recorded))
}

/// The draft for the session of the events `ours`, after somebody changed its files from `base` to `theirs`.
fn brought_in(ours: &[Event], base: &[Event], theirs: &[Event]) -> Draft {
    let (session, items) = folded(ours);
    let (base, theirs) = (folded(base), folded(theirs));
    let mut draft = Draft::new(session, items, at(), actor());
    reconcile(
        &mut draft,
        Laid { session: &base.0, items: &base.1 },
        Laid { session: &theirs.0, items: &theirs.1 },
    );
    draft
}

/// The draft after an edit, if nothing was added to the log since the files were written.
fn edited(base: &[Event], theirs: &[Event]) -> Draft {
    brought_in(base, base, theirs)
}

#[track_caller]
fn stands(draft: &Draft, ordinal: u32, phase: &str) {
    let run = draft.session().run().expect("a run");
    assert_eq!((run.ordinal, run.current().id().as_str()), (ordinal, phase), "{:?}", draft.events());
}

fn with(mut events: Vec<Event>, more: impl IntoIterator<Item = Event>) -> Vec<Event> {
    events.extend(more);
    events
}

#[test]
fn nothing_changed_is_no_event() {
    for phase in PHASES {
        let base = reached(1, phase);
        assert_eq!(edited(&base, &base).events(), []);
    }
}

#[test]
fn a_phase_forward_is_a_claim_and_the_next_begins() {
    let draft = edited(&reached(1, "context"), &reached(1, "change-context"));
    let expected = [
        Event::PhaseClaimed { phase: name("context"), attempt: None },
        Event::PhaseStarted { phase: name("change-context") },
    ];
    assert_eq!(draft.events(), expected);
    stands(&draft, 1, "change-context");
}

#[test]
fn several_phases_at_once_are_claims_each() {
    let draft = edited(&reached(1, "change-context"), &reached(1, "discourse"));
    let claimed: Vec<&Event> =
        draft.events().iter().filter(|event| matches!(event, Event::PhaseClaimed { .. })).collect();
    assert_eq!(claimed.len(), 4);
    stands(&draft, 1, "discourse");
}

#[test]
fn what_the_files_show_is_no_claim() {
    let shown = shown_by("context.md");
    let theirs = vec![
        run(1),
        Event::PhaseStarted { phase: name("context") },
        Event::PhaseCompleted { phase: name("context"), attempt: shown.clone(), branch: None, head: None },
        Event::PhaseStarted { phase: name("change-context") },
    ];
    let draft = edited(&reached(1, "context"), &theirs);
    let expected = Event::PhaseCompleted { phase: name("context"), attempt: shown, branch: None, head: None };
    assert_eq!(draft.events().first(), Some(&expected));
}

#[test]
fn back_opens_the_phase_and_all_later_ones() {
    let draft = edited(&reached(1, "reviews"), &reached(1, "change-context"));
    stands(&draft, 1, "change-context");
    let run = draft.session().run().expect("a run");
    let done: Vec<&str> =
        run.phases.iter().filter(|phase| phase.is_done()).map(|p| p.id().as_str()).collect();
    assert_eq!(done, ["context"]);
}

#[test]
fn another_run_is_begun_and_an_earlier_one_selected() {
    let base = reached(1, "reviews");
    let second = with(base.clone(), reached(2, "context"));
    let draft = edited(&base, &second);
    stands(&draft, 2, "context");
    let back = with(second.clone(), [Event::RunSelected { workflow: name("review"), ordinal: 1 }]);
    let draft = edited(&second, &back);
    assert_eq!(draft.events(), [Event::RunSelected { workflow: name("review"), ordinal: 1 }]);
    stands(&draft, 1, "reviews");
}

#[test]
fn a_run_that_is_finished_there_is_finished_here() {
    let finished = with(
        reached(1, "synthesis"),
        [
            Event::PhaseClaimed { phase: name("synthesis"), attempt: None },
            Event::PhaseStarted { phase: name("complete") },
            Event::PhaseCompleted {
                phase: name("complete"),
                attempt: AttemptReport::default(),
                branch: None,
                head: None,
            },
            Event::RunCompleted,
        ],
    );
    let draft = edited(&reached(1, "synthesis"), &finished);
    assert!(draft.session().run().is_some_and(|run| !run.is_open()), "{:?}", draft.events());
}

#[test]
fn lifecycles_that_changed_there_change_here() {
    let base = reached(1, "reviews");
    let here = || ("/w".to_owned(), false);
    let paused =
        Event::SessionPaused { reason: "lunch".to_owned(), context: Some("x".to_owned()), saved: Vec::new() };
    let completed = Event::SessionCompleted { forced: true };
    let failed = Event::SessionFailed { error: "no network".to_owned() };
    let given_up = Event::SessionAbandoned { reason: None, operation: None };
    for ended in [&paused, &completed, &failed, &given_up] {
        let theirs = with(base.clone(), [ended.clone()]);
        assert_eq!(edited(&base, &theirs).events(), std::slice::from_ref(ended), "there");
        assert_eq!(brought_in(&theirs, &base, &theirs).events(), [], "here already");
        let (worktree, parallel) = here();
        let again = match ended {
            Event::SessionPaused { .. } | Event::SessionFailed { .. } => {
                Event::SessionResumed { worktree, parallel, machine: None }
            }
            _ => Event::SessionReopened { worktree, parallel, machine: None },
        };
        assert_eq!(edited(&theirs, &base).events(), [again], "and back");
    }
    let more = Event::SessionPaused { reason: "dinner".to_owned(), context: None, saved: Vec::new() };
    let draft = edited(&with(base.clone(), [paused]), &with(base, [more.clone()]));
    assert_eq!(draft.events(), [more], "another reason is told");
}

#[test]
fn what_we_did_meanwhile_stays_where_they_changed_something_else() {
    let base = reached(1, "reviews");
    let ours =
        with(base.clone(), [Event::SessionPaused { reason: "r".to_owned(), context: None, saved: vec![] }]);
    let draft = brought_in(&ours, &base, &reached(1, "discourse"));
    stands(&draft, 1, "discourse");
    assert_eq!(draft.session().lifecycle.name(), "paused", "they said nothing about it");
}

fn set(phase: Option<&str>, pairs: &[(&str, Value)]) -> Event {
    let fields = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Event::FieldsSet { phase: phase.map(name), fields }
}

#[test]
fn fields_are_set_and_a_missing_one_is_not_deleted() {
    let base = with(reached(1, "reviews"), [set(None, &[("a", json!(1)), ("b", json!(2))])]);
    let theirs = with(
        reached(1, "reviews"),
        [set(None, &[("a", json!(9)), ("new", json!("x"))]), set(Some("reviews"), &[("score", json!(3))])],
    );
    let ours = with(base.clone(), [set(None, &[("b", json!(5))])]);
    let draft = brought_in(&ours, &base, &theirs);
    let fields: Vec<(&str, &Value)> =
        draft.session().fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
    assert_eq!(fields, [("a", &json!(9)), ("b", &json!(5)), ("new", &json!("x"))]);
    let phase = draft.phase(&name("reviews")).expect("the phase");
    assert_eq!(phase.fields.get("score"), Some(&json!(3)));
}

fn note(id: u32, kind: NoteKind, text: &str) -> Event {
    Event::NoteAdded { id, kind, text: text.to_owned(), fields: BTreeMap::new(), origin: None }
}

#[test]
fn notes_are_added_once_and_settled() {
    let base = with(reached(1, "reviews"), [note(1, NoteKind::Blocker, "no access")]);
    let ours = with(base.clone(), [note(2, NoteKind::Note, "mine")]);
    let theirs = with(
        base.clone(),
        [Event::NoteResolved { id: 1 }, note(2, NoteKind::Note, "theirs"), note(3, NoteKind::Note, "mine")],
    );
    let draft = brought_in(&ours, &base, &theirs);
    assert_eq!(draft.events(), [Event::NoteResolved { id: 1 }, note(3, NoteKind::Note, "theirs")]);
    let draft = brought_in(&ours, &base, &reached(1, "reviews"));
    assert_eq!(draft.session().notes.len(), 2, "one that is missing there was not deleted");
}

fn review() -> RunRef {
    RunRef { workflow: name("review"), ordinal: 1 }
}

fn item(id: &str) -> ItemId {
    ItemId::parse(id).expect("an id")
}

fn added(id: &str, title: &str) -> Event {
    Event::Item(ItemEvent::ItemAdded {
        item: NewItem {
            id: item(id),
            kind: name("reviewer"),
            title: title.to_owned(),
            run: review(),
            phase: name("reviews"),
            parent: None,
            order: 10,
            depends_on: Vec::new(),
            fields: BTreeMap::new(),
        },
    })
}

fn done_item(id: &str) -> Event {
    Event::Item(ItemEvent::ItemCompleted { id: item(id), run: review(), phase: name("reviews") })
}

/// The files of this layout can represent only one run.
#[test]
fn what_is_added_belongs_to_the_run_that_goes_on_where_files_cannot_tell_of_it() {
    let base = with(reached(1, "reviews"), [added("r-1", "One")]);
    let ours = with(base.clone(), reached(2, "reviews"));
    let theirs = with(base.clone(), [added("r-2", "Two")]);
    let draft = brought_in(&ours, &base, &theirs);
    let run = |id: &str| draft.items().get(&item(id)).expect("an item").run.ordinal;
    assert_eq!((run("r-1"), run("r-2")), (1, 2), "{:?}", draft.events());
    // If the files contain both runs, they also show to which run an item belongs.
    let draft = brought_in(&ours, &ours, &with(ours.clone(), [added("r-2", "Two")]));
    assert_eq!(draft.items().get(&item("r-2")).expect("an item").run.ordinal, 1);
}

#[test]
fn items_are_added_described_moved_on_and_opened_again() {
    let base = with(reached(1, "reviews"), [added("r-1", "One"), added("r-2", "Two"), done_item("r-2")]);
    let blocked = Event::Item(ItemEvent::ItemBlocked { id: item("r-1"), reason: "no access".to_owned() });
    let theirs = with(
        reached(1, "reviews"),
        [added("r-1", "First"), blocked, added("r-2", "Two"), added("r-3", "Three"), done_item("r-3")],
    );
    let draft = edited(&base, &theirs);
    let shown: Vec<(&str, &str, &str)> = draft
        .items()
        .iter()
        .map(|item| (item.id.as_str(), item.title.as_str(), item.status.name()))
        .collect();
    assert_eq!(
        shown,
        [("r-1", "First", "blocked"), ("r-2", "Two", "pending"), ("r-3", "Three", "completed")]
    );
    let phase = draft.phase(&name("reviews")).expect("the phase");
    assert_eq!((phase.items.total, phase.items.done), (3, 1), "the counts go with them");
    let started = Event::Item(ItemEvent::ItemStarted { id: item("r-2") });
    let draft =
        edited(&base, &with(reached(1, "reviews"), [added("r-1", "One"), added("r-2", "Two"), started]));
    let kinds: Vec<&str> = draft.events().iter().map(Event::kind).collect();
    assert_eq!(kinds, ["item_reopened", "item_started"]);
    let draft = edited(&base, &reached(1, "reviews"));
    assert_eq!((draft.events().len(), draft.items().iter().count()), (0, 2), "none was deleted");
}

fn told(proofs: Vec<Proof>) -> ForeignSession {
    let history =
        recorded(&reached(1, "reviews")).into_iter().map(|one| Dated { at: one.at, event: one.event });
    ForeignSession { proofs, ..ForeignSession::of_history(history.collect()) }
}

fn proven(events: &[Event], proofs: Vec<Proof>) -> Draft {
    let (session, items) = folded(events);
    let mut draft = Draft::new(session, items, at(), actor());
    prove(&mut draft, &told(proofs), &|_| true);
    draft
}

#[test]
fn o1_a_file_that_ends_a_phase_or_a_run_moves_nothing() {
    let work = |phase: &str| Proof::Work {
        workflow: name("review"),
        ordinal: 1,
        phase: name(phase),
        path: format!("{phase}.md"),
    };
    let result = Proof::Result { workflow: name("review"), ordinal: 1 };
    for phase in ["context", "reviews", "synthesis"] {
        let proofs = vec![work("discourse"), work("synthesis"), result.clone()];
        assert_eq!(proven(&reached(1, phase), proofs).events(), [], "{phase}");
    }
}

#[test]
fn a_run_that_files_show_begins_once_and_only_as_the_next() {
    let next = |ordinal: u32| Proof::Run {
        workflow: name("review"),
        ordinal,
        phase: name("analysis"),
        path: format!("rounds/round-{ordinal}"),
        at: None,
    };
    let draft = proven(&reached(1, "reviews"), vec![next(2), next(2)]);
    stands(&draft, 2, "analysis");
    assert_eq!(draft.events().iter().filter(|event| matches!(event, Event::RunStarted { .. })).count(), 1);
    assert_eq!(proven(&reached(2, "reviews"), vec![next(1)]).events(), [], "an old folder says nothing");
    let (session, items) = folded(&reached(1, "reviews"));
    let mut draft = Draft::new(session, items, at(), actor());
    prove(&mut draft, &told(vec![next(2)]), &|_| false);
    assert_eq!(draft.events(), [], "what is older than what it would prove does not count");
}

/// The changes in the file survive, whatever happened to the session in the log and in the file.
#[test]
fn an_edit_is_never_lost() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).expect("31 bits") % below
    };
    let mut changed = 0;
    for _ in 0..500 {
        let mut side = |round: u32| {
            let mut events = reached(round, PHASES[draw(PHASES.len())]);
            let value = draw(3);
            events.push(set(None, &[("a", json!(value)), ("b", json!(draw(2)))]));
            events.push(set(Some("context"), &[("c", json!(draw(2)))]));
            if draw(2) == 0 {
                events.push(note(1, NoteKind::Note, ["x", "y"][draw(2)]));
            }
            match draw(4) {
                0 => events.push(Event::SessionCompleted { forced: true }),
                1 => events.push(Event::SessionFailed { error: "e".to_owned() }),
                _ => {}
            }
            events
        };
        let (base, ours, theirs) = (side(1), side(1), side(1));
        let draft = brought_in(&ours, &base, &theirs);
        let ((before, _), (now, _), after) = (folded(&base), folded(&theirs), draft.session());
        let current = |session: &Session| session.run().map(|run| run.current().id().clone());
        if current(&before) != current(&now) {
            changed += 1;
            assert_eq!(current(after), current(&now), "{:?}", draft.events());
        }
        for (key, value) in now.fields.iter().filter(|(key, value)| before.fields.get(*key) != Some(*value)) {
            assert_eq!(after.fields.get(key), Some(value));
        }
        for note in now.notes.iter().filter(|note| !before.notes.iter().any(|old| notes::is_same(old, note)))
        {
            assert!(after.notes.iter().any(|kept| notes::is_same(kept, note)));
        }
        if before.lifecycle.name() != now.lifecycle.name() {
            assert_eq!(after.lifecycle.name(), now.lifecycle.name());
        }
    }
    assert!(changed > 250, "{changed} of 500 edits moved the phase");
}

/// A session on which people and agents have worked with commands.
fn worked_on(events: &[Event]) -> (Session, ItemBook) {
    let anna = Actor::person("anna", "h");
    let recorded: Vec<Recorded> =
        recorded(events).into_iter().map(|recorded| Recorded { actor: anna.clone(), ..recorded }).collect();
    (Session::fold(&recorded).expect("a session"), ItemBook::fold(&recorded))
}

/// The draft for a file that advanced from reviews to aggregation. Another file proves the reviews.
fn reviews_shown(ours: &[Event]) -> Draft {
    let (session, items) = worked_on(ours);
    let mut theirs = reached(1, "reviews");
    theirs.push(Event::PhaseCompleted {
        phase: name("reviews"),
        attempt: shown_by("reviews/quality-1.md"),
        branch: None,
        head: None,
    });
    theirs.push(Event::PhaseStarted { phase: name("aggregation") });
    let (base, theirs) = (folded(&reached(1, "reviews")), folded(&theirs));
    let mut draft = Draft::new(session, items, at(), actor());
    reconcile(
        &mut draft,
        Laid { session: &base.0, items: &base.1 },
        Laid { session: &theirs.0, items: &theirs.1 },
    );
    draft
}

fn is_contested(draft: &Draft, phase: &str) -> bool {
    draft.phase(&name(phase)).is_some_and(|phase| draft.session().is_contested(phase))
}

#[test]
fn b1_a_file_never_overrules_a_gate_of_ours_that_failed() {
    let mut ours = reached(1, "reviews");
    let draft = reviews_shown(&ours);
    assert!(draft.phase(&name("reviews")).is_some_and(|phase| phase.is_done() && !phase.claimed));
    ours.push(Event::GateFailed { phase: name("reviews"), attempt: AttemptReport::default() });
    let draft = reviews_shown(&ours);
    assert!(is_contested(&draft, "reviews"));
    // The edit is adopted, because it continued the work.
    assert!(draft.is_in_progress(&name("aggregation")));
}

#[test]
fn b1_a_file_never_overrules_items_of_ours_that_are_open() {
    let mut ours = reached(1, "reviews");
    ours.push(added("testing-1", "Testing"));
    assert!(is_contested(&reviews_shown(&ours), "reviews"));
}
