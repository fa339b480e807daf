//! Finds mistakes in a definition's expressions and patterns, and the definition that a gate uses. Layouts read
//! everything else in a definition.

use super::expression;
use crate::definitions;
use crate::engine::Engine;
use crate::error::{Error, FileMistake, Result};
use layouts::definition::Lines;
use model::session::Session;
use model::workflow::{CheckKind, Workflow};
use std::rc::Rc;

/// Returns all expressions and patterns that do not compile, with their lines.
pub(crate) fn mistakes(workflow: &Workflow, lines: &Lines, origin: &str) -> Vec<FileMistake> {
    let mut mistakes = Vec::new();
    let mut add = |line: usize, message: String| {
        mistakes.push(FileMistake { path: origin.to_owned(), line, message, hint: None });
    };
    for phase in &workflow.phases {
        if let Some(Err(message)) = phase.when.as_deref().map(expression::compile) {
            let line = lines.of_when(&phase.id).map_or(1, |place| place.line);
            add(line, format!("`when` of phase '{}' does not compile: {message}", phase.id));
        }
        for check in &phase.checks {
            let line = lines.of_check(&phase.id, &check.id).map_or(1, |place| place.line);
            let wrong = match &check.kind {
                CheckKind::Expr { expr, .. } => expression::compile(expr).err(),
                CheckKind::Artifact { matches: Some(pattern), .. } => {
                    regex_lite::Regex::new(pattern).err().map(|error| error.to_string())
                }
                CheckKind::Artifact { matches: None, .. }
                | CheckKind::Command { .. }
                | CheckKind::Git { .. }
                | CheckKind::Items
                | CheckKind::Approval { .. } => None,
            };
            if let Some(message) = wrong {
                add(line, format!("check '{}' does not compile: {message}", check.id));
            }
        }
    }
    mistakes
}

impl Engine {
    /// Returns the definition of the current run for a gate, and the hash by which the run names it.
    ///
    /// Refuses a stored definition that was changed after the run started. Older versions of leftoff stored a definition
    /// in a different form. So if the hash differs, but the project's own definition equals the stored one, the stored
    /// one is accepted.
    pub(super) fn definition_as_named(&self, session: &Session) -> Result<(Rc<Workflow>, String)> {
        let workflow = self.definition_of(session)?;
        let run = session.run();
        let stored = run.map(|run| self.defined(&run.workflow.hash)).transpose()?.flatten();
        let digest = stored.map(|stored| stored.digest.to_string()).unwrap_or_default();
        let Some(named) = run.and_then(|run| run.definition.as_ref()).filter(|named| **named != digest)
        else {
            return Ok((workflow, digest));
        };
        let is_the_same = definitions::known_here(&self.project, session, workflow.name.as_str())
            .is_some_and(|own| own == *workflow);
        if is_the_same {
            return Ok((workflow, named.clone()));
        }
        Err(Error::BrokenLog {
            session: session.id.to_string(),
            why: format!(
                "the stored definition of workflow {} was changed after the run started",
                workflow.name
            ),
        })
    }
}
