//! Finds the branch on which another branch is stacked. Asks git only if there are candidates. Decides by their
//! commits, and by git's log of how the branch was created.

use super::branch_size::said_by_git;
use crate::project::Git;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The maximum number of branches to compare. git's answer must fit into a pipe.
const MOST_BRANCHES: usize = 500;
/// How many bytes of git's logs are read at most.
const MOST_LOG: u64 = 1024 * 1024;

/// Returns the nearest branch on which `branch` may be stacked. `None` if the trunk is nearer, or if git is too old or
/// does not answer.
pub(super) fn nearest(git: &Git, root: &Path, branch: &str, trunk: &str) -> Option<String> {
    let others = other_branches(git, branch, trunk);
    if others == 0 || others > MOST_BRANCHES {
        return None;
    }
    let said = said_by_git(
        root,
        &[
            "for-each-ref",
            "--format=%(refname) %(ahead-behind:HEAD)",
            "refs/heads",
            &format!("refs/remotes/{trunk}"),
        ],
    )
    .ok()?;
    choose(&said, branch, trunk, made_from(git, branch).as_deref())
}

/// Another branch, compared with the checked-out one.
struct Lies<'a> {
    name: &'a str,
    /// The number of commits that only the other branch has.
    ahead: u64,
    /// The number of commits that only the checked-out branch has. This is its distance from the other branch.
    behind: u64,
}

/// Returns the branch on which the checked-out one is stacked. A branch without commits of its own is an ancestor. A
/// branch with commits of its own counts only if git's log names it: it could also be stacked on this branch, and then
/// most of this branch would not be counted.
fn choose(said: &str, branch: &str, trunk: &str, made_from: Option<&str>) -> Option<String> {
    let all: Vec<Lies<'_>> = said.lines().filter_map(lies).collect();
    let to_trunk = all.iter().find(|one| one.name == trunk).map(|one| one.behind)?;
    let is_parent = |one: &&Lies<'_>| {
        one.name != branch
            && one.name != trunk
            && one.behind < to_trunk
            && (made_from == Some(one.name) || (one.ahead == 0 && one.behind > 0))
    };
    let parent = all.iter().filter(is_parent).min_by_key(|one| one.behind)?;
    Some(parent.name.to_owned())
}

/// Parses a line of git's answer, such as `refs/heads/feature/a 0 3`.
fn lies(line: &str) -> Option<Lies<'_>> {
    let mut words = line.rsplitn(3, ' ');
    let behind = words.next()?.parse().ok()?;
    let ahead = words.next()?.parse().ok()?;
    let name = words.next()?;
    let name = name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/remotes/"))?;
    Some(Lies { name, ahead, behind })
}

/// Returns the number of other local branches. Counting stops soon after `MOST_BRANCHES`.
fn other_branches(git: &Git, branch: &str, trunk: &str) -> usize {
    let mut names = Vec::new();
    collect(&git.common.join("refs/heads"), "", &mut names);
    let packed = fs::read_to_string(git.common.join("packed-refs")).unwrap_or_default();
    let packed = packed.lines().filter_map(|line| line.split_once(" refs/heads/"));
    names.extend(packed.map(|(_, name)| name.to_owned()));
    names.sort();
    names.dedup();
    names.iter().filter(|name| *name != branch && *name != trunk).count()
}

fn collect(folder: &Path, above: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if names.len() > MOST_BRANCHES {
            return;
        }
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), &format!("{name}/"), names);
        } else {
            names.push(name);
        }
    }
}

/// Returns the branch from which this one was created, according to git's log.
fn made_from(git: &Git, branch: &str) -> Option<String> {
    let log = bounded(&git.common.join("logs/refs/heads").join(branch))?;
    let first = log.lines().next()?.rsplit_once("branch: Created from ")?.1.trim();
    if first != "HEAD" {
        return Some(first.strip_prefix("refs/heads/").unwrap_or(first).to_owned());
    }
    let head = bounded(&git.folder.join("logs/HEAD"))?;
    let moved = |line: &str| {
        let (from, to) = line.rsplit_once("checkout: moving from ")?.1.split_once(" to ")?;
        (to.trim() == branch).then(|| from.to_owned())
    };
    head.lines().find_map(moved)
}

fn bounded(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST_LOG).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &[&str], made_from: Option<&str>, expected: Option<&str>) {
        let found = choose(&said.join("\n"), "feature/b", "main", made_from);
        assert_eq!(found.as_deref(), expected, "{said:?}");
    }

    #[test]
    fn the_nearest_branch_that_was_passed_is_the_base() {
        let main = "refs/heads/main 0 9";
        let own = "refs/heads/feature/b 0 0";
        check(&[main, own], None, None);
        check(
            &[main, own, "refs/heads/feature/a 0 2", "refs/heads/feature/root 0 5"],
            None,
            Some("feature/a"),
        );
        check(&[main, own, "refs/heads/other 4 9"], None, None);
    }

    #[test]
    fn a_branch_that_went_on_is_the_base_only_where_the_log_says_so() {
        let main = "refs/heads/main 0 9";
        check(&[main, "refs/heads/feature/c 3 2"], None, None);
        check(&[main, "refs/heads/feature/a 3 2"], Some("feature/a"), Some("feature/a"));
        check(&[main, "refs/heads/feature/a 0 0"], None, None);
        check(&[main, "refs/heads/feature/a 0 0"], Some("feature/a"), Some("feature/a"));
    }
}
