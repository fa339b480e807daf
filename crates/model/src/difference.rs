//! What differs between two states of one session. Pure; words are the front end's.

use crate::id::Name;
use crate::lifecycle::Lifecycle;
use crate::run::Run;
use crate::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a difference is about.
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
    PhaseField { workflow: Name, ordinal: u32, phase: Name, field: String },
    Field { field: String },
    Approval { phase: Name, check: Name },
    Artifact { path: String },
    Note { id: u32 },
    Revision { number: usize },
    Checkpoint { name: String },
}

/// One thing that is not as it was. Null stands where there was, or is, nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub subject: Subject,
    pub before: Value,
    pub after: Value,
}

impl Subject {
    /// Where it stands, for programs.
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

/// All that differs, in the order in which a person wants to read it. Both states must be folded from the whole log.
pub fn between(before: &Session, after: &Session) -> Vec<Difference> {
    let (old, new) = (facts(before), facts(after));
    let mut subjects: Vec<&Subject> = old.keys().chain(new.keys()).collect();
    subjects.sort();
    subjects.dedup();
    let of = |facts: &BTreeMap<Subject, Value>, subject| facts.get(subject).cloned().unwrap_or(Value::Null);
    subjects
        .into_iter()
        .map(|subject| Difference {
            before: of(&old, subject),
            after: of(&new, subject),
            subject: subject.clone(),
        })
        .filter(|difference| difference.before != difference.after)
        .collect()
}

/// A state as comparable facts.
fn facts(session: &Session) -> BTreeMap<Subject, Value> {
    let mut facts = BTreeMap::from([
        (Subject::Title, json!(session.title)),
        (Subject::Goal, json!(session.goal)),
        (Subject::Target, json!(session.target)),
        (Subject::Worktree, json!(session.worktree)),
        (Subject::Lifecycle, lifecycle(&session.lifecycle)),
        (Subject::CurrentPhase, json!(session.run().map(|run| run.current().id()))),
    ]);
    for run in &session.runs {
        facts.extend(of_run(run));
    }
    for (field, value) in &session.fields {
        facts.insert(Subject::Field { field: field.clone() }, value.clone());
    }
    for approval in &session.approvals {
        let subject = Subject::Approval { phase: approval.phase.clone(), check: approval.check.clone() };
        facts.insert(subject, json!({ "by": approval.by, "at": approval.at }));
    }
    for (path, artifact) in &session.artifacts {
        let value = json!({ "version": artifact.newest.version, "hash": artifact.newest.hash });
        facts.insert(Subject::Artifact { path: path.clone() }, value);
    }
    for note in &session.notes {
        let value = json!({ "kind": note.kind, "text": note.text, "resolved": note.resolved_at.is_some() });
        facts.insert(Subject::Note { id: note.id }, value);
    }
    for (number, made) in (1..).zip(&session.revisions) {
        let value = json!({ "phase": made.revision.phase, "impact": made.revision.impact });
        facts.insert(Subject::Revision { number }, value);
    }
    for checkpoint in &session.checkpoints {
        let subject = Subject::Checkpoint { name: checkpoint.name.clone() };
        facts.insert(subject, json!(checkpoint.version));
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
        for (field, value) in &phase.fields {
            let (workflow, phase, field) = (workflow(), phase_id(), field.clone());
            facts.push((Subject::PhaseField { workflow, ordinal, phase, field }, value.clone()));
        }
    }
    facts
}

/// Without its moments: that a pause began at another time is no difference worth telling.
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
