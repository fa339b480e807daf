//! Asks git about a worktree. The repository's configuration cannot start a program. git takes no lock, and its time is
//! limited.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Why git gave no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    CannotRun(io::Error),
    TooLong,
    Failed,
}

pub(crate) fn ask(root: &Path, words: &[&str], longest: Duration) -> Result<String, NoAnswer> {
    Asked::start(root, words, longest)?.answer()
}

/// A question to git that is being answered. The git process is ended if it does not answer in time, and when this
/// value is dropped.
pub(crate) struct Asked {
    child: Child,
    told: Receiver<Option<Vec<u8>>>,
    until: Instant,
}

impl Asked {
    pub(crate) fn start(root: &Path, words: &[&str], longest: Duration) -> Result<Self, NoAnswer> {
        let until = Instant::now() + longest;
        let mut child = started(root, words).map_err(NoAnswer::CannotRun)?;
        let (tell, told) = mpsc::channel();
        let stdout = child.stdout.take();
        // A thread reads the answer, because it may be larger than a pipe's buffer.
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let read = stdout.map(|mut stdout| stdout.read_to_end(&mut said));
            let _ = tell.send(matches!(read, Some(Ok(_))).then_some(said));
        });
        Ok(Self { child, told, until })
    }

    pub(crate) fn answer(mut self) -> Result<String, NoAnswer> {
        let left = self.until.saturating_duration_since(Instant::now());
        let said = self.told.recv_timeout(left).map_err(|_| NoAnswer::TooLong)?;
        let status = self.child.wait().map_err(NoAnswer::CannotRun)?;
        match said.filter(|_| status.success()) {
            Some(said) => Ok(String::from_utf8_lossy(&said).into_owned()),
            None => Err(NoAnswer::Failed),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn started(root: &Path, words: &[&str]) -> io::Result<Child> {
    about(root).args(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Returns a git command about this worktree, without the environment variables that could name another repository.
pub(crate) fn about(root: &Path) -> Command {
    let mut git = Command::new("git");
    for name in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_EXTERNAL_DIFF",
    ] {
        git.env_remove(name);
    }
    // git gets the folder by `-C`. If the process got the folder as its working directory, the standard library would
    // have to copy this process first.
    git.arg("-C")
        .arg(root)
        .args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
        // A question must not hold git's index lock while somebody else needs the lock.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    git
}
