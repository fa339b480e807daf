//! Runs git on the bare repository, and turns its failures into errors.

use super::Sidecar;
use crate::error::{Error, Result};
use crate::sharing::remote::{last_words, no_git, object_format, plain_git, succeeded, without_password};
use crate::words::one_line;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

impl Sidecar {
    pub(super) fn git(&self) -> Command {
        crate::sharing::step();
        let mut git = plain_git();
        git.arg("--git-dir").arg(&self.folder);
        // The user's settings may ask for signed pushes or push options, which some hosts refuse. So these settings are
        // switched off.
        let own = [
            ("core.hooksPath", "/dev/null"),
            ("gc.auto", "0"),
            ("core.logAllRefUpdates", "false"),
            ("push.gpgSign", "false"),
            ("push.pushOption", ""),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let all: Vec<(String, String)> = self.settings.iter().cloned().chain(own).collect();
        git.env("GIT_CONFIG_COUNT", all.len().to_string());
        for (number, (name, value)) in all.into_iter().enumerate() {
            git.env(format!("GIT_CONFIG_KEY_{number}"), name);
            git.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        if self.longest.is_some() {
            git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "true").env("GCM_INTERACTIVE", "never");
            git.env("SSH_ASKPASS", "true").env("SSH_ASKPASS_REQUIRE", "force");
        }
        git
    }

    /// Runs a command that talks to the remote. If nobody is waiting for it, it is ended after some time.
    pub(super) fn at_remote(&self, git: &mut Command) -> std::io::Result<Output> {
        match self.longest {
            Some(longest) => ended_within(git, longest),
            None => git.output(),
        }
    }

    pub(super) fn remote_command(&self, doing: &str, git: &mut Command) -> Result<Output> {
        let output = self.at_remote(git).map_err(|source| no_git(doing, source))?;
        if output.status.success() { Ok(output) } else { Err(self.failed(doing, &output)) }
    }

    pub(super) fn text(&self, doing: &str, git: &mut Command) -> Result<String> {
        let output = succeeded(doing, git.output())?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(super) fn failed(&self, doing: &str, output: &Output) -> Error {
        let said = without_password(&last_words(output)).replace(&self.url, &self.address());
        Error::Sharing {
            message: format!("{doing} {} failed: {said}", self.preposition(doing)),
            hint: "the store was not changed; the next sync tries again".into(),
        }
    }

    /// True if git finds the bare repository, with all of its objects.
    pub(super) fn is_sound(&self) -> bool {
        let checked =
            self.git().args(["fsck", "--connectivity-only", "--no-dangling", "--no-progress"]).output();
        checked.is_ok_and(|output| output.status.success())
    }

    /// Creates the bare repository.
    pub(super) fn create(&self, project: &Path) -> Result<()> {
        let made = plain_git()
            .arg("init")
            .args(["--bare", "--quiet", "--template="])
            .arg(format!("--object-format={}", object_format(project)))
            .arg(&self.folder)
            .output();
        succeeded("creating the repository for sharing", made).map(drop)
    }

    fn preposition(&self, doing: &str) -> String {
        let word = if doing == "fetching" { "from" } else { "to" };
        format!("{word} {}", self.address())
    }

    pub(super) fn refused_by_host(&self, said: &str, output: &Output) -> Error {
        let why = said
            .lines()
            .find_map(|line| line.split_once("[remote rejected]"))
            .map_or_else(|| last_words(output), |(_, why)| why.trim().trim_matches(['(', ')']).to_owned());
        let why = [Some(why), words_of_host(output)].into_iter().flatten().collect::<Vec<_>>().join(": ");
        let hint = if self.namespace.starts_with("refs/heads/") {
            "ask the host's administrator, or share through another remote: leftoff init --sync --remote NAME"
        } else {
            "if the host accepts only branches: leftoff init --sync --branches"
        };
        Error::Sharing {
            message: format!("{} refuses {}*: {why}", self.address(), self.namespace),
            hint: hint.into(),
        }
    }
}

/// Returns the first line of the host's own words about a push.
fn words_of_host(output: &Output) -> Option<String> {
    const LONGEST: usize = 200;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter_map(|line| line.strip_prefix("remote:"));
    lines.map(|line| one_line(line.trim(), LONGEST)).find(|line| !line.is_empty())
}

/// Runs a program in its own process group. If it takes too long, the whole group is killed.
fn ended_within(command: &mut Command, longest: Duration) -> std::io::Result<Output> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let group = Pid::from_child(&child);
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    told.recv_timeout(longest).unwrap_or_else(|_| {
        let _ = kill_process_group(group, Signal::KILL);
        Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "the remote did not answer"))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    #[test]
    fn a_host_that_never_answers_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        let line = format!("sleep 1000 & echo $! > '{}'; wait", alive.display());
        let ended = ended_within(Command::new("sh").args(["-c", &line]), Duration::from_secs(2));
        assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        if let Ok(child) = std::fs::read_to_string(&alive) {
            let stat = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
            // The process may take a moment to end. A zombie counts as ended.
            let runs = || !stat().is_empty() && !stat().contains(") Z ");
            let until = std::time::Instant::now() + Duration::from_secs(20);
            while runs() && std::time::Instant::now() < until {
                std::thread::yield_now();
            }
            assert!(!runs(), "the child processes are ended as well: {}", stat());
        }
    }

    #[test]
    fn an_answer_in_time_is_an_answer() {
        let ended = ended_within(Command::new("echo").arg("hello"), Duration::from_mins(5)).unwrap();
        assert_eq!(ended.stdout, b"hello\n");
    }
}
