//! Computes differences between versions of recorded files, and between the last version and the current file. Reads
//! stored text; writes nothing.

use super::{LARGEST_KEPT, VersionMade};
use crate::engine::{Engine, Want};
use crate::error::Result;
use crate::facades::Sessions;
use crate::files::{self, PathEntry};
use crate::line_differences::between;

/// The maximum number of files whose differences are shown.
const MOST: usize = 20;

/// The changes in a file from one version to the next, or to the current file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDifference {
    pub path: String,
    pub from: u32,
    /// The newer version; `None` if it is the current file.
    pub to: Option<u32>,
    /// A line diff with a few lines of context.
    pub text: String,
}

impl Sessions<'_> {
    /// Returns, for each file of the selected session, the differences between its last two versions, and between the
    /// last version and the current file. A version whose text was not stored is skipped.
    pub fn file_differences(&self, versions: &[VersionMade]) -> Result<Vec<FileDifference>> {
        let engine = self.engine;
        let (_, session) = engine.load(&engine.select(Want::Latest)?)?;
        let root = engine.root_of(&session);
        let mut found = Vec::new();
        for known in session.artifacts.values() {
            let newest = &known.newest;
            let Some(text) = engine.kept_text(&newest.hash)? else { continue };
            let is_before = |made: &&VersionMade| {
                made.version.path == newest.path && made.version.version + 1 == newest.version
            };
            if let Some(before) = versions.iter().find(is_before)
                && let Some(old) = engine.kept_text(&before.version.hash)?
            {
                let (from, to) = (before.version.version, Some(newest.version));
                found.push(FileDifference {
                    path: newest.path.clone(),
                    from,
                    to,
                    text: between(&old, &text),
                });
            }
            if let PathEntry::File(now) = files::look(&root, &newest.path, LARGEST_KEPT)
                && now.hash != newest.hash
                && let Ok(new) = String::from_utf8(now.beginning)
            {
                let (path, from) = (newest.path.clone(), newest.version);
                found.push(FileDifference { path, from, to: None, text: between(&text, &new) });
            }
            if found.len() >= MOST {
                break;
            }
        }
        found.retain(|difference| !difference.text.is_empty());
        Ok(found)
    }
}

impl Engine {
    fn kept_text(&self, hash: &str) -> Result<Option<String>> {
        Ok(self.store.content(hash)?.and_then(|bytes| String::from_utf8(bytes).ok()))
    }
}
