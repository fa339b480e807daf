//! Reads foreign files. Never reads outside the project, never reads a pipe or a device, and never more than requested.

use crate::hex;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// The entry that was found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathEntry {
    Missing,
    /// An entry that cannot be used, and why: a link that leads outside the project, in a circle or nowhere; an entry
    /// that is not a regular file; or a file that the user may not read.
    Unusable(String),
    File(FileDigest),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileDigest {
    pub(crate) size: u64,
    pub(crate) modified: Timestamp,
    /// SHA-256 of the whole content, in hexadecimal.
    pub(crate) hash: String,
    /// The beginning of the content, with as many bytes as were requested.
    pub(crate) beginning: Vec<u8>,
}

/// Returns a path below the project's folder in its stored form: relative, separated by `/`, and never leading outside.
pub(crate) fn relative(root: &Path, folder: &Path, path: &Path) -> Result<String, String> {
    let whole = folder.join(path);
    let mut parts: Vec<String> = Vec::new();
    let inside =
        whole.strip_prefix(root).map_err(|_| format!("{} is outside the project", path.display()))?;
    for part in inside.components() {
        match part {
            Component::Normal(name) => match name.to_str() {
                Some(name) if !name.chars().any(char::is_control) => parts.push(name.to_owned()),
                _ => {
                    return Err(format!(
                        "{} is not a path that can be recorded",
                        path.display().to_string().escape_debug()
                    ));
                }
            },
            Component::CurDir => {}
            Component::ParentDir if parts.pop().is_some() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(format!("{} is outside the project", path.display()));
            }
        }
    }
    if parts.is_empty() {
        return Err(format!("{} is the project's folder itself, not a file in it", path.display()));
    }
    Ok(parts.join("/"))
}

/// Reads a file below `root`. Follows links only inside `root`. If the file cannot be read, the system's reason is
/// returned as a finding and not as an error, because somebody else created the file.
pub(crate) fn look(root: &Path, relative: &str, beginning: usize) -> PathEntry {
    let real = match root.join(relative).canonicalize() {
        Ok(real) => real,
        Err(error) if is_missing(&error) => return PathEntry::Missing,
        Err(error) => return unreadable(&error),
    };
    if !real.starts_with(root) {
        return PathEntry::Unusable("it is a link to outside the project".to_owned());
    }
    match fs::metadata(&real) {
        Ok(metadata) if !metadata.is_file() => PathEntry::Unusable("it is not a regular file".to_owned()),
        Ok(_) => read(&real, beginning).unwrap_or_else(|error| unreadable(&error)),
        Err(error) => unreadable(&error),
    }
}

/// True if nothing exists at the path; false if something exists but cannot be read.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(error: &io::Error) -> PathEntry {
    PathEntry::Unusable(format!("it cannot be read: {error}"))
}

fn read(path: &PathBuf, beginning: usize) -> io::Result<PathEntry> {
    // The path may meanwhile be a pipe, and opening it must not wait for a writer.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let mut file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(PathEntry::Unusable("it is not a regular file".to_owned()));
    }
    let modified = Timestamp::try_from(metadata.modified()?).unwrap_or(Timestamp::UNIX_EPOCH);
    let (hash, size, beginning) = digest(&mut file, beginning)?;
    Ok(PathEntry::File(FileDigest { size, modified, hash, beginning }))
}

fn digest(file: &mut File, keep: usize) -> io::Result<(String, u64, Vec<u8>)> {
    let mut hasher = Sha256::new();
    let mut kept = Vec::new();
    let mut size = 0u64;
    let mut buffer = vec![0u8; 64 * 1024];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((hex(&hasher.finalize()), size, kept));
        }
        let read = &buffer[..count];
        hasher.update(read);
        size += count as u64;
        let room = keep.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&read[..room]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its real path");
        (folder, root)
    }

    #[test]
    fn paths_are_kept_relative_and_never_lead_out() {
        let root = Path::new("/p");
        let kept = |path: &str| relative(root, Path::new("/p/src"), Path::new(path));
        assert_eq!(kept("a.rs").as_deref(), Ok("src/a.rs"));
        assert_eq!(kept("../b.md").as_deref(), Ok("b.md"));
        assert_eq!(kept("/p/c/./d").as_deref(), Ok("c/d"));
        for bad in ["../../etc/passwd", "/etc/passwd", "..", "a\nb", "/p"] {
            assert!(kept(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn links_out_pipes_and_folders_are_no_files() {
        let (folder, root) = root();
        fs::write(root.join("a"), "hello").expect("a file");
        std::os::unix::fs::symlink("/etc/passwd", root.join("out")).expect("a link");
        std::os::unix::fs::symlink("a", root.join("in")).expect("a link");
        fs::create_dir(root.join("d")).expect("a folder");
        assert!(std::process::Command::new("mkfifo").arg(root.join("p")).status().expect("mkfifo").success());
        assert!(
            matches!(look(&root, "a", 3), PathEntry::File(FileDigest { size: 5, beginning, .. }) if beginning == b"hel")
        );
        assert!(matches!(look(&root, "in", 9), PathEntry::File(FileDigest { size: 5, .. })));
        for bad in ["out", "d", "p"] {
            assert!(matches!(look(&root, bad, 1), PathEntry::Unusable(_)), "{bad} was read");
        }
        assert_eq!(look(&root, "nothing", 1), PathEntry::Missing);
        assert_eq!(look(&root, "a/below", 1), PathEntry::Missing);
        drop(folder);
    }

    #[test]
    fn links_in_a_circle_and_names_too_long_are_no_files() {
        let (folder, root) = root();
        std::os::unix::fs::symlink("circle", root.join("circle")).expect("a link");
        let long = "x".repeat(300);
        for bad in ["circle", "circle/below", long.as_str()] {
            assert!(matches!(look(&root, bad, 1), PathEntry::Unusable(_)), "{bad} was read");
        }
        drop(folder);
    }
}
