//! Removes content from this clone that was purged elsewhere.

use super::Copy;
use crate::engine::Engine;
use crate::error::Result;
use crate::sharing::Shared;
use std::collections::BTreeSet;
use store::chain::Given;
use store::{Store, TakenHistory};

impl Engine {
    /// Erases content that was purged elsewhere from the store's files, its backups and the sidecar. Returns messages
    /// about places where it stays.
    pub(in crate::sharing) fn erase_purged(&mut self, shared: &Shared) -> Result<Vec<String>> {
        shared.sidecar.prune()?;
        let is_erased = self.store.erase(self.patience.left())?;
        let stays = (!is_erased).then(|| {
            "text was purged elsewhere, but another process is reading this store, so the store's files may still \
             contain the text"
                .to_owned()
        });
        Ok(stays.into_iter().chain(self.renew_backups_or_say()).collect())
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
