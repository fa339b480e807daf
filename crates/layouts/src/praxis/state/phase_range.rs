//! Determines the first, last and current phase of a session, even if its file is wrong.

use super::{Life, Recorded, Say, Shape, State};
use crate::praxis::definition::Definition;
use crate::problem::{Disagreement, Range, Taken, Total, What};
use std::ops::RangeInclusive;

impl State {
    pub(in crate::praxis) fn is_zero_based(&self) -> bool {
        match (self.recorded_start, self.completed.first()) {
            (Some(start), _) => start == 0,
            (None, Some(first)) => *first == 0,
            (None, None) => self.current == Some(0),
        }
    }

    /// The range of phases. If the total or the current phase is invalid, a valid one is used and reported.
    pub(in crate::praxis) fn extent(&self, definition: Option<&Definition>, say: &mut Say<'_>) -> Extent {
        let first = u32::from(!self.is_zero_based());
        let total = self.total(first, definition, say);
        let highest = self.completed.last().copied();
        let reached = highest.map_or(first, |highest| highest + 1);
        let (last, is_known) = match total {
            Some(total) => (first + total - 1, true),
            None => (self.reached(reached, first), false),
        };
        let is_ended = is_known || matches!(self.life, Life::Completed { .. });
        let fallback = (first..=last).find(|number| !self.completed.contains(number)).unwrap_or(last);
        let current = match self.current.map(u32::try_from) {
            // A completed phase cannot be the current phase while another phase is open.
            Some(Ok(current)) if self.completed.contains(&current) && current != fallback => {
                if !self.completed.contains(&fallback) {
                    let range = Range::Completed { taken: fallback };
                    say("current_phase", What::OutOfRange { found: current.into(), range });
                }
                fallback
            }
            Some(Ok(current)) if (first..=last).contains(&current) => current,
            // In a finished session, old formats store the number after the last phase as the current phase.
            Some(Ok(current)) if is_ended && current == last + 1 && fallback == last => last,
            Some(_) => {
                let found = self.current.unwrap_or_default();
                let range = Range::Phases { first, last, taken: fallback };
                say("current_phase", What::OutOfRange { found, range });
                fallback
            }
            None => {
                if self.is_readable {
                    say("current_phase", What::Absent(Taken::Phase(fallback)));
                }
                fallback
            }
        };
        Extent { range: first..=last, current, is_known }
    }

    /// The last phase if the total is unknown: the highest phase that was worked on.
    fn reached(&self, reached: u32, first: u32) -> u32 {
        let current = self.current.and_then(|current| u32::try_from(current).ok()).unwrap_or(first);
        if self.completed.is_empty() {
            first.max(current.min(first + 1))
        } else if matches!(self.life, Life::Completed { .. }) {
            // In a finished session, old formats store the number after the last phase as the current phase.
            // In the newest format, the current phase always exists.
            let last = if self.shape == Shape::Seed { reached } else { reached - 1 };
            current.clamp(reached - 1, last)
        } else {
            // The file does not say that the session is over, so the next phase is open.
            reached
        }
    }

    /// The number of phases: the recorded number if it is valid, or else the definition's. `None` if neither
    /// is known.
    fn total(&self, first: u32, definition: Option<&Definition>, say: &mut Say<'_>) -> Option<u32> {
        let needed = self.completed.last().map_or(0, |highest| highest + 1 - first.min(*highest));
        let defined = definition
            .filter(|definition| definition.is_whole && definition.phases.keys().next() == Some(&first))
            .and_then(|definition| u32::try_from(definition.phases.len()).ok())
            .filter(|number| *number >= needed.max(1));
        // For every dynamic workflow, the tool recorded a total of 2, whatever the specification contains.
        let is_made_up = |number: u32| {
            let is_dynamic = definition.is_some_and(|definition| definition.is_dynamic);
            number == 2
                && self.is_tools_total
                && is_dynamic
                && defined.is_some_and(|defined| defined > number)
        };
        let recorded = match &self.recorded_total {
            Some(Recorded::Number(number)) if is_made_up(*number) => {
                let total = Total::Specification { recorded: *number, phases: defined.unwrap_or_default() };
                say("total_phases", What::TotalUnused(total));
                None
            }
            Some(Recorded::Number(number)) if *number >= needed => Some(*number),
            Some(Recorded::Number(number)) => {
                let total = Total::Completed { recorded: *number, completed: needed };
                say("total_phases", What::TotalUnused(total));
                None
            }
            Some(Recorded::Unusable(text)) => {
                say("total_phases", What::TotalUnused(Total::NotANumber { found: text.clone() }));
                None
            }
            None => None,
        };
        if let (Some(recorded), Some(defined)) = (recorded, defined)
            && recorded != defined
        {
            let how = Disagreement::TotalAndDefinition { recorded, defined };
            say("total_phases", What::Disagrees(how));
        }
        let found = recorded.or(defined);
        let is_over = matches!(self.life, Life::Completed { .. });
        if found.is_none() && self.is_readable && !is_over {
            say("", What::TotalUnknown);
        }
        found
    }

    /// True if every phase is completed.
    pub(in crate::praxis) fn all_completed(&self, extent: &Extent) -> bool {
        extent.is_known && extent.range.clone().all(|number| self.completed.contains(&number))
    }
}

/// The first, last and current phase of a session. The current phase always exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    pub range: RangeInclusive<u32>,
    pub current: u32,
    /// True if the number of phases is known.
    pub is_known: bool,
}
