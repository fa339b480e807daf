//! Lines that somebody added to a shared file while ours took its place: they had it open, and wrote into what is the
//! version before by now. Knows how that was when it became one, and what has come to it since.

use super::look::hash;
use super::tree;
use crate::disk::exchange;
use crate::place::FOLDER;
use layouts::tree::Entry;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use store::ViewRow;

/// The file that is locked while files are written keeps it: whoever changes it holds that lock.
pub(super) const LOCK: &str = "views.lock";

/// How the lines begin that tell what was put.
const PUT: &str = "put ";

/// The version before as it was when it became that, and what was put in its place, by where their file is.
#[derive(Debug, Default)]
pub(super) struct Before {
    noted: BTreeMap<String, Noted>,
    put: BTreeMap<String, Put>,
}

/// What a session's write puts into a file, until what came out of it is dealt with.
#[derive(Debug)]
struct Put {
    hash: String,
    /// The hash of what is to come out.
    expected: String,
    /// The hash of the row that it is put for.
    row: String,
    session: String,
}

/// What waits beside a file.
#[derive(Debug)]
pub(super) enum Beside {
    Nothing,
    /// Our bytes: about to be put there, or left by a crash before they were.
    Ours,
    /// What was there before them.
    VersionBefore,
    /// Somebody's edit that came out by this session's write. Nobody has changed the file since, or somebody has.
    CameOut {
        by: String,
        bytes: Vec<u8>,
        is_edited_since: bool,
    },
    /// Nothing is noted about it.
    Unknown(Vec<u8>),
}

#[derive(Debug)]
struct Noted {
    length: usize,
    hash: String,
    /// A backup that somebody else put there is another file. None where the system cannot tell files apart.
    file: Option<(u64, u128)>,
}

impl Before {
    /// As it is known, for somebody who only looks.
    pub(super) fn seen(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join(FOLDER).join(LOCK)).unwrap_or_default();
        Self::parse(&text)
    }

    pub(super) fn read(mut lock: &File) -> io::Result<Self> {
        let mut text = String::new();
        lock.rewind()?;
        lock.read_to_string(&mut text)?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let put = |line: &str| {
            let mut parts = line.strip_prefix(PUT)?.splitn(5, ' ').map(ToOwned::to_owned);
            let put = Put {
                hash: parts.next()?,
                expected: parts.next()?,
                row: parts.next()?,
                session: parts.next()?,
            };
            Some((parts.next()?, put))
        };
        let entry = |line: &str| {
            let mut parts = line.splitn(4, ' ');
            let (length, hash, file) = (parts.next()?, parts.next()?, parts.next()?);
            let file = file
                .split_once('.')
                .and_then(|(inode, born)| Some((inode.parse().ok()?, born.parse().ok()?)));
            let noted = Noted { length: length.parse().ok()?, hash: hash.to_owned(), file };
            Some((parts.next()?.to_owned(), noted))
        };
        Self { noted: text.lines().filter_map(entry).collect(), put: text.lines().filter_map(put).collect() }
    }

    /// This became the version before of a file.
    pub(super) fn note(&mut self, lock: &File, target: &Path, before: &[u8]) -> io::Result<()> {
        let noted =
            Noted { length: before.len(), hash: hash(before), file: file_at(&exchange::backup(target)) };
        self.noted.insert(target.display().to_string(), noted);
        self.put.remove(&target.display().to_string());
        self.keep(lock)
    }

    /// A session's write is about to put this into a file.
    pub(super) fn note_put(
        &mut self,
        lock: &File,
        target: &Path,
        body: &[u8],
        expected: &[u8],
        row: &ViewRow,
    ) -> io::Result<()> {
        let put = Put {
            hash: hash(body),
            expected: hash(expected),
            row: row.hash.clone(),
            session: row.session.to_string(),
        };
        self.put.insert(target.display().to_string(), put);
        self.keep(lock)
    }

    /// A folder went to another place, and what is noted of its files with it.
    pub(super) fn moved(&mut self, lock: &File, from: &Path, to: &Path) -> io::Result<()> {
        let place = |path: String| match Path::new(&path).strip_prefix(from) {
            Ok(rest) => to.join(rest).display().to_string(),
            Err(_) => path,
        };
        self.noted =
            std::mem::take(&mut self.noted).into_iter().map(|(path, noted)| (place(path), noted)).collect();
        self.put = std::mem::take(&mut self.put).into_iter().map(|(path, put)| (place(path), put)).collect();
        self.keep(lock)
    }

    fn keep(&self, mut lock: &File) -> io::Result<()> {
        let line = |(path, noted): (&String, &Noted)| {
            let (inode, born) = noted.file.unwrap_or_default();
            format!("{} {} {inode}.{born} {path}\n", noted.length, noted.hash)
        };
        let put = |(path, put): (&String, &Put)| {
            format!("{PUT}{} {} {} {} {path}\n", put.hash, put.expected, put.row, put.session)
        };
        let text: String = self.noted.iter().map(line).chain(self.put.iter().map(put)).collect();
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(text.as_bytes())
    }

    /// What waits beside a file. `there` is what is in the file.
    pub(super) fn beside(&self, target: &Path, there: Option<&[u8]>, most: u64) -> Beside {
        let bytes = match tree::content(&exchange::waiting(target), most) {
            Entry::File(bytes) => bytes,
            Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_) => return Beside::Nothing,
        };
        let Some(put) = self.put.get(&target.display().to_string()) else { return Beside::Unknown(bytes) };
        let own = hash(&bytes);
        if own == put.hash {
            return Beside::Ours;
        }
        if own == put.expected {
            return Beside::VersionBefore;
        }
        let is_edited_since = there.is_none_or(|there| hash(there) != put.hash);
        Beside::CameOut { by: put.session.clone(), bytes, is_edited_since }
    }

    /// Whether a session's bytes have been in a file's place, though nothing confirms it: what was there before them is
    /// the version before by now, or waits to become it, or somebody changed them there.
    pub(super) fn has_arrived(&self, target: &Path, row: &ViewRow, beside: &Beside) -> bool {
        let name = target.display().to_string();
        let was_put = self.put.get(&name).is_some_and(|put| put.row == row.hash);
        match beside {
            Beside::Ours | Beside::CameOut { is_edited_since: false, .. } => false,
            Beside::VersionBefore | Beside::CameOut { is_edited_since: true, .. } => was_put,
            Beside::Unknown(bytes) => *bytes == row.previous,
            Beside::Nothing => self.noted.get(&name).is_some_and(|noted| noted.hash == hash(&row.previous)),
        }
    }

    /// Whether something of ours was ever put there.
    pub(super) fn knows(&self, target: &Path) -> bool {
        let name = target.display().to_string();
        self.noted.contains_key(&name) || self.put.contains_key(&name)
    }

    /// What came to the version before since it became that.
    pub(super) fn late(&self, target: &Path) -> Option<Vec<u8>> {
        let noted = self.noted.get(&target.display().to_string())?;
        let bytes = exchange::read(&exchange::backup(target)).ok()?;
        let (before, late) = bytes.split_at_checked(noted.length)?;
        (!late.is_empty() && hash(before) == noted.hash).then(|| late.to_vec())
    }

    /// A backup beside a file that is not the version before of ours: its bytes. Where files cannot be told apart, what
    /// is in it tells.
    pub(super) fn others_backup(&self, target: &Path, row: &ViewRow) -> Option<Vec<u8>> {
        let backup = exchange::backup(target);
        let bytes = exchange::read(&backup).ok().filter(|bytes| !bytes.is_empty())?;
        let hash = hash(&bytes);
        let is_noted = self.noted.get(&target.display().to_string()).is_some_and(|noted| {
            noted.hash == hash || (noted.file.is_some() && noted.file == file_at(&backup))
        });
        let is_ours = is_noted || bytes == row.previous || hash == row.hash || row.earlier.contains(&hash);
        (!is_ours).then_some(bytes)
    }

    /// The version before, if somebody who had it open wrote into it since it became that.
    pub(super) fn written_on(&self, target: &Path) -> Option<Vec<u8>> {
        let noted = self.noted.get(&target.display().to_string())?;
        let backup = exchange::backup(target);
        let is_the_same = noted.file.is_some_and(|file| file_at(&backup) == Some(file));
        let bytes = exchange::read(&backup).ok().filter(|_| is_the_same)?;
        (hash(&bytes) != noted.hash).then_some(bytes)
    }
}

/// What tells a file from one that has its number after it.
fn file_at(path: &Path) -> Option<(u64, u128)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let born = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((found.ino(), born.as_nanos()))
}
