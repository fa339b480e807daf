//! Lines that somebody added to a shared file while ours took its place: they had it open, and wrote into what is the
//! version before by now. Knows how that was when it became one, and what has come to it since.

use super::look::hash;
use crate::disk::exchange;
use crate::place::FOLDER;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file that is locked while files are written keeps it: whoever changes it holds that lock.
pub(super) const LOCK: &str = "views.lock";

/// The version before as it was when it became that, by where its file is.
#[derive(Debug, Default)]
pub(super) struct Before(BTreeMap<String, Noted>);

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
        let entry = |line: &str| {
            let mut parts = line.splitn(4, ' ');
            let (length, hash, file) = (parts.next()?, parts.next()?, parts.next()?);
            let file = file
                .split_once('.')
                .and_then(|(inode, born)| Some((inode.parse().ok()?, born.parse().ok()?)));
            let noted = Noted { length: length.parse().ok()?, hash: hash.to_owned(), file };
            Some((parts.next()?.to_owned(), noted))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    /// This became the version before of a file.
    pub(super) fn note(&mut self, lock: &File, target: &Path, before: &[u8]) -> io::Result<()> {
        let noted =
            Noted { length: before.len(), hash: hash(before), file: file_at(&exchange::backup(target)) };
        self.0.insert(target.display().to_string(), noted);
        self.write(lock)
    }

    /// A folder went to another place, and what is noted of its files with it.
    pub(super) fn moved(&mut self, lock: &File, from: &Path, to: &Path) -> io::Result<()> {
        let place = |path: String| match Path::new(&path).strip_prefix(from) {
            Ok(rest) => to.join(rest).display().to_string(),
            Err(_) => path,
        };
        self.0 = std::mem::take(&mut self.0).into_iter().map(|(path, noted)| (place(path), noted)).collect();
        self.write(lock)
    }

    fn write(&self, mut lock: &File) -> io::Result<()> {
        let line = |(path, noted): (&String, &Noted)| {
            let (inode, born) = noted.file.unwrap_or_default();
            format!("{} {} {inode}.{born} {path}\n", noted.length, noted.hash)
        };
        let text: String = self.0.iter().map(line).collect();
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(text.as_bytes())
    }

    /// What came to the version before since it became that.
    pub(super) fn late(&self, target: &Path) -> Option<Vec<u8>> {
        let noted = self.0.get(&target.display().to_string())?;
        let bytes = exchange::read(&exchange::backup(target)).ok()?;
        let (before, late) = bytes.split_at_checked(noted.length)?;
        (!late.is_empty() && hash(before) == noted.hash).then(|| late.to_vec())
    }

    /// The version before, if somebody who had it open wrote into it since it became that.
    pub(super) fn written_on(&self, target: &Path) -> Option<Vec<u8>> {
        let noted = self.0.get(&target.display().to_string())?;
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
