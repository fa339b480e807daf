//! Stores the observations of sessions' files, for one aim and until something changes. Observes nothing itself.

use crate::engine::Engine;
use crate::foreign::discover::markers::Markers;
use crate::foreign::discover::summary::{Parts, SessionSummary};
use crate::foreign::observe::Observation;
use crate::foreign::observe::stamp::Stamp;
use layouts::layout::Spot;
use model::id::SessionId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Why files are observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To answer a query. Files are shown as they are, and no writer is waited for.
    Look,
    /// To decide a command. A file that is being written is waited for.
    Change,
    /// To rewrite files. Unreadable files are quarantined first.
    Repair {
        /// True if a person said in which phase the session continues.
        says_where: bool,
    },
}

impl Aim {
    pub(crate) fn is_repair(self) -> bool {
        matches!(self, Self::Repair { .. })
    }
}

/// An observation and, if it may be used again, a stamp.
type Kept = (Rc<Observation>, Option<Stamp>);

/// The observations made for one aim. They are replaced when a turn begins and after files were written.
pub(crate) struct Scope {
    pub(crate) aim: Aim,
    observed: RefCell<BTreeMap<SessionId, Kept>>,
    /// The content that this process last wrote to each file.
    pub(crate) put: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    pub(crate) listing: Listing,
}

/// Data about all sessions of the project. Each field is loaded when it is first needed.
#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) markers: RefCell<Option<Arc<Markers>>>,
    /// The places where a layout's sessions may be.
    pub(crate) spots: RefCell<BTreeMap<&'static str, Vec<Spot>>>,
    pub(crate) summaries: RefCell<Option<Arc<Vec<SessionSummary>>>>,
    pub(crate) parts: RefCell<Option<Arc<Parts>>>,
    /// Sessions that are missing from the registries of their tools.
    pub(crate) unlisted: RefCell<Option<BTreeSet<SessionId>>>,
}

impl Listing {
    /// Forgets all data, because files of sessions were moved or removed.
    pub(crate) fn forget(&self) {
        self.markers.take();
        self.spots.take();
        self.summaries.take();
        self.parts.take();
        self.unlisted.take();
    }
}

impl Scope {
    pub(crate) fn of(aim: Aim) -> Self {
        Self { aim, observed: RefCell::default(), put: RefCell::default(), listing: Listing::default() }
    }

    pub(crate) fn keep(&self, observation: Observation, stamp: Option<Stamp>) -> Rc<Observation> {
        let (id, observation) = (observation.located.id.clone(), Rc::new(observation));
        self.observed.borrow_mut().insert(id, (Rc::clone(&observation), stamp));
        observation
    }

    pub(crate) fn all(&self) -> Vec<Rc<Observation>> {
        self.observed.borrow().values().map(|(observation, _)| Rc::clone(observation)).collect()
    }
}

impl Engine {
    /// Returns the stored observation of a session, if any.
    pub(crate) fn observed(&self, id: &SessionId) -> Option<Rc<Observation>> {
        self.scope.observed.borrow().get(id).map(|(observation, _)| Rc::clone(observation))
    }

    /// Starts a turn to write. Earlier observations stay if their files have not changed since.
    pub(crate) fn begin_turn(&mut self) {
        let mut observed = self.scope.observed.take();
        let base = self.store.base();
        observed.retain(|id, (_, stamp)| stamp.as_ref().is_some_and(|stamp| stamp.is_current(base, id)));
        self.store.forget_all_but(&observed.keys().collect());
        let aim = if self.scope.aim.is_repair() { self.scope.aim } else { Aim::Change };
        self.scope = Scope { observed: observed.into(), put: self.scope.put.take().into(), ..Scope::of(aim) };
    }

    /// Changes the aim for the queries that follow a decided command.
    pub(crate) fn end_turn(&mut self, aim: Aim) {
        self.scope.aim = aim;
        self.scope.listing.forget();
    }

    /// Forgets all observations. Called after this process or another one wrote files.
    pub(crate) fn forget_observations(&mut self) {
        self.store.forget();
        self.scope = Scope { put: self.scope.put.take().into(), ..Scope::of(self.scope.aim) };
    }
}
