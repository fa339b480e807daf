//! Creates a bundle. Reads everything about a session, and writes only the bundle's file.

use super::format::{self, Bundle, Definition, Header, LARGEST_FILE, PackedFile, VERSION};
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::facades::Sessions;
use crate::files::{PathEntry, look};
use crate::long_work::Work;
use model::event::Event;
use model::id::SessionId;
use model::session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use store::ContentRow;
use store::chain::Given;

/// A description of the bundle that was created.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct BundleMade {
    pub path: PathBuf,
    pub session_id: String,
    pub events: usize,
    pub files: usize,
    pub bytes: u64,
    /// Messages for people about files that are missing, too large or changed.
    pub said: Vec<String>,
}

impl Sessions<'_> {
    /// Writes the selected session into a new bundle file.
    pub fn bundle(&self, to: &Path) -> Result<BundleMade> {
        let id = self.engine.select(Want::Latest)?;
        let mut said = Vec::new();
        let bundle = self.engine.packed(&id, &mut said)?;
        let io = |source| Error::io(format!("writing {}", to.display()), source);
        // A bundle contains everything about a session, so only its owner may read it. It never replaces another file.
        let file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(to) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(Error::AlreadyThere { path: to.to_owned() });
            }
            Err(source) => return Err(io(source)),
        };
        let written = write_all(&bundle, file);
        if written.is_err() {
            let _ = std::fs::remove_file(to);
        }
        Ok(BundleMade {
            path: to.to_owned(),
            session_id: id.to_string(),
            events: bundle.events.len(),
            files: bundle.files.len(),
            bytes: written.map_err(io)?,
            said,
        })
    }
}

impl Engine {
    fn packed(&self, id: &SessionId, said: &mut Vec<String>) -> Result<Bundle> {
        let session = self.replay(id)?;
        let events = self.store.events(id, 0, None)?;
        Ok(Bundle {
            header: Header {
                leftoff_bundle: VERSION,
                session: id.clone(),
                title: session.title.clone(),
                made_at: self.clock.now(),
                made_by: self.actor(self.asking_agent()?.as_ref()).to_string(),
            },
            definitions: self.definitions_used(id)?,
            files: self.pack_files(&session, said)?,
            contents: self.contents_kept(id)?,
            seals: self.seals_of(id)?,
            events,
        })
    }

    /// Returns the salts or hashes of events for the hash chain, so that the chain stays the same where the bundle is
    /// imported.
    fn seals_of(&self, id: &SessionId) -> Result<BTreeMap<u64, Given>> {
        let seals = self.store.chain(id)?.seals.into_iter();
        Ok(seals
            .map(|(version, seal)| (version, seal.salt.map_or(Given::Hash(seal.hash), Given::Salt)))
            .collect())
    }

    /// Returns the definitions of all runs so far, including undone runs.
    fn definitions_used(&self, id: &SessionId) -> Result<Vec<Definition>> {
        let hashes: BTreeSet<String> = self
            .history(id)?
            .into_iter()
            .filter_map(|recorded| match recorded.event {
                Event::RunStarted { workflow, .. } => Some(workflow.hash),
                _ => None,
            })
            .collect();
        let mut definitions = Vec::new();
        for hash in hashes {
            if let Some(body) = self.store.definition(&hash)?
                && let Ok(workflow) = serde_json::from_str(&body)
            {
                definitions.push(Definition { hash, workflow });
            }
        }
        Ok(definitions)
    }

    /// Returns the stored content of earlier versions of files, so that versions can be compared on the other machine.
    fn contents_kept(&self, id: &SessionId) -> Result<Vec<ContentRow>> {
        let history = self.history(id)?;
        let hashes: BTreeSet<&str> = history.iter().flat_map(|recorded| recorded.event.contents()).collect();
        let mut contents = Vec::new();
        for hash in hashes {
            if let Some(body) = self.store.content(hash)? {
                contents.push(ContentRow { hash: hash.to_owned(), body });
            }
        }
        Ok(contents)
    }

    fn pack_files(&self, session: &Session, said: &mut Vec<String>) -> Result<Vec<PackedFile>> {
        let mut files = Vec::new();
        let most = usize::try_from(LARGEST_FILE).unwrap_or(usize::MAX);
        let root = if session.machine.is_none() { self.root_of(session) } else { self.project.root.clone() };
        let artifacts: Vec<_> = session.artifacts.iter().collect();
        for &(path, artifact) in self.options.watcher.each(Work::PackFiles, &artifacts) {
            match look(&root, path, most) {
                PathEntry::Missing => said.push(format!("{path} is missing, so it is not in the bundle")),
                PathEntry::Unusable(why) => said.push(format!("{path} is not in the bundle: {why}")),
                PathEntry::File(looked) if looked.size > LARGEST_FILE => {
                    said.push(format!(
                        "{path} is larger than {} MiB, so it is not in the bundle",
                        LARGEST_FILE >> 20
                    ));
                }
                PathEntry::File(looked) => {
                    if looked.hash != artifact.newest.hash {
                        said.push(format!(
                            "{path} has changed since it was recorded; it is in the bundle as it is now"
                        ));
                    }
                    files.push(PackedFile { path: path.clone(), content: looked.beginning });
                }
            }
        }
        Ok(files)
    }
}

fn write_all(bundle: &Bundle, file: std::fs::File) -> std::io::Result<u64> {
    let mut out = BufWriter::new(file);
    format::write(bundle, &mut out)?;
    out.flush()?;
    let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
