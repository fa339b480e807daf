//! Detects attempts whose process was killed: their mark, a file, remains without a lock. Also ends a check's command
//! if the leftoff process that started it was killed.

use super::Surroundings;
use crate::disk::below;
use crate::engine::Engine;
use crate::view::Warning;
use crate::words::{moment, one_line};
use crate::workspace::{ensure_ignored, journal_for};
use jiff::Timestamp;
use model::hint::Hint;
use model::id::Name;
use model::run::Run;
use model::session::Session;
use model::words;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The content of a mark: which attempt is running a command of its gate.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    phase: Name,
    check: String,
    command: String,
    at: Timestamp,
    by: String,
}

/// The mark of a running command: a file that stays locked as long as the leftoff process lives.
pub(super) struct Mark {
    path: PathBuf,
    _locked: File,
}

impl Mark {
    /// Writes the mark; returns `None` if it may not or cannot be written.
    pub(super) fn set(around: &Surroundings<'_>, check: &str, command: &str) -> Option<Self> {
        let engine = around.engine;
        if !engine.may_write() {
            return None;
        }
        let root = engine.root_of(around.session);
        let path = place(&root, around.session)?;
        let actor = engine.actor(engine.asking_agent().ok()?.as_ref());
        let noted = Noted {
            phase: around.phase.id.clone(),
            check: check.to_owned(),
            command: one_line(command, 200),
            at: around.now,
            by: actor.to_string(),
        };
        ensure_ignored(&root).ok()?;
        fs::create_dir_all(path.parent()?).ok()?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        file.set_len(0).ok()?;
        file.write_all(serde_json::to_string(&noted).ok()?.as_bytes()).ok()?;
        Some(Self { path, _locked: file })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Engine {
    /// Returns a warning about an interrupted attempt at the current phase, if nobody has repeated the attempt since.
    pub(crate) fn interrupted_attempt(&self, session: &Session, run: &Run) -> Option<Warning> {
        let root = self.root_of(session);
        if !root.join(name(session)).exists() {
            return None;
        }
        let file = File::open(place(&root, session)?).ok()?;
        flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
        let noted: Noted = serde_json::from_reader(&file).ok()?;
        let phase = run.current();
        let is_repeated = phase.last_attempt().is_some_and(|attempt| attempt.at > noted.at);
        if *phase.id() != noted.phase || phase.is_done() || is_repeated {
            return None;
        }
        let message = format!(
            "interrupted attempt at phase '{}', {} by {}: its command was stopped while it ran ({}), and no result was recorded",
            noted.phase,
            moment(noted.at, self.clock.now()),
            noted.by,
            noted.command
        );
        Some(Warning {
            kind: "interrupted_attempt".to_owned(),
            message,
            hint: Some(Hint::new("try again: ").run_here(words!["advance", "--phase", noted.phase])),
            path: None,
            problem: None,
        })
    }
}

fn place(root: &Path, session: &Session) -> Option<PathBuf> {
    below(root, &name(session)).ok()
}

fn name(session: &Session) -> String {
    let journal = journal_for(&session.id);
    format!("{}.gate", journal.trim_end_matches(".json"))
}

/// A separate process that ends a process group when this process disappears, even by SIGKILL.
pub(super) struct Guard {
    child: Child,
    /// A pipe to the guard. The kernel closes it when this process ends, however that happens.
    line: PipeWriter,
}

impl Guard {
    /// Starts the guard. Returns `None` if it cannot be started; the command then runs without one.
    pub(super) fn over(group: u32) -> Option<Self> {
        const WATCH: &str = "read -r word; [ \"$word\" = done ] || kill -9 \"-$1\"";
        let (reader, line) = std::io::pipe().ok()?;
        let child = Command::new("/bin/sh")
            .args(["-c", WATCH, "sh", &group.to_string()])
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .ok()?;
        Some(Self { child, line })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.line.write_all(b"done\n");
        let _ = self.child.wait();
    }
}
