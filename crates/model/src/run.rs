//! One pass through one workflow: its phases and which of them is current.

mod phases;

pub use phases::Phases;

use crate::id::Name;
use crate::phase::{Phase, PhaseStub};
use crate::workflow::{Indexing, OnComplete, Workflow};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a run keeps of its workflow. The whole definition is stored once, under its hash.
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

/// What is needed to begin a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPlan {
    pub workflow: WorkflowRef,
    /// Never empty.
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

/// A phase that is passed over when it is reached, because its `when` does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    pub phase: Name,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub workflow: WorkflowRef,
    /// The n-th run of this workflow in the session, from 1.
    pub ordinal: u32,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    pub phases: Phases,
    /// A position in `phases`: always a phase that exists, the last one when all are done.
    current: usize,
}

impl Run {
    /// None without a phase: there would be none to be in.
    pub(crate) fn new(
        workflow: WorkflowRef,
        ordinal: u32,
        phases: Vec<PhaseStub>,
        at: Timestamp,
    ) -> Option<Self> {
        let phases = Phases::new(phases.into_iter().map(Phase::new).collect())?;
        Some(Self { workflow, ordinal, started_at: at, completed_at: None, phases, current: 0 })
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

    /// How many phases were completed; one that was skipped was not.
    pub fn completed(&self) -> usize {
        self.phases.iter().filter(|phase| phase.is_completed()).count()
    }

    /// How many phases there are for this run to complete.
    pub fn applicable(&self) -> usize {
        self.phases.iter().filter(|phase| !phase.is_not_applicable()).count()
    }

    /// How many phases ask for nothing more: completed, or not applicable.
    pub fn settled(&self) -> usize {
        self.phases.iter().filter(|phase| phase.is_completed() || phase.is_not_applicable()).count()
    }

    /// How many phases are behind the run, completed or not.
    pub fn over(&self) -> usize {
        self.phases.iter().filter(|phase| phase.is_done()).count()
    }

    /// The phase that a person means: by its id, or by its number in the workflow's own indexing.
    pub fn resolve(&self, text: &str) -> Option<&Phase> {
        if let Some(position) = self.position(text) {
            return self.phases.get(position);
        }
        let number: u32 = text.parse().ok()?;
        (0..self.phases.len()).find(|at| self.number_at(*at) == number).and_then(|at| self.phases.get(at))
    }

    /// The phase that would follow the last one, where nobody knows how many there are.
    pub(crate) fn following(&self) -> Option<PhaseStub> {
        if self.workflow.on_complete != OnComplete::Grow {
            return None;
        }
        let number = self.number_at(self.phases.len());
        let id = Name::parse(&number.to_string()).ok().filter(|id| self.position(id.as_str()).is_none())?;
        Some(PhaseStub { id, title: format!("Phase {number}"), terminal: false })
    }

    /// Whether nothing is open but a phase of which nobody knows whether there is one.
    pub fn may_be_whole(&self) -> bool {
        self.workflow.on_complete == OnComplete::Grow && self.over() + 1 >= self.phases.len()
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

    /// Back to an earlier phase: it begins again, and so does everything after it.
    pub(crate) fn roll_back(&mut self, id: &Name, at: Timestamp) {
        let Some(position) = self.position(id.as_str()) else { return };
        for phase in self.phases.iter_mut().skip(position + 1) {
            phase.reopen();
        }
        self.completed_at = None;
        self.enter(id, at);
    }

    /// Phases that it did not have; what was complete is not any more.
    pub(crate) fn add(&mut self, stubs: &[PhaseStub]) {
        for stub in stubs {
            if self.position(stub.id.as_str()).is_none() {
                self.phases.push(Phase::new(stub.clone()));
                self.completed_at = None;
            }
        }
    }

    /// Follows another definition, which has the current phase too.
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

    /// When all is done the current phase stays on the last one.
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
