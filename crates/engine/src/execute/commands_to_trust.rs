//! Finds the commands in a workflow's checks, which a person must trust before they run, and the worktrees in which
//! they run.

use crate::checks::trust;
use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::facades::Workflows;
use model::id::{Name, SessionId};
use model::workflow::{CheckKind, Workflow};
use std::path::PathBuf;
use std::rc::Rc;

/// A command in the checks of a definition, and if it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TrustedCommand {
    /// The session whose definition has the command; `None` if the workflow's current definition has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub phase: Name,
    pub check: Name,
    pub command: String,
    pub trusted: bool,
    /// The entry for `LEFTOFF_TRUST` that lets automation run the command.
    pub hash: String,
}

impl Workflows<'_> {
    /// Returns the commands in a workflow's checks: those of its current definition, and those of the definition with
    /// which the selected session started. That definition may differ, or not exist in this project.
    pub fn commands(&self, workflow: &str) -> Result<Vec<TrustedCommand>> {
        let engine = self.engine;
        let of_session = engine.definition_in_use(workflow)?;
        let mut found = match definitions::load(&engine.project, workflow) {
            Ok(current) => engine.commands_in(&current, None),
            Err(_) if of_session.is_some() => Vec::new(),
            Err(error) => return Err(error),
        };
        if let Some((session, definition)) = of_session {
            for entry in engine.commands_in(&definition, Some(&session)) {
                if !found.iter().any(|known| known.command == entry.command) {
                    found.push(entry);
                }
            }
        }
        Ok(found)
    }
}

impl Engine {
    /// Returns the definition of this name with which the selected session started.
    fn definition_in_use(&self, workflow: &str) -> Result<Option<(SessionId, Rc<Workflow>)>> {
        let id = match self.select(Want::Latest) {
            Ok(id) => id,
            Err(Error::NoSession { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (_, session) = self.load(&id)?;
        let current = session.run().filter(|run| run.workflow.name.as_str() == workflow);
        let earlier = || session.runs.iter().rev().find(|run| run.workflow.name.as_str() == workflow);
        let Some(run) = current.or_else(earlier) else { return Ok(None) };
        Ok(self.definition(&run.workflow.hash)?.map(|definition| (id, definition)))
    }

    fn commands_in(&self, workflow: &Workflow, session: Option<&SessionId>) -> Vec<TrustedCommand> {
        let roots = self.roots_to_trust();
        commands(workflow)
            .map(|(phase, check, command)| TrustedCommand {
                session: session.cloned(),
                phase: phase.clone(),
                check: check.clone(),
                command: command.to_owned(),
                trusted: roots.iter().all(|root| trust::is_trusted(root, command)),
                hash: trust::hash_of(command),
            })
            .collect()
    }

    /// Returns the worktrees in which a command must be trusted: this one, and that of the selected session, where its
    /// gate runs.
    pub(crate) fn roots_to_trust(&self) -> Vec<PathBuf> {
        let session = self.select(Want::Latest).and_then(|id| Ok(self.load(&id)?.1)).ok();
        let there = session.filter(|session| session.machine.is_none()).map(|session| self.root_of(&session));
        let mut roots = vec![self.project.root.clone()];
        roots.extend(there.filter(|there| *there != self.project.root));
        roots
    }
}

fn commands(workflow: &Workflow) -> impl Iterator<Item = (&Name, &Name, &str)> {
    workflow.phases.iter().flat_map(|phase| {
        phase.checks.iter().filter_map(|check| match &check.kind {
            CheckKind::Command { run, .. } => Some((&phase.id, &check.id, run.as_str())),
            CheckKind::Artifact { .. }
            | CheckKind::Expr { .. }
            | CheckKind::Git { .. }
            | CheckKind::Items
            | CheckKind::Approval { .. } => None,
        })
    })
}
