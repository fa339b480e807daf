//! Adds a session's part to a shared file at the destination of an export. Changes nobody else's part.

use crate::disk::exchange::{self, Put};
use crate::error::{Error, Result};
use crate::walk;
use layouts::capabilities::shared_part;
use layouts::layout::Merge;
use layouts::layout::{Layout, Spot};
use std::fs;
use std::io;
use std::path::Path;

/// How often writing is repeated because another program wrote at the same time.
const MOST_TRIES: u32 = 20;

/// A session's part of a shared file.
pub(super) struct Share {
    pub(super) layout: &'static dyn Layout,
    pub(super) spot: Spot,
    /// The file's path relative to the layout's home.
    pub(super) path: String,
    pub(super) own: Vec<u8>,
}

impl Share {
    /// Refuses a file that already has a session of this name, and one that cannot be extended.
    pub(super) fn check(&self, target: &Path) -> Result<()> {
        match fs::symlink_metadata(target) {
            Err(_) => return Ok(()),
            Ok(found) if !found.is_file() => return Err(Error::AlreadyThere { path: target.to_owned() }),
            Ok(_) => {}
        }
        let there = exchange::read(target).map_err(|source| failed(target, source))?;
        let part = shared_part(self.layout, &self.spot, &self.path, &there).unwrap_or_default();
        if !part.is_empty() {
            return Err(Error::ListedAlready { path: target.to_owned(), session: self.spot.id.to_string() });
        }
        walk::check_length(self.layout, &self.spot, &self.path, &self.beside(&there))
    }

    /// Adds the part atomically. A reader sees the file either without the part or with it, and what others write at
    /// the same time is kept.
    pub(super) fn put(&self, target: &Path) -> Result<()> {
        let failed = |source| failed(target, source);
        let mut there = match exchange::read(target) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let mut body = self.beside(&there);
        for _ in 0..MOST_TRIES {
            if body == there {
                return Ok(());
            }
            match exchange::put(target, &body, &there).map_err(failed)? {
                Put::New => return Ok(()),
                Put::Over(out) => {
                    fs::remove_file(exchange::waiting(target)).map_err(failed)?;
                    if out == there {
                        return Ok(());
                    }
                    // Somebody else wrote the file meanwhile, so the part is added to the new version.
                    there = std::mem::replace(&mut body, self.beside(&out));
                }
                Put::Changed => {
                    there = exchange::read(target).map_err(failed)?;
                    body = self.beside(&there);
                }
            }
        }
        Err(Error::Contended)
    }

    fn beside(&self, others: &[u8]) -> Vec<u8> {
        if others.is_empty() {
            return self.own.clone();
        }
        self.layout.merge(&self.path, Merge::Onto { base: &[], theirs: &self.own, onto: others })
    }
}

fn failed(target: &Path, source: io::Error) -> Error {
    Error::io(format!("writing {}", target.display()), source)
}
