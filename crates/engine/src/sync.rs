//! Sessions that live in files of another tool's format: found, laid over in memory when they are looked at, taken in
//! by the first command that changes them, and written again after every one. Layouts say what files mean; the disk is
//! done here, for all of them alike.

mod ahead;
mod aside;
mod bringing;
mod choice;
mod elsewhere;
mod evidence;
mod eyes;
mod find;
mod furniture;
mod gone;
mod home;
mod index;
mod late;
mod lines;
mod look;
mod mend;
mod moving;
mod numbers;
mod origin;
mod originals;
mod placing;
mod pointed;
mod rivals;
mod run_folders;
mod says;
mod shared;
mod shorts;
mod show;
mod signs;
mod slips;
mod telling;
mod torn;
pub(crate) mod tree;

pub(crate) use eyes::LONGEST_WARNING;
pub(crate) use find::{Owner, has_foreign};
pub use find::{has_own_screen, layout_names, workflows_with_a_screen};
pub(crate) use look::Look;
pub use mend::{Mended, Rung, repair};
pub(crate) use origin::{Origin, own_part};
pub(crate) use placing::make_private;
pub(crate) use pointed::{Pointed, around, pointed, sessions_in, spot_at};
pub(crate) use says::{heading, in_own_words};

use crate::engine::Engine;
use crate::error::{Choice, Error, Result};
use crate::execute::plan;
use crate::items::item_row;
use crate::redact;
use crate::view::Warning;
use find::Foreign;
use layouts::layout::{Folder, ReadAs, Spot};
use layouts::question::where_to_resume;
use layouts::reading::Dated;
use model::event::{Event, ItemEvent, Recorded};
use model::hint::CommandLine;
use model::id::SessionId;
use model::item::ItemBook;
use model::phase::Phase;
use model::progress::SignsOfWork;
use model::session::Session;
use model::words;
use model::workflow::Workflow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use store::{Batch, ItemsReplaced, Loaded};

/// The layout of sessions that have no files.
pub(crate) const NATIVE: &str = "native";

/// How often a session is looked at that other processes keep changing.
const MOST_LOOKS: usize = 50;

/// What was found when sessions were looked at, until something changes.
#[derive(Default)]
pub(crate) struct Seen {
    looks: RefCell<BTreeMap<SessionId, Look>>,
    /// What this process last put into each file.
    put: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    signs: RefCell<Option<Arc<signs::Signs>>>,
    /// Where sessions of a layout may be.
    spots: RefCell<BTreeMap<&'static str, Vec<Spot>>>,
    shorts: RefCell<Option<Arc<Vec<shorts::Short>>>>,
    shares: RefCell<Option<Arc<shorts::Shares>>>,
    /// A command is being decided: a file that somebody is just writing is waited for.
    is_changing: Cell<bool>,
    /// That command pauses what was active here.
    makes_room: Cell<bool>,
    /// Files that nobody can look at are set aside and written anew: a person asked for it.
    is_mending: Cell<bool>,
    /// A person said where a session goes on of which nothing tells.
    is_told_where: Cell<bool>,
}

impl Seen {
    /// From now on, until told otherwise, a command is being decided.
    pub(crate) fn set_changing(&self, is_changing: bool) {
        self.is_changing.set(is_changing);
        self.makes_room.set(false);
    }

    pub(crate) fn set_making_room(&self) {
        self.makes_room.set(true);
    }

    pub(crate) fn makes_room(&self) -> bool {
        self.makes_room.get()
    }

    pub(crate) fn is_changing(&self) -> bool {
        self.is_changing.get()
    }

    pub(crate) fn forget(&self) {
        self.looks.borrow_mut().clear();
        self.signs.replace(None);
        self.spots.borrow_mut().clear();
        self.shorts.replace(None);
        self.shares.replace(None);
    }
}

impl Engine {
    /// Lays over a session what its files tell and its log does not. Once for each session, until `look_again`.
    pub(crate) fn attend(&self, id: &SessionId) -> Result<()> {
        if self.seen.looks.borrow().contains_key(id) {
            return Ok(());
        }
        // Another process may keep something between two steps of a look outside this one's turn: it looks again.
        let mut look = self.look_once(id);
        for _ in 0..MOST_LOOKS {
            if !look.as_ref().is_err_and(Error::is_contended) {
                break;
            }
            look = self.look_once(id);
        }
        if let Some(look) = look? {
            self.seen.looks.borrow_mut().insert(id.clone(), look);
        }
        Ok(())
    }

    /// None for a session without files.
    fn look_once(&self, id: &SessionId) -> Result<Option<Look>> {
        match self.store.load(id)? {
            Some(loaded) if loaded.row.layout == NATIVE => Ok(None),
            Some(loaded) => self.look_at_files(&loaded),
            None => self.foreign_when_written(id).map(|found| self.adopt(found)).transpose(),
        }
    }

    /// The same for one that was found in files and that the store does not have: without looking for it again.
    pub(crate) fn attend_found(&self, located: &find::Located) -> Result<()> {
        if self.seen.looks.borrow().contains_key(&located.id) {
            return Ok(());
        }
        // Whoever writes needs the whole of each file; whoever only looks at many does not.
        let is_mending = self.seen.is_mending.get();
        let found = if is_mending { self.foreign_found(located) } else { self.foreign_among_many(located) };
        if let Some(found) = found {
            let look = match self.adopt(found) {
                // Another process took it in meanwhile.
                Err(error) if error.is_contended() => return self.attend(&located.id),
                other => other?,
            };
            self.seen.looks.borrow_mut().insert(located.id.clone(), look);
        }
        Ok(())
    }

    /// Whatever was laid over is forgotten: the files are looked at anew.
    pub(crate) fn look_again(&self) {
        self.seen.forget();
        self.store.forget();
    }

    /// What a person should know about a session's files.
    pub(crate) fn file_warnings(&self, id: &SessionId) -> Vec<Warning> {
        self.seen.looks.borrow().get(id).map(|look| look.warnings.clone()).unwrap_or_default()
    }

    /// What a session's own files tell of somebody who is at work, as the look at them found it.
    pub(crate) fn signs_of_work(&self, id: &SessionId) -> SignsOfWork {
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(id) else { return SignsOfWork::default() };
        let (layout, spot) = (look.located.layout, &look.located.spot);
        let now = self.clock.now();
        let is_own = |path: &&str| spot.below_project(path).starts_with(&spot.path);
        let written = look.tree.files().filter(is_own).filter_map(|path| look.tree.modified(path));
        // A time that lies ahead says nothing about when somebody was here.
        let written = written.filter(|at| *at <= now).max();
        SignsOfWork { written, alone: layout.facts().stalls_in_silence }
    }

    fn look_at_files(&self, loaded: &Loaded) -> Result<Option<Look>> {
        let session = self.folded(loaded)?;
        let Some(located) = self.located(&session) else { return Ok(None) };
        let mut items = self.all_items(&session.id)?;
        let mut look = Look::of_kept(self, &located, &session, self.store.views(&session.id)?);
        let mut events = look.taken_in(self, &session, items.clone());
        for dated in &mut events {
            drop(redact::event(&mut dated.event));
        }
        if events.is_empty() {
            return Ok(Some(look));
        }
        let actor = self.actor_of(look.located.layout);
        let recorded: Vec<Recorded> = events
            .into_iter()
            .zip(session.version + 1..)
            .map(|(Dated { at, event }, version)| Recorded { version, at, actor: actor.clone(), event })
            .collect();
        let after = recorded.iter().fold(session.clone(), Session::apply).trimmed();
        let stream = plan::stream(&after, session.version, &recorded)?;
        for recorded in &recorded {
            if let Event::Item(event) = &recorded.event {
                items.apply(event, recorded.at, &recorded.actor);
            }
        }
        // Rows are kept one by one, unless some are none any more.
        let is_drop = |event: &Event| matches!(event, Event::Item(ItemEvent::ItemDropped { .. }));
        let has_dropped = recorded.iter().any(|recorded| is_drop(&recorded.event));
        let row = |item| item_row(&session.id, item);
        let (rows, replaced) = if has_dropped {
            let rows = items.iter().map(row).collect::<Result<_>>()?;
            (Vec::new(), vec![ItemsReplaced { session: session.id.clone(), rows }])
        } else {
            (items.touched().map(row).collect::<Result<_>>()?, Vec::new())
        };
        let begins_a_run = recorded.iter().any(|recorded| matches!(recorded.event, Event::RunStarted { .. }));
        let definitions =
            if begins_a_run { self.definitions_of_runs(&look.workflows, &after)? } else { Vec::new() };
        let rest = Batch { definitions, items: rows, replace_items: replaced, ..Batch::default() };
        self.store.lay_over(&stream, rest)?;
        Ok(Some(look))
    }

    /// Lays a session over that is not ours yet: what its files tell.
    fn adopt(&self, mut found: Foreign) -> Result<Look> {
        for recorded in &mut found.recorded {
            drop(redact::event(&mut recorded.event));
        }
        // Folded again: what was taken out of the events must be nowhere else.
        let session = plan::fold_whole(&found.recorded)?.trimmed();
        let items = ItemBook::fold(&found.recorded);
        let stream = plan::stream(&session, 0, &found.recorded)?;
        let definitions = self.definitions_of_runs(&found.told.workflows, &session)?;
        let rows = items.iter().map(|item| item_row(&session.id, item));
        let rest = Batch { definitions, items: rows.collect::<Result<_>>()?, ..Batch::default() };
        self.store.lay_over(&stream, rest)?;
        Ok(Look::of_foreign(found))
    }

    /// Lays a session of another project's files over, as if it were in this one. Tells its id here.
    pub(crate) fn attend_elsewhere(&self, pointed: &Pointed) -> Result<SessionId> {
        let found = self.foreign_elsewhere(pointed)?;
        let id = found.id.clone();
        let mut look = self.adopt(found)?;
        look.brought_from = Some(pointed.place());
        self.seen.looks.borrow_mut().insert(id.clone(), look);
        Ok(id)
    }

    /// A session of which nothing can be known is left as it is: whatever was written of it would be invented.
    pub(crate) fn refuse_what_nobody_knows(&self, id: &SessionId) -> Result<()> {
        let looks = self.seen.looks.borrow();
        match looks.get(id).and_then(Look::what_nobody_knows) {
            Some((path, why)) => Err(Error::NothingKnown { session: id.to_string(), path, why }),
            None => Ok(()),
        }
    }

    /// A session of which nothing tells where it stands is not begun again by guessing: a person says where it goes on.
    pub(crate) fn refuse_until_somebody_says(&self, session: &Session) -> Result<()> {
        match self.where_to_resume(session) {
            Some((question, choices)) if !self.seen.is_told_where.get() => {
                Err(Error::NeedsChoice { question, choices })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What its tool reports when nothing tells where a session stands, and the phases that it may go on in.
    fn where_to_resume(&self, session: &Session) -> Option<(String, Vec<Choice>)> {
        let looks = self.seen.looks.borrow();
        let look = looks.get(&session.id).filter(|look| look.is_foreign)?;
        let (spot, tree) = (&look.located.spot, &look.documents);
        let now = self.clock.now();
        let folder =
            Folder { spot, id: &session.id, worktree: &session.worktree, tree, now, read_as: ReadAs::Found };
        let report = where_to_resume(look.located.layout, &folder)?;
        let run = session.run()?;
        // One of another project is mended where it is; only then can it come here.
        let there = look.brought_from.as_deref().and_then(pointed);
        let meant = there.map_or_else(
            || words!["--session", session.id],
            |there| words!["--project", there.root.display(), "--session", there.spot.id],
        );
        let choice = |(place, phase): (usize, &Phase)| Choice {
            key: run.number_at(place).to_string(),
            words: phase.stub.title.clone(),
            command: CommandLine::new([words!["repair"], meant.clone(), words!["--at", phase.id()]].concat()),
            session: session.id.to_string(),
            phase: Some(phase.id().to_string()),
        };
        Some((
            format!("{report} Where is it to resume?"),
            run.phases.iter().enumerate().map(choice).collect(),
        ))
    }

    /// That a session was taken in, if it is about to be.
    pub(crate) fn adoption(&self, id: &SessionId) -> Option<Event> {
        let looks = self.seen.looks.borrow();
        let look = looks.get(id).filter(|look| look.is_foreign)?;
        let located = &look.located;
        Some(Event::Adopted {
            layout: located.layout.facts().name.to_owned(),
            path: located.spot.path.clone(),
        })
    }

    /// The definitions that its runs follow, as far as they are known here.
    fn definitions_of_runs(
        &self,
        brought: &[Workflow],
        session: &Session,
    ) -> Result<Vec<store::DefinitionRow>> {
        let mut rows = Vec::new();
        for run in &session.runs {
            let name = &run.workflow.name;
            let own = brought.iter().find(|own| own.name == *name).cloned();
            let known = own.or_else(|| crate::definitions::load_builtin(name.as_str()));
            if let Some(workflow) = known.filter(|known| known.hash == run.workflow.hash) {
                rows.push(plan::definition_row(&workflow)?);
            }
        }
        Ok(rows)
    }
}
