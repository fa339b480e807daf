//! Looks for problems and changes nothing. Every finding says what to do.

mod database_and_disk;

pub use database_and_disk::fix;

use crate::config::Config;
use crate::definitions;
use crate::engine::{Engine, is_unfinished};
use crate::error::{Error, Result};
use crate::from_hex;
use crate::sharing::placed;
use crate::{Intent, Options};
use model::event::Event;
use model::hint::Hint;
use model::id::SessionId;
use model::item::ItemBook;
use model::session::{FOLD_VERSION, Session};
use model::words;
use serde::Serialize;
use std::collections::BTreeMap;
use store::chain::{Broken, Hash, check};
use store::{EventRow, Filter, Loaded};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: String,
    pub message: String,
    pub hint: Option<Hint>,
}

impl Finding {
    pub(crate) fn new(kind: &str, message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), hint: Some(hint.into()) }
    }

    fn of(error: &Error) -> Self {
        Self { kind: error.kind().to_owned(), message: error.to_string(), hint: error.hint() }
    }
}

/// Returns all problems of this project. A folder outside any project is an error; a broken store is a finding.
pub fn diagnose(options: Options) -> Result<Vec<Finding>> {
    let engine = match Engine::open(options, Intent::Query) {
        Ok(engine) => engine,
        Err(error @ Error::NoProject { .. }) => return Err(error),
        Err(error) => return Ok(vec![Finding::of(&error)]),
    };
    let mut findings = Vec::new();
    if let Err(error) = Config::read(&engine.project) {
        findings.push(Finding::of(&error));
    }
    let of_store = engine.warnings.iter().filter(|warning| warning.kind != "config");
    findings.extend(of_store.map(|warning| Finding {
        kind: warning.kind.clone(),
        message: warning.message.clone(),
        hint: warning.hint.clone(),
    }));
    match examine(&engine, &mut findings) {
        // The store's schema is newer than this program, so nothing else can be checked.
        Err(Error::Store(error @ store::Error::Newer { .. })) => {
            findings.push(Finding::of(&error.into()));
            findings.dedup();
        }
        examined => examined?,
    }
    Ok(findings)
}

/// Adds the findings of everything that can be checked in an open project.
fn examine(engine: &Engine, findings: &mut Vec<Finding>) -> Result<()> {
    findings.extend(engine.store_findings()?);
    findings.extend(definition_findings(engine));
    for line in engine.requirement_problems() {
        findings.push(Finding::new("requirements", line, "fix the file; until then it blocks no agent"));
    }
    for line in engine.store.check()? {
        findings.push(Finding::new(
            "store",
            line,
            Hint::new("make a backup first: ").run(words!["store", "backup", "FILE"]),
        ));
    }
    for line in engine.store.info()?.warnings {
        let hint = match engine.team {
            Some(_) => "ask whoever runs the server",
            None => "a local disk is faster and safer",
        };
        findings.push(Finding::new("store_place", line, hint));
    }
    let unadopted: Vec<SessionId> = engine.unadopted().into_iter().map(|located| located.id).collect();
    findings.extend(session_findings(engine)?);
    add_unknown(findings, engine.file_findings()?);
    findings.extend(engine.registry_findings());
    findings.extend(engine.all_kept_elsewhere().into_iter().map(|warning| Finding {
        kind: warning.kind,
        message: warning.message,
        hint: warning.hint,
    }));
    for warning in engine.place_warnings() {
        findings.push(Finding::new(
            &warning.kind,
            warning.message,
            "move the entry out of the folder, or make it readable",
        ));
    }
    add_unknown(findings, unadopted_findings(engine, &unadopted)?);
    findings.extend(engine.sharing_findings());
    Ok(())
}

/// Adds the findings whose message is not in the list yet.
fn add_unknown(findings: &mut Vec<Finding>, more: Vec<Finding>) {
    for finding in more {
        if findings.iter().all(|known| known.message != finding.message) {
            findings.push(finding);
        }
    }
}

/// Returns discrepancies of sessions that are known only from files, as `status` shows them.
fn unadopted_findings(engine: &Engine, unadopted: &[SessionId]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for id in unadopted {
        if let Ok((_, session)) = engine.load(id) {
            findings.extend(discrepancy_findings(engine, &session)?);
        }
    }
    Ok(findings)
}

fn definition_findings(engine: &Engine) -> Vec<Finding> {
    let mistakes = definitions::all(&engine.project)
        .into_iter()
        .filter_map(|source| definitions::check(&source).err())
        .flatten();
    mistakes
        .map(|mistake| {
            Finding::new(
                "definition",
                mistake.to_string(),
                Hint::new("fix the definition, then check it: ")
                    .run(words!["workflow", "check"])
                    .then(" checks it"),
            )
        })
        .collect()
}

/// Compares the session that its log folds into with the session's snapshot, for each session.
pub(crate) fn session_findings(engine: &Engine) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for listed in engine.store.list(&Filter::default())? {
        let id = listed.row.id;
        let Some(loaded) = engine.store.load(&id)? else { continue };
        let history = match engine.history_kept(&id) {
            Err(error) => {
                findings.push(Finding::of(&error));
                continue;
            }
            Ok(history) => history,
        };
        let items = ItemBook::fold(&history);
        match engine.folded_from(&history, &id) {
            Err(error) => findings.push(Finding::of(&error)),
            Ok(session) => {
                drop(history);
                findings.extend(discrepancy_findings(engine, &session)?);
                if let Some(kind) = &session.unknown_event {
                    let message = format!("session {id} contains an event of a newer leftoff: '{kind}'");
                    findings.push(Finding::new(
                        "newer_event",
                        message,
                        "use the newer leftoff for this session",
                    ));
                }
                findings.extend(chain_findings(engine, &id)?);
                if !engine.items_agree(&id, items)? {
                    let message = format!("the items of session {id} do not match its log");
                    findings.push(Finding::new(
                        "items",
                        message,
                        "the log is right, and commands use it; please report this",
                    ));
                }
                if !snapshot_agrees(engine, &loaded, session)? {
                    let message = format!("the snapshot of session {id} does not match its log");
                    findings.push(Finding::new(
                        "snapshot",
                        message,
                        "the log is right, and commands use it; please report this",
                    ));
                }
            }
        }
    }
    Ok(findings)
}

/// Returns findings about rows that were changed, removed or inserted without leftoff.
fn chain_findings(engine: &Engine, id: &SessionId) -> Result<Vec<Finding>> {
    // The stored log is checked, because edits found in files are not in it yet and have no seals.
    let stored = engine.store.base();
    let (chain, events) = (stored.chain(id)?, stored.events(id, 0, None)?);
    let broken = check(&chain, &events, &purged_hashes(&events));
    let finding = |broken: &Broken| {
        Finding::new(
            "chain",
            damaged(id, broken),
            "compare the log with an earlier copy: a backup of the store, or a bundle",
        )
    };
    Ok(broken.iter().map(finding).collect())
}

pub(crate) fn damaged(id: &SessionId, broken: &Broken) -> String {
    format!("the log of session {id} does not match its hash chain: {broken}")
}

/// Returns the recorded hashes of purged events. If an event was purged twice, the newest hash is used.
pub(crate) fn purged_hashes(events: &[EventRow]) -> BTreeMap<u64, Hash> {
    let purges = events.iter().filter(|row| row.kind == "purged").filter_map(|row| {
        let Event::Purged { rewritten, .. } = Event::read(&row.kind, &row.body) else { return None };
        Some(rewritten)
    });
    purges.flatten().filter_map(|told| Some((told.version, from_hex(&told.hash)?))).collect()
}

/// Compares an unfinished session with the disk.
fn discrepancy_findings(engine: &Engine, session: &Session) -> Result<Vec<Finding>> {
    if !is_unfinished(session.lifecycle.name()) {
        return Ok(Vec::new());
    }
    // Uses the current state of the session's files if it can be read.
    let seen = engine.load(&session.id).ok().map(|(_, seen)| seen);
    let found = engine.discrepancies(seen.as_ref().unwrap_or(session))?;
    Ok(found
        .into_iter()
        .map(|found| {
            Finding::new(&found.kind, format!("session {}: {}", session.id, found.message), found.remedy)
        })
        .collect())
}

/// True if the snapshot equals the session that the log folds into, or if this program ignores it because of its fold
/// version.
fn snapshot_agrees(engine: &Engine, loaded: &Loaded, from_log: Session) -> Result<bool> {
    let is_ours = loaded.snapshot.as_ref().is_some_and(|snapshot| snapshot.fold_version == FOLD_VERSION);
    let kept = if is_ours { engine.advanced_snapshot(loaded)? } else { return Ok(true) };
    Ok(kept.is_some_and(|kept| placed(kept, &loaded.row) == from_log.trimmed()))
}
