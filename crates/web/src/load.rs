//! Loads the data of pages from the engine. Keeps no engine open. Every read is limited, so that a page takes as long
//! with a large store as with a small one.

use engine::view::{CheckView, GateOutcome, ShortView, View};
use engine::{
    AgentView, ArtifactFinding, Current, Detail, Engine, FileDifference, History, Intent, ItemListRequest,
    ItemListing, ListRequest, Next, Options, Result, VersionMade,
};
use jiff::Timestamp;
use model::Recorded;

pub const PAGE: usize = 50;
/// The last page of the list. A search finds the sessions that are not on these pages.
const LAST_PAGE: usize = 40;
/// The maximum number of unfinished sessions that are loaded with all details.
const MOST_LOOKED_AT: usize = 20;
const MOST_FINISHED: usize = 3;
const MOST_EVENTS: usize = 200;
const MOST_ITEMS: usize = 500;

/// The search words and filters of the overview.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    pub search: String,
    pub status: String,
    pub layout: String,
    pub phase: String,
    pub agent: String,
    pub page: usize,
}

pub struct Overview {
    pub now: Timestamp,
    pub project: String,
    pub query: Query,
    /// The unfinished sessions, with all details.
    pub open: Vec<View>,
    /// The sessions that finished last. They have all details, because the page shows their outcomes.
    pub finished: Vec<View>,
    pub agents: Vec<AgentView>,
    pub sessions: Vec<ShortView>,
    pub more: bool,
    pub next: Option<Next>,
}

pub struct SessionPage {
    pub now: Timestamp,
    pub project: String,
    pub view: View,
    pub history: History,
    pub agents: Vec<AgentView>,
    pub items: ItemListing,
    pub log: Vec<Recorded>,
    pub versions: Vec<VersionMade>,
    pub differences: Vec<FileDifference>,
    pub findings: Vec<ArtifactFinding>,
    pub brief: String,
}

impl Overview {
    pub fn load(options: &Options, query: Query) -> Result<Self> {
        let engine = Engine::open(options.clone(), Intent::Query)?;
        let page = query.page.min(LAST_PAGE);
        let agents: Vec<AgentView> = engine.agents()?.into_iter().filter(|agent| agent.alive).collect();
        let request = ListRequest {
            lifecycles: Some(query.status.clone()).filter(|status| !status.is_empty()).into_iter().collect(),
            layout: Some(query.layout.clone()).filter(|layout| !layout.is_empty()),
            search: Some(query.search.clone()).filter(|search| !search.trim().is_empty()),
            limit: Some((page + 1) * PAGE + 1),
            ..ListRequest::default()
        };
        let mut sessions = engine.sessions().list(&request)?.sessions;
        let is_by_agent = |line: &ShortView| {
            let is_it = |agent: &AgentView| {
                agent.agent == query.agent && agent.session_id.as_deref() == Some(&line.session_id)
            };
            query.agent.is_empty() || agents.iter().any(is_it)
        };
        sessions.retain(|line| (query.phase.is_empty() || line.phase == query.phase) && is_by_agent(line));
        let more = sessions.len() > (page + 1) * PAGE && page < LAST_PAGE;
        let sessions = sessions.into_iter().skip(page * PAGE).take(PAGE).collect();
        let open = looked_at(&engine, &["active", "paused", "failed"], MOST_LOOKED_AT)?;
        let finished = looked_at(&engine, &["completed", "abandoned"], MOST_FINISHED)?;
        let next = match engine.sessions().status()? {
            Current::Nothing(nothing) => Some(nothing.next),
            Current::Session(_) => None,
        };
        Ok(Self {
            now: engine.now(),
            project: project(&engine),
            query,
            open,
            finished,
            agents,
            sessions,
            more,
            next,
        })
    }
}

/// The sessions with these lifecycles and with all details. The session that changed last comes first.
fn looked_at(engine: &Engine, lifecycles: &[&str], most: usize) -> Result<Vec<View>> {
    let lifecycles = lifecycles.iter().map(ToString::to_string).collect();
    let request = ListRequest { lifecycles, limit: Some(most), ..ListRequest::default() };
    let lines = engine.sessions().list(&request)?.sessions;
    // A session that cannot be read is left out. It must not hide any other session.
    Ok(lines
        .iter()
        .filter_map(|line| engine.sessions().show(Some(&line.session_id), Detail::Recent).ok())
        .collect())
}

impl SessionPage {
    pub fn load(options: &Options, id: &str) -> Result<Self> {
        let named = Options { session: Some(id.to_owned()), ..options.clone() };
        let engine = Engine::open(named, Intent::Query)?;
        let mut view = engine.sessions().show(Some(id), Detail::Whole)?;
        // Only the status of the current session contains agents and rounds.
        if let Current::Session(status) = engine.sessions().status()? {
            view.rounds = status.rounds;
        }
        let id = view.session_id.clone();
        view.files_shown = files_shown(&engine, &view);
        let is_in = |agent: &AgentView| agent.alive && agent.session_id.as_deref() == Some(&id);
        let items = ItemListRequest { all: true, limit: MOST_ITEMS, ..ItemListRequest::default() };
        let brief = engine.sessions().brief()?.map(|brief| engine::brief::markdown(&brief, usize::MAX));
        let versions = engine.sessions().artifact_history(None)?.1;
        let log = engine.sessions().log(Some(&id), 0)?;
        Ok(Self {
            now: engine.now(),
            project: project(&engine),
            differences: engine.sessions().file_differences(&versions)?,
            history: log.history(engine.now())?,
            agents: engine.agents()?.into_iter().filter(is_in).collect(),
            items: engine.items(&items)?,
            log: newest(log.events),
            versions,
            findings: engine.sessions().verify_artifacts()?.findings,
            brief: brief.unwrap_or_default(),
            view,
        })
    }
}

fn newest(mut events: Vec<Recorded>) -> Vec<Recorded> {
    events.split_off(events.len().saturating_sub(MOST_EVENTS))
}

/// The sessions that wait for a person, with the approvals that each one needs.
pub fn approvals(options: &Options) -> Result<(Timestamp, String, Vec<View>)> {
    let engine = Engine::open(options.clone(), Intent::Query)?;
    let mut waiting = looked_at(&engine, &["active", "paused", "failed"], MOST_LOOKED_AT)?;
    waiting.retain(|view| !waiting_checks(view).is_empty() || !view.open_notes().is_empty());
    for view in &mut waiting {
        view.files_shown = files_shown(&engine, view);
    }
    Ok((engine.now(), project(&engine), waiting))
}

/// The hash of the files that an approval on this page covers. If a file changes before the user presses the button,
/// the approval does not cover the change.
fn files_shown(engine: &Engine, view: &View) -> Option<String> {
    if waiting_checks(view).is_empty() { None } else { view.files_to_approve(engine) }
}

/// The checks of the current phase that wait for approval.
pub fn waiting_checks(view: &View) -> Vec<&CheckView> {
    let gate = view.current().filter(|_| view.run.completed_at.is_none());
    let waits = |check: &&CheckView| {
        check.kind == "approval" && check.outcome != GateOutcome::Passed && !check.settled
    };
    gate.iter().flat_map(|phase| &phase.gate.checks).filter(waits).collect()
}

fn project(engine: &Engine) -> String {
    let root = &engine.project().root;
    root.file_name()
        .map_or_else(|| root.to_string_lossy().into_owned(), |name| name.to_string_lossy().into_owned())
}
