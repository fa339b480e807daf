//! Where in its text a definition keeps what is compiled later. Holds places, not meanings.

use model::id::Name;
use std::collections::BTreeMap;

/// A line and a column, both from 1; a column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// Finds the value behind an expression or a pattern that did not compile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    phases: BTreeMap<Name, PhaseLines>,
}

impl Lines {
    /// The place of a check's `expr`, `matches` or `run`; of its `kind` where it has nothing of the sort.
    pub fn of_check(&self, phase: &Name, check: &Name) -> Option<Place> {
        self.phases.get(phase)?.checks.get(check).copied()
    }

    /// The place of a phase's `when`.
    pub fn of_when(&self, phase: &Name) -> Option<Place> {
        self.phases.get(phase)?.when
    }

    pub(super) fn insert(&mut self, phase: Name, lines: PhaseLines) {
        self.phases.insert(phase, lines);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PhaseLines {
    pub(super) when: Option<Place>,
    pub(super) checks: BTreeMap<Name, Place>,
}
