//! Checks the state of the git worktree. Starts git, which a hook has no time for.

use super::{Surroundings, Verdict};
use crate::error::Result;
use crate::git::about;

pub(super) fn run(around: &Surroundings<'_>, clean: Option<bool>) -> Result<Verdict> {
    let wanted = clean.unwrap_or(true);
    let needed = if wanted { "a clean worktree" } else { "changes in the worktree" };
    let mut git = about(&around.root);
    // The worktree is named explicitly, because `core.worktree` in the repository's configuration could name another
    // folder.
    if let Some(top) = around.root.ancestors().find(|folder| folder.join(".git").exists()) {
        git.arg("--work-tree").arg(top);
    }
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"];
    let output = git.args(status).output();
    let verdict = match output {
        Err(error) => Verdict::failed(format!("git cannot be run: {error}")),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            Verdict::failed(format!("git: {}", crate::words::one_line(&said, 200)))
        }
        Ok(output) => judge(&String::from_utf8_lossy(&output.stdout), wanted),
    };
    Ok(verdict.needing(needed))
}

fn judge(status: &str, wanted: bool) -> Verdict {
    let changed: Vec<&str> = status.lines().filter_map(|line| line.get(3..)).collect();
    let found = match changed.as_slice() {
        [] => "no changes".to_owned(),
        [first] => format!("1 changed file: {first}"),
        [first, ..] => format!("{} changed files: {first}, …", changed.len()),
    };
    if changed.is_empty() == wanted {
        return Verdict::passed(found);
    }
    let help = if wanted { "Commit or stash the changes." } else { "Nothing has changed yet." };
    Verdict::failed(found).with_help(help)
}
