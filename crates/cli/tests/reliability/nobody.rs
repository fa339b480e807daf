//! Runs the program as an unprivileged user, because tests often run as root, who may write everything.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::{Ran, Sandbox};

/// The unprivileged user of most systems.
const NOBODY: u32 = 65534;

pub struct Nobody<'a> {
    sandbox: &'a Sandbox,
    /// The program, copied to a place that an unprivileged user can reach.
    program: PathBuf,
}

impl<'a> Nobody<'a> {
    /// Makes the unprivileged user the owner of everything in the sandbox.
    pub fn in_sandbox(sandbox: &'a Sandbox) -> Self {
        let program = sandbox.folder().join("leftoff");
        std::fs::copy(env!("CARGO_BIN_EXE_leftoff"), &program).unwrap();
        set_mode(&program, 0o755);
        set_mode(sandbox.folder(), 0o755);
        if is_root() {
            give_away(sandbox.folder());
        }
        Self { sandbox, program }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let as_root = self.sandbox.command(arguments);
        let mut command = Command::new(&self.program);
        command.args(as_root.get_args()).current_dir(self.sandbox.project()).env_clear();
        command.envs(as_root.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.spawn(arguments).wait_with_output().unwrap())
    }

    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        start(&mut command)
    }
}

/// Starts a fresh copy of the program.
pub fn start(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            // Another test that is starting a process still holds the copy open for writing.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            done => return done.unwrap(),
        }
    }
}

/// A folder without write permission, until this value is dropped.
pub struct Sealed(PathBuf);

impl Sealed {
    pub fn new(folder: &Path) -> Self {
        each(folder, &mut |path| set_mode(path, if path.is_dir() { 0o555 } else { 0o444 }));
        Self(folder.to_owned())
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        each(&self.0, &mut |path| set_mode(path, if path.is_dir() { 0o755 } else { 0o644 }));
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn give_away(folder: &Path) {
    each(folder, &mut |path| std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
}

pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn each(path: &Path, work: &mut impl FnMut(&Path)) {
    work(path);
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            each(&entry.unwrap().path(), work);
        }
    }
}
