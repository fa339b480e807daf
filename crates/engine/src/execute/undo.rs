//! Checkpoints, undo, and reopening. Nothing is removed from the log.

use crate::NATIVE;
use crate::discrepancies::OnDiscrepancy;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Taking;
use crate::execute::plan::{Change, Order, Plan};
use crate::execute::{Answer, bounded};
use crate::words::one_line;
use jiff::Timestamp;
use model::Refusal;
use model::actor::Actor;
use model::command::{Command, decide};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::undo::{Commands, redo, undo};
use model::words;
use store::{EventRow, Filter, SessionRow};

const LONGEST_NAME: usize = 120;

/// How many other sessions a message names that could be reopened too.
const MOST_NAMED: usize = 3;
const FINISHED: [&str; 2] = ["completed", "abandoned"];

/// A finished session that could be reopened.
struct Finished {
    id: SessionId,
    title: String,
    at: Timestamp,
}

impl Engine {
    /// Names a point in the session's history.
    pub(super) fn checkpoint(&mut self, name: Option<&str>) -> Result<Answer> {
        let name = name.map(checkpoint_name).transpose()?;
        let fingerprint = self.fingerprint("checkpoint", &format!("{name:?}"));
        self.in_turn(&fingerprint, |engine| {
            let id = engine.select(Want::Latest)?;
            let subject = engine.load_subject(&id)?;
            let name = name.clone().unwrap_or_else(|| usual_name(&subject.session, engine.clock.now()));
            let events = decide(&subject.session, Command::MakeCheckpoint { name })?;
            Ok(Plan::of(subject.change(events)))
        })
    }

    /// Undoes this actor's last command that can be undone, or returns to a version or checkpoint. Leases, requirements
    /// and files do not change.
    pub(crate) fn undo(&mut self, to: Option<&str>) -> Result<Answer> {
        let order = self.fingerprint("undo", &format!("{to:?}"));
        self.restore(&order, |engine, session, history, actor| {
            let commands = engine.command_of_each_event(&session.id)?;
            let refused = match undo(session, history, &commands, actor, to) {
                Ok(events) => return Ok(events),
                Err(refused) => refused,
            };
            if let Refusal::AnothersChange { before, .. } = &refused {
                engine.authorise_restoring(session, history, *before)?;
            }
            Err(refused.into())
        })
    }

    /// Returns to the state before this actor's last undo.
    pub(super) fn redo(&mut self) -> Result<Answer> {
        let order = self.fingerprint("redo", "");
        self.restore(&order, |engine, session, history, actor| {
            let refused = match redo(session, history, actor) {
                Ok(events) => return Ok(events),
                Err(refused) => refused,
            };
            // The hint of this refusal names another command that restores the same version. So it must first be
            // checked that the caller may restore that version.
            if let Refusal::AnothersUndo { to_version, .. } = &refused {
                engine.authorise_restoring(session, history, *to_version)?;
            }
            Err(refused.into())
        })
    }

    /// Executes the decided return to another state of the session's log.
    fn restore(
        &mut self,
        order: &Order,
        decision: impl Fn(&Self, &Session, &[Recorded], &Actor) -> Result<Vec<Event>>,
    ) -> Result<Answer> {
        let before = self.select(Want::Latest).and_then(|id| Ok(self.load(&id)?.1)).ok();
        let answer = self.in_turn(order, |engine| {
            let subject = engine.select(Want::Latest)?;
            // Undo is decided on the state of the log, so an expiry is not applied.
            engine.load_subject(&subject)?;
            let (loaded, session) = engine.load(&subject)?;
            let history = engine.history(&subject)?;
            let actor = engine.actor(engine.asking_agent()?.as_ref());
            let events = decision(engine, &session, &history, &actor)?;
            if let Some(Event::Restored { to_version }) = events.first() {
                engine.refuse_second_active(&history, *to_version)?;
                engine.authorise_restoring(&session, &history, *to_version)?;
            }
            let change = Change { number: loaded.number, before: Some(session), events };
            Ok(Plan { history, taken: engine.taken_here(&subject)?, ..Plan::of(change) })
        })?;
        if let Some(before) = before {
            self.drop_run_folders(&before);
        }
        Ok(answer)
    }

    /// Returns the command of each event of a session, as far as recorded.
    fn command_of_each_event(&self, id: &SessionId) -> Result<Commands> {
        let rows = self.store.events(id, 0, None)?;
        let ordinal = |row: &EventRow| row.command.as_ref().map(|command| (row.version, command.ordinal));
        Ok(rows.iter().filter_map(ordinal).collect())
    }

    /// Reopens a finished session: the named one or, without a name, the one that was finished last in this worktree.
    pub(super) fn reopen(&mut self, asked: Option<&str>) -> Result<Answer> {
        let fingerprint = self.fingerprint("reopen", &format!("{asked:?}"));
        let mut answer = self.in_turn(&fingerprint, |engine| {
            let (id, others) = engine.finished(asked)?;
            let command = |worktree, parallel| Command::Reopen { worktree, parallel };
            let mut plan = engine.activate_by(&id, OnDiscrepancy::Continue, Taking::Refused, command)?;
            plan.said.extend(others);
            Ok(plan)
        })?;
        // The session is already reopened. If its folder cannot be moved back, this is only reported.
        if let Err(error) = self.bring_workspace_back(&answer.view.session_id) {
            answer.said.push(error.to_string());
        }
        Ok(answer)
    }

    /// Returns the session to reopen. If none was named, also returns a message about other sessions that could be
    /// meant.
    pub(super) fn finished(&self, asked: Option<&str>) -> Result<(SessionId, Option<String>)> {
        if let Some(asked) = asked.or(self.options.session.as_deref()) {
            return Ok((self.resolve(asked)?, None));
        }
        let worktree = self.project.worktree();
        let here = self.finished_here(&worktree)?;
        let Some((last, others)) = here.split_first() else {
            let anywhere = self.rows(&FINISHED, None, Some(MOST_NAMED))?;
            let elsewhere: Vec<Finished> = anywhere.iter().map(Finished::of_row).collect();
            return Err(Error::NothingFinished { worktree, elsewhere: finished_texts(&elsewhere) });
        };
        let said = others.first().map(|first| {
            let more = if others.len() > MOST_NAMED { ", and more: leftoff list --all" } else { "" };
            let all = finished_texts(others).join(", ");
            format!("also finished: {all}{more}; to reopen another: leftoff reopen {}", first.id)
        });
        Ok((last.id.clone(), said))
    }

    /// Returns the finished sessions of this worktree, newest first, as known from the log or from files.
    fn finished_here(&self, worktree: &str) -> Result<Vec<Finished>> {
        // How many rows are read. This is enough even if the files of some sessions show that they were continued.
        const ENOUGH: usize = 50;
        let is_over = |row: &SessionRow| !self.is_still_open(row);
        let by_log = self.rows(&FINISHED, Some(worktree), Some(ENOUGH))?;
        let mut open = self.rows(&Lifecycle::UNFINISHED, Some(worktree), None)?;
        open.retain(|row| row.layout != NATIVE);
        let mut found: Vec<Finished> =
            by_log.iter().chain(&open).filter(|row| is_over(row)).map(Finished::of_row).collect();
        for (line, _) in self.foreign_lines() {
            let is_finished = FINISHED.contains(&line.lifecycle.as_str());
            if let Some(id) = SessionId::parse(&line.session_id).ok().filter(|_| is_finished) {
                found.push(Finished { id, title: line.title, at: line.updated_at });
            }
        }
        // A stable sort keeps the order of the store for equal times.
        found.sort_by_key(|finished| std::cmp::Reverse(finished.at));
        Ok(found)
    }

    fn rows(
        &self,
        lifecycles: &[&str],
        worktree: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<SessionRow>> {
        let lifecycles = lifecycles.iter().map(ToString::to_string).collect();
        let worktree = worktree.map(ToOwned::to_owned);
        let filter = Filter { lifecycles, worktree, limit, ..Filter::default() };
        Ok(self.store.list(&filter)?.into_iter().map(|listed| listed.row).collect())
    }

    /// Refuses an undo that would make a second session active in the worktree. Unlike `resume`, undo does not pause
    /// the other session.
    fn refuse_second_active(&self, history: &[Recorded], to_version: u64) -> Result<()> {
        let kept = usize::try_from(to_version).unwrap_or(usize::MAX).min(history.len());
        let Some(session) = Session::fold(&history[..kept]) else { return Ok(()) };
        if session.lifecycle != Lifecycle::Active || session.parallel {
            return Ok(());
        }
        match self.store.active(&session.worktree)?.filter(|active| *active != session.id) {
            None => Ok(()),
            Some(active) => Err(Error::ActiveAlready {
                session: session.id.to_string(),
                active: active.to_string(),
                worktree: session.worktree,
            }),
        }
    }
}

impl Finished {
    fn of_row(row: &SessionRow) -> Self {
        Self { id: row.id.clone(), title: row.title.clone(), at: row.updated_at }
    }
}

fn finished_texts(finished: &[Finished]) -> Vec<String> {
    let line = |one: &Finished| format!("{} ({})", one.id, one_line(&one.title, LONGEST_NAME));
    finished.iter().take(MOST_NAMED).map(line).collect()
}

/// Returns the name of a checkpoint. A number is refused, because it means a version.
fn checkpoint_name(text: &str) -> Result<String> {
    let wrong = |message: String| Error::WrongUsage {
        message,
        hint: Hint::new("use a few words: ").run_here(words!["checkpoint", "-m", "before the rewrite"]),
    };
    let name = bounded("the name", text.trim())?;
    if name.is_empty() || one_line(&name, LONGEST_NAME) != name {
        return Err(wrong(format!("a checkpoint's name must be one line of 1 to {LONGEST_NAME} characters")));
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(format!("'{name}' cannot be a checkpoint's name: a number means a version")));
    }
    Ok(name)
}

/// Returns the name of a checkpoint if none is given, such as `build, 14 Nov 10:30`.
fn usual_name(session: &Session, now: Timestamp) -> String {
    let phase = session.run().map_or("start", |run| run.current().id().as_str());
    let plain = format!("{phase}, {}", now.strftime("%-d %b %H:%M"));
    let is_free = |name: &String| session.checkpoints.iter().all(|checkpoint| checkpoint.name != *name);
    let numbered = (2_u32..).map(|number| format!("{plain} ({number})"));
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or(plain)
}
