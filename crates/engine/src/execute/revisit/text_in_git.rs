//! Finds the earlier text of an unrecorded file in git. Changes nothing.

use crate::git::ask;
use jiff::Timestamp;
use std::path::Path;
use std::time::Duration;

const LONGEST: Duration = Duration::from_secs(2);

/// Returns the text that was committed at the given time. If nothing was committed by then, returns the first text
/// committed afterwards.
pub(super) fn text_at(root: &Path, path: &str, at: Timestamp) -> Option<String> {
    let time = at.to_string();
    let until = format!("--until={time}");
    let since = format!("--since={time}");
    let last = commits(root, &["log", "-1", "--format=%H", &until, "--", path]).pop();
    let commit = last.or_else(|| commits(root, &["log", "--format=%H", &since, "--", path]).pop())?;
    let object = format!("{commit}:./{path}");
    ask(root, &["show", &object], LONGEST).ok()
}

/// Returns the commits that git lists, newest first.
fn commits(root: &Path, words: &[&str]) -> Vec<String> {
    let said = ask(root, words, LONGEST).unwrap_or_default();
    said.lines().map(ToOwned::to_owned).collect()
}
