//! Reads from git's files the branch with which a work branch's size is compared.

use crate::project::Git;
use std::fs;

/// Returns the base branch: the remote's main branch, or else a branch with one of the usual names.
pub(super) fn base_branch(git: &Git, branch: &str) -> Option<String> {
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
