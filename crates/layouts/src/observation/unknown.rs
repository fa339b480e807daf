//! Reports sessions that only files contain, if the files say too little.

use super::Observation;
use crate::capabilities::own_part;
use crate::layout::Knows;
use crate::problem::Problem;
use crate::verdict::FileState;
use model::session::Session;

impl Observation {
    /// Unreadable files without which nothing is known about the session.
    pub fn untold(&self) -> impl Iterator<Item = &String> {
        let is_all =
            |path: &String| self.files().is_some_and(|files| files.knows == Knows::Nothing(path.clone()));
        self.verdicts.keys().filter(move |path| self.is_bad(path) && is_all(path))
    }

    fn is_bad(&self, path: &str) -> bool {
        matches!(self.state(path), Some(FileState::Damaged | FileState::Unreadable))
    }

    /// The unreadable file that is needed to understand the session, and why it is unreadable.
    pub fn what_nobody_knows(&self) -> Option<(String, String)> {
        let path = self.untold().next()?;
        Some((self.located.below_project(path), self.why_of(path).unwrap_or_default()))
    }

    /// Why a session that only these files contain cannot be understood; `None` if it can.
    pub fn why_it_tells_nothing(&self, session: &Session) -> Option<String> {
        let is_lost = |path: &String| self.is_bad(path) && self.documents.get(path) == self.tree.get(path);
        let run = session.run().filter(|_| self.is_foreign())?;
        let is_at_the_beginning = run.over() == 0 && run.current_number() == run.number_at(0);
        let located = &self.located;
        let tells = |path: &String| {
            let content = self.documents.content(path).unwrap_or_default();
            !is_lost(path) && !own_part(located.layout, &located.spot, path, content).is_empty()
        };
        if !is_at_the_beginning || session.items_added > 0 || self.verdicts.keys().any(tells) {
            return None;
        }
        let first = self.verdicts.keys().find(|path| is_lost(path))?;
        let place = located.below_project(first);
        let below = place.strip_prefix(&located.spot.path).unwrap_or(&place).trim_start_matches('/');
        Some(match (self.why_of(first), below) {
            (Some(why), "") => why,
            (Some(why), below) => format!("{below}: {why}"),
            (None, "") => "cannot be read".to_owned(),
            (None, below) => format!("{below} cannot be read"),
        })
    }

    /// The reason why a file is unreadable, if a problem gives one.
    fn why_of(&self, path: &str) -> Option<String> {
        self.problems.iter().find(|problem| problem.path == path).map(Problem::reason)
    }
}
