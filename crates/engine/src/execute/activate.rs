//! Starting, resuming, switching: one session becomes the active one of its worktree, and what was active makes room.

use crate::clock::new_session_id;
use crate::definitions;
use crate::engine::Engine;
use crate::error::{Choice, Error, Result};
use crate::execute::plan::{Change, Plan, definition_row};
use crate::execute::{Answer, RevisitRequest, bounded};
use crate::query::ListRequest;
use crate::redact::{cleaned, seen};
use crate::sync::{NATIVE, Owner};
use crate::validation::{OnDiscrepancy, ask_about, is_finished};
use crate::view::ShortView;
use crate::words::one_line;
use crate::workspace;
use jiff::tz::TimeZone;
use layouts::layout::{self, Beginning, Layout, Spot};
use model::command::{self, Command, decide};
use model::event::{Event, Recorded};
use model::gate::{Given, coerce, describe, guess, shown};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::refusal::WayOn;
use model::revision::Impact;
use model::run::RunPlan;
use model::session::Session;
use model::workflow::Workflow;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use store::{Binding, Filter};

const LONGEST_TITLE: usize = 120;

/// What a new session is given.
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
}

impl Engine {
    pub fn start(&mut self, request: &StartRequest) -> Result<Answer> {
        let fingerprint = self.fingerprint("start", &format!("{request:?}"));
        let layout = foreign_layout(request.layout.as_deref())?;
        let given_id = request.id.as_deref().map(parse_id).transpose()?;
        let name = self.workflow_for(request, layout)?;
        let workflow = match layout {
            Some(layout) => definitions::of_layout(&self.project, layout, &name, request.target.as_deref())?,
            None => definitions::load(&self.project, &name)?,
        };
        let fields = read_fields(&workflow, &request.fields)?;
        let title = self.title(request, &workflow)?;
        let goal = request.goal.as_deref().map(|text| bounded("the goal", text)).transpose()?;
        let target = request.target.as_deref().map(|text| bounded("the target", text)).transpose()?;
        let mut answer = self.execute(&fingerprint, |engine| {
            let spot = layout.map(|layout| engine.new_spot(layout, request, &title)).transpose()?;
            let id = match (&spot, layout, &given_id) {
                (Some(spot), Some(layout), _) => engine.id_at(layout, spot)?,
                (_, _, Some(id)) => engine.not_taken(id)?,
                (_, _, None) => engine.unused_id()?,
            };
            let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
            plan.definitions.push(definition_row(&workflow)?);
            engine.know_definition(&workflow);
            let parallel = if request.parallel || layout.is_some_and(|layout| !layout.takes_the_worktree()) {
                engine.bind(&mut plan, &id)?;
                request.parallel
            } else {
                !engine.make_room(&mut plan, &id)?
            };
            let start = command::Start {
                id,
                title: title.clone(),
                goal: goal.clone(),
                target: target.clone(),
                layout: layout.map_or(NATIVE, |layout| layout.name()).to_owned(),
                worktree: engine.project.worktree(),
                parallel,
                fields: fields.clone(),
                path: spot.map(|spot| spot.path),
                run: RunPlan::new(&workflow, Vec::new()),
            };
            plan.subject.events = engine.started(start, &workflow)?;
            // What is called after the branch is not called after what it is about.
            if layout.is_some() || request.title.is_some() || request.goal.is_some() {
                plan.said.extend(engine.similar_to(&title, layout)?);
            }
            Ok(plan)
        })?;
        self.introduce(&answer);
        self.prepare_workspace(&workflow, &mut answer);
        Ok(answer)
    }

    /// A workflow that asks for files gets the folder for them. The session is kept already: not being able to make
    /// a folder is said, and fails nothing.
    fn prepare_workspace(&self, workflow: &Workflow, answer: &mut Answer) {
        // What a layout's sessions begin with is written with their other files.
        if layout::by_name(&answer.view.layout).is_some() {
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

    /// That an unfinished session is about much the same, for somebody who would rather go on with that one.
    fn similar_to(&self, title: &str, layout: Option<&dyn Layout>) -> Result<Option<String>> {
        /// Of many native ones, those that somebody may remember.
        const MOST: usize = 100;
        let lifecycles = Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec();
        let known: Vec<ShortView> = if layout.is_some() {
            self.lines(&ListRequest { lifecycles, ..ListRequest::default() })?.sessions
        } else {
            let worktree = Some(self.project.worktree());
            let newest = Filter { lifecycles, worktree, limit: Some(MOST), ..Filter::default() };
            self.store.list(&newest)?.into_iter().map(ShortView::from).collect()
        };
        let similar = known.into_iter().find(|line| is_similar(&line.title, title));
        Ok(similar.map(|line| {
            let title = one_line(&line.title, LONGEST_TITLE);
            format!(
                "a similar session exists: {} ({title}); go on with it: leftoff switch {}",
                line.session_id, line.session_id
            )
        }))
    }

    /// What is asked for, else what the layout's sessions follow, else what the project does.
    fn workflow_for(&self, request: &StartRequest, layout: Option<&dyn Layout>) -> Result<String> {
        let known = layout.map(Layout::workflows).unwrap_or_default();
        let name = match (&request.workflow, known.first()) {
            (Some(asked), _) => asked.as_str(),
            (None, Some(first)) => first,
            (None, None) => self.default_workflow(layout)?,
        };
        match layout {
            Some(layout) if !known.is_empty() && !known.contains(&name) => Err(Error::WrongUsage {
                message: format!("a session of {} cannot follow '{name}'", layout.title()),
                hint: format!("one of: {}", known.join(", ")),
            }),
            Some(_) | None => Ok(name.to_owned()),
        }
    }

    /// What the project's sessions follow. Where a layout has workflows of its own, which one is to be said.
    fn default_workflow(&self, layout: Option<&dyn Layout>) -> Result<&str> {
        let missing = layout.filter(|_| self.config.workflow.is_none());
        match missing.and_then(|layout| definitions::unnamed(&self.project, layout)) {
            Some(error) => Err(error),
            None => Ok(self.config.workflow()),
        }
    }

    /// Where a new session of a layout goes. Never where something is.
    fn new_spot(&self, layout: &dyn Layout, request: &StartRequest, title: &str) -> Result<Spot> {
        // A session outside of projects has the folder that was chosen when it was opened.
        if let Some(spot) = layout.spot(&self.project.worktree(), true).filter(|_| self.project.is_outside) {
            return Ok(spot);
        }
        let now = self.clock.now();
        let mut random = [0; 16];
        // Without a source of randomness a name may be taken, which is refused below.
        let _ = getrandom::fill(&mut random);
        let root = &self.project.root;
        let listed = self.listed_by_index(layout);
        // A name that is made up is nobody's: neither one of another worktree, nor one of which only a line is left.
        let is_anothers = |path: &str| {
            let spot = layout.spot(path, true).filter(|_| request.id.is_none());
            spot.is_some_and(|spot| {
                listed.contains(&spot.id) || self.store.load(&spot.id).is_ok_and(|found| found.is_some())
            })
        };
        let spot = layout
            .begin(&Beginning {
                id: request.id.as_deref(),
                title,
                today: now.to_zoned(TimeZone::system()).date(),
                now,
                branch: self.project.branch().as_deref(),
                is_taken: &|path| root.join(path).symlink_metadata().is_ok() || is_anothers(path),
                random,
            })
            .map_err(|message| Error::WrongUsage { message, hint: "see: leftoff start --help".to_owned() })?;
        if root.join(&spot.path).symlink_metadata().is_ok() && !self.is_empty_place(layout, &spot) {
            return Err(self.taken(&spot.id));
        }
        Ok(spot)
    }

    /// A new session's events; phases whose `when` does not hold are passed over from the beginning.
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

    /// Goes on with a session: the one named, else the one that was paused last.
    /// When it is not as it was left, `on` says what then.
    pub fn resume(&mut self, asked: Option<&str>, on: OnDiscrepancy) -> Result<Answer> {
        let fingerprint = self.fingerprint("resume", &format!("{asked:?}"));
        let answer = self.execute(&fingerprint, |engine| {
            let subject = engine.resumable(asked, on)?;
            engine.activate(&subject, on)
        })?;
        self.introduce(&answer);
        Ok(answer)
    }

    /// Makes another session the active one. It must be named.
    pub fn switch(&mut self, asked: &str) -> Result<Answer> {
        let fingerprint = self.fingerprint("switch", asked);
        let answer = self.execute(&fingerprint, |engine| {
            let subject = engine.resolve(asked)?;
            engine.activate(&subject, OnDiscrepancy::GoOn)
        })?;
        self.introduce(&answer);
        Ok(answer)
    }

    pub(super) fn activate(&mut self, id: &SessionId, on: OnDiscrepancy) -> Result<Plan> {
        self.activate_by(id, on, |worktree, parallel| Command::Resume { worktree, parallel })
    }

    /// Makes a session the active one by a command that says where, and whether beside another.
    pub(super) fn activate_by(
        &mut self,
        id: &SessionId,
        on: OnDiscrepancy,
        command: impl Fn(String, bool) -> Command,
    ) -> Result<Plan> {
        let subject = self.take_up(id)?;
        let session = &subject.session;
        self.refuse_work_elsewhere(session)?;
        let worktree = self.project.worktree();
        let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
        if session.worktree != worktree {
            plan.said.push(format!(
                "it comes from another worktree; its files stay there: {}",
                self.workspace(session).display()
            ));
        }
        // Decided before anything else makes room: a refusal must change nothing.
        let mut events = decide(session, command(worktree.clone(), session.parallel))?;
        if !events.is_empty() {
            let back = self.checked(session, on)?;
            let parallel = !self.make_room(&mut plan, id)?;
            events = decide(session, command(worktree, parallel))?;
            if let Some(request) = back {
                let mut resumed = session.clone();
                resumed.lifecycle = Lifecycle::Active;
                let worked_out = self.work_out(&resumed, &request)?;
                events.extend(worked_out.events);
                plan.items = Some(worked_out.items);
                plan.operation = worked_out.operation;
                plan.said.extend(worked_out.preview.warnings);
            }
        }
        if events.is_empty() {
            // It is the active one already; from now on it is what this agent means.
            self.bind(&mut plan, id)?;
        }
        plan.subject = subject.change(events);
        Ok(plan)
    }

    /// Whether a session is as it was left; if it is to go back to a phase for that, how.
    fn checked(&self, session: &Session, on: OnDiscrepancy) -> Result<Option<RevisitRequest>> {
        if on == OnDiscrepancy::GoOn {
            return Ok(None);
        }
        let found = self.discrepancies(session)?;
        if on == OnDiscrepancy::Ask && !found.is_empty() {
            return Err(ask_about(session, &found));
        }
        // What concerns no finished phase is mended where the work goes on anyway.
        let concerned = found.iter().find_map(|found| {
            let phase = found.phase.as_ref().filter(|phase| is_finished(session, phase))?;
            Some((phase, &found.message))
        });
        Ok(concerned.map(|(phase, message)| RevisitRequest {
            phase: phase.to_string(),
            impact: Some(Impact::Minor),
            reason: message.clone(),
            affects: Vec::new(),
        }))
    }

    /// A finished session that begins another run is active again, here, and takes the place of what was.
    pub(super) fn active_again(&self, plan: &mut Plan, subject: &SessionId) -> Result<()> {
        let Some(session) = plan.subject.before.clone() else { return Ok(()) };
        let here = self.project.worktree();
        if session.worktree != here && has_files_elsewhere(&session) {
            return Ok(());
        }
        let parallel = !self.make_room(plan, subject)?;
        let worktree = here;
        let stays = session.worktree == worktree && session.parallel == parallel;
        let resumed = |event: &Event| matches!(event, Event::SessionResumed { .. });
        if !stays || plan.subject.events.iter().any(resumed) {
            plan.subject.events.retain(|event| !resumed(event));
            plan.subject.events.insert(0, Event::SessionResumed { worktree, parallel });
        }
        Ok(())
    }

    /// Pauses what is active here, unless another live agent works on it: then the newcomer stands beside it.
    /// Tells whether there is room for a session that is not parallel.
    pub(super) fn make_room(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<bool> {
        self.bind(plan, newcomer)?;
        let agent = self.asking_agent()?;
        // An id in other case is the same one to the store, which refuses it.
        let is_newcomer = |id: &SessionId| id.as_str().eq_ignore_ascii_case(newcomer.as_str());
        let Some(active) = self.store.active(&self.project.worktree())?.filter(|id| !is_newcomer(id)) else {
            self.pause_foreign(plan, newcomer)?;
            return Ok(true);
        };
        let others = self.other_live_agents(agent.as_ref())?;
        if let Some(worker) = others.iter().find(|row| row.session.as_ref() == Some(&active)) {
            plan.said.push(format!(
                "{active} goes on beside it: {} {} works on it",
                worker.agent,
                worker.agent_session.chars().take(8).collect::<String>()
            ));
            return Ok(false);
        }
        let change = self.paused(plan, &active)?;
        plan.others.push(change);
        self.pause_foreign(plan, newcomer)?;
        Ok(true)
    }

    /// An agent that came before there was a store could not be noted then, and its binding knows no process;
    /// others must see that it works here.
    fn introduce(&mut self, answer: &Answer) {
        // One from afar has no process here.
        let asking = self.asking_agent().ok().flatten().filter(|_| !self.options.from_afar);
        let Some(identity) = asking else { return };
        let row = self.store.agent(&identity.agent, &identity.id);
        let has_a_process = row.is_ok_and(|row| row.is_some_and(|row| row.pid != 0));
        if !has_a_process && let Ok(session) = SessionId::parse(&answer.view.session_id) {
            // The command is done, whatever becomes of this.
            let _ = self.greet(&identity, Some(session), None, self.patience);
        }
    }

    /// The asking agent works on this session from now on.
    fn bind(&self, plan: &mut Plan, session: &SessionId) -> Result<()> {
        let Some(identity) = self.asking_agent()? else { return Ok(()) };
        let known = self.store.agent(&identity.agent, &identity.id)?.and_then(|row| row.session);
        if known.as_ref() != Some(session) {
            plan.bindings.push(Binding {
                agent: identity.agent,
                agent_session: identity.id,
                session: session.clone(),
            });
        }
        Ok(())
    }

    fn resumable(&self, asked: Option<&str>, on: OnDiscrepancy) -> Result<SessionId> {
        if let Some(asked) = asked.or(self.options.session.as_deref()) {
            return self.resolve(asked);
        }
        if let Some(bound) = self.open_bound_session()? {
            return Ok(bound);
        }
        let worktree = self.project.worktree();
        if let Some(active) = self.store.active(&worktree)? {
            return Ok(active);
        }
        if let Some(active) = self.active_foreign() {
            return Ok(active);
        }
        let waiting = self.waiting()?.or_else(|| self.current_foreign(false));
        match waiting {
            Some(waiting) => {
                if on == OnDiscrepancy::Ask {
                    self.refuse_to_choose(&waiting)?;
                }
                Ok(waiting)
            }
            None => Err(Error::NothingPaused { worktree, there_are: self.some_here()? }),
        }
    }

    /// Where a session's own tool lists those that could be gone on with and has its user select one, so do we.
    fn refuse_to_choose(&self, waiting: &SessionId) -> Result<()> {
        let known = self.store.load(waiting)?.map(|found| found.row.layout);
        // One that nobody has taken in is in no index: all layouts are asked.
        let is_meant = |layout: &&&dyn Layout| known.as_ref().is_none_or(|known| known == layout.name());
        let mut layouts = layout::all().iter().filter(is_meant);
        layouts.try_for_each(|layout| self.have_selected(*layout, waiting))
    }

    /// Stops until a person has selected one of several paused sessions of this layout, of which this is one.
    fn have_selected(&self, layout: &dyn Layout, waiting: &SessionId) -> Result<()> {
        let Some(heading) = layout.heading() else { return Ok(()) };
        let (lifecycles, layout) = (vec!["paused".to_owned()], Some(layout.name().to_owned()));
        let found = self.lines(&ListRequest { lifecycles, layout, search: None })?.sessions;
        if found.len() < 2 || !found.iter().any(|line| line.session_id == waiting.as_str()) {
            return Ok(());
        }
        let choice = |(line, place): (&ShortView, u32)| Choice {
            key: place.to_string(),
            words: line.own_words.clone().unwrap_or_else(|| line.session_id.clone()),
            command: format!("leftoff resume {}", line.session_id),
            session: line.session_id.clone(),
            phase: None,
        };
        let choices = found.iter().zip(1..).map(choice).collect();
        Err(Error::NeedsChoice { question: heading.to_owned(), choices })
    }

    /// The sessions of this worktree with how each stands, those that changed last.
    fn some_here(&self) -> Result<Vec<String>> {
        const MOST_TOLD: usize = 5;
        let mut lines: Vec<ShortView> = self.own_lines()?.into_iter().map(|(line, _)| line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.updated_at));
        let told = lines.iter().map(|line| format!("{} ({})", line.session_id, line.lifecycle));
        Ok(told.take(MOST_TOLD).collect())
    }

    /// A session that an agent works on in another worktree is not pulled away from it.
    fn refuse_work_elsewhere(&self, session: &Session) -> Result<()> {
        if session.worktree == self.project.worktree() {
            return Ok(());
        }
        if has_files_elsewhere(session) {
            return Err(Error::FilesElsewhere {
                session: session.id.to_string(),
                worktree: session.worktree.clone(),
            });
        }
        if session.lifecycle.name() != "active" {
            return Ok(());
        }
        let rows = self.store.agents(Some(&session.worktree))?;
        let worker = rows.iter().find(|row| row.session.as_ref() == Some(&session.id) && self.lives(row));
        match worker {
            None => Ok(()),
            Some(row) => Err(Error::ActiveElsewhere {
                session: session.id.to_string(),
                worktree: session.worktree.clone(),
                agent: row.agent.clone(),
            }),
        }
    }

    /// Ids that differ only in case would be one folder on some disks. Looked up before anything makes room.
    fn not_taken(&self, id: &SessionId) -> Result<SessionId> {
        let nearest = self.store.with_prefix(id.as_str(), 1)?.pop();
        match nearest.filter(|existing| existing.as_str().eq_ignore_ascii_case(id.as_str())) {
            Some(existing) => Err(self.taken(&existing)),
            None => Ok(id.clone()),
        }
    }

    /// The id of a new session in this place: the place's own, unless another worktree has a session of that name.
    fn id_at(&self, layout: &dyn Layout, spot: &Spot) -> Result<SessionId> {
        match self.owner(layout, spot, true)? {
            Owner::Nobody(id) if id == spot.id => self.not_taken(&id),
            Owner::Nobody(id) => Ok(id),
            Owner::Ours(id) => Err(self.taken(&id)),
        }
    }

    /// That an id is taken, and how whoever has it is gone on with.
    fn taken(&self, id: &SessionId) -> Error {
        let way_on = match self.load(id) {
            Ok((_, session)) => WayOn::from(&session.lifecycle),
            // Something else stands there.
            Err(_) => WayOn::NewSession,
        };
        Error::IdTaken { existing: id.to_string(), way_on }
    }

    fn unused_id(&self) -> Result<SessionId> {
        loop {
            let id = new_session_id();
            if self.store.load(&id)?.is_none() {
                return Ok(id);
            }
        }
    }

    /// What was given, else the goal, else the branch, else the workflow.
    fn title(&self, request: &StartRequest, workflow: &Workflow) -> Result<String> {
        if let Some(title) = request.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
            return bounded("the title", title);
        }
        let goal = request.goal.as_deref().map(|goal| one_line(&cleaned(goal), LONGEST_TITLE));
        Ok(goal
            .filter(|goal| !goal.is_empty())
            .or_else(|| self.project.branch())
            .unwrap_or_else(|| workflow.title.clone()))
    }
}

/// Files belong to one worktree: a session that is kept in them is not moved to another, as long as that is there.
fn has_files_elsewhere(session: &Session) -> bool {
    session.layout != NATIVE && std::path::Path::new(&session.worktree).is_dir()
}

/// Two titles that share half of their words, and two at least where both have as many: `Add CSV export` and `CSV export
/// adding`. A word is another form of one that it begins with.
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

/// The layout that is asked for; none for a native session.
pub(crate) fn foreign_layout(asked: Option<&str>) -> Result<Option<&'static dyn Layout>> {
    let Some(asked) = asked.filter(|asked| *asked != NATIVE) else { return Ok(None) };
    let names: Vec<&str> = layout::all().iter().map(|layout| layout.name()).collect();
    match layout::by_name(asked) {
        Some(found) => Ok(Some(found)),
        None => Err(Error::WrongUsage {
            message: format!("there is no layout '{asked}'"),
            hint: format!("one of: native, {}", names.join(", ")),
        }),
    }
}

/// Free fields: what was given, checked against what the workflow declares, with its defaults.
fn read_fields(workflow: &Workflow, given: &BTreeMap<String, Given>) -> Result<BTreeMap<String, Value>> {
    let mut fields: BTreeMap<String, Value> = workflow
        .fields
        .iter()
        .filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)))
        .collect();
    fields.extend(check_fields(workflow, given)?);
    Ok(fields)
}

/// Free fields that were given, checked against what the workflow declares.
pub(super) fn check_fields(
    workflow: &Workflow,
    given: &BTreeMap<String, Given>,
) -> Result<BTreeMap<String, Value>> {
    let checked = |(name, value)| Ok((String::clone(name), check_field(workflow, name, value)?));
    given.iter().map(checked).collect()
}

fn check_field(workflow: &Workflow, name: &str, value: &Given) -> Result<Value> {
    let Some(field) = workflow.fields.get(name) else { return Ok(guess(value)) };
    let typed = coerce(field.value_type, value).map_err(|value| {
        let instead = describe(&value, &seen(name, &value));
        wrong_field(name, &format!("must be {}, got: {instead}", field.value_type.name()))
    })?;
    if !field.one_of.is_empty() && !field.one_of.contains(&typed) {
        let allowed: Vec<String> = field.one_of.iter().map(shown).collect();
        return Err(wrong_field(name, &format!("must be one of {}", allowed.join(", "))));
    }
    Ok(typed)
}

fn wrong_field(name: &str, message: &str) -> Error {
    Error::WrongUsage {
        message: format!("field '{name}' {message}"),
        hint: "see what the workflow declares: leftoff workflow show".to_owned(),
    }
}
