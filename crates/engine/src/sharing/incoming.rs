//! Reads the data of other replicas from the remote, and verifies everything that can be verified. Changes nothing.

use super::histories::{Author, Node, Tree, nodes};
use super::segment::{Segment, SegmentName};
use super::sidecar::{Entries, Entry, Sidecar};
use crate::error::Result;
use crate::{from_hex, hex};
use model::event::Event;
use model::id::SessionId;
use std::collections::{BTreeMap, BTreeSet};
use store::EventRow;
use store::chain::{Given, Hash};

/// The maximum size of a segment that is accepted. A segment with a single large event may be larger than usual, but
/// not without limit.
const LARGEST_SEGMENT: u64 = 8 << 20;

/// The maximum number of sessions to read together: enough to be fast, and few enough for the memory.
const STREAMS_AT_ONCE: usize = 500;
/// The maximum number of bytes to read together, unless a single session has more.
const BYTES_AT_ONCE: u64 = 64 << 20;
/// The maximum size of a session in a replica. Reading a session needs several times as much memory.
const LARGEST_SESSION: u64 = 512 << 20;

/// The lists of files of all replicas, including this one.
pub(super) struct Replicas {
    pub(super) trees: BTreeMap<String, Entries>,
}

/// Everything that the replicas have about one session.
pub(super) struct Stream {
    /// The first link of the session's hash chain. It identifies the stream.
    pub(super) first: Hash,
    pub(super) session: SessionId,
    pub(super) tree: Tree,
    /// The replacements of purged events, by link.
    pub(super) purged: BTreeMap<Hash, EventRow>,
}

/// Returns the streams to which these paths belong.
pub(super) fn streams_in<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    paths.filter_map(|path| SegmentName::parse(path)).map(|name| name.stream).collect()
}

impl Replicas {
    /// Returns a file with this path, if any replica has one.
    pub(super) fn find(&self, path: &str) -> Option<&Entry> {
        self.trees.values().find_map(|entries| entries.get(path)).filter(|entry| entry.is_file)
    }

    /// Returns the segments of these streams in all replicas, each with its replica and its name.
    fn segments<'a>(&'a self, wanted: &BTreeSet<String>) -> Vec<(&'a str, SegmentName, &'a Entry)> {
        let mut found = Vec::new();
        for (replica, entries) in &self.trees {
            for stream in wanted {
                let folder = format!("s/{}/{stream}/", &stream[..2]);
                let below = entries.range(folder.clone()..).take_while(|(path, _)| path.starts_with(&folder));
                for (path, entry) in below {
                    if let Some(name) = SegmentName::parse(path) {
                        found.push((replica.as_str(), name, entry));
                    }
                }
            }
        }
        found
    }

    /// Divides the streams into groups that fit into memory.
    pub(super) fn in_parts(&self, streams: BTreeSet<String>) -> Vec<BTreeSet<String>> {
        in_parts(streams, |stream| self.bytes_of(stream))
    }

    /// Returns the number of bytes that all replicas together have of this stream.
    fn bytes_of(&self, stream: &str) -> u64 {
        let wanted = BTreeSet::from([stream.to_owned()]);
        self.segments(&wanted).iter().map(|(_, _, entry)| entry.bytes).fold(0, u64::saturating_add)
    }

    /// Reads these streams from all replicas. Invalid segments are skipped, and the reasons are added to `refused`.
    pub(super) fn read(
        &self,
        sidecar: &Sidecar,
        wanted: &BTreeSet<String>,
        refused: &mut Vec<String>,
    ) -> Result<Vec<Stream>> {
        let mut segments = self.segments(wanted);
        segments.retain(|(replica, name, entry)| match unreadable(entry) {
            None => true,
            Some(why) => {
                refused.push(complaint(replica, name, why));
                false
            }
        });
        leave_out_endless(&mut segments, refused);
        let objects: Vec<String> = segments
            .iter()
            .map(|(_, _, entry)| entry.object.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let contents = sidecar.contents(&objects)?;
        let contents: BTreeMap<&str, &Vec<u8>> = objects.iter().map(String::as_str).zip(&contents).collect();
        let mut read = Vec::new();
        for (replica, name, entry) in &segments {
            let bytes = contents.get(entry.object.as_str()).map(|bytes| bytes.as_slice()).unwrap_or_default();
            match ReadSegment::of(replica, name, bytes) {
                Ok(segment) => read.push((*replica, name, segment)),
                Err(why) => refused.push(complaint(replica, name, &why)),
            }
        }
        // Segments with the first event of a session come first, and among these the ones that were not purged: they
        // prove to which session a stream belongs.
        read.sort_by_key(|(_, name, segment)| (name.first != 1, segment.is_first_purged()));
        let mut streams: BTreeMap<String, Stream> = BTreeMap::new();
        for (replica, name, segment) in read {
            if let Err(why) = segment.add(&mut streams, name) {
                refused.push(complaint(replica, name, &why));
            }
        }
        Ok(streams.into_values().collect())
    }
}

fn unreadable(entry: &Entry) -> Option<&'static str> {
    match (entry.is_file, entry.bytes > LARGEST_SEGMENT) {
        (true, false) => None,
        (false, _) => Some("it is not a plain file"),
        (true, true) => Some("it is too large"),
    }
}

/// Divides the streams into groups that fit into memory.
fn in_parts(streams: BTreeSet<String>, bytes_of: impl Fn(&str) -> u64) -> Vec<BTreeSet<String>> {
    let mut parts: Vec<(u64, BTreeSet<String>)> = Vec::new();
    for stream in streams {
        let bytes = bytes_of(&stream);
        let has_room = |(used, part): &&mut (u64, BTreeSet<String>)| {
            part.len() < STREAMS_AT_ONCE && used.saturating_add(bytes) <= BYTES_AT_ONCE
        };
        match parts.last_mut().filter(has_room) {
            Some((used, part)) => {
                *used += bytes;
                part.insert(stream);
            }
            None => parts.push((bytes, BTreeSet::from([stream]))),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Leaves out sessions of which one replica has too many bytes.
fn leave_out_endless(segments: &mut Vec<(&str, SegmentName, &Entry)>, refused: &mut Vec<String>) {
    let mut bytes: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for (replica, name, entry) in segments.iter() {
        *bytes.entry((replica, name.stream.clone())).or_default() += entry.bytes;
    }
    bytes.retain(|_, bytes| *bytes > LARGEST_SESSION);
    refused.extend(bytes.keys().map(|(replica, stream)| {
        let folder = format!("s/{}/{stream}", &stream[..2]);
        let short = replica.get(..8).unwrap_or(replica);
        format!("{folder} of replica {short} was refused: it is too large")
    }));
    segments.retain(|(replica, name, _)| !bytes.contains_key(&(*replica, name.stream.clone())));
}

pub(super) fn complaint(replica: &str, name: &SegmentName, why: &str) -> String {
    let short = replica.get(..8).unwrap_or(replica);
    format!("{} of replica {short} was refused: {why}", name.path())
}

/// A segment that was read, and whose events match its name.
struct ReadSegment {
    session: SessionId,
    nodes: Vec<Node>,
}

impl ReadSegment {
    fn of(replica: &str, name: &SegmentName, bytes: &[u8]) -> std::result::Result<Self, String> {
        let segment = Segment::read(name, bytes)?;
        let is_certain = segment.author == replica;
        let author = Author { replica: segment.author.clone(), is_certain };
        let nodes: Vec<Node> = nodes(segment.before, &segment.events, &author).collect();
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return Err("it is empty".to_owned());
        };
        if !hex(&last.link).starts_with(&name.head) {
            return Err("its events do not match its name".to_owned());
        }
        if name.first == 1 && hex(&first.link) != name.stream {
            return Err("it is not the start of the session that its folder names".to_owned());
        }
        let started = match Event::read(&first.row.kind, &first.row.body) {
            Event::SessionStarted { id, .. } => Some(id),
            _ => None,
        };
        if name.first == 1 && started.as_ref() != Some(&segment.session) {
            return Err("its first event does not start the session that it names".to_owned());
        }
        Ok(Self { session: segment.session, nodes })
    }

    fn is_first_purged(&self) -> bool {
        self.nodes.first().is_some_and(|node| matches!(node.given, Given::Hash(_)))
    }

    fn add(
        self,
        streams: &mut BTreeMap<String, Stream>,
        name: &SegmentName,
    ) -> std::result::Result<(), String> {
        let Some(first) = from_hex(&name.stream) else { return Err("its folder is not a hash".to_owned()) };
        let known = streams.entry(name.stream.clone()).or_insert_with(|| Stream {
            first,
            session: self.session.clone(),
            tree: Tree::default(),
            purged: BTreeMap::new(),
        });
        if known.session != self.session {
            return Err(format!("it names session {}, but starts session {}", self.session, known.session));
        }
        for node in self.nodes {
            if matches!(node.given, Given::Hash(_)) {
                known.purged.insert(node.link, node.row.clone());
            }
            known.tree.add(node);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sizes: &[(&str, u64)]) -> Vec<Vec<String>> {
        let streams = sizes.iter().map(|(name, _)| (*name).to_owned()).collect();
        let size = |asked: &str| sizes.iter().find(|(name, _)| *name == asked).map_or(0, |(_, size)| *size);
        in_parts(streams, size).into_iter().map(|part| part.into_iter().collect()).collect()
    }

    #[test]
    fn sessions_are_read_in_parts_that_fit_into_memory() {
        const HALF: u64 = BYTES_AT_ONCE / 2;
        assert_eq!(parts(&[("a", HALF), ("b", HALF), ("c", 1)]), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(parts(&[("a", 1), ("b", u64::MAX), ("c", u64::MAX)]), [["a"], ["b"], ["c"]]);
        assert_eq!(parts(&[]), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_replica_with_too_much_of_one_session_is_left_out_of_that_one() {
        let entry = |bytes| Entry { object: "0".repeat(40), bytes, is_file: true };
        let (large, small) = (entry(LARGEST_SESSION / 2 + 1), entry(1));
        let name = |stream: u8, first| SegmentName::new(&[stream; 32], first, first, &[9; 32]);
        let mut segments = vec![
            ("aaaaaaaaaaaaaaaa", name(1, 1), &large),
            ("aaaaaaaaaaaaaaaa", name(1, 2), &large),
            ("aaaaaaaaaaaaaaaa", name(2, 1), &large),
            ("bbbbbbbbbbbbbbbb", name(1, 1), &small),
        ];
        let mut refused = Vec::new();
        leave_out_endless(&mut segments, &mut refused);
        let kept: Vec<(&str, u64)> =
            segments.iter().map(|(replica, _, entry)| (*replica, entry.bytes)).collect();
        assert_eq!(kept, [("aaaaaaaaaaaaaaaa", large.bytes), ("bbbbbbbbbbbbbbbb", 1)]);
        assert_eq!(
            refused,
            [format!("s/01/{} of replica aaaaaaaa was refused: it is too large", "01".repeat(32))]
        );
    }
}
