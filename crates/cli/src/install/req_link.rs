//! Creates a program `req`, a link to leftoff in the user's folder for programs. Another program of that name stays.

use crate::failure::Failure;
use crate::install::{Change, Touched};
use std::fs;
use std::path::{Path, PathBuf};

const PLACE: &str = ".local/bin/req";

pub fn put_in(home: &Path, dry_run: bool) -> Result<Touched, Failure> {
    let program = std::env::current_exe().map_err(|error| failed(Path::new("leftoff"), &error))?;
    let path = home.join(PLACE);
    let change = match found(&path) {
        Found::Nothing => Change::Created,
        Found::Ours(target) if target == program => Change::Unchanged,
        Found::Ours(_) => Change::Changed,
        Found::Anothers => {
            return Err(Failure::refused(
                format!("{} is a different program", path.display()),
                "move it away, or link req to leftoff in another folder of your PATH",
            ));
        }
    };
    if !dry_run && change != Change::Unchanged {
        link(&program, &path).map_err(|error| failed(&path, &error))?;
    }
    Ok(Touched { path, change, lines: vec![format!("link to {}", program.display())] })
}

pub fn take_out(home: &Path, dry_run: bool) -> Result<Option<Touched>, Failure> {
    let path = home.join(PLACE);
    match found(&path) {
        Found::Nothing | Found::Anothers => return Ok(None),
        Found::Ours(_) => {}
    }
    if !dry_run {
        fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
    }
    Ok(Some(Touched { path, change: Change::Removed, lines: Vec::new() }))
}

enum Found {
    Nothing,
    /// A link to a program that is called leftoff.
    Ours(PathBuf),
    Anothers,
}

fn found(path: &Path) -> Found {
    match fs::read_link(path) {
        Ok(target) if target.file_name().is_some_and(|name| name == "leftoff") => Found::Ours(target),
        Ok(_) => Found::Anothers,
        Err(_) if fs::symlink_metadata(path).is_ok() => Found::Anothers,
        Err(_) => Found::Nothing,
    }
}

/// Creates the link under another name and renames it, because an existing link cannot be overwritten.
fn link(program: &Path, path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    std::os::unix::fs::symlink(program, &temporary)?;
    fs::rename(&temporary, path).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()), "nothing was changed in that folder")
}
