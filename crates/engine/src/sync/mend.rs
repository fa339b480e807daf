//! Says what is wrong with sessions' files, and mends it on request: nothing is deleted, and twice is the same as once.

use super::aside::in_the_way;
use super::find::Located;
use super::index::MOST_MADE;
use super::look::{FileState, Look};
use super::originals::Originals;
use super::show::is_settled;
use crate::disk;
use crate::doctor::Finding;
use crate::engine::{Engine, Intent, Options};
use crate::error::{Choice, Error, Result};
use crate::execute::plan::Plan;
use crate::view::Warning;
use model::command::{Command, decide};
use model::event::Event;
use model::hint::Hint;
use model::id::SessionId;
use model::words;
use serde::Serialize;
use std::path::PathBuf;
use store::{Batch, Filter};

/// What a session is known from when a file of its state is damaged: the first that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    Log,
    Backup,
    Artifacts,
    /// Nothing tells of it: only a person can.
    Person,
}

impl Rung {
    /// What may not be as it was.
    fn approximate(self) -> Option<&'static str> {
        match self {
            Self::Log => None,
            Self::Backup => Some("what was changed after that version is not in it"),
            Self::Artifacts => Some(
                "the phase is the one that its files show, which may be behind; its times are those of its files",
            ),
            Self::Person => Some("nothing but you tells how far it was"),
        }
    }
}

/// What was done about a session's files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mended {
    pub session_id: String,
    /// What it was mended from, where a file of its state was missing or could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Rung>,
    /// What may not be as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximate: Option<&'static str>,
    /// Where it stands by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
    /// What was wrong and what was done, one line each.
    pub done: Vec<String>,
    /// Why it could not be mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why it cannot be mended before a person chooses one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    pub warnings: Vec<Warning>,
}

impl Mended {
    fn of(id: &SessionId) -> Self {
        Self {
            session_id: id.to_string(),
            from: None,
            approximate: None,
            stands: None,
            choices: Vec::new(),
            done: Vec::new(),
            failed: None,
            warnings: Vec::new(),
        }
    }
}

/// Mends what is wrong with sessions' files: of the one that is named, else of all in this worktree. Where a session goes
/// on of which nothing tells is `at`, a phase by its id or number.
pub fn repair(options: Options, at: Option<&str>) -> Result<Vec<Mended>> {
    let mut engine = Engine::open(options, Intent::Create)?;
    engine.seen.is_mending.set(true);
    engine.seen.is_told_where.set(at.is_some());
    engine.seen.set_changing(true);
    let asked = engine.options.session.clone();
    engine.make_lost_folders(asked.as_deref())?;
    let named = match asked {
        Some(asked) => Some(engine.resolve(&asked)?),
        None => None,
    };
    let mut mended = Vec::new();
    let mut listed = engine.badly_listed(named.as_ref());
    let mut originals = Originals::of(&engine);
    for backed in engine.file_backed()? {
        let id = backed.id().clone();
        if named.as_ref().is_some_and(|named| *named != id) {
            continue;
        }
        let done = engine
            .mend(&backed, listed.remove(&id), at, named.is_some())
            .and_then(|mended| engine.mend_place(&id, mended));
        // One that cannot be mended keeps no other from it.
        let done = match done {
            Ok(None) => continue,
            Ok(Some(mended)) => mended,
            Err(error) if at.is_some() => return Err(error),
            Err(error) => Mended::not(&id, error),
        };
        let kept = originals.keep_what_changed(&engine)?;
        mended.push(Mended { done: done.done.into_iter().chain(kept).collect(), ..done });
    }
    if at.is_some() && mended.is_empty() {
        return Err(Error::WrongUsage {
            message: "there is no session of which nothing tells where it stands".to_owned(),
            hint: Hint::new("what is wrong: ")
                .run(words!["doctor"])
                .then("; to go back in another: ")
                .run_here(words!["rollback", "PHASE"]),
        });
    }
    Ok(mended)
}

impl Mended {
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

/// A session that has files: in the store, or only found in them.
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
    /// What is wrong with sessions' files, found without touching any.
    pub(crate) fn file_findings(&self) -> Result<Vec<Finding>> {
        let mut findings = self.came_along_findings()?;
        let listed = self.badly_listed(None);
        let indexes = self.index_paths();
        for backed in self.file_backed()? {
            let id = backed.id().clone();
            if let Err(error) = self.attend_backed(&backed) {
                findings.push(Finding {
                    kind: error.kind().to_owned(),
                    message: format!("session {id}: {error}"),
                    hint: error.hint(),
                });
                continue;
            }
            if self.seen.looks.borrow().get(&id).is_some_and(Look::holds_nothing) {
                continue;
            }
            if self.store.base_has(&id) {
                findings.extend(self.load(&id).ok().and_then(|(_, session)| self.misplaced(&session)));
            }
            let damaged = self.damaged_files(&id);
            for warning in self.file_warnings(&id).into_iter().filter(Warning::is_to_mend) {
                let is_damaged = warning.path.as_ref().is_some_and(|path| damaged.contains(path));
                let is_mended = listed.contains_key(&id)
                    && warning.path.as_ref().is_some_and(|path| indexes.contains(path));
                let is_lost = warning.problem.as_ref().is_some_and(|problem| problem.needs_a_person());
                let hint = match warning.hint {
                    Some(hint) => hint,
                    None if is_lost => Hint::new("a person says where it goes on: ")
                        .run(words!["repair"])
                        .then(" asks, or takes it with --at PHASE"),
                    None if is_damaged || is_mended => {
                        Hint::new("mend it: ").run(words!["repair", "--session", id])
                    }
                    None => "mend it there; what is odd in a file is shown and left as it is".into(),
                };
                let message = format!("session {id}: {}", warning.message);
                findings.push(Finding { kind: warning.kind, message, hint: Some(hint) });
            }
        }
        findings.extend(in_the_way(&self.project.root, &self.known_files()));
        Ok(findings)
    }

    /// The files of sessions of this worktree that we have written.
    fn known_files(&self) -> Vec<PathBuf> {
        let looks = self.seen.looks.borrow();
        let files = |look: &Look| look.rows.keys().map(|path| look.home.join(path)).collect::<Vec<_>>();
        looks.values().flat_map(files).collect()
    }

    /// Files of a session's state that cannot be read, as warnings name them.
    fn damaged_files(&self, id: &SessionId) -> Vec<String> {
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(id) else { return Vec::new() };
        let damaged = look.in_state(FileState::Damaged).into_iter();
        damaged
            .chain(look.in_state(FileState::Unreadable))
            .filter(|path| !look.untold().any(|untold| untold == path))
            .map(|path| look.located.spot.below_project(&path))
            .collect()
    }

    /// Sessions of this worktree that have files, ours and those that are not yet.
    fn file_backed(&self) -> Result<Vec<Backed>> {
        let here = Filter { worktree: Some(self.project.worktree()), ..Filter::default() };
        let kept = self.store.list(&here)?.into_iter().filter(|listed| listed.row.layout != super::NATIVE);
        let mut all: Vec<Backed> = kept.map(|listed| Backed::Kept(listed.row.id)).collect();
        all.extend(self.unadopted().into_iter().map(Backed::Found));
        Ok(all)
    }

    fn attend_backed(&self, backed: &Backed) -> Result<()> {
        match backed {
            Backed::Kept(id) => self.attend(id),
            Backed::Found(located) => self.attend_found(located),
        }
    }

    /// Files of a session's state that hold a text.
    pub(crate) fn files_with(&self, id: &SessionId, text: &str) -> Vec<String> {
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(id) else { return Vec::new() };
        let holds = |path: &&String| look.tree.content(path).is_some_and(|bytes| holds(bytes, text));
        look.states.keys().filter(holds).map(|path| look.located.spot.below_project(path)).collect()
    }

    /// Takes in what a session's files say, writes them, and forgets what was there before where it held a text.
    pub(crate) fn settle(&mut self, id: &SessionId, text: &str) -> Result<()> {
        self.take_in(id)?;
        self.publish_session(id)?;
        let mut views = self.store.views(id)?;
        views.retain(|row| holds(&row.previous, text));
        for row in &mut views {
            row.previous.clear();
        }
        if !views.is_empty() {
            self.store.append(&Batch { views, ..Batch::default() })?;
        }
        self.look_again();
        Ok(())
    }

    /// A session that only an index tells of gets its folder back; what is in it is then written as for any other whose
    /// files are missing.
    fn make_lost_folders(&self, asked: Option<&str>) -> Result<()> {
        let mut lost = self.lost();
        match asked {
            Some(asked) => lost.retain(|spot| spot.id.as_str().eq_ignore_ascii_case(asked)),
            None if lost.len() > MOST_MADE => lost.clear(),
            None => {}
        }
        for spot in lost {
            let folder = disk::below(&self.project.root, &spot.path)?;
            std::fs::create_dir_all(&folder)
                .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
        }
        Ok(())
    }

    fn mend(
        &mut self,
        backed: &Backed,
        listed: Option<Vec<String>>,
        at: Option<&str>,
        is_named: bool,
    ) -> Result<Option<Mended>> {
        let id = backed.id();
        self.look_again();
        self.attend_backed(backed)?;
        let is_lost = self.where_to_resume(&self.load(id)?.1).is_some();
        // Who says where one goes on means no other.
        if at.is_some() && !is_lost {
            return Ok(None);
        }
        if self.is_gone(id) && !is_named {
            let is_told = !self.file_warnings(id).is_empty();
            return if is_told { Err(self.gone(id)) } else { Ok(None) };
        }
        let is_badly_listed = listed.is_some();
        let (mut wrong, is_foreign, from): (Vec<Warning>, bool, Option<Rung>) = {
            let looks = self.seen.looks.borrow();
            let Some(look) = looks.get(id).filter(|look| !look.holds_nothing()) else { return Ok(None) };
            let is_damaged =
                look.states.values().any(|state| matches!(state, FileState::Damaged | FileState::Unreadable));
            // Somebody else's session is left to them as long as it can be read and fits what the others say.
            let is_fine = if look.is_foreign {
                !is_badly_listed && !self.counts_as_paused(id)
            } else {
                is_settled(look)
            };
            if is_fine && !is_damaged {
                return Ok(None);
            }
            (look.warnings.clone(), look.is_foreign, is_damaged.then(|| rung(look, is_lost)))
        };
        let mut warnings = if is_foreign {
            self.take_over(id, at)?
        } else {
            self.take_in(id)?;
            self.publish_session(id)?
        };
        let still = self.still_odd(id)?;
        wrong.retain(|warning| !still.contains(warning));
        warnings.retain(|warning| !wrong.contains(warning));
        let stands = from.and_then(|_| self.stands(id));
        let approximate = from.and_then(Rung::approximate);
        let done = wrong.iter().map(as_done).chain(listed.unwrap_or_default()).collect();
        Ok(Some(Mended { from, approximate, stands, done, warnings, ..Mended::of(id) }))
    }

    /// What is odd in files that can be read is left to whoever wrote it.
    fn still_odd(&self, id: &SessionId) -> Result<Vec<Warning>> {
        self.look_again();
        self.attend(id)?;
        let looks = self.seen.looks.borrow();
        Ok(looks.get(id).map(|look| look.warnings.clone()).unwrap_or_default())
    }

    /// A session of ours whose files are where its end, or its going on, does not put them goes to its place.
    fn mend_place(&mut self, id: &SessionId, mended: Option<Mended>) -> Result<Option<Mended>> {
        if !self.store.base_has(id) {
            return Ok(mended);
        }
        let (_, session) = self.load(id)?;
        let (Some((path, true)), Some(wrong)) = (self.to_be_at(&session), self.misplaced(&session)) else {
            return Ok(mended);
        };
        let fingerprint = self.fingerprint("repair", id.as_str());
        let answer = self.execute(&fingerprint, |engine| {
            let moved = Event::SessionMoved { path: path.clone() };
            Ok(Plan::of(engine.take_up(id)?.change(vec![moved])))
        })?;
        let mut mended = mended.unwrap_or_else(|| Mended::of(id));
        mended.done.push(wrong.message);
        mended.warnings.extend(answer.view.warnings);
        Ok(Some(mended))
    }

    /// Where a session stands, in a few words.
    fn stands(&self, id: &SessionId) -> Option<String> {
        let (_, session) = self.load(id).ok()?;
        let run = session.run()?;
        let (number, total) = (run.current_number(), run.phases.len());
        let title = &run.current().stub.title;
        Some(format!("{}, run {}, phase {number} of {total}, {title}", run.workflow.name, run.ordinal))
    }

    /// A session that its own tool can no longer read is taken in, as far as its files tell, and written anew.
    fn take_over(&mut self, id: &SessionId, at: Option<&str>) -> Result<Vec<Warning>> {
        let fingerprint = self.fingerprint("repair", &format!("{id} {at:?}"));
        let answer = self.execute(&fingerprint, |engine| {
            let subject = engine.take_up(id)?;
            let events = match at {
                Some(phase) => decide(&subject.session, Command::GoOnAt { phase: phase.to_owned() })?,
                None => Vec::new(),
            };
            Ok(Plan::of(subject.change_and_found(events)))
        })?;
        if answer.view.view_stale {
            return Err(Error::io(
                format!("writing the files of {id}"),
                std::io::Error::other("they could not be written"),
            ));
        }
        Ok(answer.view.warnings)
    }
}

/// The first rung that a session with a damaged file is known from.
fn rung(look: &Look, is_lost: bool) -> Rung {
    if !look.is_foreign {
        return Rung::Log;
    }
    if is_lost {
        return Rung::Person;
    }
    let is_damaged =
        |state: &FileState| matches!(state, FileState::Damaged | FileState::Unreadable | FileState::Missing);
    let damaged = look.states.iter().filter(|(_, state)| is_damaged(state)).map(|(path, _)| path);
    let is_replaced = |path: &String| look.documents.content(path) != look.tree.content(path);
    if damaged.into_iter().all(is_replaced) { Rung::Backup } else { Rung::Artifacts }
}

/// What was found, with what became of it in place of what it meant until then.
fn as_done(warning: &Warning) -> String {
    let path = warning.path.as_deref().unwrap_or_default();
    let done = warning.problem.as_ref().and_then(|problem| problem.when_mended(path));
    done.unwrap_or_else(|| warning.message.clone())
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len().max(1)).any(|part| part == text.as_bytes())
}
