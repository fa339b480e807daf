//! The format of a bundle, in JSON lines: a header, definitions, events and files. The last line has the hash of
//! everything before it.

use crate::{from_hex, hex};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use model::id::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use store::chain::Given;
use store::{CommandMark, ContentRow, EventRow};

/// The maximum size of a file in a bundle. A larger file is omitted.
pub(super) const LARGEST_FILE: u64 = 16 * 1024 * 1024;
/// The maximum size of the content of an earlier version of a file.
const LARGEST_CONTENT: usize = 1024 * 1024;
/// The maximum length of a line. A line contains one event, or one file in base64.
const LONGEST_LINE: u64 = LARGEST_FILE * 2;
/// The version of the format. Increase it if current programs can no longer read new bundles.
pub(super) const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) leftoff_bundle: u32,
    pub(super) session: SessionId,
    pub(super) title: String,
    pub(super) made_at: Timestamp,
    pub(super) made_by: String,
}

/// One line of a bundle after the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Definition(Definition),
    Event(EventLine),
    File(FileLine),
    Content(ContentLine),
    End { sha256: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Definition {
    pub(super) hash: String,
    pub(super) workflow: Value,
}

/// An event in a bundle. Its body is kept as text, because two logs are equal only if their bytes are equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventLine {
    version: u64,
    at: Timestamp,
    kind: String,
    actor: String,
    body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ordinal: Option<u64>,
    /// The salt of the event for the hash chain, in hexadecimal; `None` if the event was purged and has only a hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileLine {
    path: String,
    sha256: String,
    base64: String,
}

/// The content of an earlier version of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ContentLine {
    sha256: String,
    base64: String,
}

/// A file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedFile {
    pub(crate) path: String,
    pub(crate) content: Vec<u8>,
}

/// A bundle's contents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bundle {
    pub(super) header: Header,
    pub(super) definitions: Vec<Definition>,
    pub(super) events: Vec<EventRow>,
    /// The salts or hashes of events for the hash chain, by version. Empty in bundles of version 0.1.
    pub(super) seals: BTreeMap<u64, Given>,
    pub(super) files: Vec<PackedFile>,
    pub(super) contents: Vec<ContentRow>,
}

/// Why a file is not a usable bundle.
#[derive(Debug)]
pub(super) enum Unreadable {
    Newer(u32),
    Wrong(String),
    Io(io::Error),
}

pub(super) fn write(bundle: &Bundle, to: &mut impl Write) -> io::Result<()> {
    let mut out = Hashed { to, hasher: Sha256::new() };
    out.put(&bundle.header)?;
    for definition in &bundle.definitions {
        out.put(&Line::Definition(definition.clone()))?;
    }
    for event in &bundle.events {
        out.put(&Line::Event(EventLine::sealed(event, bundle.seals.get(&event.version))))?;
    }
    for file in &bundle.files {
        out.put(&Line::File(FileLine {
            path: file.path.clone(),
            sha256: hash(&file.content),
            base64: STANDARD.encode(&file.content),
        }))?;
    }
    for content in &bundle.contents {
        out.put(&Line::Content(ContentLine {
            sha256: content.hash.clone(),
            base64: STANDARD.encode(&content.body),
        }))?;
    }
    let sha256 = hex(&out.hasher.clone().finalize());
    out.put(&Line::End { sha256 })
}

struct Hashed<'a, W: Write> {
    to: &'a mut W,
    hasher: Sha256,
}

impl<W: Write> Hashed<'_, W> {
    fn put(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.hasher.update(&text);
        self.to.write_all(&text)
    }
}

/// Reads a whole bundle and verifies everything that can be verified. Returns the bundle and its hash.
pub(super) fn read(from: &mut impl BufRead) -> Result<(Bundle, String), Unreadable> {
    let mut hasher = Sha256::new();
    let first = line(from)?.ok_or_else(|| wrong("it is empty"))?;
    let mut bundle = Bundle {
        header: header(&first)?,
        definitions: Vec::new(),
        events: Vec::new(),
        seals: BTreeMap::new(),
        files: Vec::new(),
        contents: Vec::new(),
    };
    hasher.update(&first);
    for number in 2.. {
        let Some(text) = line(from)? else { return Err(wrong("its end is missing")) };
        let read: Line =
            serde_json::from_slice(&text).map_err(|error| wrong(&format!("line {number}: {error}")))?;
        match read {
            Line::Definition(definition) => bundle.definitions.push(definition),
            Line::Event(event) => {
                bundle.seals.extend(event.seal().map(|seal| (event.version, seal)));
                bundle.events.push(event.into());
            }
            Line::File(file) => bundle.files.push(unpacked(file, number)?),
            Line::Content(content) => bundle.contents.push(unpacked_content(&content, number)?),
            Line::End { sha256 } => {
                if sha256 != hex(&hasher.finalize()) {
                    return Err(wrong("it was changed in transit: the hash at its end does not match"));
                }
                return match line(from)? {
                    None => Ok((bundle, sha256)),
                    Some(_) => Err(wrong("there is more data after its end")),
                };
            }
        }
        hasher.update(&text);
    }
    Err(wrong("its end is missing"))
}

pub(super) fn hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// Reads the header. The version is checked first, because everything else may be different in a newer format.
fn header(text: &[u8]) -> Result<Header, Unreadable> {
    let value: Value = serde_json::from_slice(text).map_err(|_| wrong("it is not a leftoff bundle"))?;
    let version = value.get("leftoff_bundle").and_then(Value::as_u64);
    match version.map(u32::try_from) {
        Some(Ok(VERSION)) => {
            serde_json::from_value(value).map_err(|error| wrong(&format!("its header: {error}")))
        }
        Some(newer) => Err(Unreadable::Newer(newer.unwrap_or(u32::MAX))),
        None => Err(wrong("it is not a leftoff bundle")),
    }
}

fn unpacked(file: FileLine, number: usize) -> Result<PackedFile, Unreadable> {
    let content = STANDARD
        .decode(&file.base64)
        .map_err(|error| wrong(&format!("line {number}, the content of {:?}: {error}", file.path)))?;
    if content.len() as u64 > LARGEST_FILE {
        return Err(wrong(&format!("{:?} is larger than {LARGEST_FILE} bytes", file.path)));
    }
    if hash(&content) != file.sha256 {
        return Err(wrong(&format!("the content of {:?} does not match its hash", file.path)));
    }
    Ok(PackedFile { path: file.path, content })
}

fn unpacked_content(content: &ContentLine, number: usize) -> Result<ContentRow, Unreadable> {
    let decoded = STANDARD.decode(&content.base64);
    let body = decoded.map_err(|error| wrong(&format!("line {number}, a file's content: {error}")))?;
    if body.len() > LARGEST_CONTENT {
        return Err(wrong(&format!(
            "line {number}: a file's content is larger than {LARGEST_CONTENT} bytes"
        )));
    }
    if hash(&body) != content.sha256 {
        return Err(wrong(&format!("line {number}: a file's content does not match its hash")));
    }
    Ok(ContentRow { hash: content.sha256.clone(), body })
}

/// Returns the next line with its line ending; fails if the line is too long.
fn line(from: &mut impl BufRead) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut text = Vec::new();
    io::Read::take(&mut *from, LONGEST_LINE).read_until(b'\n', &mut text).map_err(Unreadable::Io)?;
    match text.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(text)),
        Some(_) => Err(wrong("a line of it is cut off, or too long")),
    }
}

fn wrong(why: &str) -> Unreadable {
    Unreadable::Wrong(why.to_owned())
}

impl EventLine {
    pub(crate) fn sealed(row: &EventRow, seal: Option<&Given>) -> Self {
        let (salt, hash) = match seal {
            Some(Given::Salt(salt)) => (Some(hex(salt)), None),
            Some(Given::Hash(hash)) => (None, Some(hex(hash))),
            None => (None, None),
        };
        Self {
            version: row.version,
            at: row.at,
            kind: row.kind.clone(),
            actor: row.actor.clone(),
            body: row.body.clone(),
            command: row.command.as_ref().map(|command| command.name.clone()),
            ordinal: row.command.as_ref().map(|command| command.ordinal),
            salt,
            hash,
        }
    }

    /// Returns the salt or hash of an event for the hash chain. `None` if it is malformed; the event is then sealed
    /// again.
    pub(crate) fn seal(&self) -> Option<Given> {
        let salt = self.salt.as_deref().and_then(from_hex).map(Given::Salt);
        salt.or_else(|| self.hash.as_deref().and_then(from_hex).map(Given::Hash))
    }
}

impl From<EventLine> for EventRow {
    fn from(line: EventLine) -> Self {
        let command = line.command.zip(line.ordinal);
        Self {
            version: line.version,
            at: line.at,
            actor: line.actor,
            kind: line.kind,
            body: line.body,
            command: command.map(|(name, ordinal)| CommandMark { name, ordinal }),
        }
    }
}
