//! Records where histories came from, in `arrived.json`, in addition to the store's own record. The file stays when
//! sharing is switched off. It is read only where the origin of a history matters.

use super::settings::{Settings, read_json, write_json};
use crate::engine::Engine;
use crate::error::Result;
use jiff::Timestamp;
use model::id::SessionId;
use model::session::Session;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use store::{Arrival, Arrived, Store};

const NAME: &str = "arrived.json";

/// A second record of where a history came from. It still shows this if somebody deletes the record in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Witness {
    pub(super) replica: String,
    pub(super) version: u64,
    /// The link of event `version` in the hash chain, in hexadecimal.
    pub(super) head: String,
    pub(super) at: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Witnesses {
    pub(super) arrived: BTreeMap<String, Witness>,
    is_changed: bool,
}

impl Witnesses {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        Ok(Self { arrived: read_json(&folder.join(NAME))?.unwrap_or_default(), is_changed: false })
    }

    /// Records an arrival, unless a longer one is already recorded.
    pub(super) fn remember(&mut self, arrival: &Arrival) {
        let known = self.arrived.get(arrival.session.as_str());
        if known.is_none_or(|known| known.version < arrival.version) {
            let witness = Witness {
                replica: arrival.replica.clone(),
                version: arrival.version,
                head: crate::hex(&arrival.head),
                at: arrival.at,
            };
            self.arrived.insert(arrival.session.to_string(), witness);
            self.is_changed = true;
        }
    }

    /// Adds the arrivals that an older program recorded in `sync.json`.
    pub(super) fn add_older(&mut self, older: BTreeMap<String, Witness>) {
        self.is_changed |= !older.is_empty();
        for (session, witness) in older {
            self.arrived.entry(session).or_insert(witness);
        }
    }

    pub(super) fn keep(&mut self, folder: &Path) -> Result<()> {
        if std::mem::take(&mut self.is_changed) {
            write_json(&folder.join(NAME), &serde_json::to_vec(&self.arrived).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Moves the file after the database was moved to another folder.
    pub(super) fn move_between(from: &Path, to: &Path) {
        let _ = std::fs::rename(from.join(NAME), to.join(NAME));
    }
}

impl Engine {
    /// Returns the arrivals of stored sessions, as recorded in the store. If the store lacks an arrival or has a
    /// shorter one, the second record is used.
    pub(super) fn arrivals_known(&self, witnesses: &Witnesses) -> Result<BTreeMap<SessionId, Arrival>> {
        let arrivals = self.store.arrivals()?.into_iter();
        let mut known: BTreeMap<SessionId, Arrival> =
            arrivals.map(|arrival| (arrival.session.clone(), arrival)).collect();
        for (id, witness) in &witnesses.arrived {
            let Ok(id) = SessionId::parse(id) else { continue };
            if let Some(arrival) = self.witnessed(&id, witness, known.get(&id))? {
                known.insert(id, arrival);
            }
        }
        Ok(known)
    }

    /// Returns the arrival of the second record if the store's own is missing or shorter; `None` if the session has
    /// another history now.
    fn witnessed(
        &self,
        id: &SessionId,
        witness: &Witness,
        known: Option<&Arrival>,
    ) -> Result<Option<Arrival>> {
        if known.is_some_and(|arrival| arrival.version >= witness.version) {
            return Ok(None);
        }
        let seals = self.store.chain(id)?.seals;
        let link = |version: u64| seals.get(&version).map(|seal| seal.link);
        let (Some(stream), Some(head)) = (link(1), link(witness.version)) else { return Ok(None) };
        let (session, replica) = (id.clone(), witness.replica.clone());
        let (version, at) = (witness.version, witness.at);
        let arrival = Arrival { session, replica, stream, version, head, at };
        Ok((crate::hex(&head) == witness.head).then_some(arrival))
    }

    /// The store's record of where a session came from, as far as a view of the session needs it. A store that nothing
    /// came into is not searched.
    pub(crate) fn arrival_of(&self, session: &Session, is_shared: bool) -> Option<Arrival> {
        let has_record = || self.sharing_folder().map_or(true, |folder| folder.join(NAME).exists());
        let is_needed = is_shared || has_record();
        is_needed.then(|| self.store.base().arrival(&session.id).ok().flatten()).flatten()
    }

    /// Returns the version of a session's last event that was written elsewhere; 0 if there is none.
    pub(crate) fn arrived_up_to(&self, id: &SessionId) -> Result<u64> {
        let known = self.store.base().arrival(id)?;
        let folder = self.sharing_folder().ok();
        let older = folder.as_ref().and_then(|folder| Settings::read(folder).ok().flatten());
        let mut witnesses = folder.and_then(|folder| Witnesses::read(&folder).ok()).unwrap_or_default();
        witnesses.add_older(older.map(|settings| settings.arrived).unwrap_or_default());
        let witnessed = match witnesses.arrived.get(id.as_str()) {
            Some(witness) => self.witnessed(id, witness, known.as_ref())?,
            None => None,
        };
        let arrived = witnessed.or(known).map_or(0, |arrival| arrival.version);
        Ok(arrived.max(self.noted_arrival(id)))
    }

    /// Adds arrivals to the second record. Errors are ignored, because the store has its own record.
    pub(crate) fn remember_arrivals(&self, arrived: &Arrived) {
        let Ok(folder) = self.sharing_folder() else { return };
        let Ok(mut witnesses) = Witnesses::read(&folder) else { return };
        for arrival in arrived.histories.iter().filter_map(|history| history.arrival.as_ref()) {
            witnesses.remember(arrival);
            self.note_arrival(arrival);
        }
        let _ = witnesses.keep(&folder);
    }
}
