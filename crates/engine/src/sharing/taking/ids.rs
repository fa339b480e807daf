//! Chooses ids for forks, and for sessions from other machines.

use super::Copy;
use crate::engine::Engine;
use crate::error::Result;
use crate::hex;
use crate::sharing::incoming::Stream;
use model::id::SessionId;
use store::Store;
use store::chain::Hash;

/// The part of an id by which a fork is recognised.
const FORK: &str = ".fork-";

/// True if this is the id of a fork.
pub(crate) fn is_fork(id: &SessionId) -> bool {
    fork_of(id).is_some()
}

/// Returns the session to which a fork belongs; `None` if the id is not that of a fork.
pub(crate) fn fork_of(id: &SessionId) -> Option<SessionId> {
    let (of, replica) = id.as_str().rsplit_once(FORK)?;
    let is_replica = replica.len() >= 8 && replica.bytes().take(8).all(|byte| byte.is_ascii_hexdigit());
    SessionId::parse(of).ok().filter(|_| is_replica)
}

impl Engine {
    /// Returns the id for a session in this store: its own id, unless another session here already has that id.
    pub(super) fn id_for(&self, stream: &Stream) -> Result<SessionId> {
        let asked = stream.session.as_str();
        let taken = self.store.with_prefix(asked, 1_000)?;
        if !taken.iter().any(|id| id.as_str().eq_ignore_ascii_case(asked)) {
            return Ok(stream.session.clone());
        }
        let short: String = asked.chars().take(100).collect();
        let named = format!("{}.{}", short.trim_end_matches('.'), &hex(&stream.first)[..8]);
        Ok(SessionId::parse(&named).unwrap_or_else(|_| stream.session.clone()))
    }

    /// Returns the id that a fork already has in this store. A new fork gets an id that contains the beginning of its
    /// replica's id.
    pub(super) fn fork_id(
        &self,
        stream: &Stream,
        leaf: &Hash,
        counts: &Hash,
        name: &SessionId,
        copies: &[Copy],
        wanted: &[(SessionId, Hash)],
    ) -> Result<SessionId> {
        let is_free = |id: &SessionId| wanted.iter().all(|(taken, _)| taken != id);
        let known = copies.iter().find(|copy| {
            let id = &copy.loaded.row.id;
            let is_its_beginning = stream.tree.is_on_the_way(&copy.head, leaf);
            let is_also_the_others = stream.tree.is_on_the_way(&copy.head, counts);
            is_fork(id) && is_free(id) && is_its_beginning && !is_also_the_others
        });
        if let Some(known) = known {
            return Ok(known.loaded.row.id.clone());
        }
        let way = stream.tree.way(leaf);
        let own_part = way.iter().find(|node| !stream.tree.is_on_the_way(&node.link, counts));
        let author = own_part.map_or("00000000", |node| node.author.replica.as_str());
        let short: String = name.as_str().chars().take(90).collect();
        let plain = format!("{}{FORK}{}", short.trim_end_matches('.'), author.get(..8).unwrap_or(author));
        let numbered = (2..).map(|number: u32| format!("{plain}-{number}"));
        for text in std::iter::once(plain.clone()).chain(numbered) {
            let Ok(id) = SessionId::parse(&text) else { break };
            if is_free(&id) && self.store.load(&id)?.is_none() {
                return Ok(id);
            }
        }
        Ok(name.clone())
    }
}
