//! Reads and writes the file of a branch, which records the satisfied requirements of the branch. If two branches have
//! the same file name, the second one's file is in a folder that the original tool does not read.

use super::shared_file::{New, SharedFile};
use crate::error::{Error, Result};
use layouts::requirements::{Change, Document, collision_name, file_stem};
use std::path::Path;
use std::time::Duration;

pub(super) struct BranchFile<'a> {
    /// The folder of branch files: `<git common dir>/requirements`.
    pub(super) folder: &'a Path,
    pub(super) branch: &'a str,
    pub(super) project: &'a str,
}

/// The result of a change, and a problem with the file, if any.
pub(super) struct Changed<T> {
    pub(super) answer: T,
    pub(super) problem: Option<String>,
}

enum Found {
    Ours(Document),
    /// The file has this branch's file name, but belongs to another branch.
    Anothers,
    Broken(String),
}

impl BranchFile<'_> {
    /// Returns the current document of the branch; empty if there is no file.
    pub(super) fn read(&self, now: i64) -> Result<Document> {
        let own = self.own_file();
        let (file, found) = if let Some(text) = own.read()? {
            (own, parsed(&text).map_or_else(Found::Broken, Found::Ours))
        } else {
            let usual = self.usual_file();
            let found = self.found(usual.read()?.as_deref(), now);
            (if matches!(found, Found::Anothers) { own } else { usual }, found)
        };
        match found {
            Found::Ours(document) => Ok(with_notes(document, &file.late())),
            Found::Anothers => Ok(with_notes(self.fresh(now), &file.late())),
            Found::Broken(why) => Err(Error::BrokenFile { path: file.path().to_owned(), why }),
        }
    }

    /// Changes the document and writes it, while holding the file's lock. An unreadable file is quarantined.
    pub(super) fn update<T>(
        &self,
        patience: Duration,
        now: i64,
        mut change: impl FnMut(&mut Document) -> T,
    ) -> Result<Changed<T>> {
        let own = self.own_file();
        if !own.path().exists() {
            let usual = self.usual_file();
            let done = usual.update(patience, |text, notes| match self.found(text, now) {
                Found::Ours(document) => written(&document, notes, None, now, &mut change),
                Found::Broken(why) => {
                    let said = quarantined(usual.path(), &why);
                    written(&self.fresh(now), notes, Some(said), now, &mut change)
                }
                Found::Anothers => (New::Anothers, None),
            })?;
            if let Some(changed) = done {
                return Ok(changed);
            }
        }
        let done = own.update(patience, |text, notes| match text.map(parsed) {
            None => written(&self.fresh(now), notes, None, now, &mut change),
            Some(Ok(document)) => written(&document, notes, None, now, &mut change),
            Some(Err(why)) => {
                let said = quarantined(own.path(), &why);
                written(&self.fresh(now), notes, Some(said), now, &mut change)
            }
        })?;
        done.ok_or_else(|| Error::FileBusy { path: own.path().to_owned() })
    }

    /// Like `update`, for a hook, which waits for nobody. A change that cannot be written now is left as a note beside
    /// the file, and counts as written. Returns the names of the requirements that changed.
    pub(super) fn apply(
        &self,
        patience: Duration,
        now: i64,
        changes: &[Change],
    ) -> Result<Changed<Vec<String>>> {
        let done = self.update(patience, now, |document| {
            changes.iter().flat_map(|change| document.apply(change)).collect::<Vec<_>>()
        });
        let Err(Error::FileBusy { .. }) = done else { return done };
        let file = self.current_file()?;
        for change in changes {
            file.leave(change)?;
        }
        let names = changes.iter().flat_map(|change| &change.names);
        Ok(Changed { answer: names.map(|(name, _)| name.clone()).collect(), problem: None })
    }

    /// Fails if no satisfaction could be recorded, and says why.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.usual_file().check_writable()
    }

    fn current_file(&self) -> Result<SharedFile> {
        let (own, usual) = (self.own_file(), self.usual_file());
        let is_own =
            own.path().exists() || matches!(self.found(usual.read()?.as_deref(), 0), Found::Anothers);
        Ok(if is_own { own } else { usual })
    }

    fn found(&self, text: Option<&str>, now: i64) -> Found {
        match text.map(parsed) {
            None => Found::Ours(self.fresh(now)),
            Some(Ok(document)) if document.branch().is_none_or(|branch| branch == self.branch) => {
                Found::Ours(document)
            }
            Some(Ok(_)) => Found::Anothers,
            Some(Err(why)) => Found::Broken(why),
        }
    }

    fn fresh(&self, now: i64) -> Document {
        Document::new(self.branch, self.project, now)
    }

    fn usual_file(&self) -> SharedFile {
        SharedFile::new(self.folder.join(format!("{}.json", file_stem(self.branch))))
    }

    fn own_file(&self) -> SharedFile {
        SharedFile::new(
            self.folder.join(super::OUR_FOLDER).join(format!("{}.json", collision_name(self.branch))),
        )
    }
}

fn parsed(text: &str) -> std::result::Result<Document, String> {
    Document::read(text).map_err(|error| error.to_string())
}

fn quarantined(path: &Path, why: &str) -> String {
    format!("{} was quarantined: {why}", path.display())
}

/// Returns the document with the changes from notes that were left beside the file, oldest first.
fn with_notes(mut document: Document, notes: &[String]) -> Document {
    let mut changes: Vec<Change> = notes.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    changes.sort_by_key(|change| change.at);
    for change in &changes {
        document.apply(change);
    }
    document
}

fn written<T>(
    before: &Document,
    notes: &[String],
    problem: Option<String>,
    now: i64,
    change: &mut impl FnMut(&mut Document) -> T,
) -> (New, Option<Changed<T>>) {
    let mut document = with_notes(before.clone(), notes);
    let answer = change(&mut document);
    let new = if document == *before {
        New::Same
    } else {
        document.touch(now);
        if problem.is_some() { New::InsteadOfBroken(document.text()) } else { New::Text(document.text()) }
    };
    (new, Some(Changed { answer, problem }))
}
