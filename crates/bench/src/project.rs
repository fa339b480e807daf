//! Projects for the measurements. They are on the same disk as the programs: a temporary folder may be in
//! memory, where fsync takes no time.

use crate::Result;
use engine::{Engine, Intent, Options};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const LEFTOFF: &str = "leftoff";
const BARE: &str = "leftoff-bare";

/// A gate that runs no command.
const GATE: &str =
    "\n[[phase.check]]\nid = \"enough\"\nkind = \"expr\"\nexpr = \"evidence.coverage >= 80.0\"\n";

/// A workflow of six phases. All phases have the same gate, or none.
fn steps(name: &str, gate: &str) -> String {
    let phases = ["planning", "setup", "implementation", "testing", "documentation", "release"].map(|id| {
        format!(
            "\n[[phase]]\nid = \"{id}\"\npurpose = \"Work on this and leave proof of it behind.\"\n{gate}"
        )
    });
    format!("name = \"{name}\"\nindexing = \"zero\"\n{}", phases.concat())
}

/// The programs, all linked with the same flags, and the folder for the programs and the projects.
pub struct Programs {
    built: PathBuf,
    folder: TempDir,
}

impl Programs {
    /// Copies the programs to a folder, as an installation does. The system caches programs in small pieces
    /// if a linker wrote them through a memory map. That made every start slower by a quarter, and more for a
    /// larger program.
    pub fn installed() -> Result<Self> {
        let here = std::env::current_exe()?;
        let built = here.parent().ok_or("no folder above the program")?;
        let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(built)?;
        for name in [LEFTOFF, BARE] {
            std::fs::copy(built.join(name), folder.path().join(name))?;
        }
        Ok(Self { built: built.to_owned(), folder })
    }

    /// The folder in which the programs were built. It stays after a run.
    pub fn built(&self) -> &Path {
        &self.built
    }

    /// A project in a repository, with one session in the second phase of a workflow without gates.
    pub fn project(&self) -> Result<Project> {
        let project = self.empty_project()?;
        project.start()?;
        project.run(&["advance"])?;
        Ok(project)
    }

    /// A project in a repository, without a session.
    pub fn empty_project(&self) -> Result<Project> {
        let folder = tempfile::tempdir_in(&self.folder)?;
        let root = folder.path().canonicalize()?.join("project");
        std::fs::create_dir_all(root.join(".git"))?;
        std::fs::create_dir_all(folder.path().join("home"))?;
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        let program = |name| self.folder.path().join(name);
        std::fs::create_dir_all(root.join(".leftoff/workflows"))?;
        std::fs::write(root.join(".leftoff/workflows/steps.toml"), steps("steps", ""))?;
        std::fs::write(root.join(".leftoff/workflows/gated.toml"), steps("gated", GATE))?;
        Ok(Project { leftoff: program(LEFTOFF), bare: program(BARE), folder, root })
    }

    pub fn empty_process(&self) -> Command {
        let mut command = Command::new("/bin/true");
        command.env_clear();
        command
    }
}

pub struct Project {
    leftoff: PathBuf,
    bare: PathBuf,
    folder: TempDir,
    root: PathBuf,
}

impl Project {
    pub fn database(&self) -> PathBuf {
        self.root.join(".git/leftoff/leftoff.db")
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Passes an event to the program, without timing it.
    pub fn hook(&self, event: &Path) -> Result<()> {
        let input = std::fs::File::open(event)?;
        let output = self.leftoff(&["hook", "claude"]).stdin(input).output()?;
        if output.status.success() && output.stderr.is_empty() {
            return Ok(());
        }
        Err(format!("leftoff hook: {}", String::from_utf8_lossy(&output.stderr)).into())
    }

    /// The folder that contains the project and everything else of the measurement. It is removed afterwards.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn worktree(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    /// Starts a session, and thereby pauses the previous one.
    pub fn start(&self) -> Result<()> {
        self.start_workflow("steps")
    }

    pub fn start_workflow(&self, name: &str) -> Result<()> {
        self.run(&["start", name, "--goal", "no log-out while a tab is open"])
    }

    /// A command of leftoff in this project, isolated from the user of this machine.
    pub fn leftoff(&self, arguments: &[&str]) -> Command {
        self.around(Command::new(&self.leftoff), arguments)
    }

    /// A command of the minimal program on this project's database.
    pub fn bare(&self, what: &str) -> Command {
        let mut command = self.around(Command::new(&self.bare), &[what]);
        command.arg(self.database()).arg(&self.root);
        command
    }

    /// The peak memory of a command in MiB.
    pub fn memory(&self, arguments: &[&str]) -> Result<f64> {
        let mut command = self.around(Command::new(&self.bare), &["memory"]);
        let output = command.arg(&self.leftoff).args(arguments).stdin(Stdio::null()).output()?;
        let kilobytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
        Ok(kilobytes / 1024.0)
    }

    /// Runs a command without timing it; the command must succeed.
    pub fn run(&self, arguments: &[&str]) -> Result<()> {
        let output = self.leftoff(arguments).stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("leftoff {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into())
    }

    /// An engine in this process.
    pub fn engine(&self) -> Result<Engine> {
        let options = Options { project: Some(self.root.clone()), ..Options::default() };
        Ok(Engine::open(options, Intent::Command)?)
    }

    /// Writes the whole log into the database, as leftoff does later anyway.
    pub fn settle(&self) -> Result<()> {
        let connection = rusqlite::Connection::open(self.database())?;
        Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }

    fn around(&self, mut command: Command, arguments: &[&str]) -> Command {
        let beside = |name: &str| -> PathBuf { Path::new(self.folder.path()).join(name) };
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("HOME", beside("home"))
            .env("XDG_STATE_HOME", beside("state"))
            .env("USER", "anna");
        command
    }
}
