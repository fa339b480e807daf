//! Notes of where histories stood, outside the database and the repository: when a person decided something, when a run
//! was completed, and when events came from elsewhere. Who changes the database and computes its hash chain again leaves
//! a history that contradicts its note.

use crate::engine::Engine;
use crate::hex;
use crate::project_registry::state_folder;
use model::id::SessionId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use store::chain::Chain;
use store::{Arrival, Batch, EventRow};

/// Where a history stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct NotedHead {
    session: String,
    version: u64,
    /// The link of event `version` in the hash chain, in hexadecimal.
    link: String,
    /// The version up to which the history came from elsewhere.
    #[serde(default)]
    arrived: u64,
}

impl Engine {
    /// Notes the heads of sessions in which this batch records a person's act or the end of a run. Failures are ignored:
    /// without a note, `verify` knows less.
    pub(crate) fn note_heads(&self, batch: &Batch) {
        for stream in batch.streams.iter().filter(|stream| stream.events.iter().any(is_worth_a_note)) {
            let Ok(chain) = self.store.base().chain(&stream.row.id) else { continue };
            let Some((version, seal)) = chain.seals.last_key_value() else { continue };
            let arrived = self.noted_head(&stream.row.id).map_or(0, |noted| noted.arrived);
            self.note_head(&stream.row.id, *version, hex(&seal.link), arrived);
        }
    }

    pub(crate) fn note_arrival(&self, arrival: &Arrival) {
        self.note_head(&arrival.session, arrival.version, hex(&arrival.head), arrival.version);
    }

    /// Returns the last version of a history that came from elsewhere, as noted on this machine; 0 if nothing is noted.
    pub(crate) fn noted_arrival(&self, id: &SessionId) -> u64 {
        self.noted_head(id).map_or(0, |noted| noted.arrived)
    }

    /// True if a history of this store should have a note, and has none.
    pub(crate) fn lacks_note(&self, id: &SessionId) -> bool {
        self.place_of_note(id).is_some_and(|place| !place.exists())
    }

    /// Returns the version at which another history was noted than those that are stored now.
    pub(crate) fn noted_otherwise(&self, id: &SessionId, chains: &[Chain]) -> Option<u64> {
        let noted = self.noted_head(id)?;
        let has = |chain: &Chain| chain.seals.get(&noted.version).map(|seal| hex(&seal.link));
        let is_there = chains.iter().any(|chain| has(chain).as_ref() == Some(&noted.link));
        (!is_there).then_some(noted.version)
    }

    fn noted_head(&self, id: &SessionId) -> Option<NotedHead> {
        serde_json::from_slice(&fs::read(self.place_of_note(id)?).ok()?).ok()
    }

    fn note_head(&self, id: &SessionId, version: u64, link: String, arrived: u64) {
        let noted = NotedHead { session: id.to_string(), version, link, arrived };
        let (Some(path), Ok(text)) = (self.place_of_note(id), serde_json::to_vec(&noted)) else { return };
        let _ = path.parent().map(fs::create_dir_all);
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let _ = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
    }

    /// Returns the file with the note of a session, named after the store and the session.
    fn place_of_note(&self, id: &SessionId) -> Option<PathBuf> {
        let mut hasher = Sha256::new();
        hasher.update(self.sharing_folder().ok()?.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(id.as_str().as_bytes());
        Some(state_folder()?.join("heads").join(hex(&hasher.finalize())))
    }
}

fn is_worth_a_note(event: &EventRow) -> bool {
    event.kind == "run_completed" || event.actor.contains(r#""kind":"person""#)
}
