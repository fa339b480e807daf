//! The branch's file on disk, which is the truth about requirements. A second branch of the same file name has a file
//! of its own, in a folder where the original does not look.

use super::file::{New, SharedFile};
use crate::error::{Error, Result};
use layouts::requirements::{Document, collision_name, file_stem};
use std::path::Path;
use std::time::Duration;

pub(super) struct BranchFile<'a> {
    /// `<git common dir>/requirements`
    pub(super) folder: &'a Path,
    pub(super) branch: &'a str,
    pub(super) project: &'a str,
}

/// What a change of the document came to, and what was odd about the file.
pub(super) struct Changed<T> {
    pub(super) answer: T,
    pub(super) problem: Option<String>,
}

enum Found {
    Ours(Document),
    /// The file of that name is another branch's.
    Anothers,
    Broken(String),
}

impl BranchFile<'_> {
    /// As it is now; empty where there is nothing yet.
    pub(super) fn read(&self, now: i64) -> Result<Document> {
        let own = self.own_file();
        if let Some(text) = own.read()? {
            return match parsed(&text) {
                Ok(document) => Ok(document),
                Err(why) => Err(Error::BrokenFile { path: own.path().to_owned(), why }),
            };
        }
        let usual = self.usual_file();
        match self.found(usual.read()?.as_deref(), now) {
            Found::Ours(document) => Ok(document),
            Found::Anothers => Ok(self.fresh(now)),
            Found::Broken(why) => Err(Error::BrokenFile { path: usual.path().to_owned(), why }),
        }
    }

    /// Reads, changes and writes the document while nobody else does. A file that cannot be read is kept aside.
    pub(super) fn update<T>(
        &self,
        patience: Duration,
        now: i64,
        mut change: impl FnMut(&mut Document) -> T,
    ) -> Result<Changed<T>> {
        let own = self.own_file();
        if !own.path().exists() {
            let usual = self.usual_file();
            let done = usual.update(patience, |text| match self.found(text, now) {
                Found::Ours(document) => written(document, None, now, &mut change),
                Found::Broken(why) => {
                    written(self.fresh(now), Some(set_aside(usual.path(), &why)), now, &mut change)
                }
                Found::Anothers => (New::Same, None),
            })?;
            if let Some(changed) = done {
                return Ok(changed);
            }
        }
        let done = own.update(patience, |text| match text.map(parsed) {
            None => written(self.fresh(now), None, now, &mut change),
            Some(Ok(document)) => written(document, None, now, &mut change),
            Some(Err(why)) => written(self.fresh(now), Some(set_aside(own.path(), &why)), now, &mut change),
        })?;
        done.ok_or_else(|| Error::FileBusy { path: own.path().to_owned() })
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

fn set_aside(path: &Path, why: &str) -> String {
    format!("{} was set aside: {why}", path.display())
}

fn written<T>(
    before: Document,
    problem: Option<String>,
    now: i64,
    change: &mut impl FnMut(&mut Document) -> T,
) -> (New, Option<Changed<T>>) {
    let mut document = before.clone();
    let answer = change(&mut document);
    let new = if document == before {
        New::Same
    } else {
        document.touch(now);
        if problem.is_some() { New::InsteadOfBroken(document.text()) } else { New::Text(document.text()) }
    };
    (new, Some(Changed { answer, problem }))
}
