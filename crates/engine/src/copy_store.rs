//! Copies a whole store into another, session by session, and compares the result. Never changes the source. Refuses a
//! target that has other sessions.

use crate::config::Config;
use crate::engine::{Options, advanced};
use crate::error::{Error, Result};
use crate::execute::snapshot_of;
use crate::long_work::{Progress, Watcher, Work};
use crate::project::Project;
use crate::server_store::Team;
use model::hint::Hint;
use model::id::SessionId;
use model::session::FOLD_VERSION;
use model::words;
use std::path::Path;
use store::chain::{Given, Seal, check};
use store::{
    Access, Arrived, Batch, ContentRow, DefinitionRow, EventRow, Filter, ItemFilter, KEPT_ACTIVITIES, Listed,
    Snapshot, SqliteStore, Store, StreamAppend, TakenHistory,
};

/// The result of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Copied {
    pub from: String,
    pub to: String,
    pub sessions: usize,
    pub events: u64,
    /// The number of sessions that the target already had from an earlier copy.
    pub there_already: usize,
}

/// Copies the store at one place to another. A place is `sqlite` for this project's file, the path of a file, or a
/// server's URL.
pub fn copy_store(options: &Options, from: &str, to: &str) -> Result<Copied> {
    let folder = match &options.project {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?,
    };
    let project = Project::find(&folder)?;
    let watcher = &options.watcher;
    let source = opened(&project, from, Access::Read, watcher)?;
    let mut target = opened(&project, to, Access::Create, watcher)?;
    let (old, new) = (source.info()?, target.info()?);
    if old.id == new.id && old.engine == new.engine && old.engine != "postgres" || old.place == new.place {
        return Err(Error::WrongUsage {
            message: "a store cannot be copied into itself".to_owned(),
            hint: Hint::new("name another place: ")
                .run(words!["store", "copy", "--from", from, "--to", "FILE"]),
        });
    }
    let mut copied = Copied { from: old.place, to: new.place, ..Copied::default() };
    refuse_others(&*source, &*target, &copied.to)?;
    copy_texts(&*source, &mut *target, watcher)?;
    // The most recently changed session is copied last, so that both stores list sessions in the same order.
    let mut sessions = source.list(&Filter::default())?;
    sessions.reverse();
    for listed in watcher.each(Work::CopySessions, &sessions) {
        if target.load(&listed.row.id)?.is_some() {
            copied.there_already += 1;
        } else {
            copy_session(&*source, &mut *target, listed)?;
            copied.sessions += 1;
        }
        keep_arrival(&*source, &mut *target, &listed.row.id)?;
        copied.events += listed.row.version;
        compare(&*source, &*target, listed)?;
    }
    for key in source.keys()? {
        match target.append(&Batch { key: Some(key), ..Batch::default() }) {
            Ok(()) | Err(store::Error::KeyTaken) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for agent in source.agents(None)? {
        target.see_agent(&agent, crate::time_limits::PATIENCE)?;
    }
    Ok(copied)
}

fn opened(project: &Project, place: &str, access: Access, watcher: &Watcher) -> Result<Box<dyn Store>> {
    let upgrading = || watcher.see(Progress::Upgrade);
    if place == "sqlite" {
        return Ok(Box::new(SqliteStore::open_announcing(&project.database()?, access, &upgrading)?));
    }
    if !place.contains("://") {
        return Ok(Box::new(SqliteStore::open_announcing(Path::new(place), access, &upgrading)?));
    }
    let team = Team::at(project, &Config::read(project)?, place)?;
    Ok(if access == Access::Create { team.make(project)? } else { team.open(access, None)? })
}

/// Refuses a target if any of its sessions is not an exact copy of one in the source. Exact copies may remain from an
/// interrupted copy.
fn refuse_others(source: &dyn Store, target: &dyn Store, place: &str) -> Result<()> {
    for listed in target.list(&Filter::default())? {
        let id = &listed.row.id;
        let is_part = source.load(id)?.is_some_and(|known| known.row.version == listed.row.version)
            && source.events(id, 0, None)? == target.events(id, 0, None)?;
        if !is_part {
            return Err(Error::CopyRefused { place: place.to_owned(), session: id.to_string() });
        }
    }
    Ok(())
}

fn copy_texts(source: &dyn Store, target: &mut dyn Store, watcher: &Watcher) -> Result<()> {
    let (definitions, contents) = source.hashes()?;
    let (known, kept) = target.hashes()?;
    for hash in definitions.into_iter().filter(|hash| !known.contains(hash)) {
        if let Some(body) = source.definition(&hash)? {
            target.append(&Batch { definitions: vec![DefinitionRow { hash, body }], ..Batch::default() })?;
        }
    }
    let missing: Vec<String> = contents.into_iter().filter(|hash| !kept.contains(hash)).collect();
    for hash in watcher.each(Work::CopyTexts, &missing) {
        if let Some(body) = source.content(hash)? {
            let contents = vec![ContentRow { hash: hash.clone(), body }];
            target.append(&Batch { contents, ..Batch::default() })?;
        }
    }
    Ok(())
}

fn copy_session(source: &dyn Store, target: &mut dyn Store, listed: &Listed) -> Result<()> {
    let id = &listed.row.id;
    let Some(loaded) = source.load(id)? else { return Ok(()) };
    let events = source.events(id, 0, usize::try_from(loaded.row.version).ok())?;
    let seals = source.chain(id)?.seals.into_iter().map(|(version, seal)| (version, given(seal))).collect();
    let version = loaded.row.version;
    let snapshot = match loaded.snapshot.filter(|snapshot| snapshot.version <= version) {
        Some(behind) if behind.version < version => brought_up(&behind, &events, id)?,
        current => current,
    };
    let snapshot = Some(snapshot.unwrap_or_else(|| no_snapshot(version)));
    target.append(&Batch {
        streams: vec![StreamAppend { expected: 0, events, row: loaded.row, snapshot }],
        items: source.items(id, &ItemFilter::default())?,
        views: source.views(id)?,
        seals: [(id.clone(), seals)].into(),
        numbers: [(id.clone(), listed.number)].into(),
        ..Batch::default()
    })?;
    let activity = source.activity(id, KEPT_ACTIVITIES)?;
    Ok(target.record_activity(id, &activity, crate::time_limits::PATIENCE)?)
}

/// Copies the record of where a history came from, so that a history from another clone stays marked as such.
fn keep_arrival(source: &dyn Store, target: &mut dyn Store, id: &SessionId) -> Result<()> {
    let arrival =
        source.arrival(id)?.filter(|arrival| target.arrival(id).ok().flatten().as_ref() != Some(arrival));
    let (Some(arrival), Some(loaded)) = (arrival, target.load(id)?) else { return Ok(()) };
    let version = loaded.row.version;
    let seals = source.chain(id)?.seals.into_iter().map(|(version, seal)| (version, given(seal))).collect();
    let history = TakenHistory {
        expected: version,
        shared: version,
        events: target.events(id, 0, None)?,
        seals,
        row: loaded.row,
        snapshot: loaded.snapshot.unwrap_or_else(|| no_snapshot(version)),
        items: target.items(id, &ItemFilter::default())?,
        arrival: Some(arrival),
    };
    Ok(target.take_histories(&Arrived { histories: vec![history], ..Arrived::default() })?)
}

fn given(seal: Seal) -> Given {
    seal.salt.map_or(Given::Hash(seal.hash), Given::Salt)
}

/// Returns the snapshot with the later events applied; `None` if the snapshot cannot be used.
fn brought_up(behind: &Snapshot, events: &[EventRow], id: &SessionId) -> Result<Option<Snapshot>> {
    let since: Vec<EventRow> =
        events.iter().filter(|event| event.version > behind.version).cloned().collect();
    let is_ours = behind.fold_version == FOLD_VERSION;
    let session = if is_ours { advanced(behind, &since, id)? } else { None };
    session.map(|session| snapshot_of(&session)).transpose()
}

/// Returns an empty snapshot, which readers ignore.
fn no_snapshot(version: u64) -> Snapshot {
    Snapshot { fold_version: 0, version, body: "{}".to_owned() }
}

/// Fails unless the copy has the same events, state and items, and an intact hash chain that ends in the same link.
fn compare(source: &dyn Store, target: &dyn Store, listed: &Listed) -> Result<()> {
    let id = &listed.row.id;
    let differs = |what: &str| {
        Err(Error::BrokenLog {
            session: id.to_string(),
            why: format!("its copy has different {what}; nothing was removed"),
        })
    };
    let (events, copies) = (source.events(id, 0, None)?, target.events(id, 0, None)?);
    if events != copies {
        return differs("events");
    }
    let (old, new) = (source.chain(id)?, target.chain(id)?);
    let purged = crate::doctor::purged_hashes(&copies);
    if (old.head.is_some() && old.head != new.head) || !check(&new, &copies, &purged).is_empty() {
        return differs("links of its chain");
    }
    let (before, after) = (source.load(id)?, target.load(id)?);
    let state = |loaded: &Option<store::Loaded>| loaded.as_ref().map(|loaded| loaded.row.clone());
    let snapshot = before
        .as_ref()
        .and_then(|loaded| loaded.snapshot.clone())
        .filter(|snapshot| snapshot.version == listed.row.version);
    if state(&before) != state(&after)
        || snapshot.is_some_and(|kept| after.and_then(|loaded| loaded.snapshot) != Some(kept))
    {
        return differs("state");
    }
    if source.arrival(id)? != target.arrival(id)? {
        return differs("origin");
    }
    if source.items(id, &ItemFilter::default())? != target.items(id, &ItemFilter::default())? {
        return differs("items");
    }
    Ok(())
}

/// Returns the statements that create a server's tables, for the server's administrator.
#[cfg(feature = "postgres")]
pub fn server_schema(name: &str) -> String {
    store::postgres_schema(name)
}

#[cfg(not(feature = "postgres"))]
pub fn server_schema(_: &str) -> String {
    String::new()
}
