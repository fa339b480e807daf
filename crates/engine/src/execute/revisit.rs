//! Going back to change an earlier phase: works out what that means, shows it, and does it as a whole.

mod archive;

use crate::artifacts::{Difference, look};
use crate::difference;
use crate::disk::Operation;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use crate::files::{Looked, Seen};
use archive::Archive;
use layouts::layout::Standing;
use model::artifact::Artifact;
use model::command::{Command, decide, resolve_phase};
use model::event::{Event, ItemEvent};
use model::gate::shown;
use model::id::{ItemId, Name, SessionId};
use model::item::ItemBook;
use model::phase::Phase;
use model::revision::{Archived, Impact, Reach, Revision, reopens};
use model::run::Run;
use model::session::Session;
use model::workflow::Workflow;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What somebody wants changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RevisitRequest {
    /// By id or number.
    pub phase: String,
    /// Overrides what is proposed.
    pub impact: Option<Impact>,
    pub reason: String,
    /// The later phases that are affected; empty means all.
    pub affects: Vec<String>,
}

/// What a revision would do. Nothing of it has happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisitPreview {
    pub session_id: String,
    pub phase: Name,
    pub reason: String,
    pub impact: Impact,
    pub proposed: Impact,
    /// Why that is proposed.
    pub because: String,
    /// The phase's own files, against what they were when they were recorded.
    pub files: Vec<FileChange>,
    /// Declared fields that were changed since the phase was completed.
    pub fields: Vec<FieldChange>,
    pub flagged: Vec<Name>,
    pub restarted: Vec<Name>,
    /// How many items that were done are open again.
    pub reopened: usize,
    pub archived: Vec<Archived>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    pub path: String,
    /// None when it is as it was.
    pub difference: Option<Difference>,
    /// Line by line, where the old content was kept and both are text.
    pub lines: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    pub name: String,
    pub before: Value,
    pub now: Option<Value>,
}

/// A revision that was worked out: what to show, what to log, what to do on disk.
pub(super) struct WorkedOut {
    pub(super) preview: RevisitPreview,
    pub(super) events: Vec<Event>,
    /// As they are before.
    pub(super) items: ItemBook,
    pub(super) operation: Option<Operation>,
}

impl Engine {
    /// What revisiting a phase would do. Changes nothing.
    pub fn preview_revisit(&self, request: &RevisitRequest) -> Result<RevisitPreview> {
        let id = self.select(Want::Latest)?;
        let (_, session) = self.load(&id)?;
        Ok(self.work_out(&self.laid_over(session), request)?.preview)
    }

    /// Revisits a phase as it was shown. What has become something else meanwhile is not done.
    pub fn revisit(&mut self, request: &RevisitRequest, seen: &RevisitPreview) -> Result<Answer> {
        let fingerprint = self.fingerprint("revisit", &format!("{request:?}"));
        let id: SessionId = self.resolve(&seen.session_id)?;
        self.execute(&fingerprint, |engine| {
            let subject = engine.take_up(&id)?;
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
        let reason = bounded("the reason", request.reason.trim())?;
        if reason.is_empty() {
            return Err(wrong("the reason is empty", "say why: --reason \"…\""));
        }
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
        let (proposed, because) = propose(&own, &fields);
        let impact = request.impact.unwrap_or(proposed);
        let reach = Reach::of(run, phase.id(), impact, &affected.phases());
        let mut revision = Revision {
            phase: phase.id().clone(),
            impact,
            reason: reason.clone(),
            flagged: reach.flagged.clone(),
            restarted: reach.restarted.clone(),
            archived: Vec::new(),
            operation: None,
        };
        // A refusal comes before any look at what would be archived.
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

    /// The files of the phase itself: recorded, against what was recorded of them; or declared by it and there, as when
    /// its own tool completed it.
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
        let unrecorded = declared
            .filter(|path| !session.artifacts.contains_key(path))
            .filter_map(|path| OwnFile::unrecorded(&path, look(&root, &path)));
        recorded.chain(unrecorded.map(Ok)).collect()
    }

    /// The files of these phases: recorded for them, or declared by them and there.
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
                // A file that stands for another phase is not theirs to put away.
                session.artifacts.get(path).is_none_or(|known| is_theirs(&known.newest.phase))
            });
        let own: BTreeSet<&str> = own.iter().map(|file| file.change.path.as_str()).collect();
        recorded.chain(declared).filter(|path| !own.contains(path.as_str())).collect()
    }
}

/// A file of the revisited phase.
struct OwnFile {
    change: FileChange,
    hash: String,
    /// What was recorded, where it was kept.
    kept: Option<Vec<u8>>,
    /// Its headings changed, or nobody can tell.
    structure_changed: bool,
}

impl OwnFile {
    /// A file that nobody recorded: what it is now is all that is known of it.
    fn unrecorded(path: &str, seen: Seen) -> Option<Self> {
        let Seen::File(looked) = seen else { return None };
        let change = FileChange { path: path.to_owned(), difference: Some(Difference::New), lines: None };
        Some(Self { change, hash: looked.hash, kept: None, structure_changed: false })
    }

    /// Nothing tells what a file was that nobody recorded.
    fn is_changed(&self) -> bool {
        !matches!(self.change.difference, None | Some(Difference::New))
    }

    fn compare(known: &Artifact, seen: Seen, kept: Option<Vec<u8>>) -> Self {
        let mut lines = None;
        let mut structure_changed = true;
        let difference = match seen {
            Seen::Missing => Some(Difference::Missing),
            Seen::Unusable(_) => Some(Difference::Unusable),
            Seen::File(looked) if looked.hash == known.newest.hash => {
                structure_changed = false;
                None
            }
            Seen::File(looked) => {
                if let Some((old, new)) = texts(kept.as_deref(), &looked) {
                    structure_changed = difference::headings(old) != difference::headings(new);
                    lines = Some(difference::between(old, new));
                }
                Some(Difference::Changed)
            }
        };
        let path = known.newest.path.clone();
        let hash = known.newest.hash.clone();
        Self { change: FileChange { path, difference, lines }, hash, kept, structure_changed }
    }
}

/// Both as text, if both are and are known whole.
fn texts<'a>(kept: Option<&'a [u8]>, looked: &'a Looked) -> Option<(&'a str, &'a str)> {
    let is_whole = looked.size == looked.beginning.len() as u64;
    let old = std::str::from_utf8(kept?).ok()?;
    let new = std::str::from_utf8(&looked.beginning).ok()?;
    is_whole.then_some((old, new))
}

/// What a change affects, as its author named it: later phases, and single items of them. All, where nothing is named.
#[derive(Default)]
struct Affected {
    whole: Vec<Name>,
    items: Vec<(ItemId, Name)>,
}

impl Affected {
    fn phases(&self) -> Vec<Name> {
        let mut phases = self.whole.clone();
        for (_, phase) in &self.items {
            if !phases.contains(phase) {
                phases.push(phase.clone());
            }
        }
        phases
    }

    /// Whether a file of an affected phase is to be put away: where items alone were named, those that carry their names.
    fn concerns(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_named = |id: &ItemId| {
            name.match_indices(id.as_str())
                .any(|(at, id)| !name[at + id.len()..].starts_with(|next: char| next.is_alphanumeric()))
        };
        self.items.is_empty() || !self.whole.is_empty() || self.items.iter().any(|(id, _)| is_named(id))
    }
}

/// The later phases and items that were named. Only phases that have begun can be affected.
fn affected(run: &Run, phase: &Phase, request: &RevisitRequest, items: &ItemBook) -> Result<Affected> {
    if request.impact == Some(Impact::Major) && !request.affects.is_empty() {
        return Err(wrong(
            "a major change affects all later phases",
            "leave --affects out, or use --impact moderate",
        ));
    }
    let after = run.position(phase.id().as_str());
    let mut affected = Affected::default();
    for text in &request.affects {
        let item = ItemId::parse(text).ok().and_then(|id| items.get(&id));
        let named = match (resolve_phase(run, text), item) {
            (Ok(named), _) => named,
            (Err(_), Some(item)) => resolve_phase(run, item.phase.as_str())?,
            (Err(unknown), None) => return Err(unknown.into()),
        };
        if run.position(named.id().as_str()) <= after || named.started_at().is_none() {
            let message = format!("phase '{}' is no phase after '{}' that has begun", named.id(), phase.id());
            return Err(wrong(&message, "name such phases that come later, or leave --affects out"));
        }
        let is_phase = resolve_phase(run, text).is_ok();
        match item.filter(|_| !is_phase) {
            Some(item) => affected.items.push((item.id.clone(), named.id().clone())),
            None => affected.whole.push(named.id().clone()),
        }
    }
    Ok(affected)
}

/// Declared fields that somebody had decided on by the time the phase was completed, and that are otherwise now.
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

fn propose(own: &[OwnFile], fields: &[FieldChange]) -> (Impact, String) {
    if let Some(field) = fields.first() {
        let now = field.now.as_ref().map_or_else(|| "unset".to_owned(), shown);
        return (Impact::Major, format!("{} was {}, and is {now}", field.name, shown(&field.before)));
    }
    let changed: Vec<&OwnFile> = own.iter().filter(|file| file.is_changed()).collect();
    if let Some(file) = changed.iter().find(|file| file.structure_changed) {
        return (Impact::Moderate, format!("the headings of {} changed", file.change.path));
    }
    match changed.first() {
        Some(file) => {
            (Impact::Minor, format!("the wording of {} changed, its headings did not", file.change.path))
        }
        None => (Impact::Minor, "nothing of it has changed since it was completed".to_owned()),
    }
}

/// What follows for items, and for what the session's own tool says of files and sections.
fn follow(session: &Session, run: &Run, revision: &Revision, items: &ItemBook) -> Vec<Event> {
    let mut events: Vec<Event> = reopens(revision, run, items.iter()).into_iter().map(Event::Item).collect();
    let layout = layouts::layout::by_name(&session.layout);
    if let Some(consequences) = layout.and_then(|layout| layout.capabilities().consequences) {
        events.extend(consequences.of_revision(revision, &Standing::new(session, items, &[])));
    }
    events
}

fn count_reopened(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Item(ItemEvent::ItemReopened { .. }))).count()
}

fn scope(reach: &Reach, archived: &[Archived]) -> String {
    let files = archived.iter().filter(|archived| !archived.copied).count();
    let phases = match reach.restarted.len() {
        1 => "1 later phase begins again".to_owned(),
        count => format!("{count} later phases begin again"),
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
        let (impact, because) = propose(&[], &changed);
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
        let own = [OwnFile::compare(&known, Seen::Missing, None)];
        assert_eq!(propose(&own, &[]).0, Impact::Moderate);
        assert_eq!(propose(&[], &[]).0, Impact::Minor);
    }
}
