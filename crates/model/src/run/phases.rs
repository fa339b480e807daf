//! The phases of a run: a list that is never empty, even if read from a log or a snapshot.

use crate::phase::Phase;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// A list with at least one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Phase>")]
pub struct Phases(Vec<Phase>);

impl Phases {
    pub fn new(phases: Vec<Phase>) -> Option<Self> {
        (!phases.is_empty()).then_some(Self(phases))
    }

    pub(crate) fn push(&mut self, phase: Phase) {
        self.0.push(phase);
    }

    /// Returns the phase at a position, or the last phase if the position is beyond the end.
    pub fn at(&self, place: usize) -> &Phase {
        &self.0[place.min(self.0.len() - 1)]
    }
}

impl TryFrom<Vec<Phase>> for Phases {
    type Error = &'static str;

    fn try_from(phases: Vec<Phase>) -> Result<Self, Self::Error> {
        Self::new(phases).ok_or("a run has at least one phase")
    }
}

/// Access is by slice, so that no phase can be removed.
impl Deref for Phases {
    type Target = [Phase];

    fn deref(&self) -> &[Phase] {
        &self.0
    }
}

impl DerefMut for Phases {
    fn deref_mut(&mut self) -> &mut [Phase] {
        &mut self.0
    }
}

impl<'a> IntoIterator for &'a Phases {
    type Item = &'a Phase;
    type IntoIter = std::slice::Iter<'a, Phase>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Phases {
    type Item = &'a mut Phase;
    type IntoIter = std::slice::IterMut<'a, Phase>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
