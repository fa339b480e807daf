//! Source positions of strings that are compiled later. Stores positions, not meanings.

use model::id::Name;
use std::collections::BTreeMap;

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// Finds the source of an expression or a pattern that did not compile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    phases: BTreeMap<Name, PhaseLines>,
}

impl Lines {
    /// The position of a check's `expr`, `matches` or `run`, or else of its `kind`.
    pub fn of_check(&self, phase: &Name, check: &Name) -> Option<Place> {
        self.phases.get(phase)?.checks.get(check).copied()
    }

    /// The position of a phase's `when`.
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
