//! Removes content from this clone that was purged elsewhere.

use super::Copy;
use crate::engine::Engine;
use crate::error::Result;
use crate::sharing::Shared;
use crate::sharing::histories::Allowed;
use crate::sharing::incoming::Stream;
use std::collections::BTreeSet;
use store::chain::Given;
use store::{Arrived, Filter, Store, TakenHistory};

impl Engine {
    /// Erases purged text from the sidecar and from the files of the store. Returns messages about files that may still
    /// contain it.
    pub(in crate::sharing) fn erase_purged(&mut self, shared: &Shared, is_last: bool) -> Vec<String> {
        let pruned = shared.sidecar.prune();
        let mut said = self.finish_erasing(is_last && pruned.is_ok());
        let stays = pruned.err();
        said.extend(
            stays.map(|error| format!("sync.git may still contain purged text: {error}; sync again")),
        );
        said
    }

    /// Adds the stored contents that purges of this session remove. They are not taken again from other replicas.
    pub(super) fn purge_contents(
        &self,
        shared: &mut Shared,
        stream: &Stream,
        allowed: &Allowed,
        arrived: &mut Arrived,
    ) -> Result<()> {
        for hash in stream.tree.purged_contents(allowed) {
            let is_here = self.store.content(&hash)?.is_some();
            if is_here && !self.is_recorded_in_another(stream, &hash)? {
                arrived.purged_contents.push(hash.clone());
                arrived.purged.push(stream.session.clone());
            }
            shared.purged_contents.insert(hash);
        }
        Ok(())
    }

    /// True if another session recorded the same content. Reads all histories, because purges are rare.
    fn is_recorded_in_another(&self, stream: &Stream, hash: &str) -> Result<bool> {
        for listed in self.store.list(&Filter::default())? {
            let id = listed.row.id;
            let is_it = self.store.chain(&id)?.seals.get(&1).is_some_and(|seal| seal.link == stream.first);
            if !is_it && self.store.events(&id, 0, None)?.iter().any(|row| row.body.contains(hash)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// True if a received history removes content from events of the stored one.
pub(super) fn loses_content(copy: &Copy, taken: &TakenHistory) -> bool {
    let purged: BTreeSet<u64> = taken
        .seals
        .iter()
        .filter(|(_, given)| matches!(given, Given::Hash(_)))
        .map(|(version, _)| *version)
        .collect();
    copy.nodes.iter().any(|node| matches!(node.given, Given::Salt(_)) && purged.contains(&node.row.version))
}
