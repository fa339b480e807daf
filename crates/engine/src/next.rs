//! What to do next: one sentence and the command for it, which runs as it is printed.

use crate::view::Material;
use crate::workspace::workspace_name;
use model::gate::CheckResult;
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::run::Run;
use model::session::{RevisionMade, Session};
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
    let summary = match failed {
        Some(attempt) => mend(run, &attempt.report.checks),
        None => begin(material, defined),
    };
    Next { summary, command: Some(command) }
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
    let files = defined.map(|defined| defined.produces.as_slice()).unwrap_or_default();
    if !files.is_empty() {
        let files: Vec<String> =
            files.iter().map(|path| path.replace("{run}", &run.ordinal.to_string())).collect();
        let folder = workspace_name(&material.session.id);
        let _ = write!(summary, " Produces {} in {folder}.", files.join(", "));
    }
    summary.push_str(&revised(material.session, phase));
    summary
}

/// Why a phase that was done before is at work again.
fn revised(session: &Session, phase: &Phase) -> String {
    let concerns = |made: &&RevisionMade| {
        made.revision.phase == *phase.id() || made.revision.flagged.contains(phase.id())
    };
    // Only as long as the phase has not been completed since.
    let last = session.revisions.iter().rev().find(concerns);
    match last.filter(|made| phase.started_at().is_some_and(|started| started >= made.at)) {
        Some(made) if made.revision.phase == *phase.id() => {
            format!(" It is being revised: {}.", made.revision.reason.trim_end_matches('.'))
        }
        Some(made) => {
            let revision = &made.revision;
            let why = revision.reason.trim_end_matches('.');
            format!(" Review what it produced: {} was revised: {why}.", revision.phase)
        }
        None => String::new(),
    }
}

/// Names the session where a command without a name would mean another.
fn naming(material: &Material<'_>) -> String {
    if material.name_session { format!(" --session {}", material.session.id) } else { String::new() }
}
