//! One writer, which runs commands in its own worktree and on a shared session, and records what their
//! answers promise.

use super::Arena;
use super::oracle::{Promise, Promises};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use testkit::Ran;
use testkit::proof::Random;

const PHASES: [&str; 3] = ["plan", "implement", "review"];

pub struct Writer<'a> {
    at: usize,
    arena: &'a Arena,
    program: &'a Command,
    folder: &'a Path,
    shared_folder: &'a Path,
    random: Random,
    promises: Promises,
    /// The active session of this worktree, and its progress. Only this writer changes it.
    session: Option<String>,
    run: u64,
    phase: usize,
    marks: u64,
}

impl<'a> Writer<'a> {
    pub fn new(at: usize, arena: &'a Arena, program: &'a Command, folder: &'a Path, random: Random) -> Self {
        let shared_folder = program.get_current_dir().unwrap();
        Self {
            at,
            arena,
            program,
            folder,
            shared_folder,
            random,
            promises: Promises::default(),
            session: None,
            run: 1,
            phase: 0,
            marks: 0,
        }
    }

    pub fn work(mut self) -> Promises {
        // Whatever happens to this writer, the killer learns when the writer is gone.
        let _leaving = Leaving(self.arena);
        while self.arena.goes_on() {
            match self.random.below(16) {
                0 => self.start(),
                1..=4 => self.advance(),
                5 => self.pause_and_resume(),
                6..=8 => self.note(self.folder, None),
                9..=10 => self.note_with_key(self.folder, None),
                11..=12 => self.note(self.shared_folder, Some("shared")),
                13 => self.note_with_key(self.shared_folder, Some("shared")),
                _ => self.advance_shared(),
            }
        }
        self.promises
    }

    /// Starts a session, which pauses the previous one.
    fn start(&mut self) {
        let (goal, key) = (self.mark("goal"), self.mark("key"));
        let answer = self.until_acknowledged(self.folder, &["start", "--goal", &goal, "--key", &key]);
        let id = answer["session_id"].as_str().unwrap().to_owned();
        self.promises.marks.insert(goal, Promise::Once);
        if let Some(before) = self.session.replace(id.clone()) {
            self.promises.lifecycles.insert(before, "paused");
        }
        self.promises.lifecycles.insert(id, "active");
        (self.run, self.phase) = (1, 0);
    }

    /// Runs the printed command until it is answered, because it is safe to repeat. After the last phase, the
    /// next run starts.
    fn advance(&mut self) {
        let Some(session) = self.session.clone() else { return self.start() };
        let (phase, token) = (PHASES[self.phase], self.mark("token"));
        self.until_acknowledged(
            self.folder,
            &["advance", "--phase", phase, "--evidence", &format!("mark={token}")],
        );
        self.promises.marks.insert(token, Promise::Once);
        self.promises.phases.insert((session.clone(), self.run, phase.to_owned()), Promise::Once);
        self.phase = (self.phase + 1) % PHASES.len();
        if self.phase == 0 {
            self.until_acknowledged(self.folder, &["run", "start", "--session", &session]);
            self.run += 1;
        }
    }

    fn pause_and_resume(&mut self) {
        let Some(session) = self.session.clone() else { return self.start() };
        self.until_acknowledged(self.folder, &["pause", "--reason", "lunch", "--session", &session]);
        self.until_acknowledged(self.folder, &["resume", &session]);
    }

    /// Adds a note, in a single attempt: if it is killed, the note may have been committed or not.
    fn note(&mut self, folder: &Path, session: Option<&str>) {
        let Some(named) = session.map(ToOwned::to_owned).or(self.session.clone()) else {
            return self.start();
        };
        let text = self.mark("note");
        let promise = match self.once(folder, &["note", &text, "--session", &named]) {
            Some(_) => Promise::Once,
            None => Promise::AtMostOnce,
        };
        self.promises.marks.insert(text, promise);
    }

    fn note_with_key(&mut self, folder: &Path, session: Option<&str>) {
        let Some(named) = session.map(ToOwned::to_owned).or(self.session.clone()) else {
            return self.start();
        };
        let (text, key) = (self.mark("note"), self.mark("key"));
        self.until_acknowledged(folder, &["note", &text, "--session", &named, "--key", &key]);
        self.promises.marks.insert(text, Promise::Once);
    }

    /// Advances the shared session. Other writers do so, too: for a phase that another writer completed
    /// first, the answer is `already`, and this evidence is not stored.
    fn advance_shared(&mut self) {
        let (token, key) = (self.mark("token"), self.mark("key"));
        let evidence = format!("mark={token}");
        let folder = self.shared_folder;
        let command = ["advance", "--session", "shared", "--evidence", &evidence, "--key", &key];
        let promise = loop {
            match self.ran(folder, &command) {
                None => {}
                Some(ran) if ran.code == 0 && ran.json()["already"] == true => break Promise::Never,
                Some(ran) if ran.code == 0 => break Promise::Once,
                // Another writer completed the last phase, so the next run must be started, by whichever
                // writer is first.
                Some(ran) if ran.code == 4 && ran.error()["kind"] == "not_active" => {
                    self.until_acknowledged(folder, &["run", "start", "--session", "shared"]);
                }
                // The next run started between this gate and its turn: the command is refused without
                // changes, and repeated.
                Some(ran) if ran.code == 4 && ran.error()["kind"] == "moved_meanwhile" => {}
                Some(ran) => panic!("{command:?}: {ran:?}"),
            }
        };
        self.promises.marks.insert(token, promise);
    }

    fn until_acknowledged(&self, folder: &Path, arguments: &[&str]) -> Value {
        loop {
            if let Some(answer) = self.once(folder, arguments) {
                return answer;
            }
        }
    }

    /// The answer to a command, unless the process was killed. No command may be refused here.
    fn once(&self, folder: &Path, arguments: &[&str]) -> Option<Value> {
        self.ran(folder, arguments).map(|ran| ran.ok().json())
    }

    /// The result of a run, unless it was killed.
    fn ran(&self, folder: &Path, arguments: &[&str]) -> Option<Ran> {
        let mut command = testkit::like(self.program, arguments);
        command.arg("--json").current_dir(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let pid = Pid::from_child(&child);
        *self.arena.children[self.at].lock().unwrap() = Some(child);
        let (mut said, mut complained) = (String::new(), String::new());
        std::io::Read::read_to_string(&mut stdout, &mut said).unwrap();
        std::io::Read::read_to_string(&mut stderr, &mut complained).unwrap();
        // The process is not reaped before the killer can no longer see it.
        rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT))
            .unwrap();
        let mut child = self.arena.children[self.at].lock().unwrap().take().unwrap();
        let status = child.wait().unwrap();
        if status.signal() == Some(9) {
            self.arena.kills.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.arena.acknowledged.fetch_add(u64::from(status.success()), Ordering::Relaxed);
        Some(Ran { code: status.code().unwrap_or(-1), stdout: said, stderr: complained })
    }

    /// A text that is used for one command only.
    fn mark(&mut self, kind: &str) -> String {
        self.marks += 1;
        format!("{kind}-{}-{}", self.at, self.marks)
    }
}

struct Leaving<'a>(&'a Arena);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}
