//! Work on several files that happens as a whole or not at all, also after a crash in the middle. Knows paths and bytes,
//! no session: whether an operation counts, the caller tells by its id.
//!
//! An operation is written down in a journal, its new files are staged beside their places, then the caller makes it
//! count (appends the event that carries its id), then the steps are carried out, then the journal goes. Whoever finds
//! a journal either carries it out, because its id counts, or takes the staged files away. Whatever needs room on the
//! disk is done before anything counts: a full disk leaves the old files whole.

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

pub(crate) use paths::{below, next_version, version_name};
pub(crate) use steps::move_to_free;

/// Far more than any journal of ours.
const LONGEST_JOURNAL: u64 = 4 * 1024 * 1024;

/// One thing that an operation does. Paths are relative to the operation's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Never over an existing file.
    Copy { from: String, to: String },
    /// A new file with these bytes; never over an existing one.
    /// `like` names a file whose permissions it gets, if that exists.
    Create { path: String, bytes: Vec<u8>, like: Option<String> },
    /// A file or a folder gets another name; never over an existing one.
    Rename { from: String, to: String },
    /// A file's content at once: a reader sees the old one or the new one.
    #[allow(dead_code, reason = "layouts write their files with it")]
    Replace { path: String, bytes: Vec<u8> },
}

/// What is to be done below one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    id: String,
    root: PathBuf,
    pub(crate) steps: Vec<Step>,
}

/// An operation that is written down and staged: it can be carried out, or taken back.
#[derive(Debug)]
pub(crate) struct Prepared {
    root: PathBuf,
    journal: Journal,
}

/// What was found of an earlier operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recovered {
    Nothing,
    /// It counted, so it was carried out; with what a person should know about it.
    RolledForward(Vec<String>),
    /// It never counted, so nothing of it is left.
    RolledBack,
}

/// The journal's file, held under its lock as long as somebody works on it.
#[derive(Debug)]
struct Journal {
    path: PathBuf,
    _file: File,
    record: Record,
}

/// An operation as its journal holds it: staged files are found by the operation's id and their place in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    id: String,
    steps: Vec<Noted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Noted {
    /// The staged file becomes a new one.
    Publish { to: String },
    /// The staged file takes another one's place.
    Replace { to: String },
    /// With the marks of what is renamed, which tell later whether that has happened.
    Rename { from: String, to: String, device: u64, inode: u64 },
}

impl Operation {
    /// An operation without steps, on files below this folder.
    pub(crate) fn new(root: &Path) -> Self {
        let mut random = [0u8; 8];
        // Without a source of randomness an id could repeat; the journal's file is made for one operation at a time.
        let _ = getrandom::fill(&mut random);
        Self { id: crate::hex(&random), root: root.to_owned(), steps: Vec::new() }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Writes the operation down, in this file below its root, and stages its files. On failure nothing of it is left.
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
    /// Carries out what counts now. What a person should know about it comes back.
    /// After a failure the journal stays: whoever comes next goes on with it.
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

    /// Takes back what never counted: only staged files and the journal exist of it.
    pub(crate) fn take_back(self) -> Result<()> {
        for (place, step) in self.journal.record.steps.iter().enumerate() {
            steps::unstage(&self.root, &self.journal.record.id, place, step)?;
        }
        failpoint::reached("disk-unstaged");
        self.journal.remove()
    }
}

/// Finishes what a crash interrupted: forward when the operation counts, else back.
pub(crate) fn recover(
    root: &Path,
    journal: &str,
    patience: Duration,
    counts: impl FnOnce(&str) -> Result<bool>,
) -> Result<Recovered> {
    // We never write one where a link leads.
    let Ok(journal) = below(root, journal) else { return Ok(Recovered::Nothing) };
    let Some((file, text)) = Journal::open(&journal, patience)? else { return Ok(Recovered::Nothing) };
    let record = serde_json::from_str::<Record>(&text).ok().filter(Record::is_ours);
    let Some(record) = record else {
        // Cut off while it was written: nothing was staged yet.
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
    /// A journal can be put there by anybody: its id becomes part of file names.
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

    /// The journal under its lock, with its text; none when there is none, or its owner has just finished.
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
                    let busy = io::Error::new(io::ErrorKind::WouldBlock, "another process is at work on it");
                    return Err(failed(busy));
                }
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            // Its owner may have removed it between our opening it and our getting the lock.
            let same = file.metadata().map_err(failed)?.ino();
            if fs::symlink_metadata(path).is_ok_and(|now| now.ino() == same) {
                let mut text = String::new();
                file.rewind().map_err(failed)?;
                // What is no text is no journal of ours: it is read as an empty one.
                let _ = (&file).take(LONGEST_JOURNAL).read_to_string(&mut text);
                return Ok(Some((file, text)));
            }
        }
    }

    fn remove(self) -> Result<()> {
        remove_file(&self.path)
    }
}

/// Whether the lock was free. Where there are no locks, there is nobody to wait for.
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

/// A new name is durable only when its folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
