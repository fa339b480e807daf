//! Collects the data to verify: from the store, from a bundle, or from rows that were fetched.

use crate::engine::Engine;
use crate::error::Result;
use crate::execute::opened_bundle;
use model::event::Event;
use model::id::SessionId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use store::EventRow;
use store::chain::{Chain, Given, seal};

/// The name of the source if the history is in this machine's store.
pub(super) const STORE: &str = "store";

type Contents<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// A session's history and related data.
pub(crate) struct Material<'a> {
    pub(crate) session: SessionId,
    pub(crate) rows: Vec<EventRow>,
    pub(crate) chain: Chain,
    /// The version up to which rows are stored. Later rows are external edits, which have no seal yet.
    pub(crate) kept: u64,
    /// The version up to which rows came from another machine. Only a recorded head or a signature can show who wrote
    /// them.
    pub(crate) from_elsewhere: u64,
    /// The stored definitions, by the hash of their source.
    pub(crate) definitions: BTreeMap<String, String>,
    /// Returns the stored content of a recorded file, by its hash.
    pub(crate) contents: Box<Contents<'a>>,
    /// The folder to which recorded paths are relative.
    pub(crate) root: PathBuf,
    pub(crate) source: &'static str,
}

impl<'a> Material<'a> {
    pub(crate) fn of_store(engine: &'a Engine, id: &SessionId) -> Result<Self> {
        let session = engine.replay(id)?;
        let rows = engine.store.events(id, 0, None)?;
        let newest = rows.last().map_or(0, |row| row.version);
        let mut definitions = BTreeMap::new();
        for hash in definitions_named(&rows) {
            definitions.extend(engine.store.definition(&hash)?.map(|body| (hash, body)));
        }
        Ok(Self {
            session: id.clone(),
            chain: engine.store.chain(id)?,
            kept: engine.store.pending(id).map_or(newest, |pending| pending.expected),
            from_elsewhere: written_elsewhere(engine, id, &rows)?,
            rows,
            definitions,
            contents: Box::new(|hash| engine.store.content(hash).ok().flatten()),
            root: session.machine.as_ref().map_or_else(
                || engine.root_of(&session),
                // If the session's worktree is on another machine, the session's files are compared with this worktree.
                |_| engine.project.root.clone(),
            ),
            source: STORE,
        })
    }

    pub(crate) fn of_bundle(engine: &Engine, path: &Path) -> Result<Self> {
        let bundle = opened_bundle(path)?;
        let newest = bundle.rows.last().map_or(0, |row| row.version);
        let contents = bundle.contents;
        Ok(Self {
            session: bundle.session,
            chain: chain_of(&bundle.rows, &bundle.seals),
            kept: newest,
            from_elsewhere: newest,
            rows: bundle.rows,
            definitions: bundle.definitions,
            contents: Box::new(move |hash| contents.get(hash).cloned()),
            root: engine.project.root.clone(),
            source: "bundle",
        })
    }

    /// Returns the rows that the hash chain covers.
    pub(crate) fn kept_rows(&self) -> &[EventRow] {
        let kept = usize::try_from(self.kept).unwrap_or(usize::MAX).min(self.rows.len());
        &self.rows[..kept]
    }
}

/// Returns the version of the last event that another machine wrote, for a session that came in a bundle or by sync;
/// otherwise 0.
fn written_elsewhere(engine: &Engine, id: &SessionId, rows: &[EventRow]) -> Result<u64> {
    let taken = rows.iter().rfind(|row| row.kind == "session_taken");
    let taken = taken.map_or(0, |row| row.version.saturating_sub(1));
    Ok(taken.max(engine.arrived_up_to(id)?))
}

/// Returns the hash chain as computed from the seals; empty if a row has no seal.
fn chain_of(rows: &[EventRow], seals: &BTreeMap<u64, Given>) -> Chain {
    let given: Option<Vec<Given>> = rows.iter().map(|row| seals.get(&row.version).copied()).collect();
    let Some(given) = given else { return Chain::default() };
    let mut given = given.into_iter();
    let made = seal(None, rows, |_| given.next().unwrap_or(Given::Salt([0; 16])));
    Chain {
        head: made.last().map(|seal| seal.link),
        since: rows.first().map(|row| row.version),
        seals: rows.iter().map(|row| row.version).zip(made).collect(),
    }
}

fn definitions_named(rows: &[EventRow]) -> BTreeSet<String> {
    let named = rows.iter().filter_map(|row| match Event::read(&row.kind, &row.body) {
        Event::RunStarted { workflow, .. } | Event::DefinitionUpdated { workflow, .. } => Some(workflow.hash),
        _ => None,
    });
    named.collect()
}

/// The contents of a bundle, as rows.
pub(crate) struct OpenedBundle {
    pub(crate) session: SessionId,
    pub(crate) rows: Vec<EventRow>,
    pub(crate) seals: BTreeMap<u64, Given>,
    pub(crate) definitions: BTreeMap<String, String>,
    pub(crate) contents: BTreeMap<String, Vec<u8>>,
}
