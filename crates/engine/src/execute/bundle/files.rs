//! Writes a bundle's files into a project: never over another file, never outside the project, and never to a place
//! where programs look for instructions.

use super::format::{PackedFile, hash};
use crate::files::{PathEntry, look};
use model::id::SessionId;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// A file of a bundle under a temporary name, about to be renamed.
pub(super) struct Waiting {
    draft: PathBuf,
    /// The file's path relative to the project's folder.
    target: String,
    /// Why the file cannot be put at `target`. It is then put next to that path, under another name.
    beside: Option<&'static str>,
}

/// A bundle's files under temporary names. When the value is dropped, files that were not renamed are removed.
#[derive(Default)]
pub(super) struct Drafts {
    waiting: Vec<Waiting>,
}

impl Drop for Drafts {
    fn drop(&mut self) {
        for waiting in &self.waiting {
            let _ = fs::remove_file(&waiting.draft);
        }
    }
}

/// Returns the reason why a path from another machine is not allowed; `None` if it is allowed.
pub(crate) fn refused(path: &str) -> Option<&'static str> {
    if path.is_empty() || path.chars().any(char::is_control) {
        return Some("the path is empty or contains a control character");
    }
    if path.starts_with('/')
        || path.contains('\\')
        || path.split('/').any(|part| matches!(part, "" | "." | ".."))
    {
        return Some("the path is not a plain path below the project's folder");
    }
    let is_plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
    match (is_plain, path.split('/').any(is_git)) {
        (true, false) => None,
        (false, _) => Some("the path is not a plain path below the project's folder"),
        (true, true) => Some("the path is inside git's own folder"),
    }
}

/// Writes files that are missing or different here under temporary names, next to their paths. `own` is the session's
/// own folder.
pub(super) fn draft<'a>(
    root: &Path,
    session: &SessionId,
    own: &str,
    files: impl Iterator<Item = &'a PackedFile>,
) -> io::Result<Drafts> {
    let mut drafts = Drafts::default();
    for file in files {
        let beside = match look(root, &file.path, 0) {
            PathEntry::File(looked) if looked.hash == hash(&file.content) => continue,
            PathEntry::Missing if may_be_put(&file.path, own) => None,
            PathEntry::Missing => Some("a hidden file can configure a program"),
            PathEntry::File(_) | PathEntry::Unusable(_) => Some("a different file is there"),
        };
        drafts.waiting.push(write_draft(root, session, file, beside)?);
    }
    Ok(drafts)
}

/// Restores missing files. Returns messages about files that could not be restored or got another name. A path that is
/// impossible on this machine is not an error.
pub(crate) fn put_back(
    root: &Path,
    session: &SessionId,
    own: &str,
    files: &[PackedFile],
) -> crate::error::Result<Vec<String>> {
    let mut said = Vec::new();
    for file in files {
        if let Some(why) = refused(&file.path) {
            said.push(not_restored(&file.path, why));
            continue;
        }
        match draft(root, session, own, std::iter::once(file)) {
            Ok(drafts) => said.extend(drafts.put(root)),
            Err(error) if is_of_the_disk(&error) => {
                return Err(crate::error::Error::io("restoring files", error));
            }
            Err(error) => said.push(not_restored(&file.path, &error.to_string())),
        }
    }
    Ok(said)
}

fn not_restored(path: &str, why: &str) -> String {
    format!("{path} was not restored: {why}")
}

/// True if the disk is full, broken or read-only. Then no other file could be written either.
fn is_of_the_disk(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
        || error.raw_os_error() == Some(5)
}

impl Drafts {
    /// Renames every file to its final name. Returns messages about files that got another name.
    pub(super) fn put(mut self, root: &Path) -> Vec<String> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().flat_map(|file| put_one(root, &file)).collect()
    }
}

fn put_one(root: &Path, file: &Waiting) -> Vec<String> {
    let at_name = |name: &str, why: &str| vec![format!("{} is at {name}: {why}", file.target)];
    if file.beside.is_none() {
        match move_without_replacing(&file.draft, &root.join(&file.target)) {
            Ok(()) => return Vec::new(),
            Err(Errno::EXIST) => {}
            Err(error) => return at_name(&file.draft.display().to_string(), &error.to_string()),
        }
    }
    let why = file.beside.unwrap_or("a different file is there");
    let plain = format!("{}.from-bundle", file.target);
    let numbered = (2_u32..1_000).map(|number| format!("{plain}.{number}"));
    for name in std::iter::once(plain.clone()).chain(numbered) {
        match move_without_replacing(&file.draft, &root.join(&name)) {
            Ok(()) => return at_name(&name, why),
            Err(Errno::EXIST) => {}
            Err(error) => return at_name(&file.draft.display().to_string(), &error.to_string()),
        }
    }
    at_name(&file.draft.display().to_string(), why)
}

/// True if a file may be written at its own path. Hidden files may not, because agents and editors read hooks and
/// settings from them. Only the path below the session's own folder counts.
pub(crate) fn may_be_put(path: &str, own: &str) -> bool {
    let rest = path.strip_prefix(&format!("{own}/")).unwrap_or(path);
    rest.split('/').all(|part| !part.starts_with('.'))
}

fn write_draft(
    root: &Path,
    session: &SessionId,
    file: &PackedFile,
    beside: Option<&'static str>,
) -> io::Result<Waiting> {
    let target = root.join(&file.path);
    let folder = target.parent().unwrap_or(root);
    refuse_links(root, folder)?;
    fs::create_dir_all(folder)?;
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let short = format!("{}-{}", name.chars().take(40).collect::<String>(), &hash(file.path.as_bytes())[..8]);
    // The temporary name is always the same for a file, so that a leftover of a crash is found and replaced.
    let draft = folder.join(format!(".{short}.leftoff-{session}"));
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let waiting = Waiting { draft, target: file.path.clone(), beside };
    let mut out = OpenOptions::new().write(true).create_new(true).open(&waiting.draft)?;
    if let Err(error) = out.write_all(&file.content).and_then(|()| out.sync_all()) {
        let _ = fs::remove_file(&waiting.draft);
        return Err(error);
    }
    Ok(waiting)
}

/// Refuses a path that goes through a link, because a link could lead anywhere.
fn refuse_links(root: &Path, folder: &Path) -> io::Result<()> {
    let below = folder.strip_prefix(root).unwrap_or(folder);
    let mut path = root.to_owned();
    for part in below.components() {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let why = format!("{} is a link or not a folder", path.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn move_without_replacing(from: &Path, to: &Path) -> rustix::io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // This file system has no rename that never replaces a file. Creating a hard link does not replace a file
        // either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::link(from, to)?;
            rustix::fs::unlink(from)
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_or_into_git_are_refused() {
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/./b",
            "a//b",
            "a\nb",
            ".git/hooks/x",
            "sub/.GIT/config",
            "a\\b",
            "a/",
        ] {
            assert!(refused(bad).is_some(), "{bad:?} was taken");
        }
        for good in ["PLAN.md", "docs/a b.md", ".leftoff/sessions/x/plan.md", "..a/b"] {
            assert_eq!(refused(good), None, "{good:?}");
        }
    }

    #[test]
    fn a_folder_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        fs::create_dir_all(&root).expect("a folder");
        fs::create_dir_all(folder.path().join("outside")).expect("a folder");
        std::os::unix::fs::symlink("../outside", root.join("docs")).expect("a link");
        let file = PackedFile { path: "docs/new.md".to_owned(), content: b"x".to_vec() };
        let session = SessionId::parse("k3v9x2mp").expect("an id");
        assert!(draft(&root, &session, "own", std::iter::once(&file)).is_err());
        assert_eq!(fs::read_dir(folder.path().join("outside")).expect("a folder").count(), 0);
    }
}
