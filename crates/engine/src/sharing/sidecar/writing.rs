//! Writes the next commit of this replica's own history. git packs finished files while others are still being
//! prepared. Nothing refers to the files before the commit is complete.

use super::{Entries, OWN, Sidecar};
use crate::error::{Error, Result};
use crate::sharing::remote::{no_git, succeeded};
use std::io::{BufWriter, Write};
use std::process::{Child, ChildStdin, Stdio};

const DOING: &str = "writing sessions for sharing";

/// A commit that is being written.
pub(in crate::sharing) struct Draft<'a> {
    sidecar: &'a Sidecar,
    /// The running `git fast-import`. It is started with the first file.
    running: Option<(Child, BufWriter<ChildStdin>)>,
    files: u32,
}

/// A file of the next commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sharing) enum FileRef {
    /// A file that was written to this draft, with its mark.
    New(u32),
    /// An object that already exists, with its hash.
    Object(String),
}

/// The author and the time of a commit.
pub(in crate::sharing) struct Signature {
    pub(in crate::sharing) name: String,
    pub(in crate::sharing) email: String,
    pub(in crate::sharing) seconds: i64,
}

impl Sidecar {
    pub(in crate::sharing) fn draft(&self) -> Draft<'_> {
        Draft { sidecar: self, running: None, files: 0 }
    }
}

impl Draft<'_> {
    pub(in crate::sharing) fn add(&mut self, content: &[u8]) -> Result<FileRef> {
        self.files += 1;
        let header = format!("blob\nmark :{}\ndata {}\n", self.files, content.len());
        self.feed(&[header.as_bytes(), content, b"\n"])?;
        Ok(FileRef::New(self.files))
    }

    /// Commits these files to this replica's own history. If `anew` is given, the old commits are dropped, and only the
    /// files in `anew` stay from them.
    pub(in crate::sharing) fn commit<'f>(
        mut self,
        files: impl Iterator<Item = (&'f String, &'f FileRef)>,
        parent: Option<&str>,
        anew: Option<&Entries>,
        by: &Signature,
        message: &str,
    ) -> Result<()> {
        let mut out = Vec::new();
        let who = format!("{} <{}> {} +0000", plain(&by.name), plain(&by.email), by.seconds);
        out.extend(format!("commit {OWN}\ncommitter {who}\ndata {}\n{message}\n", message.len()).bytes());
        match (anew, parent) {
            (None, Some(parent)) => out.extend(format!("from {parent}\n").bytes()),
            (None, None) => {}
            (Some(kept), _) => {
                for (path, entry) in kept {
                    out.extend(format!("M 100644 {} {path}\n", entry.object).bytes());
                }
            }
        }
        for (path, file) in files {
            out.extend(match file {
                FileRef::New(mark) => format!("M 100644 :{mark} {path}\n").into_bytes(),
                FileRef::Object(object) => format!("M 100644 {object} {path}\n").into_bytes(),
            });
        }
        out.extend(b"\ndone\n");
        self.feed(&[&out])?;
        let Some((child, stdin)) = self.running else { return Ok(()) };
        // If git ended early, its error output says why, so the error of this write is ignored.
        drop(stdin);
        succeeded(DOING, child.wait_with_output()).map(drop)
    }

    fn feed(&mut self, parts: &[&[u8]]) -> Result<()> {
        if self.running.is_none() {
            let mut git = self.sidecar.git();
            git.args(["fast-import", "--quiet", "--done", "--force", "--date-format=raw"]);
            // With these settings, the C library does not return memory after each file only to request it again.
            git.env("MALLOC_TRIM_THRESHOLD_", "67108864").env("MALLOC_MMAP_THRESHOLD_", "33554432");
            git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut child = git.spawn().map_err(|source| no_git(DOING, source))?;
            let stdin = child.stdin.take();
            let stdin = stdin.ok_or_else(|| Error::io(DOING, std::io::ErrorKind::BrokenPipe.into()))?;
            self.running = Some((child, BufWriter::with_capacity(1 << 16, stdin)));
        }
        let Some((_, stdin)) = &mut self.running else { return Ok(()) };
        if parts.iter().try_for_each(|part| stdin.write_all(part)).is_ok() {
            return Ok(());
        }
        let Some((child, stdin)) = self.running.take() else { return Ok(()) };
        drop(stdin);
        succeeded(DOING, child.wait_with_output()).map(drop)?;
        Err(Error::io(DOING, std::io::ErrorKind::BrokenPipe.into()))
    }
}

/// Returns a name without the characters that a commit does not allow.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && !"<>".contains(*letter)).collect()
}
