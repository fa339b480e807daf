//! Compares a session's files with the log. Each difference becomes a problem.

use super::{Moving, Observation};
use crate::layout::ForeignSession;
use crate::problem::{AgainstTheLog, Change, Problem, Stale, What};
use crate::reader::Reader;
use crate::reading::Reading;
use crate::tree::Entry;
use crate::verdict::FileState;
use model::session::Session;

impl Observation {
    pub(super) fn compare(&mut self, reader: &Reader, session: &Session, reading: &Reading<ForeignSession>) {
        let log = |path: &str, how| Problem::of_file(path, What::Log(how));
        self.problems = match (self.is_gone, session.lifecycle.is_over()) {
            // The files of a finished session may be missing because somebody tidied up.
            (true, true) => Vec::new(),
            (true, false) => vec![log(&self.located.spot.folder(), AgainstTheLog::Gone)],
            (false, _) => {
                let damaged = !self.in_state(FileState::Damaged).is_empty();
                let said = damaged.then(|| reader.read(&self.located, &self.tree).warnings);
                let unmoved = self.moving.as_ref().map(|Moving { from, to }| {
                    log(from, AgainstTheLog::NotMoved { to: self.located.below_project(to) })
                });
                let differs = |(path, state): (&String, FileState)| {
                    let how = self.against_the_log(path, state, said.as_deref().unwrap_or_default())?;
                    Some(log(path, how))
                };
                let all = reading.warnings.iter().cloned().chain(unmoved);
                all.chain(self.states().filter_map(differs)).collect()
            }
        };
    }

    /// How a file differs from the log; `None` if it does not. `said` contains the problems found in the
    /// files.
    fn against_the_log(&self, path: &str, state: FileState, said: &[Problem]) -> Option<AgainstTheLog> {
        let is_marker = self.located.is_marker(path);
        match state {
            // A file that could never be read is reported elsewhere.
            FileState::Same | FileState::OfOthers | FileState::Moved | FileState::NeverRead => None,
            FileState::Edited => Some(AgainstTheLog::Edited(match (is_marker, self.row(path).is_some()) {
                (true, _) if self.is_taken_away(path) => Change::TakenAway,
                (false, true) => Change::Changed,
                (true, _) | (false, false) => Change::Made,
            })),
            FileState::Leftover | FileState::Behind => {
                Some(AgainstTheLog::Behind(match (self.tree.get(path).is_some(), is_marker) {
                    (true, false) => Stale::Older,
                    (true, true) => Stale::StillThere,
                    (false, _) => Stale::NotThereYet,
                }))
            }
            FileState::Unreadable => Some(AgainstTheLog::LeftAlone {
                why: match self.tree.get(path) {
                    Some(Entry::Unusable(why)) => Some(why.clone()),
                    Some(Entry::Folder | Entry::File(_) | Entry::Unread { .. }) | None => None,
                },
            }),
            FileState::Missing => Some(AgainstTheLog::Missing),
            FileState::Damaged => {
                let why = said.iter().find(|problem| problem.path == path).map(Problem::reason);
                Some(AgainstTheLog::Damaged { why: Some(why.unwrap_or_default()) })
            }
        }
    }
}
