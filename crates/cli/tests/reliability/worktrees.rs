//! Worktrees of one repository, created by hand as git does.

use std::path::{Path, PathBuf};
use testkit::Sandbox;

/// Another worktree of the sandbox's repository, beside its project.
pub fn add(sandbox: &Sandbox, name: &str) -> PathBuf {
    let root = sandbox.folder().canonicalize().unwrap().join(name);
    let own = sandbox.path(&format!(".git/worktrees/{name}"));
    write(&root.join(".git"), &format!("gitdir: {}\n", own.display()));
    write(&own.join("HEAD"), &format!("ref: refs/heads/{name}\n"));
    write(&own.join("commondir"), "../..\n");
    write(&own.join("gitdir"), &format!("{}\n", root.join(".git").display()));
    check_out(&sandbox.path(WORKFLOWS), &root.join(WORKFLOWS));
    root
}

/// Committed files are in every worktree.
const WORKFLOWS: &str = ".leftoff/workflows";

fn check_out(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        write(&to.join(entry.file_name()), &std::fs::read_to_string(entry.path()).unwrap());
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
