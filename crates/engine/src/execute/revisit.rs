//! Revisits an earlier phase: computes the effects, shows them, and applies all of them together.

mod affected;
mod archive;
mod own_file;
mod text_in_git;

use crate::artifacts::{Difference, look};
use crate::disk::Operation;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, checked_reason};
use crate::facades::Sessions;
use affected::affected;
use archive::Archive;
use jiff::Timestamp;
use layouts::layout::SessionToPublish;
use model::command::{Command, decide, resolve_phase};
use model::event::{Event, ItemEvent};
use model::id::{Name, SessionId};
use model::item::ItemBook;
use model::phase::{Phase, PhaseState};
use model::revision::{Archived, Impact, Reach, Revision, reopens};
use model::run::Run;
use model::session::Session;
use model::typed_value::shown;
use model::workflow::Workflow;
use own_file::OwnFile;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A request to revisit a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RevisitRequest {
    /// Id or number of the phase.
    pub phase: String,
    /// The impact that the caller chooses; `None` to use the proposed impact.
    pub impact: Option<Impact>,
    pub reason: String,
    /// The later phases or items that are affected. If empty, all later phases are affected.
    pub affects: Vec<String>,
}

/// The effects that a revision would have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisitPreview {
    pub session_id: String,
    pub phase: Name,
    pub reason: String,
    pub impact: Impact,
    pub proposed: Impact,
    /// Why this impact is proposed.
    pub because: String,
    /// The phase's own files, compared with their recorded versions.
    pub files: Vec<FileChange>,
    /// Declared fields that changed since the phase was completed.
    pub fields: Vec<FieldChange>,
    pub flagged: Vec<Name>,
    pub restarted: Vec<Name>,
    /// The number of completed items that would be reopened.
    pub reopened: usize,
    pub archived: Vec<Archived>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    pub path: String,
    /// How the file differs from its recorded version; `None` if it does not.
    pub difference: Option<Difference>,
    /// A line diff. Missing if the old content was not stored, or if one of the versions is not text.
    pub lines: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    pub name: String,
    pub before: Value,
    pub now: Option<Value>,
}

/// A computed revision: its preview, its events, and its file operation.
pub(super) struct WorkedOut {
    pub(super) preview: RevisitPreview,
    pub(super) events: Vec<Event>,
    /// The items as they are before the revision.
    pub(super) items: ItemBook,
    pub(super) operation: Option<Operation>,
}

impl Sessions<'_> {
    /// Returns the effects that revisiting a phase would have. Changes nothing.
    pub fn preview_revisit(&self, request: &RevisitRequest) -> Result<RevisitPreview> {
        let engine = self.engine;
        let (_, session) = engine.load(&engine.select(Want::Latest)?)?;
        Ok(engine.work_out(&engine.with_expiry(session), request)?.preview)
    }
}

impl Engine {
    /// Revisits a phase with the effects that the preview shows. Refused if the effects would now be different.
    pub(super) fn revisit(&mut self, request: &RevisitRequest, seen: &RevisitPreview) -> Result<Answer> {
        let fingerprint = self.fingerprint("revisit", &format!("{request:?}"));
        let id: SessionId = self.resolve(&seen.session_id)?;
        self.in_turn(&fingerprint, |engine| {
            let subject = engine.load_subject(&id)?;
            let worked_out = engine.work_out(&subject.session, request)?;
            if worked_out.preview != *seen {
                return Err(Error::Contended);
            }
            let mut plan = Plan::of(subject.change(worked_out.events));
            plan.items = Some(worked_out.items);
            plan.operation = worked_out.operation;
            plan.said = worked_out.preview.warnings;
            Ok(plan)
        })
    }

    pub(super) fn work_out(&self, session: &Session, request: &RevisitRequest) -> Result<WorkedOut> {
        let reason = checked_reason(&request.reason)?;
        let run = session.run().ok_or_else(|| Error::BrokenLog {
            session: session.id.to_string(),
            why: "it has no run".to_owned(),
        })?;
        let phase = resolve_phase(run, &request.phase)?;
        let items = self.all_items(&session.id)?;
        let affected = affected(run, phase, request, &items)?;
        let definition = self.definition(&run.workflow.hash)?;
        let own = self.own_files(session, definition.as_deref(), phase.id())?;
        let fields = changed_fields(&phase.fields_at_completion, &session.fields, definition.as_deref());
        let (proposed, because) = propose(&own, &fields, &request.affects);
        let impact = request.impact.unwrap_or(proposed);
        let reach = Reach::of(session, run, phase.id(), impact, &affected.phases());
        let mut revision = Revision {
            phase: phase.id().clone(),
            impact,
            reason: reason.clone(),
            flagged: reach.flagged.clone(),
            restarted: reach.restarted.clone(),
            archived: Vec::new(),
            operation: None,
        };
        // If the model refuses the revision, the refusal must come before any file is archived.
        decide(session, Command::Revise { revision: revision.clone() })?;
        let mut archive = Archive::new(self.root_of(session), &self.replay(&session.id)?);
        archive.keep_own(&own);
        let mut later = self.files_of(session, definition.as_deref(), &reach.archived, &own);
        later.retain(|path| affected.concerns(path));
        archive.put_away(&later);
        if impact == Impact::Major {
            archive.warnings.push(scope(&reach, &archive.archived));
        }
        revision.archived.clone_from(&archive.archived);
        let operation = (!archive.operation.steps.is_empty()).then_some(archive.operation);
        revision.operation = operation.as_ref().map(|operation| operation.id().to_owned());
        let mut events = decide(session, Command::Revise { revision: revision.clone() })?;
        events.extend(follow(session, run, &revision, &items));
        let preview = RevisitPreview {
            session_id: session.id.to_string(),
            phase: phase.id().clone(),
            reason,
            impact,
            proposed,
            because,
            files: own.into_iter().map(|file| file.change).collect(),
            fields,
            flagged: reach.flagged,
            restarted: reach.restarted,
            reopened: count_reopened(&events),
            archived: archive.archived,
            warnings: archive.warnings,
        };
        Ok(WorkedOut { preview, events, items, operation })
    }

    /// Returns the phase's own files: recorded ones, compared with their records; and declared ones that exist but were
    /// not recorded.
    fn own_files(
        &self,
        session: &Session,
        definition: Option<&Workflow>,
        phase: &Name,
    ) -> Result<Vec<OwnFile>> {
        let root = self.root_of(session);
        let known = session.artifacts.values().filter(|known| known.newest.phase.as_ref() == Some(phase));
        let recorded = known.map(|known| {
            let kept = self.store.content(&known.newest.hash)?;
            Ok(OwnFile::compare(known, look(&root, &known.newest.path), kept))
        });
        let declared =
            definition.into_iter().flat_map(|definition| self.produced(session, definition, phase));
        let unrecorded = declared.filter(|path| !session.artifacts.contains_key(path)).filter_map(|path| {
            let finished = definition.and_then(|definition| self.last_completion(session, definition, &path));
            let before = || finished.and_then(|at| text_in_git::text_at(&root, &path, at));
            OwnFile::unrecorded(&path, look(&root, &path), finished, before)
        });
        recorded.chain(unrecorded.map(Ok)).collect()
    }

    /// Returns when a phase that writes this file was last completed; `None` if such a phase is open.
    fn last_completion(&self, session: &Session, definition: &Workflow, path: &str) -> Option<Timestamp> {
        let writes = |phase: &&Phase| {
            self.produced(session, definition, phase.id()).into_iter().any(|produced| produced == path)
        };
        let has_started = |phase: &&Phase| phase.state != PhaseState::NotStarted;
        let ends = session.run()?.phases.iter().filter(has_started).filter(writes).map(Phase::completed_at);
        ends.collect::<Option<Vec<Timestamp>>>()?.into_iter().max()
    }

    /// Returns the files of these phases, without the revised phase's own: those recorded for them, and existing ones
    /// that they declare.
    fn files_of(
        &self,
        session: &Session,
        definition: Option<&Workflow>,
        phases: &[Name],
        own: &[OwnFile],
    ) -> BTreeSet<String> {
        let is_theirs = |phase: &Option<Name>| phase.as_ref().is_some_and(|phase| phases.contains(phase));
        let recorded = session
            .artifacts
            .values()
            .filter(|known| is_theirs(&known.newest.phase))
            .map(|known| known.newest.path.clone());
        let declared = definition
            .into_iter()
            .flat_map(|definition| phases.iter().flat_map(|phase| self.produced(session, definition, phase)))
            .filter(|path| {
                // A file that is recorded for another phase stays where it is.
                session.artifacts.get(path).is_none_or(|known| is_theirs(&known.newest.phase))
            });
        let own: BTreeSet<&str> = own.iter().map(|file| file.change.path.as_str()).collect();
        recorded.chain(declared).filter(|path| !own.contains(path.as_str())).collect()
    }
}

/// Returns declared fields whose values changed since the phase was completed.
fn changed_fields(
    then: &BTreeMap<String, Value>,
    now: &BTreeMap<String, Value>,
    definition: Option<&Workflow>,
) -> Vec<FieldChange> {
    let declared = definition.into_iter().flat_map(|definition| &definition.fields);
    declared
        .filter_map(|(name, declared)| {
            let (before, now) = (then.get(name)?, now.get(name));
            let was_decided = declared.default.as_ref() != Some(before);
            (was_decided && now != Some(before)).then(|| FieldChange {
                name: name.clone(),
                before: before.clone(),
                now: now.cloned(),
            })
        })
        .collect()
}

fn propose(own: &[OwnFile], fields: &[FieldChange], affects: &[String]) -> (Impact, String) {
    if !affects.is_empty() {
        return (Impact::Moderate, format!("the change affects {}", affects.join(", ")));
    }
    if let Some(field) = fields.first() {
        let now = field.now.as_ref().map_or_else(|| "unset".to_owned(), shown);
        return (Impact::Major, format!("{} was {}, and is {now}", field.name, shown(&field.before)));
    }
    let changed: Vec<&OwnFile> = own.iter().filter(|file| file.is_changed()).collect();
    if let Some(file) = changed.iter().find(|file| file.is_lost) {
        return (
            Impact::Moderate,
            format!(
                "{} was written after the phase was completed, and its earlier text is unknown",
                file.change.path
            ),
        );
    }
    if let Some(file) = changed.iter().find(|file| file.structure_changed) {
        return (Impact::Moderate, format!("the headings of {} changed", file.change.path));
    }
    match changed.first() {
        Some(file) => {
            (Impact::Minor, format!("the wording of {} changed, its headings did not", file.change.path))
        }
        None => (Impact::Minor, "the phase has not changed since it was completed".to_owned()),
    }
}

/// Returns the events that follow from a revision: for items, and for files and sections of the session's own tool.
fn follow(session: &Session, run: &Run, revision: &Revision, items: &ItemBook) -> Vec<Event> {
    let mut events: Vec<Event> = reopens(revision, run, items.iter()).into_iter().map(Event::Item).collect();
    let layout = layouts::layout::by_name(&session.layout);
    if let Some(consequences) = layout.and_then(|layout| layout.capabilities().consequences) {
        events.extend(consequences.of_revision(revision, &SessionToPublish::new(session, items, &[])));
    }
    events
}

fn count_reopened(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Item(ItemEvent::ItemReopened { .. }))).count()
}

fn scope(reach: &Reach, archived: &[Archived]) -> String {
    let files = archived.iter().filter(|archived| !archived.copied).count();
    let phases = match reach.restarted.len() {
        1 => "1 later phase restarts".to_owned(),
        count => format!("{count} later phases restart"),
    };
    match files {
        1 => format!("major impact: {phases}, and 1 file is archived"),
        _ => format!("major impact: {phases}, and {files} files are archived"),
    }
}

fn wrong(message: &str, hint: &str) -> Error {
    Error::WrongUsage { message: message.to_owned(), hint: hint.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::PathEntry;
    use model::artifact::Artifact;
    use serde_json::json;

    fn workflow() -> Workflow {
        let text = "name = \"w\"\nversion = \"1\"\ntitle = \"W\"\n[[phase]]\nid = \"p\"\ntitle = \"P\"\n\
            [fields]\nclaim_type = { type = \"string\" }\napproved = { type = \"boolean\", default = false }\n";
        layouts::definition::read(text).expect("a definition").workflow
    }

    fn fields(pairs: &[(&str, Value)]) -> BTreeMap<String, Value> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn a_declared_field_that_was_decided_and_changed_makes_it_major() {
        let then =
            fields(&[("claim_type", json!("argument")), ("approved", json!(false)), ("free", json!(1))]);
        let now =
            fields(&[("claim_type", json!("explainer")), ("approved", json!(true)), ("free", json!(2))]);
        let changed = changed_fields(&then, &now, Some(&workflow()));
        assert_eq!(
            changed.len(),
            1,
            "neither a default that was first decided later nor a free field: {changed:?}"
        );
        let (impact, because) = propose(&[], &changed, &[]);
        assert_eq!((impact, because.as_str()), (Impact::Major, "claim_type was argument, and is explainer"));
        assert!(changed_fields(&then, &then, Some(&workflow())).is_empty());
        assert!(changed_fields(&fields(&[]), &now, Some(&workflow())).is_empty(), "set later is not changed");
    }

    #[test]
    fn a_file_that_cannot_be_compared_counts_as_changed_in_its_structure() {
        let known = Artifact {
            newest: model::artifact::ArtifactVersion {
                path: "a.md".to_owned(),
                hash: "h".to_owned(),
                size: 1,
                version: 1,
                phase: None,
            },
            recorded_at: jiff::Timestamp::UNIX_EPOCH,
        };
        let own = [OwnFile::compare(&known, PathEntry::Missing, None)];
        assert_eq!(propose(&own, &[], &[]).0, Impact::Moderate);
        assert_eq!(propose(&[], &[], &[]).0, Impact::Minor);
    }
}
