//! Keeps registries as they were before a repair. The repair of each session rewrites the registry, so the backup
//! beside the registry is only the version before the last of these writes.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::repair::quarantine::quarantine_registry;
use std::fs;
use std::path::Path;

pub(crate) struct Originals {
    /// The original registries of which no copy is kept yet, by path relative to the project's folder.
    files: Vec<(String, Vec<u8>)>,
}

impl Originals {
    pub fn of(engine: &Engine) -> Self {
        Self { files: engine.registry_files() }
    }

    /// Quarantines the originals of registries that have changed since `of` read them. Returns a line with the path of
    /// each copy. Must be called after each repaired session.
    pub fn keep_what_changed(&mut self, engine: &Engine) -> Result<Vec<String>> {
        let now = engine.registry_files();
        let (same, changed): (Vec<_>, Vec<_>) = self.files.drain(..).partition(|file| now.contains(file));
        self.files = same;
        changed.iter().map(|(path, bytes)| keep(&engine.project.root, path, bytes)).collect()
    }
}

fn keep(root: &Path, path: &str, bytes: &[u8]) -> Result<String> {
    let aside = quarantine_registry(root, path, bytes)?;
    fs::write(&aside, bytes).map_err(|source| Error::io(format!("keeping a copy of {path}"), source))?;
    let place = aside.strip_prefix(root).unwrap_or(&aside);
    Ok(format!("the original of {path} is kept as {}", place.display()))
}
