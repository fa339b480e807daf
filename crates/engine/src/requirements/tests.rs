//! Tests requirements on a real disk: repositories in temporary folders, and a clock that the test sets.

mod disk;
mod gating;
mod living;
mod parallel;
mod sizes;
mod workflows;

use super::conversation::Opening;
use super::*;
use crate::clock::Clock;
use crate::engine::{Intent, Options};
use jiff::Timestamp;
use serde_json::Value;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

const ANNA: &str = "a4326893-7dc8-405b-aaa4-035b9c0d34a8";
const BEN: &str = "b8800000-1111-2222-3333-444455556666";

/// A repository, a home folder, and the time.
struct Place {
    folder: tempfile::TempDir,
    now: Rc<Cell<i64>>,
}

struct SetClock(Rc<Cell<i64>>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.get()).expect("a moment")
    }
}

impl Place {
    /// Returns a place on branch `feature/auth`, with this configuration.
    fn with(settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Self { folder, now: Rc::new(Cell::new(1_000_000)) };
        fs::create_dir_all(place.root().join(".git")).expect("a repository");
        fs::create_dir_all(place.home().join(".claude")).expect("a home");
        place.check_out("feature/auth");
        place.write(".claude/requirements.yaml", settings);
        place
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder").join("p")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder").join("home")
    }

    fn check_out(&self, branch: &str) {
        fs::write(self.root().join(".git/HEAD"), format!("ref: refs/heads/{branch}\n")).expect("HEAD");
    }

    fn write(&self, relative: &str, text: &str) {
        let path = self.root().join(relative);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn pass(&self, seconds: i64) {
        self.now.set(self.now.get() + seconds);
    }

    fn engine(&self) -> Engine {
        self.engine_in("", Intent::Command)
    }

    fn engine_in(&self, folder: &str, intent: Intent) -> Engine {
        let options = Options { project: Some(self.root().join(folder)), ..Options::default() };
        self.prepared(Engine::open(options, intent).expect("it opens"))
    }

    fn prepared(&self, mut engine: Engine) -> Engine {
        engine.clock = Box::new(SetClock(Rc::clone(&self.now)));
        engine.caller.home = Some(self.home());
        engine.caller.agent = None;
        engine.set_patience(Duration::from_millis(50));
        engine
    }

    fn edit(&self, id: &str) -> Verdict {
        self.uses(id, "Edit", None, &["src/a.rs"])
    }

    fn bash(&self, id: &str, command: &str) -> Verdict {
        self.uses(id, "Bash", Some(command), &[])
    }

    fn uses(&self, id: &str, tool: &str, command: Option<&str>, files: &[&str]) -> Verdict {
        let told = self.asked(id, tool, command, files);
        assert_eq!(told.problems, Vec::<String>::new());
        told.answer
    }

    fn asked(&self, id: &str, tool: &str, command: Option<&str>, files: &[&str]) -> Gated<Verdict> {
        let agent = claude(id);
        let call = ToolCall { agent: &agent, tool, command, files, skill: None, tool_use_id: None };
        self.engine().before_tool(&call)
    }

    /// Reports that a tool was used; returns the requirements that this satisfied.
    fn used(
        &self,
        id: &str,
        tool: &str,
        command: Option<&str>,
        skill: Option<&str>,
        event: Option<&str>,
    ) -> Vec<String> {
        let agent = claude(id);
        let call = ToolCall { agent: &agent, tool, command, files: &[], skill, tool_use_id: event };
        let told = self.engine().after_tool(&call);
        assert_eq!(told.problems, Vec::<String>::new());
        told.answer
    }

    fn skill(&self, id: &str, skill: &str) -> Vec<String> {
        self.used(id, "Skill", None, Some(skill), None)
    }

    fn stops(&self, id: &str) -> Option<String> {
        let told = self.engine().at_stop(&claude(id), false);
        assert_eq!(told.problems, Vec::<String>::new());
        told.answer
    }

    fn starts(&self, id: &str, source: &str) -> Opening {
        let told = self.engine().at_start(&claude(id), source);
        assert_eq!(told.problems, Vec::<String>::new());
        told.answer
    }

    fn satisfy(&self, id: &str, names: &[&str]) {
        let request = SatisfyRequest {
            names: names.iter().map(ToString::to_string).collect(),
            agent_session: Some(id.to_owned()),
            ..SatisfyRequest::default()
        };
        self.engine().satisfy_requirements(&request).expect("it is satisfied");
    }

    fn clear(&self, id: Option<&str>, name: &str) {
        let names = [name.to_owned()];
        self.engine().clear_requirements(Clearing::Named(names.to_vec()), None, id).expect("cleared");
    }

    fn state(&self, stem: &str) -> Value {
        json(&self.root().join(format!(".git/requirements/{stem}.json")))
    }

    fn metrics_of(&self, id: &str) -> Value {
        json(&self.root().join(format!(".git/requirements/sessions/{}.json", wording::short(id))))
    }
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn claude(id: &str) -> AgentIdentity {
    AgentIdentity { agent: "claude".to_owned(), id: id.to_owned() }
}

#[track_caller]
fn denied(verdict: Verdict) -> String {
    match verdict {
        Verdict::Deny(message) => message,
        Verdict::Allow | Verdict::Warn(_) => panic!("it was allowed: {verdict:?}"),
    }
}
