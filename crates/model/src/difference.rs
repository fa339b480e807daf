//! Differences between two states of one session, as data: front ends choose the words.

use crate::id::Name;
use crate::lifecycle::Lifecycle;
use crate::run::Run;
use crate::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The part of a session in which a difference was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Title,
    Goal,
    Target,
    Worktree,
    Lifecycle,
    CurrentPhase,
    Run { workflow: Name, ordinal: u32 },
    PhaseStatus { workflow: Name, ordinal: u32, phase: Name },
    Attempts { workflow: Name, ordinal: u32, phase: Name },
    Items { workflow: Name, ordinal: u32, phase: Name },
    PhaseField { workflow: Name, ordinal: u32, phase: Name, field: String },
    Field { field: String },
    Approval { phase: Name, check: Name },
    Artifact { path: String },
    Note { id: u32 },
    Revision { number: usize },
    Checkpoint { name: String },
}

/// One value that changed. `Null` stands for no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub subject: Subject,
    pub before: Value,
    pub after: Value,
}

impl Subject {
    /// Returns the path of the value in JSON output.
    pub fn path(&self) -> String {
        match self {
            Self::Title => "title".to_owned(),
            Self::Goal => "goal".to_owned(),
            Self::Target => "target".to_owned(),
            Self::Worktree => "worktree".to_owned(),
            Self::Lifecycle => "lifecycle".to_owned(),
            Self::CurrentPhase => "current_phase".to_owned(),
            Self::Run { workflow, ordinal } => format!("runs.{workflow}.{ordinal}"),
            Self::PhaseStatus { workflow, ordinal, phase } => {
                format!("runs.{workflow}.{ordinal}.phases.{phase}.status")
            }
            Self::Attempts { workflow, ordinal, phase } => {
                format!("runs.{workflow}.{ordinal}.phases.{phase}.attempts")
            }
            Self::Items { workflow, ordinal, phase } => {
                format!("runs.{workflow}.{ordinal}.phases.{phase}.items")
            }
            Self::PhaseField { workflow, ordinal, phase, field } => {
                format!("runs.{workflow}.{ordinal}.phases.{phase}.fields.{field}")
            }
            Self::Field { field } => format!("fields.{field}"),
            Self::Approval { phase, check } => format!("approvals.{phase}.{check}"),
            Self::Artifact { path } => format!("artifacts.{path}"),
            Self::Note { id } => format!("notes.{id}"),
            Self::Revision { number } => format!("revisions.{number}"),
            Self::Checkpoint { name } => format!("checkpoints.{name}"),
        }
    }
}

/// Returns all differences between two states, in a readable order. Both states must be folded from the whole log.
pub fn between(before: &Session, after: &Session) -> Vec<Difference> {
    let (old, new) = (facts(before), facts(after));
    let known_before: BTreeMap<&Subject, &Value> =
        old.iter().map(|(subject, value)| (subject, value)).collect();
    let known_after: BTreeMap<&Subject, &Value> =
        new.iter().map(|(subject, value)| (subject, value)).collect();
    let is_gone = |subject: &&Subject| !known_after.contains_key(subject);
    let subjects =
        new.iter().map(|(subject, _)| subject).chain(old.iter().map(|(subject, _)| subject).filter(is_gone));
    let of = |facts: &BTreeMap<&Subject, &Value>, subject| {
        facts.get(subject).map_or(Value::Null, |value| Value::clone(value))
    };
    subjects
        .map(|subject| Difference {
            before: of(&known_before, subject),
            after: of(&known_after, subject),
            subject: subject.clone(),
        })
        .filter(|difference| difference.before != difference.after)
        .collect()
}

/// Returns the values of a session that are compared.
fn facts(session: &Session) -> Vec<(Subject, Value)> {
    let mut facts = vec![
        (Subject::Title, json!(session.title)),
        (Subject::Goal, json!(session.goal)),
        (Subject::Target, json!(session.target)),
        (Subject::Worktree, json!(session.worktree)),
        (Subject::Lifecycle, lifecycle(&session.lifecycle)),
        (Subject::CurrentPhase, json!(session.run().map(|run| run.current().id()))),
    ];
    for run in &session.runs {
        facts.extend(of_run(run));
    }
    for (field, value) in &session.fields {
        facts.push((Subject::Field { field: field.clone() }, value.clone()));
    }
    for approval in &session.approvals {
        let subject = Subject::Approval { phase: approval.phase.clone(), check: approval.check.clone() };
        facts.push((subject, json!({ "by": approval.by, "at": approval.at })));
    }
    for (path, artifact) in &session.artifacts {
        let value = json!({ "version": artifact.newest.version, "hash": artifact.newest.hash });
        facts.push((Subject::Artifact { path: path.clone() }, value));
    }
    for note in &session.notes {
        let value = json!({ "kind": note.kind, "text": note.text, "resolved": note.resolved_at.is_some() });
        facts.push((Subject::Note { id: note.id }, value));
    }
    for (number, made) in (1..).zip(&session.revisions) {
        let value = json!({ "phase": made.revision.phase, "impact": made.revision.impact });
        facts.push((Subject::Revision { number }, value));
    }
    for checkpoint in &session.checkpoints {
        let subject = Subject::Checkpoint { name: checkpoint.name.clone() };
        facts.push((subject, json!(checkpoint.version)));
    }
    facts
}

fn of_run(run: &Run) -> Vec<(Subject, Value)> {
    let (workflow, ordinal) = (run.workflow.name.clone(), run.ordinal);
    let state = if run.is_open() { "open" } else { "completed" };
    let mut facts = vec![(Subject::Run { workflow: workflow.clone(), ordinal }, json!(state))];
    for phase in &run.phases {
        let (workflow, phase_id) = (|| workflow.clone(), || phase.id().clone());
        let status = Subject::PhaseStatus { workflow: workflow(), ordinal, phase: phase_id() };
        facts.push((status, json!(phase.status())));
        let attempts = Subject::Attempts { workflow: workflow(), ordinal, phase: phase_id() };
        facts.push((attempts, json!(phase.attempt_count)));
        if !phase.items.is_empty() {
            let items = Subject::Items { workflow: workflow(), ordinal, phase: phase_id() };
            facts.push((items, json!({ "done": phase.items.done, "total": phase.items.total })));
        }
        for (field, value) in &phase.fields {
            let (workflow, phase, field) = (workflow(), phase_id(), field.clone());
            facts.push((Subject::PhaseField { workflow, ordinal, phase, field }, value.clone()));
        }
    }
    facts
}

/// The lifecycle without its times, so that a change of times alone is not reported.
fn lifecycle(lifecycle: &Lifecycle) -> Value {
    let (name, why) = match lifecycle {
        Lifecycle::Active => ("active", None),
        Lifecycle::Paused { reason, .. } => ("paused", Some(reason.clone())),
        Lifecycle::Completed { forced: true, .. } => ("completed", Some("closed early".to_owned())),
        Lifecycle::Completed { forced: false, .. } => ("completed", None),
        Lifecycle::Failed { error, .. } => ("failed", Some(error.clone())),
        Lifecycle::Abandoned { reason, .. } => ("abandoned", reason.clone()),
    };
    match why {
        Some(why) => json!({ "state": name, "why": why }),
        None => json!({ "state": name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::event::{Event, Recorded};
    use crate::id::SessionId;
    use crate::session::REASON_TAKEN;
    use jiff::Timestamp;

    fn session(events: Vec<Event>) -> Session {
        let start = Event::SessionStarted {
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
        };
        let actor = Actor::person("anna", "desk");
        let recorded: Vec<Recorded> = (1..)
            .zip(std::iter::once(start).chain(events))
            .map(|(version, event)| Recorded {
                version,
                at: Timestamp::from_second(1_000 * i64::try_from(version).expect("small")).expect("in range"),
                actor: actor.clone(),
                event,
            })
            .collect();
        Session::fold(&recorded).expect("a session")
    }

    fn paths(before: &Session, after: &Session) -> Vec<String> {
        between(before, after).iter().map(|difference| difference.subject.path()).collect()
    }

    #[test]
    fn what_is_the_same_is_no_difference_and_what_is_gone_is_one() {
        let plain = session(Vec::new());
        assert!(paths(&plain, &plain).is_empty());
        let fields = BTreeMap::from([("ticket".to_owned(), json!("A-1"))]);
        let with_field = session(vec![Event::FieldsSet { phase: None, fields }]);
        let there = between(&plain, &with_field);
        assert_eq!((&there[0].before, &there[0].after), (&Value::Null, &json!("A-1")));
        let back = between(&with_field, &plain);
        assert_eq!((&back[0].before, &back[0].after), (&json!("A-1"), &Value::Null));
        assert_eq!(back[0].subject.path(), "fields.ticket");
    }

    #[test]
    fn a_session_that_was_taken_in_waits_where_it_was_taken_and_one_that_ended_has_ended() {
        let taken = || Event::SessionTaken { worktree: "/elsewhere".to_owned(), machine: None };
        let waiting = session(vec![taken()]);
        assert_eq!(paths(&session(Vec::new()), &waiting), ["worktree", "lifecycle"]);
        assert!(matches!(&waiting.lifecycle, Lifecycle::Paused { reason, .. } if reason == REASON_TAKEN));
        let ended = session(vec![Event::SessionCompleted { forced: true }, taken()]);
        assert_eq!((ended.lifecycle.name(), ended.worktree.as_str()), ("completed", "/elsewhere"));
        // If a session arrives from a bundle a second time, its pause still began with the first arrival.
        let again = session(vec![taken(), taken()]);
        assert_eq!(again.lifecycle, waiting.lifecycle);
    }
}
