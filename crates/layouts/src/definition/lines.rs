//! Source positions of the strings in a definition that are compiled later.

use model::id::Name;
use std::collections::BTreeMap;

/// A line and a column. Both start at 1, and columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// The positions of the expressions and patterns in a definition, needed for messages about those that cannot
/// be compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    phases: BTreeMap<Name, PhaseLines>,
}

impl Lines {
    /// The position of a check's `expr`, `matches` or `run`. If the check has none of these keys, the
    /// position of its `kind`.
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
