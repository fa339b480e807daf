//! One look at the world for one aim, and its observations until something changes. Holds values; finds
//! nothing itself.

use crate::engine::Engine;
use crate::foreign::discover::markers::Markers;
use crate::foreign::discover::summary::{Parts, SessionSummary};
use crate::foreign::observe::Observation;
use layouts::layout::Spot;
use model::id::SessionId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// The purpose of observing sessions' files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To answer a query: shows what is there and waits for nobody.
    Look,
    /// To decide a command: waits for a file that is being written.
    Change,
    /// To rewrite files: unreadable ones are quarantined first.
    Repair {
        /// A person said where the session continues.
        says_where: bool,
    },
}

impl Aim {
    pub(crate) fn is_repair(self) -> bool {
        matches!(self, Self::Repair { .. })
    }
}

/// Observations for one aim. Replaced when a turn begins and after files were written.
pub(crate) struct Scope {
    pub(crate) aim: Aim,
    observed: RefCell<BTreeMap<SessionId, Rc<Observation>>>,
    /// This process's last write of each file.
    pub(crate) put: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    pub(crate) listing: Listing,
}

/// Data about all sessions of the project, each part loaded on demand.
#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) markers: RefCell<Option<Arc<Markers>>>,
    /// Possible places of a layout's sessions.
    pub(crate) spots: RefCell<BTreeMap<&'static str, Vec<Spot>>>,
    pub(crate) summaries: RefCell<Option<Arc<Vec<SessionSummary>>>>,
    pub(crate) parts: RefCell<Option<Arc<Parts>>>,
}

impl Listing {
    /// Files were moved or removed: places are looked up again.
    pub(crate) fn forget(&self) {
        self.markers.take();
        self.spots.take();
        self.summaries.take();
        self.parts.take();
    }
}

impl Scope {
    pub(crate) fn of(aim: Aim) -> Self {
        Self { aim, observed: RefCell::default(), put: RefCell::default(), listing: Listing::default() }
    }

    pub(crate) fn keep(&self, observation: Observation) -> Rc<Observation> {
        let observation = Rc::new(observation);
        self.observed.borrow_mut().insert(observation.located.id.clone(), Rc::clone(&observation));
        observation
    }

    pub(crate) fn all(&self) -> Vec<Rc<Observation>> {
        self.observed.borrow().values().cloned().collect()
    }

    /// The scope for the next look: keeps this process's writes and these observations.
    fn renewed(&mut self, aim: Aim, current: Vec<Rc<Observation>>) -> Self {
        let by_id = |observation: Rc<Observation>| (observation.located.id.clone(), observation);
        Self {
            observed: RefCell::new(current.into_iter().map(by_id).collect()),
            put: std::mem::take(&mut self.put),
            ..Self::of(aim)
        }
    }
}

impl Engine {
    /// The observation of a session, if any.
    pub(crate) fn observed(&self, id: &SessionId) -> Option<Rc<Observation>> {
        self.scope.observed.borrow().get(id).cloned()
    }

    /// Begins a turn. Observations for a change made before it still count if nothing changed.
    pub(crate) fn begin_turn(&mut self) {
        let mut current = self.scope.all();
        current.retain(|observation| self.is_current(observation));
        let ids: BTreeSet<&SessionId> = current.iter().map(|observation| &observation.located.id).collect();
        self.store.forget_all_but(&ids);
        let aim = if self.scope.aim.is_repair() { self.scope.aim } else { Aim::Change };
        self.scope = self.scope.renewed(aim, current);
    }

    /// The command is decided: later queries have another aim.
    pub(crate) fn end_turn(&mut self, aim: Aim) {
        self.scope.aim = aim;
        self.scope.listing.forget();
    }

    /// Files were written here or elsewhere: observe everything again.
    pub(crate) fn forget_observations(&mut self) {
        self.store.forget();
        self.scope = self.scope.renewed(self.scope.aim, Vec::new());
    }
}
