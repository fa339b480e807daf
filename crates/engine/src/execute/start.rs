//! Starts a session: chooses its workflow, place, id and title.

mod layout;

pub(crate) use layout::foreign_layout;

use self::layout::refuse_parallel;
use crate::NATIVE;
use crate::clock::new_session_id;
use crate::definitions;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::fields::read_fields;
use crate::execute::plan::{Change, Plan, definition_row};
use crate::execute::{Answer, bounded};
use crate::foreign::Owner;
use crate::listing::ListRequest;
use crate::redact::cleaned;
use crate::view::ShortView;
use crate::words::one_line;
use crate::workspace;
use jiff::tz::TimeZone;
use layouts::layout::{Layout, NewSession, Occasion, Spot};
use model::command::{self};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::refusal::WayOn;
use model::run::RunPlan;
use model::session::Session;
use model::typed_value::Given;
use model::words;
use model::workflow::Workflow;
use std::collections::{BTreeMap, BTreeSet};
use store::Filter;

const LONGEST_TITLE: usize = 120;
/// The reason recorded for a session that starts paused.
const CREATED: &str = "created, not started yet";

/// Input for a new session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StartRequest {
    pub workflow: Option<String>,
    pub title: Option<String>,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub id: Option<String>,
    pub layout: Option<String>,
    pub fields: BTreeMap<String, Given>,
    pub parallel: bool,
    /// True to start the session as paused. The active session then stays active.
    pub paused: bool,
}

impl Engine {
    pub(crate) fn start(&mut self, request: &StartRequest) -> Result<Answer> {
        let fingerprint = self.fingerprint("start", &format!("{request:?}"));
        let chosen = self.layout_for(request)?;
        let layout = chosen.layout;
        refuse_parallel(request, layout)?;
        let given_id = request.id.as_deref().map(parse_id).transpose()?;
        let name = self.workflow_for(request, layout)?;
        let workflow = match layout {
            Some(layout) => definitions::of_layout(&self.project, layout, &name, request.target.as_deref())?,
            None => definitions::load(&self.project, &name)?,
        };
        let fields = read_fields(&workflow, &request.fields)?;
        let title = self.title(request, &workflow, layout)?;
        let goal = request.goal.as_deref().map(|text| bounded("the goal", text)).transpose()?;
        if goal.as_ref().is_some_and(|goal| goal.trim().is_empty()) {
            return Err(Error::WrongUsage {
                message: "the goal is empty".to_owned(),
                hint: Hint::new("say what the work should achieve: ")
                    .run(words!["start", "--goal", "<goal>"]),
            });
        }
        let target = request.target.as_deref().map(|text| bounded("the target", text)).transpose()?;
        let started = self.in_turn(&fingerprint, |engine| {
            let spot = layout.map(|layout| engine.new_spot(layout, request, &title)).transpose()?;
            let id = match (&spot, layout, &given_id) {
                (Some(spot), Some(layout), _) => engine.id_at(layout, spot)?,
                (_, _, Some(id)) => engine.not_taken(id)?,
                (_, _, None) => engine.unused_id()?,
            };
            let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
            plan.definitions.push(definition_row(&workflow)?);
            plan.said.extend(chosen.said.clone());
            engine.know_definition(&workflow);
            let parallel = if request.paused {
                false
            } else if request.parallel {
                engine.bind(&mut plan, &id)?;
                true
            } else {
                let is_alone = engine.make_room(&mut plan, &id)?;
                // In layouts that are not exclusive, several sessions can be active anyway, so none of them is
                // parallel.
                !is_alone && layout.is_none_or(|layout| layout.facts().exclusive)
            };
            let own_id = id.clone();
            let start = command::Start {
                id,
                title: title.clone(),
                goal: goal.clone(),
                target: target.clone(),
                layout: layout.map_or(NATIVE, |layout| layout.facts().name).to_owned(),
                worktree: engine.project.worktree(),
                parallel,
                fields: fields.clone(),
                path: spot.map(|spot| spot.path),
                run: RunPlan::new(&workflow, Vec::new()),
            };
            plan.subject.events = engine.started(start, &workflow)?;
            if request.paused {
                let reason = CREATED.to_owned();
                plan.subject.events.push(Event::SessionPaused { reason, context: None, saved: Vec::new() });
            }
            // A session without title and goal is named after its branch. Such titles are similar by chance, so none is
            // suggested.
            if layout.is_some() || request.title.is_some() || request.goal.is_some() {
                plan.said.extend(engine.similar_to(&own_id, &title, layout)?);
            }
            Ok(plan)
        });
        let mut answer = started.map_err(|error| self.offering_run(error, layout, &workflow))?;
        self.introduce(&answer);
        self.prepare_workspace(&workflow, &mut answer);
        Ok(answer)
    }

    /// Creates the folder of a session, if its workflow has files. The session is already stored, so an error is only
    /// reported.
    fn prepare_workspace(&self, workflow: &Workflow, answer: &mut Answer) {
        // The initial files of a session in another tool's layout are published together with its other files.
        if layouts::layout::by_name(&answer.view.layout).is_some() {
            return;
        }
        if workflow.phases.iter().all(|phase| phase.produces.is_empty()) {
            return;
        }
        let Ok(id) = SessionId::parse(&answer.view.session_id) else { return };
        if let Err(error) = workspace::make(&self.project.root, &id) {
            answer.said.push(error.to_string());
        }
    }

    /// Suggests an unfinished session with a similar title.
    fn similar_to(
        &self,
        own: &SessionId,
        title: &str,
        layout: Option<&dyn Layout>,
    ) -> Result<Option<String>> {
        /// The maximum number of recent native sessions to compare. Nobody remembers older ones.
        const MOST: usize = 100;
        let lifecycles = Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec();
        let known: Vec<ShortView> = if layout.is_some() {
            self.lines(&ListRequest { lifecycles, ..ListRequest::default() })?.sessions
        } else {
            let worktree = Some(self.project.worktree());
            let newest = Filter { lifecycles, worktree, limit: Some(MOST), ..Filter::default() };
            self.store.list(&newest)?.into_iter().map(ShortView::from).collect()
        };
        let is_another = |line: &ShortView| line.session_id != own.as_str() && is_similar(&line.title, title);
        let similar = known.into_iter().find(|line| is_another(line) && self.can_go_on_here(line));
        Ok(similar.map(|line| {
            let title = one_line(&line.title, LONGEST_TITLE);
            format!(
                "a similar session exists: {} ({title}); continue that session: leftoff switch {}",
                line.session_id, line.session_id
            )
        }))
    }

    /// True if a session can be continued here: its files are in this worktree, and its position is known.
    fn can_go_on_here(&self, line: &ShortView) -> bool {
        let is_here = line.layout == NATIVE || line.worktree == self.project.worktree();
        is_here && (line.layout == NATIVE || self.says_where_it_stands(&line.session_id))
    }

    /// Returns the name of the workflow: the requested one, else the layout's default, else the project's default.
    fn workflow_for(&self, request: &StartRequest, layout: Option<&dyn Layout>) -> Result<String> {
        let known = layout.map(|layout| layout.facts().workflows).unwrap_or_default();
        let name = match (&request.workflow, known.first()) {
            (Some(asked), _) => asked.as_str(),
            (None, Some(first)) => {
                let configured = self.config.workflow.as_deref().filter(|name| known.contains(name));
                configured.unwrap_or(first)
            }
            (None, None) => &self.default_workflow(layout)?,
        };
        match layout {
            Some(layout) if !known.is_empty() && !known.contains(&name) => Err(Error::WrongUsage {
                message: format!("a session of {} cannot follow '{name}'", layout.facts().title),
                hint: format!("it can follow {}", known.join(", ")).into(),
            }),
            Some(_) | None => Ok(name.to_owned()),
        }
    }

    /// Returns the project's default workflow. If the layout has several workflows of its own, fails: one must be
    /// named.
    fn default_workflow(&self, layout: Option<&dyn Layout>) -> Result<String> {
        let missing = layout.filter(|_| self.config.workflow.is_none());
        if let Some(only) = missing.and_then(|layout| definitions::only_one(&self.project, layout)) {
            return Ok(only);
        }
        match missing.and_then(|layout| definitions::unnamed(&self.project, layout)) {
            Some(error) => Err(error),
            None => Ok(self.config.workflow().to_owned()),
        }
    }

    /// Returns a place in a layout where no session exists yet, for a new session.
    fn new_spot(&self, layout: &dyn Layout, request: &StartRequest, title: &str) -> Result<Spot> {
        // A session outside any project uses the folder in which the command was called.
        if let Some(spot) =
            layout.identify(&self.project.worktree(), true).filter(|_| self.project.is_outside)
        {
            return Ok(spot);
        }
        let now = self.clock.now();
        let mut random = [0; 16];
        // Without random numbers, the name may already be taken. It is then refused below.
        let _ = getrandom::fill(&mut random);
        let root = &self.project.root;
        let listed = self.listed_by_registry(layout);
        // A generated name must not belong to a session in another worktree, and must not be in a registry.
        let is_anothers = |path: &str| {
            let spot = layout.identify(path, true).filter(|_| request.id.is_none());
            spot.is_some_and(|spot| {
                listed.contains(&spot.id) || self.store.load(&spot.id).is_ok_and(|found| found.is_some())
            })
        };
        let branch = self.project.branch();
        let today = now.to_zoned(TimeZone::system()).date();
        let occasion = Occasion { title, today, now, branch: branch.as_deref(), random };
        let is_taken = |path: &str| root.join(path).symlink_metadata().is_ok() || is_anothers(path);
        let placed = layout.place(&NewSession::new(request.id.as_deref(), occasion, &is_taken));
        let spot = placed.map_err(|why| Error::WrongUsage {
            message: why.to_string(),
            hint: Hint::new("see: ").run(words!["start", "--help"]),
        })?;
        if root.join(&spot.path).symlink_metadata().is_ok() && !self.is_empty_place(layout, &spot) {
            return Err(self.taken(&spot.id));
        }
        Ok(spot)
    }

    /// Returns the events of a new session. Phases whose `when` is false are skipped.
    fn started(&self, mut start: command::Start, workflow: &Workflow) -> Result<Vec<Event>> {
        let events = command::start(start.clone());
        if workflow.phases.iter().all(|phase| phase.when.is_none()) {
            return Ok(events);
        }
        let actor = self.actor(None);
        let at = self.clock.now();
        let recorded: Vec<Recorded> = events
            .into_iter()
            .zip(1..)
            .map(|(event, version)| Recorded { version, at, actor: actor.clone(), event })
            .collect();
        let skips = Session::fold(&recorded).map(|session| self.skips(&session, workflow));
        start.run.skips = skips.unwrap_or_default();
        Ok(command::start(start))
    }

    /// Refuses an id that differs from an existing one only in case, because on some disks both would be the same
    /// folder. Must be called before the active session is paused.
    fn not_taken(&self, id: &SessionId) -> Result<SessionId> {
        let nearest = self.store.with_prefix(id.as_str(), 1)?.pop();
        match nearest.filter(|existing| existing.as_str().eq_ignore_ascii_case(id.as_str())) {
            Some(existing) => Err(self.taken(&existing)),
            None => Ok(id.clone()),
        }
    }

    /// Returns the id of a new session in this place. It is that of the place, or another one if a session in another
    /// worktree has that id.
    fn id_at(&self, layout: &dyn Layout, spot: &Spot) -> Result<SessionId> {
        match self.owner(layout, spot, true)? {
            Owner::Nobody(id) if id == spot.id => self.not_taken(&id),
            Owner::Nobody(id) => Ok(id),
            Owner::Ours(id) => Err(self.taken(&id)),
        }
    }

    /// Returns the error that an id is taken. It says how to continue the session that has the id.
    fn taken(&self, id: &SessionId) -> Error {
        let way_on = match self.load(id) {
            Ok((_, session)) => WayOn::from(&session.lifecycle),
            // There is no readable session in this place that could be continued.
            Err(_) => WayOn::NewSession,
        };
        Error::IdTaken { existing: id.to_string(), way_on, run: None }
    }

    /// If the id belongs to a session of this layout that follows another workflow, adds to the error that the
    /// requested workflow can start there as a run.
    fn offering_run(&self, error: Error, layout: Option<&dyn Layout>, workflow: &Workflow) -> Error {
        let Error::IdTaken { existing, way_on: way_on @ (WayOn::Resume | WayOn::NextRun), run: None } = error
        else {
            return error;
        };
        let session = SessionId::parse(&existing).ok().and_then(|id| Some(self.load(&id).ok()?.1));
        let is_of_layout =
            |session: &Session| layout.is_some_and(|layout| layout.facts().name == session.layout);
        let follows_another =
            |session: &Session| session.run().is_some_and(|run| run.workflow.name != workflow.name);
        let offered = session.filter(|session| is_of_layout(session) && follows_another(session));
        Error::IdTaken { existing, way_on, run: offered.map(|_| workflow.name.to_string()) }
    }

    fn unused_id(&self) -> Result<SessionId> {
        loop {
            let id = new_session_id();
            if self.store.load(&id)?.is_none() {
                return Ok(id);
            }
        }
    }

    /// Returns the title of a new session: the given one, else the goal, else the target (in layouts that use targets),
    /// else the branch, else the workflow.
    fn title(
        &self,
        request: &StartRequest,
        workflow: &Workflow,
        layout: Option<&dyn Layout>,
    ) -> Result<String> {
        if let Some(title) = request.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
            return bounded("the title", title);
        }
        let goal = request.goal.as_deref().map(|goal| one_line(&cleaned(goal), LONGEST_TITLE));
        let about = || {
            layout.filter(|layout| layout.facts().titled_by_target)?;
            let name = request.target.as_deref()?.trim_end_matches('/').rsplit('/').next()?;
            Some(name.to_owned()).filter(|name| !name.is_empty())
        };
        Ok(goal
            .filter(|goal| !goal.is_empty())
            .or_else(about)
            .or_else(|| self.project.branch())
            .unwrap_or_else(|| workflow.title.clone()))
    }
}

/// True if two titles share at least two words, and at least half of the words of the longer one, like `Add CSV export`
/// and `CSV export adding`. Two words count as the same if one begins like the other.
fn is_similar(one: &str, other: &str) -> bool {
    const SMALL: [&str; 6] = ["the", "and", "for", "with", "from", "into"];
    let words = |text: &str| -> BTreeSet<String> {
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric());
        words
            .filter(|word| word.chars().count() > 2 && !SMALL.contains(word))
            .map(ToOwned::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    let is_same = |a: &String, b: &String| a.starts_with(b.as_str()) || b.starts_with(a.as_str());
    let shared = one.iter().filter(|word| other.iter().any(|other| is_same(word, other))).count();
    let all = (one.len() + other.len()).saturating_sub(shared);
    shared > 0 && shared * 2 >= all && (shared > 1 || all == 1)
}

fn parse_id(text: &str) -> Result<SessionId> {
    SessionId::parse(text).map_err(|why| Error::InvalidSessionId { asked: text.to_owned(), why })
}
