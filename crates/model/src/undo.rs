//! Undo and redo by appending an event. Reads the whole log, and removes nothing from it.

use crate::actor::Actor;
use crate::event::{Event, Recorded};
use crate::lineage::lineage;
use crate::nearest_name::nearest;
use crate::refusal::Refusal;
use crate::session::Session;
use std::collections::BTreeMap;

/// For each event's version, the version of the first event of the same command. Events written by older programs are
/// missing: if such events follow each other with the same time and actor, they belong to the same command.
pub type Commands = BTreeMap<u64, u64>;

/// Returns the event that brings back the state before this actor's last command, or the named point. An empty list
/// means that the session is already in that state.
pub fn undo(
    session: &Session,
    events: &[Recorded],
    commands: &Commands,
    actor: &Actor,
    to: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    refuse_newer(session)?;
    let to_version = match to {
        Some(asked) => point(events, asked)?,
        None => before_last_command(&lineage(events, session.version), commands, actor)?,
    };
    let first = end_of_first_command(events, commands);
    if to_version < first {
        return Err(Refusal::UndoesTheStart { session: session.id.clone(), first });
    }
    if to_version == session.version {
        return Ok(Vec::new());
    }
    Ok(vec![Event::Restored { to_version }])
}

/// Returns the event that brings back the state before this actor's last undo. Refused if anything else has changed the
/// session since.
pub fn redo(session: &Session, events: &[Recorded], actor: &Actor) -> Result<Vec<Event>, Refusal> {
    refuse_newer(session)?;
    let Some(to_version) = undone_states(events).pop() else {
        return Err(Refusal::NothingToRedo { session: session.id.clone() });
    };
    match events.iter().rev().find(|recorded| !is_mark(&recorded.event)) {
        Some(last) if last.actor != *actor => {
            Err(Refusal::AnothersUndo { actor: last.actor.told_from(actor), to_version })
        }
        Some(_) | None => Ok(vec![Event::Restored { to_version }]),
    }
}

/// Returns the versions that redo can return to; the last of them is the next. An undo adds the version before it.
/// Returning to the last version of the list removes it. Any other change clears the list.
fn undone_states(events: &[Recorded]) -> Vec<u64> {
    let mut left = Vec::new();
    for recorded in events.iter().filter(|recorded| !is_mark(&recorded.event)) {
        match recorded.event {
            Event::Restored { to_version } if left.last() == Some(&to_version) => drop(left.pop()),
            Event::Restored { .. } => left.push(recorded.version - 1),
            _ => left.clear(),
        }
    }
    left
}

fn refuse_newer(session: &Session) -> Result<(), Refusal> {
    match &session.unknown_event {
        Some(kind) => Err(Refusal::NewerEvent { session: session.id.clone(), kind: kind.clone() }),
        None => Ok(()),
    }
}

/// Returns the version for a number or the name of a checkpoint. If two checkpoints have this name, the newer one is
/// meant. Undone checkpoints are found too, so that redo can return to them.
pub fn point(events: &[Recorded], asked: &str) -> Result<u64, Refusal> {
    let newest = events.last().map_or(0, |recorded| recorded.version);
    if let Ok(version) = asked.parse::<u64>() {
        return if version <= newest {
            Ok(version)
        } else {
            Err(Refusal::UnknownVersion { asked: version, newest })
        };
    }
    let named = |recorded: &Recorded| {
        let Event::CheckpointMade { name } = &recorded.event else { return None };
        Some(name.clone())
    };
    if let Some(found) = events.iter().rev().find(|recorded| named(recorded).as_deref() == Some(asked)) {
        return Ok(found.version);
    }
    let known: Vec<String> = events.iter().filter_map(named).collect();
    let near = nearest(asked, known.iter().map(String::as_str)).map(ToOwned::to_owned);
    Err(Refusal::UnknownCheckpoint { asked: asked.to_owned(), nearest: near, known })
}

/// Returns the version before the last command that is not undone yet. Refused if another actor ran that command.
fn before_last_command(line: &[&Recorded], commands: &Commands, actor: &Actor) -> Result<u64, Refusal> {
    let counts =
        |recorded: &&Recorded| !is_mark(&recorded.event) && !matches!(recorded.event, Event::Restored { .. });
    let mut counting = line.iter().rev().copied().filter(counts);
    let Some(last) = counting.next() else { return Ok(0) };
    let begins = counting.take_while(|next| is_together(next, last, commands)).last().unwrap_or(last);
    let before = begins.version.saturating_sub(1);
    if last.actor != *actor {
        return Err(Refusal::AnothersChange { actor: last.actor.told_from(actor), before });
    }
    Ok(before)
}

/// True if undo ignores the event: purged text stays purged, and requirements belong to no session.
fn is_mark(event: &Event) -> bool {
    matches!(
        event,
        Event::Purged { .. }
            | Event::ForkResolved { .. }
            | Event::RequirementSatisfied { .. }
            | Event::RequirementCleared { .. }
    )
}

/// Returns the version of the last event of the log's first command.
fn end_of_first_command(events: &[Recorded], commands: &Commands) -> u64 {
    let Some(first) = events.first() else { return 0 };
    let same = events.iter().take_while(|next| is_together(next, first, commands));
    same.last().map_or(first.version, |last| last.version)
}

fn is_together(one: &Recorded, other: &Recorded, commands: &Commands) -> bool {
    match (commands.get(&one.version), commands.get(&other.version)) {
        (None, None) => one.at == other.at && one.actor == other.actor,
        (known, other_known) => known == other_known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Name, SessionId};
    use crate::lineage::step;
    use crate::note::NoteKind;
    use crate::phase::PhaseStub;
    use crate::run::WorkflowRef;
    use crate::workflow::{Indexing, OnComplete};
    use jiff::Timestamp;

    fn actor(name: &str) -> Actor {
        Actor::person(name, "desk")
    }

    /// A log of commands, each with its actor, second and events.
    fn log(commands: Vec<(&str, i64, Vec<Event>)>) -> Vec<Recorded> {
        let events = commands.into_iter().flat_map(|(who, second, events)| {
            events.into_iter().map(move |event| (actor(who), second, event))
        });
        (1..)
            .zip(events)
            .map(|(version, (actor, second, event))| Recorded {
                version,
                at: Timestamp::from_second(second).expect("in range"),
                actor,
                event,
            })
            .collect()
    }

    fn start() -> Vec<Event> {
        let name = |text: &str| Name::parse(text).expect("a name");
        vec![
            Event::SessionStarted {
                id: SessionId::parse("k3v9x2mp").expect("an id"),
                title: "Title".to_owned(),
                goal: None,
                target: None,
                layout: "native".to_owned(),
                worktree: "/w".to_owned(),
                parallel: false,
                fields: BTreeMap::new(),
                path: None,
                machine: None,
                branch: None,
                head: None,
            },
            Event::RunStarted {
                workflow: WorkflowRef {
                    name: name("ship"),
                    version: "1".to_owned(),
                    title: "Ship".to_owned(),
                    hash: "h".to_owned(),
                    indexing: Indexing::One,
                    on_complete: OnComplete::Close,
                },
                ordinal: 1,
                phases: vec![PhaseStub { id: name("plan"), title: "Plan".to_owned(), terminal: false }],
                definition: None,
            },
            Event::PhaseStarted { phase: name("plan") },
        ]
    }

    fn note(id: u32) -> Event {
        Event::NoteAdded {
            id,
            kind: NoteKind::Note,
            text: format!("note {id}"),
            fields: BTreeMap::new(),
            origin: None,
        }
    }

    fn undone(log: &[Recorded], who: &str, to: Option<&str>) -> Result<Vec<Event>, Refusal> {
        undo(&Session::fold(log).expect("a session"), log, &Commands::new(), &actor(who), to)
    }

    fn after(log: &[Recorded], event: Event) -> Vec<Recorded> {
        let last = log.last().expect("a log is never empty");
        let version = last.version + 1;
        let at = Timestamp::from_second(last.at.as_second() + 1).expect("in range");
        [log, &[Recorded { version, at, actor: last.actor.clone(), event }]].concat()
    }

    fn notes(log: &[Recorded]) -> Vec<u32> {
        Session::fold(log).expect("a session").notes.iter().map(|note| note.id).collect()
    }

    #[test]
    fn undoing_goes_back_before_the_last_command_whole() {
        let log =
            log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)]), ("anna", 3, vec![note(2), note(3)])]);
        assert_eq!(undone(&log, "anna", None), Ok(vec![Event::Restored { to_version: 4 }]));
        assert_eq!(notes(&after(&log, Event::Restored { to_version: 4 })), [1]);
    }

    fn redone(log: &[Recorded], who: &str) -> Result<Vec<Event>, Refusal> {
        redo(&Session::fold(log).expect("a session"), log, &actor(who))
    }

    /// Returns the log with the events that an undo or redo adds.
    fn with(log: &[Recorded], added: Result<Vec<Event>, Refusal>) -> Vec<Recorded> {
        let mut added = added.expect("not refused");
        after(log, added.pop().expect("one event"))
    }

    #[test]
    fn undoing_again_goes_further_back_and_redoing_comes_forward_step_by_step() {
        let log = log(vec![
            ("anna", 1, start()),
            ("anna", 2, vec![note(1)]),
            ("anna", 3, vec![note(2), note(3)]),
            ("anna", 4, vec![note(4)]),
        ]);
        let once = with(&log, undone(&log, "anna", None));
        assert_eq!(notes(&once), [1, 2, 3]);
        let twice = with(&once, undone(&once, "anna", None));
        assert_eq!(notes(&twice), [1]);
        let thrice = with(&twice, undone(&twice, "anna", None));
        assert_eq!(notes(&thrice), [0; 0]);
        assert!(matches!(undone(&thrice, "anna", None), Err(Refusal::UndoesTheStart { .. })));

        let forward = with(&thrice, redone(&thrice, "anna"));
        assert_eq!(notes(&forward), [1]);
        let further = with(&forward, redone(&forward, "anna"));
        assert_eq!(notes(&further), [1, 2, 3]);
        // Undoes and redoes in the middle of the log, after an earlier undo.
        let back = with(&further, undone(&further, "anna", None));
        assert_eq!(notes(&back), [1]);
        let again = with(&back, redone(&back, "anna"));
        let all = with(&again, redone(&again, "anna"));
        assert_eq!(notes(&all), [1, 2, 3, 4]);
        assert!(matches!(redone(&all, "anna"), Err(Refusal::NothingToRedo { .. })));
    }

    #[test]
    fn a_new_change_after_an_undo_leaves_nothing_to_redo_and_is_undone_first() {
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)])]);
        assert!(matches!(redone(&log, "anna"), Err(Refusal::NothingToRedo { .. })));
        let undone_once = with(&log, undone(&log, "anna", None));
        let changed = after(&undone_once, note(2));
        assert!(matches!(redone(&changed, "anna"), Err(Refusal::NothingToRedo { .. })));
        let back = with(&changed, undone(&changed, "anna", None));
        assert!(notes(&back).is_empty());
        // Note 1 was undone before note 2 was written, so the next step back reaches the start.
        assert!(matches!(undone(&back, "anna", None), Err(Refusal::UndoesTheStart { .. })));
        assert_eq!(notes(&with(&back, redone(&back, "anna"))), [2]);
    }

    #[test]
    fn going_to_a_point_is_taken_back_by_redo() {
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)]), ("anna", 3, vec![note(2)])]);
        let there = with(&log, undone(&log, "anna", Some("3")));
        assert!(notes(&there).is_empty());
        assert_eq!(notes(&with(&there, redone(&there, "anna"))), [1, 2]);
        assert_eq!(
            redone(&there, "ben"),
            Err(Refusal::AnothersUndo { actor: "anna".to_owned(), to_version: 5 })
        );
    }

    #[test]
    fn a_step_tells_what_it_took_and_what_it_brought_back() {
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)])]);
        let once = after(&log, Event::Restored { to_version: 3 });
        let twice = after(&once, Event::Restored { to_version: 4 });
        assert_eq!(Session::fold(&twice).map(|session| session.version), Some(6));
        let (gone, back) = step(&twice, 5, 6);
        assert_eq!(gone.iter().map(|event| event.version).collect::<Vec<_>>(), [5]);
        assert_eq!(back.iter().map(|event| event.version).collect::<Vec<_>>(), [4, 6]);
    }

    #[test]
    fn another_actors_command_is_crossed_only_when_told_to() {
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)]), ("ben", 3, vec![note(2)])]);
        assert_eq!(
            undone(&log, "anna", None),
            Err(Refusal::AnothersChange { actor: "ben".to_owned(), before: 4 })
        );
        assert_eq!(undone(&log, "anna", Some("3")), Ok(vec![Event::Restored { to_version: 3 }]));
    }

    #[test]
    fn the_start_cannot_be_undone() {
        let log = log(vec![("anna", 1, start())]);
        for to in [None, Some("0"), Some("2")] {
            assert!(matches!(undone(&log, "anna", to), Err(Refusal::UndoesTheStart { .. })), "{to:?}");
        }
        assert_eq!(undone(&log, "anna", Some("3")), Ok(Vec::new()));
    }

    #[test]
    fn points_are_versions_or_checkpoints_also_ones_that_were_taken_back() {
        let mark = Event::CheckpointMade { name: "before the rewrite".to_owned() };
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![mark]), ("anna", 3, vec![note(1)])]);
        let back = after(&log, Event::Restored { to_version: 3 });
        assert_eq!(point(&back, "before the rewrite"), Ok(4));
        assert_eq!(point(&back, "99"), Err(Refusal::UnknownVersion { asked: 99, newest: 6 }));
        assert!(matches!(
            point(&back, "before the rewrit"),
            Err(Refusal::UnknownCheckpoint { nearest: Some(_), .. })
        ));
    }

    #[test]
    fn what_was_purged_is_not_what_undoing_takes_back() {
        let log = log(vec![
            ("anna", 1, start()),
            ("anna", 2, vec![note(1)]),
            ("ben", 3, vec![Event::Purged { replaced: 1, rewritten: Vec::new(), contents: Vec::new() }]),
        ]);
        assert_eq!(undone(&log, "anna", None), Ok(vec![Event::Restored { to_version: 3 }]));
    }

    #[test]
    fn a_session_with_an_event_of_a_newer_program_is_not_written() {
        let strange = Event::Unknown { kind: "teleported".to_owned() };
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![strange])]);
        assert!(matches!(undone(&log, "anna", None), Err(Refusal::NewerEvent { .. })));
        // Undoing a later event does not hide an event that this program does not know.
        let back = after(&log, Event::Restored { to_version: 3 });
        assert!(matches!(undone(&back, "anna", None), Err(Refusal::NewerEvent { .. })));
    }

    #[test]
    fn a_thousand_undos_of_undos_are_folded_at_once() {
        let mut log = log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)])]);
        for _ in 0..1_000 {
            let to_version = log.last().expect("a log is never empty").version - 1;
            log = after(&log, Event::Restored { to_version });
        }
        assert_eq!(notes(&log), [1]);
    }

    #[test]
    fn commands_of_one_moment_are_taken_back_one_by_one() {
        let log =
            log(vec![("anna", 1, start()), ("anna", 1, vec![note(1)]), ("anna", 1, vec![note(2), note(3)])]);
        let commands = Commands::from([(1, 1), (2, 1), (3, 1), (4, 4), (5, 5), (6, 5)]);
        let session = Session::fold(&log).expect("a session");
        let undone = |to| undo(&session, &log, &commands, &actor("anna"), to);
        assert_eq!(undone(None), Ok(vec![Event::Restored { to_version: 4 }]));
        assert_eq!(undone(Some("3")), Ok(vec![Event::Restored { to_version: 3 }]));
        assert!(matches!(undone(Some("2")), Err(Refusal::UndoesTheStart { first: 3, .. })));
        // Without command numbers, only the time groups events.
        let by_time = undo(&session, &log, &Commands::new(), &actor("anna"), None);
        assert!(matches!(by_time, Err(Refusal::UndoesTheStart { first: 6, .. })));
    }

    #[test]
    fn a_command_of_today_does_not_take_older_events_with_it() {
        let log = log(vec![("anna", 1, start()), ("anna", 2, vec![note(1)]), ("anna", 2, vec![note(2)])]);
        let commands = Commands::from([(5, 5)]);
        let session = Session::fold(&log).expect("a session");
        let undone = undo(&session, &log, &commands, &actor("anna"), None);
        assert_eq!(undone, Ok(vec![Event::Restored { to_version: 4 }]));
    }
}
