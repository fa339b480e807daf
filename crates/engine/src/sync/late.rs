//! Lines that somebody added to a shared file while ours took its place: they had it open, and wrote into what is the
//! version before by now. Knows how that was when it became one, and what has come to it since.

use super::look::hash;
use crate::disk::exchange;
use crate::place::FOLDER;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The file that is locked while files are written keeps it: whoever changes it holds that lock.
pub(super) const LOCK: &str = "views.lock";

/// Length and hash of the version before, by where its file is.
#[derive(Debug, Default)]
pub(super) struct Before(BTreeMap<String, (usize, String)>);

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
            let (length, rest) = line.split_once(' ')?;
            let (hash, path) = rest.split_once(' ')?;
            Some((path.to_owned(), (length.parse().ok()?, hash.to_owned())))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    /// This became the version before of a file.
    pub(super) fn note(&mut self, mut lock: &File, target: &Path, before: &[u8]) -> io::Result<()> {
        self.0.insert(target.display().to_string(), (before.len(), hash(before)));
        let line = |(path, (length, hash)): (&String, &(usize, String))| format!("{length} {hash} {path}\n");
        let text: String = self.0.iter().map(line).collect();
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(text.as_bytes())
    }

    /// What came to the version before since it became that.
    pub(super) fn late(&self, target: &Path) -> Option<Vec<u8>> {
        let (length, known) = self.0.get(&target.display().to_string())?;
        let bytes = exchange::read(&exchange::backup(target)).ok()?;
        let (before, late) = bytes.split_at_checked(*length)?;
        (!late.is_empty() && hash(before) == *known).then(|| late.to_vec())
    }
}
