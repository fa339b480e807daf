//! Observes the files of a stored session. Compares each file with what leftoff last wrote into it.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::foreign::observation_cache::Aim;
use crate::foreign::observe::disk::Home;
use crate::foreign::observe::stamp::Stamp;
use jiff::Timestamp;
use layouts::observation::{Log, Moving, Observation, Origin, is_place};
use layouts::reader::Located;
use layouts::reading::Dated;
use model::item::ItemBook;
use model::session::Session;
use std::collections::BTreeMap;
use std::path::Path;
use store::ViewRow;

/// How often files are observed again because another process is writing them.
const MOST_LOOKS: usize = 5;

impl Engine {
    /// Observes a stored session. Returns external edits with their times.
    pub(crate) fn observe_files(
        &self,
        located: &Located,
        session: &Session,
        rows: &[ViewRow],
        items: ItemBook,
    ) -> (Observation, Option<Stamp>, Vec<Dated>) {
        let root = self.root_of(session);
        let mut observation = self.judge_files(located, &root, rows);
        // While another process writes files, an observation may combine an old file with a newer journal. Then the
        // files are observed again.
        for _ in 0..MOST_LOOKS {
            if !has_moved_on(&observation) {
                break;
            }
            observation = self.judge_files(located, &root, rows);
        }
        let stamp =
            if self.scope.aim == Aim::Look { None } else { Stamp::of(&observation, session.version, rows) };
        let put = self.scope.put.borrow();
        let log = Log { session, items, began: self.proofs_count_since(session), put: &put };
        let events = observation.adopt(&self.tree_reader(), &Home::below(&root, located), log);
        (observation, stamp, events)
    }

    /// Reads and judges every file that leftoff wrote, and files that are new.
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
        // An initial file that exists belongs to its users, and is no longer compared with what leftoff wrote.
        let rules = located.layout.files(&located.spot);
        let is_to_come = |path: &String, row: &ViewRow| !row.confirmed && tree.get(path).is_none();
        rows.retain(|path, row| rules.is_state(path) || is_to_come(path, row));
        let disk = Home::below(root, located);
        let home = root.join(&located.spot.home);
        let mut observation = Observation::of_tree(located.clone(), home, Origin::Log, tree);
        observation.moving = moving;
        observation.judge_written(rows, &self.processes.boot_id(), &disk, |rows, is_busy| {
            self.journals(located, root, rows, is_busy)
        });
        observation.judge_new(&self.tree_reader(), &disk);
        observation.is_gone = self.has_lost_its_folder(&observation, root);
        observation
    }

    /// Returns the rows of a session's files, with their write journals. While a write is pending, the journals are
    /// read after the files, so that they explain every replaced file that was found.
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
            // Another command may have replaced this row meanwhile. The journal then does not describe the write of
            // this row.
            found.journal.put_this &= found.hash == row.hash && found.version == row.version;
            found
        };
        rows.iter().map(|(path, row)| (path.clone(), journal_of(row))).collect()
    }

    /// Returns the time from which on files count as proof: the start of the current phase, or the last return to an
    /// earlier phase, whichever is later.
    fn proofs_count_since(&self, session: &Session) -> Option<Timestamp> {
        let run_began = session.run().and_then(|run| {
            let began = self.files_count_since(session, run, run.current().id());
            began.or(Some(run.started_at))
        });
        run_began.max(session.went_back_at)
    }
}

/// True if a file that looked edited while a write was pending has changed again.
fn has_moved_on(observation: &Observation) -> bool {
    let is_gone = |(path, content): (&String, &[u8])| {
        exchange::read(&observation.home.join(path)).is_ok_and(|now| now != content)
    };
    observation.edited_on_their_way().any(is_gone)
}

#[cfg(test)]
thread_local! {
    /// Counts the observations, for tests.
    pub(crate) static OBSERVATIONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn count_observation() {
    OBSERVATIONS.set(OBSERVATIONS.get() + 1);
}

#[cfg(not(test))]
fn count_observation() {}
