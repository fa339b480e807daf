//! Importing: a session of another tool's files becomes a native one, or gets the newest shape of its own layout.
//! On request only. The files that it came from are not touched by the first, and kept as a backup by the second.

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::Plan;
use crate::sync::{NATIVE, pointed};
use model::event::Event;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use std::path::Path;

/// The reason of a pause that began when a session was imported.
const REASON_IMPORTED: &str = "imported";

impl Engine {
    /// Imports a session: the one at a path or with an id, else the one that is meant.
    pub fn import(&mut self, asked: Option<&str>, layout: Option<&str>) -> Result<Answer> {
        let into = layout.unwrap_or(NATIVE).to_owned();
        let fingerprint = self.fingerprint("import", &format!("{asked:?} {into}"));
        let mut answer = self.execute(&fingerprint, |engine| {
            let id = engine.to_import(asked)?;
            let subject = engine.take_up(&id)?;
            let session = &subject.session;
            let from = session.layout.clone();
            if into != NATIVE && into != from {
                return Err(Error::WrongUsage {
                    message: format!("{id} is a session of {from}, and cannot become one of {into}"),
                    hint: format!("leave --layout out, or say: --layout {from}"),
                });
            }
            let path = session.path.clone().filter(|_| from != NATIVE);
            let Some(path) = path else { return Ok(Plan::of(subject.change(Vec::new()))) };
            let mut events = Vec::new();
            // One native session of a worktree is active, and this one was not asked to be it.
            if into == NATIVE && matches!(session.lifecycle, Lifecycle::Active) {
                let reason = REASON_IMPORTED.to_owned();
                events.push(Event::SessionPaused { reason, context: None, saved: Vec::new() });
            }
            events.push(Event::Imported { layout: from, path, into: into.clone() });
            Ok(Plan::of(subject.change(events)))
        })?;
        // What was odd about the files that it came from has no say in it any more.
        answer.view.warnings.retain(|warning| warning.kind != "foreign_file");
        Ok(answer)
    }

    fn to_import(&self, asked: Option<&str>) -> Result<SessionId> {
        let Some(asked) = asked else { return self.select(Want::Latest) };
        let Some(found) = pointed(&self.project.root.join(asked)).or_else(|| pointed(Path::new(asked)))
        else {
            return self.resolve(asked);
        };
        let is_here = self.project.root.canonicalize().is_ok_and(|root| root == found.root);
        if !is_here {
            return self.attend_elsewhere(&found);
        }
        let foreign = self.unadopted().into_iter().find(|located| located.spot.path == found.spot.path);
        Ok(foreign.map_or(found.spot.id, |located| located.id))
    }
}
