//! Exports a session as one JSON document, or as a layout's files. Changes no session and overwrites no file; files
//! shared by several sessions are extended.

mod files;
mod shared;

use crate::disk::below;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::event_text;
use crate::facades::Sessions;
use crate::query::Detail;
use model::event::{Event, Recorded};
use model::id::SessionId;
use serde::Serialize;
use serde_json::{Value, json};
use shared::Share;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The version of the document's format. It is increased by incompatible changes.
const VERSION: u32 = 1;

/// Everything known about a session, for any program.
#[derive(Debug, Serialize)]
pub struct Export {
    pub leftoff_export: u32,
    /// The session in the form that `show` prints.
    pub session: Value,
    /// All events, oldest first.
    pub events: Vec<Value>,
    /// The definitions of the session's runs.
    pub workflows: Vec<Value>,
    /// All items with all of their values.
    pub items: Vec<Value>,
    /// The state files of a session that another tool's files show now or showed before an import. They may contain
    /// data that only that tool uses.
    pub files: Vec<Value>,
}

/// A file to be written.
struct Piece {
    /// The file's path relative to the destination folder.
    path: String,
    content: Content,
}

enum Content {
    Bytes(Vec<u8>),
    /// The content of the existing file at this path.
    Of(PathBuf),
    /// This session's part of a file that several sessions share and that may exist already.
    Share(Share),
}

impl Sessions<'_> {
    /// Returns the selected session as one document.
    pub fn export(&self) -> Result<Export> {
        let engine = self.engine;
        let id = engine.select(Want::Latest)?;
        let mut view = self.show(Some(id.as_str()), Detail::Whole)?;
        // The next step and warnings about this machine are not part of the session.
        view.warnings.clear();
        let history = self.log(Some(id.as_str()), 0)?.events;
        Ok(Export {
            leftoff_export: VERSION,
            session: value(&view)?,
            workflows: engine.workflows_of(&history)?,
            items: engine.all_items(&id)?.iter().map(value).collect::<Result<_>>()?,
            files: engine.state_as_text(&id)?,
            events: history.iter().map(event_text::json).collect(),
        })
    }
}

impl Export {
    /// Writes the document to a new file in a folder. Returns the path of the file.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let id = self.session["session_id"].as_str().unwrap_or("session").to_owned();
        let mut content = serde_json::to_vec_pretty(self).map_err(|error| broken(&id, &error))?;
        content.push(b'\n');
        put_all(folder, vec![Piece { path: format!("{id}.json"), content: Content::Bytes(content) }])
    }
}

impl Engine {
    fn state_as_text(&self, id: &SessionId) -> Result<Vec<Value>> {
        let text = |(path, content): (String, Vec<u8>)| json!({ "path": path, "text": String::from_utf8_lossy(&content) });
        Ok(self.state_of(id)?.into_iter().map(text).collect())
    }

    fn workflows_of(&self, history: &[Recorded]) -> Result<Vec<Value>> {
        let hashes: BTreeSet<&String> = history
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::RunStarted { workflow, .. } => Some(&workflow.hash),
                _ => None,
            })
            .collect();
        let mut found = Vec::new();
        for hash in hashes {
            if let Some(workflow) = self.definition(hash)? {
                found.push(value(&*workflow)?);
            }
        }
        Ok(found)
    }
}

/// Creates files below a folder: all of them, or none if one of them exists already. Shared files come last, because
/// they refer to the others.
fn put_all(folder: &Path, mut pieces: Vec<Piece>) -> Result<Vec<PathBuf>> {
    pieces.sort_by_key(|piece| matches!(piece.content, Content::Share(_)));
    let failed = |path: &Path, source| Error::io(format!("writing {}", path.display()), source);
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let targets: Vec<PathBuf> =
        pieces.iter().map(|piece| below(folder, &piece.path)).collect::<Result<_>>()?;
    for (target, piece) in targets.iter().zip(&pieces) {
        match &piece.content {
            Content::Share(share) => share.check(target)?,
            Content::Bytes(_) | Content::Of(_) if target.symlink_metadata().is_ok() => {
                return Err(Error::AlreadyThere { path: target.clone() });
            }
            Content::Bytes(_) | Content::Of(_) => {}
        }
    }
    for (target, piece) in targets.iter().zip(pieces) {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        }
        let written = match piece.content {
            Content::Bytes(bytes) => put_new(target, |out| out.write_all(&bytes)),
            Content::Of(path) => put_new(target, |out| {
                File::open(path).and_then(|mut from| std::io::copy(&mut from, out).map(drop))
            }),
            Content::Share(share) => {
                share.put(target)?;
                continue;
            }
        };
        written.map_err(|source| failed(target, source))?;
    }
    Ok(targets)
}

fn put_new(target: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut out = OpenOptions::new().write(true).create_new(true).open(target)?;
    write(&mut out).and_then(|()| out.sync_all())
}

fn value(of: &impl Serialize) -> Result<Value> {
    serde_json::to_value(of).map_err(|error| broken("(being exported)", &error))
}

fn broken(session: &str, error: &serde_json::Error) -> Error {
    Error::BrokenLog { session: session.to_owned(), why: error.to_string() }
}
