//! Writes a session's files again after a command: what is to be written is kept with the command's own events, put in
//! place after them, and confirmed. A file that cannot be written is told, and fails nothing: the log has it all.

use super::NATIVE;
use super::find::Located;
use super::furniture::{self, is_furniture};
use super::late::{Before, Beside, LOCK};
use super::look::{FileState, Look, Slip, hash};
use super::moving::is_place;
use super::shared::{beside_others, settled};
use super::signs::{self, is_sign};
use super::torn::out_when_written;
use crate::disk::{self, exchange};
use crate::engine::{Engine, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::failpoint;
use crate::place::FOLDER;
use crate::view::Warning;
use crate::workspace::ensure_ignored;
use layouts::layout::{Depth, Folder, Spot, Standing};
use layouts::tree::{Entry, Tree};
use model::event::Recorded;
use model::id::SessionId;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::session::Session;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::{Batch, StreamAppend, ViewRow};

/// Of how many earlier versions of a file the hashes are kept.
const KEPT_HASHES: usize = 64;
/// How often a write begins again because somebody else's edits keep slipping in.
const TRIES: usize = 50;
const ASIDE: &str = "aside";
/// Warnings of a look that a command does something about.
const DEALT_WITH: [&str; 5] =
    ["edited_outside", "view_stale", "view_missing", "view_damaged", "several_active"];

impl Engine {
    /// Adds to a batch what the files of its sessions are to be.
    pub(crate) fn add_views(&self, batch: &mut Batch) -> Result<()> {
        let mut views = Vec::new();
        for stream in batch.streams.iter().filter(|stream| stream.row.layout != NATIVE) {
            let session = read_snapshot(stream)?;
            views.extend(self.views_of(&session, batch, &stream.events)?);
        }
        batch.views.extend(views);
        Ok(())
    }

    /// What the files of a session are to be, where they are not. `batch` is about to be kept.
    fn views_of(&self, session: &Session, batch: &Batch, new: &[store::EventRow]) -> Result<Vec<ViewRow>> {
        self.begin_look(session);
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(&session.id) else { return Ok(Vec::new()) };
        let moved = self.where_it_is_to_be(session, look);
        let look = moved.as_ref().unwrap_or(look);
        let is_shown = |row: &&ViewRow| look.states.get(&row.path) != Some(&FileState::Moved);
        let shown = look.rows.values().filter(is_shown).map(|row| row.version).min().unwrap_or(0);
        let kept = self.store.events(&session.id, shown, None)?;
        let since: Vec<Recorded> =
            kept.iter().chain(new).map(|row| read_event(&session.id, row)).collect::<Result<_>>()?;
        let items = self.items_after(&session.id, batch)?;
        let mut tree = self.with_all_contents(session, look).unwrap_or_else(|| look.documents.clone());
        self.add_customs(look, &mut tree);
        let folder = Folder {
            spot: &look.located.spot,
            id: &session.id,
            worktree: &session.worktree,
            tree: &tree,
            now: self.clock.now(),
        };
        let standing = Standing { session, items: &items, since: &since };
        let is_import = |row: &store::EventRow| row.kind == "imported";
        let changes = if new.iter().any(is_import) {
            look.located.layout.write_anew(&standing, &folder)
        } else {
            look.located.layout.write(&standing, &folder)
        };
        // What nobody can look at is left alone, unless it is to be set aside.
        let is_left_alone = |path: &String| match look.states.get(path) {
            Some(FileState::Unreadable) => !self.seen.is_mending.get(),
            state => state == Some(&FileState::NeverRead),
        };
        let mut paths: BTreeSet<&String> = look
            .states
            .iter()
            .filter(|(path, state)| **state != FileState::Moved && !is_left_alone(path))
            .filter(|(path, _)| !is_sign(look.located.layout, path))
            .map(|(path, _)| path)
            .collect();
        paths.extend(changes.iter().map(|change| &change.path).filter(|path| !is_left_alone(path)));
        let rows = paths.into_iter().filter_map(|path| {
            let changed =
                changes.iter().find(|change| change.path == *path).map(|change| &change.content[..]);
            let body = changed.or_else(|| look.documents.content(path))?;
            self.view_row(session, look, path, body)
        });
        let place = look.place_row(session, self.processes.boot_id()).filter(|_| moved.is_some());
        let rows = rows.chain(self.furniture_rows(session, look)).chain(place);
        Ok(rows.chain(self.sign_rows(&standing, look, &folder)).collect())
    }

    /// What a finished session came to stands in files that are not read otherwise.
    fn with_all_contents(&self, session: &Session, look: &Look) -> Option<Tree> {
        let is_finished = matches!(session.lifecycle, Lifecycle::Completed { .. });
        let (_, mut tree) = is_finished.then(|| self.whole_tree(session)).flatten()?;
        if let Some(moving) = &look.moving {
            tree = tree.moved(&moving.from, &moving.to);
        }
        for path in look.documents.files().filter(|path| look.documents.content(path).is_some()) {
            tree.insert(path, Entry::File(look.documents.content(path).unwrap_or_default().to_vec()));
        }
        Some(tree)
    }

    /// A file as it is to be kept; none when that is what is known of it.
    pub(super) fn view_row(
        &self,
        session: &Session,
        look: &Look,
        path: &str,
        body: &[u8],
    ) -> Option<ViewRow> {
        let known = look.rows.get(path);
        let hash = hash(body);
        let there = look.tree.content(path);
        let is_there = there == Some(body) && !look.over.contains_key(path);
        // What goes to another place is known there from now on.
        let is_as_known = known.is_some_and(|row| row.hash == hash && row.confirmed && is_there);
        if is_as_known && look.slipped.is_empty() && look.moving.is_none() {
            return None;
        }
        let mut earlier = known.map(|row| row.earlier.clone()).unwrap_or_default();
        // What slipped in is taken in with this, and becomes the version before: it must not be taken in again.
        let slipped = look.slipped.iter().filter(|slip| slip.path == path);
        earlier.extend(slipped.map(|slip| super::look::hash(&slip.bytes)));
        earlier.extend(there.filter(|_| look.over.contains_key(path)).map(super::look::hash));
        if let Some(row) = known {
            // What others had there before is no edit either, when it comes back. Ours is the last.
            let previous = Some(super::look::hash(&row.previous)).filter(|_| !look.is_known_in_part(row));
            let before = previous.into_iter().chain([row.hash.clone()]);
            earlier.extend(before.filter(|before| *before != hash));
        }
        let from = earlier.len().saturating_sub(KEPT_HASHES);
        let row = ViewRow {
            session: session.id.clone(),
            path: path.to_owned(),
            hash,
            body: body.to_vec(),
            previous: self.seen_there(look, path),
            earlier: earlier.split_off(from),
            version: session.version,
            boot_id: self.processes.boot_id(),
            confirmed: is_there,
        };
        Some(if is_there { settled(&look.located, &row) } else { row })
    }

    /// What was on disk when it was looked at, readable or not; what slipped in is known by now as well.
    fn seen_there(&self, look: &Look, path: &str) -> Vec<u8> {
        if let Some(over) = look.over.get(path) {
            return over.clone();
        }
        match look.tree.get(path) {
            Some(Entry::File(content)) => content.clone(),
            Some(Entry::Unusable(_)) => exchange::read(&look.home.join(path)).unwrap_or_default(),
            Some(Entry::Folder | Entry::Unread { .. }) | None => Vec::new(),
        }
    }

    /// A session that was just begun has files nowhere.
    fn begin_look(&self, session: &Session) {
        let is_known = self.seen.looks.borrow().contains_key(&session.id);
        if let Some(located) = self.located(session).filter(|_| !is_known) {
            let look = Look::of_nothing(located, &self.root_of(session));
            self.seen.looks.borrow_mut().insert(session.id.clone(), look);
        }
    }

    fn items_after(&self, id: &SessionId, batch: &Batch) -> Result<ItemBook> {
        let is_replaced = batch.replace_items.iter().any(|replaced| replaced.session == *id);
        let mut book = if is_replaced { ItemBook::default() } else { self.all_items(id)? };
        for row in batch.replace_items.iter().flat_map(|replaced| &replaced.rows).chain(&batch.items) {
            if row.session == *id
                && let Ok(item) = serde_json::from_str(&row.body)
            {
                book.insert(item);
            }
        }
        Ok(book)
    }

    /// What a look found is dealt with by now: taken in, or about to be written.
    pub(crate) fn taken_in_is_told(&self, batch: &Batch, answer: &mut Answer) {
        let looks = self.seen.looks.borrow();
        for look in batch.streams.iter().filter_map(|stream| looks.get(&stream.row.id)) {
            if look.is_foreign {
                let spot = &look.located.spot;
                answer.said.push(format!("{} was taken in from {}", spot.id, spot.path));
            }
            let slipped = look.slipped.iter().map(|slip| &slip.path);
            for path in slipped.chain(look.in_state(&FileState::Edited).iter()) {
                if look.rows.contains_key(path) {
                    let path = look.located.spot.below_project(path);
                    answer.said.push(format!("what somebody else changed in {path} was taken in"));
                }
            }
        }
        answer.view.warnings.retain(|warning| !DEALT_WITH.contains(&warning.kind.as_str()));
    }

    /// Puts in place what a command kept. Whatever slipped in is taken in and the file written once more.
    pub(crate) fn publish(&mut self, batch: &Batch) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let ids: Vec<SessionId> = batch
            .streams
            .iter()
            .filter(|stream| stream.row.layout != NATIVE)
            .map(|stream| stream.row.id.clone())
            .collect();
        for id in ids {
            match self.publish_session(&id) {
                Ok(said) => warnings.extend(said),
                Err(error) => warnings.push(stale(&id, &error)),
            }
        }
        warnings
    }

    pub(super) fn publish_session(&mut self, id: &SessionId) -> Result<Vec<Warning>> {
        let mut said = Vec::new();
        let mut waiting = vec![id.clone()];
        for _ in 0..TRIES {
            let Some(next) = waiting.last().cloned() else { return Ok(said) };
            let (placed, slipped) = self.place(&next)?;
            for (row, aside) in placed {
                self.store.confirm_view(&row, self.patience)?;
                said.extend(aside);
            }
            failpoint::reached("view-confirmed");
            let Some(slipped) = slipped else {
                waiting.pop();
                continue;
            };
            match self.take_in(&slipped) {
                // Another process was first: what it did is looked at, too.
                Err(error) if error.is_contended() => {}
                other => other?,
            }
            if slipped != next {
                waiting.push(slipped);
            }
        }
        Err(Error::io(
            format!("writing the files of {id}"),
            io::Error::new(io::ErrorKind::WouldBlock, "somebody else keeps changing them"),
        ))
    }

    /// Puts every file in its place that is not known to be there. If somebody's edit came out, tells which session is
    /// to take it in.
    #[allow(clippy::type_complexity, reason = "each file with what is to be said about it")]
    fn place(&self, id: &SessionId) -> Result<(Vec<(ViewRow, Option<Warning>)>, Option<SessionId>)> {
        let (_, session) = self.load_kept(id)?;
        let Some(located) = self.located(&session) else { return Ok((Vec::new(), None)) };
        let root = self.root_of(&session);
        if located.layout.is_private() {
            make_private(&root.join(&located.spot.home))?;
        }
        let lock = self.lock_views(&root)?;
        let mut before = Before::read(&lock).unwrap_or_default();
        let mut placed = Vec::new();
        let (places, files): (Vec<ViewRow>, Vec<ViewRow>) =
            self.store.views(id)?.into_iter().partition(is_place);
        let own = format!("{}/", located.spot.path);
        // First of all: its files are written where it belongs.
        for row in
            places.into_iter().filter(|row| !row.confirmed && located.spot.below_project(&row.path) == own)
        {
            self.move_folder(&located, &root, &row, (&mut before, &lock))?;
            placed.push((row, None));
        }
        for row in files {
            let place = root.join(located.spot.below_project(&row.path));
            // A folder that its own tool moved away does not come back for a file that was in it.
            if row.confirmed && !place.parent().is_some_and(Path::exists) {
                continue;
            }
            let has_moved = || {
                let tree = super::tree::read(located.layout, &located.spot, &root, Depth::Short);
                located.layout.has_moved(&located.spot, &row.path, &tree)
            };
            if !row.confirmed && place.symlink_metadata().is_err() && has_moved() {
                continue;
            }
            let target = self.target(&root, &located.spot, &row.path)?;
            exchange::let_read(&exchange::waiting(&target)).map_err(|source| {
                Error::io(format!("reading what waits beside {}", target.display()), source)
            })?;
            let there = exchange::read(&target).ok();
            let beside = before.beside(&target, there.as_deref(), located.layout.most_bytes(&row.path));
            if let Some(by) = self.settle_waiting(&root, &target, &row, &located, beside)? {
                return Ok((placed, Some(by)));
            }
            if row.confirmed {
                continue;
            }
            let failed = |source| Error::io(format!("writing {}", target.display()), source);
            failpoint::reached_at("view-before", &row.path);
            if is_sign(located.layout, &row.path) {
                let held = signs::place(&target, &row)?;
                let aside =
                    held.map(|held| self.keep_old(&root, id, &target, &row.path, &held, located.layout));
                placed.push((row, aside.transpose()?.flatten()));
                continue;
            }
            if is_furniture(&located, &row.path) {
                furniture::make_folders(&located, &session, &root)?;
                exchange::put_new(&target, &row.body).map_err(failed)?;
                placed.push((settled(&located, &row), None));
                continue;
            }
            let is_shared = located.layout.share(&located.spot, &row.path, &row.body).is_some();
            let (mut body, previous) = beside_others(&located, &target, &row);
            if let Some(late) = before.late(&target).filter(|_| is_shared) {
                body = located.layout.merge_slipped(&row.path, &[], &late, &body);
            }
            if is_shared && there.as_ref() == Some(&body) {
                placed.push((settled(&located, &row), None));
                continue;
            }
            // What cannot be read becomes no backup, and the one that is there stays.
            let takes_its_place = located.layout.is_readable(&row.path, &previous);
            let kept = match before.others_backup(&target, &row).filter(|_| takes_its_place) {
                Some(bytes) => Some(self.keep_others_backup(&root, &target, &row, &bytes)?),
                None => None,
            };
            before.note_put(&lock, &target, &body, &previous, &row).map_err(failed)?;
            self.seen.put.borrow_mut().insert(target.clone(), body.clone());
            let put = match exchange::put(&target, &body, &previous).map_err(failed)? {
                // What was seen there was waited for already.
                exchange::Put::Over(out) if out != previous => {
                    exchange::Put::Over(out_when_written(&target, &row.path, out, located.layout))
                }
                put => put,
            };
            match put {
                exchange::Put::New => placed.push((settled(&located, &row), None)),
                exchange::Put::Over(out) if is_known(&row, &out) || out == previous => {
                    let aside = self.keep_old(&root, id, &target, &row.path, &out, located.layout)?;
                    if aside.is_none() {
                        before.note(&lock, &target, &out).map_err(failed)?;
                    }
                    placed.push((settled(&located, &row), aside.or(kept)));
                }
                exchange::Put::Changed | exchange::Put::Over(_) => return Ok((placed, Some(id.clone()))),
            }
        }
        Ok((placed, None))
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
        beside: Beside,
    ) -> Result<Option<SessionId>> {
        let waiting = exchange::waiting(target);
        let keep = |bytes: &[u8]| {
            self.keep_old(root, &row.session, target, &row.path, bytes, located.layout).map(|_| None)
        };
        let is_ours = |bytes: &[u8]| hash(bytes) == row.hash || is_cut_off(&row.body, bytes);
        let is_before = |bytes: &[u8]| bytes == row.previous || row.earlier.contains(&hash(bytes));
        let failed = |source| Error::io(format!("looking at {}", waiting.display()), source);
        match beside {
            Beside::Nothing => Ok(waiting.exists().then(|| row.session.clone())),
            Beside::Ours => fs::remove_file(&waiting).map(|()| None).map_err(failed),
            Beside::VersionBefore => keep(&exchange::read(&waiting).map_err(failed)?),
            Beside::CameOut { bytes, .. } if row.earlier.contains(&hash(&bytes)) => keep(&bytes),
            Beside::CameOut { by, .. } => {
                let by = SessionId::parse(&by).ok();
                let is_known = |by: &SessionId| self.store.load(by).is_ok_and(|found| found.is_some());
                Ok(by.filter(is_known).or_else(|| Some(row.session.clone())))
            }
            Beside::Unknown(bytes) if is_ours(&bytes) => {
                fs::remove_file(&waiting).map(|()| None).map_err(failed)
            }
            Beside::Unknown(bytes) if is_before(&bytes) => keep(&bytes),
            Beside::Unknown(_) => Ok(Some(row.session.clone())),
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
        layout: &dyn layouts::layout::Layout,
    ) -> Result<Option<Warning>> {
        let waiting = exchange::waiting(target);
        let failed =
            |source| Error::io(format!("keeping the version before of {}", target.display()), source);
        if layout.is_readable(path, out) {
            fs::rename(&waiting, exchange::backup(target)).map_err(failed)?;
            return Ok(None);
        }
        let aside = aside_of(root, id, path, out)?;
        fs::rename(&waiting, &aside)
            .or_else(|_| fs::copy(&waiting, &aside).and_then(|_| fs::remove_file(&waiting)))
            .map_err(failed)?;
        Ok(Some(Warning {
            kind: "set_aside".to_owned(),
            message: format!("{} could not be read; it was set aside and written again", target.display()),
            hint: Some(format!("what was in it: {}", aside.display())),
            path: Some(aside.display().to_string()),
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
            hint: Some(format!("what was in it: {}", aside.display())),
            path: Some(aside.display().to_string()),
        })
    }

    /// Whether a session's files do not say yet what they, or other files, made of it.
    pub(crate) fn is_behind(&self, session: &Session) -> Result<bool> {
        let is_left_alone = |look: &Look| look.is_foreign && !look.is_proven;
        if self.store.pending(&session.id).is_none()
            || self.seen.looks.borrow().get(&session.id).is_none_or(is_left_alone)
        {
            return Ok(false);
        }
        Ok(self.views_of(session, &Batch::default(), &[])?.iter().any(|row| !row.confirmed))
    }

    /// Takes in what slipped between two steps, in a turn of its own.
    pub(super) fn take_in(&mut self, id: &SessionId) -> Result<()> {
        self.look_again();
        self.make_way(id)?;
        self.store.take_turn(self.patience)?;
        let done = self.take_in_now(id);
        self.store.give_turn_back();
        done
    }

    fn take_in_now(&mut self, id: &SessionId) -> Result<()> {
        self.look_again();
        let (_, session) = self.load(id)?;
        let pending = self.store.pending(id);
        let mut batch = Batch::default();
        batch.views = match &pending {
            Some(stream) => self.views_of(&read_snapshot(stream)?, &batch, &[])?,
            None => self.views_of(&session, &batch, &[])?,
        };
        let slipped: Vec<Slipped> = {
            let looks = self.seen.looks.borrow();
            let all = looks.get(id).into_iter();
            let came_out = |look: &Look, path: &String| {
                Some(Slipped {
                    target: look.home.join(path),
                    path: path.clone(),
                    bytes: look.tree.content(path)?.to_vec(),
                })
            };
            all.flat_map(|look| {
                let slipped = look.slipped.iter().map(|slip| Slipped::of(look, slip));
                slipped.chain(look.over.keys().filter_map(|path| came_out(look, path))).collect::<Vec<_>>()
            })
            .collect()
        };
        self.store.keep_pending(id, &batch)?;
        self.keep_slipped(&session, &slipped)?;
        self.look_again();
        Ok(())
    }

    /// What slipped in is in the log now, and its bytes are the version before.
    fn keep_slipped(&self, session: &Session, slipped: &[Slipped]) -> Result<()> {
        let failed = |source| Error::io("keeping an edit", source);
        let Some(located) = self.located(session).filter(|_| !slipped.is_empty()) else { return Ok(()) };
        let root = self.root_of(session);
        let lock = self.lock_views(&root)?;
        let mut before = Before::read(&lock).unwrap_or_default();
        for Slipped { target, path, bytes } in slipped {
            // Another process may have put something else there since: that is looked at again.
            let is_it = |there: Vec<u8>| there.starts_with(bytes);
            if exchange::read(&exchange::waiting(target)).is_ok_and(is_it)
                && self.keep_old(&root, &session.id, target, path, bytes, located.layout)?.is_none()
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

/// An edit that came between two of our steps.
struct Slipped {
    target: PathBuf,
    path: String,
    bytes: Vec<u8>,
}

impl Slipped {
    fn of(look: &Look, slip: &Slip) -> Self {
        Self { target: look.home.join(&slip.path), path: slip.path.clone(), bytes: slip.bytes.clone() }
    }
}

/// Where what was in a file is kept, by its content: the same is kept once.
fn aside_of(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    ensure_ignored(root)?;
    let folder = disk::below(root, &format!("{FOLDER}/{ASIDE}/{id}"))?;
    fs::create_dir_all(&folder)
        .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
    let name = path.replace('/', "_");
    let mark: String = hash(bytes).chars().take(8).collect();
    Ok(folder.join(format!("{name}.{mark}")))
}

/// The beginning of what we were about to write.
fn is_cut_off(body: &[u8], bytes: &[u8]) -> bool {
    body.starts_with(bytes)
}

/// What was seen there, or what another process of ours has just put there. An older version of ours is somebody's
/// going back to it.
fn is_known(row: &ViewRow, out: &[u8]) -> bool {
    let hash = hash(out);
    out == row.previous || hash == row.hash || row.earlier.last() == Some(&hash)
}

/// A folder for its user alone, if there is none yet.
fn make_private(folder: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::io(format!("making {}", folder.display()), error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn read_snapshot(stream: &StreamAppend) -> Result<Session> {
    serde_json::from_str(&stream.snapshot.body)
        .map_err(|error| Error::BrokenLog { session: stream.row.id.to_string(), why: error.to_string() })
}

fn stale(id: &SessionId, error: &Error) -> Warning {
    Warning {
        kind: "view_stale".to_owned(),
        message: format!("it is done and in the log, but the session's files are not written: {error}"),
        hint: Some(format!("write them when that is mended: leftoff repair --session {id}")),
        path: None,
    }
}

/// Nothing of a file is out of step.
pub(super) fn is_settled(look: &Look) -> bool {
    let is_in_step = |(path, state): (&String, &FileState)| match state {
        FileState::Same | FileState::Moved | FileState::Unreadable | FileState::NeverRead => true,
        // What was taken in of others' parts may not be there yet.
        FileState::OfOthers => look.rows.get(path).is_none_or(|row| row.confirmed),
        FileState::Edited
        | FileState::Behind
        | FileState::Leftover
        | FileState::Missing
        | FileState::Damaged => false,
    };
    let is_quiet = look.slipped.is_empty() && look.over.is_empty() && look.moving.is_none();
    is_quiet && look.states.iter().all(is_in_step)
}
