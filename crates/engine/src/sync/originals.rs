//! Indexes as they were before a repair. Each session that is mended writes its part of one, and the version before that
//! lies beside it is then the one before the last of them.

use super::aside::aside_of_index;
use crate::engine::Engine;
use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

pub(super) struct Originals {
    /// By their paths below the project's folder; those that are kept already are gone from it.
    files: Vec<(String, Vec<u8>)>,
}

impl Originals {
    pub fn of(engine: &Engine) -> Self {
        Self { files: engine.index_files() }
    }

    /// Before the next session is mended: until then the version before is the original. Tells where they are.
    pub fn keep_what_changed(&mut self, engine: &Engine) -> Result<Vec<String>> {
        let now = engine.index_files();
        let (same, changed): (Vec<_>, Vec<_>) = self.files.drain(..).partition(|file| now.contains(file));
        self.files = same;
        changed.iter().map(|(path, bytes)| keep(&engine.project.root, path, bytes)).collect()
    }
}

fn keep(root: &Path, path: &str, bytes: &[u8]) -> Result<String> {
    let aside = aside_of_index(root, path, bytes)?;
    fs::write(&aside, bytes).map_err(|source| Error::io(format!("keeping {path}"), source))?;
    let place = aside.strip_prefix(root).unwrap_or(&aside);
    Ok(format!("{path} as it was is kept as {}", place.display()))
}
