//! Writes a session's files: one process per worktree at a time, each file by an exchange. The replaced
//! content becomes the backup, goes to quarantine, or waits for its session to adopt it.

use crate::disk::{self, exchange};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::foreign::discover::Located;
use crate::foreign::discover::markers::is_marker;
use crate::foreign::observe::displaced::CameOut;
use crate::foreign::observe::gone::{is_nowhere, was_there};
use crate::foreign::observe::hash;
use crate::foreign::observe::shared::{beside_others, settled};
use crate::foreign::observe::wait::out_when_written;
use crate::foreign::publish::backup::{OnDisk, settle_open};
use crate::foreign::publish::folders::is_place;
use crate::foreign::publish::initial_files;
use crate::foreign::publish::journal::{Journal, LOCK};
use crate::foreign::publish::markers;
use crate::foreign::repair::quarantine::{clear_the_backup, not_kept, quarantine_entry};
use crate::place::FOLDER;
use crate::view::Warning;
use crate::walk;
use crate::workspace::ensure_ignored;
use layouts::capabilities;
use layouts::layout::{Depth, FileRules, Merge, Spot};
use layouts::tree::Entry;
use layouts::verdict::{self, Waiting};
use model::id::SessionId;
use model::session::Session;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::ViewRow;

/// The result of writing a session's files.
#[derive(Default)]
pub(crate) struct Placed {
    /// Files now in place, each with a message.
    pub(crate) rows: Vec<(ViewRow, Option<Warning>)>,
    /// Files that were not written because the existing ones are inaccessible.
    pub(crate) left_alone: Vec<PathBuf>,
    /// The session that must adopt a displaced edit.
    pub(crate) displaced: Option<SessionId>,
    /// Messages about none of them.
    pub(crate) said: Vec<Warning>,
}

/// The result of writing one file.
enum Outcome {
    AsKnown,
    There(Box<(ViewRow, Option<Warning>)>),
    LeftAlone(PathBuf),
    Displaced(SessionId),
}

/// The place where files are written, by the holder of the lock.
struct Ground {
    session: Session,
    located: Located,
    rules: FileRules,
    root: PathBuf,
    lock: File,
    before: Journal,
}

impl Ground {
    fn file<'a>(&'a self, target: &'a Path, path: &'a str) -> OnDisk<'a> {
        OnDisk { root: &self.root, id: &self.session.id, located: &self.located, target, path }
    }

    /// The folder existed, was removed since, and is not recreated unasked.
    fn is_gone(&self, row: &ViewRow) -> bool {
        let Self { located, root, before, .. } = self;
        let home = root.join(&located.spot.home);
        located.layout.facts().goes_with_folder
            && was_there(row, before, &home.join(&row.path))
            && is_nowhere(&home)
    }

    /// A file that its own tool moved away does not come back.
    fn has_left(&self, row: &ViewRow) -> bool {
        let Self { located, rules, root, .. } = self;
        let place = root.join(located.spot.below_project(&row.path));
        if row.confirmed {
            return !place.parent().is_some_and(Path::exists);
        }
        let has_moved = || {
            let tree = walk::read(located.layout, &located.spot, root, Depth::Short);
            rules.has_left(&row.path, &tree)
        };
        place.symlink_metadata().is_err() && has_moved()
    }
}

impl Engine {
    /// Writes every file that is not known to be in place. If an edit was displaced, returns the session that
    /// must adopt it.
    pub(crate) fn place(&self, id: &SessionId) -> Result<Placed> {
        let mut done = Placed::default();
        let (_, session) = self.load_kept(id)?;
        let Some(located) = self.located(&session) else { return Ok(done) };
        let root = self.root_of(&session);
        if located.layout.facts().private {
            make_private(&root.join(&located.spot.home))?;
        }
        let lock = self.lock_views(&root)?;
        let before = Journal::read(&lock).unwrap_or_default();
        done.said = settle_open(&root)?;
        let rules = located.layout.files(&located.spot);
        let mut ground = Ground { session, located, rules, root, lock, before };
        let (places, files): (Vec<ViewRow>, Vec<ViewRow>) =
            self.store.views(id)?.into_iter().partition(is_place);
        // First, so that its files are written to their proper place.
        done.rows.extend(self.place_folders(&mut ground, places)?);
        for row in files {
            match self.place_file(&mut ground, row)? {
                Outcome::AsKnown => {}
                Outcome::There(there) => done.rows.push(*there),
                Outcome::LeftAlone(path) => done.left_alone.push(path),
                Outcome::Displaced(by) => {
                    done.displaced = Some(by);
                    break;
                }
            }
        }
        Ok(done)
    }

    fn place_folders(
        &self,
        ground: &mut Ground,
        places: Vec<ViewRow>,
    ) -> Result<Vec<(ViewRow, Option<Warning>)>> {
        let Ground { located, root, lock, before, .. } = ground;
        let own = format!("{}/", located.spot.path);
        let is_due = |row: &ViewRow| !row.confirmed && located.spot.below_project(&row.path) == own;
        let mut moved = Vec::new();
        for row in places.into_iter().filter(is_due) {
            self.move_folder(located, root, &row, (before, lock))?;
            moved.push((row, None));
        }
        Ok(moved)
    }

    fn place_file(&self, ground: &mut Ground, row: ViewRow) -> Result<Outcome> {
        if ground.has_left(&row) || (ground.is_gone(&row) && !self.scope.aim.is_repair()) {
            return Ok(Outcome::AsKnown);
        }
        let Ground { session, located, rules, root, before, .. } = &*ground;
        let target = self.target(root, &located.spot, &row.path)?;
        let file = ground.file(&target, &row.path);
        clear_the_way(&file)?;
        let moved =
            if row.confirmed { None } else { clear_the_backup(root, &session.id, &target, &row.path)? };
        exchange::let_read(&exchange::waiting(&target)).map_err(|source| {
            Error::io(format!("reading the staged file next to {}", target.display()), source)
        })?;
        let found = exchange::read(&target).ok();
        let gathered = file.gathered(&row, found.as_deref());
        let waiting = verdict::waiting(&gathered.evidence(before, false, &row.boot_id));
        if let Some(by) = self.settle_waiting(&file, &row, before, waiting)? {
            return Ok(Outcome::Displaced(by));
        }
        if row.confirmed {
            return Ok(Outcome::AsKnown);
        }
        failpoint::reached_at("view-before", &row.path);
        if is_marker(located.layout, &row.path) {
            let held = markers::place(&target, &row)?;
            let aside = held.map(|held| file.keep_old(&held, before, |_| true)).transpose()?.flatten();
            return Ok(there(row, aside));
        }
        if !rules.is_state(&row.path) {
            initial_files::make_folders(located, session, root)?;
            exchange::put_new(&target, &row.body).map_err(|source| not_written(&target, source))?;
            return Ok(there(settled(located, &row), None));
        }
        let most = rules.most_bytes(&row.path);
        let is_there = target.symlink_metadata().is_ok();
        if is_there
            && !self.scope.aim.is_repair()
            && matches!(walk::content(&target, most), Entry::Unusable(_))
        {
            return Ok(Outcome::LeftAlone(target));
        }
        let mut outcome = self.put(ground, &row, &target, found.as_deref())?;
        if let Outcome::There(there) = &mut outcome {
            there.1 = there.1.take().or(moved);
        }
        Ok(outcome)
    }

    /// Exchanges a file with the current one, and inspects the replaced content.
    fn put(
        &self,
        ground: &mut Ground,
        row: &ViewRow,
        target: &Path,
        found: Option<&[u8]>,
    ) -> Result<Outcome> {
        let Ground { session, located, root, lock, before, .. } = ground;
        let file = OnDisk { root, id: &session.id, located, target, path: &row.path };
        let failed = |source| not_written(target, source);
        let is_shared = capabilities::is_shared(located.layout, &row.path);
        let (mut body, previous) = beside_others(located, target, row);
        let gathered = file.gathered(row, found);
        let evidence = gathered.evidence(before, false, &row.boot_id);
        if let Some(late) = verdict::late(&evidence) {
            let onto = late.completed_in(&body);
            body =
                located.layout.merge(&row.path, Merge::Onto { base: &[], theirs: &late.lines, onto: &onto });
        }
        if is_shared && found == Some(&body[..]) {
            return Ok(there(settled(located, row), None));
        }
        // Known damage is not the base for edits.
        let expected = match found {
            Some(found) if is_seen_damage(row, found, located.layout) => found.to_vec(),
            Some(_) | None => previous.clone(),
        };
        // Unreadable content becomes no backup, and the existing one stays.
        let takes_its_place = located.layout.is_whole(&row.path, &expected);
        let others = verdict::others_backup(&evidence).filter(|_| takes_its_place);
        let kept = others.map(|bytes| file.keep_others_backup(bytes)).transpose()?;
        let kept = file.keep_not_understood(row, &previous)?.or(kept);
        before.note_put(lock, target, &body, &expected, row).map_err(failed)?;
        self.scope.put.borrow_mut().insert(target.to_owned(), body.clone());
        let out = match exchange::put(target, &body, &expected).map_err(failed)? {
            exchange::Put::New => return Ok(there(settled(located, row), None)),
            exchange::Put::Changed => return Ok(Outcome::Displaced(session.id.clone())),
            exchange::Put::Over(out) => out,
        };
        let out = out_when_written(target, &row.path, out, located);
        if out != expected && !is_known(row, &out) {
            return Ok(Outcome::Displaced(session.id.clone()));
        }
        let knows = |bytes: &[u8]| is_known(row, bytes) || row.earlier.contains(&hash(bytes));
        let told = match file.keep_old(&out, before, knows) {
            Ok(told) => told,
            // The file is in place; only the replaced one has no place yet.
            Err(error) => return Ok(there(settled(located, row), Some(not_kept(target, &error)))),
        };
        if located.layout.is_whole(&row.path, &out) {
            before.note(lock, target, &out, row.earlier.last()).map_err(failed)?;
            return Ok(there(settled(located, row), kept.or(told)));
        }
        Ok(there(settled(located, row), told.or(kept)))
    }

    /// The path of a file, creating its folder. Never over a link: one at the file's own path is quarantined
    /// on request.
    fn target(&self, root: &Path, spot: &Spot, path: &str) -> Result<PathBuf> {
        let home = Path::new(&spot.home);
        let (root, path) =
            if home.is_absolute() { (home, path.to_owned()) } else { (root, spot.below_project(path)) };
        let target = match path.rsplit_once('/') {
            Some((folder, name)) if self.scope.aim.is_repair() => disk::below(root, folder)?.join(name),
            Some(_) | None => disk::below(root, &path)?,
        };
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)
                .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
        }
        Ok(target)
    }

    /// Handles a waiting file: our own bytes that never arrived are removed; the previous version becomes the
    /// backup; an edit stays, and its session is returned.
    fn settle_waiting(
        &self,
        file: &OnDisk<'_>,
        row: &ViewRow,
        journal: &Journal,
        found: Waiting,
    ) -> Result<Option<SessionId>> {
        let waiting = exchange::waiting(file.target);
        let failed = |source| Error::io(format!("looking at {}", waiting.display()), source);
        match found {
            Waiting::Nothing => Ok(waiting.exists().then(|| row.session.clone())),
            Waiting::Remove => fs::remove_file(&waiting).map(|()| None).map_err(failed),
            Waiting::BecomesBackup => {
                let bytes = exchange::read(&waiting).map_err(failed)?;
                let knows = |bytes: &[u8]| row.earlier.contains(&hash(bytes));
                file.keep_old(&bytes, journal, knows).map(|_| None)
            }
            Waiting::TakeIn(by) => {
                let by = SessionId::parse(&by).ok();
                let is_known = |by: &SessionId| self.store.load(by).is_ok_and(|found| found.is_some());
                Ok(by.filter(is_known).or_else(|| Some(row.session.clone())))
            }
        }
    }

    /// Displaced edits are in the log now, and their bytes become the backup.
    pub(crate) fn keep_displaced(&self, session: &Session, displaced: &[CameOut]) -> Result<()> {
        let failed = |source| Error::io("keeping an edit", source);
        let Some(located) = self.located(session).filter(|_| !displaced.is_empty()) else { return Ok(()) };
        let root = self.root_of(session);
        let lock = self.lock_views(&root)?;
        let mut before = Journal::read(&lock).unwrap_or_default();
        for CameOut { target, path, bytes } in displaced {
            // Another process may have replaced it since, or its writer added to it: that is checked again.
            let is_shared = capabilities::is_shared(located.layout, path);
            let is_it = |there: Vec<u8>| there == *bytes || (is_shared && there.starts_with(bytes));
            let file = OnDisk { root: &root, id: &session.id, located: &located, target, path };
            let knows = |bytes: &[u8]| displaced.iter().any(|edit| edit.bytes == bytes);
            if exchange::read(&exchange::waiting(target)).is_ok_and(is_it) {
                file.keep_old(bytes, &before, knows)?;
                if located.layout.is_whole(path, bytes) {
                    before.note(&lock, target, bytes, None).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// One process writes a worktree's files at a time. Never held together with a turn of the store.
    fn lock_views(&self, root: &Path) -> Result<File> {
        let folder = root.join(FOLDER);
        ensure_ignored(root)?;
        let path = folder.join(LOCK);
        let failed = |source| Error::io(format!("locking {}", path.display()), source);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            // A repository may contain a link of that name.
            .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0))
            .open(&path)
            .map_err(failed)?;
        let until = Instant::now() + self.patience.left();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(failed(error.into())),
            }
        }
    }
}

/// Only a regular file may be at the waiting path: a link would lead elsewhere. Anything else is quarantined.
fn clear_the_way(file: &OnDisk<'_>) -> Result<()> {
    let waiting = exchange::waiting(file.target);
    match waiting.symlink_metadata() {
        Ok(found) if !found.is_file() => {}
        Ok(_) | Err(_) => return Ok(()),
    }
    let name = format!("{}.waiting", file.path.replace('/', "_"));
    quarantine_entry(file.root, file.id, &waiting, &name).map(drop)
}

fn there(row: ViewRow, said: Option<Warning>) -> Outcome {
    Outcome::There(Box::new((row, said)))
}

fn not_written(target: &Path, source: io::Error) -> Error {
    Error::io(format!("writing {}", target.display()), source)
}

/// True for content that was observed, or that another process of ours just wrote. An older version of ours
/// is somebody's deliberate return to it.
fn is_known(row: &ViewRow, out: &[u8]) -> bool {
    let hash = hash(out);
    out == row.previous || hash == row.hash || row.earlier.last() == Some(&hash)
}

/// True for content that was unreadable when observed, and still is.
fn is_seen_damage(row: &ViewRow, bytes: &[u8], layout: &dyn layouts::layout::Layout) -> bool {
    row.earlier.contains(&hash(bytes)) && !layout.is_whole(&row.path, bytes)
}

/// Creates a private folder if missing.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::io(format!("making {}", folder.display()), error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
