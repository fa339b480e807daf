//! Stores histories from other replicas in memory.

use super::{MemoryStore, folded};
use crate::batch_rules::check_history;
use crate::chain::{Chain, Given, Seal, seal};
use crate::{Arrived, Error, Result, Store, StreamAppend, TakenHistory};
use model::id::SessionId;

impl MemoryStore {
    pub(super) fn take_all(&mut self, arrived: &Arrived) -> Result<()> {
        let Arrived { histories, gone, definitions, contents, purged, purged_contents } = arrived;
        let lines: Vec<StreamAppend> = histories.iter().map(line).collect();
        histories.iter().try_for_each(check_history)?;
        lines.iter().try_for_each(|line| self.refuse_version(line))?;
        self.refuse_second_active(&lines)?;
        for (id, version) in gone {
            let found = self.load(id)?.map_or(0, |loaded| loaded.row.version);
            if found != *version {
                return Err(Error::Conflict { session: id.clone(), expected: *version, found });
            }
        }
        // From here on nothing can fail, so that everything is stored or nothing.
        for (id, _) in gone {
            self.forget(id);
        }
        for definition in definitions {
            self.definitions.entry(definition.hash.clone()).or_insert_with(|| definition.body.clone());
        }
        for content in contents {
            self.contents.entry(content.hash.clone()).or_insert_with(|| content.body.clone());
        }
        self.contents.retain(|hash, _| !purged_contents.contains(hash));
        for row in self.keys.values_mut() {
            if purged.iter().any(|session| row.answer.contains(session.as_str())) {
                row.answer.clear();
            }
        }
        for (history, line) in histories.iter().zip(&lines) {
            self.take_one(history, line);
        }
        Ok(())
    }

    fn forget(&mut self, id: &SessionId) {
        let Some(place) = self.places.remove(&folded(id.as_str())) else { return };
        self.sessions.remove(place);
        for later in self.places.values_mut().filter(|later| **later > place) {
            *later -= 1;
        }
        self.log.retain(|change| change.session != *id);
        self.replace_items(id, &[]);
        self.views.retain(|_, view| view.session != *id);
        self.arrivals.remove(id);
    }

    fn take_one(&mut self, history: &TakenHistory, line: &StreamAppend) {
        let id = &history.row.id;
        let seals = sealed(history);
        let turn = self.cursor + 1;
        self.log.retain(|change| change.session != *id || change.event.version <= history.shared);
        let new: Vec<_> =
            history.events.iter().filter(|event| event.version > history.shared).cloned().collect();
        for event in &new {
            self.log_event(id, event);
        }
        if self.find(id).is_none() {
            self.begin(line, turn, None);
        }
        if let Some(place) = self.places.get(&folded(id.as_str())).copied() {
            let kept = &mut self.sessions[place];
            kept.row = history.row.clone();
            kept.turn = if new.is_empty() { kept.turn } else { turn };
            kept.snapshot = Some(history.snapshot.clone());
            kept.events.clone_from(&history.events);
            kept.chain = Chain {
                head: seals.last().map(|seal| seal.link),
                since: Some(1),
                seals: (1..).zip(seals).collect(),
            };
        }
        self.replace_items(id, &history.items);
        match &history.arrival {
            Some(arrival) => self.arrivals.insert(id.clone(), arrival.clone()),
            None => self.arrivals.remove(id),
        };
    }
}

fn line(history: &TakenHistory) -> StreamAppend {
    StreamAppend {
        expected: history.expected,
        events: Vec::new(),
        row: history.row.clone(),
        snapshot: Some(history.snapshot.clone()),
    }
}

fn sealed(history: &TakenHistory) -> Vec<Seal> {
    seal(None, &history.events, |event| {
        history.seals.get(&event.version).copied().unwrap_or(Given::Salt([0; crate::chain::SALT_BYTES]))
    })
}
