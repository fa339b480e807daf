//! All data for a frame, read from the engine at one moment. Keeps no engine open, and makes no decisions.

use crate::state::Tab;
use crate::text::outside;
use engine::event_text::words;
use engine::screen::Screen;
use engine::view::{PhaseView, ShortView, View};
use engine::words::moment;
use engine::{
    AgentView, ArtifactFinding, Current, Detail, Engine, Intent, ItemListRequest, ItemListing, ListRequest,
    Next, Options, Result, Watch,
};
use jiff::Timestamp;
use model::hint::CommandLine;
use model::id::SessionId;
use model::words as words_of;

/// The maximum number of sessions that are listed. The newest are listed; `leftoff list` shows all.
pub const MOST_SESSIONS: usize = 200;
const MOST_ITEMS: usize = 20_000;
const MOST_EVENTS: u64 = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub now: Timestamp,
    pub project: String,
    /// The sessions, with the active one first.
    pub sessions: Vec<ShortView>,
    /// True if there are further sessions, which are not listed.
    pub more: bool,
    /// The id of the session that commands use by default. The screen shows this session unless the user
    /// chose another.
    pub current: Option<String>,
    pub shown: Option<Shown>,
    /// The next step of the project, if no session is active.
    pub next: Option<Next>,
}

/// The session that is shown, and the data for its tabs.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub view: Box<View>,
    /// The view of the session's own tool, if that tool has one.
    pub screen: Option<Screen>,
    pub agents: Vec<AgentView>,
    pub items: Option<ItemListing>,
    pub log: Vec<LogLine>,
    pub findings: Vec<ArtifactFinding>,
    /// The command that resumes the session if it is paused. Otherwise the command of the next step.
    pub command: Option<CommandLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub version: u64,
    pub when: String,
    pub who: String,
    pub what: String,
}

/// The session and the tab for which data is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The id of the session. `None` means the active session.
    pub session: Option<String>,
    pub tab: Tab,
}

impl Snapshot {
    pub fn load(options: &Options, wanted: &Wanted, watch: Option<&mut Watch>) -> Result<Self> {
        let here = Engine::open(options.clone(), Intent::Query)?;
        let listing = here
            .sessions()
            .list(&ListRequest { limit: Some(MOST_SESSIONS + 1), ..ListRequest::default() })?;
        let mut sessions = listing.sessions;
        let more = sessions.len() > MOST_SESSIONS;
        sessions.truncate(MOST_SESSIONS);
        // The sort is stable: sessions that are equal in both respects stay in the order of their last
        // activity.
        sessions.sort_by_key(|line| (!line.current, line.lifecycle != "active"));
        let current = sessions.iter().find(|line| line.current).map(|line| line.session_id.clone());
        let mut named = options.clone();
        named.session = wanted.session.clone().or(named.session);
        let engine =
            if named.session == options.session { here } else { Engine::open(named, Intent::Query)? };
        let (shown, next) = match engine.sessions().status()? {
            Current::Session(view) => (Some(Shown::load(&engine, view, wanted.tab)?), None),
            Current::Nothing(nothing) => (None, Some(nothing.next)),
        };
        if let Some(watch) = watch {
            watch.show(&engine, shown.as_ref().map(|shown| &*shown.view));
        }
        let project = engine.project().root.file_name().map(|name| outside(&name.to_string_lossy()));
        Ok(Self {
            now: engine.now(),
            project: project.unwrap_or_default(),
            sessions,
            more,
            current,
            shown,
            next,
        })
    }
}

impl Shown {
    fn load(engine: &Engine, mut view: Box<View>, tab: Tab) -> Result<Self> {
        let id = view.session_id.clone();
        let has_approval = |phase: &PhaseView| phase.gate.checks.iter().any(|check| check.kind == "approval");
        if view.current().is_some_and(has_approval) {
            view.files_shown = view.files_to_approve(engine);
        }
        let screen = SessionId::parse(&id).ok().and_then(|id| engine.sessions().screen(&id));
        let agents = engine.agents()?;
        let is_in = |agent: &AgentView| agent.alive && agent.session_id.as_deref() == Some(&id);
        let command = view.next.command.clone().or_else(|| resuming(&view));
        let mut shown = Self {
            screen,
            agents: agents.into_iter().filter(is_in).collect(),
            items: None,
            log: Vec::new(),
            findings: Vec::new(),
            command,
            view,
        };
        match tab {
            Tab::Now => {}
            // The Phases tab shows all attempts, and a status contains only the last few.
            Tab::Phases => shown.view.phases = engine.sessions().show(Some(&id), Detail::Whole)?.phases,
            Tab::Items => {
                let request = ItemListRequest { all: true, limit: MOST_ITEMS, ..ItemListRequest::default() };
                shown.items = Some(engine.items(&request)?);
            }
            Tab::Log => shown.log = log(engine, &shown.view)?,
            Tab::Files => shown.findings = engine.sessions().verify_artifacts()?.findings,
        }
        Ok(shown)
    }
}

fn resuming(view: &View) -> Option<CommandLine> {
    (view.lifecycle.name() == "paused").then(|| CommandLine::new(words_of!["resume", view.session_id]))
}

fn log(engine: &Engine, view: &View) -> Result<Vec<LogLine>> {
    let after = view.version.saturating_sub(MOST_EVENTS);
    let log = engine.sessions().log(Some(&view.session_id), after)?;
    let now = engine.now();
    let line = |event: &model::Recorded| LogLine {
        version: event.version,
        when: moment(event.at, now),
        who: outside(&event.actor.to_string()),
        what: words(&event.event),
    };
    Ok(log.events.iter().map(line).collect())
}
