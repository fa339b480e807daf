//! Erases purged text from the files of the store and from its backups. A mark
//! beside the database says that this was begun, so that the next sync or purge finishes it after a kill.

use crate::doctor::Finding;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::sharing::step;
use model::hint::Hint;
use model::words;
use std::fs::{self, File};
use std::path::PathBuf;

const MARK: &str = "erasing";

impl Engine {
    /// Marks that text is about to be purged. Must be called before the text is removed from the store.
    pub(crate) fn begin_erasing(&self) -> Result<()> {
        step();
        let Some(mark) = self.erasing_mark() else { return Ok(()) };
        let made = File::create(&mark).and_then(|file| file.sync_all());
        made.map_err(|source| Error::io(format!("writing {}", mark.display()), source))
    }

    /// True if purged text may still be in a file.
    pub(crate) fn is_erasing(&self) -> bool {
        self.erasing_mark().is_some_and(|mark| mark.exists())
    }

    /// A finding if purged text may still be in a file.
    pub(crate) fn unfinished_erasing(&self) -> Option<Finding> {
        let how = if self.is_shared() { words!["sync"] } else { words!["doctor", "--fix"] };
        let message = "purged text may still be in the files of the store";
        self.is_erasing().then(|| Finding::new("erasing", message, Hint::new("erase it: ").run(how)))
    }

    /// Erases purged text. Returns messages about files that may still contain it. The mark stays if there are any, or
    /// if `is_last` is false, because other files are about to lose the text.
    pub(crate) fn finish_erasing(&mut self, is_last: bool) -> Vec<String> {
        let mut said = Vec::new();
        failpoint::reached("before-erasing");
        step();
        match self.store.erase(self.patience.left()) {
            Ok(true) => {}
            Ok(false) => said.push(
                "the store's files may still contain purged text, because another process is reading the store; run the command again later"
                    .to_owned(),
            ),
            Err(error) => {
                said.push(format!("the store's files may still contain purged text: {error}; run the command again"));
            }
        }
        step();
        said.extend(self.renew_backups_or_say());
        step();
        if let Some(mark) = self.erasing_mark().filter(|_| said.is_empty() && is_last) {
            let _ = fs::remove_file(mark);
        }
        said
    }

    /// `None` for a store on a server, which erases text itself.
    fn erasing_mark(&self) -> Option<PathBuf> {
        if self.team.is_some() {
            return None;
        }
        Some(self.project.database().ok()?.with_file_name(MARK))
    }
}
