//! Checks the state of the git worktree. Starts git, which a hook has no time for.

use super::{Surroundings, Verdict};
use crate::error::Result;
use crate::git::about;
use std::path::{Path, PathBuf};

/// The remark after a file that git was told not to look at.
const UNSEEN: &str = " (git was told not to look at it)";

pub(super) fn run(around: &Surroundings<'_>, clean: Option<bool>) -> Result<Verdict> {
    let wanted = clean.unwrap_or(true);
    let needed = if wanted { "a clean worktree" } else { "changes in the worktree" };
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"];
    let verdict = ask(around, &status).and_then(|status| {
        let hidden = ask(around, &["ls-files", "-v", "--full-name", "--", ":/"])?;
        Ok(judge(&status, &unseen(&hidden, &top(&around.root)), wanted))
    });
    Ok(verdict.unwrap_or_else(Verdict::failed).needing(needed))
}

/// Returns what git printed. The error says why git did not answer.
fn ask(around: &Surroundings<'_>, words: &[&str]) -> std::result::Result<String, String> {
    let mut git = about(&around.root);
    // The worktree is named explicitly, because `core.worktree` in the repository's configuration could name another
    // folder.
    git.arg("--work-tree").arg(top(&around.root));
    match git.args(words).output() {
        Err(error) => Err(format!("git cannot be run: {error}")),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("git: {}", crate::words::one_line(&said, 200)))
        }
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
    }
}

/// The folder of the repository, or else this one.
fn top(root: &Path) -> PathBuf {
    let mut folders = root.ancestors();
    folders.find(|folder| folder.join(".git").exists()).unwrap_or(root).to_owned()
}

/// Files that git was told not to look at: those marked as unchanged, and those outside a sparse checkout that exist
/// nevertheless.
fn unseen(listed: &str, top: &Path) -> Vec<String> {
    let is_unseen = |line: &&str| match line.split_once(' ') {
        Some(("S" | "s", path)) => top.join(path).exists(),
        Some((tag, _)) => tag.starts_with(|tag: char| tag.is_ascii_lowercase()),
        None => false,
    };
    listed.lines().filter(is_unseen).map(|line| format!("{}{UNSEEN}", &line[2..])).collect()
}

fn judge(status: &str, unseen: &[String], wanted: bool) -> Verdict {
    let unseen = unseen.iter().map(String::as_str).filter(|_| wanted);
    let changed: Vec<&str> = status.lines().filter_map(|line| line.get(3..)).chain(unseen).collect();
    let found = match changed.as_slice() {
        [] => "no changes".to_owned(),
        [first] => format!("1 changed file: {first}"),
        [first, ..] => format!("{} changed files: {first}, …", changed.len()),
    };
    if changed.is_empty() == wanted {
        return Verdict::passed(found);
    }
    let help = match changed.first() {
        None => "Nothing has changed yet.",
        Some(first) if first.ends_with(UNSEEN) => {
            "Let git look at it: git update-index --no-assume-unchanged --no-skip-worktree"
        }
        Some(_) => "Commit or stash the changes.",
    };
    Verdict::failed(found).with_help(help)
}
