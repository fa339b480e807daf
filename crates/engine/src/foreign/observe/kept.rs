//! Judges the files of a stored session, each against the last write.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::foreign::discover::Located;
use crate::foreign::observe::evidence::{Gathered, in_tree};
use crate::foreign::observe::observation::{FileVerdict, Observation, Origin};
use crate::foreign::observe::stamp::Stamp;
use crate::foreign::publish::folders::{Moving, is_place};
use crate::foreign::scope::Aim;
use layouts::reading::Dated;
use layouts::tree::Entry;
use layouts::verdict::{Counts, FileState, Role, verdict};
use model::item::ItemBook;
use model::session::Session;
use std::collections::BTreeMap;
use std::path::Path;
use store::ViewRow;

/// How often to retry while another process writes files.
const MOST_LOOKS: usize = 5;

impl Engine {
    /// Observes a stored session, and returns external edits with their times.
    pub(crate) fn observe_files(
        &self,
        located: &Located,
        session: &Session,
        rows: &[ViewRow],
        items: ItemBook,
    ) -> (Observation, Vec<Dated>) {
        let root = self.root_of(session);
        let mut observation = self.judge_files(located, &root, rows);
        // While another process writes files, one look may combine an old file with new notes.
        for _ in 0..MOST_LOOKS {
            if !observation.has_moved_on() {
                break;
            }
            observation = self.judge_files(located, &root, rows);
        }
        if self.scope.aim != Aim::Look {
            observation.stamp = Stamp::of(&observation, session.version, rows);
        }
        let events = observation.external_edits(self, session, items);
        (observation, events)
    }

    /// Reads and judges every file that we wrote, and new ones.
    fn judge_files(&self, located: &Located, root: &Path, rows: &[ViewRow]) -> Observation {
        count_observation();
        let mut rows: BTreeMap<String, ViewRow> =
            rows.iter().map(|row| (row.path.clone(), row.clone())).collect();
        let mut tree = self.tree_when_written(located, root, &rows);
        let moving = Moving::pending(&located.spot, &rows, &tree);
        if let Some(Moving { from, to }) = &moving {
            tree = tree.moved(from, to);
        }
        rows.retain(|_, row| !is_place(row));
        // An existing initial file belongs to its users: nothing more is recorded about it.
        let rules = located.layout.files(&located.spot);
        let is_to_come = |path: &String, row: &ViewRow| !row.confirmed && tree.get(path).is_none();
        rows.retain(|path, row| rules.is_state(path) || is_to_come(path, row));
        let home = root.join(&located.spot.home);
        let mut observation = Observation::of_tree(located.clone(), home, Origin::Log, tree);
        observation.moving = moving;
        observation.judge_written(self, root, rows);
        observation.judge_new(self);
        observation.is_gone = observation.has_lost_its_folder(root);
        observation
    }
}

impl Engine {
    /// The rows that have the journals of these files. While something is being written they are read after
    /// the files: whatever waits beside one is in its journal by then.
    fn journals(
        &self,
        located: &Located,
        root: &Path,
        rows: &BTreeMap<String, ViewRow>,
        is_busy: bool,
    ) -> BTreeMap<String, ViewRow> {
        let worktree = root.display().to_string();
        let now = if is_busy { self.store.base().views(&located.id).unwrap_or_default() } else { Vec::new() };
        let journal_of = |row: &ViewRow| {
            let now = now.iter().find(|now| now.path == row.path).unwrap_or(row);
            let mut found = self.journal_row(located, &worktree, now).unwrap_or_else(|_| now.clone());
            // Another row may have taken this one's place by now.
            found.journal.put_this &= found.hash == row.hash && found.version == row.version;
            found
        };
        rows.iter().map(|(path, row)| (path.clone(), journal_of(row))).collect()
    }
}

impl Observation {
    fn judge_written(&mut self, engine: &Engine, root: &Path, rows: BTreeMap<String, ViewRow>) {
        let (boot_id, rules, located) = (engine.processes.boot_id(), self.rules(), &self.located);
        let gathered: Vec<(&ViewRow, Gathered<'_>)> = rows
            .values()
            .map(|row| {
                let there = in_tree(&self.tree, &row.path);
                (row, Gathered::of_row(located, &rules, &self.home.join(&row.path), row, there))
            })
            .collect();
        let is_busy = gathered.iter().any(|(row, found)| !row.confirmed || found.waiting().is_some());
        let journals = engine.journals(located, root, &rows, is_busy);
        let judge = |(row, gathered): &(&ViewRow, Gathered<'_>)| {
            let is_left = rules.has_left(&row.path, &self.tree);
            let judged = verdict(&gathered.evidence(journals.get(&row.path), is_left, &boot_id), gathered);
            let came_out = gathered.waiting().filter(|_| judged.counts == Counts::CameOut);
            (judged, came_out.map(<[u8]>::to_vec))
        };
        let judged: Vec<_> = gathered.iter().map(judge).collect();
        for ((path, row), (judged, came_out)) in rows.into_iter().zip(judged) {
            let mut found = FileVerdict { base: judged.base, ..FileVerdict::of(judged.state) };
            if let (Some(out), Some(there)) = (came_out, self.tree.content(&path)) {
                found.over = Some(there.to_vec());
                self.tree.insert(path.clone(), Entry::File(out.clone()));
                self.documents.insert(path.clone(), Entry::File(out));
            }
            self.displaced.extend(judged.displaced.into_iter().map(|edit| (path.clone(), edit)));
            found.row = Some(row);
            self.verdicts.insert(path, found);
        }
    }

    /// State files that we never wrote.
    fn judge_new(&mut self, engine: &Engine) {
        let mut new = self.rules().state_files(&self.tree);
        new.retain(|path| !self.verdicts.contains_key(path));
        let is_whole = |path: &String| {
            self.tree.content(path).is_none_or(|content| self.located.layout.is_whole(path, content))
        };
        let broken = if new.iter().all(is_whole) {
            Vec::new()
        } else {
            engine.read_tree(&self.located, &self.tree).value.unreadable_parts
        };
        let boot_id = engine.processes.boot_id();
        for path in new {
            let role = if broken.contains(&path) { Role::Part } else { Role::State };
            let there = in_tree(&self.tree, &path);
            let gathered = Gathered::of_new(&self.located, &self.home.join(&path), &path, role, there);
            let state = verdict(&gathered.evidence(None, false, &boot_id), &gathered).state;
            let is_stood_for = state == FileState::Damaged;
            let stands_for = is_stood_for.then(|| gathered.backup().unwrap_or_default().to_vec());
            self.verdicts.insert(path.clone(), FileVerdict { stands_for, ..FileVerdict::of(state) });
        }
    }

    /// True if the supposed edit of a pending file is gone.
    fn has_moved_on(&self) -> bool {
        let on_their_way = self.verdicts.iter().filter(|(_, found)| {
            found.row.as_ref().is_some_and(|row| !row.confirmed)
                && found.over.is_none()
                && found.state == FileState::Edited
        });
        let mut edited = on_their_way.filter_map(|(path, _)| Some((path, self.tree.content(path)?)));
        edited.any(|(path, content)| exchange::read(&self.home.join(path)).is_ok_and(|now| now != content))
    }
}

#[cfg(test)]
thread_local! {
    /// The number of observations.
    pub(crate) static OBSERVATIONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn count_observation() {
    OBSERVATIONS.set(OBSERVATIONS.get() + 1);
}

#[cfg(not(test))]
fn count_observation() {}
