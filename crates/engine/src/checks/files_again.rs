//! Repeats the checks of files after the gate ran.

use super::{GateRun, is_result_of, result};
use crate::engine::Engine;
use crate::error::Result;
use model::id::Name;
use model::session::Session;
use model::workflow::CheckKind;

impl Engine {
    /// Repeats the checks of files and their approvals. Called if a file changed while the gate ran, perhaps because of
    /// a command of the gate itself.
    pub(crate) fn look_again(&self, session: &Session, phase: &Name, run: &mut GateRun) -> Result<()> {
        let definition = self.definition_of(session)?;
        let Some(defined) = definition.phase(phase.as_str()) else { return Ok(()) };
        let surroundings = self.surroundings(session, defined);
        let scope = surroundings.scope(&run.report.evidence, &run.report.checks);
        run.proven.clear();
        for check in &defined.checks {
            let is_of_files = match &check.kind {
                CheckKind::Artifact { .. } | CheckKind::Approval { .. } => true,
                CheckKind::Expr { .. }
                | CheckKind::Command { .. }
                | CheckKind::Git { .. }
                | CheckKind::Items => false,
            };
            let known = run.report.checks.iter_mut().find(|known| is_result_of(known, check));
            if let Some(known) = known.filter(|_| is_of_files) {
                *known = result(check, surroundings.run(check, &scope, &mut run.proven)?);
            }
        }
        Ok(())
    }
}
