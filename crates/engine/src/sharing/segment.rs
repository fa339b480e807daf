//! A segment: consecutive events of one session as JSON lines, in a file that never changes. Pure.

use crate::execute::EventLine;
use crate::{from_hex, hex};
use model::id::SessionId;
use serde::{Deserialize, Serialize};
use store::EventRow;
use store::chain::{Given, Hash};

/// The version of the format. Increase it if current programs can no longer read new segments.
const VERSION: u32 = 1;
/// The maximum size of a segment, unless one event alone is larger.
pub(super) const LARGEST: usize = 1 << 20;
/// The highest version that an event may have. No session has so many events, and calculations with higher numbers
/// could overflow.
const HIGHEST: u64 = 1 << 40;

/// The name of a segment. It says where the segment is among the files of a replica.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentName {
    /// The first link of the session's hash chain, in hexadecimal.
    pub(super) stream: String,
    pub(super) first: u64,
    pub(super) last: u64,
    /// The beginning of the last event's link, in hexadecimal.
    pub(super) head: String,
}

impl SegmentName {
    pub(super) fn new(stream: &Hash, first: u64, last: u64, head: &Hash) -> Self {
        Self { stream: hex(stream), first, last, head: hex(head)[..8].to_owned() }
    }

    pub(super) fn path(&self) -> String {
        let Self { stream, first, last, head } = self;
        format!("s/{}/{stream}/{first}-{last}-{head}.jsonl", &stream[..2])
    }

    pub(super) fn parse(path: &str) -> Option<Self> {
        let mut parts = path.split('/');
        let (folder, short, stream, file) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let mut numbers = file.strip_suffix(".jsonl")?.split('-');
        let (first, last, head) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let name = Self {
            stream: stream.to_owned(),
            first: first.parse().ok()?,
            last: last.parse().ok()?,
            head: head.to_owned(),
        };
        let is_hash = from_hex::<32>(stream).is_some() && from_hex::<4>(head).is_some();
        let is_range = name.first >= 1 && name.first <= name.last && name.last <= HIGHEST;
        let is_all = parts.next().is_none() && numbers.next().is_none() && folder == "s";
        (is_hash && is_range && is_all && stream.starts_with(short) && name.path() == path).then_some(name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    leftoff_segment: u32,
    session: SessionId,
    /// The replica that wrote the segment's events.
    author: String,
    /// The link of the event before the segment's first one; `None` at the start of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

/// Returns the session that the header of a segment names.
pub(super) fn session_of(bytes: &[u8]) -> Option<SessionId> {
    header_of(bytes).map(|header| header.session)
}

/// Returns the replica that the header of a segment names as the author.
pub(super) fn author_of(bytes: &[u8]) -> Option<String> {
    header_of(bytes).map(|header| header.author)
}

fn header_of(bytes: &[u8]) -> Option<Header> {
    serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next()?).ok()
}

/// A segment's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) session: SessionId,
    pub(super) author: String,
    pub(super) before: Option<Hash>,
    pub(super) events: Vec<(EventRow, Given)>,
}

impl Segment {
    pub(super) fn write(&self) -> Vec<u8> {
        let header = Header {
            leftoff_segment: VERSION,
            session: self.session.clone(),
            author: self.author.clone(),
            before: self.before.as_ref().map(|link| hex(link)),
        };
        let mut out = serde_json::to_vec(&header).unwrap_or_default();
        out.push(b'\n');
        for (row, given) in &self.events {
            out.extend(line(row, given));
        }
        out
    }

    /// Reads a segment and checks its format. Links are computed later, when the events are added to a tree.
    pub(super) fn read(name: &SegmentName, bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
        let mut lines = text.lines();
        let header: Header = lines
            .next()
            .and_then(|line| serde_json::from_str(line).ok())
            .ok_or_else(|| "its first line is not a segment header".to_owned())?;
        if header.leftoff_segment != VERSION {
            return Err(format!(
                "its version is {}; this program supports {VERSION}",
                header.leftoff_segment
            ));
        }
        if !is_replica(&header.author) {
            return Err("its author is not a replica's id".to_owned());
        }
        let before = match header.before.as_deref().map(from_hex) {
            None => None,
            Some(Some(link)) => Some(link),
            Some(None) => return Err("its link to the previous event is not a hash".to_owned()),
        };
        let mut events = Vec::new();
        for (line, version) in lines.zip(name.first..) {
            let event: EventLine =
                serde_json::from_str(line).map_err(|error| format!("event {version}: {error}"))?;
            let given = event.seal().ok_or_else(|| format!("event {version} has no salt and no hash"))?;
            let row = EventRow::from(event);
            if row.version != version {
                return Err(format!("event {version} is missing"));
            }
            events.push((row, given));
        }
        if events.last().map(|(row, _)| row.version) != Some(name.last) {
            return Err("its events do not match its name".to_owned());
        }
        if before.is_some() == (name.first == 1) {
            return Err("its first event does not follow the previous one".to_owned());
        }
        Ok(Self { session: header.session, author: header.author, before, events })
    }
}

/// Returns the line of an event in a segment.
pub(super) fn line(row: &EventRow, given: &Given) -> Vec<u8> {
    let mut out = serde_json::to_vec(&EventLine::sealed(row, Some(given))).unwrap_or_default();
    out.push(b'\n');
    out
}

/// True if the text is a replica's id: sixteen hexadecimal digits.
pub(super) fn is_replica(text: &str) -> bool {
    from_hex::<8>(text).is_some()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;
    use jiff::Timestamp;

    fn segment() -> (SegmentName, Segment) {
        let event = |version: u64| {
            let row = EventRow {
                version,
                at: Timestamp::from_second(1_767_225_600).unwrap(),
                actor: r#"{"person":"ada"}"#.to_owned(),
                kind: "note_added".to_owned(),
                body: format!(r#"{{"type":"note_added","text":"{version}\n"}}"#),
                command: None,
            };
            (row, if version == 4 { Given::Hash([4; 32]) } else { Given::Salt([3; 16]) })
        };
        let segment = Segment {
            session: SessionId::parse("k3v9x2mp").unwrap(),
            author: "00112233aabbccdd".to_owned(),
            before: Some([9; 32]),
            events: vec![event(3), event(4)],
        };
        (SegmentName::new(&[1; 32], 3, 4, &[2; 32]), segment)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (name, segment) = segment();
        assert_eq!(SegmentName::parse(&name.path()), Some(name.clone()));
        assert_eq!(Segment::read(&name, &segment.write()), Ok(segment));
    }

    #[test]
    fn names_that_are_not_ours_are_refused() {
        let (name, _) = segment();
        let path = name.path();
        for bad in [
            path.replace("s/01", "s/02"),
            path.replace("3-4", "4-3"),
            path.replace("3-4", "03-4"),
            path.replace("3-4", "18446744073709551615-18446744073709551615"),
            path.replace(".jsonl", ".json"),
            format!("{path}/x"),
            path.replace("s/", "../s/"),
            path.replace("3-4-", "3-4-zz"),
            path.to_uppercase(),
        ] {
            assert_eq!(SegmentName::parse(&bad), None, "{bad}");
        }
    }

    #[test]
    fn a_segment_that_is_not_what_its_name_says_is_refused() {
        let (name, segment) = segment();
        let longer = SegmentName { last: 5, ..name.clone() };
        assert!(Segment::read(&longer, &segment.write()).is_err());
        let first = SegmentName { first: 1, last: 2, ..name.clone() };
        assert!(Segment::read(&first, &segment.write()).is_err());
        let cut = segment.write();
        assert!(Segment::read(&name, &cut[..cut.len() - 20]).is_err());
        let stranger = Segment { author: "../x".to_owned(), ..segment };
        assert!(Segment::read(&name, &stranger.write()).is_err());
        assert!(Segment::read(&name, b"\xff\xfe").is_err());
    }
}
