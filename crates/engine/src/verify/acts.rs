//! Judges the restricted acts of a history again. Whoever did them may have shown leftoff another policy than the one
//! that counts here.

use super::definition;
use super::judge::Judge;
use super::problem::Problem;
use crate::policy::{Restricted, Who, restored_acts};
use model::event::{Event, ItemEvent, Recorded};
use model::id::Name;
use model::item::{ItemBook, RunRef};
use model::lineage::{lineage, step};
use model::session::Session;
use model::workflow::PhaseDefinition;

const BRINGING_BACK: &str = "bringing back what a person took back";
const TAKING_ITEMS: &str = "taking back items that a person added";

impl Judge<'_> {
    /// Returns problems with acts that need a person here but were done by somebody else. Approvals and overrides are
    /// not included: they are judged with their phases.
    pub(super) fn act_problems(&self) -> Vec<Problem> {
        let history = &self.replay.history;
        let newest = history.last().map_or(0, |recorded| recorded.version);
        let purges = history.iter().filter(|recorded| matches!(recorded.event, Event::Purged { .. }));
        // An act that was undone has no effect any more, so it is not judged.
        let in_effect = lineage(history, newest).into_iter();
        let others = in_effect.filter(|recorded| !matches!(recorded.event, Event::Purged { .. }));
        let by_others = purges.chain(others).filter(|recorded| !recorded.actor.is_person());
        by_others.filter_map(|recorded| self.act_problem(recorded)).collect()
    }

    /// True if the event at this version took back items that a person added, and that are not there again.
    fn takes_items(&self, version: u64) -> bool {
        let history = &self.replay.history;
        let items = ItemBook::fold(history);
        let (gone, _) = step(history, version - 1, version);
        gone.into_iter().filter(|recorded| recorded.actor.is_person()).any(|recorded| match &recorded.event {
            Event::Item(ItemEvent::ItemAdded { item }) => items.get(&item.id).is_none(),
            _ => false,
        })
    }

    fn act_problem(&self, recorded: &Recorded) -> Option<Problem> {
        let needs_person = |act: Restricted| self.engine.who_may(act) > Who::Anyone;
        let doing = match &recorded.event {
            Event::Purged { .. } => needs_person(Restricted::Purge).then(|| Restricted::Purge.doing()),
            Event::DefinitionUpdated { .. } => {
                needs_person(Restricted::Update).then(|| Restricted::Update.doing())
            }
            Event::Item(ItemEvent::ItemDropped { run, phase, reason: Some(_), .. }) => {
                let is_needed = self.has_gate_for_items(run, phase);
                (is_needed && needs_person(Restricted::Drop)).then(|| Restricted::Drop.doing())
            }
            Event::Restored { to_version } => {
                let history = &self.replay.history;
                let before = &history[..history.partition_point(|known| known.version < recorded.version)];
                let now = Session::fold(before)?;
                let mut acts = restored_acts(&now, before, *to_version).into_iter();
                let took_items = self.takes_items(recorded.version).then_some(TAKING_ITEMS);
                acts.any(needs_person).then_some(BRINGING_BACK).or(took_items)
            }
            _ => None,
        }?;
        Some(Problem::NotAllowed { version: recorded.version, doing, who: recorded.actor.to_string() })
    }

    /// True if the gate of this phase needs finished items; also if its definition is missing.
    fn has_gate_for_items(&self, run: &RunRef, phase: &Name) -> bool {
        let runs = &self.replay.session.runs;
        let hash = runs.iter().find(|known| run.is(known)).map(|known| known.workflow.hash.as_str());
        let stored = definition::stored(self.material);
        let defined = hash.and_then(|hash| stored.get(hash)?.phase(phase.as_str()));
        defined.is_none_or(PhaseDefinition::asks_for_items)
    }
}
