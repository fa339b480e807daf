//! Files that prove a phase: there, not empty, written since the phase began, with what they must hold.

use super::{Surroundings, Verdict};
use crate::error::{Error, Result};
use crate::files::{self, Looked, Seen};
use model::time::seconds_between;
use std::path::Path;

/// How much of a file a pattern is looked for in.
const LONGEST_LOOK: usize = 1024 * 1024;
/// File systems keep coarser times than our clock does.
const SLACK_SECONDS: u64 = 2;

/// The verdict, and the files that passed with their paths below the project's folder.
pub(super) fn run(
    around: &Surroundings<'_>,
    path: &str,
    matches: Option<&str>,
    stale_ok: bool,
) -> Result<(Verdict, Vec<(String, Looked)>)> {
    let path = path.replace("{run}", &around.run_ordinal.to_string());
    let wanted = around.below_project(&path);
    let candidates = match path.split_once("{item}") {
        None => vec![wanted.clone()],
        Some(_) => around.any_item(&wanted)?,
    };
    let needed = wanted.replace("{item}", "*");
    if candidates.is_empty() {
        return Ok((missing(&needed), Vec::new()));
    }
    let mut proven = Vec::new();
    for candidate in candidates {
        match around.judge(&candidate, matches, stale_ok)? {
            Ok(looked) => proven.push((candidate, looked)),
            Err(verdict) => return Ok((verdict.needing(needed), Vec::new())),
        }
    }
    let found: Vec<String> =
        proven.iter().map(|(path, looked)| format!("{path} ({} bytes)", looked.size)).collect();
    Ok((Verdict::passed(found.join(", ")).needing(needed), proven))
}

impl Surroundings<'_> {
    fn judge(
        &self,
        path: &str,
        matches: Option<&str>,
        stale_ok: bool,
    ) -> Result<std::result::Result<Looked, Verdict>> {
        let seen = files::look(&self.engine.project.root, path, LONGEST_LOOK)
            .map_err(|source| Error::io(format!("looking at {path}"), source))?;
        let looked = match seen {
            Seen::Missing => return Ok(Err(missing(path))),
            Seen::Unusable(why) => {
                return Ok(
                    Err(Verdict::failed(format!("{path}: {why}")).mended_by(format!("Write {path}."))),
                );
            }
            Seen::File(looked) => looked,
        };
        if looked.size == 0 {
            return Ok(Err(Verdict::failed(format!("{path} is empty")).mended_by(format!("Write {path}."))));
        }
        if !stale_ok && self.is_older(&looked) {
            let found = format!("{path} is older than the phase");
            return Ok(Err(Verdict::failed(found).mended_by(format!("Bring {path} up to date."))));
        }
        if let Some(pattern) = matches
            && !holds(pattern, &looked.beginning)
        {
            let found = format!("{path} does not match {pattern}");
            let help = format!("Write into {path} what the pattern {pattern} asks for.");
            return Ok(Err(Verdict::failed(found).mended_by(help)));
        }
        Ok(Ok(looked))
    }

    fn is_older(&self, looked: &Looked) -> bool {
        self.started_at.is_some_and(|start| seconds_between(looked.modified, start) > SLACK_SECONDS)
    }

    fn below_project(&self, path: &str) -> String {
        let folder = self.workspace.strip_prefix(&self.engine.project.root).unwrap_or(&self.workspace);
        folder.join(path).to_string_lossy().into_owned()
    }

    /// Files that stand where `{item}` stands for any name.
    fn any_item(&self, pattern: &str) -> Result<Vec<String>> {
        let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        let (before, after) = name.split_once("{item}").unwrap_or((name, ""));
        let entries = match std::fs::read_dir(self.engine.project.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::io(format!("looking into {folder}"), source)),
        };
        let mut found: Vec<String> = entries
            .flatten()
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

fn missing(path: &str) -> Verdict {
    Verdict::failed(format!("{path} is missing")).needing(path.to_owned()).mended_by(format!("Write {path}."))
}

/// A pattern that does not compile was refused when the definition was read.
fn holds(pattern: &str, content: &[u8]) -> bool {
    regex_lite::Regex::new(pattern).is_ok_and(|regex| regex.is_match(&String::from_utf8_lossy(content)))
}
