//! Changes several files completely or not at all, even after a crash. Knows paths and bytes, not sessions: the caller
//! says if the log has an event with the operation's id.
//!
//! The steps of an operation: it is recorded in a journal; its new files are staged next to their destinations; the
//! caller commits it by appending the event with its id; the steps are executed; the journal is removed. A process that
//! finds a journal completes the operation if it was committed, and otherwise removes the staged files. Everything that
//! needs disk space happens before the commit, so a full disk leaves the old files intact.

pub(crate) mod exchange;
mod paths;
mod steps;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::failpoint;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) use paths::{below, make_below, next_version, version_name};
pub(crate) use steps::move_to_free;

/// The maximum size of a journal in bytes. leftoff's own journals are far smaller.
const LONGEST_JOURNAL: u64 = 4 * 1024 * 1024;

/// One step of an operation. Paths are relative to the operation's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Copies a file; never overwrites an existing one.
    Copy { from: String, to: String },
    /// Creates a file with these bytes; never overwrites an existing one. The file gets the permissions of the file
    /// `like`, if that exists.
    Create { path: String, bytes: Vec<u8>, like: Option<String> },
    /// Renames a file or a folder; never overwrites an existing one.
    Rename { from: String, to: String },
    /// Replaces a file's content atomically: every reader sees either the old or the new content.
    #[allow(dead_code, reason = "layouts write their files with it")]
    Replace { path: String, bytes: Vec<u8> },
}

/// An operation on files below one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    id: String,
    root: PathBuf,
    pub(crate) steps: Vec<Step>,
}

/// An operation that is recorded and staged, but neither executed nor reverted yet.
#[derive(Debug)]
pub(crate) struct Prepared {
    root: PathBuf,
    journal: Journal,
}

/// The result of looking for an interrupted operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recovered {
    Nothing,
    /// The log has the operation's event, so the operation was completed. Contains messages for people.
    RolledForward(Vec<String>),
    /// The log does not have the operation's event, so the operation was reverted.
    RolledBack,
}

/// The file of the journal, locked while this process uses it.
#[derive(Debug)]
struct Journal {
    path: PathBuf,
    _file: File,
    record: Record,
}

/// An operation as recorded in its journal. A staged file is found by the operation's id and the index of its step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    id: String,
    steps: Vec<Noted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Noted {
    /// The staged file becomes a new file.
    Publish { to: String },
    /// The staged file replaces another file.
    Replace { to: String },
    /// A rename. The device and inode of the file show later if the rename happened.
    Rename { from: String, to: String, device: u64, inode: u64 },
}

impl Operation {
    /// Returns an empty operation on files below this folder.
    pub(crate) fn new(root: &Path) -> Self {
        let mut random = [0u8; 8];
        // Without random numbers, an id could repeat. That is harmless, because the journal allows only one operation
        // at a time.
        let _ = getrandom::fill(&mut random);
        Self { id: crate::hex(&random), root: root.to_owned(), steps: Vec::new() }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Records the operation in the file `journal` below its root, and stages its files. If this fails, removes the
    /// journal and the staged files again.
    pub(crate) fn prepare(self, journal: &str) -> Result<Prepared> {
        let journal = below(&self.root, journal)?;
        let noted = self.steps.iter().map(|step| steps::note(&self.root, step)).collect::<Result<_>>()?;
        let record = Record { id: self.id, steps: noted };
        let journal = Journal::write(&journal, record)?;
        failpoint::reached("disk-journal-written");
        let prepared = Prepared { root: self.root, journal };
        match steps::stage(&prepared.root, &prepared.journal.record, &self.steps) {
            Ok(()) => {
                failpoint::reached("disk-staged");
                Ok(prepared)
            }
            Err(error) => {
                let _ = prepared.take_back();
                Err(error)
            }
        }
    }
}

impl Prepared {
    /// Executes a committed operation, and returns messages for people. If a step fails, the journal stays for the next
    /// process.
    pub(crate) fn carry_out(self) -> Result<Vec<String>> {
        let mut said = Vec::new();
        for (place, step) in self.journal.record.steps.iter().enumerate() {
            failpoint::reached(&format!("disk-before-step-{place}"));
            said.extend(steps::carry_out(&self.root, &self.journal.record.id, place, step)?);
            failpoint::reached(&format!("disk-after-step-{place}"));
        }
        failpoint::reached("disk-before-journal-removed");
        self.journal.remove()?;
        failpoint::reached("disk-after-journal-removed");
        Ok(said)
    }

    /// Reverts an operation that was not committed: removes its staged files and its journal.
    pub(crate) fn take_back(self) -> Result<()> {
        for (place, step) in self.journal.record.steps.iter().enumerate() {
            steps::unstage(&self.root, &self.journal.record.id, place, step)?;
        }
        failpoint::reached("disk-unstaged");
        self.journal.remove()
    }
}

/// Finishes an interrupted operation: completes it if it was committed, otherwise reverts it. `counts` says if the
/// operation with this id was committed.
pub(crate) fn recover(
    root: &Path,
    journal: &str,
    patience: Duration,
    counts: impl FnOnce(&str) -> Result<bool>,
) -> Result<Recovered> {
    if fs::symlink_metadata(root.join(journal)).is_err_and(|error| is_missing(&error)) {
        return Ok(Recovered::Nothing);
    }
    // A journal behind a symbolic link is ignored.
    let Ok(journal) = below(root, journal) else { return Ok(Recovered::Nothing) };
    let Some((file, text)) = Journal::open(&journal, patience)? else { return Ok(Recovered::Nothing) };
    let record = serde_json::from_str::<Record>(&text).ok().filter(Record::is_ours);
    let Some(record) = record else {
        // The journal was not written completely, so nothing was staged yet.
        remove_file(&journal)?;
        return Ok(Recovered::RolledBack);
    };
    let counts = counts(&record.id)?;
    let journal = Journal { path: journal, _file: file, record };
    let prepared = Prepared { root: root.to_owned(), journal };
    if counts {
        Ok(Recovered::RolledForward(prepared.carry_out()?))
    } else {
        prepared.take_back()?;
        Ok(Recovered::RolledBack)
    }
}

impl Record {
    /// True if the id has the form of leftoff's own ids. Anybody can create a journal, and the id in it becomes part of
    /// file names.
    fn is_ours(&self) -> bool {
        self.id.len() == 16 && self.id.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl Journal {
    fn write(path: &Path, record: Record) -> Result<Self> {
        let failed = |source| Error::io(format!("writing {}", path.display()), source);
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder).map_err(failed)?;
        let text = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
        let written = try_lock(&file)
            .and_then(|_| failpoint::fails("disk-journal"))
            .and_then(|()| file.write_all(&text))
            .and_then(|()| file.sync_all())
            .and_then(|()| sync_folder(folder));
        if let Err(error) = written {
            let _ = fs::remove_file(path);
            return Err(failed(error));
        }
        Ok(Self { path: path.to_owned(), _file: file, record })
    }

    /// Locks a journal and reads its text. Returns `None` if there is no journal, or if its owner has just finished.
    fn open(path: &Path, patience: Duration) -> Result<Option<(File, String)>> {
        let failed = |source| Error::io(format!("reading {}", path.display()), source);
        let until = Instant::now() + patience;
        loop {
            let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
            let mut file = match OpenOptions::new().read(true).custom_flags(no_follow).open(path) {
                Ok(file) => file,
                Err(error) if is_missing(&error) => return Ok(None),
                Err(error) => return Err(failed(error)),
            };
            if !try_lock(&file).map_err(failed)? {
                if Instant::now() >= until {
                    let busy = io::Error::new(io::ErrorKind::WouldBlock, "another process is using the file");
                    return Err(failed(busy));
                }
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            // The owner may have removed the journal between opening and locking it here.
            let same = file.metadata().map_err(failed)?.ino();
            if fs::symlink_metadata(path).is_ok_and(|now| now.ino() == same) {
                let mut text = String::new();
                file.rewind().map_err(failed)?;
                // A binary file is not a journal of leftoff, and is read as empty.
                let _ = (&file).take(LONGEST_JOURNAL).read_to_string(&mut text);
                return Ok(Some((file, text)));
            }
        }
    }

    fn remove(self) -> Result<()> {
        remove_file(&self.path)
    }
}

/// True if the lock was free, or if the file system has no locks.
fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::io::retry_on_intr(|| flock(file, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn remove_file(path: &Path) -> Result<()> {
    let removed = match fs::remove_file(path) {
        Err(error) if !is_missing(&error) => Err(error),
        Ok(()) | Err(_) => sync_folder(path.parent().unwrap_or(path)),
    };
    removed.map_err(|source| Error::io(format!("removing {}", path.display()), source))
}

/// A new name survives a power cut only after its folder was synced.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
