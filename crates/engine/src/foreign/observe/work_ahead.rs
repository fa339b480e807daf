//! Work found in files that nobody has called done. Reported with the next step; never completes a phase or
//! closes a session.

use crate::engine::Engine;
use crate::foreign::observe::Observation;
use crate::query::Follows;
use crate::view::Warning;
use crate::words::phase_called;
use layouts::layout::Proof;
use model::hint::Hint;
use model::id::Name;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::words;

impl Engine {
    /// Final files of phases that are not done: the current one or later ones.
    pub(crate) fn work_ahead(&self, session: &Session, run: &Run, follows: Follows) -> Option<Warning> {
        let is_open = run.is_open() && session.lifecycle.name() == "active";
        let observation = self.observed(&session.id).filter(|_| is_open)?;
        let files: Vec<String> = observation
            .work_ahead(session, run)
            .map(|path| observation.located.spot.below_project(path))
            .collect();
        let last = files.last()?.clone();
        let (verb, those) =
            if files.len() == 1 { ("exists", "its phase") } else { ("exist", "their phases") };
        let called = phase_called(run.current_number(), run.current().id());
        let naming = self.naming_after(session, follows).unwrap_or_default();
        Some(Warning {
            kind: "work_ahead".to_owned(),
            message: format!(
                "{} {verb}, but the session is at {called}: nobody has completed {those}",
                files.join(" and ")
            ),
            hint: Some(
                Hint::new("if the work is done, complete it: ")
                    .run([words!["advance", "--phase", run.current().id()], naming].concat()),
            ),
            path: Some(last),
            problem: None,
        })
    }

    /// True if the unfinished run of a workflow has its final file: starting that workflow means the next
    /// run.
    pub(crate) fn has_result(&self, session: &Session, name: &Name) -> bool {
        let (Some(observation), Some(open)) = (self.observed(&session.id), session.open_run_of(name)) else {
            return false;
        };
        observation.proofs.iter().any(|proof| match proof {
            Proof::Result { workflow, ordinal } => workflow == name && *ordinal == open.ordinal,
            Proof::Run { .. } | Proof::Work { .. } => false,
        })
    }
}

impl Observation {
    fn work_ahead<'a>(&'a self, session: &'a Session, run: &'a Run) -> impl Iterator<Item = &'a str> {
        // After going back, older files prove nothing.
        let is_older = |path: &str| self.tree.modified(path) < session.went_back_at;
        let is_open =
            |phase: &Name| run.phases.iter().any(|found: &Phase| found.id() == phase && !found.is_done());
        self.proofs.iter().filter_map(move |proof| match proof {
            Proof::Work { workflow, ordinal, phase, path } => {
                let is_of_run = *workflow == run.workflow.name && *ordinal == run.ordinal;
                (is_of_run && is_open(phase) && !is_older(path)).then_some(path.as_str())
            }
            Proof::Run { .. } | Proof::Result { .. } => None,
        })
    }
}
