//! Executes commands: load, decide, store, answer. Every change of a session passes through this file.

mod activate;
mod advance;
mod after_completion;
mod approve;
mod artifacts;
mod bundle;
mod commands_to_trust;
mod end_session;
mod end_with_open_work;
mod fields;
mod items;
mod notes;
mod pause;
mod phases;
mod placeholder;
pub(crate) mod plan;
mod purge;
mod request;
mod resumable;
mod revisit;
mod runs;
mod set;
pub(crate) mod start;
pub(crate) mod subject;
mod text;
mod undo;
mod workflow_update;

pub use activate::Taking;
pub use advance::{AdvanceRequest, GateTried};
pub use approve::ApproveRequest;
pub use bundle::BundleMade;
pub(crate) use bundle::opened as opened_bundle;
#[cfg(feature = "fuzzing")]
pub(crate) use bundle::read as read_bundle;
pub use commands_to_trust::TrustedCommand;
pub(crate) use items::{CLAIMED, LISTED_AS};
pub use items::{FROM, FoundList, ItemAdd, ItemRequest, ItemSetting};
pub use pause::PauseRequest;
pub use placeholder::placeholder;
pub use purge::PurgeRequest;
pub(crate) use purge::evidence as purge_evidence;
pub use request::Request;
pub use revisit::{FieldChange, FileChange, RevisitPreview, RevisitRequest};
pub use start::StartRequest;

pub(crate) use bundle::{EventLine, PackedFile, is_bundle, may_be_put, put_back, refused, taken};
pub(crate) use plan::{Plan, session_row, snapshot_of};
use text::{bounded, checked_reason};

use crate::NATIVE;
use crate::disk::Operation;
use crate::engine::{Engine, Want, is_unfinished};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::next::Next;
use crate::project::Project;
use crate::query::Follows;
use crate::view::{self, Material, View};
use crate::workspace::ensure_ignored;
use model::Refusal;
use model::command::{Command, decide};
use model::event::Event;
use model::id::SessionId;
use model::progress::SignsOfWork;
use model::session::Session;
use plan::Order;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;
use store::{Batch, KeyRow, StreamAppend};

/// How often a command is decided again because other processes keep changing the session.
const TRIES: usize = 16;

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub view: View,
    /// Further messages for people, for example that another session was paused or that a store was created.
    pub said: Vec<String>,
    /// True if a gate did not pass. The attempt is recorded, and the command has an exit code of its own.
    pub gate_failed: bool,
}

impl Engine {
    /// Records changes of requirements in the log of the selected session, if a session is selected.
    pub(crate) fn record_requirements(&mut self, events: &[Event]) -> Result<()> {
        let Ok(id) = self.select(Want::Unfinished) else { return Ok(()) };
        // The caller's key belongs to another command, so it is not used here.
        let key = self.options.key.take();
        let order = self.fingerprint("req", "");
        let told = self.in_turn(&order, |engine| {
            let subject = engine.load_subject(&id)?;
            if let Some(kind) = &subject.session.unknown_event {
                return Err(Refusal::NewerEvent { session: id.clone(), kind: kind.clone() }.into());
            }
            Ok(Plan::of(subject.change(events.to_vec())))
        });
        self.options.key = key;
        told.map(drop)
    }

    /// Executes a command that changes one session and that the model alone decides.
    fn change(&mut self, name: &'static str, want: Want, command: &Command) -> Result<Answer> {
        let fingerprint = self.fingerprint(name, &format!("{command:?}"));
        self.in_turn(&fingerprint, |engine| {
            let id = engine.select(want)?;
            let subject = engine.load_subject(&id)?;
            let events = decide(&subject.session, command.clone())?;
            Ok(Plan::of(subject.change(events)))
        })
    }

    /// Builds a plan within this process's turn to write, commits the plan, and returns the answer. If the command's
    /// key was used before, returns the first answer again.
    pub(crate) fn in_turn(
        &mut self,
        order: &Order,
        mut build: impl FnMut(&mut Self) -> Result<Plan>,
    ) -> Result<Answer> {
        let aim = self.scope.aim;
        for _ in 0..TRIES {
            self.store.take_turn(self.patience.left())?;
            self.begin_turn();
            let kept = match self.remembered(order) {
                Ok(Some(answer)) => Ok(answer),
                Ok(None) => build(self).and_then(|plan| self.keep(plan, order)),
                Err(error) => Err(error),
            };
            self.end_turn(aim);
            let kept = match self.store.is_turn_current() {
                Ok(true) => kept,
                Ok(false) => Err(store::Error::Overtaken.into()),
                Err(error) => kept.and(Err(error.into())),
            };
            self.store.give_turn_back();
            match kept {
                Err(error) if error.is_contended() => {}
                Ok(answer) => {
                    self.back_up_when_due();
                    return Ok(answer);
                }
                refused => return refused,
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
        if plan.has_files() {
            self.send_to_places(&mut plan);
        }
        self.renew_leases(&mut plan, &actor)?;
        plan.restored = self.restored_items(&plan, &actor)?;
        self.name_commit(&mut plan);
        self.add_settled_items(&mut plan)?;
        self.record_outputs(&mut plan)?;
        plan.spares_snapshot = self.may_spare_snapshot(&plan);
        let mut kept = plan.fold(order.name, now, &actor)?;
        let mut view =
            self.view_after(&kept.subject, kept.number, kept.already, &kept.batch, kept.follows)?;
        view.item = kept.item.take().map(|item| self.item_view(item, &actor, now));
        let mut answer = Answer { view, said: kept.said, gate_failed: kept.gate_failed };
        let mut batch = kept.batch;
        let has_stream = batch.streams.iter().any(|stream| stream.row.id == kept.subject.id);
        if !has_stream && kept.subject.layout != NATIVE && self.has_found(&kept.subject) {
            answer.said.extend(self.keep_found(&kept.subject.id, order, &mut batch)?);
        }
        self.bring_along_rival(&mut batch)?;
        let has_files = batch.streams.iter().any(|stream| stream.row.layout != NATIVE);
        if has_files {
            self.add_views(&mut batch)?;
        }
        self.add_numbers(&mut batch)?;
        // If a command changes nothing, it is stored only if it has a key: repeating it must give the same answer.
        if batch.streams.is_empty() && batch.bindings.is_empty() && self.options.key.is_none() {
            return Ok(answer);
        }
        if let Some(key) = &self.options.key {
            batch.key = Some(plan::key_row(key, order, &answer, now)?);
        }
        // If a command changes nothing in a session, its file operation is not carried out either.
        match kept.operation.filter(|_| !batch.streams.is_empty()) {
            Some(operation) => answer.said.extend(self.append_with(&batch, operation, &kept.subject)?),
            None => self.append(&batch)?,
        }
        if has_files {
            self.describe_adopted(&batch, &mut answer);
            let warnings = self.publish(&batch);
            answer.view.view_stale |= warnings.iter().any(|warning| warning.kind == "view_stale");
            answer.view.warnings.extend(warnings);
            answer.said.extend(self.words_after(&batch, &kept.subject.id));
        }
        let subject = kept.subject;
        let stream = batch.streams.into_iter().find(|stream| has_stream && stream.row.id == subject.id);
        if let Some(stream) = stream {
            self.remember_kept(stream, subject);
        }
        Ok(self.with_its_number(answer))
    }

    /// Adds to the batch an external edit that already did the command's work. If this makes two sessions active, the
    /// other one is paused. Returns messages for people.
    fn keep_found(&self, id: &SessionId, order: &Order, batch: &mut Batch) -> Result<Vec<String>> {
        let mut found = Plan::of(self.look_up(id)?.change_and_found(Vec::new()));
        let changed: Vec<SessionId> = batch.streams.iter().map(|stream| stream.row.id.clone()).collect();
        self.pause_rival_of_found(&mut found, &changed)?;
        let (now, actor) = (self.clock.now(), self.actor(self.asking_agent()?.as_ref()));
        let kept = found.fold(order.name, now, &actor)?;
        batch.streams.extend(kept.batch.streams);
        if !batch.streams.iter().any(|stream| stream.row.id == *id) {
            // Appending a stream without new events commits the uncommitted edit.
            let pending = self.store.pending(id);
            batch.streams.extend(pending.map(|stream| StreamAppend { events: Vec::new(), ..stream }));
        }
        Ok(kept.said)
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        failpoint::reached("before-append");
        self.store.append(batch)?;
        failpoint::reached("after-append");
        self.note_heads(batch);
        Ok(())
    }

    /// Commits a batch together with its file operation. The operation is recorded before the commit and executed after
    /// it.
    fn append_with(&mut self, batch: &Batch, operation: Operation, subject: &Session) -> Result<Vec<String>> {
        ensure_ignored(&self.root_of(subject))?;
        let prepared = operation.prepare(&self.journal_of(subject))?;
        match self.append(batch) {
            Ok(()) => {}
            // If it is unknown whether the batch was committed, the journal stays, and the next process looks into the
            // log.
            Err(error @ Error::Store(store::Error::Unknown { .. })) => return Err(error),
            Err(error) => {
                prepared.take_back()?;
                return Err(error);
            }
        }
        // The batch is committed. If a file cannot be moved now, the next command tries again.
        Ok(prepared.carry_out().unwrap_or_else(|error| {
            vec![format!("some files were not moved yet ({error}); the next command moves them")]
        }))
    }

    /// Adds the number that the store gave to a new session. If there is none, the answer stays as it is.
    fn with_its_number(&self, mut answer: Answer) -> Answer {
        if answer.view.number == 0
            && let Ok(id) = SessionId::parse(&answer.view.session_id)
            && let Ok(Some(loaded)) = self.store.load(&id)
        {
            answer.view.number = loaded.number;
        }
        answer
    }

    /// Returns the view of a session that every front end shows.
    pub(crate) fn view_of(&self, session: &Session, number: u64, already: bool) -> Result<View> {
        self.view_after(session, number, already, &Batch::default(), Follows::Question)
    }

    /// Returns the view of a session as it will be after this batch is committed.
    fn view_after(
        &self,
        session: &Session,
        number: u64,
        already: bool,
        batch: &Batch,
        follows: Follows,
    ) -> Result<View> {
        let expired = self.expired_since(session).map(|_| self.with_expiry(session.clone()));
        let sharing = self.sharing_settings();
        let arrival = self.arrival_of(session, sharing.is_some());
        let marked = self.with_unsigned_marked(expired.as_ref().unwrap_or(session), arrival.as_ref());
        let session = marked.as_ref().or(expired.as_ref()).unwrap_or(session);
        let run = session.run().ok_or_else(|| Error::BrokenLog {
            session: session.id.to_string(),
            why: "it has no run".to_owned(),
        })?;
        let definition = self.definition(&run.workflow.hash)?;
        let current = match &definition {
            Some(_) => None,
            // The definition of a session that is just starting is not stored yet.
            None => crate::definitions::load(&self.project, run.workflow.name.as_str()).ok(),
        };
        let now = self.clock.now();
        let required = self.requirement_views(session);
        let paused = if is_unfinished(session.lifecycle.name()) {
            None
        } else {
            self.candidates(&session.id).into_iter().next()
        };
        let mut warnings = self.warnings_about(session, run, follows);
        warnings.extend(required.problems.into_iter().map(crate::requirements::warning));
        let mut view = view::build(Material {
            session,
            run,
            number,
            definition: definition.as_deref().or(current.as_ref()),
            now,
            // If a native session was not imported, no other tool's files belong to it.
            signs: if session.layout == NATIVE && session.path.is_none() {
                SignsOfWork::default()
            } else {
                self.signs_of_work(&session.id)
            },
            name_session: self.must_be_named(session, follows)?,
            shared: self.shared_view(sharing.as_deref(), arrival.as_ref()),
            warnings,
            already,
            items: self.items_seen(session, run, batch)?,
            settled: self.settled_since(session, run, &batch.items),
            untrusted: self.untrusted(session, run),
            closed_over: self.closed_over(session).map(|phase| phase.id().clone()),
            requirements: required.answer,
        });
        if let Some(paused) = paused.filter(|_| !view.is_closed_in_doubt()) {
            view.next = Next::beside(session, &paused);
        }
        Ok(view)
    }

    /// Returns the stored answer to this command, if its key was used before.
    fn remembered(&self, order: &Order) -> Result<Option<Answer>> {
        let Some(key) = &self.options.key else { return Ok(None) };
        let Some(row) = self.store.recall(key, store::keys_expire_at(self.clock.now()))? else {
            return Ok(None);
        };
        if row.fingerprint != order.fingerprint {
            return Err(Error::KeyUsed { key: key.clone() });
        }
        match plan::kept_answer(&row) {
            // When the answer was stored with a new session, the session had no number yet.
            Some(answer) => Ok(Some(self.with_its_number(answer))),
            None => self.done_before(&row).map(Some),
        }
    }

    /// Answers a command whose key was used before, but whose stored answer this program cannot read. The command must
    /// not run again, so the answer shows the current state of the session.
    fn done_before(&self, row: &KeyRow) -> Result<Answer> {
        let id = match &row.session {
            Some(id) => id.clone(),
            None => self.select(Want::Latest)?,
        };
        let (loaded, session) = self.load(&id)?;
        let view = self.view_of(&session, loaded.number, true)?;
        let said = vec![format!(
            "already done under the key '{}', but its stored answer is unreadable; the session's state: leftoff status",
            row.key
        )];
        Ok(Answer { view, said, gate_failed: false })
    }

    /// Adds branch and commit to events that start a session or complete a phase. Does not run git.
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
        // The branch is that of the session's own worktree, even if the command was typed elsewhere.
        let worktree = plan.subject.before.as_ref().map(|session| session.worktree.clone());
        let elsewhere = worktree.filter(|worktree| *worktree != self.project.worktree());
        let own = elsewhere.and_then(|worktree| Project::find(Path::new(&worktree)).ok());
        let project = own.as_ref().unwrap_or(&self.project);
        let (at_branch, at_head) = (project.branch(), project.head());
        for event in events {
            if let Event::SessionStarted { branch, head, .. } | Event::PhaseCompleted { branch, head, .. } =
                event
            {
                branch.clone_from(&at_branch);
                head.clone_from(&at_head);
            }
        }
    }

    /// Returns the name of a command, and a hash of its input. The hash shows if a key is used again for another
    /// command.
    pub(crate) fn fingerprint(&self, name: &'static str, arguments: &str) -> Order {
        let session = self.options.session.as_deref().unwrap_or_default();
        let text = format!("{name}\n{session}\n{}\n{arguments}", self.project.worktree());
        Order { name, fingerprint: crate::hex(&Sha256::digest(text.as_bytes())) }
    }
}
