//! Writes this replica's sessions into its own history in the sidecar, in segments that never change.

use super::Shared;
use super::held_back::secret_in_session;
use super::histories::Node;
use super::segment::{LARGEST, Segment, SegmentName, line};
use super::sidecar::{Draft, Entries, FileRef, Signature};
use super::taking::is_fork;
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::is_bundle;
use crate::hex;
use crate::signing::git_setting;
use model::event::Event;
use model::id::SessionId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use store::chain::{Given, Hash};
use store::{Arrival, Store};

/// The file in which a replica describes itself.
pub(super) const ABOUT: &str = "replica.json";
/// How many sessions without a hash chain are sealed in a transaction.
const SEALED_AT_ONCE: usize = 1_000;

/// A replica's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) name: String,
}

/// The content of the next commit in this replica's own history.
struct Outgoing<'a> {
    draft: Draft<'a>,
    files: BTreeMap<String, FileRef>,
    /// Files to remove from this replica's own history, or to replace in it, because they contain purged text.
    replaced: BTreeSet<String>,
    sessions: usize,
    /// The sessions that are not sent, with the reasons.
    held: BTreeMap<String, String>,
}

impl Outgoing<'_> {
    fn add(&mut self, path: String, content: &[u8]) -> Result<()> {
        let file = self.draft.add(content)?;
        self.files.insert(path, file);
        Ok(())
    }

    /// Leaves out the new files below a folder, except those that replace a file with purged text.
    fn keep_only_replacements(&mut self, folder: &str) {
        let below = self.files.range(folder.to_owned()..).take_while(|(path, _)| path.starts_with(folder));
        let unneeded: Vec<String> =
            below.map(|(path, _)| path.clone()).filter(|path| !self.replaced.contains(path)).collect();
        for path in unneeded {
            self.files.remove(&path);
        }
    }
}

/// The events of a session in this store, each with the replica that wrote it.
struct Way {
    /// The id that the session has in its log.
    named: SessionId,
    nodes: Vec<Node>,
    events: Vec<Event>,
}

impl Engine {
    /// Commits the changed sessions to this replica's own history. Returns their number.
    pub(super) fn write_out(
        &mut self,
        shared: &mut Shared,
        changed: &BTreeSet<SessionId>,
        own: &Entries,
    ) -> Result<usize> {
        let changed: Vec<SessionId> = changed.iter().cloned().collect();
        for some in changed.chunks(SEALED_AT_ONCE) {
            self.store.seal_histories(some, self.patience.left())?;
        }
        let arrivals = self.arrivals_known(&shared.witnesses)?;
        let mut out = Outgoing {
            draft: shared.sidecar.draft(),
            files: BTreeMap::new(),
            replaced: BTreeSet::new(),
            sessions: 0,
            held: BTreeMap::new(),
        };
        for id in &changed {
            self.add_session(shared, id, arrivals.get(id), own, &mut out)?;
        }
        let (sessions, held) = (out.sessions, std::mem::take(&mut out.held));
        let is_rewritten = !out.replaced.is_empty();
        if is_rewritten {
            self.begin_erasing()?;
        }
        if !out.files.is_empty() || is_rewritten || !own.contains_key(ABOUT) {
            self.commit(shared, own, out)?;
        }
        shared.settings.held = held;
        Ok(sessions)
    }

    fn commit(&self, shared: &Shared, own: &Entries, mut out: Outgoing<'_>) -> Result<()> {
        let about = serde_json::to_vec(&About { name: self.replica_name() }).unwrap_or_default();
        out.add(ABOUT.to_owned(), &about)?;
        let message = match out.sessions {
            1 => "1 session".to_owned(),
            count => format!("{count} sessions"),
        };
        let anew = (!out.replaced.is_empty()).then(|| {
            let kept = own.iter().filter(|(path, _)| !out.replaced.contains(*path));
            kept.map(|(path, entry)| (path.clone(), entry.clone())).collect::<Entries>()
        });
        let parent = shared.refs.own.as_deref();
        out.draft.commit(out.files.iter(), parent, anew.as_ref(), &self.signature(), &message)
    }

    fn add_session(
        &self,
        shared: &Shared,
        id: &SessionId,
        arrival: Option<&Arrival>,
        own: &Entries,
        out: &mut Outgoing<'_>,
    ) -> Result<()> {
        let Some(way) = self.own_way(id, arrival, shared)? else { return Ok(()) };
        let (Some(first), Some(last)) = (way.nodes.first(), way.nodes.last()) else { return Ok(()) };
        let stream = hex(&first.link);
        let folder = format!("s/{}/{stream}/", &stream[..2]);
        let is_published =
            own.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder));
        let is_theirs = arrival.is_some_and(|arrival| arrival.head == last.link && !is_bundle(arrival));
        // If the last event came from another replica, that replica sends the session. Then this replica sends no fork
        // of the session, and does not send the session for the first time.
        if is_theirs && (is_fork(id) || !is_published) {
            return Ok(());
        }
        let texts = self.named_texts(&way, own, out)?;
        if let Some(why) = secret_in_session(&way.nodes, &texts) {
            out.held.insert(id.to_string(), why);
            return Ok(());
        }
        let before = out.files.len() + out.replaced.len();
        Self::add_segments(shared, &way, &folder, own, out)?;
        if is_theirs {
            // Another replica wrote the last event, so that replica sends the session. This one only replaces its own
            // earlier copies that contain purged content.
            out.keep_only_replacements(&folder);
        } else {
            for (path, body) in texts {
                out.add(path, &body)?;
            }
        }
        self.drop_purged_contents(&way, own, out)?;
        out.sessions += usize::from(out.files.len() + out.replaced.len() > before);
        Ok(())
    }

    fn own_way(&self, id: &SessionId, arrival: Option<&Arrival>, shared: &Shared) -> Result<Option<Way>> {
        let nodes = self.kept_nodes(id, arrival, shared)?;
        let events: Vec<Event> =
            nodes.iter().map(|node| Event::read(&node.row.kind, &node.row.body)).collect();
        let Some(Event::SessionStarted { id: named, .. }) = events.first() else { return Ok(None) };
        Ok(Some(Way { named: named.clone(), nodes, events }))
    }

    fn add_segments(
        shared: &Shared,
        Way { named, nodes: way, .. }: &Way,
        folder: &str,
        own: &Entries,
        out: &mut Outgoing<'_>,
    ) -> Result<()> {
        let links: BTreeMap<u64, Hash> = way.iter().map(|node| (node.row.version, node.link)).collect();
        let Some(stream) = way.first().map(|node| node.link) else { return Ok(()) };
        let known = shared.replicas.known_segments(folder, &links);
        let with_purged = known.values().filter(|name| has_purged(part_of(way, name.first, name.last)));
        let with_purged = with_purged.filter_map(|name| {
            let path = name.path();
            let object = own.get(&path).or_else(|| shared.replicas.find(&path))?.object.clone();
            Some((path, object))
        });
        // All are read by one process of git.
        let (paths, objects): (Vec<String>, Vec<String>) = with_purged.unzip();
        let with_purged: BTreeMap<String, Vec<u8>> =
            paths.into_iter().zip(shared.sidecar.contents(&objects)?).collect();
        let mut next = 1;
        while next <= way.len() as u64 {
            let found = known.get(&next).and_then(|name| Some((name, shared.replicas.find(&name.path())?)));
            if let Some((name, entry)) = found {
                let path = name.path();
                let entry = own.get(&path).unwrap_or(entry);
                let part = part_of(way, name.first, name.last);
                match with_purged.get(&path).and_then(|there| purged_copy(named, part, there)) {
                    Some(purged) => {
                        if own.contains_key(&path) {
                            out.replaced.insert(path.clone());
                        }
                        out.add(path, &purged)?;
                    }
                    None if own.contains_key(&path) => {}
                    None => {
                        out.files.insert(path, FileRef::Object(entry.object.clone()));
                    }
                }
                next = name.last + 1;
                continue;
            }
            let part = new_part(way, next);
            let last = part.last().map_or(next, |node| node.row.version);
            let name = SegmentName::new(&stream, next, last, &links[&last]);
            out.add(name.path(), &written(named, part))?;
            next = last + 1;
        }
        Ok(())
    }

    /// Returns the definitions and stored files that these events name and that this replica's history does not have
    /// yet.
    fn named_texts(&self, way: &Way, own: &Entries, out: &Outgoing<'_>) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut texts = BTreeMap::new();
        let is_there = |path: &String| own.contains_key(path) || out.files.contains_key(path);
        for event in &way.events {
            if let Event::RunStarted { workflow, .. } | Event::DefinitionUpdated { workflow, .. } = event {
                let path = format!("def/{}", workflow.hash);
                if !is_there(&path)
                    && !texts.contains_key(&path)
                    && let Some(body) = self.store.definition(&workflow.hash)?
                {
                    texts.insert(path, body.into_bytes());
                }
            }
            for hash in event.contents() {
                let path = format!("blob/{hash}");
                if !is_there(&path)
                    && !texts.contains_key(&path)
                    && let Some(body) = self.store.content(hash)?
                {
                    texts.insert(path, body);
                }
            }
        }
        Ok(texts)
    }

    /// Marks stored files for removal from this replica's history, if the store no longer has them.
    fn drop_purged_contents(&self, way: &Way, own: &Entries, out: &mut Outgoing<'_>) -> Result<()> {
        for event in &way.events {
            for hash in event.contents() {
                let path = format!("blob/{hash}");
                if own.contains_key(&path) && self.store.content(hash)?.is_none() {
                    out.replaced.insert(path);
                }
            }
        }
        Ok(())
    }

    /// Returns the name of this replica, for display.
    pub(super) fn replica_name(&self) -> String {
        if self.caller.user.is_empty() {
            return self.caller.host.clone();
        }
        format!("{}@{}", self.caller.user, self.caller.host)
    }

    fn signature(&self) -> Signature {
        let root = &self.project.root;
        let name = git_setting(root, "user.name").unwrap_or_else(|| self.caller.user.clone());
        let email = git_setting(root, "user.email").unwrap_or_else(|| self.replica_name());
        let name = if name.is_empty() { "leftoff".to_owned() } else { name };
        Signature { name, email, seconds: self.clock.now().as_second() }
    }
}

impl super::incoming::Replicas {
    /// Returns the longest segment of any replica for each first event, of the segments that agree with the session's
    /// links.
    fn known_segments(&self, folder: &str, links: &BTreeMap<u64, Hash>) -> BTreeMap<u64, SegmentName> {
        let mut longest: BTreeMap<u64, SegmentName> = BTreeMap::new();
        for entries in self.trees.values() {
            let below = entries.range(folder.to_owned()..).take_while(|(path, _)| path.starts_with(folder));
            let files = below.filter(|(_, entry)| entry.is_file);
            for name in files.filter_map(|(path, _)| SegmentName::parse(path)) {
                let is_part = links.get(&name.last).is_some_and(|link| hex(link).starts_with(&name.head));
                let is_longer =
                    longest.get(&name.first).is_none_or(|known| (known.last, known) <= (name.last, &name));
                if is_part && is_longer {
                    longest.insert(name.first, name);
                }
            }
        }
        longest
    }
}

/// True if content of these events was purged.
fn has_purged(part: &[Node]) -> bool {
    part.iter().any(|node| matches!(node.given, Given::Hash(_)))
}

/// Returns a copy of a segment without the content that was purged here; `None` if the segment does not have it.
fn purged_copy(session: &SessionId, part: &[Node], there: &[u8]) -> Option<Vec<u8>> {
    // The copy names the author that the existing segment names.
    let header = there.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let header = serde_json::from_slice::<serde_json::Value>(header).ok();
    let author = header.and_then(|header| Some(header.get("author")?.as_str()?.to_owned()));
    let mut part = part.to_vec();
    if let Some(author) = author {
        for node in &mut part {
            node.author.replica.clone_from(&author);
        }
    }
    Some(written(session, &part)).filter(|here| there != here.as_slice())
}

fn part_of(way: &[Node], first: u64, last: u64) -> &[Node] {
    let index = |version: u64| usize::try_from(version).unwrap_or(usize::MAX).min(way.len());
    &way[index(first) - 1..index(last)]
}

/// Returns the events for one new segment: all by one author, and together not larger than the maximum.
fn new_part(way: &[Node], first: u64) -> &[Node] {
    let rest = part_of(way, first, way.len() as u64);
    let Some(author) = rest.first().map(|node| &node.author.replica) else { return rest };
    let mut bytes = 0;
    let fits = |node: &&Node| {
        bytes += line(&node.row, &node.given).len();
        node.author.replica == *author && (bytes <= LARGEST || node.row.version == first)
    };
    &rest[..rest.iter().take_while(fits).count()]
}

fn written(session: &SessionId, part: &[Node]) -> Vec<u8> {
    let segment = Segment {
        session: session.clone(),
        author: part.first().map(|node| node.author.replica.clone()).unwrap_or_default(),
        before: part.first().and_then(|node| node.before),
        events: part.iter().map(|node| (node.row.clone(), node.given)).collect(),
    };
    segment.write()
}
