//! A queue on this machine for the records of agents' hooks. The next command sends them to the server. A crash may
//! lose them.

use crate::engine::Engine;
use crate::server_store::Team;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use store::{ActivityKind, ActivityRow, Store, Trace};

const FILE: &str = "queue.jsonl";

/// The maximum size of the queue in bytes. It is reached only if no command has reached the server for a long time.
const LONGEST: u64 = 4 * 1024 * 1024;

/// An event of an agent. The session on which the agent works is looked up when the event is sent.
#[derive(Debug, Serialize, Deserialize)]
struct Queued {
    at: Timestamp,
    agent: String,
    agent_session: String,
    once: Option<String>,
    worktree: String,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    kind: String,
    what: String,
    detail: Option<String>,
}

impl Engine {
    /// True if the records of hooks go into the queue and not to the server.
    pub(super) fn queues(&self) -> bool {
        self.queues
    }

    pub(super) fn queue(&self, trace: &Trace, rows: &[ActivityRow]) -> Option<String> {
        let team = self.team.as_ref()?;
        let queued = Queued {
            at: trace.at,
            agent: trace.agent.clone(),
            agent_session: trace.agent_session.clone(),
            once: trace.once.clone(),
            worktree: self.project.worktree(),
            rows: rows
                .iter()
                .map(|row| Row {
                    kind: row.kind.name().to_owned(),
                    what: row.what.clone(),
                    detail: row.detail.clone(),
                })
                .collect(),
        };
        add(&team.local, &queued).err().map(|error| format!("activity was not recorded: {error}"))
    }

    /// Sends the queued records. If this fails, they stay in the queue, and the command still succeeds.
    pub(crate) fn send_queue(&mut self) {
        let Some(local) = self.team.as_ref().map(|team: &Team| team.local.clone()) else { return };
        for file in taken(&local) {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let queued = text.lines().filter_map(|line| serde_json::from_str::<Queued>(line).ok());
            let is_sent = queued.map(|queued| self.send_queued(queued)).all(|sent| sent.is_ok());
            if is_sent {
                let _ = fs::remove_file(&file);
            }
        }
    }

    /// Returns when a hook of this agent last queued a record on this machine.
    pub(crate) fn last_queued(&self, agent: &str, agent_session: &str) -> Option<Timestamp> {
        let text = fs::read_to_string(self.team.as_ref()?.local.join(FILE)).ok()?;
        let queued = text.lines().filter_map(|line| serde_json::from_str::<Queued>(line).ok());
        let is_its = |queued: &Queued| queued.agent == agent && queued.agent_session == agent_session;
        queued.filter(is_its).map(|queued| queued.at).max()
    }

    fn send_queued(&mut self, queued: Queued) -> store::Result<()> {
        let known = self.store.agent(&queued.agent, &queued.agent_session)?.and_then(|row| row.session);
        let session = match known {
            Some(session) => Some(session),
            None => self.store.active(&queued.worktree)?,
        };
        let Some(session) = session else { return Ok(()) };
        let row = |row: Row| {
            let kind = ActivityKind::parse(&row.kind)?;
            Some(ActivityRow { kind, what: row.what, detail: row.detail, at: queued.at, count: 1 })
        };
        let trace = Trace {
            at: queued.at,
            once: queued.once,
            agent: queued.agent,
            agent_session: queued.agent_session,
            memory: None,
            expects: None,
            activity: Some((session, queued.rows.into_iter().filter_map(row).collect())),
        };
        self.store.trace(&trace, self.patience.left()).map(drop)
    }
}

fn add(local: &Path, queued: &Queued) -> std::io::Result<()> {
    fs::create_dir_all(local)?;
    let path = local.join(FILE);
    if fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST) {
        return Err(std::io::Error::other(
            "the queue is full; the next command that reaches the server clears it",
        ));
    }
    let mut line = serde_json::to_string(queued)?;
    line.push('\n');
    // A line is written in a single call, so that lines of hooks that run at the same time do not mix.
    fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// Returns the files that this process sends. The queue is renamed, so that no other process sends it. Files of
/// processes that ended while sending are added.
fn taken(local: &Path) -> Vec<PathBuf> {
    let own = local.join(format!("sending-{}.jsonl", std::process::id()));
    let mut files = Vec::new();
    if fs::rename(local.join(FILE), &own).is_ok() {
        files.push(own.clone());
    }
    let others = fs::read_dir(local).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_left = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let sender = name.strip_prefix("sending-").and_then(|rest| rest.strip_suffix(".jsonl"));
        *path != own && sender.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
    };
    files.extend(others.filter(is_left));
    files
}
