//! A file that other programs write too. It is read, changed and written while holding one lock, and always written
//! completely. Links are refused. No other lock is held meanwhile.

use crate::error::{Error, Result};
use crate::hex;
use rustix::fs::{Access, FlockOperation, OFlags, access, flock};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// The maximum size of a file that is read. Files of requirements are far smaller.
const LARGEST: u64 = 8 * 1024 * 1024;

pub(super) struct SharedFile {
    path: PathBuf,
    lock: PathBuf,
    durable: bool,
}

/// The effect of a change on the file.
pub(super) enum New {
    /// The file belongs to somebody else, so nothing is written.
    Anothers,
    Same,
    Text(String),
    /// The new content is written. The old content was unusable, so the old file is renamed.
    InsteadOfBroken(String),
}

/// The content of a file in a known format.
pub(super) enum Known<T> {
    Nothing,
    Broken,
    Good(T),
}

impl<T: Clone + PartialEq> Known<T> {
    pub(super) fn read(text: Option<&str>, parse: impl FnOnce(&str) -> Option<T>) -> Self {
        match text.map(parse) {
            None => Self::Nothing,
            Some(None) => Self::Broken,
            Some(Some(value)) => Self::Good(value),
        }
    }

    /// Returns what to do with the file after a change; `New::Same` if nothing changed.
    pub(super) fn changed<A>(
        self,
        fresh: impl FnOnce() -> T,
        text: impl FnOnce(&T) -> String,
        change: impl FnOnce(&mut T) -> A,
    ) -> (New, A) {
        let (mut value, before, is_broken) = match self {
            Self::Nothing => (fresh(), None, false),
            Self::Broken => (fresh(), None, true),
            Self::Good(value) => (value.clone(), Some(value), false),
        };
        let answer = change(&mut value);
        let new = if before.as_ref() == Some(&value) {
            New::Same
        } else if is_broken {
            New::InsteadOfBroken(text(&value))
        } else {
            New::Text(text(&value))
        };
        (new, answer)
    }
}

impl SharedFile {
    /// Returns the file at a path such as `x.json`. Its lock is `x.lock` beside it.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { lock: path.with_extension("lock"), path, durable: true }
    }

    /// Returns a file that is not synced, so that a power cut may lose its last changes.
    pub(super) fn passing(path: PathBuf) -> Self {
        Self { durable: false, ..Self::new(path) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the current content. No lock is needed, because the file is replaced atomically.
    pub(super) fn read(&self) -> Result<Option<String>> {
        read(&self.path).map_err(|error| Error::io(format!("reading {}", self.path.display()), error))
    }

    /// Changes the file while holding its lock. The change gets the notes that other processes left beside the file.
    pub(super) fn update<T>(
        &self,
        patience: Duration,
        change: impl FnOnce(Option<&str>, &[String]) -> (New, T),
    ) -> Result<T> {
        self.make_folder()?;
        let _lock = self.take_lock(patience)?;
        let late = self.late_files();
        let notes: Vec<String> = late.iter().map(|(_, text)| text.clone()).collect();
        let (new, answer) = change(self.read()?.as_deref(), &notes);
        let written = match new {
            New::Anothers => return Ok(answer),
            New::Same => Ok(()),
            New::Text(text) => self.replace(&text),
            New::InsteadOfBroken(text) => self.rename_broken().and_then(|()| self.replace(&text)),
        };
        written.map_err(|error| Error::io(format!("writing {}", self.path.display()), error))?;
        for (path, _) in &late {
            let _ = fs::remove_file(path);
        }
        if !late.is_empty() {
            let _ = fs::remove_dir(self.late_folder());
        }
        Ok(answer)
    }

    /// Like `update`, for a file that others write without the lock. If the file changed meanwhile, the change is tried
    /// again.
    pub(super) fn update_watchfully(
        &self,
        patience: Duration,
        change: impl Fn(Option<&str>) -> New,
    ) -> Result<()> {
        const TRIES: usize = 8;
        self.make_folder()?;
        let _lock = self.take_lock(patience)?;
        let writing = |error| Error::io(format!("writing {}", self.path.display()), error);
        for _ in 0..TRIES {
            let before = self.read()?;
            let (text, is_broken) = match change(before.as_deref()) {
                New::Same | New::Anothers => return Ok(()),
                New::Text(text) => (text, false),
                New::InsteadOfBroken(text) => (text, true),
            };
            let staged = self.stage(&text).map_err(writing)?;
            if self.read()? == before {
                let aside = if is_broken { self.rename_broken() } else { Ok(()) };
                return aside.and_then(|()| self.install(&staged)).map_err(writing);
            }
            let _ = fs::remove_file(&staged);
        }
        Err(Error::FileBusy { path: self.path.clone() })
    }

    /// Removes the file while holding its lock. The lock file stays, because others may be waiting for it.
    pub(super) fn remove(&self, patience: Duration) -> Result<()> {
        let _lock = self.take_lock(patience)?;
        match fs::remove_file(&self.path) {
            Err(error) if !crate::files::is_missing(&error) => {
                Err(Error::io(format!("removing {}", self.path.display()), error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Fails if the file could not be written now: its lock must open, and its folder must accept a new file.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.make_folder()?;
        let doing = |source| Error::io(format!("writing {}", self.path.display()), source);
        open_lock(&self.lock).map_err(doing)?;
        let folder = self.path.parent().unwrap_or(&self.path);
        access(folder, Access::WRITE_OK).map_err(|error| doing(error.into()))
    }

    /// Leaves a note beside a file that somebody else is writing. The next process that writes the file applies the
    /// note.
    pub(super) fn leave(&self, note: &impl Serialize) -> Result<()> {
        const TRIES: usize = 100;
        let folder = self.late_folder();
        let doing = |error| Error::io(format!("writing a note to {}", folder.display()), error);
        let text = serde_json::to_string(note).map_err(|error| doing(error.into()))?;
        let mut random = [0u8; 8];
        let _ = getrandom::fill(&mut random);
        let path = folder.join(format!("{}-{}", std::process::id(), hex(&random)));
        let temporary = path.with_extension("tmp");
        for _ in 0..TRIES {
            let left = fs::create_dir_all(&folder)
                .and_then(|()| self.write_whole(&temporary, &text))
                .and_then(|()| fs::rename(&temporary, &path));
            match left {
                // Another process removed the folder because it was empty, so it is created again.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
                done => return done.map_err(doing),
            }
        }
        Err(Error::FileBusy { path: self.path.clone() })
    }

    /// Returns the notes beside the file, in any order. Each of them has a time.
    pub(super) fn late(&self) -> Vec<String> {
        self.late_files().into_iter().map(|(_, text)| text).collect()
    }

    fn late_files(&self) -> Vec<(PathBuf, String)> {
        // Usually the folder does not exist, and finding that out is the only cost.
        let Ok(entries) = fs::read_dir(self.late_folder()) else { return Vec::new() };
        let whole = |path: &PathBuf| path.extension().is_none();
        entries
            .flatten()
            .map(|entry| entry.path())
            .filter(whole)
            .filter_map(|path| Some((path.clone(), read(&path).ok()??)))
            .collect()
    }

    fn late_folder(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".late");
        PathBuf::from(name)
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        self.install(&self.stage(text)?)
    }

    /// Writes text to a temporary file beside the file.
    fn stage(&self, text: &str) -> io::Result<PathBuf> {
        let temporary = temporary_beside(&self.path);
        match self.write_whole(&temporary, text) {
            Ok(()) => Ok(temporary),
            Err(error) => {
                let _ = fs::remove_file(&temporary);
                Err(error)
            }
        }
    }

    fn install(&self, staged: &Path) -> io::Result<()> {
        if let Err(error) = fs::rename(staged, &self.path) {
            let _ = fs::remove_file(staged);
            return Err(error);
        }
        match self.path.parent() {
            Some(folder) if self.durable => File::open(folder)?.sync_all(),
            Some(_) | None => Ok(()),
        }
    }

    fn make_folder(&self) -> Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        fs::create_dir_all(folder).map_err(|error| Error::io(format!("creating {}", folder.display()), error))
    }

    fn write_whole(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(text.as_bytes())?;
        // Without fsync before the rename, a power cut can leave an empty file.
        if self.durable { file.sync_all() } else { Ok(()) }
    }

    /// Renames a broken file. The new name depends on the content, so that equal content is kept only once.
    fn rename_broken(&self) -> io::Result<()> {
        let Some(text) = read(&self.path)? else { return Ok(()) };
        let name = format!("broken-{}", &hex(&Sha256::digest(text.as_bytes()))[..8]);
        let mut aside = self.path.clone().into_os_string();
        aside.push(".");
        aside.push(name);
        fs::rename(&self.path, aside)
    }

    fn take_lock(&self, patience: Duration) -> Result<Lock> {
        let doing = || format!("locking {}", self.lock.display());
        let file = open_lock(&self.lock).map_err(|error| Error::io(doing(), error))?;
        match rustix::io::retry_on_intr(|| flock(&file, FlockOperation::NonBlockingLockExclusive)) {
            // On a file system without locks, the other program works without a lock too.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => Ok(Lock { file }),
            Err(Errno::WOULDBLOCK) => wait(file, patience)
                .ok_or_else(|| Error::FileBusy { path: self.path.clone() })?
                .map_err(|error| Error::io(doing(), error.into())),
            Err(error) => Err(Error::io(doing(), error.into())),
        }
    }
}

/// The lock of a file, held until this value is dropped.
struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would not be enough: a child process that has forked but not yet called exec would still
        // hold the lock.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Waits for a lock in the kernel's queue, which is fair. The wait cannot be cancelled, so a separate thread waits.
fn wait(file: File, patience: Duration) -> Option<std::result::Result<Lock, Errno>> {
    if patience.is_zero() {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .spawn(move || {
            let taken = rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive));
            let _ = sender.send(taken.map(|()| Lock { file }));
        })
        .ok()?;
    receiver.recv_timeout(patience).ok()
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).custom_flags(without_links());
    match options.open(path) {
        // A lock file of another user is not writable, but can be locked when it is opened for reading.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            OpenOptions::new().read(true).custom_flags(without_links()).open(path)
        }
        opened => opened,
    }
}

/// Returns the text of a file; `None` if it does not exist. A link, a pipe or a folder is an error.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    read_opened(path, without_links())
}

/// Reads a file in the user's home folder. There, the user may use symbolic links.
pub(super) fn read_following_links(path: &Path) -> io::Result<Option<String>> {
    read_opened(path, i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0))
}

fn read_opened(path: &Path, flags: i32) -> io::Result<Option<String>> {
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if crate::files::is_missing(&error) => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a link, and links are not followed"));
        }
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if metadata.len() > LARGEST {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is too large"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(LARGEST).read_to_end(&mut bytes)?;
    // Text that is not UTF-8 is not JSON either, which the caller reports.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns flags for opening a file that refuse links and do not wait for the writer of a pipe.
fn without_links() -> i32 {
    i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0)
}

pub(super) fn temporary_beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    PathBuf::from(name)
}
