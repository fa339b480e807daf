//! The simulated team: random numbers from the seed decide what its agents do next, and time passes only
//! here.

use engine::hooks::{Happened, HookEvent, Source, ToolCall, respond};
use engine::{
    AdvanceRequest, AgentIdentity, Answer, Class, Engine, Intent, ItemAdd, ItemRequest, ListRequest,
    OnDiscrepancy, Options, PauseRequest, Request, StartRequest, SyncRequest, Taking,
};
use model::typed_value::Given;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::proof::Random;

const AGENTS: u64 = 12;
/// The number of simulated seconds between two actions of the team.
const PACE: i64 = 10;
const START: i64 = 1_794_700_800;

const WORKFLOW: &str = r#"
name = "ship"

[[phase]]
id = "plan"
produces = ["PLAN.md"]

  [[phase.check]]
  id = "written"
  kind = "artifact"
  path = "PLAN.md"

[[phase]]
id = "build"
items = "task"

  [phase.evidence]
  coverage = { type = "number", required = true }

  [[phase.check]]
  id = "covered"
  kind = "expr"
  expr = "evidence.coverage >= 80.0"

[[phase]]
id = "review"
"#;

struct Agent {
    /// The number of the agent's life: it is raised when the agent crashes, and another agent session takes
    /// over.
    life: u64,
    session: Option<String>,
    /// The index of the clone in which the agent works.
    clone: usize,
}

pub struct Team {
    random: Random,
    now: i64,
    folder: PathBuf,
    clones: Vec<PathBuf>,
    agents: Vec<Agent>,
    started: u64,
    commands: u64,
    /// The CPU times of this hour's notes.
    notes: Vec<u64>,
}

impl Team {
    pub fn new(seed: u64) -> Self {
        let folder = PathBuf::from(std::env::var_os("SOAK_FOLDER").unwrap());
        let names: &[&str] =
            if std::env::var_os("LEFTOFF_STORE").is_some() { &["anna"] } else { &["anna", "ben"] };
        git(&folder, &["init", "-q", "--bare", "-b", "main", "hub.git"]);
        let clones: Vec<PathBuf> = names.iter().map(|name| cloned(&folder, name)).collect();
        let agents = (0..AGENTS).map(|_| Agent { life: 0, session: None, clone: 0 }).collect();
        let mut team = Self {
            random: Random::new(seed),
            now: START,
            folder,
            clones,
            agents,
            started: 0,
            commands: 0,
            notes: Vec::new(),
        };
        for (number, agent) in team.agents.iter_mut().enumerate() {
            agent.clone = number % team.clones.len();
        }
        team.tick(0);
        if team.clones.len() > 1 {
            for clone in team.clones.clone() {
                let mut engine = Engine::open(options(&clone, None), Intent::Create).unwrap();
                engine.sync(SyncRequest::On { remote: None, branches: false }).unwrap();
            }
        }
        team
    }

    /// Lets the team work for an hour. Returns the number of commands, the memory of this process in KiB, and
    /// the median CPU time of a note in microseconds.
    pub fn hour(&mut self) -> (u64, u64, u64) {
        self.commands = 0;
        self.notes.clear();
        for step in 0..3_600 / PACE {
            self.tick(PACE);
            let agent = usize::try_from(self.random.below(AGENTS)).unwrap();
            self.act(agent);
            if step % 180 == 90 {
                self.sync();
            }
        }
        self.notes.sort_unstable();
        let note = self.notes.get(self.notes.len() / 2).copied().unwrap_or_default();
        (self.commands, kilobytes(), note)
    }

    /// A hash of every session's events. Before, `doctor` compares each session with its replayed log.
    pub fn logs(&self) -> String {
        let mut hash = Sha256::new();
        for clone in &self.clones {
            let found = engine::diagnose(options(clone, None)).unwrap();
            assert!(found.is_empty(), "{found:?}");
            let engine = Engine::open(options(clone, None), Intent::Query).unwrap();
            let sessions = engine.sessions().list(&ListRequest::default()).unwrap().sessions;
            let ids: BTreeSet<String> = sessions.into_iter().map(|line| line.session_id).collect();
            assert!(!ids.is_empty());
            for id in ids {
                let log = engine.sessions().log(Some(&id), 0).unwrap();
                hash.update(format!("{:?}", log.events));
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Advances the clock.
    fn tick(&mut self, seconds: i64) {
        self.now += seconds;
        let now = jiff::Timestamp::from_second(self.now).unwrap();
        fs::write(self.folder.join("clock"), now.to_string()).unwrap();
    }

    fn act(&mut self, agent: usize) {
        let Some(session) = self.agents[agent].session.clone() else { return self.begin(agent) };
        match self.random.below(100) {
            0..30 => self.note(agent),
            30..52 => self.hook(agent, tool()),
            52..60 => drop(self.ask(agent, item(&format!("Part {}", self.commands)))),
            60..70 => {
                drop(self.ask(agent, Request::Item(ItemRequest::Claim { id: None, seconds: Some(1_800) })));
            }
            70..78 => self.finish_item(agent),
            78..88 => self.advance(agent),
            88..91 => self.hook(agent, Happened::Arrived { source: Source::Compact }),
            91..93 => self.crash(agent),
            93..95 => self.pause(agent, &session),
            _ => self.look(agent),
        }
    }

    /// Starts a session, or resumes one that a crashed agent left.
    fn begin(&mut self, agent: usize) {
        self.hook(agent, Happened::Arrived { source: Source::Startup });
        self.started += 1;
        let id = format!("work-{}", self.started);
        let layout = self.started.is_multiple_of(8).then(|| "ocr".to_owned());
        let request = StartRequest {
            workflow: Some(if layout.is_some() { "review" } else { "ship" }.to_owned()),
            goal: Some("No log-out while a tab is open".to_owned()),
            id: Some(id.clone()),
            layout,
            parallel: true,
            ..StartRequest::default()
        };
        let answer = self.ask(agent, Request::Start(request)).expect("a session starts");
        self.agents[agent].session = Some(answer.view.session_id);
    }

    fn note(&mut self, agent: usize) {
        let before = cpu_microseconds();
        let done = self.ask(agent, Request::note("Replay is visible then"));
        if done.is_some() {
            self.notes.push(cpu_microseconds() - before);
        }
    }

    /// Completes an item that this agent holds.
    fn finish_item(&mut self, agent: usize) {
        let Some(answer) = self.ask(agent, Request::Item(ItemRequest::Claim { id: None, seconds: None }))
        else {
            return;
        };
        if let Some(item) = answer.view.item {
            self.ask(agent, Request::Item(ItemRequest::Done { id: item.id().to_string() }));
        }
    }

    /// Tries the gate, every other time without the proof that it needs.
    fn advance(&mut self, agent: usize) {
        let is_ready = self.random.below(2) == 0;
        if is_ready {
            self.deliver(agent);
        }
        let coverage = if is_ready { "91" } else { "55" };
        let evidence = BTreeMap::from([("coverage".to_owned(), Given::Text(coverage.to_owned()))]);
        let request = Request::Advance(AdvanceRequest { evidence, ..AdvanceRequest::default() });
        let answer = self.ask(agent, request);
        let is_over = |answer: &Answer| answer.view.status.name() == "completed";
        if answer.is_some_and(|answer| is_over(&answer)) {
            self.agents[agent].session = None;
        }
    }

    /// Writes the file that the gate of `plan` looks for; in another tool's session, edits its state.
    fn deliver(&self, agent: usize) {
        let Agent { session: Some(session), clone, .. } = &self.agents[agent] else { return };
        let state = self.clones[*clone].join(".ocr/sessions").join(session).join("state.json");
        if let Ok(text) = fs::read_to_string(&state) {
            let edited = text.replacen('{', &format!("{{\n  \"remark_{}\": true,", self.commands), 1);
            return fs::write(state, edited).unwrap();
        }
        let workspace = self.clones[*clone].join(".leftoff/sessions").join(session);
        fs::create_dir_all(&workspace).unwrap();
        fs::write(workspace.join("PLAN.md"), "Rotate the token on every use.\n").unwrap();
    }

    /// The agent disappears in the middle of its work, and another one resumes its session.
    fn crash(&mut self, agent: usize) {
        self.agents[agent].life += 1;
        self.hook(agent, Happened::Arrived { source: Source::Startup });
    }

    fn pause(&mut self, agent: usize, session: &str) {
        self.ask(
            agent,
            Request::Pause(PauseRequest { reason: Some("lunch".to_owned()), ..PauseRequest::default() }),
        );
        let session = Some(session.to_owned());
        self.ask(agent, Request::Resume { session, on: OnDiscrepancy::Continue, taking: Taking::Refused });
    }

    fn look(&mut self, agent: usize) {
        let engine = self.engine(agent, Intent::Query);
        engine.sessions().brief().unwrap();
        engine.sessions().list(&ListRequest { limit: Some(20), ..ListRequest::default() }).unwrap();
        self.commands += 2;
    }

    fn sync(&mut self) {
        for clone in self.clones.iter().filter(|_| self.clones.len() > 1) {
            let mut engine = Engine::open(options(clone, None), Intent::Command).unwrap();
            engine.sync(SyncRequest::Now { fetch_only: false, unattended: false }).unwrap();
            self.commands += 1;
        }
    }

    fn engine(&self, agent: usize, intent: Intent) -> Engine {
        let Agent { session, clone, .. } = &self.agents[agent];
        let mut options = options(&self.clones[*clone], session.clone());
        options.agent = Some(self.identity(agent));
        Engine::open(options, intent).unwrap()
    }

    fn identity(&self, agent: usize) -> AgentIdentity {
        AgentIdentity { agent: "claude".to_owned(), id: format!("agent-{agent}-{}", self.agents[agent].life) }
    }

    /// Makes a change. A refusal is a normal answer, but a failure is not.
    fn ask(&mut self, agent: usize, request: Request) -> Option<Answer> {
        self.commands += 1;
        match self.engine(agent, Intent::Create).execute(request) {
            Ok(answer) => Some(answer),
            Err(error) => {
                assert!(!matches!(error.class(), Class::Failed | Class::OutcomeUnknown), "{error}");
                None
            }
        }
    }

    fn hook(&mut self, agent: usize, happened: Happened) {
        self.commands += 1;
        let folder = self.clones[self.agents[agent].clone].clone();
        let event =
            HookEvent { agent: self.identity(agent), folder, happened, subagent: None, delivery: None };
        let reply = respond(&event).unwrap();
        assert_eq!(reply.problem, None);
    }
}

fn options(project: &Path, session: Option<String>) -> Options {
    Options { project: Some(project.to_owned()), session, from_afar: true, ..Options::default() }
}

fn item(title: &str) -> Request {
    let phase = Some("build".to_owned());
    Request::Item(ItemRequest::Add(ItemAdd { title: title.to_owned(), phase, ..ItemAdd::default() }))
}

fn tool() -> Happened {
    let input = serde_json::json!({ "file_path": "src/a.rs" });
    Happened::AfterTool(ToolCall::new("Edit", None, input))
}

/// A clone with the team's workflow. Its commits have the same time and therefore the same hash each time.
fn cloned(folder: &Path, name: &str) -> PathBuf {
    git(folder, &["clone", "-q", "hub.git", name]);
    let clone = folder.join(name).canonicalize().unwrap();
    fs::create_dir_all(clone.join(".leftoff/workflows")).unwrap();
    fs::write(clone.join(".leftoff/workflows/ship.toml"), WORKFLOW).unwrap();
    clone
}

fn git(folder: &Path, words: &[&str]) {
    let ended =
        Command::new("git").args(words).current_dir(folder).stderr(std::process::Stdio::null()).status();
    assert!(ended.unwrap().success(), "git {words:?}");
}

fn kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn cpu_microseconds() -> u64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap();
    u64::try_from(time.tv_sec() * 1_000_000 + time.tv_nsec() / 1_000).unwrap()
}
