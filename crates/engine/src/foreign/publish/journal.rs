//! The write journal: what was written where, and the state of each backup, for recovery.

use crate::disk::exchange;
use crate::foreign::observe::hash;
use crate::place::FOLDER;
use layouts::verdict;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use store::ViewRow;

/// The journal is kept in the lock file: whoever changes it holds the lock.
pub(crate) const LOCK: &str = "views.lock";

/// The prefix of lines about writes.
const PUT: &str = "put ";
/// The prefix of the last line: a hash of the others, so that a reader without the lock sees a half-written journal.
const END: &str = "end ";
/// How often such a reader tries again. Version 0.1 wrote no last line.
const TRIES: usize = 20;
/// Who wrote the backup.
const OURS: &str = "ours";
const THEIRS: &str = "theirs";

/// Backups when they were made, and the writes that replaced them, by location.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    noted: BTreeMap<String, Noted>,
    put: BTreeMap<String, Put>,
}

/// A session's pending write, until the replaced content is handled.
#[derive(Debug)]
struct Put {
    hash: String,
    /// Hash of the content to be replaced.
    expected: String,
    /// Hash of the row for which it is written.
    row: String,
    session: String,
}

#[derive(Debug)]
struct Noted {
    length: usize,
    hash: String,
    /// Identifies the backup file: another one was put there by somebody else. `None` if the system cannot
    /// tell.
    file: Option<(u64, u128)>,
    /// It was not our last write: somebody else wrote it.
    is_of_others: bool,
    /// Hash of our write in its place.
    put: String,
}

impl Journal {
    /// The journal for read-only use.
    pub(crate) fn seen(root: &Path) -> Self {
        let read = || std::fs::read_to_string(root.join(FOLDER).join(LOCK)).unwrap_or_default();
        let mut text = read();
        for _ in 0..TRIES {
            if is_complete(&text) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
            text = read();
        }
        Self::parse(&text)
    }

    pub(crate) fn read(mut lock: &File) -> io::Result<Self> {
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
            let rest = parts.next()?;
            // Version 0.1 recorded neither its owner nor the write.
            let (is_of_others, put, path) = match rest.splitn(3, ' ').collect::<Vec<_>>()[..] {
                [by, put, path] if !rest.starts_with('/') => (by == THEIRS, put, path),
                _ => (false, "-", rest),
            };
            let (length, hash, put) = (length.parse().ok()?, hash.to_owned(), put.to_owned());
            Some((path.to_owned(), Noted { length, hash, file, is_of_others, put }))
        };
        Self { noted: text.lines().filter_map(entry).collect(), put: text.lines().filter_map(put).collect() }
    }

    /// Records a file's new backup. `ours` is the hash of our last write there.
    pub(crate) fn note(
        &mut self,
        lock: &File,
        target: &Path,
        before: &[u8],
        ours: Option<&String>,
    ) -> io::Result<()> {
        let (name, hash) = (target.display().to_string(), hash(before));
        let last = self.noted.get(&name).map(|noted| noted.put.clone());
        let is_of_others = ours != Some(&hash) && last.as_ref() != Some(&hash);
        let put = self.put.remove(&name).map(|put| put.hash).or(last).unwrap_or_else(|| "-".to_owned());
        let file = file_at(&exchange::backup(target));
        self.noted.insert(name, Noted { length: before.len(), hash, file, is_of_others, put });
        self.keep(lock)
    }

    /// Records a session's pending write.
    pub(crate) fn note_put(
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

    /// Updates the journal after a folder moved.
    pub(crate) fn moved(&mut self, lock: &File, from: &Path, to: &Path) -> io::Result<()> {
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
            let by = if noted.is_of_others { THEIRS } else { OURS };
            format!("{} {} {inode}.{born} {by} {} {path}\n", noted.length, noted.hash, noted.put)
        };
        let put = |(path, put): (&String, &Put)| {
            format!("{PUT}{} {} {} {} {path}\n", put.hash, put.expected, put.row, put.session)
        };
        let text: String = self.noted.iter().map(line).chain(self.put.iter().map(put)).collect();
        let text = format!("{text}{END}{}\n", hash(text.as_bytes()));
        lock.rewind()?;
        lock.write_all(text.as_bytes())?;
        lock.set_len(text.len() as u64)
    }

    /// A session's last pending write to a file.
    pub(crate) fn put_into(&self, target: &Path) -> Option<verdict::Put<'_>> {
        let put = self.put.get(&target.display().to_string())?;
        Some(verdict::Put { hash: &put.hash, expected: &put.expected, row: &put.row, by: &put.session })
    }

    /// The backup when it was made.
    pub(crate) fn noted_of(&self, target: &Path) -> Option<verdict::Noted<'_>> {
        let noted = self.noted.get(&target.display().to_string())?;
        let is_same_file = noted.file.map(|file| file_at(&exchange::backup(target)) == Some(file));
        Some(verdict::Noted { length: noted.length, hash: &noted.hash, is_same_file })
    }

    /// True if somebody else wrote the current backup.
    pub(crate) fn is_of_others(&self, target: &Path) -> bool {
        self.noted.get(&target.display().to_string()).is_some_and(|noted| noted.is_of_others)
    }

    /// True if we ever wrote there.
    pub(crate) fn knows(&self, target: &Path) -> bool {
        let name = target.display().to_string();
        self.noted.contains_key(&name) || self.put.contains_key(&name)
    }
}

/// True if a journal was not read in the middle of a write.
fn is_complete(text: &str) -> bool {
    let end = |(lines, end): (&str, &str)| end.trim_end() == hash(lines.as_bytes());
    text.is_empty() || text.rsplit_once(END).is_some_and(end)
}

/// Tells a file from a later one with the same inode number.
fn file_at(path: &Path) -> Option<(u64, u128)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let born = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((found.ino(), born.as_nanos()))
}
