//! Lists of sessions: stored sessions as their files show them, sessions that are only in files, and sessions outside
//! projects.

mod in_files;

use crate::engine::{Engine, Want, is_unfinished};
use crate::error::Result;
use crate::execute::FROM;
use crate::facades::Sessions;
use crate::foreign::LONGEST_WARNING;
use crate::query::MOST_IDLE_NAMED;
use crate::view::{ShortView, Warning};
use crate::words::one_line;
use layouts::layout;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::outcome::Outcomes;
use model::session::Session;
use model::status::Status;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use store::{Filter, Listed};

/// How many files with the same problem a warning names.
const MOST_FILES_NAMED: usize = 2;
/// The maximum number of sessions for which a list shows the outcomes of phases.
const MOST_OUTCOMES: usize = 100;

/// The sessions that `list` shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    pub sessions: Vec<ShortView>,
    pub warnings: Vec<Warning>,
    /// If the list has a single layout: the heading of its tool's own list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<&'static str>,
}

/// A filter for a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    pub lifecycles: Vec<String>,
    pub layout: Option<String>,
    pub search: Option<String>,
    /// The number of newest sessions to list; `None` for all.
    pub limit: Option<usize>,
    /// A more specific status that active sessions must have, if one is requested.
    pub standing: Option<Status>,
    /// The path of a task list. Only sessions of this worktree that were started from it are listed.
    pub started_from: Option<String>,
}

/// Statuses that say more than `active` about an active session.
const STANDINGS: [Status; 2] = [Status::CheckpointFailed, Status::PossiblyStalled];

impl ListRequest {
    /// Limits the list to sessions with this status: a lifecycle, a more specific status of active sessions, or another
    /// tool's word for one of them.
    #[must_use]
    pub fn with_status(self, word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase().replace(['-', ' '], "_");
        if let Some(standing) = STANDINGS.into_iter().find(|status| status.name() == word) {
            return Some(Self { lifecycles: vec!["active".to_owned()], standing: Some(standing), ..self });
        }
        let theirs = layout::all().iter().flat_map(|layout| layout.facts().status_words);
        let meant = theirs.filter(|(known, _)| *known == word).map(|(_, lifecycle)| *lifecycle).next();
        let own = Lifecycle::NAMES.into_iter().find(|name| *name == word);
        own.or(meant).map(|name| Self { lifecycles: vec![name.to_owned()], ..self })
    }

    /// Returns every word that `with_status` knows, each once.
    pub fn status_words() -> Vec<&'static str> {
        let theirs = layout::all().iter().flat_map(|layout| layout.facts().status_words);
        let mut words: Vec<&str> = Lifecycle::NAMES.to_vec();
        for word in STANDINGS.map(Status::name).into_iter().chain(theirs.map(|(word, _)| *word)) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }
}

impl ListRequest {
    /// True if a session that is not stored passes the filter, as the store would decide.
    fn wants(&self, session: &ShortView) -> bool {
        let told = format!("{} {}", session.session_id, session.title).to_lowercase();
        let found = |words: &String| words.split_whitespace().all(|word| told.contains(&word.to_lowercase()));
        (self.lifecycles.is_empty() || self.lifecycles.contains(&session.lifecycle))
            && self.layout.as_ref().is_none_or(|layout| *layout == session.layout)
            && self.search.as_ref().is_none_or(found)
    }
}

impl Sessions<'_> {
    /// Returns sessions, one line each. Marks the session that commands use here.
    pub fn list(&self, request: &ListRequest) -> Result<Listing> {
        let engine = self.engine;
        let mut listing = engine.lines(request)?;
        // If only active sessions are listed, each line shows a more specific status, such as `checkpoint_failed`.
        if request.lifecycles == ["active"] {
            for line in &mut listing.sessions {
                line.status = engine.status_of(line).filter(|status| STANDINGS.contains(status));
            }
            listing.sessions.retain(|line| request.standing.is_none() || line.status == request.standing);
        }
        if let Some(list) = &request.started_from {
            listing.sessions.retain(|line| engine.is_started_from(line, list));
        }
        self.engine.add_outcomes(&mut listing.sessions);
        // If no session is unfinished, none is the current one. Then no files need to be read to find the current one.
        let may_be = listing.sessions.iter().any(|line| is_unfinished(&line.lifecycle));
        let current = if may_be { engine.select(Want::Unfinished).ok() } else { None };
        let here = engine.project.worktree();
        for line in &mut listing.sessions {
            let is_it = current.as_ref().is_some_and(|id| line.session_id == id.as_str());
            // The session may have the name of one outside this project, which is not meant.
            line.current = is_it && (line.worktree == here || engine.options.session.is_some());
        }
        Ok(listing)
    }
}

impl Engine {
    /// True for a session of this worktree that was started from this task list.
    fn is_started_from(&self, line: &ShortView, list: &str) -> bool {
        let id = SessionId::parse(&line.session_id).ok().filter(|_| line.worktree == self.project.worktree());
        let session = id.and_then(|id| self.load(&id).ok());
        session.is_some_and(|(_, session)| session.fields.get(FROM).and_then(Value::as_str) == Some(list))
    }

    /// Adds the outcomes of the first sessions' phases, which the store's rows do not contain.
    fn add_outcomes(&self, lines: &mut [ShortView]) {
        let unknown = lines.iter_mut().take(MOST_OUTCOMES).filter(|line| line.outcomes.is_none());
        for line in unknown {
            let id = SessionId::parse(&line.session_id).ok();
            let loaded = id.and_then(|id| self.store.load(&id).ok().flatten());
            let session = loaded.and_then(|loaded| self.folded(&loaded).ok());
            let arrival = session.as_ref().and_then(|session| self.arrival_of(session, false));
            let marked =
                session.as_ref().and_then(|session| self.with_unsigned_marked(session, arrival.as_ref()));
            let session = marked.or(session);
            line.outcomes = session.as_ref().and_then(Session::run).map(Outcomes::of);
            // Earlier versions stored a number of phases even if more phases could be added.
            if session.is_some_and(|session| session.total_phases().is_none()) {
                line.total_phases = None;
            }
        }
    }

    fn status_of(&self, line: &ShortView) -> Option<Status> {
        let id = SessionId::parse(&line.session_id).ok()?;
        self.view_by_id(&id).ok().map(|view| view.status)
    }

    pub(crate) fn lines(&self, request: &ListRequest) -> Result<Listing> {
        crate::execute::start::foreign_layout(request.layout.as_deref())?;
        let mut odd = Vec::new();
        let mut sessions = self.kept_lines(request, &mut odd)?;
        let mut warnings = self.warnings.clone();
        warnings.extend(self.kept_lines_beside_others(&mut sessions));
        sessions.retain(|line| request.lifecycles.is_empty() || request.lifecycles.contains(&line.lifecycle));
        warnings
            .extend(sessions.iter().filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_NAMED));
        warnings.extend(self.place_warnings());
        warnings.extend(self.registry_warnings());
        warnings.extend(self.unknown_warnings());
        let in_files = self.lines_of_files(request, &mut odd);
        let left_lying = in_files.iter().filter(|line| is_resumed_again(&line.layout));
        warnings.extend(left_lying.filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_NAMED));
        add_by_time(&mut sessions, in_files);
        warnings.extend(said_once(odd));
        let heading = crate::own_tool_messages::heading(request.layout.as_deref());
        if heading.is_some() {
            for line in &mut sessions {
                line.own_words = self.own_line(&line.session_id);
            }
        }
        let outside = self.lines_outside(request, heading.is_some(), &sessions, &mut warnings);
        warnings.extend(outside.iter().filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_NAMED));
        add_by_time(&mut sessions, outside);
        sessions.truncate(request.limit.unwrap_or(usize::MAX));
        self.number_those_outside(&mut sessions)?;
        Ok(Listing { sessions, warnings, heading })
    }

    /// Returns stored sessions as their files show them. Adds warnings to `odd`, with their layout.
    fn kept_lines(&self, request: &ListRequest, odd: &mut Vec<(String, Warning)>) -> Result<Vec<ShortView>> {
        // A session that is stored as active may have expired. So whoever asks for paused sessions gets these as well.
        let mut lifecycles = request.lifecycles.clone();
        if lifecycles.iter().any(|wanted| wanted == "paused")
            && !lifecycles.iter().any(|wanted| wanted == "active")
        {
            lifecycles.push("active".to_owned());
        }
        let moved = self.moved_by_files(request, &lifecycles)?;
        let (layout, search) = (request.layout.clone(), request.search.clone());
        let filter = Filter { lifecycles, layout, search, limit: request.limit, ..Filter::default() };
        let kept = self.store.list(&filter)?;
        let kept = kept.into_iter().map(ShortView::from);
        let (mut sessions, mut edited): (Vec<ShortView>, Vec<ShortView>) = (Vec::new(), Vec::new());
        for mut line in kept.chain(self.opened_by_files(request)?).chain(moved) {
            line.machine = line.machine.map(|machine| self.name_of_replica(&machine));
            let known = line.updated_at;
            // If a session cannot be read, this is reported, and other sessions are still listed.
            let said = self
                .shown_by_files(&mut line)
                .unwrap_or_else(|error| vec![Warning::from_error("session", &error)]);
            line.warnings = needing_repair(&said);
            odd.extend(said.into_iter().map(|warning| (line.layout.clone(), warning)));
            self.apply_expiry(&mut line);
            if line.updated_at > known { edited.push(line) } else { sessions.push(line) }
        }
        add_by_time(&mut sessions, edited);
        Ok(sessions)
    }

    /// Returns the sessions that exist only in this project's files.
    fn lines_of_files(&self, request: &ListRequest, odd: &mut Vec<(String, Warning)>) -> Vec<ShortView> {
        let mut lines = Vec::new();
        for (mut line, said) in self.foreign_lines() {
            self.apply_expiry(&mut line);
            if request.wants(&line) {
                line.warnings = needing_repair(&said);
                odd.extend(said.into_iter().map(|warning| (line.layout.clone(), warning)));
                lines.push(line);
            }
        }
        lines
    }

    /// Returns the sessions outside projects that are not in `sessions`.
    fn lines_outside(
        &self,
        request: &ListRequest,
        in_their_words: bool,
        sessions: &[ShortView],
        warnings: &mut Vec<Warning>,
    ) -> Vec<ShortView> {
        let mut lines = Vec::new();
        for (mut line, odd) in self.outside_lines(in_their_words) {
            let is_it =
                |known: &ShortView| known.session_id == line.session_id && known.worktree == line.worktree;
            if request.wants(&line) && !sessions.iter().any(is_it) {
                line.warnings = needing_repair(&odd);
                warnings.extend(odd);
                lines.push(line);
            }
        }
        lines
    }

    /// Gives numbers to sessions of another store, after the numbers of this store.
    fn number_those_outside(&self, sessions: &mut [ShortView]) -> Result<()> {
        if sessions.iter().all(|line| line.number != 0) {
            return Ok(());
        }
        let numbers = self.outside_numbers()?;
        let is_in = |line: &ShortView, name: &str| {
            line.session_id == name || Path::new(&line.worktree).file_name() == Some(OsStr::new(name))
        };
        let number = |line: &ShortView| numbers.iter().find(|(name, _)| is_in(line, name.as_str()));
        for line in sessions.iter_mut().filter(|line| line.number == 0) {
            line.number = number(line).map_or(0, |(_, number)| *number);
        }
        Ok(())
    }
}

/// True if the layout's tool resumes even sessions that are active.
fn is_resumed_again(layout: &str) -> bool {
    layouts::layout::by_name(layout).is_some_and(|layout| layout.facts().taken_up_again)
}

impl From<&Session> for ShortView {
    fn from(session: &Session) -> Self {
        let run = session.run();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            number: 0,
            session_id: session.id.to_string(),
            title: session.title.clone(),
            goal: session.goal.clone(),
            target: session.target.clone(),
            layout: session.layout.clone(),
            workflow: run.map(|run| run.workflow.name.to_string()).unwrap_or_default(),
            worktree: session.worktree.clone(),
            lifecycle: session.lifecycle.name().to_owned(),
            status: None,
            parallel: session.parallel,
            phase: run.map(|run| run.current().id().to_string()).unwrap_or_default(),
            phases_done: run.map(|run| count(run.settled())).unwrap_or_default(),
            total_phases: session.total_phases().map(count),
            created_at: session.created_at,
            updated_at: session.updated_at,
            version: session.version,
            outcomes: run.map(Outcomes::of),
            current: false,
            machine: None,
            own_words: None,
            warnings: Vec::new(),
        }
    }
}

impl From<Listed> for ShortView {
    fn from(listed: Listed) -> Self {
        let row = listed.row;
        Self {
            number: listed.number,
            session_id: row.id.to_string(),
            title: row.title,
            goal: row.goal,
            target: row.target,
            layout: row.layout,
            workflow: row.workflow,
            worktree: row.worktree,
            lifecycle: row.lifecycle,
            status: None,
            parallel: row.parallel,
            phase: row.phase,
            phases_done: row.phases_done,
            total_phases: row.phases_total,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
            outcomes: None,
            current: false,
            machine: row.machine,
            own_words: None,
            warnings: Vec::new(),
        }
    }
}

/// Inserts sessions by time. Stored sessions keep the order of the store, which does not depend on a clock.
fn add_by_time(sessions: &mut Vec<ShortView>, mut others: Vec<ShortView>) {
    others.sort_by_key(|line| std::cmp::Reverse(line.updated_at));
    let mut others = others.into_iter().peekable();
    let mut all = Vec::with_capacity(sessions.len() + others.len());
    for known in sessions.drain(..) {
        while let Some(later) = others.next_if(|line| line.updated_at > known.updated_at) {
            all.push(later);
        }
        all.push(known);
    }
    all.extend(others);
    *sessions = all;
}

/// Returns the warnings about problems that a repair fixes.
fn needing_repair(said: &[Warning]) -> Vec<Warning> {
    said.iter().filter(|warning| warning.needs_repair()).cloned().collect()
}

/// Combines equal warnings about many sessions of a layout into one, with the number of sessions and their files.
/// Problems that a repair fixes are reported for each session.
fn said_once(odd: Vec<(String, Warning)>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    let mut counted: BTreeMap<(String, String), (usize, Vec<String>)> = BTreeMap::new();
    for (layout, warning) in odd {
        let known = warning.problem.as_ref().filter(|problem| !problem.needs_repair());
        let Some(said) = known.map(|problem| one_line(&problem.to_string(), LONGEST_WARNING)) else {
            warnings.push(warning);
            continue;
        };
        let path = warning.path.clone().unwrap_or_default();
        let (_, paths) = counted.entry((layout, said)).or_insert_with(|| {
            warnings.push(warning);
            (warnings.len() - 1, Vec::new())
        });
        paths.push(path);
    }
    for ((layout, said), (place, mut paths)) in counted.into_iter().filter(|(_, (_, paths))| paths.len() > 1)
    {
        let title = layout::by_name(&layout).map_or(layout.as_str(), |layout| layout.facts().title);
        let count = paths.len();
        paths.retain(|path| !path.is_empty());
        let more = paths.len().saturating_sub(MOST_FILES_NAMED);
        paths.truncate(MOST_FILES_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        warnings[place].message = format!("{count} sessions of {title}: {said} ({}{more})", paths.join(", "));
        warnings[place].path = None;
    }
    warnings
}
