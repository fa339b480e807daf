//! Events in plain words, for logs on a terminal or a page; and as JSON, for programs. Text from outside is reduced to
//! one line without control characters.

mod items;

use crate::words::{one_line, pause_reason, version};
use model::actor::Origin;
use model::event::{Event, Recorded};
use model::gate::AttemptReport;
use model::id::Name;
use model::revision::Revision;
use model::typed_value::shown;
use serde_json::Value;
use std::collections::BTreeMap;

const LONGEST: usize = 300;

/// Returns the event as JSON, for a program.
pub fn json(recorded: &Recorded) -> Value {
    let mut event = serde_json::to_value(&recorded.event)
        .unwrap_or_else(|_| serde_json::json!({ "type": recorded.event.kind() }));
    if let Value::Object(fields) = &mut event {
        fields.insert("version".to_owned(), recorded.version.into());
        fields.insert("at".to_owned(), recorded.at.to_string().into());
        fields.insert("actor".to_owned(), serde_json::to_value(&recorded.actor).unwrap_or(Value::Null));
    }
    event
}

/// Returns the event in words, for a person.
pub fn words(event: &Event) -> String {
    match event {
        Event::SessionStarted { title, layout, parallel, .. } => {
            let beside = if *parallel { ", next to another one" } else { "" };
            let foreign = if layout == "native" { String::new() } else { format!(" ({layout})") };
            format!("session started{foreign}{beside}: {}", one_line(title, LONGEST))
        }
        Event::RunStarted { workflow, ordinal, phases, .. } => {
            format!(
                "run {ordinal} of {} {} started, {} phases",
                workflow.name,
                version(&workflow.version),
                phases.len()
            )
        }
        Event::Adopted { layout, path } => format!("adopted from {path} ({layout})"),
        Event::ExternalEdit { paths, .. } => format!("changed by somebody else: {}", paths.join(", ")),
        Event::PhaseClaimed { phase, attempt } => claimed(phase, attempt.as_ref()),
        Event::PhaseFlagged { phase } => format!("{phase} needs a review"),
        Event::RunSelected { workflow, ordinal } => format!("back to run {ordinal} of {workflow}"),
        Event::PhaseStarted { phase } => format!("phase {phase} started"),
        Event::GateFailed { phase, attempt } => not_passed(phase, attempt),
        Event::PhaseCompleted { phase, attempt, .. } => {
            format!("phase {phase} completed{}", evidence(attempt))
        }
        Event::PhaseSkipped { phase, reason, not_applicable } => {
            let how = if *not_applicable { "does not apply" } else { "skipped" };
            format!("phase {phase} {how}: {}", one_line(reason, LONGEST))
        }
        Event::RunCompleted => "run completed".to_owned(),
        Event::NoteAdded { id, kind, text, origin, .. } => {
            format!("{} {id}: {}{}", kind.name(), one_line(text, LONGEST), merged_from(origin.as_ref()))
        }
        Event::NoteResolved { id } => format!("note {id} resolved"),
        Event::NoteChanged { id, text, fields, reopened } => {
            note_changed(*id, text.as_deref(), fields, *reopened)
        }
        Event::SessionPaused { reason, context, saved } => paused(reason, context.as_deref(), saved),
        Event::SessionResumed { .. } => "resumed".to_owned(),
        Event::SessionCompleted { forced: true } => "closed unfinished".to_owned(),
        Event::SessionCompleted { forced: false } => "session completed".to_owned(),
        Event::SessionAbandoned { reason, .. } => match reason {
            Some(reason) => format!("abandoned: {}", one_line(reason, LONGEST)),
            None => "abandoned".to_owned(),
        },
        Event::SessionFailed { error } => format!("failed: {}", one_line(error, LONGEST)),
        Event::SessionReopened { .. } => "reopened".to_owned(),
        Event::SessionExpired { since } => format!("paused for inactivity since {since}"),
        Event::RolledBack { phase, reason } => back(phase, reason.as_deref()),
        Event::CheckApproved { phase, check, by, remark, .. } => {
            let remark = remark.as_ref().map(|remark| format!(" ({})", one_line(remark, 60)));
            format!("check {check} of {phase} approved by {}{}", one_line(by, 60), remark.unwrap_or_default())
        }
        Event::Signed { act, .. } => format!("signed: {}", one_line(&act.action, 40)),
        Event::ApprovalWithdrawn { phase, check } => {
            format!("check {check} of {phase} is no longer approved")
        }
        Event::FieldsSet { phase, fields } => fields_set(phase.as_ref(), fields),
        Event::ArtifactRecorded { artifact } => {
            let path = one_line(&artifact.path, LONGEST);
            format!("file {path} recorded, version {}, {} bytes", artifact.version, artifact.size)
        }
        Event::PhaseRevised { revision } => revised(revision),
        Event::SessionMoved { path } => {
            format!("the session's files were moved to {}", one_line(path, LONGEST))
        }
        Event::Imported { layout, path, into, from: None, .. } if layout == into => {
            format!("{} was upgraded to the newest format of {layout}", one_line(path, LONGEST))
        }
        Event::Imported { layout, path, into, from, .. } => {
            let whole = from.as_ref().map_or_else(|| path.clone(), |root| format!("{root}/{path}"));
            format!("imported from {layout}, {}, as {into}", one_line(&whole, LONGEST))
        }
        Event::PhasesAdded { phases } => {
            let names: Vec<&str> = phases.iter().map(|phase| phase.id.as_str()).collect();
            format!("phases added: {}", names.join(", "))
        }
        Event::DefinitionUpdated { workflow, .. } => {
            format!("now follows {} v{}", workflow.name, one_line(&workflow.version, 20))
        }
        Event::CheckpointMade { name } => format!("checkpoint: {}", one_line(name, LONGEST)),
        Event::Restored { to_version } => format!("undone: back to version {to_version}"),
        Event::Item(event) => items::words(event),
        Event::Purged { replaced: 1, .. } => "text was purged in one place".to_owned(),
        Event::Purged { replaced, .. } => format!("text was purged in {replaced} places"),
        Event::RequirementSatisfied { requirement, by, expires_at, .. } => {
            let until = expires_at.map(|at| format!(", until {at}")).unwrap_or_default();
            format!("requirement {} satisfied by {}{until}", one_line(requirement, 80), one_line(by, 40))
        }
        Event::RequirementCleared { requirement, why, .. } => {
            format!("requirement {} cleared: {}", one_line(requirement, 80), one_line(why, 100))
        }
        Event::SessionTaken { .. } => "imported from a bundle".to_owned(),
        Event::ForkResolved { .. } => "a fork of this session was merged".to_owned(),
        Event::Unknown { kind } => format!("{kind} (written by a newer leftoff)"),
    }
}

/// `, by anna, 2026-11-16 08:00 UTC`, of something that somebody else merged.
fn merged_from(origin: Option<&Origin>) -> String {
    let told = |origin: &Origin| {
        let at = origin.at.strftime("%Y-%m-%d %H:%M UTC");
        format!(" (by {}, {at})", one_line(&origin.actor.to_string(), 60))
    };
    origin.map(told).unwrap_or_default()
}

fn fields_set(phase: Option<&Name>, fields: &BTreeMap<String, Value>) -> String {
    let place = phase.map(|phase| format!(" of {phase}")).unwrap_or_default();
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", one_line(&shown(value), 80))).collect();
    format!("fields{place} set: {}", pairs.join(", "))
}

fn paused(reason: &str, context: Option<&str>, saved: &[String]) -> String {
    let context = context.map(|context| format!(", in the middle of {context}")).unwrap_or_default();
    let saved = if saved.is_empty() { String::new() } else { format!(", saved {}", saved.join(", ")) };
    one_line(&format!("paused: {}{context}{saved}", pause_reason(reason)), LONGEST)
}

fn back(phase: &Name, reason: Option<&str>) -> String {
    let why = reason.map(|reason| format!(": {}", one_line(reason, LONGEST)));
    format!("back to phase {phase}{}", why.unwrap_or_default())
}

fn note_changed(
    id: u32,
    text: Option<&str>,
    fields: &std::collections::BTreeMap<String, serde_json::Value>,
    reopened: bool,
) -> String {
    let mut parts: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", one_line(name, 60), one_line(&shown(value), 80)))
        .collect();
    parts.extend(text.map(|text| format!("now {}", one_line(text, LONGEST))));
    parts.extend(reopened.then(|| "open again".to_owned()));
    format!("note {id} changed: {}", parts.join(", "))
}

pub fn revised(revision: &Revision) -> String {
    let names =
        |phases: &[model::id::Name]| phases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let (phase, impact) = (&revision.phase, revision.impact.name());
    let mut text =
        format!("phase {phase} revisited, {impact} impact: {}", one_line(&revision.reason, LONGEST));
    if !revision.flagged.is_empty() {
        text.push_str(&format!("; to review: {}", names(&revision.flagged)));
    }
    if !revision.restarted.is_empty() {
        text.push_str(&format!("; to redo: {}", names(&revision.restarted)));
    }
    for archived in &revision.archived {
        let (from, to) = (one_line(&archived.from, 100), one_line(&archived.to, 100));
        let what = if archived.copied { "is kept as" } else { "is now" };
        text.push_str(&format!("; {from} {what} {to}"));
    }
    text
}

fn not_passed(phase: &Name, attempt: &AttemptReport) -> String {
    let how = if attempt.lacks_only_approval() {
        format!("{phase} waits for approval")
    } else {
        format!("gate of {phase} did not pass")
    };
    let failed: Vec<&str> =
        attempt.checks.iter().filter(|check| check.failed()).map(|check| check.id.as_str()).collect();
    format!("{how}: {}{}", failed.join(", "), evidence(attempt))
}

fn claimed(phase: &Name, handed_in: Option<&AttemptReport>) -> String {
    let merged = merged_from(handed_in.and_then(|attempt| attempt.origin.as_deref()));
    format!(
        "phase {phase} claimed as done, unverified{}{merged}",
        handed_in.map(evidence).unwrap_or_default()
    )
}

fn evidence(attempt: &AttemptReport) -> String {
    let pairs: Vec<String> = attempt
        .evidence
        .iter()
        .map(|(name, value)| format!("{}={}", one_line(name, 60), one_line(&shown(value), 80)))
        .collect();
    if pairs.is_empty() { String::new() } else { format!(" ({})", pairs.join(", ")) }
}
