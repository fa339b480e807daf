//! The histories that sync has sent and fetched. They are a second record of what happened in a session and of who
//! wrote it. Editing the database does not change them.

use super::segment::{SegmentName, author_of, session_of};
use super::settings::Settings;
use super::sidecar::{Entries, Sidecar};
use crate::engine::Engine;
use crate::error::Result;
use crate::hex;
use model::id::SessionId;
use std::collections::{BTreeMap, BTreeSet};
use store::chain::Chain;

/// The histories in the sidecar, by whose clone wrote them.
struct Known {
    sidecar: Sidecar,
    /// The names of this clone's replica: the current one and earlier ones.
    names: BTreeSet<String>,
    own: Entries,
    /// The histories of other clones.
    others: Vec<Entries>,
}

impl Engine {
    /// If sync sent this session with another history, returns the last version of that history; `None` if a fork in
    /// this store has it.
    pub(crate) fn sent_otherwise(
        &self,
        id: &SessionId,
        own_id: &SessionId,
        chain: &Chain,
    ) -> Result<Option<u64>> {
        let Some(known) = self.known_to_sync() else { return Ok(None) };
        let Some(stream) = stream_of(chain) else { return Ok(None) };
        let mut names = segments(&known.own);
        if names.iter().any(|name| name.stream == stream) {
            names.retain(|name| name.stream == stream);
        } else {
            let streams = known.streams_of(&names, own_id)?;
            names.retain(|name| streams.contains(&name.stream));
        }
        let mut chains = vec![chain.clone()];
        for other in self.other_histories(id)? {
            chains.push(self.store.chain(&other)?);
        }
        let other = names.iter().filter(|name| !chains.iter().any(|chain| has(chain, name)));
        Ok(other.map(|name| name.last).min())
    }

    /// Returns the last version of this session that another clone wrote, as far as sync knows; 0 if there is none.
    pub(crate) fn written_by_others(&self, chain: &Chain) -> Result<u64> {
        let Some(known) = self.known_to_sync() else { return Ok(0) };
        let mut found: BTreeMap<SegmentName, String> = BTreeMap::new();
        for entries in known.others.iter().chain([&known.own]) {
            let names = segments(entries).into_iter().filter(|name| has(chain, name));
            found.extend(
                names.filter_map(|name| Some((name.clone(), entries.get(&name.path())?.object.clone()))),
            );
        }
        let contents = known.sidecar.contents(&found.values().cloned().collect::<Vec<_>>())?;
        let by_others = found.keys().zip(&contents).filter(|(name, content)| {
            let is_ours = author_of(content).is_some_and(|author| known.names.contains(&author));
            !is_ours || !known.own.contains_key(&name.path())
        });
        Ok(by_others.map(|(name, _)| name.last).max().unwrap_or(0))
    }

    /// The versions of events that this clone sent as its own. Other clones accept a purge of these.
    pub(crate) fn sent_as_own(&self, chain: &Chain) -> Result<BTreeSet<u64>> {
        let Some(known) = self.known_to_sync() else { return Ok(BTreeSet::new()) };
        let names: Vec<SegmentName> =
            segments(&known.own).into_iter().filter(|name| has(chain, name)).collect();
        let objects = names.iter().filter_map(|name| Some(known.own.get(&name.path())?.object.clone()));
        let contents = known.sidecar.contents(&objects.collect::<Vec<_>>())?;
        let is_own = |content: &[u8]| author_of(content).is_some_and(|author| known.names.contains(&author));
        let own = names.iter().zip(&contents).filter(|(_, content)| is_own(content));
        Ok(own.flat_map(|(name, _)| name.first..=name.last).collect())
    }

    /// Returns the other histories of this session that are in this store.
    pub(crate) fn other_histories(&self, id: &SessionId) -> Result<Vec<SessionId>> {
        const MOST: usize = 100;
        let main = super::fork_of(id).unwrap_or_else(|| id.clone());
        let mut found = self.store.with_prefix(main.as_str(), MOST)?;
        found
            .retain(|other| other != id && (*other == main || super::fork_of(other).as_ref() == Some(&main)));
        Ok(found)
    }

    /// Returns the histories in the sidecar; `None` if nothing is shared, or if they cannot be read.
    fn known_to_sync(&self) -> Option<Known> {
        let folder = self.sharing_folder().ok().filter(|folder| Sidecar::exists(folder))?;
        let settings = Settings::read(&folder).ok()??;
        let sidecar =
            Sidecar::open(&folder, &self.project.root, &settings.remote, settings.branches, None).ok()?;
        let refs = sidecar.refs().ok()?;
        let own = refs.own.map_or_else(|| Some(Entries::new()), |own| sidecar.entries(&own).ok())?;
        let mut names = settings.former;
        names.insert(settings.replica);
        let others = refs.fetched.iter().filter(|(replica, _)| !names.contains(*replica));
        let others = others.filter_map(|(_, (commit, _))| sidecar.entries(commit).ok()).collect();
        Some(Known { sidecar, names, own, others })
    }
}

impl Known {
    /// Returns the streams of the session with this id. There are several if histories begin with different events.
    fn streams_of(&self, names: &[SegmentName], id: &SessionId) -> Result<BTreeSet<String>> {
        let first = names.iter().filter(|name| name.first == 1);
        let first: Vec<(&SegmentName, String)> =
            first.filter_map(|name| Some((name, self.own.get(&name.path())?.object.clone()))).collect();
        let contents =
            self.sidecar.contents(&first.iter().map(|(_, object)| object.clone()).collect::<Vec<_>>())?;
        let is_its = |content: &[u8]| session_of(content).is_some_and(|found| found == *id);
        let its = first.iter().zip(&contents).filter(|(_, content)| is_its(content));
        Ok(its.map(|((name, _), _)| name.stream.clone()).collect())
    }
}

fn stream_of(chain: &Chain) -> Option<String> {
    chain.seals.get(&1).map(|seal| hex(&seal.link))
}

fn has(chain: &Chain, name: &SegmentName) -> bool {
    let is_stream = stream_of(chain).is_some_and(|stream| stream == name.stream);
    is_stream && chain.seals.get(&name.last).is_some_and(|seal| hex(&seal.link).starts_with(&name.head))
}

fn segments(entries: &Entries) -> Vec<SegmentName> {
    entries.keys().filter_map(|path| SegmentName::parse(path)).collect()
}
