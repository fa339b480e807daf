//! Work that files show to exist and that nobody has called done yet. It is reported with the next step; it never
//! completes a phase or closes a session.

use super::look::Look;
use crate::engine::Engine;
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
    /// Files of the run that end a phase which is not done: the current one or a later one.
    pub(crate) fn work_ahead(&self, session: &Session, run: &Run) -> Option<Warning> {
        let looks = self.seen.looks.borrow();
        let look =
            looks.get(&session.id).filter(|_| run.is_open() && session.lifecycle.name() == "active")?;
        let files: Vec<String> =
            look.work_ahead(session, run).map(|path| look.located.spot.below_project(path)).collect();
        let last = files.last()?.clone();
        let (verb, those) =
            if files.len() == 1 { ("exists", "its phase") } else { ("exist", "their phases") };
        let called = phase_called(run.current_number(), run.current().id());
        let naming = self.naming(session).unwrap_or_default();
        Some(Warning {
            kind: "work_ahead".to_owned(),
            message: format!(
                "{} {verb}, and the session is at {called}: nobody has called {those} done",
                files.join(" and ")
            ),
            hint: Some(
                Hint::new("if the work is done, say so: ")
                    .run([words!["advance", "--phase", run.current().id()], naming].concat()),
            ),
            path: Some(last),
            problem: None,
        })
    }

    /// Whether the unfinished run of a workflow has its last file: whoever starts that workflow means the next run.
    pub(crate) fn has_result(&self, session: &Session, name: &Name) -> bool {
        let looks = self.seen.looks.borrow();
        let (Some(look), Some(open)) = (looks.get(&session.id), session.open_run_of(name)) else {
            return false;
        };
        look.proofs.iter().any(|proof| match proof {
            Proof::Result { workflow, ordinal } => workflow == name && *ordinal == open.ordinal,
            Proof::Run { .. } | Proof::Work { .. } => false,
        })
    }
}

impl Look {
    fn work_ahead<'a>(&'a self, session: &'a Session, run: &'a Run) -> impl Iterator<Item = &'a str> {
        // Whoever went back wants what those files show done again.
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
