//! The plan of a command: events of one or more sessions, which are folded and converted to rows.

use crate::NATIVE;
use crate::disk::Operation;
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::items::item_row;
use crate::query::Follows;
use crate::redact;
use jiff::Timestamp;
use model::actor::Actor;
use model::event::{Event, ItemEvent, Recorded};
use model::id::{ItemId, SessionId};
use model::item::{Item, ItemBook};
use model::session::{FOLD_VERSION, Session, Taken};
use model::workflow::Workflow;
use sha2::{Digest, Sha256};
use store::{
    Batch, Binding, CommandMark, ContentRow, DefinitionRow, EventRow, ItemsReplaced, KeyRow, SessionRow,
    Snapshot, StreamAppend,
};

/// The command name under which external edits are stored.
const EXTERNAL_EDIT: &str = "external edit";

/// The version of the format of stored answers. Increase it if current programs can no longer read new answers.
const ANSWER_VERSION: u32 = 1;

/// The command that is executed: its name, and a hash of its input. The hash shows if a key is used again for another
/// command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) name: &'static str,
    /// A hash of the input. The input itself is not stored, because it may contain a secret.
    pub(crate) fingerprint: String,
}

/// New events of one session.
pub(crate) struct Change {
    /// The session's number in lists; 0 for a new session.
    pub(crate) number: u64,
    /// The session before the change; `None` for a new session.
    pub(crate) before: Option<Session>,
    pub(crate) events: Vec<Event>,
}

/// All changes of one command. The first of them is about the command's subject.
pub(crate) struct Plan {
    pub(crate) subject: Change,
    pub(crate) others: Vec<Change>,
    pub(crate) definitions: Vec<DefinitionRow>,
    pub(crate) contents: Vec<ContentRow>,
    pub(crate) bindings: Vec<Binding>,
    /// The file operation that belongs to the events of the subject.
    pub(crate) operation: Option<Operation>,
    pub(crate) said: Vec<String>,
    /// The items that the subject's events change, as they are before these events.
    pub(crate) items: Option<ItemBook>,
    /// All items of the subject, if the command returns it to an earlier version.
    pub(crate) restored: Option<ItemBook>,
    /// The item that the command is about.
    pub(crate) item: Option<ItemId>,
    /// The subject's whole log, if the session must be folded from it.
    pub(crate) history: Vec<Recorded>,
    /// Where a session is paused that came in a bundle. Folding its log needs this.
    pub(crate) taken: Option<Taken>,
    /// True if the command pauses the session that was active here.
    pub(crate) makes_room: bool,
    /// True if no new snapshot is stored, because the stored one is recent enough.
    pub(crate) spares_snapshot: bool,
}

/// A plan ready to be committed.
pub(crate) struct Kept {
    pub(crate) subject: Session,
    pub(crate) number: u64,
    pub(crate) already: bool,
    pub(crate) gate_failed: bool,
    pub(crate) said: Vec<String>,
    pub(crate) operation: Option<Operation>,
    pub(crate) batch: Batch,
    pub(crate) item: Option<Item>,
    /// The kind of command that the answer follows. It decides what the view of the subject contains.
    pub(crate) follows: Follows,
}

impl Plan {
    pub(crate) fn of(subject: Change) -> Self {
        Self {
            subject,
            others: Vec::new(),
            definitions: Vec::new(),
            contents: Vec::new(),
            bindings: Vec::new(),
            operation: None,
            said: Vec::new(),
            items: None,
            restored: None,
            item: None,
            history: Vec::new(),
            taken: None,
            makes_room: false,
            spares_snapshot: false,
        }
    }

    /// True if a changed session has files of another tool.
    pub(crate) fn has_files(&self) -> bool {
        let mut changes = std::iter::once(&self.subject).chain(&self.others);
        changes.any(|change| change.before.as_ref().is_some_and(|session| session.layout != NATIVE))
    }

    /// True if the plan has events for this session.
    pub(crate) fn changes(&self, id: &SessionId) -> bool {
        let changes = std::iter::once(&self.subject).chain(&self.others);
        changes.filter_map(|change| change.before.as_ref()).any(|session| session.id == *id)
    }

    pub(crate) fn fold(mut self, command: &str, now: Timestamp, actor: &Actor) -> Result<Kept> {
        self.redact();
        self.name_definitions();
        let number = self.subject.number;
        let already = self.subject.events.is_empty();
        let gate_failed = self.subject.events.iter().any(|event| matches!(event, Event::GateFailed { .. }));
        let mut batch = Batch::default();
        let item = keep_items(&self, now, actor, &mut batch)?;
        batch.definitions = self.definitions;
        batch.contents = self.contents;
        batch.bindings = self.bindings;
        let subject =
            fold_one(self.subject, command, (&self.history, self.taken.as_ref()), now, actor, &mut batch)?;
        if !self.spares_snapshot {
            keep_snapshot(&subject, &mut batch)?;
        }
        for other in self.others {
            let other = fold_one(other, command, (&[], None), now, actor, &mut batch)?;
            keep_snapshot(&other, &mut batch)?;
        }
        let (said, operation) = (self.said, self.operation);
        let follows = if self.makes_room { Follows::ChangeThatMadeRoom } else { Follows::Change };
        Ok(Kept { subject, number, already, gate_failed, said, operation, batch, item, follows })
    }

    /// Adds to each event that starts a run the hash of the stored text of its definition.
    fn name_definitions(&mut self) {
        let changes = std::iter::once(&mut self.subject).chain(&mut self.others);
        for event in changes.flat_map(|change| &mut change.events) {
            name_definition(event, &self.definitions);
        }
    }

    /// Removes recognisable secrets from all events before they are stored.
    fn redact(&mut self) {
        let changes = std::iter::once(&mut self.subject).chain(&mut self.others);
        for event in changes.flat_map(|change| &mut change.events) {
            self.said.extend(redact::event(event));
        }
    }
}

/// Adds the rows of changed items to the batch. Returns the item that the command is about.
fn keep_items(plan: &Plan, now: Timestamp, actor: &Actor, batch: &mut Batch) -> Result<Option<Item>> {
    let Some(session) = plan.subject.before.as_ref().map(|session| &session.id) else { return Ok(None) };
    if let Some(restored) = &plan.restored {
        let rows = restored.iter().map(|item| item_row(session, item)).collect::<Result<_>>()?;
        batch.replace_items.push(ItemsReplaced { session: session.clone(), rows });
        return Ok(None);
    }
    let Some(book) = &plan.items else { return Ok(None) };
    let mut book = book.clone();
    for event in &plan.subject.events {
        if let Event::Item(event) = event {
            book.apply(event, now, actor);
        }
    }
    // If an item was removed, the session's whole list of items is replaced. Otherwise only changed items are stored.
    if plan.subject.events.iter().any(removes_an_item) {
        let rows = book.iter().map(|item| item_row(session, item)).collect::<Result<_>>()?;
        batch.replace_items.push(ItemsReplaced { session: session.clone(), rows });
    } else {
        batch.items = book.touched().map(|item| item_row(session, item)).collect::<Result<_>>()?;
    }
    Ok(plan.item.as_ref().and_then(|id| book.get(id)).cloned())
}

/// True if an item is in the session no longer: dropped without a reason, by its layout.
pub(crate) fn removes_an_item(event: &Event) -> bool {
    matches!(event, Event::Item(ItemEvent::ItemDropped { reason: None, .. }))
}

/// Folds a session after a change. If anything changed, adds the session's rows to the batch, but no snapshot.
fn fold_one(
    change: Change,
    command: &str,
    (history, taken): (&[Recorded], Option<&Taken>),
    now: Timestamp,
    actor: &Actor,
    batch: &mut Batch,
) -> Result<Session> {
    let expected = change.before.as_ref().map_or(0, |session| session.version);
    let id = change.before.as_ref().map(|session| session.id.clone());
    let mut recorded: Vec<Recorded> = change
        .events
        .into_iter()
        .zip(expected + 1..)
        .map(|(event, version)| Recorded { version, at: now, actor: actor.clone(), event })
        .collect();
    let after = match change.before {
        Some(session) if history.is_empty() => recorded.iter_mut().fold(session, |session, recorded| {
            name_state(recorded, &session);
            session.apply(recorded)
        }),
        Some(_) | None => fold_whole(&[history, &recorded].concat(), taken)?,
    };
    let mut after = after.trimmed();
    // A session from another store may have another id in this store than in its log.
    after.id = id.unwrap_or(after.id);
    if !recorded.is_empty() {
        batch.streams.push(rows_of(command, &after, expected, &recorded)?);
    }
    Ok(after)
}

/// Adds a snapshot of the session to the batch, if the batch changes the session.
fn keep_snapshot(session: &Session, batch: &mut Batch) -> Result<()> {
    if let Some(stream) = batch.streams.last_mut().filter(|stream| stream.row.id == session.id) {
        stream.snapshot = Some(snapshot_of(session)?);
    }
    Ok(())
}

pub(crate) fn fold_whole(events: &[Recorded], taken: Option<&Taken>) -> Result<Session> {
    Session::fold_taken(events, taken).ok_or_else(|| Error::BrokenLog {
        session: "(being written)".to_owned(),
        why: "its first event does not start the session".to_owned(),
    })
}

/// Returns the rows of a session after external edits.
pub(crate) fn stream(session: &Session, expected: u64, recorded: &[Recorded]) -> Result<StreamAppend> {
    stream_of(EXTERNAL_EDIT, session, expected, recorded)
}

/// Returns the rows of a session after the new events of a command.
pub(crate) fn stream_of(
    command: &str,
    session: &Session,
    expected: u64,
    recorded: &[Recorded],
) -> Result<StreamAppend> {
    Ok(StreamAppend {
        snapshot: Some(snapshot_of(session)?),
        ..rows_of(command, session, expected, recorded)?
    })
}

fn rows_of(command: &str, session: &Session, expected: u64, recorded: &[Recorded]) -> Result<StreamAppend> {
    let mark = CommandMark { name: command.to_owned(), ordinal: expected + 1 };
    Ok(StreamAppend {
        expected,
        events: recorded.iter().map(|recorded| event_row(recorded, &mark)).collect::<Result<_>>()?,
        row: session_row(session),
        snapshot: None,
    })
}

pub(crate) fn snapshot_of(session: &Session) -> Result<Snapshot> {
    Ok(Snapshot { fold_version: FOLD_VERSION, version: session.version, body: to_json(session)? })
}

pub(crate) fn definition_row(workflow: &Workflow) -> Result<DefinitionRow> {
    Ok(DefinitionRow { hash: workflow.hash.clone(), body: to_json(workflow)? })
}

/// Adds to an event the SHA-256 of the stored text of the run's definition, if it is missing and the text is available.
pub(crate) fn name_definition(event: &mut Event, definitions: &[DefinitionRow]) {
    if let Event::RunStarted { workflow, definition: definition @ None, .. }
    | Event::DefinitionUpdated { workflow, definition: definition @ None, .. } = event
    {
        let row = definitions.iter().find(|row| row.hash == workflow.hash);
        *definition = row.map(|row| crate::hex(&Sha256::digest(row.body.as_bytes())));
    }
}

/// Adds to a gate's event a hash of the session's state before the event.
fn name_state(recorded: &mut Recorded, before: &Session) {
    if let Event::PhaseCompleted { attempt, .. } | Event::GateFailed { attempt, .. } = &mut recorded.event
        && let Some(judged) = &mut attempt.judged
    {
        judged.state = crate::hex(&Sha256::digest(before.basis().as_bytes()));
    }
}

pub(crate) fn key_row(key: &str, order: &Order, answer: &Answer, at: Timestamp) -> Result<KeyRow> {
    Ok(KeyRow {
        key: key.to_owned(),
        fingerprint: order.fingerprint.clone(),
        answer: to_json(answer)?,
        version: Some(ANSWER_VERSION),
        session: SessionId::parse(&answer.view.session_id).ok(),
        at,
    })
}

/// Returns the answer stored under a key; `None` if its format is unknown to this program.
pub(crate) fn kept_answer(row: &KeyRow) -> Option<Answer> {
    let is_known = row.version.is_none_or(|version| version <= ANSWER_VERSION);
    serde_json::from_str(&row.answer).ok().filter(|_| is_known)
}

fn event_row(recorded: &Recorded, command: &CommandMark) -> Result<EventRow> {
    Ok(EventRow {
        version: recorded.version,
        at: recorded.at,
        actor: to_json(&recorded.actor)?,
        kind: recorded.event.kind().to_owned(),
        body: to_json(&recorded.event)?,
        command: Some(command.clone()),
    })
}

pub(crate) fn session_row(session: &Session) -> SessionRow {
    let run = session.run();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    SessionRow {
        id: session.id.clone(),
        worktree: session.worktree.clone(),
        machine: session.machine.clone(),
        layout: session.layout.clone(),
        exclusive: layouts::layout::by_name(&session.layout).is_none_or(|layout| layout.facts().exclusive),
        workflow: run.map(|run| run.workflow.name.to_string()).unwrap_or_default(),
        title: session.title.clone(),
        goal: session.goal.clone(),
        target: session.target.clone(),
        lifecycle: session.lifecycle.name().to_owned(),
        parallel: session.parallel,
        phase: run.map(|run| run.current().id().to_string()).unwrap_or_default(),
        phases_done: run.map(|run| count(run.settled())).unwrap_or_default(),
        phases_total: session.total_phases().map(count),
        created_at: session.created_at,
        updated_at: session.updated_at,
        version: session.version,
    }
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::BrokenLog { session: "(being written)".to_owned(), why: error.to_string() })
}
