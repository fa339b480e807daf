//! Commands: load, decide, keep, answer. Whoever changes a session comes through here.

mod activate;
mod advance;
mod artifacts;
pub(crate) mod beginning;
mod bundle;
mod import;
mod items;
mod pause;
mod phases;
mod placeholder;
pub(crate) mod plan;
mod purge;
mod revisit;
mod set;
pub(crate) mod subject;
mod undo;

pub use activate::Taking;
pub use advance::{AdvanceRequest, GateTried};
pub use beginning::StartRequest;
pub use bundle::BundleMade;
pub use items::{ItemAdd, ItemSetting};
pub use phases::{ApproveRequest, TrustedCommand};
pub use placeholder::placeholder;
pub use purge::{PurgePreview, PurgeRequest};
pub use revisit::{FieldChange, FileChange, RevisitPreview, RevisitRequest};
pub use undo::Undone;

use crate::disk::Operation;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::items::ItemView;
use crate::policy::Restricted;
use crate::sync::NATIVE;
use crate::view::{self, Material, View};
use crate::workspace::ensure_ignored;
use layouts::layout::{self, Standing, some_of};
use model::Refusal;
use model::command::{Command, decide};
use model::event::Event;
use model::hint::Hint;
use model::id::SessionId;
use model::item::{Item, ItemBook};
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::run::RunPlan;
use model::session::Session;
use model::words;
use plan::{Order, Plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use store::{Batch, KeyRow, StreamAppend};

/// The longest text that is kept of one note, goal, reason.
const LONGEST_TEXT: usize = 64 * 1024;
/// How often a decision is made again when others keep changing the session.
const TRIES: usize = 16;

/// What a command answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub view: View,
    /// What else happened, for people: a session that was paused, a store that was made.
    pub said: Vec<String>,
    /// A gate was tried and did not pass: kept, and answered with its own exit code.
    pub gate_failed: bool,
}

impl Engine {
    pub fn note(&mut self, kind: NoteKind, text: &str, fields: BTreeMap<String, Value>) -> Result<Answer> {
        let text = bounded("the note", text.trim())?;
        if text.is_empty() {
            return Err(Error::WrongUsage {
                message: "the note is empty".to_owned(),
                hint: Hint::new("say what the next one should know: ").run_here(words!["note", "…"]),
            });
        }
        self.refuse_note(kind, &fields)?;
        let command = Command::AddNote { kind, text, fields };
        self.change("note", Want::Unfinished, &command)
    }

    /// What the session's own tool has no words for is refused before it is kept.
    fn refuse_note(&self, kind: NoteKind, fields: &BTreeMap<String, Value>) -> Result<()> {
        let layout = |id: SessionId| layout::by_name(&self.load(&id).ok()?.1.layout);
        let layout = self.select(Want::Unfinished).ok().and_then(layout);
        let known = layout.map(|layout| layout.facts().deferred_reasons).unwrap_or_default();
        let reason = fields.get("reason").filter(|_| kind == NoteKind::Deferred && !known.is_empty());
        match reason.filter(|reason| !reason.as_str().is_some_and(|word| known.contains(&word))) {
            Some(reason) => Err(Error::WrongUsage {
                message: format!(
                    "the reason of a deferred point is {}, which is none of {}",
                    model::gate::quoted(reason),
                    known.join(", ")
                ),
                hint: "give one of them: --field reason=timeout".into(),
            }),
            None => Ok(()),
        }
    }

    pub fn resolve_note(&mut self, id: u32) -> Result<Answer> {
        let command = Command::ResolveNote { id };
        let fingerprint = self.fingerprint("note resolve", &format!("{command:?}"));
        self.execute(&fingerprint, |engine| {
            // An old note may have left the snapshot; the log knows every one.
            let subject = engine.select(Want::Unfinished)?;
            let whole = engine.replay(&subject)?;
            let events = decide(&whole, command.clone())?;
            Ok(Plan::of(engine.take_up(&subject)?.change(events)))
        })
    }

    pub fn close(&mut self, force: bool) -> Result<Answer> {
        let command = Command::Close { force };
        let fingerprint = self.fingerprint("close", &format!("{command:?}"));
        self.execute(&fingerprint, |engine| {
            let id = engine.select(Want::Latest)?;
            let subject = engine.take_up(&id)?;
            let events = decide(&subject.session, command.clone())?;
            if events.iter().any(|event| matches!(event, Event::SessionCompleted { forced: true })) {
                engine.require_person(Restricted::Close)?;
            }
            let open = if events.is_empty() { Vec::new() } else { engine.open_items(&id)? };
            let mut plan = Plan::of(subject.change(events));
            if !open.is_empty() {
                plan.said.push(format!("left unfinished: {}", some_of(&open)));
            }
            Ok(plan)
        })
    }

    /// Items that something is left to do about, by place; what is cut into parts is its parts.
    fn open_items(&self, id: &SessionId) -> Result<Vec<String>> {
        let items = self.all_items(id)?;
        let mut open: Vec<&Item> =
            items.iter().filter(|item| !item.is_done() && !item.is_container()).collect();
        open.sort_by_key(|item| item.sort_key());
        Ok(open.into_iter().map(|item| item.id.to_string()).collect())
    }

    /// Gives a session up: the one named, else the one that is meant. Its workspace goes to the archive.
    pub fn abandon(&mut self, asked: Option<&str>, reason: Option<&str>) -> Result<Answer> {
        let reason = reason.map(|text| bounded("the reason", text)).transpose()?;
        let fingerprint = self.fingerprint("abandon", &format!("{asked:?} {reason:?}"));
        self.execute(&fingerprint, |engine| {
            let id = match asked {
                Some(asked) => engine.resolve(asked)?,
                None => engine.select(Want::Latest)?,
            };
            let subject = engine.take_up_to_end(&id)?;
            if engine.somebody_else_is_in(&subject.session)? {
                engine.require_person(Restricted::Abandon)?;
            }
            let archiving = engine.archiving(&subject.session);
            let operation = archiving.as_ref().map(|operation| operation.id().to_owned());
            let events = decide(&subject.session, Command::Abandon { reason: reason.clone(), operation })?;
            let mut plan = Plan::of(subject.change(events));
            plan.operation = archiving;
            Ok(plan)
        })
    }

    /// The next run of a workflow, by default the one of the current run.
    pub fn start_run(&mut self, workflow: Option<&str>) -> Result<Answer> {
        let fingerprint = self.fingerprint("run start", &format!("{workflow:?}"));
        let mut answer = self.execute(&fingerprint, |engine| {
            let id = engine.select(Want::Latest)?;
            let subject = engine.take_up(&id)?;
            let session = &subject.session;
            let current = session.run().map(|run| run.workflow.name.to_string());
            let name = workflow.map(ToOwned::to_owned).or(current).unwrap_or_default();
            let workflow = match layouts::layout::by_name(&session.layout) {
                Some(layout) => {
                    let target = session.target.as_deref();
                    crate::definitions::of_layout(&engine.project, layout, &name, target)?
                }
                None => crate::definitions::load(&engine.project, &name)?,
            };
            let run = RunPlan::new(&workflow, engine.skips(session, &workflow));
            let is_next = engine.has_result(session, &workflow.name);
            let mut events = decide(session, Command::StartRun { run, is_next })?;
            let items = engine.all_begun_again(session, &mut events)?;
            let was_active = session.lifecycle.name() == "active";
            let mut plan = Plan::of(subject.change(events));
            plan.items = items;
            plan.definitions.push(plan::definition_row(&workflow)?);
            engine.know_definition(&workflow);
            if !was_active {
                engine.active_again(&mut plan, &id)?;
            }
            Ok(plan)
        })?;
        self.make_run_folder(&mut answer);
        Ok(answer)
    }

    /// What a further run changes in a session of a layout, added to what begins it; all of its items, as they are before.
    fn all_begun_again(&self, session: &Session, events: &mut Vec<Event>) -> Result<Option<ItemBook>> {
        let Some(layout) = layouts::layout::by_name(&session.layout) else { return Ok(None) };
        if !events.iter().any(|event| matches!(event, Event::RunStarted { .. })) {
            return Ok(None);
        }
        let items = self.all_items(&session.id)?;
        if let Some(consequences) = layout.capabilities().consequences {
            events.extend(consequences.of_new_run(&Standing::new(session, &items, &[])));
        }
        Ok(Some(items))
    }

    /// Tells in the log of the session that is meant what became of requirements; where there is none, nobody is told.
    pub(crate) fn tell_of_requirements(&mut self, events: &[Event]) -> Result<()> {
        let Ok(id) = self.select(Want::Unfinished) else { return Ok(()) };
        // No key: this is not the command that the key is for.
        let key = self.options.key.take();
        let order = self.fingerprint("req", "");
        let told = self.execute(&order, |engine| {
            let subject = engine.take_up(&id)?;
            if let Some(kind) = &subject.session.unknown_event {
                return Err(Refusal::NewerEvent { session: id.clone(), kind: kind.clone() }.into());
            }
            Ok(Plan::of(subject.change(events.to_vec())))
        });
        self.options.key = key;
        told.map(drop)
    }

    /// A command on one session that needs nothing but the model to decide.
    fn change(&mut self, name: &'static str, want: Want, command: &Command) -> Result<Answer> {
        let fingerprint = self.fingerprint(name, &format!("{command:?}"));
        self.execute(&fingerprint, |engine| {
            let id = engine.select(want)?;
            let subject = engine.take_up(&id)?;
            let events = decide(&subject.session, command.clone())?;
            Ok(Plan::of(subject.change(events)))
        })
    }

    /// Builds a plan inside this process's turn, keeps it, answers. A key that was used answers as the first time.
    pub(crate) fn execute(
        &mut self,
        order: &Order,
        mut build: impl FnMut(&mut Self) -> Result<Plan>,
    ) -> Result<Answer> {
        for _ in 0..TRIES {
            self.store.take_turn(self.patience)?;
            self.look_again();
            self.seen.set_changing(true);
            let decided = match self.remembered(order) {
                Ok(Some(answer)) => {
                    self.seen.set_changing(false);
                    self.store.give_turn_back();
                    return Ok(answer);
                }
                Ok(None) => build(self),
                Err(error) => Err(error),
            };
            let kept = decided.and_then(|plan| self.keep(plan, order));
            self.seen.set_changing(false);
            self.store.give_turn_back();
            match kept {
                Err(error) if error.is_contended() => {}
                other => return other,
            }
        }
        Err(Error::Contended)
    }

    fn keep(&mut self, mut plan: Plan, order: &Order) -> Result<Answer> {
        let now = self.clock.now();
        let agent = self.asking_agent()?;
        let actor = self.actor(agent.as_ref());
        self.make_room_for_found(&mut plan)?;
        self.pause_those_that_count_as_paused(&mut plan)?;
        self.send_to_places(&mut plan);
        self.renew_leases(&mut plan, &actor)?;
        plan.restored = self.restored_items(&plan, &actor)?;
        self.name_commit(&mut plan);
        let mut kept = plan.fold(order.name, now, &actor)?;
        let mut view = self.view_after(&kept.subject, kept.number, kept.already, &kept.batch)?;
        view.item = kept.item.take().map(|item| ItemView::of(item, &actor, now));
        let mut answer = Answer { view, said: kept.said, gate_failed: kept.gate_failed };
        let mut batch = kept.batch;
        if batch.streams.is_empty() && self.has_found(&kept.subject) {
            // All is done already, as files tell that were written since: what they tell is kept, and shown by them.
            let found = self.look_up(&kept.subject.id)?.change_and_found(Vec::new());
            batch.streams = Plan::of(found).fold(order.name, now, &actor)?.batch.streams;
            if batch.streams.is_empty() {
                // Nothing comes on top of what is laid over: appending brings it along.
                let laid = self.store.pending(&kept.subject.id);
                batch.streams.extend(laid.map(|stream| StreamAppend { events: Vec::new(), ..stream }));
            }
        }
        self.bring_along_rival(&mut batch)?;
        self.add_views(&mut batch)?;
        self.add_numbers(&mut batch)?;
        // What changes nothing is kept only under a key: it must answer the same when it is repeated later.
        if batch.streams.is_empty() && batch.bindings.is_empty() && self.options.key.is_none() {
            return Ok(answer);
        }
        if let Some(key) = &self.options.key {
            batch.key = Some(plan::key_row(key, order, &answer, now)?);
        }
        // What was done before brings no work on files with it.
        match kept.operation.filter(|_| !batch.streams.is_empty()) {
            Some(operation) => answer.said.extend(self.append_with(&batch, operation, &kept.subject)?),
            None => self.append(&batch)?,
        }
        if batch.streams.iter().any(|stream| stream.row.layout != NATIVE) {
            self.taken_in_is_told(&batch, &mut answer);
        }
        let warnings = self.publish(&batch);
        answer.view.view_stale |= warnings.iter().any(|warning| warning.kind == "view_stale");
        answer.view.warnings.extend(warnings);
        answer.said.extend(self.words_after(&batch, &kept.subject.id));
        Ok(self.with_its_number(answer))
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        failpoint::reached("before-append");
        self.store.append(batch)?;
        failpoint::reached("after-append");
        Ok(())
    }

    /// Keeps a batch together with the work on files that belongs to it: written down first, done when it counts.
    fn append_with(&mut self, batch: &Batch, operation: Operation, subject: &Session) -> Result<Vec<String>> {
        ensure_ignored(&self.root_of(subject))?;
        let prepared = operation.prepare(&self.journal_of(subject))?;
        match self.append(batch) {
            Ok(()) => {}
            // Whether it counts is not known: the journal stays, and whoever comes next looks into the log.
            Err(error @ Error::Store(store::Error::Unknown { .. })) => return Err(error),
            Err(error) => {
                prepared.take_back()?;
                return Err(error);
            }
        }
        // It counts. What cannot be done now is done by the next command.
        Ok(prepared.carry_out().unwrap_or_else(|error| {
            vec![format!("not all files are in their places yet ({error}); the next command goes on with it")]
        }))
    }

    /// A new session's number is the store's to give. The session is kept: not finding the number out is no failure.
    fn with_its_number(&self, mut answer: Answer) -> Answer {
        if answer.view.number == 0
            && let Ok(id) = SessionId::parse(&answer.view.session_id)
            && let Ok(Some(loaded)) = self.store.load(&id)
        {
            answer.view.number = loaded.number;
        }
        answer
    }

    /// The session as every front end shows it.
    pub(crate) fn view_of(&self, session: &Session, number: u64, already: bool) -> Result<View> {
        self.view_after(session, number, already, &Batch::default())
    }

    /// The same, as it is once this batch is kept.
    fn view_after(&self, session: &Session, number: u64, already: bool, batch: &Batch) -> Result<View> {
        let laid_over = self.expired_since(session).map(|_| self.laid_over(session.clone()));
        let session = laid_over.as_ref().unwrap_or(session);
        let run = session.run().ok_or_else(|| Error::BrokenLog {
            session: session.id.to_string(),
            why: "it has no run".to_owned(),
        })?;
        let definition = self.definition(&run.workflow.hash)?;
        let current = match &definition {
            Some(_) => None,
            // Not stored yet: the session is just being started with it.
            None => crate::definitions::load(&self.project, run.workflow.name.as_str()).ok(),
        };
        let now = self.clock.now();
        let required = self.requirement_views(session);
        let mut warnings = self.warnings_about(session, run);
        warnings.extend(required.problems.into_iter().map(crate::requirements::warning));
        Ok(view::build(Material {
            session,
            run,
            number,
            definition: definition.as_deref().or(current.as_ref()),
            can_run_again: matches!(session.lifecycle, Lifecycle::Completed { .. })
                && crate::definitions::is_there(&self.project, &session.layout, run.workflow.name.as_str()),
            now,
            signs: self.signs_of_work(&session.id),
            name_session: self.must_be_named(session)?,
            warnings,
            already,
            items: self.items_seen(session, run, batch)?,
            settled: self.settled_since(session, run, &batch.items),
            requirements: required.answer,
        }))
    }

    /// What was answered under this command's key, if it was given one that was used.
    fn remembered(&self, order: &Order) -> Result<Option<Answer>> {
        const KEPT_FOR_SECONDS: i64 = 7 * 24 * 3600;
        let Some(key) = &self.options.key else { return Ok(None) };
        let now = self.clock.now();
        let since =
            jiff::Timestamp::from_second(now.as_second().saturating_sub(KEPT_FOR_SECONDS)).unwrap_or(now);
        let Some(row) = self.store.recall(key, since)? else { return Ok(None) };
        if row.fingerprint != order.fingerprint {
            return Err(Error::KeyUsed { key: key.clone() });
        }
        match plan::kept_answer(&row) {
            // The answer was kept in the same transaction as the session, before its number was known.
            Some(answer) => Ok(Some(self.with_its_number(answer))),
            None => self.done_before(&row).map(Some),
        }
    }

    /// The command was carried out, and another program wrote the answer in a shape that this one cannot read. It must
    /// not be decided again: the session is shown as it is now.
    fn done_before(&self, row: &KeyRow) -> Result<Answer> {
        let id = match &row.session {
            Some(id) => id.clone(),
            None => self.select(Want::Latest)?,
        };
        let (loaded, session) = self.load(&id)?;
        let view = self.view_of(&session, loaded.number, true)?;
        let said = vec![format!(
            "done before under the key '{}'; that answer cannot be read any more, so this is how the session is now: \
             leftoff status",
            row.key
        )];
        Ok(Answer { view, said, gate_failed: false })
    }

    /// The branch and commit that a session starts from and a phase is completed on. Git is not started for it.
    fn name_commit(&self, plan: &mut Plan) {
        let names = |event: &&mut Event| {
            matches!(
                event,
                Event::SessionStarted { branch: None, .. } | Event::PhaseCompleted { branch: None, .. }
            )
        };
        let mut events = plan.subject.events.iter_mut().filter(names).peekable();
        if events.peek().is_none() {
            return;
        }
        let (at_branch, at_head) = (self.project.branch(), self.project.head());
        for event in events {
            if let Event::SessionStarted { branch, head, .. } | Event::PhaseCompleted { branch, head, .. } =
                event
            {
                branch.clone_from(&at_branch);
                head.clone_from(&at_head);
            }
        }
    }

    /// Names a command, and tells it from another under the same key.
    pub(crate) fn fingerprint(&self, name: &'static str, arguments: &str) -> Order {
        let session = self.options.session.as_deref().unwrap_or_default();
        let text = format!("{name}\n{session}\n{}\n{arguments}", self.project.worktree());
        Order { name, fingerprint: crate::hex(&Sha256::digest(text.as_bytes())) }
    }
}

/// Text from a caller, refused when it is out of all proportion.
fn bounded(what: &'static str, text: &str) -> Result<String> {
    if text.len() > LONGEST_TEXT {
        return Err(Error::TooLong { what, length: text.len(), longest: LONGEST_TEXT });
    }
    Ok(text.to_owned())
}
