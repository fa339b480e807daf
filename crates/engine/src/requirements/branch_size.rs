//! Counts the lines that a branch changed since its base branch.
//! - The count runs one git process, or none while the last count is valid.
//! - The module `base_branch` finds the base.
//! - If the branch may be stacked on another branch, the module `parent_branch` finds that branch, which is a nearer
//!   base. This takes one more git process.

use super::Ground;
use super::base_branch::base_branch;
use super::parent_branch;
use super::shared_file;
use crate::engine::Engine;
use crate::git::{self, NoAnswer};
use crate::hex;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long counting may take. If it takes longer, the size is unknown.
const LONGEST: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) lines: u64,
    pub(super) base: String,
}

impl Engine {
    /// Returns the size of the branch. `None` on the base branch itself, without a base branch, or if there is no
    /// recent count and nothing may be measured now.
    pub(super) fn branch_size(
        &self,
        ground: &Ground,
        cache_ttl: u64,
        measures: bool,
    ) -> Result<Option<Size>, String> {
        let Some(git) = &self.project.git else { return Ok(None) };
        let now = self.clock.now().as_second();
        let cache = cache_path(ground);
        if let Some(size) = remembered(&cache, cache_ttl, now) {
            return Ok(Some(size));
        }
        if !measures {
            return Ok(None);
        }
        let Some(trunk) = base_branch(git, &ground.branch) else { return Ok(None) };
        let base = parent_branch::nearest(git, &ground.root, &ground.branch, &trunk).unwrap_or(trunk);
        let lines = changed_lines(&ground.root, &base)?;
        let size = Size { lines, base };
        remember(&cache, &size, now);
        Ok(Some(size))
    }
}

/// Returns the path of the file with the last count. Each worktree has its own, because uncommitted changes are counted
/// too.
fn cache_path(ground: &Ground) -> PathBuf {
    let digest = Sha256::digest(format!("{}\n{}", ground.project, ground.branch).as_bytes());
    ground.folder.join(super::OUR_FOLDER).join(format!("size-{}", &hex(&digest)[..16]))
}

/// Returns the last count if it is recent enough. The file contains `seconds lines base`.
fn remembered(cache: &Path, cache_ttl: u64, now: i64) -> Option<Size> {
    let text = shared_file::read(cache).ok()??;
    let mut words = text.trim_end().splitn(3, ' ');
    let at: i64 = words.next()?.parse().ok()?;
    let lines = words.next()?.parse().ok()?;
    let base = words.next()?.to_owned();
    let age = u64::try_from(now.checked_sub(at)?).ok()?;
    (age < cache_ttl).then_some(Size { lines, base })
}

/// Stores a count. An error is ignored: the next command then counts again.
fn remember(cache: &Path, size: &Size, now: i64) {
    let temporary = cache.with_extension(format!("{}.tmp", std::process::id()));
    let text = format!("{now} {} {}\n", size.lines, size.base);
    let written = cache
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&temporary, text))
        .and_then(|()| fs::rename(&temporary, cache));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
}

/// Returns the number of lines that were added and removed since the branch left its base, committed or not.
fn changed_lines(root: &Path, base: &str) -> Result<u64, String> {
    let said = said_by_git(
        root,
        &["diff", "--shortstat", "--no-ext-diff", "--no-textconv", "--merge-base", base, "--"],
    )?;
    Ok(counted(&said))
}

/// Returns git's answer to a question about this worktree.
pub(super) fn said_by_git(root: &Path, words: &[&str]) -> Result<String, String> {
    git::ask(root, words, LONGEST).map_err(|why| match why {
        NoAnswer::CannotRun(error) => format!("git cannot be run: {error}"),
        NoAnswer::TooLong => "git took too long to count the lines of the branch".to_owned(),
        NoAnswer::Failed => format!("git {} failed", words.join(" ")),
    })
}

/// Returns the number of changed lines in text such as ` 3 files changed, 120 insertions(+), 4 deletions(-)`.
fn counted(said: &str) -> u64 {
    let counts = said.split(',').filter(|part| part.contains("insertion") || part.contains("deletion"));
    counts.filter_map(|part| part.split_whitespace().next()?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn insertions_and_deletions_are_added_up() {
        assert_eq!(counted(" 3 files changed, 120 insertions(+), 4 deletions(-)\n"), 124);
        assert_eq!(counted(" 1 file changed, 1 deletion(-)\n"), 1);
        assert_eq!(counted(""), 0);
    }
}
