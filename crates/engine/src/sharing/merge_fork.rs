//! Merges a fork into the main session: copies notes and items, and turns results into claims.

use super::taking::fork_of;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::{Answer, Plan};
use crate::hex;
use model::event::{Event, ItemEvent, Recorded};
use model::hint::Hint;
use model::id::{ItemId, SessionId};
use model::item::{ItemBook, NewItem};
use model::note::NoteKind;
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
        let answer = self.in_turn(&order, |engine| {
            let subject = engine.load_subject(&main)?;
            let own = engine.own_part(&fork, &main)?;
            let items = engine.all_items(&main)?;
            let mut over = Over::new(&subject.session, &items, &fork);
            for recorded in &own {
                over.bring(recorded);
            }
            resolved.notes = over.notes;
            resolved.items = over.items;
            resolved.claims = over.claims;
            let mut events = over.events;
            events.push(Event::ForkResolved { head: head.clone() });
            let mut plan = Plan::of(subject.change(events));
            plan.items = Some(items);
            Ok(plan)
        })?;
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
            notes: 0,
            items: 0,
            claims: 0,
        }
    }

    fn bring(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::NoteAdded { id, kind, text, fields } => {
                self.note_ids.insert(*id, self.next_note);
                self.note(*kind, text.clone(), fields.clone());
            }
            Event::NoteResolved { id } => {
                if let Some(id) = self.note_ids.get(id) {
                    self.events.push(Event::NoteResolved { id: *id });
                }
            }
            Event::Item(ItemEvent::ItemAdded { item }) => self.item(item),
            Event::Item(ItemEvent::ItemCompleted { id, .. }) => {
                let id = self.item_ids.get(&id.key()).unwrap_or(id).clone();
                self.say(format!("item {id} was completed by {} in {}", recorded.actor, self.fork));
            }
            Event::PhaseCompleted { phase, attempt, .. } => {
                let is_open = self
                    .session
                    .run()
                    .and_then(|run| run.phases.iter().find(|known| known.id() == phase))
                    .is_some_and(|known| !known.is_done());
                if is_open {
                    self.claims += 1;
                    self.events
                        .push(Event::PhaseClaimed { phase: phase.clone(), attempt: Some(attempt.clone()) });
                }
            }
            Event::CheckApproved { phase, check, by, .. } => self.say(format!(
                "{by} approved {check} of phase {phase} in {}; approve the check here, or it does not count",
                self.fork
            )),
            Event::FieldsSet { phase, fields } => {
                let missing: BTreeMap<_, _> = fields
                    .iter()
                    .filter(|(name, _)| phase.is_some() || !self.session.fields.contains_key(*name))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                if !missing.is_empty() {
                    self.events.push(Event::FieldsSet { phase: phase.clone(), fields: missing });
                }
            }
            Event::ArtifactRecorded { artifact } => {
                self.say(format!("{} was recorded in {}", artifact.path, self.fork));
            }
            // Other events, such as the fork's way through its phases, are not merged.
            _ => {}
        }
    }

    fn say(&mut self, text: String) {
        self.note(NoteKind::Note, text, BTreeMap::new());
    }

    fn note(&mut self, kind: NoteKind, text: String, fields: BTreeMap<String, serde_json::Value>) {
        self.events.push(Event::NoteAdded { id: self.next_note, kind, text, fields });
        self.next_note = self.next_note.saturating_add(1);
        self.notes += 1;
    }

    /// Copies an item. If the main session has an item with this id, `-fork` and a number are added to the id of the
    /// copy.
    fn item(&mut self, item: &NewItem) {
        let is_taken = |id: &ItemId| self.items_there.get(id).is_some();
        let mut id = item.id.clone();
        if is_taken(&id) {
            let numbered =
                (1..).filter_map(|number: u32| ItemId::parse(&format!("{}-fork{number}", item.id)).ok());
            let Some(free) = numbered.take(1_000).find(|id| !is_taken(id)) else { return };
            id = free;
        }
        self.item_ids.insert(item.id.key(), id.clone());
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
