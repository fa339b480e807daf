//! What to do next: one sentence and the command for it, which runs as it is printed.

use crate::view::{Material, produced};
use model::gate::CheckResult;
use model::lifecycle::Lifecycle;
use model::run::Run;
use model::workflow::PhaseDefinition;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    pub summary: String,
    pub command: Option<String>,
}

impl Next {
    pub(crate) fn start(workflow: Option<&str>) -> Self {
        let command = match workflow {
            Some(name) => format!("leftoff start {name}"),
            None => "leftoff start".to_owned(),
        };
        Self { summary: "No session is going on here. Begin one.".to_owned(), command: Some(command) }
    }

    pub(crate) fn of(material: &Material<'_>) -> Self {
        let (session, run) = (material.session, material.run);
        let id = &session.id;
        let name = &run.workflow.name;
        match &session.lifecycle {
            Lifecycle::Active if run.is_open() => advance(material),
            Lifecycle::Active => Self {
                summary: format!(
                    "Run {} of {name} is finished. End the session, or begin another run: leftoff run start {name}{}",
                    run.ordinal,
                    naming(material)
                ),
                command: Some(format!("leftoff close{}", naming(material))),
            },
            Lifecycle::Paused { .. } => Self {
                summary: format!("Go on with phase {} ({}).", run.current_number(), run.current().id()),
                command: Some(format!("leftoff resume {id}")),
            },
            Lifecycle::Failed { error, .. } => Self {
                summary: format!("It failed: {error}. Mend that, then go on with it."),
                command: Some(format!("leftoff resume {id}")),
            },
            Lifecycle::Completed { .. } => Self {
                summary: format!(
                    "Finished; nothing is left to do. Begin something new, or another run of this: leftoff run start {name} --session {id}"
                ),
                command: Some(format!("leftoff start {name}")),
            },
            Lifecycle::Abandoned { .. } => Self {
                summary: "Given up; nothing is left to do. Begin something new.".to_owned(),
                command: Some(format!("leftoff start {name}")),
            },
        }
    }
}

fn advance(material: &Material<'_>) -> Next {
    let run = material.run;
    let phase = run.current();
    let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
    let mut command = format!("leftoff advance --phase {}", phase.id());
    for field in defined.iter().flat_map(|defined| &defined.evidence).filter(|field| field.required) {
        let _ = write!(command, " --evidence {}=N", field.name);
    }
    command.push_str(&naming(material));
    let failed = phase.last_attempt().filter(|_| phase.last_attempt_failed());
    let Some(attempt) = failed else {
        return Next { summary: begin(material, defined), command: Some(command) };
    };
    let checks = &attempt.report.checks;
    if let Some(check) = waits_for_a_person(checks) {
        command = format!("leftoff approve {check}{}", naming(material));
    }
    Next { summary: mend(run, checks), command: Some(command) }
}

/// The check that must be approved, when nothing else is missing.
fn waits_for_a_person(checks: &[CheckResult]) -> Option<&str> {
    let mut failed = checks.iter().filter(|check| check.failed());
    let first = failed.next()?;
    let only_approvals = first.kind == "approval" && failed.all(|check| check.kind == "approval");
    only_approvals.then_some(first.id.as_str())
}

/// What a failed gate asks for, in the words of its definition.
fn mend(run: &Run, checks: &[CheckResult]) -> String {
    let remedies: Vec<String> = checks
        .iter()
        .filter(|check| check.failed())
        .map(|check| match &check.help {
            Some(help) => help.trim_end_matches('.').to_owned(),
            None => format!("make '{}' hold", check.id),
        })
        .collect();
    let phase = run.current();
    format!("{}; then try phase {} ({}) again.", remedies.join("; "), run.current_number(), phase.id())
}

fn begin(material: &Material<'_>, defined: Option<&PhaseDefinition>) -> String {
    let run = material.run;
    let phase = run.current();
    let mut summary = format!("Phase {}, {}", run.current_number(), phase.stub.title);
    if let Some(purpose) = defined.and_then(|defined| defined.purpose.as_deref()) {
        let _ = write!(summary, ": {}", purpose.trim().trim_end_matches('.'));
    }
    summary.push('.');
    let files = produced(material.session, run, defined);
    if !files.is_empty() {
        let _ = write!(summary, " Produces {}.", files.join(", "));
    }
    summary
}

/// Names the session where a command without a name would mean another.
fn naming(material: &Material<'_>) -> String {
    if material.name_session { format!(" --session {}", material.session.id) } else { String::new() }
}
