//! What was put where, and how the version before was when it became that: for whoever looks next.

use super::look::hash;
use crate::disk::exchange;
use crate::place::FOLDER;
use layouts::verdict;
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

    /// What a session's write was about to put there last.
    pub(super) fn put_into(&self, target: &Path) -> Option<verdict::Put<'_>> {
        let put = self.put.get(&target.display().to_string())?;
        Some(verdict::Put { hash: &put.hash, expected: &put.expected, row: &put.row, by: &put.session })
    }

    /// The version before as it was when it became that.
    pub(super) fn noted_of(&self, target: &Path) -> Option<verdict::Noted<'_>> {
        let noted = self.noted.get(&target.display().to_string())?;
        let is_same_file = noted.file.map(|file| file_at(&exchange::backup(target)) == Some(file));
        Some(verdict::Noted { length: noted.length, hash: &noted.hash, is_same_file })
    }

    /// Whether something of ours was ever put there.
    pub(super) fn knows(&self, target: &Path) -> bool {
        let name = target.display().to_string();
        self.noted.contains_key(&name) || self.put.contains_key(&name)
    }
}

/// What tells a file from one that has its number after it.
fn file_at(path: &Path) -> Option<(u64, u128)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let born = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((found.ino(), born.as_nanos()))
}
