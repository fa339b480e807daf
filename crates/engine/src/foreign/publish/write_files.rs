//! Writes a session's files: one process at a time in each worktree, and each file by an atomic exchange. Replaced
//! content becomes the backup, is quarantined, or waits until its session adopts it.

use crate::disk::{self, exchange};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::foreign::observe::disk::Home;
use crate::foreign::observe::hash;
use crate::foreign::observe::lost_folder::is_gone_with_folder;
use crate::foreign::observe::wait_for_writer::{out_when_written, read_when_written};
use crate::foreign::publish::backup::{OnDisk, settle_open};
use crate::foreign::publish::markers;
use crate::foreign::repair::quarantine::{clear_the_backup, not_kept, quarantine_entry};
use crate::view::Warning;
use crate::walk;
use layouts::layout::{Depth, FileOp, FileRules, Spot};
use layouts::observation::{beside_others, initial, is_place, settled};
use layouts::reader::Located;
use layouts::tree::Entry;
use layouts::verdict::backup_record::{self, Backup, is_expected};
use layouts::verdict::{self, Waiting};
use model::artifact::moved_path;
use model::id::SessionId;
use model::session::Session;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use store::{ViewRow, WriteJournal};

/// The result of writing a session's files.
#[derive(Default)]
pub(crate) struct Placed {
    /// Files that were not written because the files in their places could not be inspected.
    pub(crate) left_alone: Vec<PathBuf>,
    /// The session whose write replaced an external edit. The session must adopt this edit.
    pub(crate) displaced: Option<SessionId>,
    pub(crate) said: Vec<Warning>,
}

/// The result of writing a single file.
enum Outcome {
    AsKnown,
    There(Box<(ViewRow, Option<Warning>)>),
    LeftAlone(PathBuf),
    Displaced(SessionId),
}

/// A session whose files are being written. Whoever has this value holds the file lock.
struct Ground {
    session: Session,
    located: Located,
    rules: FileRules,
    root: PathBuf,
    /// The session's folder was removed or renamed.
    has_lost_its_folder: bool,
}

impl Ground {
    fn file<'a>(&'a self, target: &'a Path, path: &'a str) -> OnDisk<'a> {
        let Self { session, located, root, .. } = self;
        OnDisk { root, id: &session.id, located, home: Home::below(root, located), target, path }
    }

    /// True if the session's folder was removed. It is recreated only if somebody asks for it.
    fn is_gone(&self, row: &ViewRow) -> bool {
        let has_lost = self.has_lost_its_folder && !self.located.is_shared(&row.path);
        row.was_there() && (has_lost || is_gone_with_folder(&self.located, &self.root))
    }

    /// True if the session's tool moved the file away. It must not be written again then.
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
    /// Writes every file that may not be in place yet. If an edit was displaced, returns the session that must adopt
    /// it.
    pub(crate) fn place(&mut self, id: &SessionId) -> Result<Placed> {
        let mut done = Placed::default();
        let (_, session) = self.load_kept(id)?;
        let Some(located) = self.located(&session) else { return Ok(done) };
        let root = self.root_of(&session);
        if located.layout.facts().private {
            make_private(&root.join(&located.spot.home))?;
        }
        let _lock = self.lock_views(&root)?;
        done.said = settle_open(&root)?;
        let rules = located.layout.files(&located.spot);
        let ground = Ground { session, located, rules, root, has_lost_its_folder: self.is_gone(id) };
        // The folder is moved first, so that the files are written to its new place.
        let rows = self.place_folders(&ground)?;
        let mut placed = Vec::new();
        let all = self.place_files(&ground, rows, &mut placed, &mut done);
        // Even if writing one file failed, the files written before it are confirmed.
        if !placed.is_empty() {
            failpoint::reached("view-placed");
            self.store.confirm_views(&placed, self.patience.left())?;
        }
        all.map(|()| done)
    }

    fn place_files(
        &mut self,
        ground: &Ground,
        rows: Vec<ViewRow>,
        placed: &mut Vec<ViewRow>,
        done: &mut Placed,
    ) -> Result<()> {
        for row in rows.into_iter().filter(|row| !is_place(row)) {
            match self.place_file(ground, row)? {
                Outcome::AsKnown => {}
                Outcome::There(there) => {
                    let (row, said) = *there;
                    placed.push(row);
                    done.said.extend(said);
                }
                Outcome::LeftAlone(path) => done.left_alone.push(path),
                Outcome::Displaced(by) => {
                    done.displaced = Some(by);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Moves the session's folder if a move is planned. Its files keep their journals. Returns the rows.
    fn place_folders(&mut self, Ground { session, located, root, .. }: &Ground) -> Result<Vec<ViewRow>> {
        let rows = self.store.base().views(&session.id)?;
        let own = format!("{}/", located.spot.path);
        let is_due =
            |row: &&ViewRow| is_place(row) && !row.confirmed && located.spot.below_project(&row.path) == own;
        let Some(place) = rows.iter().find(is_due) else { return Ok(rows) };
        self.move_folder(located, root, place)?;
        let (from, to) = (String::from_utf8_lossy(&place.body), place.path.trim_end_matches('/'));
        let moved = |old: &ViewRow| {
            let path = moved_path(&old.path, &from, to);
            let new = rows.iter().find(|row| row.path == path && path != old.path)?;
            let journal = WriteJournal { put_this: false, ..old.journal.clone() };
            Some(ViewRow { journal, ..new.clone() })
        };
        let journals: Vec<ViewRow> = rows.iter().filter_map(moved).collect();
        self.store.note_writes(&journals)?;
        self.store.confirm_views(std::slice::from_ref(place), self.patience.left())?;
        Ok(self.store.base().views(&session.id)?)
    }

    fn place_file(&mut self, ground: &Ground, mut row: ViewRow) -> Result<Outcome> {
        if ground.has_left(&row) || (ground.is_gone(&row) && !self.scope.aim.is_repair()) {
            return Ok(Outcome::AsKnown);
        }
        let Ground { session, located, rules, root, .. } = ground;
        let mut last = self.journal_row(located, &session.worktree, &row)?;
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
        let waiting = verdict::waiting(&gathered.evidence(Some(&last), false, &row.boot_id));
        if let Some(by) = self.settle_waiting(&file, &row, &mut last, waiting)? {
            return Ok(Outcome::Displaced(by));
        }
        if last.session == row.session {
            row.journal.clone_from(&last.journal);
        }
        if row.confirmed {
            return Ok(Outcome::AsKnown);
        }
        failpoint::reached_at("view-before", &row.path);
        if located.is_marker(&row.path) {
            let held = markers::place(&target, &row)?;
            let aside = held.map(|held| file.keep_old(&held, None, |_| true)).transpose()?.flatten();
            return Ok(there(row, aside));
        }
        if !rules.is_state(&row.path) {
            make_folders(ground)?;
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
        let mut outcome = self.put(ground, &row, &last, &target, found.as_deref())?;
        if let Outcome::There(there) = &mut outcome {
            there.1 = there.1.take().or(moved);
        }
        Ok(outcome)
    }

    /// Exchanges a file with the existing one, and inspects the replaced content.
    fn put(
        &mut self,
        ground: &Ground,
        row: &ViewRow,
        last: &ViewRow,
        target: &Path,
        found: Option<&[u8]>,
    ) -> Result<Outcome> {
        let Ground { session, located, .. } = ground;
        let file = ground.file(target, &row.path);
        let backup = Backup::of(&last.journal);
        let is_shared = located.is_shared(&row.path);
        let now = if is_shared { read_when_written(target, &row.path, located) } else { Vec::new() };
        let (mut body, previous) = beside_others(located, row, now);
        let gathered = file.gathered(row, found);
        let evidence = gathered.evidence(Some(last), false, &row.boot_id);
        if let Some(late) = verdict::late(&evidence) {
            body = located.onto(&row.path, &[], &late.lines, &late.completed_in(&body));
        }
        if is_shared && found == Some(&body[..]) {
            return Ok(there(settled(located, row), None));
        }
        // Content that is already known to be damaged is simply replaced: it is not an edit.
        let is_seen_damage =
            |found: &&[u8]| row.earlier.contains(&hash(found)) && !located.is_whole(&row.path, found);
        let expected = found.filter(is_seen_damage).map_or_else(|| previous.clone(), <[u8]>::to_vec);
        // Unreadable content does not become the backup, so an existing backup stays.
        let takes_its_place = located.is_whole(&row.path, &expected);
        let others = verdict::others_backup(&evidence).filter(|_| takes_its_place);
        let others = others.filter(|bytes| !self.has_written(&session.worktree, &row.session, bytes));
        let kept = others.map(|bytes| file.keep_others_backup(bytes)).transpose()?;
        let kept = file.keep_not_understood(row, &previous)?.or(kept);
        let mut row = self.note_put(row, last, &body, &expected)?;
        failpoint::reached("view-noted");
        self.scope.put.borrow_mut().insert(target.to_owned(), body.clone());
        let out =
            match exchange::put(target, &body, &expected).map_err(|source| not_written(target, source))? {
                exchange::Put::New => {
                    row.journal.put_expected = None;
                    return Ok(there(settled(located, &row), None));
                }
                exchange::Put::Changed => return Ok(Outcome::Displaced(session.id.clone())),
                exchange::Put::Over(out) => out,
            };
        let out = out_when_written(target, &row.path, out, located);
        if out != expected && !is_expected(&row, &out) {
            return Ok(Outcome::Displaced(session.id.clone()));
        }
        let knows = |bytes: &[u8]| is_expected(&row, bytes) || row.earlier.contains(&hash(bytes));
        let told = match file.keep_old(&out, backup.as_ref(), knows) {
            Ok(told) => told,
            // The new file is in place. Only the replaced content could not be moved to the backup or the quarantine.
            Err(error) => return Ok(there(settled(located, &row), Some(not_kept(target, &error)))),
        };
        failpoint::reached("view-backed-up");
        row.journal = file.dealt_with(&row, last, &out);
        let said = if located.is_whole(&row.path, &out) { kept.or(told) } else { told.or(kept) };
        Ok(there(settled(located, &row), said))
    }

    /// Records that a write is about to happen. From then on, this session counts as the last writer of the file.
    fn note_put(&mut self, row: &ViewRow, last: &ViewRow, body: &[u8], expected: &[u8]) -> Result<ViewRow> {
        let journal = backup_record::pending(row, last, body, expected);
        let row = ViewRow { journal, ..row.clone() };
        let mut notes = vec![row.clone()];
        if last.session != row.session {
            notes.push(ViewRow { journal: WriteJournal::default(), ..last.clone() });
        }
        self.store.note_writes(&notes)?;
        Ok(row)
    }

    /// Returns the path of a file, and creates its folder. Never follows a link; a repair quarantines links.
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
                .map_err(|source| Error::io(format!("creating {}", folder.display()), source))?;
        }
        Ok(target)
    }

    /// Deals with replaced content that an interrupted write left behind. Content that leftoff wrote is removed, and
    /// the previous version becomes the backup. An edit stays; then the session that must adopt it is returned.
    fn settle_waiting(
        &mut self,
        file: &OnDisk<'_>,
        row: &ViewRow,
        last: &mut ViewRow,
        found: Waiting,
    ) -> Result<Option<SessionId>> {
        let waiting = exchange::waiting(file.target);
        let failed = |source| Error::io(format!("checking {}", waiting.display()), source);
        match found {
            Waiting::Nothing => Ok(waiting.exists().then(|| row.session.clone())),
            Waiting::Remove => fs::remove_file(&waiting).map(|()| None).map_err(failed),
            Waiting::BecomesBackup => {
                let bytes = exchange::read(&waiting).map_err(failed)?;
                let knows = |bytes: &[u8]| row.earlier.contains(&hash(bytes));
                file.keep_old(&bytes, Backup::of(&last.journal).as_ref(), knows)?;
                failpoint::reached("view-backed-up");
                last.journal = file.dealt_with(last, last, &bytes);
                self.store.note_writes(std::slice::from_ref(last))?;
                Ok(None)
            }
            Waiting::TakeIn(by) => {
                let by = SessionId::parse(&by).ok();
                let is_known = |by: &SessionId| self.store.load(by).is_ok_and(|found| found.is_some());
                Ok(by.filter(is_known).or_else(|| Some(row.session.clone())))
            }
        }
    }

    /// Makes displaced edits, which are in the log now, the backup.
    pub(crate) fn keep_displaced(
        &mut self,
        session: &Session,
        displaced: &[(String, Vec<u8>)],
    ) -> Result<()> {
        let Some(located) = self.located(session).filter(|_| !displaced.is_empty()) else { return Ok(()) };
        let root = self.root_of(session);
        let _lock = self.lock_views(&root)?;
        let rows = self.store.base().views(&session.id)?;
        for (path, bytes) in displaced {
            let target = &root.join(&located.spot.home).join(path);
            let Some(row) = rows.iter().find(|row| row.path == *path) else { continue };
            let last = self.journal_row(&located, &session.worktree, row)?;
            // Meanwhile another process may have replaced the displaced content, or its writer may have added to it.
            let grows = located.is_shared(path);
            let is_it = |there: Vec<u8>| there == *bytes || (grows && there.starts_with(bytes));
            let home = Home::below(&root, &located);
            let file = OnDisk { root: &root, id: &session.id, located: &located, home, target, path };
            let knows = |bytes: &[u8]| displaced.iter().any(|(_, edit)| edit == bytes);
            if exchange::read(&exchange::waiting(target)).is_ok_and(is_it) {
                file.keep_old(bytes, Backup::of(&last.journal).as_ref(), knows)?;
                let journal = file.dealt_with(&last, &last, bytes);
                self.store.note_writes(&[ViewRow { journal, ..last }])?;
            }
        }
        Ok(())
    }
}

/// If anything but a regular file has the waiting name, quarantines it: a link would lead elsewhere.
fn clear_the_way(file: &OnDisk<'_>) -> Result<()> {
    let waiting = exchange::waiting(file.target);
    match waiting.symlink_metadata() {
        Ok(found) if !found.is_file() => {}
        Ok(_) | Err(_) => return Ok(()),
    }
    let name = format!("{}.waiting", file.path.replace('/', "_"));
    quarantine_entry(file.root, file.id, &waiting, &name).map(drop)
}

/// Creates the initial folders of a session.
fn make_folders(Ground { session, located, root, .. }: &Ground) -> Result<()> {
    for op in initial(located, session) {
        if let FileOp::Folder(path) = op {
            disk::make_below(root, &located.below_project(&path))?;
        }
    }
    Ok(())
}

fn there(row: ViewRow, said: Option<Warning>) -> Outcome {
    Outcome::There(Box::new((row, said)))
}

fn not_written(target: &Path, source: io::Error) -> Error {
    Error::io(format!("writing {}", target.display()), source)
}

/// Creates a folder that only this user can read or write, if it is missing.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::io(format!("creating {}", folder.display()), error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
