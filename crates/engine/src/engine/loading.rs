//! Loads and folds sessions and definitions from the store. Writes nothing.

use crate::NATIVE;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::Plan;
use crate::hex;
use crate::sharing::placed;
use model::event::{Event, Recorded};
use model::id::SessionId;
use model::session::{FOLD_VERSION, Session};
use model::workflow::Workflow;
use sha2::{Digest, Sha256};
use std::rc::Rc;
use store::{EventRow, Loaded, SessionRow, Snapshot, Store, StreamAppend};

/// A definition, and the SHA-256 of its stored text.
#[derive(Clone)]
pub(crate) struct Defined {
    pub(crate) workflow: Rc<Workflow>,
    pub(crate) digest: Rc<str>,
}

impl Defined {
    fn read(body: &str) -> Option<Self> {
        let workflow = Rc::new(serde_json::from_str(body).ok()?);
        Some(Self { workflow, digest: hex(&Sha256::digest(body.as_bytes())).into() })
    }
}

/// The session that this process changed last, kept so that the next command need not parse it again. It is not used if
/// somebody else has changed the session since.
pub(crate) struct LastKept {
    row: SessionRow,
    /// The stored snapshot. It may be a few events older than the session.
    snapshot: Snapshot,
    /// The session; `None` while a command changes it.
    session: Option<Session>,
}

/// How many events a stored snapshot may be behind its session. Readers apply the missing events after loading the
/// snapshot.
const SNAPSHOT_EVERY: u64 = 8;

/// Says, after each part of a history, if the next part is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    Continue,
    Stop,
}

impl Engine {
    /// Returns a session and its row, with external edits applied in memory.
    pub(crate) fn load(&self, id: &SessionId) -> Result<(Loaded, Session)> {
        if let Some(native) = self.native(id)? {
            let session = self.folded(&native)?;
            return Ok((native, session));
        }
        self.load_kept(id)
    }

    /// Returns the row of a native session. Any other session is observed first, and `None` is returned.
    fn native(&self, id: &SessionId) -> Result<Option<Loaded>> {
        if self.observed(id).is_some() {
            return Ok(None);
        }
        let native = self.store.load(id)?.filter(|loaded| loaded.row.layout == NATIVE);
        if native.is_none() {
            self.observe(id)?;
        }
        Ok(native)
    }

    /// Returns a session and its row as stored, with the changes that were already applied in memory.
    pub(crate) fn load_kept(&self, id: &SessionId) -> Result<(Loaded, Session)> {
        let Some(loaded) = self.store.load(id)? else {
            return Err(Error::UnknownSession { asked: id.to_string(), nearest: None });
        };
        let session = self.folded(&loaded)?;
        Ok((loaded, session))
    }

    /// Returns the session from its snapshot if the snapshot is valid, otherwise folded from its log.
    pub(crate) fn folded(&self, loaded: &Loaded) -> Result<Session> {
        if let Some(session) = self.kept_in_memory(loaded) {
            return Ok(placed(session, &loaded.row));
        }
        match self.advanced_snapshot(loaded)? {
            Some(session) => Ok(placed(session, &loaded.row)),
            None => Ok(placed(self.replay_kept(&loaded.row.id)?, &loaded.row).trimmed()),
        }
    }

    /// Returns the session as this process stored it last; `None` if somebody has changed it since.
    fn kept_in_memory(&self, loaded: &Loaded) -> Option<Session> {
        let mut last = self.last_kept.borrow_mut();
        let last = last.as_mut().filter(|last| last.row.id == loaded.row.id)?;
        let is_current = last.row.version == loaded.row.version
            && last.row.updated_at == loaded.row.updated_at
            && loaded.snapshot.as_ref() == Some(&last.snapshot);
        last.session.take().filter(|_| is_current)
    }

    /// Returns the session from its snapshot and the later events; `None` if they do not lead to the stored version.
    pub(crate) fn advanced_snapshot(&self, loaded: &Loaded) -> Result<Option<Session>> {
        let row = &loaded.row;
        let is_valid = |found: &&Snapshot| found.fold_version == FOLD_VERSION && found.version <= row.version;
        let Some(snapshot) = loaded.snapshot.as_ref().filter(is_valid) else { return Ok(None) };
        let since = match row.version - snapshot.version {
            0 => Vec::new(),
            behind => self.store.events(&row.id, snapshot.version, usize::try_from(behind).ok())?,
        };
        Ok(advanced(snapshot, &since, &row.id)?.filter(|session| session.version == row.version))
    }

    /// Remembers a stored change of a session.
    pub(crate) fn remember_kept(&self, stream: StreamAppend, session: Session) {
        let before = self.last_kept.take().filter(|last| last.row.id == stream.row.id);
        let snapshot = stream.snapshot.or(before.map(|last| last.snapshot));
        let kept = snapshot.map(|snapshot| LastKept { row: stream.row, snapshot, session: Some(session) });
        self.last_kept.replace(kept);
    }

    /// True if the stored snapshot may stay a few events behind, because this process stored the session last.
    pub(crate) fn may_spare_snapshot(&self, plan: &Plan) -> bool {
        let Some(before) = plan.subject.before.as_ref().filter(|session| session.layout == NATIVE) else {
            return false;
        };
        let newest = before.version + plan.subject.events.len() as u64;
        let is_recent = |last: &LastKept| newest < last.snapshot.version + SNAPSHOT_EVERY;
        let last = self.last_kept.borrow();
        let last =
            last.as_ref().filter(|last| last.row.id == before.id && last.row.version == before.version);
        plan.history.is_empty() && plan.taken.is_none() && last.is_some_and(is_recent)
    }

    /// Returns a session folded from its whole log.
    pub(crate) fn replay(&self, id: &SessionId) -> Result<Session> {
        self.native(id)?;
        self.replay_kept(id)
    }

    pub(crate) fn replay_kept(&self, id: &SessionId) -> Result<Session> {
        self.folded_from(&self.history_kept(id)?, id)
    }

    pub(crate) fn folded_from(&self, events: &[Recorded], id: &SessionId) -> Result<Session> {
        let taken = self.taken_here(id)?;
        let session = Session::fold_taken(events, taken.as_ref()).ok_or_else(|| Error::BrokenLog {
            session: id.to_string(),
            why: "its first event does not start the session".to_owned(),
        })?;
        self.in_its_place(session, id)
    }

    /// Returns a session that was folded from its log, with the id and the worktree that the store has for it.
    pub(crate) fn in_its_place(&self, session: Session, id: &SessionId) -> Result<Session> {
        Ok(match self.store.load(id)? {
            Some(loaded) => placed(session, &loaded.row),
            None => session,
        })
    }

    pub(crate) fn history(&self, id: &SessionId) -> Result<Vec<Recorded>> {
        self.native(id)?;
        self.history_kept(id)
    }

    pub(crate) fn history_kept(&self, id: &SessionId) -> Result<Vec<Recorded>> {
        let mut history = Vec::new();
        self.each_page(id, 0, |page| {
            for row in page {
                history.push(read_event(id, row)?);
            }
            Ok(Reading::Continue)
        })?;
        Ok(history)
    }

    /// Passes the rows of a session after this version to `read`, page by page, so that a long history is never in
    /// memory as a whole.
    pub(crate) fn each_page(
        &self,
        id: &SessionId,
        after: u64,
        mut read: impl FnMut(&[EventRow]) -> Result<Reading>,
    ) -> Result<()> {
        const PAGE: usize = 1_000;
        let mut after = after;
        loop {
            let page = self.store.events(id, after, Some(PAGE))?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.version;
            if read(&page)? == Reading::Stop || page.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Returns the definition with which a run started.
    pub(crate) fn definition(&self, hash: &str) -> Result<Option<Rc<Workflow>>> {
        Ok(self.defined(hash)?.map(|found| found.workflow))
    }

    pub(crate) fn defined(&self, hash: &str) -> Result<Option<Defined>> {
        if let Some(known) = self.definitions.borrow().get(hash) {
            return Ok(Some(known.clone()));
        }
        let found = self.store.definition(hash)?.and_then(|body| Defined::read(&body));
        if let Some(found) = &found {
            self.definitions.borrow_mut().insert(hash.to_owned(), found.clone());
        }
        Ok(found)
    }

    /// Caches a definition that was read here and is about to be stored: a definition stored earlier under the same
    /// hash may differ.
    pub(crate) fn know_definition(&self, workflow: &Workflow) {
        let body = serde_json::to_string(workflow).unwrap_or_default();
        if let Some(defined) = Defined::read(&body) {
            self.definitions.borrow_mut().insert(workflow.hash.clone(), defined);
        }
    }
}

/// Returns the session of a snapshot with the later events applied. `None` if the snapshot cannot be read, or if one of
/// the events restores an earlier version.
pub(crate) fn advanced(snapshot: &Snapshot, since: &[EventRow], id: &SessionId) -> Result<Option<Session>> {
    let Ok(mut session) = serde_json::from_str::<Session>(&snapshot.body) else { return Ok(None) };
    for row in since {
        let recorded = read_event(id, row)?;
        if matches!(recorded.event, Event::Restored { .. }) {
            return Ok(None);
        }
        session = session.apply(&recorded);
    }
    Ok(Some(if since.is_empty() { session } else { session.trimmed() }))
}

/// Parses a stored event.
pub(crate) fn read_event(id: &SessionId, row: &EventRow) -> Result<Recorded> {
    Ok(Recorded {
        version: row.version,
        at: row.at,
        actor: serde_json::from_str(&row.actor).map_err(|error| Error::BrokenLog {
            session: id.to_string(),
            why: format!("the actor of event {}: {error}", row.version),
        })?,
        event: Event::read(&row.kind, &row.body),
    })
}
