//! What a look found, in words: for whoever reads a view, and for `doctor`.

use super::eyes::warnings;
use super::look::{FileState, Look};
use super::moving::Moving;
use super::signs::is_sign;
use crate::view::Warning;
use layouts::layout::Told;
use layouts::reading::Reading;
use layouts::tree::Entry;
use model::hint::Hint;
use model::session::Session;
use model::words;

/// What is meant by what was found, until it is mended.
pub(super) const NOT_IN_THE_LOG_YET: &str = "shown as it says, and not in the log yet";
pub(super) const FROM_THE_LOG: &str = "going on from the log";
pub(super) const LEFT_ALONE: &str = "it is left alone, and the log goes on";
pub(super) const LOG_HAS_ALL: &str = "the log has all of it";

impl Look {
    pub(super) fn tell(&mut self, session: &Session, reading: &Reading<Told>) {
        if self.is_gone {
            return self.tell_gone(session);
        }
        self.warnings = warnings(&self.located.spot, reading);
        if let Some(Moving { from, to }) = &self.moving {
            let (from, to) = (self.located.spot.below_project(from), self.located.spot.below_project(to));
            self.warnings.push(Warning {
                kind: "view_stale".to_owned(),
                message: format!("{from} is to be {to}, and did not get there"),
                hint: Some(Hint::new("move it: ").run(words!["repair", "--session", session.id])),
                path: Some(from),
                problem: None,
            });
        }
        let states: Vec<(String, FileState)> =
            self.states.iter().map(|(path, state)| (path.clone(), state.clone())).collect();
        for (path, state) in states {
            let why = self.damage.get(&path).map(|why| format!(": {why}")).unwrap_or_default();
            let unusable = match self.tree.get(&path) {
                Some(Entry::Unusable(why)) => format!(" ({why})"),
                Some(Entry::Folder | Entry::File(_) | Entry::Unread { .. }) | None => String::new(),
            };
            let is_there = self.tree.get(&path).is_some();
            let sign = is_sign(self.located.layout, &path).then(|| self.sign_edit(&path));
            let is_new = !self.rows.contains_key(&path);
            let changed = sign.unwrap_or(if is_new { "made" } else { "changed" });
            let stale = match (is_there, sign) {
                (true, None) => "older than the log",
                (true, Some(_)) => "still there",
                (false, _) => "not there yet",
            };
            let path = self.located.spot.below_project(&path);
            let id = &session.id;
            let told = match state {
                // What is odd about one that was never read was told when it was read now.
                FileState::Same | FileState::OfOthers | FileState::Moved | FileState::NeverRead => None,
                FileState::Edited => Some((
                    "edited_outside",
                    format!("{path} was {changed} by somebody else; {NOT_IN_THE_LOG_YET}"),
                    Hint::new("the next command that changes the session takes it in"),
                )),
                FileState::Leftover | FileState::Behind => Some((
                    "view_stale",
                    format!("{path} is {stale}: a write did not get there"),
                    Hint::new("write it again: ").run(words!["repair", "--session", id]),
                )),
                FileState::Unreadable => Some((
                    "view_unreadable",
                    format!("{path} cannot be looked at{unusable}; {LEFT_ALONE}"),
                    Hint::new("make it readable, or set it aside: ").run(words!["repair", "--session", id]),
                )),
                FileState::Missing => Some((
                    "view_missing",
                    format!("{path} is missing; {LOG_HAS_ALL}"),
                    Hint::new("write it again: ").run(words!["repair", "--session", id]),
                )),
                FileState::Damaged => Some((
                    "view_damaged",
                    format!("{path} is damaged{why}; {FROM_THE_LOG}"),
                    Hint::new("set it aside and write it again: ").run(words!["repair", "--session", id]),
                )),
            };
            if let Some((kind, message, hint)) = told {
                self.warnings.push(Warning {
                    kind: kind.to_owned(),
                    message,
                    hint: Some(hint),
                    path: Some(path),
                    problem: None,
                });
            }
        }
    }
}
