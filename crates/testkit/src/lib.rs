//! Sandboxes for end-to-end tests: a folder isolated from the user of the machine, and a clock that the test sets.
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    reason = "a test that cannot go on should say where"
)]

pub mod ccw_dashboard;
pub mod postgres;
pub mod praxis_v2;
pub mod proof;
mod running;
mod transcript;

pub use running::Running;
pub use transcript::assert_transcript;

use serde_json::Value;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A project in a temporary folder, with its own home folder next to it.
pub struct Sandbox {
    program: PathBuf,
    folder: TempDir,
    project: PathBuf,
    now: RefCell<Option<String>>,
    store: Option<String>,
}

impl Sandbox {
    /// A sandbox with a git repository that has no commits. It is created without running git.
    pub fn git(program: &str) -> Self {
        let sandbox = Self::plain(program);
        sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
        sandbox
    }

    /// A sandbox that is in no repository.
    pub fn plain(program: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path().join("project");
        fs::create_dir_all(&project).expect("the project's folder");
        fs::create_dir_all(folder.path().join("home")).expect("the home folder");
        fs::create_dir_all(folder.path().join("tmp")).expect("the folder for temporary files");
        let project = project.canonicalize().expect("the project's real path");
        let store = store_of_this_run();
        Self { program: program.into(), folder, project, now: RefCell::new(None), store }
    }

    /// Makes the program use this store from now on.
    pub fn on(mut self, store: &str) -> Self {
        self.store = Some(store.to_owned());
        self
    }

    /// Defines the built-in workflows without gates, for tests that are not about gates. The project's
    /// definition replaces the built-in one of the same name.
    #[must_use]
    pub fn without_gates(self) -> Self {
        for builtin in layouts::builtin::all() {
            self.write(&format!(".leftoff/workflows/{}.toml", builtin.name), &ungated(builtin.text));
        }
        self
    }

    /// Sets the clock of the program to this time (RFC 3339). Only debug builds have such a clock.
    pub fn at(&self, moment: &str) -> &Self {
        *self.now.borrow_mut() = Some(moment.to_owned());
        self
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The folder of the project, of the home folder, and of other files of the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.project.join(relative)
    }

    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder in the sandbox");
        }
        fs::write(path, text).expect("a file in the sandbox");
    }

    /// The names in a folder of the project, in order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("a folder");
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).expect("a file in the sandbox")
    }

    /// A command of the program in the project's folder, isolated from the user of this machine.
    pub fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        tell_command(&command);
        command
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"))
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .env("LEFTOFF_TEST_TMP", self.folder.path().join("tmp"))
            .env("USER", "anna")
            // If an agent runs the tests, the program must not notice the agent.
            .env("LEFTOFF_TEST_ALONE", "1")
            .env("LC_ALL", "C.UTF-8")
            // Even on a busy machine, this is long enough for a brief to include data from git.
            .env("LEFTOFF_TEST_GIT_MS", "20000")
            .envs(proof::control())
            .stdin(Stdio::null());
        if let Some(now) = self.now.borrow().as_ref() {
            command.env("LEFTOFF_TEST_NOW", now);
        }
        if let Some(store) = &self.store {
            command.env("LEFTOFF_STORE", store).env("LEFTOFF_TEST_HOOK_MS", "20000");
        }
        command
    }

    /// Runs the program without a terminal. Commands that only a person can run get one: `skip`, `purge` and
    /// `close --force`.
    pub fn run(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        let mut command = self.command(arguments);
        if needs_a_person(&command) {
            return self.as_person(&command);
        }
        Ran::from(command.output().expect("the program starts"))
    }

    /// Runs the program as a person would, on a terminal that `script` creates. Only stdout is captured
    /// separately.
    pub fn run_as_person(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        self.as_person(&self.command(arguments))
    }

    /// Allows everybody what these rules in `[policy]` allow, as if a person on this machine had accepted the
    /// rules.
    pub fn allow_anyone(&self, rules: &[&str]) {
        let lines: String = rules.iter().map(|rule| format!("{rule} = \"anyone\"\n")).collect();
        let config = ".leftoff/config.toml";
        let before = fs::read_to_string(self.path(config)).unwrap_or_default();
        self.write(config, &format!("{before}[policy]\n{lines}"));
        self.run_as_person(["trust", "--policy", "--yes"]).ok();
    }

    /// Runs a command whose stdin and stderr are a terminal.
    pub fn as_person(&self, inner: &Command) -> Ran {
        let words = std::iter::once(inner.get_program()).chain(inner.get_args());
        let line: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
        let answer = tempfile::NamedTempFile::new_in(self.folder.path()).expect("a file for stdout");
        let line = format!("{} >{}", line.join(" "), quoted(&answer.path().to_string_lossy()));
        let mut command = at_terminal(&line);
        command.current_dir(inner.get_current_dir().unwrap_or(&self.project)).env_clear();
        command.env("TERM", "dumb").env("NO_COLOR", "1");
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = Ran::from(command.stdin(Stdio::null()).output().expect("script, of util-linux, starts"));
        let stdout = fs::read_to_string(answer.path()).expect("what was said on stdout");
        Ran { code: ran.code, stderr: ran.stdout.replace("\r\n", "\n"), stdout }
    }

    /// Runs the program in an agent session such as `claude:a4326893`.
    pub fn run_as(&self, agent: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
        let mut command = self.command(arguments);
        Ran::from(command.env("LEFTOFF_AGENT_SESSION", agent).output().expect("the program starts"))
    }

    /// Runs the program with this text on stdin.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        with_input(self.command(arguments), input)
    }

    /// Runs the program on a terminal that `script` creates, for what only a person can do. `stdout` has the
    /// whole output. `None` if this machine has no `script`.
    pub fn run_at_terminal(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<Ran> {
        self.answer_at_terminal(arguments, "")
    }

    /// Runs the program like `run_at_terminal`, and types this text into the terminal.
    pub fn answer_at_terminal(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        typed: &str,
    ) -> Option<Ran> {
        let inner = self.command(arguments);
        let words = std::iter::once(inner.get_program()).chain(inner.get_args());
        let line: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
        let mut command = at_terminal(&line.join(" "));
        command.current_dir(&self.project).env_clear().env("TERM", "dumb");
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if typed.is_empty() {
            return Some(Ran::from(command.stdin(Stdio::null()).output().ok()?));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        child.stdin.take()?.write_all(typed.as_bytes()).ok()?;
        Some(Ran::from(child.wait_with_output().ok()?))
    }

    /// Runs a command line that the program has printed, such as `leftoff advance --phase plan`.
    pub fn run_printed(&self, line: &str) -> Ran {
        self.run(words_of(line).into_iter().skip(1))
    }
}

/// A command with other arguments, but with the program, folder and environment of `command`. Threads can
/// share a command, but cannot share a sandbox.
pub fn like(command: &Command, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut other = Command::new(command.get_program());
    other.args(arguments).env_clear().stdin(Stdio::null());
    other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        other.current_dir(folder);
    }
    other
}

/// The store that every sandbox uses if `LEFTOFF_TEST_STORE=postgres` is set: a schema on a server, used by
/// this process alone. Each project has an id of its own in it.
fn store_of_this_run() -> Option<String> {
    static STORE: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let find =
        || is_on_postgres().then(|| postgres::schema("tests on PostgreSQL").expect("PostgreSQL is there"));
    STORE.get_or_init(find).clone()
}

/// Adds the name of a command to a list. `./test` compares that list with the program's help.
fn tell_command(command: &Command) {
    let list = std::env::var_os("LEFTOFF_TEST_COMMANDS");
    if let Some((list, name)) = list.zip(command.get_args().next()) {
        let list = fs::OpenOptions::new().create(true).append(true).open(list);
        list.and_then(|mut list| list.write_all(format!("{}\n", name.display()).as_bytes()))
            .expect("the list of commands");
    }
}

/// True if the tests of this run store their sessions on a server.
pub fn is_on_postgres() -> bool {
    std::env::var("LEFTOFF_TEST_STORE").is_ok_and(|wanted| wanted == "postgres")
}

/// Runs a command with this text on stdin.
pub fn with_input(mut command: Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program may end without reading all of the text.
    let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
    drop(stdin);
    Ran::from(child.wait_with_output().expect("the program ends"))
}

/// Parses the part of YAML that leftoff's files use.
pub fn yaml(text: &str) -> Value {
    let (fields, wrong) = layouts::yaml::object(text.as_bytes()).expect("YAML");
    assert!(wrong.is_empty(), "{wrong:?}");
    Value::Object(fields)
}

/// The words of a printed command line, which may have single quotes.
pub fn words_of(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().expect("one at least").push(other),
        }
    }
    words
}

/// A command that runs a shell line on a new terminal.
pub fn at_terminal(line: &str) -> Command {
    let line = format!("stty cols 80 rows 24; {line}");
    let mut command = Command::new("script");
    if cfg!(target_os = "macos") {
        command.args(["-q", "/dev/null", "sh", "-c", &line]);
    } else {
        command.args(["-qec", &line, "/dev/null"]);
    }
    command
}

/// True for commands that only a person can run: skipping a gated phase, purging text, closing an unfinished
/// session.
fn needs_a_person(command: &Command) -> bool {
    let words: Vec<&OsStr> = command.get_args().collect();
    let has = |word: &str| words.iter().any(|own| *own == word);
    !has("--help") && (has("skip") || has("purge") && has("--yes") || has("close") && has("--force"))
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A definition without checks, evidence, files and items. Each of these must be indented, or be on lines of
/// its own.
fn ungated(text: &str) -> String {
    let asks =
        |line: &str| line.starts_with("  ") || line.starts_with("produces =") || line.starts_with("items =");
    text.lines().filter(|line| !asks(line)).map(|line| format!("{line}\n")).collect()
}

/// The result of a run of the program.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The exit code. If a signal ended the program, 128 + the number of the signal.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Returns the run if it succeeded. Otherwise panics, and shows all output.
    #[track_caller]
    #[allow(clippy::return_self_not_must_use, reason = "asserting is the point; the rest may be ignored")]
    pub fn ok(self) -> Self {
        self.code(0)
    }

    #[track_caller]
    #[allow(clippy::return_self_not_must_use, reason = "asserting is the point; the rest may be ignored")]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, expected, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr))
    }

    /// The error that was printed by a run with `--json`.
    #[track_caller]
    pub fn error(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stderr)
            .unwrap_or_else(|error| panic!("{error} in stderr:\n{}", self.stderr));
        value["error"].clone()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let signal = output.status.signal().map(|signal| 128 + signal);
        Self {
            code: output.status.code().or(signal).unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Records that this machine cannot test something. `./test` reports it at its end.
pub fn left_out(what: &str) {
    if let Some(list) = std::env::var_os("LEFTOFF_TEST_LEFT_OUT") {
        let list = fs::OpenOptions::new().create(true).append(true).open(list);
        list.and_then(|mut list| writeln!(list, "{what}")).expect("the list of what was left out");
    }
}

/// The path of strace. If this machine has no strace, records that and returns `None`.
pub fn strace(what_for: &str) -> Option<std::ffi::OsString> {
    let program = std::env::var_os("LEFTOFF_TEST_STRACE").unwrap_or_else(|| "strace".into());
    let is_there =
        Command::new(&program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        left_out(&format!("{what_for}: strace could not be found or installed"));
    }
    is_there.then_some(program)
}
