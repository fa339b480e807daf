//! Commands about items. Each command loads only the items that its decision needs, within this process's turn to
//! write.

mod dropping;
mod holders_and_files;
mod load;
mod renamed;
mod request;
mod spelling;
mod tasks;

pub use request::{ItemAdd, ItemRequest, ItemSetting};
pub(crate) use tasks::{CLAIMED, LISTED_AS};
pub use tasks::{FROM, FoundList};

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::fields::check_fields;
use crate::execute::placeholder::refuse_placeholder;
use crate::execute::plan::Plan;
use crate::execute::set::refuse_no_fields;
use crate::execute::{Answer, bounded};
use crate::items::read_item;
use crate::policy::Signature;
use dropping::refuse_dropping_in_files;
use layouts::capabilities::{FieldOf, ItemHome};
use layouts::layout;
use load::Loading;
use model::actor::Actor;
use model::command::items::{AddItem, Context, ItemCommand, ItemEdit, decide, renewals, set_aside};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::{InvalidId, ItemId, Name};
use model::item::ItemBook;
use model::refusal::{ItemRefusal, Refusal};
use model::session::Session;
use model::typed_value::Given;
use model::words;
use model::workflow::PhaseDefinition;
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum length of a title. A title must fit on one line of a list.
const LONGEST_TITLE: usize = 500;
/// The kind of an item if neither the command nor the phase names one.
const USUAL_KIND: &str = "task";

/// A command about items, before the items are loaded.
enum Asked {
    Add(ItemAdd),
    Claim { id: Option<ItemId>, seconds: u64 },
    Set { id: ItemId, setting: ItemSetting },
    Known(ItemCommand),
}

impl Engine {
    fn item_command(&mut self, name: &'static str, command: ItemCommand) -> Result<Answer> {
        let arguments = format!("{command:?}");
        self.item_change(name, &arguments, &Asked::Known(command))
    }

    fn item_change(&mut self, name: &'static str, arguments: &str, asked: &Asked) -> Result<Answer> {
        let fingerprint = self.fingerprint(name, arguments);
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| engine.item_plan(asked, signature))
        })
    }

    fn item_plan(&mut self, asked: &Asked, signature: Option<&Signature>) -> Result<Plan> {
        let id = self.select(Want::Unfinished)?;
        let subject = self.load_subject_from_afar(&id)?;
        let session = &subject.session;
        if let Asked::Set { setting, .. } = asked {
            refuse_no_fields(session, FieldOf::Item, &setting.fields)?;
        }
        let actor = self.asking_actor()?;
        let mut loading = Loading::new(self, session)?;
        let command = self.item_asked(asked, session, &actor, &mut loading)?;
        let command = loading.in_known_spelling(command);
        loading.what_is_needed_by(&command)?;
        let book = loading.book;
        let item = named(&command).clone();
        let now = self.clock.now();
        let (gone, seen) = (self.gone_holders(&book), self.holders_at_work(&book));
        let completes = matches!(command, ItemCommand::Complete { .. });
        let drops = matches!(command, ItemCommand::Drop { .. });
        let context = Context { session, book: &book, actor: &actor, now, gone: &gone, seen: &seen };
        if completes {
            self.refuse_unsplit(session, book.get(&item))?;
        }
        if drops {
            refuse_dropping_in_files(session, &item)?;
        }
        let events = decide(&context, command)?;
        let signed = match book.get(&item).filter(|_| drops && !events.is_empty()) {
            Some(item) => self.authorise_drop(session, item, signature)?,
            None => None,
        };
        let without = if completes { self.without_its_file(session, book.get(&item)) } else { None };
        let mut plan = Plan::of(subject.change(signed.into_iter().chain(events).collect()));
        plan.said.extend(without);
        plan.items = Some(book);
        plan.item = Some(item);
        Ok(plan)
    }

    fn item_asked(
        &self,
        asked: &Asked,
        session: &Session,
        actor: &Actor,
        loading: &mut Loading<'_>,
    ) -> Result<ItemCommand> {
        match asked {
            Asked::Known(command) => Ok(command.clone()),
            Asked::Claim { id: Some(id), seconds } => {
                Ok(ItemCommand::Claim { id: id.clone(), seconds: *seconds })
            }
            Asked::Claim { id: None, seconds } => match self.first_ready(session, actor)? {
                Some(id) => Ok(ItemCommand::Claim { id, seconds: *seconds }),
                None => Err(nothing_ready(session)),
            },
            Asked::Add(request) => self.item_to_add(request, session, loading).map(ItemCommand::Add),
            Asked::Set { id, setting } => {
                let edit = ItemEdit {
                    title: setting.title.as_deref().map(titled).transpose()?,
                    order: setting.order,
                    fields: self.fields_of_item(session, &setting.fields)?,
                    counters: setting.counters.clone(),
                    needs: parse_all(&setting.needs)?,
                    no_longer: parse_all(&setting.no_longer)?,
                };
                Ok(ItemCommand::Set { id: id.clone(), edit })
            }
        }
    }

    fn item_to_add(
        &self,
        request: &ItemAdd,
        session: &Session,
        loading: &mut Loading<'_>,
    ) -> Result<AddItem> {
        let parent = request.parent.as_deref().map(parse).transpose()?;
        let parent = match &parent {
            Some(id) => {
                let id = loading.known(id);
                loading.item(&id)?;
                loading.book.get(&id).cloned()
            }
            None => None,
        };
        let home = home_by_id(session, request);
        let asked_kind =
            request.kind.as_deref().or(home.map(|home| home.kind)).map(kind_named).transpose()?;
        let asked_phase = request.phase.as_deref().or(home.map(|home| home.phase));
        let home = self.home_of(session, asked_phase, asked_kind.as_ref())?;
        let declared = home.items.as_deref().and_then(|kind| Name::parse(kind).ok());
        let kind = asked_kind
            .or_else(|| parent.as_ref().map(|parent| parent.kind.clone()))
            .or(declared)
            .map_or_else(|| kind_named(USUAL_KIND), Ok)?;
        let id = match (&request.id, &parent) {
            (Some(id), _) => parse(id)?,
            (None, Some(parent)) => loading.free_id(parent.parts, |number| parent.id.part(number))?,
            (None, None) => {
                loading.free_id(session.items_added, |number| ItemId::parse(&format!("{kind}-{number}")))?
            }
        };
        Ok(AddItem {
            id,
            kind,
            title: titled(&request.title)?,
            // No phase is named for a part, so that the model uses the phase of its container. The model also refuses
            // an unknown phase.
            phase: request.phase.clone().or_else(|| parent.is_none().then(|| home.phase.to_string())),
            parent: request.parent.as_deref().map(parse).transpose()?,
            needs: parse_all(&request.needs)?,
            fields: self.fields_of_item(session, &request.fields)?,
        })
    }

    fn fields_of_item(
        &self,
        session: &Session,
        given: &BTreeMap<String, Given>,
    ) -> Result<BTreeMap<String, Value>> {
        if let Some(name) = [CLAIMED, LISTED_AS].into_iter().find(|name| given.contains_key(*name)) {
            return Err(Error::WrongUsage {
                message: format!("'{name}' cannot be set: only importing a task list sets it"),
                hint: "import the list again, or use another name".into(),
            });
        }
        check_fields(&*self.definition_of(session)?, given)
    }

    /// Returns the phase of a new item: the requested one; else the current one; else the first later phase for items
    /// of this kind.
    fn home_of(&self, session: &Session, asked: Option<&str>, kind: Option<&Name>) -> Result<Home> {
        let definition = self.definition_of(session)?;
        let items_of =
            |phase: &Name| definition.phase(phase.as_str()).and_then(|defined| defined.items.clone());
        let takes = |defined: &PhaseDefinition| match (&defined.items, kind) {
            (Some(items), Some(kind)) => *items == kind.as_str(),
            (Some(_), None) => true,
            (None, _) => false,
        };
        let Some(run) = session.run() else {
            return Err(Error::NoSession { worktree: self.project.worktree() });
        };
        let current = run.current().id();
        let phase = match asked.and_then(|text| run.resolve(text)) {
            Some(phase) => phase.id(),
            None => run
                .phases
                .iter()
                .skip(run.position(current.as_str()).unwrap_or_default())
                .filter(|phase| !phase.is_done())
                .map(model::phase::Phase::id)
                .find(|id| definition.phase(id.as_str()).is_some_and(takes))
                .unwrap_or(current),
        };
        Ok(Home { phase: phase.clone(), items: items_of(phase) })
    }

    /// Renews an actor's leases after more than half of their time. Called by every command of the actor that changes
    /// this session.
    pub(super) fn renew_leases(&self, plan: &mut Plan, actor: &Actor) -> Result<()> {
        let Some(session) = plan.subject.before.as_ref().filter(|session| session.has_items()) else {
            return Ok(());
        };
        if plan.subject.events.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        let mut held = self.store.held_items(&session.id, &actor.key())?;
        held.retain(|row| row.lease_until.is_some_and(|until| now < until));
        if held.is_empty() {
            return Ok(());
        }
        let mut book = plan.items.take().unwrap_or_default();
        for row in &held {
            if !book.contains(&row.id) {
                book.insert(read_item(row)?);
            }
        }
        let mut after = book.clone();
        for event in &plan.subject.events {
            if let Event::Item(event) = event {
                after.apply(event, now, actor);
            }
        }
        let still_held = held.iter().filter_map(|row| after.get(&row.id));
        plan.subject.events.extend(renewals(still_held, actor, now).into_iter().map(Event::Item));
        plan.items = Some(book);
        Ok(())
    }

    /// Releases the items that the pausing actor holds. Otherwise nobody could claim them before the leases expire.
    pub(super) fn free_leases(&self, plan: &mut Plan, actor: &Actor) -> Result<()> {
        let Some(session) = plan.subject.before.as_ref().filter(|session| session.has_items()) else {
            return Ok(());
        };
        let held = self.store.held_items(&session.id, &actor.key())?;
        if held.is_empty() || plan.subject.events.is_empty() {
            return Ok(());
        }
        let mut book = plan.items.take().unwrap_or_default();
        for row in &held {
            book.insert(read_item(row)?);
        }
        let items = held.iter().filter_map(|row| book.get(&row.id));
        plan.subject.events.extend(set_aside(items, actor).into_iter().map(Event::Item));
        plan.items = Some(book);
        Ok(())
    }

    /// Returns all items as they are after the plan restores an earlier version. `None` if the plan restores none.
    pub(super) fn restored_items(&self, plan: &Plan, actor: &Actor) -> Result<Option<ItemBook>> {
        let Some(session) = &plan.subject.before else { return Ok(None) };
        if !plan.subject.events.iter().any(|event| matches!(event, Event::Restored { .. })) {
            return Ok(None);
        }
        let at = self.clock.now();
        let mut events =
            if plan.history.is_empty() { self.history(&session.id)? } else { plan.history.clone() };
        for event in &plan.subject.events {
            let version = events.last().map_or(0, |last| last.version) + 1;
            events.push(Recorded { version, at, actor: actor.clone(), event: event.clone() });
        }
        Ok(Some(ItemBook::fold(&events)))
    }
}

/// In layouts where an item's id implies its phase and kind, returns these for a new item. `None` if that phase is
/// done, or if the request names a phase or a parent.
fn home_by_id(session: &Session, request: &ItemAdd) -> Option<ItemHome> {
    let id = ItemId::parse(request.id.as_deref()?).ok()?;
    let home = layout::by_name(&session.layout)?.capabilities().item_rules?.home(&id)?;
    let is_open = session.run()?.resolve(home.phase).is_some_and(|phase| !phase.is_done());
    (is_open && request.phase.is_none() && request.parent.is_none()).then_some(home)
}

/// The phase of a new item, and the kind of items that this phase has.
struct Home {
    phase: Name,
    items: Option<String>,
}

fn nothing_ready(session: &Session) -> Error {
    match session.run() {
        Some(run) => {
            let phase = run.current();
            let (done, total) = (phase.items.done, phase.items.total);
            let later = run.phases.iter().find(|phase| !phase.is_done() && phase.items.open() > 0);
            let later = later.map(|phase| phase.id().clone());
            Refusal::from(ItemRefusal::NothingReady { phase: phase.id().clone(), done, total, later }).into()
        }
        None => Error::BrokenLog { session: session.id.to_string(), why: "it has no run".to_owned() },
    }
}

fn named(command: &ItemCommand) -> &ItemId {
    match command {
        ItemCommand::Add(AddItem { id, .. })
        | ItemCommand::Start { id }
        | ItemCommand::Complete { id }
        | ItemCommand::Block { id, .. }
        | ItemCommand::Unblock { id }
        | ItemCommand::Drop { id, .. }
        | ItemCommand::Claim { id, .. }
        | ItemCommand::Release { id }
        | ItemCommand::Split { id, .. }
        | ItemCommand::Set { id, .. } => id,
    }
}

fn parse(text: &str) -> Result<ItemId> {
    ItemId::parse(text).map_err(|why| wrong("an item's id", text, &why))
}

fn parse_all(texts: &[String]) -> Result<Vec<ItemId>> {
    texts.iter().map(|text| parse(text)).collect()
}

fn kind_named(text: &str) -> Result<Name> {
    Name::parse(text).map_err(|why| wrong("a kind of items", text, &why))
}

fn wrong(what: &str, text: &str, why: &InvalidId) -> Error {
    Error::WrongUsage {
        message: format!("{text:?} cannot be {what}: {why}"),
        hint: "use letters, digits, '-', '_' and '.', such as impl-1.2".into(),
    }
}

fn titled(text: &str) -> Result<String> {
    let title = text.trim();
    if title.is_empty() {
        return Err(Error::WrongUsage {
            message: "the title is empty".to_owned(),
            hint: Hint::new("describe the work in a few words: ").run_here(words!["item", "add", "…"]),
        });
    }
    if title.len() > LONGEST_TITLE {
        return Err(Error::TooLong { what: "the title", length: title.len(), longest: LONGEST_TITLE });
    }
    refuse_placeholder("the title", title)?;
    Ok(title.to_owned())
}

fn bounded_fields(fields: &BTreeMap<String, Given>) -> Result<()> {
    for (name, value) in fields {
        bounded("the name of a field", name)?;
        match value {
            Given::Text(text) => bounded("a field", text)?,
            Given::Json(value) => bounded("a field", &value.to_string())?,
        };
    }
    Ok(())
}
