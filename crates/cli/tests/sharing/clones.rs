//! Clones of one bare repository on this machine, each with its own home folder and user.

use serde_json::Value;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub(crate) struct Hub {
    pub(crate) folder: TempDir,
    now: RefCell<String>,
}

pub(crate) struct Clone<'a> {
    hub: &'a Hub,
    pub(crate) name: String,
    pub(crate) project: PathBuf,
}

impl Hub {
    pub(crate) fn new() -> Self {
        let hub = Self {
            folder: tempfile::tempdir().unwrap(),
            now: RefCell::new("2026-11-16T08:00:00Z".to_owned()),
        };
        hub.git(hub.folder.path(), &["init", "--quiet", "--bare", "hub.git"]);
        let first = hub.folder.path().join("first");
        hub.git(hub.folder.path(), &["clone", "--quiet", "hub.git", "first"]);
        fs::write(first.join("README.md"), "A project.\n").unwrap();
        hub.git(&first, &["add", "."]);
        hub.git(&first, &["commit", "--quiet", "-m", "one"]);
        hub.git(&first, &["push", "--quiet", "origin", "HEAD:main"]);
        hub
    }

    /// Sets the clock of every clone.
    pub(crate) fn at(&self, moment: &str) {
        moment.clone_into(&mut self.now.borrow_mut());
    }

    /// A new clone that shares its sessions.
    pub(crate) fn clone(&self, name: &str) -> Clone<'_> {
        let clone = self.clone_without_sharing(name);
        clone.ok(&["init", "--sync"]);
        clone
    }

    pub(crate) fn clone_without_sharing(&self, name: &str) -> Clone<'_> {
        self.git(self.folder.path(), &["clone", "--quiet", "--branch", "main", "hub.git", name]);
        self.known(name)
    }

    /// A clone's folder copied as a whole, as with `cp -a`, into the folder `copy`.
    pub(crate) fn copy_of(&self, name: &str) -> Clone<'_> {
        let copied = Command::new("cp").args(["-a", name, "copy"]).current_dir(self.folder.path()).status();
        assert!(copied.unwrap().success());
        self.known("copy")
    }

    /// An existing clone.
    pub(crate) fn known(&self, name: &str) -> Clone<'_> {
        let project = self.folder.path().join(name).canonicalize().unwrap();
        fs::create_dir_all(self.folder.path().join(format!("home-{name}"))).unwrap();
        Clone { hub: self, name: name.to_owned(), project }
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=Test",
                "-c",
                "user.email=test@example.com",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The refs of the bare repository, one per line.
    pub(crate) fn refs(&self, under: &str) -> Vec<String> {
        let text = self.git(&self.bare(), &["for-each-ref", "--format=%(refname)", under]);
        text.lines().map(ToOwned::to_owned).collect()
    }

    pub(crate) fn bare(&self) -> PathBuf {
        self.folder.path().join("hub.git")
    }

    /// Everything readable in the bare repository.
    pub(crate) fn all_content(&self) -> String {
        let objects = self.git(
            &self.bare(),
            &["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"],
        );
        let reachable = self.git(&self.bare(), &["rev-list", "--objects", "--all"]);
        let blobs = objects.lines().filter_map(|line| line.strip_suffix(" blob"));
        blobs
            .filter(|blob| reachable.contains(blob))
            .map(|blob| self.git(&self.bare(), &["cat-file", "blob", blob]))
            .collect()
    }
}

impl Clone<'_> {
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let home = self.hub.folder.path().join(format!("home-{}", self.name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_leftoff"));
        command
            .args(arguments)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("XDG_STATE_HOME", home.join("state"))
            .env("USER", &self.name)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LEFTOFF_TEST_NOW", self.hub.now.borrow().as_str())
            .envs(testkit::proof::control())
            .stdin(std::process::Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Runs a command that must succeed, and returns all of its output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = said(&output);
        assert!(output.status.success(), "{} leftoff {arguments:?}: {said}", self.name);
        said
    }

    pub(crate) fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{} leftoff {arguments:?}: {said}", self.name);
        said
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{} leftoff {arguments:?}: {}", self.name, said(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    pub(crate) fn sync(&self) -> Value {
        self.json(&["sync"])
    }

    /// Kills a sync just before it runs git for the nth time. False if the sync ended before that.
    pub(crate) fn sync_killed_before(&self, call: usize) -> bool {
        let folder = self.hub.folder.path().join(format!("killing-{}", self.name));
        fs::create_dir_all(&folder).unwrap();
        let (left, git) = (folder.join("left"), folder.join("git"));
        fs::write(&left, call.to_string()).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let script = format!(
            "#!/bin/sh\nleft=$(($(cat '{0}') - 1))\necho $left > '{0}'\n\
             [ $left -eq 0 ] && kill -9 $PPID && exit 1\nPATH='{path}' exec git \"$@\"\n",
            left.display()
        );
        fs::write(&git, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&git, mode).unwrap();
        let mut command = self.command(&["sync"]);
        command.env("PATH", format!("{}:{path}", folder.display()));
        let ended = command.output().expect("the program starts").status;
        ended.code().is_none()
    }

    pub(crate) fn as_person(&self, arguments: &[&str]) -> String {
        let line = std::iter::once(env!("CARGO_BIN_EXE_leftoff")).chain(arguments.iter().copied());
        let line = line.collect::<Vec<_>>().join(" ");
        let mut plain = self.command(arguments);
        plain.env_remove("LEFTOFF_AGENT_SESSION");
        let mut command = Command::new("script");
        command
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(&self.project)
            .env_clear();
        for (name, value) in plain.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let output = command.stdin(std::process::Stdio::null()).output().expect("script runs");
        let said = said(&output);
        assert!(output.status.success(), "{} leftoff {arguments:?}: {said}", self.name);
        said
    }

    /// Everything that this clone keeps beside its database, and everything that its sidecar can read.
    pub(crate) fn everything_kept(&self) -> String {
        let beside = self.project.join(".git/leftoff");
        let files = fs::read_dir(&beside).unwrap().map(|entry| entry.unwrap().path());
        let mut text: String = files
            .filter(|path| path.is_file())
            .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
            .collect();
        let sidecar = beside.join("sync.git");
        let listed = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"];
        for line in self.hub.git(&sidecar, &listed).lines() {
            if let Some(blob) = line.strip_suffix(" blob") {
                text += &self.hub.git(&sidecar, &["cat-file", "blob", blob]);
            }
        }
        text
    }

    /// The texts of a session's notes, in order.
    pub(crate) fn notes(&self, session: &str) -> Vec<String> {
        let view = self.json(&["show", session]);
        let notes = view["notes"].as_array().expect("notes").iter();
        notes.map(|note| note["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The findings of `doctor`, except for the one that backups are days old.
    pub(crate) fn findings(&self) -> Vec<String> {
        let output = self.run(&["doctor", "--json"]);
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let findings = found["findings"].as_array().expect("findings").iter();
        findings.filter(|one| one["kind"] != "no_backup").map(ToString::to_string).collect()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.project.join(".git/leftoff/leftoff.db")
    }

    pub(crate) fn replica(&self) -> String {
        self.json(&["sync", "status"])["replica"].as_str().expect("a replica").to_owned()
    }

    pub(crate) fn forks(&self) -> Vec<String> {
        let status = self.json(&["sync", "status"]);
        let forks = status["forks"].as_array().expect("forks").iter();
        forks.map(|fork| fork["id"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
