//! The number of lines that a branch changed since its base branch. Runs one git process, and none while the
//! last count is valid. The base branch is found in git's files, with one more process only if the branch may
//! be stacked on another one.

use super::Ground;
use super::parent_branch;
use super::shared_file;
use crate::engine::Engine;
use crate::git::{self, NoAnswer};
use crate::hex;
use crate::project::Git;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long counting may take; a longer count is given up, and the size is unknown.
const LONGEST: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) lines: u64,
    pub(super) base: String,
}

impl Engine {
    /// The size of the branch; `None` on the base branch itself, without a base, or if the size is unknown
    /// and must not be measured now.
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

/// The file with the last count. Each worktree has its own, because its uncommitted changes count too.
fn cache_path(ground: &Ground) -> PathBuf {
    let digest = Sha256::digest(format!("{}\n{}", ground.project, ground.branch).as_bytes());
    ground.folder.join(super::OUR_FOLDER).join(format!("size-{}", &hex(&digest)[..16]))
}

/// The last count, if it is recent enough. The file contains `seconds lines base`.
fn remembered(cache: &Path, cache_ttl: u64, now: i64) -> Option<Size> {
    let text = shared_file::read(cache).ok()??;
    let mut words = text.trim_end().splitn(3, ' ');
    let at: i64 = words.next()?.parse().ok()?;
    let lines = words.next()?.parse().ok()?;
    let base = words.next()?.to_owned();
    let age = u64::try_from(now.checked_sub(at)?).ok()?;
    (age < cache_ttl).then_some(Size { lines, base })
}

/// Stores a count. A failure is ignored: it only means that the next command counts again.
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

/// The base branch: the remote's main branch, or else a branch with a usual name.
fn base_branch(git: &Git, branch: &str) -> Option<String> {
    let remote_head = fs::read_to_string(git.common.join("refs/remotes/origin/HEAD")).ok();
    let named = remote_head
        .as_deref()
        .and_then(|text| text.trim().strip_prefix("ref: refs/remotes/").map(ToOwned::to_owned));
    let usual = ["origin/main", "origin/master", "main", "master"].map(ToOwned::to_owned);
    let base = named.into_iter().chain(usual).find(|name| exists(git, name))?;
    let is_base = base == branch || base.strip_prefix("origin/") == Some(branch);
    (!is_base && !["main", "master"].contains(&branch)).then_some(base)
}

fn exists(git: &Git, name: &str) -> bool {
    let reference = match name.strip_prefix("origin/") {
        Some(_) => format!("refs/remotes/{name}"),
        None => format!("refs/heads/{name}"),
    };
    git.common.join(&reference).is_file()
        || fs::read_to_string(git.common.join("packed-refs"))
            .is_ok_and(|packed| packed.lines().any(|line| line.split(' ').nth(1) == Some(&reference)))
}

/// The number of added and removed lines, committed or not, since the branch left its base.
fn changed_lines(root: &Path, base: &str) -> Result<u64, String> {
    let said = said_by_git(
        root,
        &["diff", "--shortstat", "--no-ext-diff", "--no-textconv", "--merge-base", base, "--"],
    )?;
    Ok(counted(&said))
}

/// Git's answer to a query about this worktree.
pub(super) fn said_by_git(root: &Path, words: &[&str]) -> Result<String, String> {
    git::ask(root, words, LONGEST).map_err(|why| match why {
        NoAnswer::CannotRun(error) => format!("git cannot be run: {error}"),
        NoAnswer::TooLong => "git took too long to count the lines of the branch".to_owned(),
        NoAnswer::Failed => format!("git {} failed", words.join(" ")),
    })
}

/// The number of lines in text such as ` 3 files changed, 120 insertions(+), 4 deletions(-)`.
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
