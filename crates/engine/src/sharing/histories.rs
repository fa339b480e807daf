//! The history of one session from all replicas, as a tree of events. Usually its longest path wins. Pure.

use crate::from_hex;
use model::event::{Event, SignedAct};
use std::collections::{BTreeMap, BTreeSet};
use store::chain::{Broken, Chain, Given, Hash, Seal, check, content_hash, next_link};
use store::{EventRow, chain};

/// An event, and its place in the hash chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) row: EventRow,
    pub(super) given: Given,
    pub(super) link: Hash,
    /// The link of the previous event; `None` for a session's first event.
    pub(super) before: Option<Hash>,
    pub(super) author: Author,
}

/// The replica that wrote an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Author {
    pub(super) replica: String,
    /// True if the event is in its author's own ref, or was written in this store. False if only another replica names
    /// the author.
    pub(super) is_certain: bool,
}

/// The events of one session, by link.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<Hash, Node>,
    /// The events that several replicas claim to have written. None of these claims counts.
    contested: BTreeSet<Hash>,
}

/// A purge that was refused: its replica did not write the purged event, and no allowed key signed the purge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PurgeRefused {
    pub(super) replica: String,
    /// The version of the event whose content would have been removed.
    pub(super) version: u64,
}

/// Returns the nodes of events that follow a link.
pub(super) fn nodes(
    before: Option<Hash>,
    events: &[(EventRow, Given)],
    author: &Author,
) -> impl Iterator<Item = Node> {
    let mut before = before;
    events.iter().map(move |(row, given)| {
        let hash = match given {
            Given::Salt(salt) => content_hash(Some(salt), row),
            Given::Hash(hash) => *hash,
        };
        let link = next_link(before, &hash);
        let node = Node { row: row.clone(), given: *given, link, before, author: author.clone() };
        before = Some(link);
        node
    })
}

/// The reasons that allow a purge, besides that its replica wrote the purged events.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// The purges that an allowed key signed.
    pub(super) signed: BTreeSet<Hash>,
    /// The ids that this replica has and had, and the id of the clone from which it was copied. Here, they count as
    /// the same author.
    pub(super) relatives: BTreeSet<String>,
}

impl Allowed {
    fn is_same(&self, one: &Author, other: &Author) -> bool {
        let is_relative = |author: &Author| author.is_certain && self.relatives.contains(&author.replica);
        one == other || is_relative(one) && is_relative(other)
    }
}

/// A purge of one event.
struct Purge {
    link: Hash,
    hash: Hash,
    is_allowed: bool,
    /// The replica that recorded the purge.
    by: String,
}

impl Tree {
    /// Adds a node. If the event is already known, a certain author replaces an uncertain one, and content replaces
    /// purged content.
    pub(super) fn add(&mut self, node: Node) {
        let Some(known) = self.nodes.get_mut(&node.link) else {
            self.nodes.insert(node.link, node);
            return;
        };
        match (node.author.is_certain, known.author.is_certain) {
            (true, true) if node.author != known.author => {
                known.author.is_certain = false;
                self.contested.insert(node.link);
            }
            (true, false) if !self.contested.contains(&node.link) => known.author = node.author,
            _ => {}
        }
        if let (Given::Hash(_), Given::Salt(_)) = (known.given, node.given) {
            known.row = node.row;
            known.given = node.given;
        }
    }

    /// Adds an event of this store. Content that was purged here stays purged. The author of an event that was written
    /// here is certain.
    pub(super) fn add_own(&mut self, node: Node) {
        let purged = matches!(node.given, Given::Hash(_)).then(|| (node.row.clone(), node.given));
        let (link, author) = (node.link, node.author.clone());
        self.add(node);
        let Some(known) = self.nodes.get_mut(&link) else { return };
        if author.is_certain {
            known.author = author;
            self.contested.remove(&link);
        }
        if let Some((row, given)) = purged {
            known.row = row;
            known.given = given;
        }
    }

    #[cfg(test)]
    fn get(&self, link: &Hash) -> Option<&Node> {
        self.nodes.get(link)
    }

    /// Replaces the content of events that their own author purged, or that a signed purge names. `copies` has the
    /// replacements. Returns the purges that were refused.
    pub(super) fn purge(
        &mut self,
        copies: &BTreeMap<Hash, EventRow>,
        allowed: &Allowed,
    ) -> BTreeSet<PurgeRefused> {
        let mut refused = BTreeSet::new();
        for leaf in self.leaves() {
            for Purge { link, hash, is_allowed, by } in self.purged_on(&leaf, allowed) {
                let Some(node) = self.nodes.get_mut(&link) else { continue };
                let Given::Salt(salt) = node.given else { continue };
                if !is_allowed {
                    refused.insert(PurgeRefused { replica: by, version: node.row.version });
                    continue;
                }
                let Some(row) = copies.get(&link).filter(|row| content_hash(None, row) == hash) else {
                    continue;
                };
                node.given = Given::Hash(content_hash(Some(&salt), &node.row));
                node.row = row.clone();
            }
        }
        refused
    }

    /// Returns the events on the path to a leaf that purges replace, with the hashes of the replacements.
    fn purged_on(&self, leaf: &Hash, allowed: &Allowed) -> Vec<Purge> {
        let way = self.way(leaf);
        let mut purged = Vec::new();
        for purge in &way {
            for (version, hash) in rewritten_by(&purge.row) {
                let Some(node) = way.iter().find(|node| node.row.version == version) else { continue };
                let is_own = purge.author.is_certain && allowed.is_same(&node.author, &purge.author);
                purged.push(Purge {
                    link: node.link,
                    hash,
                    is_allowed: is_own || allowed.signed.contains(&purge.link),
                    by: purge.author.replica.clone(),
                });
            }
        }
        purged
    }

    /// Returns the contents that purges of this session remove: all contents if this replica made the purge or an
    /// allowed key signed it, otherwise those that only the purging replica recorded.
    pub(super) fn purged_contents(&self, allowed: &Allowed) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for purge in self.nodes.values().filter(|node| node.row.kind == "purged") {
            let Event::Purged { contents, .. } = Event::read(&purge.row.kind, &purge.row.body) else {
                continue;
            };
            let (by, is_certain) = (&purge.author, purge.author.is_certain);
            let is_by = |node: &Node, content: &String| {
                !node.row.body.contains(content) || allowed.is_same(&node.author, by)
            };
            let is_of_purger =
                |content: &String| is_certain && self.nodes.values().all(|node| is_by(node, content));
            let is_allowed =
                is_certain && allowed.relatives.contains(&by.replica) || allowed.signed.contains(&purge.link);
            found.extend(contents.into_iter().filter(|content| is_allowed || is_of_purger(content)));
        }
        found
    }

    /// Returns the purges that directly follow their signature, with the signature.
    pub(super) fn signed_purges(&self) -> Vec<(Hash, SignedAct, String)> {
        let signature = |node: &Node| {
            let Event::Purged { rewritten, contents, .. } = Event::read(&node.row.kind, &node.row.body)
            else {
                return None;
            };
            let before = self.nodes.get(&node.before?)?;
            let Event::Signed { act, signature } = Event::read(&before.row.kind, &before.row.body) else {
                return None;
            };
            let seen = before.before.map(|link| crate::hex(&link));
            let is_of_it = Some(&act.head) == seen.as_ref()
                && act.evidence.as_deref()
                    == Some(crate::execute::purge_evidence(&rewritten, &contents).as_str());
            is_of_it.then_some((node.link, act, signature))
        };
        self.nodes.values().filter(|node| node.row.kind == "purged").filter_map(signature).collect()
    }

    /// Returns the links of the events that no event follows, in order.
    pub(super) fn leaves(&self) -> Vec<Hash> {
        let followed: BTreeSet<Hash> = self.nodes.values().filter_map(|node| node.before).collect();
        self.nodes.keys().filter(|link| !followed.contains(*link)).copied().collect()
    }

    /// Returns the path of events up to this link, oldest first; empty if an event is missing.
    pub(super) fn way(&self, head: &Hash) -> Vec<&Node> {
        let mut way = Vec::new();
        let mut next = Some(*head);
        while let Some(link) = next {
            let Some(node) = self.nodes.get(&link) else { return Vec::new() };
            way.push(node);
            next = node.before;
        }
        way.reverse();
        way
    }

    pub(super) fn is_on_the_way(&self, link: &Hash, head: &Hash) -> bool {
        self.way(head).iter().any(|node| node.link == *link)
    }

    /// Removes a leaf and the events before it, down to the last one that another event also follows.
    pub(super) fn cut(&mut self, leaf: &Hash) {
        let mut next = Some(*leaf);
        while let Some(link) = next {
            if self.nodes.values().any(|node| node.before == Some(link)) {
                return;
            }
            next = self.nodes.remove(&link).and_then(|node| node.before);
        }
    }

    /// Returns the reasons why the history that ends with this link is invalid; empty if it is valid.
    pub(super) fn broken(&self, head: &Hash) -> Vec<Broken> {
        let way = self.way(head);
        let events: Vec<EventRow> = way.iter().map(|node| node.row.clone()).collect();
        let rewritten = events.iter().flat_map(rewritten_by).collect();
        check(&chain_of(&way), &events, &rewritten)
    }

    /// Returns the last event of the winning history. Every replica finds the same: histories that are not resolved yet
    /// come first, then the one with the most events, then the one with the smallest link.
    pub(super) fn winner(&self) -> Option<Hash> {
        let leaves = self.leaves();
        let ways: Vec<Vec<&Node>> = leaves.iter().map(|leaf| self.way(leaf)).collect();
        let is_resolved = |place: usize| {
            (0..ways.len()).any(|other| other != place && resolves(&ways[other], &ways[place]))
        };
        let unresolved: Vec<usize> = (0..ways.len()).filter(|place| !is_resolved(*place)).collect();
        let candidates = if unresolved.is_empty() { (0..ways.len()).collect() } else { unresolved };
        let best = candidates.into_iter().min_by_key(|place| {
            let counted = ways[*place].iter().filter(|node| counts(&node.row)).count();
            (std::cmp::Reverse(counted), leaves[*place])
        });
        best.map(|place| leaves[place])
    }

    /// True if the other history resolved this fork, up to exactly this last event.
    pub(super) fn is_resolved_by(&self, fork: &Hash, other: &Hash) -> bool {
        let named = crate::hex(fork);
        self.way(other).iter().any(|node| resolved_head(&node.row).as_deref() == Some(named.as_str()))
    }
}

pub(super) fn chain_of(way: &[&Node]) -> Chain {
    let seals = way.iter().map(|node| {
        let (salt, hash) = match node.given {
            Given::Salt(salt) => (Some(salt), content_hash(Some(&salt), &node.row)),
            Given::Hash(hash) => (None, hash),
        };
        (node.row.version, Seal { salt, hash, link: node.link })
    });
    chain::Chain { head: way.last().map(|node| node.link), since: Some(1), seals: seals.collect() }
}

/// True if the first history resolves the second: the first names an event that only the second has.
fn resolves(one: &[&Node], other: &[&Node]) -> bool {
    let shared: BTreeSet<Hash> = one.iter().map(|node| node.link).collect();
    let own: BTreeSet<String> =
        other.iter().filter(|node| !shared.contains(&node.link)).map(|node| crate::hex(&node.link)).collect();
    one.iter().filter_map(|node| resolved_head(&node.row)).any(|head| own.contains(&head))
}

fn resolved_head(row: &EventRow) -> Option<String> {
    if row.kind != "fork_resolved" {
        return None;
    }
    match Event::read(&row.kind, &row.body) {
        Event::ForkResolved { head } => Some(head),
        _ => None,
    }
}

/// True if an event counts for the length of a history. A lease renewal does not: an agent that waits must not outweigh
/// one that works.
fn counts(row: &EventRow) -> bool {
    row.kind != "item_lease_renewed"
}

/// Returns the versions of the events that a purge replaced, and their new hashes.
pub(super) fn rewritten_by(row: &EventRow) -> Vec<(u64, Hash)> {
    if row.kind != "purged" {
        return Vec::new();
    }
    match Event::read(&row.kind, &row.body) {
        Event::Purged { rewritten, .. } => {
            rewritten.iter().filter_map(|one| Some((one.version, from_hex(&one.hash)?))).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
