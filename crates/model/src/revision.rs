//! Revisions: changes of an earlier phase, and their effect on later phases.

use crate::event::ItemEvent;
use crate::id::Name;
use crate::item::{Item, ItemStatus, RunRef};
use crate::phase::{Phase, PhaseState};
use crate::run::Run;
use crate::session::Session;
use serde::{Deserialize, Serialize};

/// How much of the later work a revision affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// Later phases stay valid, and are flagged for review.
    Minor,
    /// Some later phases are affected. They are flagged for review, and their files are archived.
    Moderate,
    /// The direction changed. All later phases restart, and their files are archived.
    Major,
}

impl Impact {
    pub const ALL: [Self; 3] = [Self::Minor, Self::Moderate, Self::Major];

    pub fn name(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Major => "major",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|impact| impact.name() == text)
    }
}

/// A revision as stored in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    pub phase: Name,
    pub impact: Impact,
    pub reason: String,
    /// Later phases flagged for review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<Name>,
    /// Later phases that restart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarted: Vec<Name>,
    /// The archived files with their new names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archived: Vec<Archived>,
    /// The disk operation of the revision. Recovery after a crash finishes or reverts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    pub from: String,
    pub to: String,
    /// True if the archive is only a copy, and the file itself stays and remains valid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
}

/// The effect of a revision on the phases after the revised one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reach {
    /// The phases that are flagged for review.
    pub flagged: Vec<Name>,
    /// The phases that restart.
    pub restarted: Vec<Name>,
    /// The phases whose files are archived.
    pub archived: Vec<Name>,
}

impl Reach {
    /// Returns the phases that a revision affects. `affects` limits a minor or moderate revision to the named later
    /// phases; if it is empty, all later phases are affected.
    pub fn of(session: &Session, run: &Run, phase: &Name, impact: Impact, affects: &[Name]) -> Self {
        let mut reach = Self::default();
        let after = run.position(phase.as_str()).map_or(run.phases.len(), |position| position + 1);
        for later in run.phases.iter().skip(after) {
            let id = later.id();
            let is_affected = affects.is_empty() || affects.contains(id);
            match (&later.state, impact) {
                (PhaseState::NotStarted | PhaseState::Skipped { .. }, Impact::Minor | Impact::Moderate) => {}
                (PhaseState::NotStarted, Impact::Major) => {
                    reach.archived.push(id.clone());
                    // A phase that counts as not started may have work in it, if an earlier revision or rollback
                    // restarted it.
                    if later.items.done > 0 || session.was_interrupted(id) {
                        reach.restarted.push(id.clone());
                    }
                }
                // Only one phase can be in progress, so a later phase in progress restarts after the revised phase. Its
                // files are archived only if `affects` names it.
                (PhaseState::InProgress { .. }, Impact::Minor | Impact::Moderate) => {
                    reach.restarted.push(id.clone());
                    if impact == Impact::Moderate && affects.contains(id) {
                        reach.archived.push(id.clone());
                    }
                }
                (PhaseState::Completed { .. } | PhaseState::NeedsReview { .. }, Impact::Minor) => {
                    if is_affected {
                        reach.flagged.push(id.clone());
                    }
                }
                (PhaseState::Completed { .. } | PhaseState::NeedsReview { .. }, Impact::Moderate) => {
                    if is_affected {
                        reach.flagged.push(id.clone());
                        reach.archived.push(id.clone());
                    }
                }
                (
                    PhaseState::InProgress { .. }
                    | PhaseState::Completed { .. }
                    | PhaseState::NeedsReview { .. }
                    | PhaseState::Skipped { .. },
                    Impact::Major,
                ) => {
                    reach.restarted.push(id.clone());
                    reach.archived.push(id.clone());
                }
            }
        }
        reach
    }
}

impl Session {
    /// True if a revision interrupted the phase and the phase was not entered again since. False after a major
    /// revision, because the phase then restarts without its earlier work.
    pub fn was_interrupted(&self, phase: &Name) -> bool {
        let waits = |found: &Phase| found.id() == phase && found.state == PhaseState::NotStarted;
        let is_waiting = self.run().is_some_and(|run| run.phases.iter().any(waits));
        let mut revisions = self.revisions.iter().rev().map(|made| &made.revision);
        let last = revisions.find(|revision| revision.restarted.contains(phase));
        is_waiting && last.is_some_and(|revision| revision.impact != Impact::Major)
    }
}

/// Returns the event that reopens an item, so that its work starts again; `None` if no work on it has started.
pub fn reopened(item: &Item) -> Option<ItemEvent> {
    let id = item.id.clone();
    match item.status {
        ItemStatus::Completed { .. } => {
            Some(ItemEvent::ItemReopened { id, run: item.run.clone(), phase: item.phase.clone() })
        }
        ItemStatus::Active => Some(ItemEvent::ItemReleased { id }),
        // A blocked item stays blocked, because the reason may still apply.
        ItemStatus::Pending | ItemStatus::Blocked { .. } | ItemStatus::Dropped { .. } => None,
    }
}

/// Returns the events that reopen the items of all later phases after a major revision. Other revisions reopen no
/// items.
pub fn reopens<'a>(revision: &Revision, run: &Run, items: impl Iterator<Item = &'a Item>) -> Vec<ItemEvent> {
    if revision.impact != Impact::Major {
        return Vec::new();
    }
    let run = RunRef::from(run);
    let is_concerned = |item: &&Item| item.run == run && revision.restarted.contains(&item.phase);
    items.filter(is_concerned).filter_map(reopened).collect()
}

#[cfg(test)]
mod tests;
