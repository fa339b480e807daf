//! Resolves paths below an operation's root, without following links or leading outside. Also builds the names of
//! archived versions.

use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Resolves a relative path. Refuses a path that goes through a link.
pub(crate) fn below(root: &Path, relative: &str) -> Result<PathBuf> {
    let refuse = |why: &str| {
        Err(Error::io(
            format!("reading {relative:?}"),
            io::Error::new(io::ErrorKind::InvalidInput, why.to_owned()),
        ))
    };
    let mut path = root.to_owned();
    let mut parts = Path::new(relative).components().peekable();
    if parts.peek().is_none() {
        return refuse("the path names nothing");
    }
    let mut exists = true;
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return refuse("the path leads outside its folder") };
        path.push(name);
        if !exists {
            continue;
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                return refuse("the path is, or goes through, a symbolic link");
            }
            Ok(found) if parts.peek().is_some() && !found.is_dir() => {
                return refuse("a part of the path is not a folder");
            }
            Ok(_) => {}
            // If a folder does not exist, nothing below it exists either.
            Err(_) => exists = false,
        }
    }
    Ok(path)
}

/// Returns a folder below the root, and creates it if it is missing.
pub(crate) fn make_below(root: &Path, relative: &str) -> Result<PathBuf> {
    let folder = below(root, relative)?;
    std::fs::create_dir_all(&folder)
        .map_err(|source| Error::io(format!("creating {}", folder.display()), source))?;
    Ok(folder)
}

/// Returns the path of a step's staged file: next to its destination, and so on the same file system.
pub(super) fn staged(target: &Path, id: &str, place: usize) -> PathBuf {
    target.with_file_name(format!(".leftoff-{id}-{place}.tmp"))
}

/// Returns `{name}.v{N}{ext}`.
pub(crate) fn version_name(name: &str, version: u32) -> String {
    let (stem, extension) = split(name);
    format!("{stem}.v{version}{extension}")
}

/// Returns one more than the highest version of a file among these names.
pub(crate) fn next_version<'a>(name: &str, names: impl IntoIterator<Item = &'a OsStr>) -> u32 {
    let (stem, extension) = split(name);
    let number = |other: &OsStr| -> Option<u32> {
        let digits = other.to_str()?.strip_prefix(stem)?.strip_prefix(".v")?.strip_suffix(extension)?;
        // leftoff does not write version numbers such as "01" or "+1", so other names are not versions.
        if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok()
    };
    names.into_iter().filter_map(number).max().map_or(1, |highest| highest.saturating_add(1))
}

/// Splits a name at its last dot. A dot at the beginning hides a file and does not start an extension.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        Some(_) | None => (name, ""),
    }
}
