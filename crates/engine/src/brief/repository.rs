//! Asks git about a session: commits since its start, and uncommitted files. `git status` runs in parallel to
//! everything else; `git log` runs only if there are commits. An answer that takes too long is omitted.

use crate::brief::bookkeeping::Bookkeeping;
use crate::engine::Engine;
use crate::git::{Asked, ask};
use jiff::Timestamp;
use model::event::Event;
use model::id::SessionId;
use serde::Serialize;
use std::time::Duration;

/// The maximum time to wait for both git commands together.
const LONGEST: Duration = Duration::from_millis(150);
/// The maximum number of commits to count.
const MOST_COMMITS: &str = "--max-count=500";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Repository {
    /// The number of commits since the session started.
    pub commits: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// Paths relative to the worktree's folder.
    pub uncommitted: Vec<String>,
    /// The files that were changed by commits since the session's start.
    pub committed: Vec<String>,
}

/// The commit and the time after which commits are counted.
struct Since {
    head: Option<String>,
    at: Timestamp,
}

impl Engine {
    /// Starts `git status` in the background, because its answer takes longer than anything else in a brief.
    pub(crate) fn ask_status(&self) -> Option<Asked> {
        self.project.git.as_ref()?;
        let words = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
        Asked::start(&self.project.root, &words, patience()).ok()
    }

    /// Returns the facts from git; `None` without git, or if git does not answer in time.
    pub(super) fn repository(
        &self,
        session: &SessionId,
        created_at: Timestamp,
        bookkeeping: &Bookkeeping,
        status: Option<Asked>,
    ) -> Option<Repository> {
        let status = status?;
        let since = Since { head: self.first_head(session), at: created_at };
        let has_commits = since.head.is_none() || since.head != self.project.head();
        let log =
            has_commits.then(|| ask_log(&since, |words| ask(&self.project.root, words, patience()).ok()));
        let (commits, newest, mut committed) = log.flatten().as_deref().map(read_log).unwrap_or_default();
        let mut uncommitted = read_status(&status.answer().ok()?);
        for paths in [&mut uncommitted, &mut committed] {
            paths.retain(|path| !bookkeeping.is_ours(path));
        }
        Some(Repository { commits, newest, uncommitted, committed })
    }

    /// Returns the commit that was checked out when the session started.
    fn first_head(&self, session: &SessionId) -> Option<String> {
        let first = self.store.events(session, 0, Some(1)).ok()?;
        match Event::read(&first.first()?.kind, &first.first()?.body) {
            Event::SessionStarted { head, .. } => head,
            _ => None,
        }
    }
}

fn ask_log(since: &Since, ask: impl Fn(&[&str]) -> Option<String>) -> Option<String> {
    let range = match &since.head {
        Some(head) => format!("{head}..HEAD"),
        None => format!("--since={}", since.at),
    };
    ask(&["log", "--format=%x01%h", "--name-only", "--no-renames", MOST_COMMITS, &range, "--"])
}

/// Debug builds read the time limit from a variable, so that tests do not depend on the machine's load.
fn patience() -> Duration {
    #[cfg(debug_assertions)]
    if let Some(given) = std::env::var("LEFTOFF_TEST_GIT_MS").ok().and_then(|text| text.parse().ok()) {
        return Duration::from_millis(given);
    }
    LONGEST
}

/// Parses output such as ` M src/a.rs\0?? new.rs\0`.
fn read_status(said: &str) -> Vec<String> {
    let paths = said.split('\0').filter_map(|entry| entry.get(3..));
    paths.filter(|path| !path.is_empty()).map(ToOwned::to_owned).collect()
}

fn read_log(said: &str) -> (usize, Option<String>, Vec<String>) {
    let names = || said.lines().filter_map(|line| line.strip_prefix('\u{1}'));
    let mut files: Vec<String> = Vec::new();
    for line in said.lines().filter(|line| !line.is_empty() && !line.starts_with('\u{1}')) {
        if !files.iter().any(|known| known == line) {
            files.push(line.to_owned());
        }
    }
    (names().count(), names().next().map(ToOwned::to_owned), files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_git_are_read() {
        let status = " M src/a b.rs\0?? new.rs\0";
        assert_eq!(read_status(status), ["src/a b.rs", "new.rs"]);
        let log = "\u{1}abc1234\n\nsrc/a.rs\n\u{1}def5678\n\nsrc/a.rs\nb.rs\n";
        let files = vec!["src/a.rs".to_owned(), "b.rs".to_owned()];
        assert_eq!(read_log(log), (2, Some("abc1234".to_owned()), files));
        assert_eq!(read_log(""), (0, None, Vec::new()));
    }
}
