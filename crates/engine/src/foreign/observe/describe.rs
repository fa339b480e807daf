//! Describes how a session's files differ from the log, for views and for `doctor`.

use crate::foreign::discover::markers::is_marker;
use crate::foreign::observe::read::warnings;
use crate::foreign::observe::{FileState, Observation};
use crate::foreign::publish::folders::Moving;
use crate::view::Warning;
use layouts::layout::ForeignSession;
use layouts::problem::{AgainstTheLog, Change, Problem, Stale, What};
use layouts::reading::Reading;
use layouts::tree::Entry;
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;

impl Observation {
    pub(crate) fn describe(&mut self, session: &Session, reading: &Reading<ForeignSession>) {
        if self.is_gone {
            return self.describe_gone(session);
        }
        self.problems = warnings(&self.located.spot, reading);
        if let Some(Moving { from, to }) = self.moving.clone() {
            let how = AgainstTheLog::NotMoved { to: self.located.spot.below_project(&to) };
            let warning = self.warning(&from, how, session);
            self.problems.push(warning);
        }
        let told: Vec<Warning> = self
            .states()
            .filter_map(|(path, state)| Some(self.warning(path, self.against_the_log(path, state)?, session)))
            .collect();
        self.problems.extend(told);
    }

    fn warning(&self, path: &str, how: AgainstTheLog, session: &Session) -> Warning {
        let place = self.located.spot.below_project(path);
        let (kind, hint) = (how.kind(), hint(&how, &session.id));
        let problem = Problem::of_file(path, What::Log(how));
        Warning::new(kind, problem.sentence(&place)).hint(hint).at(place).of(problem)
    }

    /// How a file differs from the log; `None` if it does not.
    fn against_the_log(&self, path: &str, state: FileState) -> Option<AgainstTheLog> {
        let is_marker = is_marker(self.located.layout, path);
        match state {
            // A file that was never read was already reported when read now.
            FileState::Same | FileState::OfOthers | FileState::Moved | FileState::NeverRead => None,
            FileState::Edited => Some(AgainstTheLog::Edited(match (is_marker, self.row(path).is_some()) {
                (true, _) => self.marker_edit(path),
                (false, true) => Change::Changed,
                (false, false) => Change::Made,
            })),
            FileState::Leftover | FileState::Behind => {
                Some(AgainstTheLog::Behind(match (self.tree.get(path).is_some(), is_marker) {
                    (true, false) => Stale::Older,
                    (true, true) => Stale::StillThere,
                    (false, _) => Stale::NotThereYet,
                }))
            }
            FileState::Unreadable => Some(AgainstTheLog::LeftAlone { why: self.why_unusable(path) }),
            FileState::Missing => Some(AgainstTheLog::Missing),
            FileState::Damaged => Some(AgainstTheLog::Damaged {
                why: self.verdicts.get(path).and_then(|found| found.why.clone()),
            }),
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
            return Hint::new("the next command that changes the session adopts it");
        }
        AgainstTheLog::Behind(_) | AgainstTheLog::Missing | AgainstTheLog::Gone => "rewrite it: ",
        AgainstTheLog::LeftAlone { .. } => "make it readable, or quarantine it: ",
        AgainstTheLog::Damaged { .. } => "quarantine and rewrite it: ",
        AgainstTheLog::NotMoved { .. } => "move it: ",
    };
    Hint::new(text).run(words!["repair", "--session", id])
}
