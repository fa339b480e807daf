//! Merges a fork into the main session: copies notes and items, and turns results into claims.

use super::taking::fork_of;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::{Answer, Plan};
use crate::hex;
use model::actor::Origin;
use model::event::{Event, ItemEvent, Recorded};
use model::gate::AttemptReport;
use model::hint::Hint;
use model::id::{ItemId, SessionId};
use model::item::{Item, ItemBook, NewItem};
use model::note::{Note, NoteKind};
use model::session::Session;
use model::words;
use std::collections::BTreeMap;
use store::Store;

/// The result of merging a fork.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Resolved {
    pub fork: String,
    pub notes: usize,
    pub items: usize,
    /// The number of phases that the merge made claims, for a person to check.
    pub claims: usize,
}

impl Engine {
    /// Merges the named fork, or the only fork of the named session.
    pub fn resolve_fork(&mut self, asked: &str) -> Result<(Answer, Resolved)> {
        let named = self.resolve(asked)?;
        let (main, fork) = if let Some(main) = fork_of(&named) {
            (main, named)
        } else {
            let only = self.only_fork(&named)?;
            (named, only)
        };
        let head = self.store.chain(&fork)?.head.map(|head| hex(&head)).unwrap_or_default();
        let mut resolved = Resolved { fork: fork.to_string(), notes: 0, items: 0, claims: 0 };
        let order = self.fingerprint("sync resolve", fork.as_str());
        let mut answer = self.in_turn(&order, |engine| {
            let subject = engine.load_subject(&main)?;
            let own = engine.own_part(&fork, &main)?;
            let items = engine.all_items(&main)?;
            let mut over = Over::new(&subject.session, &items, &fork);
            for recorded in &own {
                over.bring(recorded);
            }
            over.name_items();
            resolved.notes = over.notes;
            resolved.items = over.items;
            resolved.claims = over.claims;
            let mut events = over.events;
            events.push(Event::ForkResolved { head: head.clone() });
            let mut plan = Plan::of(subject.change(events));
            plan.items = Some(items);
            Ok(plan)
        })?;
        // The answer was composed before the fork was removed.
        let told = format!(" {fork} ");
        answer.view.warnings.retain(|warning| warning.kind != "fork" || !warning.message.contains(&told));
        let version = self.store.load(&fork)?.map_or(0, |loaded| loaded.row.version);
        let arrived = store::Arrived { gone: vec![(fork, version)], ..store::Arrived::default() };
        // The events of the fork stay in the replicas' histories. If removing the fork fails here, the next sync
        // removes it.
        let _ = self.store.take_histories(&arrived);
        Ok((answer, resolved))
    }

    fn only_fork(&self, id: &SessionId) -> Result<SessionId> {
        let forks = self.forks_of(id)?;
        match forks.as_slice() {
            [one] => SessionId::parse(&one.id)
                .map_err(|why| Error::InvalidSessionId { asked: one.id.clone(), why }),
            [] => Err(Error::Sharing {
                message: format!("session {id} has no fork"),
                hint: Hint::new("see all forks: ").run(words!["sync", "status"]),
            }),
            several => Err(Error::Sharing {
                message: format!(
                    "session {id} has several forks: {}",
                    several.iter().map(|fork| fork.id.as_str()).collect::<Vec<_>>().join(", ")
                ),
                hint: Hint::new("name one of them: ").run(words!["sync", "resolve", &several[0].id]),
            }),
        }
    }

    /// Returns the events of the fork that the main history does not have.
    fn own_part(&self, fork: &SessionId, main: &SessionId) -> Result<Vec<Recorded>> {
        let events = self.store.events(fork, self.events_shared(fork, main)?, None)?;
        events.iter().map(|row| crate::engine::read_event(fork, row)).collect()
    }
}

/// The events to add to the main session, derived from the events of a fork.
struct Over<'a> {
    session: &'a Session,
    items_there: &'a ItemBook,
    fork: &'a SessionId,
    events: Vec<Event>,
    next_note: u32,
    note_ids: BTreeMap<u32, u32>,
    item_ids: BTreeMap<String, ItemId>,
    /// Copied items, with who added them to the fork.
    copied: Vec<(ItemId, Origin)>,
    notes: usize,
    items: usize,
    claims: usize,
}

impl<'a> Over<'a> {
    fn new(session: &'a Session, items_there: &'a ItemBook, fork: &'a SessionId) -> Self {
        Self {
            session,
            items_there,
            fork,
            events: Vec::new(),
            next_note: session.next_note(),
            note_ids: BTreeMap::new(),
            item_ids: BTreeMap::new(),
            copied: Vec::new(),
            notes: 0,
            items: 0,
            claims: 0,
        }
    }

    fn bring(&mut self, recorded: &Recorded) {
        let origin = recorded.origin(None);
        match &recorded.event {
            Event::NoteAdded { id, kind, text, fields, origin } => {
                let origin = recorded.origin(origin.as_ref());
                // Somebody else may have merged the same note before.
                let is_it = |known: &&Note| {
                    (known.kind, &known.text, &known.actor, known.at)
                        == (*kind, text, &origin.actor, origin.at)
                };
                if let Some(known) = self.session.notes.iter().find(is_it) {
                    self.note_ids.insert(*id, known.id);
                    return;
                }
                self.note_ids.insert(*id, self.next_note);
                self.note(*kind, text.clone(), fields.clone(), origin);
            }
            Event::NoteResolved { id } => {
                let is_resolved =
                    |id: u32| self.session.notes.iter().any(|note| note.id == id && !note.is_open());
                if let Some(id) = self.note_ids.get(id).filter(|id| !is_resolved(**id)) {
                    self.events.push(Event::NoteResolved { id: *id });
                }
            }
            Event::Item(ItemEvent::ItemAdded { item }) => self.item(item, origin),
            Event::Item(ItemEvent::ItemCompleted { id, .. }) => {
                let id = self.item_ids.get(&id.key()).unwrap_or(id).clone();
                self.say(format!("item {id} was completed by {} in {}", origin.actor, self.fork), origin);
            }
            Event::PhaseCompleted { phase, attempt, .. } => {
                let is_open = self
                    .session
                    .run()
                    .and_then(|run| run.phases.iter().find(|known| known.id() == phase))
                    .is_some_and(|known| !known.is_done());
                if is_open {
                    self.claims += 1;
                    let origin = Some(Box::new(recorded.origin(attempt.origin.as_deref())));
                    let attempt = Some(AttemptReport { origin, ..attempt.clone() });
                    self.events.push(Event::PhaseClaimed { phase: phase.clone(), attempt });
                }
            }
            Event::CheckApproved { phase, check, by, .. } => {
                let text = format!(
                    "{by} approved {check} of phase {phase} in {}; approve the check here, or it does not count",
                    self.fork
                );
                self.say(text, origin);
            }
            Event::FieldsSet { phase, fields } => {
                let missing: BTreeMap<_, _> = fields
                    .iter()
                    .filter(|(name, _)| phase.is_some() || !self.session.fields.contains_key(*name))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                if !missing.is_empty() {
                    let names: Vec<&str> = missing.keys().map(String::as_str).collect();
                    self.say(format!("{} was set in {}", names.join(", "), self.fork), origin);
                    self.events.push(Event::FieldsSet { phase: phase.clone(), fields: missing });
                }
            }
            Event::ArtifactRecorded { artifact } => {
                self.say(format!("{} was recorded in {}", artifact.path, self.fork), origin);
            }
            // Other events, such as the fork's way through its phases, are not merged.
            _ => {}
        }
    }

    /// Notes who added the copied items: one note for each author.
    fn name_items(&mut self) {
        let copied = std::mem::take(&mut self.copied);
        for copied in copied.chunk_by(|(_, one), (_, next)| one.actor == next.actor) {
            let names: Vec<&str> = copied.iter().map(|(id, _)| id.as_str()).collect();
            let Some((_, origin)) = copied.last() else { continue };
            let what = if names.len() == 1 { "item" } else { "items" };
            let text = format!("{what} {} came from {}", names.join(", "), self.fork);
            self.say(text, origin.clone());
        }
    }

    fn say(&mut self, text: String, origin: Origin) {
        self.note(NoteKind::Note, text, BTreeMap::new(), origin);
    }

    fn note(
        &mut self,
        kind: NoteKind,
        text: String,
        fields: BTreeMap<String, serde_json::Value>,
        origin: Origin,
    ) {
        self.events.push(Event::NoteAdded { id: self.next_note, kind, text, fields, origin: Some(origin) });
        self.next_note = self.next_note.saturating_add(1);
        self.notes += 1;
    }

    /// Copies an item. If the main session has an item with this id, `-fork` and a number are added to the id of the
    /// copy.
    fn item(&mut self, item: &NewItem, origin: Origin) {
        // Somebody else may have merged the same item before.
        let is_it = |known: &Item| (&known.title, &known.phase) == (&item.title, &item.phase);
        if self.items_there.get(&item.id).is_some_and(is_it) {
            return;
        }
        let is_taken = |id: &ItemId| self.items_there.get(id).is_some();
        let mut id = item.id.clone();
        if is_taken(&id) {
            let numbered =
                (1..).filter_map(|number: u32| ItemId::parse(&format!("{}-fork{number}", item.id)).ok());
            let Some(free) = numbered.take(1_000).find(|id| !is_taken(id)) else { return };
            id = free;
        }
        self.item_ids.insert(item.id.key(), id.clone());
        self.copied.push((id.clone(), origin));
        let renamed = |old: &ItemId| self.item_ids.get(&old.key()).unwrap_or(old).clone();
        let item = NewItem {
            id,
            parent: item.parent.as_ref().map(renamed),
            depends_on: item.depends_on.iter().map(renamed).collect(),
            ..item.clone()
        };
        self.items += 1;
        self.events.push(ItemEvent::ItemAdded { item }.into());
    }
}
