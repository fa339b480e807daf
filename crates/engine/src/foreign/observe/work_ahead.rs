//! Finds files of phases that nobody has called done. Such files are mentioned with the next step. They never complete
//! a phase or close a session.

use crate::engine::Engine;
use crate::query::Follows;
use crate::view::Warning;
use crate::words::phase_called;
use model::hint::Hint;
use model::id::Name;
use model::run::Run;
use model::session::Session;
use model::words;

impl Engine {
    /// Returns a warning if the final file of an unfinished phase already exists, be it the current phase or a later
    /// one.
    pub(crate) fn work_ahead(&self, session: &Session, run: &Run, follows: Follows) -> Option<Warning> {
        let is_open = run.is_open() && session.lifecycle.name() == "active";
        let observation = self.observed(&session.id).filter(|_| is_open)?;
        let files: Vec<String> = observation
            .work_ahead(session, run)
            .map(|path| observation.located.below_project(path))
            .collect();
        let last = files.last()?.clone();
        let (verb, those) =
            if files.len() == 1 { ("exists", "its phase") } else { ("exist", "their phases") };
        let called = phase_called(run.current_number(), run.current().id());
        let naming = self.naming_after(session, follows).unwrap_or_default();
        let message = format!(
            "{} {verb}, but the session is at {called}: nobody has completed {those}",
            files.join(" and ")
        );
        let complete = [words!["advance", "--phase", run.current().id()], naming].concat();
        let hint = Hint::new("if the work is done, complete the phase: ").run(complete);
        Some(Warning::new("work_ahead", message).hint(hint).at(last))
    }

    /// True if the unfinished run of this workflow already has its final file. Starting the workflow then means the
    /// next run.
    pub(crate) fn has_result(&self, session: &Session, name: &Name) -> bool {
        let (observation, open) = (self.observed(&session.id), session.open_run_of(name));
        observation.zip(open).is_some_and(|(observation, open)| observation.has_result(name, open.ordinal))
    }
}
