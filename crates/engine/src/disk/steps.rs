//! Records, stages, executes and reverts the steps of an operation. Each of these is safe to repeat.

use super::paths::{below, staged};
use super::{Noted, Record, Step, is_missing, sync_folder};
use crate::error::{Error, Result};
use crate::failpoint;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Returns a step as it is recorded in the journal, after inspecting its files.
pub(super) fn note(root: &Path, step: &Step) -> Result<Noted> {
    match step {
        Step::Copy { from, to } => {
            let source = below(root, from)?;
            let found = fs::symlink_metadata(&source).map_err(failed("looking at", &source))?;
            if !found.is_file() {
                return Err(failed("copying", &source)(io::Error::other("it is not a regular file")));
            }
            refuse_existing(root, to)?;
            Ok(Noted::Publish { to: to.clone() })
        }
        Step::Create { path, .. } => {
            refuse_existing(root, path)?;
            Ok(Noted::Publish { to: path.clone() })
        }
        Step::Replace { path, .. } => {
            below(root, path)?;
            Ok(Noted::Replace { to: path.clone() })
        }
        Step::Rename { from, to } => {
            let source = below(root, from)?;
            let found = fs::symlink_metadata(&source).map_err(failed("looking at", &source))?;
            refuse_existing(root, to)?;
            Ok(Noted::Rename { from: from.clone(), to: to.clone(), device: found.dev(), inode: found.ino() })
        }
    }
}

/// Writes the new content of every step to its staged file. Everything that needs disk space happens here.
pub(super) fn stage(root: &Path, record: &Record, steps: &[Step]) -> Result<()> {
    for (place, (step, noted)) in steps.iter().zip(&record.steps).enumerate() {
        let target = below(root, target(noted))?;
        let folder = target.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(failed("making", folder))?;
        let waiting = staged(&target, &record.id, place);
        match step {
            Step::Create { bytes, like, .. } => {
                let like = like.as_ref().map(|path| below(root, path)).transpose()?;
                write(&waiting, like.as_deref(), |file| file.write_all(bytes))
                    .map_err(failed("writing", &target))?;
            }
            Step::Replace { bytes, .. } => {
                write(&waiting, Some(&target), |file| file.write_all(bytes))
                    .map_err(failed("writing", &target))?;
            }
            Step::Copy { from, .. } => {
                let source = below(root, from)?;
                let mut content = open(&source)?;
                write(&waiting, Some(&source), |file| io::copy(&mut content, file).map(drop))
                    .map_err(failed("writing", &target))?;
            }
            Step::Rename { .. } => {}
        }
    }
    Ok(())
}

/// Executes a step unless it is already done. Returns a message for people, if there is anything to report.
pub(super) fn carry_out(root: &Path, id: &str, place: usize, step: &Noted) -> Result<Option<String>> {
    match step {
        Noted::Publish { to } => {
            let target = below(root, to)?;
            let waiting = staged(&target, id, place);
            if fs::symlink_metadata(&waiting).is_err() {
                return Ok(None);
            }
            moved(&waiting, &target, id)
        }
        Noted::Replace { to } => {
            let target = below(root, to)?;
            match fs::rename(staged(&target, id, place), &target) {
                Err(error) if is_missing(&error) => Ok(None),
                done => {
                    done.and_then(|()| sync_parent(&target)).map_err(failed("writing", &target))?;
                    Ok(None)
                }
            }
        }
        Noted::Rename { from, to, device, inode } => {
            let (source, target) = (below(root, from)?, below(root, to)?);
            let is_it = |path: &Path| {
                fs::symlink_metadata(path).is_ok_and(|at| (at.dev(), at.ino()) == (*device, *inode))
            };
            // The rename is already done. If the old name exists, it belongs to a new file.
            if is_it(&target) {
                return Ok(None);
            }
            if fs::symlink_metadata(&source).is_err() {
                let gone = fs::symlink_metadata(&target).is_err();
                return Ok(gone.then(|| format!("{from} was to be moved to {to}, but is gone")));
            }
            let said = moved(&source, &target, id)?;
            sync_parent(&source).map_err(failed("moving", &source))?;
            Ok(said)
        }
    }
}

/// Removes a step's staged file.
pub(super) fn unstage(root: &Path, id: &str, place: usize, step: &Noted) -> Result<()> {
    // If the target cannot be written, it has no staged file.
    let Ok(target) = below(root, target(step)) else { return Ok(()) };
    let waiting = staged(&target, id, place);
    match fs::remove_file(&waiting) {
        Err(error) if !is_missing(&error) => Err(failed("removing", &waiting)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn target(step: &Noted) -> &str {
    match step {
        Noted::Publish { to } | Noted::Replace { to } | Noted::Rename { to, .. } => to,
    }
}

fn refuse_existing(root: &Path, to: &str) -> Result<()> {
    let target = below(root, to)?;
    match fs::symlink_metadata(&target) {
        Ok(_) => Err(Error::AlreadyThere { path: target }),
        Err(_) => Ok(()),
    }
}

/// Opens a file that was a regular file when it was inspected. Does not block if it is a pipe by now.
fn open(path: &Path) -> Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed("reading", path))
}

/// Creates a file with the permissions of another file, so that private files stay private.
fn write(path: &Path, like: Option<&Path>, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(other) = like.and_then(|like| fs::symlink_metadata(like).ok()) {
        file.set_permissions(other.permissions())?;
    }
    failpoint::fails("disk-stage")?;
    fill(&mut file)?;
    // Without a sync before the rename, a power cut can leave an empty file.
    file.sync_all()
}

/// Renames a file. If the new name is taken meanwhile, uses a name next to it and returns a message.
fn moved(from: &Path, to: &Path, id: &str) -> Result<Option<String>> {
    match rename_to_free(from, to) {
        Ok(()) => {
            sync_parent(to).map_err(failed("writing", to))?;
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut name = to.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{id}"));
            let beside = to.with_file_name(name);
            rename_to_free(from, &beside)
                .and_then(|()| sync_parent(&beside))
                .map_err(failed("writing", &beside))?;
            let (from, to, beside) = (from.display(), to.display(), beside.display());
            Ok(Some(format!("{to} already exists, so {from} was moved to {beside}")))
        }
        Err(error) => Err(failed("writing", to)(error)),
    }
}

/// Renames a file or folder durably; never replaces an existing file.
pub(crate) fn move_to_free(from: &Path, to: &Path) -> io::Result<()> {
    rename_to_free(from, to)?;
    sync_parent(to)?;
    sync_parent(from)
}

/// A plain rename would replace an existing file.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if fs::symlink_metadata(to).is_err() => {
            fs::rename(from, to)
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) => Err(error.into()),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    sync_folder(path.parent().unwrap_or(path))
}

fn failed(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let doing = format!("{doing} {}", path.display());
    move |source| Error::io(doing, source)
}
