//! Checks the files that prove a phase. They must exist, not be empty, have been written since the phase started, and
//! have the required content.

use super::{Surroundings, Verdict};
use crate::files::{self, FileDigest, PathEntry};
use model::id::ItemId;
use model::item::Item;
use model::time::seconds_between;
use std::path::Path;

/// How many bytes at the beginning of a file are searched for a pattern.
const LONGEST_LOOK: usize = 1024 * 1024;
/// How many seconds older than the phase a file may appear. File systems store coarser times than the clock has.
const SLACK_SECONDS: u64 = 2;
/// The maximum number of items that are checked for a file of their own.
const MOST_ITEMS: usize = 1_000;

/// Returns the verdict, and the files that passed. Their paths are relative to the project's folder.
pub(super) fn run(
    around: &Surroundings<'_>,
    path: &str,
    matches: Option<&str>,
    stale_ok: bool,
) -> (Verdict, Vec<(String, FileDigest)>) {
    let path = around.engine.file_of_run(around.session, around.run_ordinal, path);
    let wanted = around.below_project(&path);
    let needed = wanted.replace("{item}", "*");
    match around.prove(&wanted, matches, stale_ok) {
        Ok(proven) if proven.is_empty() => (around.missing(&needed), proven),
        Ok(proven) => {
            let found: Vec<String> =
                proven.iter().map(|(path, looked)| format!("{path} ({} bytes)", looked.size)).collect();
            (Verdict::passed(found.join(", ")).needing(needed), proven)
        }
        Err(verdict) => (verdict.needing(needed), Vec::new()),
    }
}

impl Surroundings<'_> {
    /// Returns all matching files if they pass. Otherwise returns the verdict on the first file that does not pass.
    fn prove(
        &self,
        wanted: &str,
        matches: Option<&str>,
        stale_ok: bool,
    ) -> Result<Vec<(String, FileDigest)>, Verdict> {
        let candidates =
            if wanted.contains("{item}") { self.any_item(wanted)? } else { vec![wanted.to_owned()] };
        let judged = candidates.into_iter().map(|candidate| {
            let looked = self.judge(&candidate, matches, stale_ok)?;
            Ok((candidate, looked))
        });
        let proven: Vec<(String, FileDigest)> = judged.collect::<Result<_, Verdict>>()?;
        match self.without_a_file(wanted, &proven) {
            Some((path, item)) => Err(Verdict::failed(format!("{path} is missing: item {item} has no file"))
                .with_help(format!("Write {path}."))),
            None => Ok(proven),
        }
    }

    /// If the pattern contains `{item}`, every item of this phase needs a file of its own: returns the first missing
    /// file and its item. If another check requires finished items, only finished items need a file.
    fn without_a_file(&self, wanted: &str, files: &[(String, FileDigest)]) -> Option<(String, ItemId)> {
        let (before, after) = wanted.split_once("{item}")?;
        let kind = self.phase.items.as_deref()?;
        let items = self.engine.items_of(self.session, &self.phase.id, MOST_ITEMS).ok()?;
        let open_ones_count = !self.phase.asks_for_items();
        let is_meant = |item: &&Item| {
            item.parent.is_none()
                && item.kind.as_str() == kind
                && (item.is_done() || open_ones_count && item.is_open())
        };
        let items: Vec<ItemId> = items.iter().filter(is_meant).map(|item| item.id.clone()).collect();
        if files.is_empty() {
            return None;
        }
        let has_file = |item: &&ItemId| {
            let is_its = |name: &str| files.iter().any(|(path, _)| *path == format!("{before}{name}{after}"));
            is_its(item.as_str()) || is_its(number_of(item))
        };
        let item = items.iter().find(|item| !has_file(item))?;
        // For `stage-3-section-{item}.md`, the item `section-2` may also be written as `2`.
        let (name, number) = (item.as_str(), number_of(item));
        let stem = &name[..name.len() - number.len()];
        let short = !number.is_empty() && !stem.is_empty() && before.ends_with(stem);
        Some((format!("{before}{}{after}", if short { number } else { name }), item.clone()))
    }

    fn judge(&self, path: &str, matches: Option<&str>, stale_ok: bool) -> Result<FileDigest, Verdict> {
        let looked = match files::look(&self.root, path, LONGEST_LOOK) {
            PathEntry::Missing => return Err(self.missing(path)),
            PathEntry::Unusable(why) => {
                return Err(Verdict::failed(format!("{path}: {why}")).with_help(format!("Write {path}.")));
            }
            PathEntry::File(looked) => looked,
        };
        if looked.size == 0 {
            return Err(Verdict::failed(format!("{path} is empty")).with_help(format!("Write {path}.")));
        }
        if !stale_ok && self.is_older(&looked) {
            let found = format!("{path} is older than the phase");
            return Err(Verdict::failed(found).with_first_help(format!("Update {path}.")));
        }
        if let Some(pattern) = matches
            && !holds(pattern, &looked.beginning)
        {
            let found = format!("{path} does not match `{pattern}`");
            let help = format!("Change {path} so that it matches `{pattern}`.");
            return Err(Verdict::failed(found).with_help(help));
        }
        Ok(looked)
    }

    fn is_older(&self, looked: &FileDigest) -> bool {
        self.started_at.is_some_and(|start| seconds_between(looked.modified, start) > SLACK_SECONDS)
    }

    fn missing(&self, path: &str) -> Verdict {
        let elsewhere = of_that_name(&self.root, path).filter(|found| found != path);
        let also = elsewhere.as_ref().map(|found| format!("; there is {found}")).unwrap_or_default();
        let help = match &elsewhere {
            Some(found) => format!("Write {path}, or move {found} there."),
            None => format!("Write {path}."),
        };
        Verdict::failed(format!("{path} is missing{also}")).needing(path.to_owned()).with_help(help)
    }

    fn below_project(&self, path: &str) -> String {
        let folder = self.workspace.strip_prefix(&self.root).unwrap_or(&self.workspace);
        folder.join(path).to_string_lossy().into_owned()
    }

    /// Returns the files that match the pattern with any text for `{item}`.
    fn any_item(&self, pattern: &str) -> Result<Vec<String>, Verdict> {
        let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        let (before, after) = name.split_once("{item}").unwrap_or((name, ""));
        let entries = match std::fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let found = format!("{folder} is not a readable folder: {error}");
                return Err(Verdict::failed(found).with_help(format!("Make {folder} a folder.")));
            }
        };
        let mut found: Vec<String> = entries
            .flatten()
            .filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| {
                name.len() > before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
            })
            .map(|name| Path::new(folder).join(name).to_string_lossy().into_owned())
            .collect();
        found.sort();
        Ok(found)
    }
}

/// Limits how deep files of the same name are searched for in other folders.
const DEEPEST: usize = 3;
const MOST_ENTRIES: usize = 3_000;
/// Folders that are not searched, because people do not write their files there.
const PASSED_OVER: [&str; 3] = ["node_modules", "target", "vendor"];

/// Returns a file of the same name elsewhere in the project: the one nearest to the project's root.
fn of_that_name(root: &Path, path: &str) -> Option<String> {
    let name = Path::new(path).file_name()?;
    let mut left = MOST_ENTRIES;
    let mut folders = vec![root.to_owned()];
    for _ in 0..DEEPEST {
        let mut below = Vec::new();
        for folder in folders {
            let found = folder.join(name);
            if found.is_file() {
                return Some(found.strip_prefix(root).ok()?.to_string_lossy().into_owned());
            }
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left);
            for entry in entries {
                left = left.saturating_sub(1);
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                let passed_over = PASSED_OVER.iter().any(|other| entry.file_name() == *other);
                if !hidden && !passed_over && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    below.push(entry.path());
                }
            }
        }
        below.sort();
        folders = below;
    }
    None
}

/// Returns the digits at the end of an item's id.
fn number_of(item: &ItemId) -> &str {
    let text = item.as_str();
    &text[text.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()..]
}

/// True if the content matches the pattern. False for a pattern that does not compile; definitions with such patterns
/// are refused anyway.
fn holds(pattern: &str, content: &[u8]) -> bool {
    regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(&String::from_utf8_lossy(content)))
}
