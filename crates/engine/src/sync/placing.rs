//! Puts a session's files in their place: one process of a worktree at a time, each file by an exchange, and what came
//! out is kept as the version before, set aside, or left for the session that is to take it in.

use super::aside::{aside_for_file, aside_of, clear_the_backup, move_aside, not_kept};
use super::evidence::{Found, Gathered};
use super::eyes::LONGEST_WARNING;
use super::find::Located;
use super::furniture;
use super::gone::{is_nowhere, was_there};
use super::late::{Before, LOCK};
use super::look::hash;
use super::moving::is_place;
use super::shared::{beside_others, settled};
use super::signs::{self, is_sign};
use super::slips::CameOut;
use super::torn::{is_torn, out_when_written};
use super::tree;
use crate::disk::{self, exchange};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::place::FOLDER;
use crate::view::Warning;
use crate::words::one_line;
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

/// What came of putting a session's files in their place.
#[derive(Default)]
pub(super) struct Placed {
    /// Those that are there now, each with what is to be said about it.
    pub(super) rows: Vec<(ViewRow, Option<Warning>)>,
    /// Those over which nothing was written, because nobody can look at what is there.
    pub(super) left_alone: Vec<PathBuf>,
    /// Somebody's edit came out: the session that is to take it in.
    pub(super) slipped: Option<SessionId>,
}

/// The same of one file.
enum Outcome {
    AsKnown,
    There(Box<(ViewRow, Option<Warning>)>),
    LeftAlone(PathBuf),
    Slipped(SessionId),
}

/// Where files are put, by whoever holds the lock.
struct Ground {
    session: Session,
    located: Located,
    rules: FileRules,
    root: PathBuf,
    lock: File,
    before: Before,
}

impl Ground {
    /// The folder was there, was taken away since, and is not made again unasked.
    fn is_gone(&self, row: &ViewRow) -> bool {
        let Self { located, root, before, .. } = self;
        let home = root.join(&located.spot.home);
        located.layout.facts().goes_with_folder
            && was_there(row, before, &home.join(&row.path))
            && is_nowhere(&home)
    }

    /// What its own tool moved away does not come back for a file that was in it.
    fn has_left(&self, row: &ViewRow) -> bool {
        let Self { located, rules, root, .. } = self;
        let place = root.join(located.spot.below_project(&row.path));
        if row.confirmed {
            return !place.parent().is_some_and(Path::exists);
        }
        let has_moved = || {
            let tree = tree::read(located.layout, &located.spot, root, Depth::Short);
            rules.has_left(&row.path, &tree)
        };
        place.symlink_metadata().is_err() && has_moved()
    }
}

impl Engine {
    /// Puts every file in its place that is not known to be there. If somebody's edit came out, tells which session is
    /// to take it in.
    pub(super) fn place(&self, id: &SessionId) -> Result<Placed> {
        let mut done = Placed::default();
        let (_, session) = self.load_kept(id)?;
        let Some(located) = self.located(&session) else { return Ok(done) };
        let root = self.root_of(&session);
        if located.layout.facts().private {
            make_private(&root.join(&located.spot.home))?;
        }
        let lock = self.lock_views(&root)?;
        let before = Before::read(&lock).unwrap_or_default();
        let rules = located.layout.files(&located.spot);
        let mut ground = Ground { session, located, rules, root, lock, before };
        let (places, files): (Vec<ViewRow>, Vec<ViewRow>) =
            self.store.views(id)?.into_iter().partition(is_place);
        // First of all: its files are written where it belongs.
        done.rows.extend(self.place_folders(&mut ground, places)?);
        for row in files {
            match self.place_file(&mut ground, row)? {
                Outcome::AsKnown => {}
                Outcome::There(there) => done.rows.push(*there),
                Outcome::LeftAlone(path) => done.left_alone.push(path),
                Outcome::Slipped(by) => {
                    done.slipped = Some(by);
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
        if ground.has_left(&row) || (ground.is_gone(&row) && !self.seen.is_mending.get()) {
            return Ok(Outcome::AsKnown);
        }
        let Ground { session, located, rules, root, before, .. } = &*ground;
        let target = self.target(root, &located.spot, &row.path)?;
        self.clear_the_way(root, &session.id, &target, &row.path)?;
        let moved =
            if row.confirmed { None } else { clear_the_backup(root, &session.id, &target, &row.path)? };
        exchange::let_read(&exchange::waiting(&target))
            .map_err(|source| Error::io(format!("reading what waits beside {}", target.display()), source))?;
        let found = exchange::read(&target).ok();
        let gathered = Gathered::of_row(located, rules, &target, &row, Found::of(found.as_deref()));
        let waiting = verdict::waiting(&gathered.evidence(before, false, &row.boot_id));
        if let Some(by) = self.settle_waiting(root, &target, &row, located, waiting)? {
            return Ok(Outcome::Slipped(by));
        }
        if row.confirmed {
            return Ok(Outcome::AsKnown);
        }
        failpoint::reached_at("view-before", &row.path);
        if is_sign(located.layout, &row.path) {
            let held = signs::place(&target, &row)?;
            let aside = held
                .map(|held| self.keep_old(root, &session.id, &target, &row.path, &held, located))
                .transpose()?
                .flatten();
            return Ok(there(row, aside));
        }
        if !rules.is_state(&row.path) {
            furniture::make_folders(located, session, root)?;
            exchange::put_new(&target, &row.body).map_err(|source| not_written(&target, source))?;
            return Ok(there(settled(located, &row), None));
        }
        let most = rules.most_bytes(&row.path);
        let is_there = target.symlink_metadata().is_ok();
        if is_there
            && !self.seen.is_mending.get()
            && matches!(tree::content(&target, most), Entry::Unusable(_))
        {
            return Ok(Outcome::LeftAlone(target));
        }
        let mut outcome = self.put(ground, &row, &target, found.as_deref())?;
        if let Outcome::There(there) = &mut outcome {
            there.1 = there.1.take().or(moved);
        }
        Ok(outcome)
    }

    /// Where a file of ours waits before it goes to its place, nothing but a file can stand: a link there would lead
    /// elsewhere. It goes aside.
    fn clear_the_way(&self, root: &Path, id: &SessionId, target: &Path, path: &str) -> Result<()> {
        let waiting = exchange::waiting(target);
        match waiting.symlink_metadata() {
            Ok(found) if !found.is_file() => {}
            Ok(_) | Err(_) => return Ok(()),
        }
        move_aside(root, id, &waiting, &format!("{}.waiting", path.replace('/', "_"))).map(drop)
    }

    /// Exchanges a file with what is there, and looks at what came out.
    fn put(
        &self,
        ground: &mut Ground,
        row: &ViewRow,
        target: &Path,
        found: Option<&[u8]>,
    ) -> Result<Outcome> {
        let Ground { session, located, rules, root, lock, before } = ground;
        let failed = |source| not_written(target, source);
        let is_shared = capabilities::is_shared(located.layout, &row.path);
        let (mut body, previous) = beside_others(located, target, row);
        let gathered = Gathered::of_row(located, rules, target, row, Found::of(found));
        let evidence = gathered.evidence(before, false, &row.boot_id);
        if let Some(late) = verdict::late(&evidence) {
            let onto = late.completed_in(&body);
            body =
                located.layout.merge(&row.path, Merge::Onto { base: &[], theirs: &late.lines, onto: &onto });
        }
        if is_shared && found == Some(&body[..]) {
            return Ok(there(settled(located, row), None));
        }
        // Damage that was seen there is not what the session's edits are told from.
        let expected = match found {
            Some(found) if is_seen_damage(row, found, located.layout) => found.to_vec(),
            Some(_) | None => previous.clone(),
        };
        // What cannot be read becomes no backup, and the one that is there stays.
        let takes_its_place = located.layout.is_whole(&row.path, &expected);
        let others = verdict::others_backup(&evidence).filter(|_| takes_its_place);
        let kept = others.map(|bytes| self.keep_others_backup(root, target, row, bytes)).transpose()?;
        let mut kept = match self.keep_not_understood(root, target, row, &previous)? {
            Some(said) => Some(said),
            None => kept,
        };
        before.note_put(lock, target, &body, &expected, row).map_err(failed)?;
        self.seen.put.borrow_mut().insert(target.to_owned(), body.clone());
        let out = match exchange::put(target, &body, &expected).map_err(failed)? {
            exchange::Put::New => return Ok(there(settled(located, row), None)),
            exchange::Put::Changed => return Ok(Outcome::Slipped(session.id.clone())),
            exchange::Put::Over(out) => out,
        };
        // What was seen there was waited for already.
        let out = if out == expected { out } else { out_when_written(target, &row.path, out, located) };
        if out != expected && !is_known(row, &out) {
            return Ok(Outcome::Slipped(session.id.clone()));
        }
        if located.layout.is_whole(&row.path, &out) {
            let told = self.keep_changed_backup(root, target, row, located, before, &body)?;
            kept = kept.or(told);
        }
        let aside = match self.keep_old(root, &session.id, target, &row.path, &out, located) {
            Ok(aside) => aside,
            // The file is there: only what was there before has no place yet.
            Err(error) => return Ok(there(settled(located, row), Some(not_kept(target, &error)))),
        };
        if aside.is_none() {
            before.note(lock, target, &out).map_err(failed)?;
        }
        Ok(there(settled(located, row), aside.or(kept)))
    }

    /// Where a file goes; its folder is made. Never over a link: one in the file's own place goes aside, on request.
    fn target(&self, root: &Path, spot: &Spot, path: &str) -> Result<PathBuf> {
        let home = Path::new(&spot.home);
        let (root, path) =
            if home.is_absolute() { (home, path.to_owned()) } else { (root, spot.below_project(path)) };
        let target = match path.rsplit_once('/') {
            Some((folder, name)) if self.seen.is_mending.get() => disk::below(root, folder)?.join(name),
            Some(_) | None => disk::below(root, &path)?,
        };
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)
                .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
        }
        Ok(target)
    }

    /// What waits beside a file: our own bytes that never got there are not needed; the version before goes to its place;
    /// somebody's edit stays, and the session is told that is to take it in.
    fn settle_waiting(
        &self,
        root: &Path,
        target: &Path,
        row: &ViewRow,
        located: &Located,
        found: Waiting,
    ) -> Result<Option<SessionId>> {
        let waiting = exchange::waiting(target);
        let failed = |source| Error::io(format!("looking at {}", waiting.display()), source);
        match found {
            Waiting::Nothing => Ok(waiting.exists().then(|| row.session.clone())),
            Waiting::Remove => fs::remove_file(&waiting).map(|()| None).map_err(failed),
            Waiting::BecomesBackup => {
                let bytes = exchange::read(&waiting).map_err(failed)?;
                self.keep_old(root, &row.session, target, &row.path, &bytes, located).map(|_| None)
            }
            Waiting::TakeIn(by) => {
                let by = SessionId::parse(&by).ok();
                let is_known = |by: &SessionId| self.store.load(by).is_ok_and(|found| found.is_some());
                Ok(by.filter(is_known).or_else(|| Some(row.session.clone())))
            }
        }
    }

    /// The version before becomes the backup; one that nobody can read is set aside, and the good backup stays.
    fn keep_old(
        &self,
        root: &Path,
        id: &SessionId,
        target: &Path,
        path: &str,
        out: &[u8],
        located: &Located,
    ) -> Result<Option<Warning>> {
        let waiting = exchange::waiting(target);
        let failed =
            |source| Error::io(format!("keeping the version before of {}", target.display()), source);
        // The next write would put its own version before in the place of one that nobody has read.
        let is_read = out.len() as u64 <= located.layout.files(&located.spot).most_bytes(path)
            && located.layout.is_whole(path, out);
        if is_read {
            fs::rename(&waiting, exchange::backup(target)).map_err(failed)?;
            return Ok(None);
        }
        let aside = aside_for_file(root, id, path, out)?;
        fs::rename(&waiting, &aside)
            .or_else(|_| fs::copy(&waiting, &aside).and_then(|_| fs::remove_file(&waiting)))
            .map_err(failed)?;
        Ok(Some(Warning {
            kind: "set_aside".to_owned(),
            message: format!("{} could not be read; it was set aside and written again", target.display()),
            hint: Some(format!("what was in it: {}", aside.display()).into()),
            path: Some(aside.display().to_string()),
            problem: None,
        }))
    }

    /// Somebody's own backup of a file is kept before the version before takes its place.
    fn keep_others_backup(&self, root: &Path, target: &Path, row: &ViewRow, bytes: &[u8]) -> Result<Warning> {
        let backup = exchange::backup(target);
        let aside = aside_of(root, &row.session, &format!("{}.bak", row.path), bytes)?;
        fs::copy(&backup, &aside)
            .map_err(|source| Error::io(format!("keeping {}", backup.display()), source))?;
        Ok(Warning {
            kind: "set_aside".to_owned(),
            message: format!(
                "{} was not ours; it was kept, and the version before takes its place",
                backup.display()
            ),
            hint: Some(format!("what was in it: {}", aside.display()).into()),
            path: Some(aside.display().to_string()),
            problem: None,
        })
    }

    /// The backup of ours that is about to be replaced goes aside if somebody who has it open has written into it, or may
    /// not be done with it: it holds what nobody has read.
    fn keep_changed_backup(
        &self,
        root: &Path,
        target: &Path,
        row: &ViewRow,
        located: &Located,
        before: &Before,
        body: &[u8],
    ) -> Result<Option<Warning>> {
        let gathered =
            Gathered::of_row(located, &located.layout.files(&located.spot), target, row, Found::Nothing);
        let evidence = gathered.evidence(before, false, &row.boot_id);
        let Some(bytes) = verdict::changed_backup(&evidence) else { return Ok(None) };
        let is_shared = capabilities::is_shared(located.layout, &row.path);
        let is_known = if is_shared {
            located.layout.merge(&row.path, Merge::Onto { base: &[], theirs: bytes, onto: body }) == body
        } else {
            is_known(row, bytes) || row.earlier.contains(&hash(bytes))
        };
        if is_known && !is_torn(located, &row.path, bytes) {
            return Ok(None);
        }
        let backup = exchange::backup(target);
        let aside = aside_for_file(root, &row.session, &format!("{}.bak", row.path), bytes)?;
        fs::rename(&backup, &aside)
            .map_err(|source| Error::io(format!("keeping {}", backup.display()), source))?;
        Ok(Some(Warning {
            kind: "set_aside".to_owned(),
            message: format!(
                "somebody wrote into {}, the version before; it was kept before another takes its place",
                backup.display()
            ),
            hint: Some(format!("what was in it: {}", aside.display()).into()),
            path: Some(aside.display().to_string()),
            problem: None,
        }))
    }

    /// A file in which something stands that nobody understood is kept as it is, before that is overwritten.
    fn keep_not_understood(
        &self,
        root: &Path,
        target: &Path,
        row: &ViewRow,
        bytes: &[u8],
    ) -> Result<Option<Warning>> {
        let Some(lost) = &row.journal.loses else { return Ok(None) };
        let aside = aside_of(root, &row.session, &row.path, bytes)?;
        fs::write(&aside, bytes)
            .map_err(|source| Error::io(format!("keeping {}", target.display()), source))?;
        let lost = one_line(lost, LONGEST_WARNING);
        Ok(Some(Warning {
            kind: "set_aside".to_owned(),
            message: format!(
                "{} said what could not be read ({lost}); it was written over, and the file kept as it was",
                target.display()
            ),
            hint: Some(format!("what was in it: {}", aside.display()).into()),
            path: Some(aside.display().to_string()),
            problem: None,
        }))
    }

    /// What slipped in is in the log now, and its bytes are the version before.
    pub(super) fn keep_slipped(&self, session: &Session, slipped: &[CameOut]) -> Result<()> {
        let failed = |source| Error::io("keeping an edit", source);
        let Some(located) = self.located(session).filter(|_| !slipped.is_empty()) else { return Ok(()) };
        let root = self.root_of(session);
        let lock = self.lock_views(&root)?;
        let mut before = Before::read(&lock).unwrap_or_default();
        for CameOut { target, path, bytes } in slipped {
            // Another process may have put something else there since, or its writer more: that is looked at again.
            let is_shared = capabilities::is_shared(located.layout, path);
            let is_it = |there: Vec<u8>| there == *bytes || (is_shared && there.starts_with(bytes));
            if exchange::read(&exchange::waiting(target)).is_ok_and(is_it)
                && self.keep_old(&root, &session.id, target, path, bytes, &located)?.is_none()
            {
                before.note(&lock, target, bytes).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// One process writes the files of a worktree at a time. Never held together with a turn of the store.
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
            // A repository may come with a link of that name.
            .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0))
            .open(&path)
            .map_err(failed)?;
        let until = Instant::now() + self.patience;
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

fn there(row: ViewRow, said: Option<Warning>) -> Outcome {
    Outcome::There(Box::new((row, said)))
}

fn not_written(target: &Path, source: io::Error) -> Error {
    Error::io(format!("writing {}", target.display()), source)
}

/// What was seen there, or what another process of ours has just put there. An older version of ours is somebody's
/// going back to it.
fn is_known(row: &ViewRow, out: &[u8]) -> bool {
    let hash = hash(out);
    out == row.previous || hash == row.hash || row.earlier.last() == Some(&hash)
}

/// What could not be read when it was seen there, and still cannot.
fn is_seen_damage(row: &ViewRow, bytes: &[u8], layout: &dyn layouts::layout::Layout) -> bool {
    row.earlier.contains(&hash(bytes)) && !layout.is_whole(&row.path, bytes)
}

/// A folder for its user alone, if there is none yet.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::io(format!("making {}", folder.display()), error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
