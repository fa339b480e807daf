//! Compares each file of a stored session with leftoff's last write, and gives a verdict.

use super::{FileVerdict, Observation};
use crate::layout::FileRules;
use crate::reader::{Disk, Located, Reader};
use crate::tree::{Entry, Tree};
use crate::verdict::{
    Counts, Evidence, FileState, Own, Put, Role, There, Verdict, Wrote, backup_record, verdict,
};
use model::written_file::ViewRow;
use std::collections::BTreeMap;

/// One file, with the waiting file beside it and its backup.
pub struct Gathered<'a> {
    located: &'a Located,
    path: &'a str,
    row: Option<&'a ViewRow>,
    role: Role,
    there: There<'a>,
    waiting: Option<Vec<u8>>,
    backup: Option<Vec<u8>>,
    disk: &'a dyn Disk,
}

/// The entry at a file's path, as read.
fn in_tree<'a>(tree: &'a Tree, path: &str) -> There<'a> {
    match tree.get(path) {
        Some(Entry::File(content)) => There::Bytes(content),
        Some(Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_)) => There::Unusable,
        None if tree.why_hidden(path).is_some() => There::Hidden,
        None => There::Nothing,
    }
}

impl<'a> Gathered<'a> {
    /// Reads a file that leftoff wrote, with its waiting file and its backup.
    pub fn of_row(
        located: &'a Located,
        rules: &FileRules,
        disk: &'a dyn Disk,
        row: &'a ViewRow,
        there: There<'a>,
    ) -> Self {
        // The waiting file is read before the backup, because another process may make it the backup in the
        // meantime. In this order, its content is found in at least one of the two.
        let waiting = disk.waiting(&row.path);
        let gathered = Self::of_new(located, disk, &row.path, role(located, rules, row), there);
        Self { row: Some(row), waiting, ..gathered }
    }

    /// A file that leftoff never wrote, with its backup.
    fn of_new(located: &'a Located, disk: &'a dyn Disk, path: &'a str, role: Role, there: There<'a>) -> Self {
        let is_marker = matches!(role, Role::Marker { .. });
        let backup = if is_marker { None } else { disk.backup(path) };
        Self { located, path, row: None, role, there, waiting: None, backup, disk }
    }

    /// True if a write of this file has not finished.
    pub fn is_busy(&self) -> bool {
        self.waiting.is_some() || self.row.is_some_and(|row| !row.confirmed)
    }

    /// The evidence for a verdict on the file. `journal` is the row with the write journal, if leftoff ever
    /// wrote the file.
    pub fn evidence(&'a self, journal: Option<&'a ViewRow>, is_left: bool, boot_id: &str) -> Evidence<'a> {
        let put = journal.and_then(|row| Some((row, row.journal.put_hash.as_deref()?)));
        let noted = journal.and_then(|row| backup_record::Backup::of(&row.journal));
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
            noted: noted.map(|noted| noted.compared_with(self.disk.backup_file(self.path))),
        }
    }
}

impl Own for Gathered<'_> {
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.located.part(self.path, bytes)
    }

    fn is_whole(&self, bytes: &[u8]) -> bool {
        self.located.is_whole(self.path, bytes)
    }

    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        self.located.onto(self.path, base, theirs, onto)
    }
}

fn role(located: &Located, rules: &FileRules, row: &ViewRow) -> Role {
    if located.is_marker(&row.path) {
        Role::Marker { is_on: super::write::is_on(row) }
    } else if located.is_shared(&row.path) {
        Role::Shared
    } else if !rules.is_state(&row.path) {
        Role::Initial
    } else {
        Role::State
    }
}

impl Observation {
    /// Gives a verdict on every file that leftoff wrote. `journals` returns the rows with the write journals
    /// of the files; its argument is true if a write has not finished.
    pub fn judge_written(
        &mut self,
        rows: BTreeMap<String, ViewRow>,
        boot_id: &str,
        disk: &dyn Disk,
        journals: impl FnOnce(&BTreeMap<String, ViewRow>, bool) -> BTreeMap<String, ViewRow>,
    ) {
        let rules = self.rules();
        let gather = |row| Gathered::of_row(&self.located, &rules, disk, row, in_tree(&self.tree, &row.path));
        let gathered: Vec<Gathered<'_>> = rows.values().map(gather).collect();
        let journals = journals(&rows, gathered.iter().any(Gathered::is_busy));
        let judge = |file: &Gathered<'_>| {
            let is_left = rules.has_left(file.path, &self.tree);
            let judged = verdict(&file.evidence(journals.get(file.path), is_left, boot_id), file);
            let replaced = file.waiting.clone().filter(|_| judged.counts == Counts::Replaced);
            (judged, replaced)
        };
        let judged: Vec<(Verdict, Option<Vec<u8>>)> = gathered.iter().map(judge).collect();
        for ((path, row), (judged, replaced)) in rows.into_iter().zip(judged) {
            let mut found = FileVerdict { base: judged.base, ..FileVerdict::of(judged.state) };
            if let (Some(out), Some(there)) = (replaced, self.tree.content(&path)) {
                found.over = Some(there.to_vec());
                self.tree.insert(path.clone(), Entry::File(out.clone()));
                self.documents.insert(path.clone(), Entry::File(out));
            }
            self.displaced.extend(judged.displaced.into_iter().map(|edit| (path.clone(), edit)));
            found.row = Some(row);
            self.verdicts.insert(path, found);
        }
    }

    /// Gives a verdict on every state file that leftoff never wrote.
    pub fn judge_new(&mut self, reader: &Reader, disk: &dyn Disk) {
        let mut new = self.rules().state_files(&self.tree);
        new.retain(|path| !self.verdicts.contains_key(path));
        let is_whole = |path: &String| {
            self.tree.content(path).is_none_or(|content| self.located.is_whole(path, content))
        };
        let broken = if new.iter().all(is_whole) {
            Vec::new()
        } else {
            reader.read(&self.located, &self.tree).value.unreadable_parts
        };
        for path in new {
            let role = if broken.contains(&path) { Role::Part } else { Role::State };
            let file = Gathered::of_new(&self.located, disk, &path, role, in_tree(&self.tree, &path));
            let state = verdict(&file.evidence(None, false, ""), &file).state;
            let has_substitute = state == FileState::Damaged;
            let stands_for = has_substitute.then(|| file.backup.clone().unwrap_or_default());
            self.verdicts.insert(path.clone(), FileVerdict { stands_for, ..FileVerdict::of(state) });
        }
    }

    /// Files that seem to be edited, with their content, although a write of each has not finished.
    pub fn edited_on_their_way(&self) -> impl Iterator<Item = (&String, &[u8])> {
        let on_their_way = self.verdicts.iter().filter(|(_, found)| {
            found.row.as_ref().is_some_and(|row| !row.confirmed)
                && found.over.is_none()
                && found.state == FileState::Edited
        });
        on_their_way.filter_map(|(path, _)| Some((path, self.tree.content(path)?)))
    }
}
