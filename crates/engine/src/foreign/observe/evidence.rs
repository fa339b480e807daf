//! Collects the evidence about one file for the verdict. Reads only.

use crate::disk::exchange;
use crate::foreign::discover::Located;
use crate::foreign::discover::markers::is_marker;
use crate::foreign::publish::journal::Backup;
use crate::foreign::publish::markers::is_to_be_there;
use crate::walk;
use layouts::capabilities::{is_shared, shared_part};
use layouts::layout::{FileRules, Merge};
use layouts::tree::{Entry, Tree};
use layouts::verdict::{Evidence, Own, Put, Role, There, Wrote};
use std::path::{Path, PathBuf};
use store::ViewRow;

/// The entry at a file's path, as read.
pub(crate) fn in_tree<'a>(tree: &'a Tree, path: &str) -> There<'a> {
    match tree.get(path) {
        Some(Entry::File(content)) => There::Bytes(content),
        Some(Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_)) => There::Unusable,
        None if tree.why_hidden(path).is_some() => There::Hidden,
        None => There::Nothing,
    }
}

/// One file, with its waiting file and its backup.
pub(crate) struct Gathered<'a> {
    located: &'a Located,
    path: &'a str,
    row: Option<&'a ViewRow>,
    role: Role,
    target: PathBuf,
    there: There<'a>,
    waiting: Option<Vec<u8>>,
    backup: Option<Vec<u8>>,
}

impl<'a> Gathered<'a> {
    /// A file that we wrote.
    pub(crate) fn of_row(
        located: &'a Located,
        rules: &FileRules,
        target: &Path,
        row: &'a ViewRow,
        there: There<'a>,
    ) -> Self {
        let most = rules.most_bytes(&row.path);
        let waiting = match walk::content(&exchange::waiting(target), most) {
            Entry::File(bytes) => Some(bytes),
            Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_) => None,
        };
        let gathered = Self::of_new(located, target, &row.path, role(located, rules, row), there);
        Self { row: Some(row), waiting, ..gathered }
    }

    /// A file that we never wrote.
    pub(crate) fn of_new(
        located: &'a Located,
        target: &Path,
        path: &'a str,
        role: Role,
        there: There<'a>,
    ) -> Self {
        let is_file = !matches!(role, Role::Marker { .. });
        let backup = Some(exchange::backup(target)).filter(|_| is_file);
        let backup = backup.and_then(|backup| exchange::read(&backup).ok());
        Self { located, path, row: None, role, target: target.to_owned(), there, waiting: None, backup }
    }

    /// `journal` is the row that has the file's journal, if we ever wrote it.
    pub(crate) fn evidence(
        &'a self,
        journal: Option<&'a ViewRow>,
        is_left: bool,
        boot_id: &str,
    ) -> Evidence<'a> {
        let put = journal.and_then(|row| Some((row, row.journal.put_hash.as_deref()?)));
        let backup = journal.and_then(|row| Backup::of(&row.journal));
        Evidence {
            session: self.located.id.as_str(),
            role: self.role,
            is_left,
            same_boot: self.row.is_none_or(|row| row.boot_id == boot_id),
            there: self.there,
            wrote: self.row.map(|row| Wrote {
                hash: &row.hash,
                body: &row.body,
                previous: &row.previous,
                earlier: &row.earlier,
                confirmed: row.confirmed,
            }),
            waiting: self.waiting.as_deref(),
            put: put.map(|(row, hash)| Put {
                hash,
                expected: row.journal.put_expected.as_deref(),
                is_this: row.journal.put_this,
                by: row.session.as_str(),
            }),
            backup: self.backup.as_deref(),
            noted: backup.map(|backup| backup.noted(&self.target)),
        }
    }

    pub(crate) fn waiting(&self) -> Option<&[u8]> {
        self.waiting.as_deref()
    }

    pub(crate) fn backup(&self) -> Option<&[u8]> {
        self.backup.as_deref()
    }
}

impl Own for Gathered<'_> {
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        shared_part(self.located.layout, &self.located.spot, self.path, bytes)
    }

    fn is_whole(&self, bytes: &[u8]) -> bool {
        self.located.layout.is_whole(self.path, bytes)
    }

    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        self.located.layout.merge(self.path, Merge::Onto { base, theirs, onto })
    }
}

fn role(located: &Located, rules: &FileRules, row: &ViewRow) -> Role {
    if is_marker(located.layout, &row.path) {
        Role::Marker { is_on: is_to_be_there(row) }
    } else if is_shared(located.layout, &row.path) {
        Role::Shared
    } else if !rules.is_state(&row.path) {
        Role::Initial
    } else {
        Role::State
    }
}
