//! Consequences of a completed phase in another tool's layout. Items may be completed with it. Files that the tool
//! wrote are recorded, so that later changes are noticed.

use crate::artifacts::{Recording, look};
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan::Plan;
use crate::files::PathEntry;
use layouts::layout::{self, Layout, SessionToPublish};
use model::command::{Command, decide};
use model::event::Event;
use model::phase::PhaseState;
use model::session::Session;
use std::collections::BTreeSet;

impl Engine {
    /// Adds events for the items that the completed phase completes.
    pub(super) fn add_settled_items(&self, plan: &mut Plan) -> Result<()> {
        let Some(before) = plan.subject.before.clone() else { return Ok(()) };
        let layout = layout::by_name(&before.layout);
        let Some(consequences) = layout.and_then(|layout| layout.capabilities().consequences) else {
            return Ok(());
        };
        let completed = plan.subject.events.iter().filter_map(|event| match event {
            Event::PhaseCompleted { phase, attempt, .. } => Some((phase.clone(), attempt.clone())),
            _ => None,
        });
        let completed: Vec<_> = completed.collect();
        if completed.is_empty() {
            return Ok(());
        }
        let Some((_, tree)) = self.whole_tree(&before) else { return Ok(()) };
        let items = self.all_items(&before.id)?;
        let publication = SessionToPublish::new(&before, &items, &[]);
        let settled: Vec<Event> = completed
            .iter()
            .flat_map(|(phase, attempt)| consequences.of_completion(phase, attempt, &publication, &tree))
            .collect();
        if !settled.is_empty() {
            plan.subject.events.extend(settled);
            plan.items = Some(items);
        }
        Ok(())
    }

    /// Records files of finished phases that the session's own tool has written since they were last recorded.
    pub(super) fn record_outputs(&self, plan: &mut Plan) -> Result<()> {
        let Some(before) = plan.subject.before.as_ref().filter(|before| keeps_outputs(before)) else {
            return Ok(());
        };
        let events = &plan.subject.events;
        if events.is_empty() || events.iter().any(goes_back) {
            return Ok(());
        }
        let named = events.iter().filter_map(recorded_path);
        let named: BTreeSet<&str> = named.collect();
        let recording = self.unrecorded_outputs(before, &named)?;
        let recorded = decide(before, Command::RecordArtifacts { artifacts: recording.artifacts })?;
        plan.subject.events.extend(recorded);
        plan.contents.extend(recording.contents);
        Ok(())
    }

    fn unrecorded_outputs(&self, session: &Session, named: &BTreeSet<&str>) -> Result<Recording> {
        let mut recording = Recording::default();
        let Some(run) = session.run() else { return Ok(recording) };
        let Some(definition) = self.definition(&run.workflow.hash)? else { return Ok(recording) };
        let root = self.root_of(session);
        for phase in &run.phases {
            let PhaseState::Completed { at: completed_at, .. } = phase.state else { continue };
            let is_new = |path: &String| {
                let known = session.artifacts.get(path);
                known.is_none_or(|known| known.recorded_at < completed_at) && !named.contains(path.as_str())
            };
            for path in self.produced(session, &definition, phase.id()).into_iter().filter(is_new) {
                if let PathEntry::File(looked) = look(&root, &path) {
                    recording.add(path, looked, Some(phase.id()));
                }
            }
        }
        Ok(recording)
    }
}

fn keeps_outputs(session: &Session) -> bool {
    layout::by_name(&session.layout).is_some_and(|layout: &dyn Layout| layout.facts().records_outputs)
}

/// True for an event that reopens phases. No files are recorded together with such an event.
fn goes_back(event: &Event) -> bool {
    matches!(
        event,
        Event::PhaseRevised { .. }
            | Event::RolledBack { .. }
            | Event::Restored { .. }
            | Event::RunStarted { .. }
    )
}

fn recorded_path(event: &Event) -> Option<&str> {
    match event {
        Event::ArtifactRecorded { artifact } => Some(&artifact.path),
        _ => None,
    }
}
