//! Reads the evidence in a request, adds evidence from files, and reports evidence that has no effect.

use super::AdvanceRequest;
use crate::checks::Submission;
use crate::error::Result;
use crate::execute::bounded;
use crate::execute::placeholder::refuse_placeholders;
use crate::words::one_line;
use model::gate::undeclared;
use model::phase::Phase;
use model::session::Session;
use model::typed_value::{Given, guess};
use model::workflow::{CheckKind, PhaseDefinition};

const LONGEST_NAME: usize = 60;

/// Returns a message if evidence was given for a completed phase, because such evidence is not recorded.
pub(super) fn not_recorded(session: &Session, request: &AdvanceRequest) -> Option<String> {
    let phase = session.run()?.resolve(request.phase.as_deref()?)?;
    let given = read(request).ok()?;
    let kept = phase.last_attempt().map(|attempt| &attempt.report.evidence);
    let is_kept = |name: &String, value: &Given| kept.and_then(|kept| kept.get(name)) == Some(&guess(value));
    let new = given.evidence.iter().filter(|(name, value)| !is_kept(name, value));
    let new: Vec<&str> = new.map(|(name, _)| name.as_str()).collect();
    (!new.is_empty()).then(|| {
        let (phase, new) = (phase.id(), new.join(", "));
        format!(
            "{phase} was already completed, so this evidence was not recorded: {new}; to keep the evidence: leftoff note"
        )
    })
}

/// Messages about evidence that the phase does not declare and no expression of its gate reads, such as a misspelled
/// optional one.
pub(super) fn not_declared(defined: &PhaseDefinition, request: &AdvanceRequest) -> Vec<String> {
    let is_read = |name: &str| {
        let reads = |kind: &CheckKind| matches!(kind, CheckKind::Expr { expr, .. } if expr.contains(name));
        defined.checks.iter().any(|check| reads(&check.kind))
    };
    let declared = || defined.evidence.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
    let unread =
        undeclared(&defined.evidence, &request.evidence).into_iter().filter(|(name, _)| !is_read(name));
    let line = |(name, meant): (&str, Option<&str>)| {
        let (name, phase) = (one_line(name, LONGEST_NAME), &defined.id);
        match meant {
            Some(meant) => {
                format!("no check of phase '{phase}' reads evidence '{name}'; did you mean '{meant}'?")
            }
            None => {
                format!("no check of phase '{phase}' reads evidence '{name}'; it declares {}", declared())
            }
        }
    };
    unread.map(line).collect()
}

/// Returns the submission, with evidence and outputs added that the file of a claimed phase contains. Newly given
/// values have precedence.
pub(super) fn with_recorded_evidence(phase: &Phase, submission: &Submission) -> Submission {
    let mut all = submission.clone();
    let Some(told) = phase.last_attempt().filter(|_| phase.claimed) else { return all };
    for (name, value) in &told.report.evidence {
        all.evidence.entry(name.clone()).or_insert_with(|| Given::Json(value.clone()));
    }
    for (name, value) in &told.report.outputs {
        all.outputs.entry(name.clone()).or_insert_with(|| value.clone());
    }
    all
}

pub(super) fn read(request: &AdvanceRequest) -> Result<Submission> {
    refuse_placeholders(request.evidence.iter().chain(&request.outputs))?;
    for (name, value) in request.evidence.iter().chain(&request.outputs) {
        let text = match value {
            Given::Text(text) => text.clone(),
            Given::Json(value) => value.to_string(),
        };
        bounded("a piece of evidence", &text)?;
        bounded("the name of a piece of evidence", name)?;
    }
    Ok(Submission {
        evidence: request.evidence.clone(),
        outputs: request.outputs.iter().map(|(name, value)| (name.clone(), guess(value))).collect(),
    })
}
