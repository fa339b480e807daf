//! Reports problems with sessions' files, and fixes them on request. Deletes nothing. A repeated repair changes nothing
//! more.

pub(crate) mod originals;
pub(crate) mod quarantine;

use crate::doctor::Finding;
use crate::engine::{Engine, Intent, Options};
use crate::error::{Choice, Error, Result};
use crate::execute::plan::Plan;
use crate::foreign::observation_cache::{Aim, Scope};
use crate::foreign::observe::{FileState, Observation};
use crate::foreign::repair::originals::Originals;
use crate::foreign::repair::quarantine::in_the_way;
use crate::view::Warning;
use layouts::reader::Located;
use model::command::{Command, decide};
use model::event::Event;
use model::hint::Hint;
use model::id::SessionId;
use model::words;
use serde::Serialize;
use std::path::PathBuf;
use std::rc::Rc;
use store::{Batch, Filter};

/// The source from which a session with a damaged state file is repaired. The first source that exists is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    Log,
    Backup,
    Artifacts,
    /// Nothing is known about the session, so only a person can say where it continues.
    Person,
}

impl Rung {
    /// Returns what may be lost if this source is used.
    fn approximate(self) -> Option<&'static str> {
        match self {
            Self::Log => None,
            Self::Backup => Some("later changes are lost"),
            Self::Artifacts => {
                Some("the phase and times are derived from the session's files, and may be behind")
            }
            Self::Person => Some("the position is the one you chose"),
        }
    }
}

/// The result of repairing a session's files.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Repaired {
    pub session_id: String,
    /// The source of the repair; `None` if no state file was missing or unreadable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Rung>,
    /// The possible loss by the repair, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximate: Option<&'static str>,
    /// The session's position after the repair, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
    /// Problems and fixes, one line each.
    pub done: Vec<String>,
    /// Why the session could not be repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The choices of a person, who must choose before the session can be repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    pub warnings: Vec<Warning>,
}

impl Repaired {
    fn of(id: &SessionId) -> Self {
        Self { session_id: id.to_string(), ..Self::default() }
    }

    fn not(id: &SessionId, why: Error) -> Self {
        let (failed, choices) = match why {
            Error::NeedsChoice { question, choices } => (question, choices),
            gone @ Error::FolderGone { .. } => {
                (format!("{gone}; {}", gone.hint().unwrap_or_default()), Vec::new())
            }
            other => (other.to_string(), Vec::new()),
        };
        Self { failed: Some(failed), choices, ..Self::of(id) }
    }
}

/// Repairs the files of the named session or, without a name, of all sessions in this worktree. `at` is the phase in
/// which a session with an unknown position continues, by id or number.
pub fn repair(options: Options, at: Option<&str>) -> Result<Vec<Repaired>> {
    let mut engine = Engine::open(options, Intent::Create)?;
    engine.scope = Scope::of(Aim::Repair { says_where: at.is_some() });
    let asked = engine.options.session.clone();
    engine.make_lost_folders(asked.as_deref())?;
    let named = asked.map(|asked| engine.resolve(&asked)).transpose()?;
    let mut repaired = Vec::new();
    let mut listed = engine.badly_listed(named.as_ref());
    let mut originals = Originals::of(&engine);
    for backed in engine.file_backed()? {
        let id = backed.id().clone();
        if named.as_ref().is_some_and(|named| *named != id) {
            continue;
        }
        let done = engine
            .repair_session(&backed, listed.remove(&id), at, named.is_some())
            .and_then(|repaired| engine.repair_place(&id, repaired));
        // If one session cannot be repaired, the others are repaired anyway.
        let done = match done {
            Ok(None) => continue,
            Ok(Some(repaired)) => repaired,
            Err(error) if at.is_some() => return Err(error),
            Err(error) => Repaired::not(&id, error),
        };
        let kept = originals.keep_what_changed(&engine)?;
        repaired.push(Repaired { done: done.done.into_iter().chain(kept).collect(), ..done });
    }
    if at.is_some() && repaired.is_empty() {
        return Err(Error::WrongUsage {
            message: "no session has an unknown position".to_owned(),
            hint: Hint::new("see what is wrong: ")
                .run(words!["doctor"])
                .then("; to move any other session back to a phase: ")
                .run_here(words!["rollback", "PHASE"]),
        });
    }
    Ok(repaired)
}

/// A session with files, either stored or known only from its files.
enum Backed {
    Kept(SessionId),
    Found(Located),
}

impl Backed {
    fn id(&self) -> &SessionId {
        match self {
            Self::Kept(id) => id,
            Self::Found(located) => &located.id,
        }
    }
}

impl Engine {
    /// Returns findings about problems with sessions' files. Changes nothing.
    pub(crate) fn file_findings(&self) -> Result<Vec<Finding>> {
        let mut findings = self.came_along_findings()?;
        let listed = self.badly_listed(None);
        let registries = self.registry_paths();
        for backed in self.file_backed()? {
            let id = backed.id().clone();
            if let Err(error) = self.observe_backed(&backed) {
                findings.push(Finding {
                    kind: error.kind().to_owned(),
                    message: format!("session {id}: {error}"),
                    hint: error.hint(),
                });
                continue;
            }
            if self.observed(&id).is_some_and(|observation| observation.holds_nothing()) {
                continue;
            }
            if self.store.base_has(&id) {
                findings.extend(self.load(&id).ok().and_then(|(_, session)| self.misplaced(&session)));
            }
            let damaged = self.damaged_files(&id);
            // A missing file that an unfinished session names is a discrepancy, which is reported with its remedy.
            let is_open = self.load(&id).is_ok_and(|(_, session)| !session.lifecycle.is_over());
            let is_meant = |said: &Warning| said.needs_repair() && !(is_open && said.names_missing_file());
            for warning in self.file_warnings(&id).into_iter().filter(is_meant) {
                let is_damaged = warning.path.as_ref().is_some_and(|path| damaged.contains(path));
                let is_mended = listed.contains_key(&id)
                    && warning.path.as_ref().is_some_and(|path| registries.contains(path));
                let is_lost = warning.problem.as_ref().is_some_and(|problem| problem.needs_a_person());
                let hint = match warning.hint {
                    Some(hint) => hint,
                    None if is_lost => Hint::new("a person chooses where the session continues: ")
                        .run(words!["repair"])
                        .then(" asks; --at PHASE answers"),
                    None if is_damaged || is_mended => {
                        Hint::new("repair the session: ").run(words!["repair", "--session", id])
                    }
                    None => "fix the file by hand; until then, leftoff works around the problem".into(),
                };
                let message = format!("session {id}: {}", warning.message);
                findings.push(Finding { kind: warning.kind, message, hint: Some(hint) });
            }
        }
        findings.extend(in_the_way(&self.project.root, &self.known_files()));
        Ok(findings)
    }

    /// Returns the files that leftoff wrote for sessions of this worktree.
    fn known_files(&self) -> Vec<PathBuf> {
        let files = |observation: Rc<Observation>| {
            observation.rows().map(|row| observation.home.join(&row.path)).collect::<Vec<_>>()
        };
        self.scope.all().into_iter().flat_map(files).collect()
    }

    /// Returns the paths of a session's unreadable state files, as warnings name them.
    fn damaged_files(&self, id: &SessionId) -> Vec<String> {
        let Some(observation) = self.observed(id) else { return Vec::new() };
        let damaged = observation.in_state(FileState::Damaged).into_iter();
        damaged
            .chain(observation.in_state(FileState::Unreadable))
            .filter(|path| !observation.untold().any(|untold| untold == path))
            .map(|path| observation.located.spot.below_project(&path))
            .collect()
    }

    /// Returns the sessions of this worktree that have files, adopted or not.
    fn file_backed(&self) -> Result<Vec<Backed>> {
        let here = Filter { worktree: Some(self.project.worktree()), ..Filter::default() };
        let kept = self.store.list(&here)?.into_iter().filter(|listed| listed.row.layout != crate::NATIVE);
        let mut all: Vec<Backed> = kept.map(|listed| Backed::Kept(listed.row.id)).collect();
        all.extend(self.unadopted().into_iter().map(Backed::Found));
        Ok(all)
    }

    fn observe_backed(&self, backed: &Backed) -> Result<()> {
        match backed {
            Backed::Kept(id) => self.observe(id).map(drop),
            Backed::Found(located) => self.observe_found(located),
        }
    }

    /// Returns the state files of a session that contain a text.
    pub(crate) fn files_with(&self, id: &SessionId, text: &str) -> Vec<String> {
        let Some(observation) = self.observed(id) else { return Vec::new() };
        let holds = |path: &&String| observation.tree.content(path).is_some_and(|bytes| holds(bytes, text));
        let with_it = observation.verdicts.keys().filter(holds);
        with_it.map(|path| observation.located.spot.below_project(path)).collect()
    }

    /// Adopts a session's edits, writes its files, and clears stored earlier content that contains a text.
    pub(crate) fn settle(&mut self, id: &SessionId, text: &str) -> Result<()> {
        self.adopt_edits(id)?;
        self.publish_session(id)?;
        let mut views = self.store.views(id)?;
        views.retain(|row| holds(&row.previous, text));
        for row in &mut views {
            row.previous.clear();
        }
        if !views.is_empty() {
            self.store.append(&Batch { views, ..Batch::default() })?;
        }
        self.forget_observations();
        Ok(())
    }

    fn repair_session(
        &mut self,
        backed: &Backed,
        listed: Option<Vec<String>>,
        at: Option<&str>,
        is_named: bool,
    ) -> Result<Option<Repaired>> {
        let id = backed.id();
        self.forget_observations();
        self.observe_backed(backed)?;
        let is_lost = self.where_to_resume(&self.load(id)?.1).is_some();
        // The option `at` is meant only for the named session.
        if at.is_some() && !is_lost {
            return Ok(None);
        }
        if self.is_gone(id) && !is_named {
            let has_warning = !self.file_warnings(id).is_empty();
            return if has_warning { Err(self.gone(id)) } else { Ok(None) };
        }
        let is_badly_listed = listed.is_some();
        let observation = self.observed(id).filter(|observation| !observation.holds_nothing());
        let Some(observation) = observation else { return Ok(None) };
        let is_bad = |state| matches!(state, FileState::Damaged | FileState::Unreadable);
        let is_damaged = observation.states().any(|(_, state)| is_bad(state));
        // A foreign session is not changed while it is readable and consistent.
        let is_fine = if observation.is_foreign() {
            !is_badly_listed && !self.counts_as_paused(id)
        } else {
            observation.is_settled()
        };
        if is_fine && !is_damaged {
            return Ok(None);
        }
        let from = is_damaged.then(|| rung(&observation, is_lost));
        let mut wrong = self.file_warnings(id);
        let mut warnings = if observation.is_foreign() {
            self.adopt_and_write(id, at)?
        } else {
            self.adopt_edits(id)?;
            self.publish_session(id)?
        };
        let still = self.still_odd(id)?;
        wrong.retain(|warning| !still.contains(warning));
        warnings.retain(|warning| !wrong.contains(warning));
        let stands = from.and_then(|_| self.stands(id));
        let approximate = from.and_then(Rung::approximate);
        let done = wrong.iter().map(as_done).chain(listed.unwrap_or_default()).collect();
        Ok(Some(Repaired { from, approximate, stands, done, warnings, ..Repaired::of(id) }))
    }

    /// Returns the warnings that remain after a repair. Oddities in readable files are left to whoever wrote them.
    fn still_odd(&mut self, id: &SessionId) -> Result<Vec<Warning>> {
        self.forget_observations();
        self.observe(id)?;
        Ok(self.file_warnings(id))
    }

    /// Moves a session's files to the folder that fits its state.
    fn repair_place(&mut self, id: &SessionId, repaired: Option<Repaired>) -> Result<Option<Repaired>> {
        if !self.store.base_has(id) {
            return Ok(repaired);
        }
        let (_, session) = self.load(id)?;
        let (Some((path, true)), Some(wrong)) = (self.to_be_at(&session), self.misplaced(&session)) else {
            return Ok(repaired);
        };
        let fingerprint = self.fingerprint("repair", id.as_str());
        let answer = self.in_turn(&fingerprint, |engine| {
            let moved = Event::SessionMoved { path: path.clone() };
            Ok(Plan::of(engine.load_subject(id)?.change(vec![moved])))
        })?;
        let mut repaired = repaired.unwrap_or_else(|| Repaired::of(id));
        repaired.done.push(wrong.message);
        repaired.warnings.extend(answer.view.warnings);
        Ok(Some(repaired))
    }

    /// Describes a session's position in a few words.
    fn stands(&self, id: &SessionId) -> Option<String> {
        let (_, session) = self.load(id).ok()?;
        let run = session.run()?;
        let (number, total) = (run.current_number(), run.phases.len());
        let title = &run.current().stub.title;
        Some(format!("{}, run {}, phase {number} of {total}, {title}", run.workflow.name, run.ordinal))
    }

    /// Adopts a session that its own tool can no longer read, as far as its files are readable, and writes them again.
    fn adopt_and_write(&mut self, id: &SessionId, at: Option<&str>) -> Result<Vec<Warning>> {
        let fingerprint = self.fingerprint("repair", &format!("{id} {at:?}"));
        let answer = self.in_turn(&fingerprint, |engine| {
            let subject = engine.load_subject(id)?;
            let events = match at {
                Some(phase) => decide(&subject.session, Command::ContinueAt { phase: phase.to_owned() })?,
                None => Vec::new(),
            };
            Ok(Plan::of(subject.change_and_found(events)))
        })?;
        if answer.view.view_stale {
            let stale = answer.view.warnings.iter().find(|warning| warning.kind == "view_stale");
            let why = stale.map_or("its files could not be written", |warning| &warning.message);
            return Err(Error::io(format!("repairing {id}"), std::io::Error::other(why)));
        }
        Ok(answer.view.warnings)
    }
}

/// Returns the source from which a session with a damaged file is repaired.
fn rung(observation: &Observation, is_lost: bool) -> Rung {
    if !observation.is_foreign() {
        return Rung::Log;
    }
    if is_lost {
        return Rung::Person;
    }
    let is_damaged = |state| matches!(state, FileState::Damaged | FileState::Unreadable | FileState::Missing);
    let mut damaged = observation.states().filter(|(_, state)| is_damaged(*state)).map(|(path, _)| path);
    let is_replaced = |path: &String| observation.documents.content(path) != observation.tree.content(path);
    if damaged.all(is_replaced) { Rung::Backup } else { Rung::Artifacts }
}

/// Returns the message that a problem was fixed. If the problem has no such message, returns its usual one.
fn as_done(warning: &Warning) -> String {
    let path = warning.path.as_deref().unwrap_or_default();
    let done = warning.problem.as_ref().and_then(|problem| problem.when_repaired(path));
    done.unwrap_or_else(|| warning.message.clone())
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len().max(1)).any(|part| part == text.as_bytes())
}
