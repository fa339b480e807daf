//! Moves session folders, in layouts where the folder shows a session's state. The move happens in one step, after the
//! change is in the log. It is stored with the command's events, like a file to write, and confirmed when it is done.

use crate::disk::{self, below};
use crate::doctor::Finding;
use crate::engine::{Engine, is_unfinished};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::failpoint;
use layouts::observation::belongs;
use layouts::reader::Located;
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::session::Session;
use model::words;
use std::fs;
use std::path::Path;
use store::ViewRow;

impl Engine {
    /// Plans to move the folder of each session that ends, or that continues after its end, to the place for its new
    /// state. Never replaces an existing folder.
    pub(crate) fn send_to_places(&self, plan: &mut Plan) {
        let mut said = Vec::new();
        for change in std::iter::once(&mut plan.subject).chain(&mut plan.others) {
            let Some(before) = &change.before else { continue };
            let after = folded(before, &change.events);
            let is_open = |session: &Session| is_unfinished(session.lifecycle.name());
            if is_open(before) == is_open(&after) {
                continue;
            }
            match self.to_be_at(&after) {
                Some((path, true)) => change.events.push(Event::SessionMoved { path }),
                Some((path, false)) => {
                    let own = before.path.clone().unwrap_or_default();
                    said.push(format!("the session's files stay in {own}: {path} already exists"));
                }
                None => {}
            }
        }
        plan.said.extend(said);
    }

    /// Returns the place that fits a session's state, if the session is not there, and true if nothing is in that place
    /// yet.
    pub(crate) fn to_be_at(&self, session: &Session) -> Option<(String, bool)> {
        let located = self.located(session)?;
        let path = belongs(located.layout, &located.spot, session)?;
        let is_free = self.root_of(session).join(&path).symlink_metadata().is_err();
        Some((path, is_free))
    }

    /// Returns a finding if a session's folder is not in the place for the session's state.
    pub(crate) fn misplaced(&self, session: &Session) -> Option<Finding> {
        let (path, is_free) = self.to_be_at(session)?;
        let own = session.path.as_deref().unwrap_or_default();
        let hint = if is_free {
            Hint::new("move the files: ").run(words!["repair", "--session", session.id])
        } else {
            format!("{path} already exists: move it or {own} elsewhere by hand").into()
        };
        Some(Finding {
            kind: "misplaced".to_owned(),
            message: format!(
                "session {} is {}, but its files are in {own}; they belong in {path}",
                session.id,
                session.lifecycle.name()
            ),
            hint: Some(hint),
        })
    }

    /// Moves a session's folder to its planned place. Can be repeated without harm.
    pub(crate) fn move_folder(&self, located: &Located, root: &Path, row: &ViewRow) -> Result<()> {
        let from = String::from_utf8_lossy(&row.body).into_owned();
        let source = below(root, &located.spot.below_project(&from))?;
        let target = below(root, &located.spot.path)?;
        failpoint::reached("folder-before-move");
        let failed = |source| Error::io(format!("moving {from} to {}", target.display()), source);
        if source.symlink_metadata().is_err() {
            return Ok(());
        }
        if target.symlink_metadata().is_ok() {
            return Err(Error::AlreadyThere { path: target });
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        disk::move_to_free(&source, &target).map_err(failed)?;
        failpoint::reached("folder-moved");
        Ok(())
    }
}

/// Returns a session as it is after uncommitted events. Their time and actor do not matter here.
fn folded(before: &Session, events: &[Event]) -> Session {
    let recorded = |event: &Event| Recorded {
        version: before.version + 1,
        at: before.updated_at,
        actor: before.last_actor.clone(),
        event: event.clone(),
    };
    events.iter().map(recorded).fold(before.clone(), |session, recorded| session.apply(&recorded))
}
