//! Tells how a session's files differ from the log, for whoever reads a view, and for `doctor`.

use super::eyes::warnings;
use super::look::{FileState, Look};
use super::moving::Moving;
use super::signs::is_sign;
use crate::view::Warning;
use layouts::layout::ForeignSession;
use layouts::problem::{AgainstTheLog, Change, Problem, Stale, What};
use layouts::reading::Reading;
use layouts::tree::Entry;
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;

impl Look {
    pub(super) fn tell(&mut self, session: &Session, reading: &Reading<ForeignSession>) {
        if self.is_gone {
            return self.tell_gone(session);
        }
        self.warnings = warnings(&self.located.spot, reading);
        if let Some(Moving { from, to }) = self.moving.clone() {
            let how = AgainstTheLog::NotMoved { to: self.located.spot.below_project(&to) };
            let warning = self.warning(&from, how, session);
            self.warnings.push(warning);
        }
        let told: Vec<Warning> = self
            .states
            .iter()
            .filter_map(|(path, state)| {
                Some(self.warning(path, self.against_the_log(path, *state)?, session))
            })
            .collect();
        self.warnings.extend(told);
    }

    fn warning(&self, path: &str, how: AgainstTheLog, session: &Session) -> Warning {
        let place = self.located.spot.below_project(path);
        let (kind, hint) = (how.kind().to_owned(), hint(&how, &session.id));
        let problem = Problem::of_file(path, What::Log(how));
        Warning {
            kind,
            message: problem.told_of(&place),
            hint: Some(hint),
            path: Some(place),
            problem: Some(Box::new(problem)),
        }
    }

    /// How a file differs from what the log says; nothing where it does not.
    fn against_the_log(&self, path: &str, state: FileState) -> Option<AgainstTheLog> {
        let is_sign = is_sign(self.located.layout, path);
        match state {
            // The problem of one that was never read was told when it was read now.
            FileState::Same | FileState::OfOthers | FileState::Moved | FileState::NeverRead => None,
            FileState::Edited => Some(AgainstTheLog::Edited(match (is_sign, self.rows.contains_key(path)) {
                (true, _) => self.sign_edit(path),
                (false, true) => Change::Changed,
                (false, false) => Change::Made,
            })),
            FileState::Leftover | FileState::Behind => {
                Some(AgainstTheLog::Behind(match (self.tree.get(path).is_some(), is_sign) {
                    (true, false) => Stale::Older,
                    (true, true) => Stale::StillThere,
                    (false, _) => Stale::NotThereYet,
                }))
            }
            FileState::Unreadable => Some(AgainstTheLog::LeftAlone { why: self.why_unusable(path) }),
            FileState::Missing => Some(AgainstTheLog::Missing),
            FileState::Damaged => Some(AgainstTheLog::Damaged { why: self.damage.get(path).cloned() }),
        }
    }

    fn why_unusable(&self, path: &str) -> Option<String> {
        match self.tree.get(path) {
            Some(Entry::Unusable(why)) => Some(why.clone()),
            Some(Entry::Folder | Entry::File(_) | Entry::Unread { .. }) | None => None,
        }
    }
}

fn hint(how: &AgainstTheLog, id: &SessionId) -> Hint {
    let text = match how {
        AgainstTheLog::Edited(_) => {
            return Hint::new("the next command that changes the session takes it in");
        }
        AgainstTheLog::Behind(_) | AgainstTheLog::Missing | AgainstTheLog::Gone => "write it again: ",
        AgainstTheLog::LeftAlone { .. } => "make it readable, or set it aside: ",
        AgainstTheLog::Damaged { .. } => "set it aside and write it again: ",
        AgainstTheLog::NotMoved { .. } => "move it: ",
    };
    Hint::new(text).run(words!["repair", "--session", id])
}
