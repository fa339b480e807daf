//! A run: one pass through a workflow, with its phases, including the current one.

mod phases;

pub use phases::Phases;

use crate::id::Name;
use crate::phase::{Phase, PhaseStub};
use crate::workflow::{Indexing, OnComplete, Workflow};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The part of a workflow that a run stores. The whole definition is stored once, under its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowRef {
    pub name: Name,
    pub version: String,
    pub title: String,
    pub hash: String,
    pub indexing: Indexing,
    pub on_complete: OnComplete,
}

impl From<&Workflow> for WorkflowRef {
    fn from(workflow: &Workflow) -> Self {
        Self {
            name: workflow.name.clone(),
            version: workflow.version.clone(),
            title: workflow.title.clone(),
            hash: workflow.hash.clone(),
            indexing: workflow.indexing,
            on_complete: workflow.on_complete,
        }
    }
}

/// Everything that is needed to start a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPlan {
    pub workflow: WorkflowRef,
    /// The phases of the run; never empty.
    pub phases: Vec<PhaseStub>,
    pub skips: Vec<Skip>,
}

impl RunPlan {
    pub fn new(workflow: &Workflow, skips: Vec<Skip>) -> Self {
        let phases = workflow
            .phases
            .iter()
            .map(|phase| PhaseStub {
                id: phase.id.clone(),
                title: phase.title.clone(),
                terminal: phase.terminal,
            })
            .collect();
        Self { workflow: workflow.into(), phases, skips }
    }
}

/// A phase to skip when it is reached, because its `when` is false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    pub phase: Name,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub workflow: WorkflowRef,
    /// SHA-256 of the stored definition. Missing in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The number of this run among the session's runs of the same workflow, from 1.
    pub ordinal: u32,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// True if the run was started by a file and not by a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begun_by_file: bool,
    pub phases: Phases,
    /// Index of the current phase in `phases`, always valid. When all phases are done, the last phase is current.
    current: usize,
}

impl Run {
    /// Creates a run. Returns `None` if there are no phases, because every run has a current phase.
    pub(crate) fn new(
        workflow: WorkflowRef,
        ordinal: u32,
        phases: Vec<PhaseStub>,
        at: Timestamp,
    ) -> Option<Self> {
        let phases = Phases::new(phases.into_iter().map(Phase::new).collect())?;
        Some(Self {
            workflow,
            definition: None,
            ordinal,
            started_at: at,
            completed_at: None,
            begun_by_file: false,
            phases,
            current: 0,
        })
    }

    pub fn is_open(&self) -> bool {
        self.completed_at.is_none()
    }

    pub fn current(&self) -> &Phase {
        self.phases.at(self.current)
    }

    pub fn current_number(&self) -> u32 {
        self.number_at(self.current)
    }

    pub fn number_at(&self, position: usize) -> u32 {
        self.workflow.indexing.number(position)
    }

    pub fn position(&self, phase: &str) -> Option<usize> {
        self.phases.iter().position(|candidate| *candidate.id() == *phase)
    }

    /// Returns the number of completed phases. Skipped phases do not count.
    pub fn completed(&self) -> usize {
        self.phases.iter().filter(|phase| phase.is_completed()).count()
    }

    /// Returns the number of phases that apply to this run.
    pub fn applicable(&self) -> usize {
        self.phases.iter().filter(|phase| !phase.is_not_applicable()).count()
    }

    /// True if no other phase is open, so that completing the current phase ends the run.
    pub fn is_at_its_end(&self) -> bool {
        let is_open = |(at, phase): (usize, &Phase)| at != self.current && !phase.is_done();
        !self.phases.iter().enumerate().any(is_open)
    }

    /// Returns the first phase that has open items and for which `counts` is true. Returns `None` if completing the
    /// current phase does not end the run.
    pub fn left_open_before_the_end(&self, counts: impl Fn(&Phase) -> bool) -> Option<&Phase> {
        let is_left = |phase: &&Phase| phase.items.open() > 0 && counts(phase);
        self.phases.iter().find(is_left).filter(|_| self.is_at_its_end())
    }

    /// Returns the number of phases that are completed or do not apply.
    pub fn settled(&self) -> usize {
        self.phases.iter().filter(|phase| phase.is_completed() || phase.is_not_applicable()).count()
    }

    /// Returns the number of phases that are completed or skipped.
    pub fn over(&self) -> usize {
        self.phases.iter().filter(|phase| phase.is_done()).count()
    }

    /// Finds a phase by its id, or by its number as the workflow numbers phases.
    pub fn resolve(&self, text: &str) -> Option<&Phase> {
        if let Some(position) = self.position(text) {
            return self.phases.get(position);
        }
        let number: u32 = text.parse().ok()?;
        (0..self.phases.len()).find(|at| self.number_at(*at) == number).and_then(|at| self.phases.get(at))
    }

    /// Returns the phase to add after the last one; `None` if the workflow has a fixed number of phases.
    pub(crate) fn following(&self) -> Option<PhaseStub> {
        if self.workflow.on_complete != OnComplete::Grow {
            return None;
        }
        let number = self.number_at(self.phases.len());
        let id = Name::parse(&number.to_string()).ok().filter(|id| self.position(id.as_str()).is_none())?;
        Some(PhaseStub { id, title: format!("Phase {number}"), terminal: false })
    }

    /// True if the run has no fixed number of phases, and at most one phase is open: such a run may be finished.
    pub fn may_be_whole(&self) -> bool {
        self.workflow.on_complete == OnComplete::Grow && self.over() + 1 >= self.phases.len()
    }

    /// Returns the position of the first claimed phase after the last proven phase. If no phase is proven, this is the
    /// first claimed phase, or `None` if a file started the run.
    pub(crate) fn first_claim_after_proof(&self) -> Option<usize> {
        let is_proven = |phase: &Phase| phase.is_completed() && !phase.claimed;
        let from = match self.phases.iter().rposition(is_proven) {
            Some(proven) => proven + 1,
            None if self.begun_by_file => return None,
            None => 0,
        };
        (from..self.phases.len()).find(|at| self.phases.at(*at).claimed)
    }

    /// Drops the claims of the phase at this position and of all later phases, so that the run continues at this
    /// position.
    pub(crate) fn drop_claims_from(&mut self, position: usize) {
        for (at, phase) in self.phases.iter_mut().enumerate().skip(position) {
            if phase.claimed {
                phase.drop_claim(at == position);
            }
        }
        self.completed_at = None;
        self.current = position;
    }

    pub(crate) fn phase_mut(&mut self, id: &Name) -> Option<&mut Phase> {
        self.phases.iter_mut().find(|phase| phase.id() == id)
    }

    pub(crate) fn current_mut(&mut self) -> Option<&mut Phase> {
        self.phases.get_mut(self.current)
    }

    pub(crate) fn enter(&mut self, id: &Name, at: Timestamp) {
        if let Some(position) = self.position(id.as_str()) {
            self.current = position;
            self.phases[position].begin(at);
        }
    }

    /// Returns to an earlier phase, which restarts together with all phases after it.
    pub(crate) fn roll_back(&mut self, id: &Name, at: Timestamp) {
        let Some(position) = self.position(id.as_str()) else { return };
        for phase in self.phases.iter_mut().skip(position + 1) {
            phase.reopen();
        }
        self.completed_at = None;
        self.enter(id, at);
    }

    /// Adds phases that the run does not have yet. A completed run becomes incomplete.
    pub(crate) fn add(&mut self, stubs: &[PhaseStub]) {
        for stub in stubs {
            if self.position(stub.id.as_str()).is_none() {
                self.phases.push(Phase::new(stub.clone()));
                self.completed_at = None;
            }
        }
    }

    /// Switches to another definition that also has the current phase.
    pub(crate) fn redefine(&mut self, workflow: &WorkflowRef, stubs: &[PhaseStub]) {
        let current = self.current().id().clone();
        let phase = |stub: &PhaseStub| match self.phases.iter().find(|known| *known.id() == stub.id) {
            Some(known) => Phase { stub: stub.clone(), ..known.clone() },
            None => Phase::new(stub.clone()),
        };
        let Some(phases) = Phases::new(stubs.iter().map(phase).collect()) else { return };
        self.phases = phases;
        self.workflow = workflow.clone();
        self.current = self.position(current.as_str()).unwrap_or_default();
    }

    /// Completes the run. Its last phase stays current.
    pub(crate) fn finish(&mut self, at: Timestamp) {
        self.completed_at = Some(at);
        self.current = self.phases.len().saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_that_grows_is_open_again_and_has_no_phase_twice() {
        let workflow: WorkflowRef =
            serde_json::from_value(json!({ "name": "w", "version": "1", "title": "W",
            "hash": "h", "indexing": Indexing::default(), "on_complete": OnComplete::default() }))
            .expect("a workflow");
        let stub = |id: &str| PhaseStub {
            id: Name::parse(id).expect("a name"),
            title: id.to_owned(),
            terminal: false,
        };
        let mut run = Run::new(workflow, 1, vec![stub("1")], Timestamp::UNIX_EPOCH).expect("a run");
        run.finish(Timestamp::UNIX_EPOCH);
        run.add(&[stub("1")]);
        assert!(!run.is_open(), "nothing was new");
        run.add(&[stub("1"), stub("2"), stub("2")]);
        assert!(run.is_open());
        let ids: Vec<&str> = run.phases.iter().map(|phase| phase.id().as_str()).collect();
        assert_eq!((ids, run.current().id().as_str()), (vec!["1", "2"], "1"));
    }

    #[test]
    fn a_run_without_a_phase_is_none() {
        let workflow: WorkflowRef =
            serde_json::from_value(json!({ "name": "w", "version": "1", "title": "W",
            "hash": "h", "indexing": Indexing::default(), "on_complete": OnComplete::default() }))
            .expect("a workflow");
        let stub =
            PhaseStub { id: Name::parse("plan").expect("a name"), title: "Plan".to_owned(), terminal: false };
        assert_eq!(Run::new(workflow.clone(), 1, Vec::new(), Timestamp::UNIX_EPOCH), None);
        let run = Run::new(workflow, 1, vec![stub], Timestamp::UNIX_EPOCH).expect("a run");
        let mut kept = serde_json::to_value(&run).expect("JSON");
        assert_eq!(serde_json::from_value::<Run>(kept.clone()).ok(), Some(run));
        kept["phases"] = json!([]);
        assert!(serde_json::from_value::<Run>(kept).is_err());
    }
}
