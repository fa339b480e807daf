//! Checks phases that do not apply: if their condition is still false, and which files and fields this depends on.

use super::judge::{Judge, newest_runs};
use super::problem::{Problem, Remark};
use crate::git::about;
use model::event::{Event, Recorded};
use model::id::Name;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::workflow::Workflow;
use std::collections::BTreeMap;

/// A phase that does not apply, its condition, and the session with the phase's run as the current one.
struct Unapplied<'a> {
    phase: &'a Name,
    when: &'a str,
    session: Session,
}

impl Judge<'_> {
    /// Returns problems with the condition of a phase that was skipped as not applicable. A session from another
    /// machine is not checked, because its files are not here.
    pub(super) fn condition_problems(&self, run: &Run, phase: &Phase, workflow: &Workflow) -> Vec<Problem> {
        let Some(unapplied) = self.unapplied(run, phase, workflow) else { return Vec::new() };
        let skips = self.engine.skips(&unapplied.session, workflow);
        if !skips.iter().any(|skip| skip.phase == *phase.id()) {
            return vec![Problem::Applies { when: unapplied.when.to_owned() }];
        }
        let paths = self.files_of_condition(&unapplied, workflow).into_iter();
        let unknown = paths.filter(|(path, exists)| {
            let is_committed = self.is_committed(path);
            if *exists {
                !is_committed && !unapplied.session.artifacts.contains_key(path)
            } else {
                is_committed
            }
        });
        unknown.map(|(path, exists)| Problem::FileOfCondition { path, exists }).collect()
    }

    /// Returns remarks about the files and fields on which the conditions of phases that do not apply depend.
    pub(super) fn condition_remarks(&self, definitions: &BTreeMap<String, Workflow>) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for run in newest_runs(&self.replay.session) {
            let Some(workflow) = definitions.get(&run.workflow.hash) else { continue };
            for unapplied in run.phases.iter().filter_map(|phase| self.unapplied(run, phase, workflow)) {
                let phase = unapplied.phase;
                let files = self.files_of_condition(&unapplied, workflow).into_iter();
                let absent = files.filter(|(path, exists)| !exists && !self.is_committed(path));
                remarks.extend(absent.map(|(path, _)| Remark::RestsOnAbsence { phase: phase.clone(), path }));
                let fields = names_in(unapplied.when, "session.fields.", |letter| {
                    letter.is_alphanumeric() || letter == '_'
                });
                remarks.extend(fields.into_iter().map(|field| {
                    let by = self.last_to_set(&field);
                    Remark::RestsOnField { phase: phase.clone(), field, by }
                }));
            }
        }
        remarks
    }

    fn unapplied<'a>(&self, run: &Run, phase: &'a Phase, workflow: &'a Workflow) -> Option<Unapplied<'a>> {
        let session = &self.replay.session;
        let is_here = session.machine.is_none() && self.material.from_elsewhere == 0;
        let when = workflow.phase(phase.id().as_str())?.when.as_deref()?;
        let session = session.about_run(run).filter(|_| is_here && phase.is_not_applicable())?;
        Some(Unapplied { phase: phase.id(), when, session })
    }

    /// Returns the files on which the condition depends, and true for those that exist. The condition depends on a file
    /// if it would be true with the file missing instead of existing, or the other way round.
    fn files_of_condition(&self, unapplied: &Unapplied<'_>, workflow: &Workflow) -> Vec<(String, bool)> {
        let Unapplied { phase, when, session } = unapplied;
        let mut found = Vec::new();
        for quote in ['\'', '"'] {
            for name in names_in(when, &format!("exists({quote}"), |letter| letter != quote) {
                let call = format!("exists({quote}{name}{quote})");
                let turned = with_condition(workflow, phase, &when.replace(&call, &format!("!{call}")));
                let is_false_anyway =
                    self.engine.skips(session, &turned).iter().any(|skip| skip.phase == **phase);
                if !is_false_anyway {
                    let file = self.engine.workspace(session).join(&name);
                    let path = file.strip_prefix(&self.material.root).unwrap_or(&file);
                    found.push((path.to_string_lossy().into_owned(), file.is_file()));
                }
            }
        }
        found
    }

    /// True if the last commit contains this file.
    fn is_committed(&self, path: &str) -> bool {
        let mut git = about(&self.material.root);
        git.args(["--no-replace-objects", "cat-file", "-e"]).arg(format!("HEAD:./{path}"));
        git.output().is_ok_and(|output| output.status.success())
    }

    /// Returns who last set a field of the session; `None` if nobody has set it since the session started.
    fn last_to_set(&self, field: &str) -> Option<String> {
        let sets = |recorded: &&Recorded| match &recorded.event {
            Event::FieldsSet { phase: None, fields } => fields.contains_key(field),
            _ => false,
        };
        self.replay.history.iter().rev().find(sets).map(|recorded| recorded.actor.to_string())
    }
}

fn with_condition(workflow: &Workflow, phase: &Name, when: &str) -> Workflow {
    let mut turned = workflow.clone();
    for defined in turned.phases.iter_mut().filter(|defined| defined.id == *phase) {
        defined.when = Some(when.to_owned());
    }
    turned
}

/// Returns the names that follow this text in an expression, each once.
fn names_in(expression: &str, before: &str, continues: impl Fn(char) -> bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, found) in expression.match_indices(before) {
        let rest = &expression[at + found.len()..];
        let name: String = rest.chars().take_while(|letter| continues(*letter)).collect();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::names_in;

    #[test]
    fn each_name_of_an_expression_is_found_once() {
        let when = "exists('a.md') && !exists('b.md') || exists('a.md') && session.fields.ui == 1";
        assert_eq!(names_in(when, "exists('", |letter| letter != '\''), ["a.md", "b.md"]);
        assert_eq!(names_in(when, "session.fields.", char::is_alphanumeric), ["ui"]);
    }
}
