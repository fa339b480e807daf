//! One look at a session's files: which are as we wrote them, which somebody changed, and what that means. The rule is
//! fixed: bytes are compared, never times alone; an edit is never refused; what cannot be read is not an edit.

use super::evidence::{Found, Gathered};
use super::eyes::reason;
use super::find::{Foreign, Located};
use super::late::Before;
use super::moving::Moving;
use super::signs::is_sign;
use super::slips::Slip;
use super::tree;
use crate::disk::exchange;
use crate::engine::Engine;
use crate::view::Warning;
use jiff::Timestamp;
use layouts::layout::Merge;
use layouts::layout::{Depth, FileRules, ForeignSession, Knows, Layout, Proof, Spot};
use layouts::reading::Dated;
use layouts::reconcile::{self, Draft, Laid};
use layouts::tree::{Entry, Tree};
pub(crate) use layouts::verdict::FileState;
pub(super) use layouts::verdict::hash;
use layouts::verdict::{self, Base, Counts, Role, Verdict, verdict};
use model::event::Event;
use model::hint::Hint;
use model::id::ItemId;
use model::item::ItemBook;
use model::session::Session;
use model::words;
use model::workflow::Workflow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use store::ViewRow;

const FILE_CLOCK_LAG: i64 = 10;

/// How often files are looked at that another process is putting in their place.
const MOST_LOOKS: usize = 5;

/// What one look found.
pub(crate) struct Look {
    pub(crate) located: Located,
    /// Where the paths of the tree begin.
    pub(crate) home: PathBuf,
    /// As it is on disk.
    pub(crate) tree: Tree,
    /// What is to be edited: theirs where somebody changed something, with what they dropped put back.
    pub(crate) documents: Tree,
    /// Files that we wrote before, and those that appeared.
    pub(crate) states: BTreeMap<String, FileState>,
    pub(crate) rows: BTreeMap<String, ViewRow>,
    /// Edits that came between two of our steps, the earlier first: they are in nobody's file any more.
    pub(crate) slipped: Vec<Slip>,
    /// What is in files from which an edit came out that counts as if it were there.
    pub(super) over: BTreeMap<String, Vec<u8>>,
    /// What this process has put there, if that was not just what was to be: others' parts of a shared file are in it.
    pub(super) put: BTreeMap<String, Vec<u8>>,
    /// Files that were edited before what we want there got there: whoever did that had the version before.
    pub(super) not_there_yet: BTreeSet<String>,
    /// Backups that count in place of damaged parts that we never wrote.
    pub(super) stands_for: BTreeMap<String, Vec<u8>>,
    /// Why a damaged file cannot be read.
    pub(super) damage: BTreeMap<String, String>,
    /// Of a session that is not ours yet: the paths under which it is told what could not be read, and what stands for it.
    pub(super) lost: BTreeSet<String>,
    pub(crate) warnings: Vec<Warning>,
    /// Definitions that its files brought along.
    pub(crate) workflows: Vec<Workflow>,
    /// The store does not have the session yet.
    pub(crate) is_foreign: bool,
    /// Other files show more than those of its state say.
    pub(crate) is_proven: bool,
    /// Facts that other files show by existing.
    pub(super) proofs: Vec<Proof>,
    /// It was begun just now, or there is nothing left of what it was begun with.
    pub(crate) is_bare: bool,
    /// Its folder is yet to go to its place.
    pub(crate) moving: Option<Moving>,
    /// It comes from another project, where it is at this path.
    pub(crate) brought_from: Option<PathBuf>,
    /// Its folder was there, and is not any more.
    pub(crate) is_gone: bool,
    /// Of a session that is not ours yet: its files hold something of a session, and how much they tell.
    pub(super) holds: bool,
    pub(super) knows: Knows,
}

impl Look {
    /// A session that only its files tell of: all there is on disk is theirs.
    pub(super) fn of_foreign(found: Foreign) -> Self {
        let state = |path: &String| match found.tree.get(path) {
            Some(Entry::Unusable(_) | Entry::Folder) => FileState::Unreadable,
            Some(_) | None if found.damaged.contains(path) => FileState::Damaged,
            Some(_) | None if found.told.cannot_read(path) => FileState::NeverRead,
            Some(_) | None => FileState::Edited,
        };
        let located = Located { layout: found.layout, spot: found.spot.clone(), id: found.id.clone() };
        let files = state_files(located.layout, &located.spot, &found.tree).chain(found.damaged.clone());
        let states = files.map(|path| (path.clone(), state(&path))).collect();
        let lost = found.damaged.iter().flat_map(|path| [path.clone(), format!("{path}.bak"), String::new()]);
        let below = |path: String| located.spot.below_project(&path).trim_end_matches('/').to_owned();
        let lost = lost.map(below).collect();
        Self {
            lost,
            home: PathBuf::from(&found.session.worktree).join(&found.spot.home),
            located,
            documents: found.documents,
            tree: found.tree,
            states,
            rows: BTreeMap::new(),
            slipped: Vec::new(),
            over: BTreeMap::new(),
            put: BTreeMap::new(),
            not_there_yet: BTreeSet::new(),
            stands_for: BTreeMap::new(),
            damage: BTreeMap::new(),
            warnings: found.warnings,
            workflows: Vec::new(),
            is_foreign: true,
            is_proven: found.recorded.len() > found.told.history.len(),
            proofs: found.told.proofs.clone(),
            is_bare: !found.told.unreadable.is_empty(),
            moving: None,
            brought_from: None,
            is_gone: false,
            holds: found.told.holds,
            knows: found.told.knows,
        }
    }

    /// A place where a session could be, and nothing of one is.
    pub(super) fn holds_nothing(&self) -> bool {
        self.is_foreign && !self.holds
    }

    /// A session that has no file yet.
    pub(super) fn of_nothing(located: Located, root: &std::path::Path) -> Self {
        let tree = tree::read(located.layout, &located.spot, root, Depth::Short);
        Self {
            home: root.join(&located.spot.home),
            located,
            // What it shares with others may be there.
            documents: tree.clone(),
            tree,
            states: BTreeMap::new(),
            rows: BTreeMap::new(),
            slipped: Vec::new(),
            over: BTreeMap::new(),
            put: BTreeMap::new(),
            not_there_yet: BTreeSet::new(),
            stands_for: BTreeMap::new(),
            damage: BTreeMap::new(),
            lost: BTreeSet::new(),
            warnings: Vec::new(),
            workflows: Vec::new(),
            is_foreign: false,
            is_proven: false,
            proofs: Vec::new(),
            is_bare: true,
            moving: None,
            brought_from: None,
            is_gone: false,
            holds: true,
            knows: Knows::Said,
        }
    }

    /// A session of ours, against what was written last. While another process puts it there, one look can see a file
    /// as it was and the notes as they are: it looks again.
    pub(super) fn of_kept(engine: &Engine, located: &Located, session: &Session, rows: Vec<ViewRow>) -> Self {
        let root = engine.root_of(session);
        let rows: BTreeMap<String, ViewRow> = rows.into_iter().map(|row| (row.path.clone(), row)).collect();
        let mut look = Self::of_kept_at_once(engine, located.clone(), &root, rows.clone());
        for _ in 0..MOST_LOOKS {
            if !look.has_moved_on() {
                break;
            }
            look = Self::of_kept_at_once(engine, located.clone(), &root, rows.clone());
        }
        look
    }

    /// Whether what this look took for an edit of what is on its way is not there any more.
    fn has_moved_on(&self) -> bool {
        let on_their_way = self.rows.iter().filter(|(_, row)| !row.confirmed).map(|(path, _)| path);
        let edited = on_their_way.filter(|path| {
            !self.over.contains_key(*path) && self.states.get(*path) == Some(&FileState::Edited)
        });
        let mut edited = edited.filter_map(|path| Some((path, self.tree.content(path)?)));
        edited.any(|(path, content)| exchange::read(&self.home.join(path)).is_ok_and(|now| now != content))
    }

    fn of_kept_at_once(
        engine: &Engine,
        located: Located,
        root: &Path,
        rows: BTreeMap<String, ViewRow>,
    ) -> Self {
        let tree = engine.tree_when_written(&located, root, &rows);
        let mut look = Self {
            home: root.join(&located.spot.home),
            documents: tree.clone(),
            tree,
            located,
            states: BTreeMap::new(),
            rows,
            slipped: Vec::new(),
            over: BTreeMap::new(),
            put: BTreeMap::new(),
            not_there_yet: BTreeSet::new(),
            stands_for: BTreeMap::new(),
            damage: BTreeMap::new(),
            lost: BTreeSet::new(),
            warnings: Vec::new(),
            workflows: Vec::new(),
            is_foreign: false,
            is_proven: false,
            proofs: Vec::new(),
            is_bare: false,
            moving: None,
            brought_from: None,
            is_gone: false,
            holds: true,
            knows: Knows::Said,
        };
        look.find_unmoved();
        look.leave_out_furniture();
        look.put = look.put_by_this_process(engine);
        look.judge(engine, &Before::seen(root));
        look.is_gone = look.has_lost_its_folder(root);
        look
    }

    pub(super) fn rules(&self) -> FileRules {
        self.located.layout.files(&self.located.spot)
    }

    /// Judges every file that we wrote, and those that appeared.
    fn judge(&mut self, engine: &Engine, before: &Before) {
        let (boot_id, rules) = (engine.processes.boot_id(), self.rules());
        for (path, row) in self.rows.clone() {
            let located = self.located.clone();
            let is_left = rules.has_left(&path, &self.tree);
            let there = Found::in_tree(&self.tree, &path);
            let gathered = Gathered::of_row(&located, &rules, &self.home.join(&path), &row, there);
            let verdict = verdict(&gathered.evidence(before, is_left, &boot_id), &gathered);
            self.keep_verdict(path, verdict, gathered.into_waiting());
        }
        let new: Vec<String> = rules
            .state_files(&self.tree)
            .into_iter()
            .filter(|path| !self.states.contains_key(path))
            .collect();
        let is_whole = |path: &String| {
            self.tree.content(path).is_none_or(|content| self.located.layout.is_whole(path, content))
        };
        let broken = if new.iter().all(is_whole) {
            Vec::new()
        } else {
            engine.read_tree(&self.located, &self.tree).value.unreadable_parts
        };
        for path in new {
            let role = if broken.contains(&path) { Role::Part } else { Role::State };
            let there = Found::in_tree(&self.tree, &path);
            let gathered = Gathered::of_new(&self.located, &self.home.join(&path), &path, role, there);
            let state = verdict(&gathered.evidence(before, false, &boot_id), &gathered).state;
            if state == FileState::Damaged {
                let backup = gathered.backup().unwrap_or_default().to_vec();
                self.stands_for.insert(path.clone(), backup);
            }
            self.states.insert(path, state);
        }
    }

    fn keep_verdict(&mut self, path: String, verdict: Verdict, waiting: Option<Vec<u8>>) {
        if verdict.counts == Counts::CameOut
            && let (Some(out), Some(there)) = (waiting, self.tree.content(&path))
        {
            self.over.insert(path.clone(), there.to_vec());
            self.tree.insert(path.clone(), Entry::File(out.clone()));
            self.documents.insert(path.clone(), Entry::File(out));
        }
        if verdict.base == Base::Previous {
            self.not_there_yet.insert(path.clone());
        }
        let slip = |slip: verdict::Slip| Slip { path: path.clone(), bytes: slip.bytes, before: slip.before };
        self.slipped.extend(verdict.slips.into_iter().map(slip));
        self.states.insert(path, verdict.state);
    }

    /// What the files tell that the session's log does not, as events, each with when that was.
    pub(super) fn taken_in(&mut self, engine: &Engine, session: &Session, items: ItemBook) -> Vec<Dated> {
        let read = engine.clock.now();
        let mut base = self.with_rows(|_| true, true);
        for path in &self.not_there_yet {
            base.insert(path.clone(), Entry::File(self.rows[path].previous.clone()));
        }
        let is_theirs = |state: &FileState| {
            matches!(state, FileState::Edited | FileState::OfOthers | FileState::Behind | FileState::Moved)
        };
        let is_ours = |state: &FileState| !is_theirs(state);
        let mut theirs = self.with_rows(is_ours, false);
        for (path, backup) in &self.stands_for {
            theirs.insert(path.clone(), Entry::File(backup.clone()));
        }
        let is_stood_for = |state: &FileState| {
            matches!(state, FileState::Missing | FileState::Unreadable | FileState::Damaged)
        };
        if self.states.values().any(is_stood_for) {
            self.add_what_is_named(&mut theirs);
        }
        self.find_damage(engine);
        let mut reading = engine.read_tree(&self.located, &theirs);
        self.documents = theirs;
        // What only the version before tells of is as new to the log as an edit.
        let is_new = |path: &String| !self.rows.contains_key(path);
        let from_before = self.in_state(FileState::Damaged).into_iter().filter(is_new);
        let edited: Vec<String> = self.in_state(FileState::Edited).into_iter().chain(from_before).collect();
        if self.put_back_what_was_dropped() {
            reading = engine.read_tree(&self.located, &self.documents);
        }
        self.put_ours_onto_what_was_edited_before();
        self.tell(session, &reading);
        let actor = engine.actor_of(self.located.layout);
        let at = self.edited_at(session, engine.clock.now());
        let mut draft = Draft::new(session.clone(), items, at, actor).dated_by_files(read);
        // What came out of an exchange was there before whatever is there now.
        for slip in self.slipped.clone() {
            self.bring_in_slipped(engine, &mut draft, &base, &slip);
        }
        if !edited.is_empty() {
            self.bring_in(engine, &mut draft, &base, &reading.value, &edited);
        }
        self.bring_in_move(&mut draft);
        self.prove(engine, &mut draft, &reading.value, session);
        self.workflows.clone_from(&reading.value.workflows);
        self.proofs.clone_from(&reading.value.proofs);
        draft.dated()
    }

    /// When somebody changed the files, as those tell: not before what the log has, and not after now. A session is not
    /// active again each time that somebody looks at an edit of last week.
    fn edited_at(&self, session: &Session, now: Timestamp) -> Timestamp {
        let edited = self.in_state(FileState::Edited);
        // What sessions share has one time for all of them: it counts where nothing else tells.
        let own: Vec<String> = edited.iter().filter(|path| !self.is_shared(path)).cloned().collect();
        let edited = if own.is_empty() { edited } else { own };
        let modified: Option<Vec<Timestamp>> = edited.iter().map(|path| self.tree.modified(path)).collect();
        let last = modified.filter(|_| self.slipped.is_empty()).and_then(|all| all.into_iter().max());
        last.map_or(now, |last| last.max(session.updated_at).min(now))
    }

    /// Why each damaged file cannot be read.
    fn find_damage(&mut self, engine: &Engine) {
        let damaged = self.in_state(FileState::Damaged);
        if damaged.is_empty() {
            return;
        }
        let said = engine.read_tree(&self.located, &self.tree).warnings;
        for path in damaged {
            let why = said.iter().find(|problem| problem.path == path).map(reason);
            self.damage.insert(path, why.unwrap_or_default());
        }
    }

    /// Laid over: what differs between what we wrote and what is there.
    pub(super) fn bring_in(
        &mut self,
        engine: &Engine,
        draft: &mut Draft,
        base: &Tree,
        theirs: &ForeignSession,
        paths: &[String],
    ) {
        let actor = engine.actor_of(self.located.layout);
        let before = engine.read_as_written(&self.located, base);
        let only_claims = self.located.layout.facts().edits_only_claim;
        let spelled = |told: ForeignSession| reconcile::in_known_spelling(told, self.located.layout, draft);
        let laid =
            |told: ForeignSession| fold(&if only_claims { told.only_claiming() } else { told }, &actor);
        let approved = before.approved.clone();
        let (before, now) = (laid(spelled(before)), laid(spelled(theirs.clone())));
        let (Some(before), Some(now)) = (before, now) else { return };
        let (title, goal, target) = reconcile::described(&before.0, &now.0);
        let paths = paths.iter().map(|path| self.located.spot.below_project(path)).collect();
        draft.push(Event::ExternalEdit { paths, title, goal, target });
        // A place that there is not is no claim: it stays where the log has it, and the warning names the file.
        if !theirs.says_where_it_stands() {
            return;
        }
        reconcile::reconcile(
            draft,
            Laid { session: &before.0, items: &before.1 },
            Laid { session: &now.0, items: &now.1 },
        );
        reconcile::withdraw(draft, &approved, &theirs.approved);
        if self.located.layout.facts().counts_parts {
            reconcile::count_parts(draft, &before.1, &now.1);
            let mut stays = reconcile::drop_parts(draft, &before.1, &now.1);
            stays.extend(reconcile::drop_listed(draft, &before.1, &now.1));
            self.tell_what_stays(&stays);
        }
    }

    fn tell_what_stays(&mut self, items: &[ItemId]) {
        for id in items {
            self.warnings.push(Warning {
                kind: "item_stays".to_owned(),
                message: format!("the files do not count {id} any more; somebody worked on it, so it stays"),
                hint: Some(Hint::new("see it: ").run_here(words!["item", "list", "--all"])),
                path: None,
                problem: None,
            });
        }
    }

    /// Runs that other files show: forward only, and only what was written since the phase began in which the log has the
    /// session.
    fn prove(&self, engine: &Engine, draft: &mut Draft, told: &ForeignSession, session: &Session) {
        let run_began = session.run().and_then(|run| {
            let began = engine.files_count_since(session, run, run.current().id());
            began.or(Some(run.started_at))
        });
        // Whoever went back wants what those files show done again.
        let began = run_began.max(session.went_back_at);
        let is_new_enough = |proof: &Proof| match proof {
            Proof::Run { path, .. } => match (self.tree.modified(path), began) {
                // A file's time comes from a clock that ticks a few milliseconds behind.
                (Some(modified), Some(began)) => {
                    modified.as_millisecond().saturating_add(FILE_CLOCK_LAG) >= began.as_millisecond()
                }
                // A folder has no time of its own that counts; that there is one is new when the log has none.
                (None, _) | (_, None) => true,
            },
            Proof::Work { .. } | Proof::Result { .. } => false,
        };
        reconcile::prove(draft, told, &is_new_enough);
    }

    /// What another writer dropped was not taken away: it is read as if it were there still, and written back. Tells
    /// whether there was any.
    fn put_back_what_was_dropped(&mut self) -> bool {
        let mut any = false;
        for path in self.in_state(FileState::Edited) {
            let (Some(row), Some(theirs)) = (self.rows.get(&path), self.documents.content(&path)) else {
                continue;
            };
            if is_sign(self.located.layout, &path) {
                continue;
            }
            // Whoever edited the version before dropped nothing that came after it.
            let had = if self.not_there_yet.contains(&path) { &row.previous } else { &row.body };
            let merged = self.located.layout.merge(&path, Merge::Dropped { base: had, theirs });
            any |= merged != theirs;
            self.documents.insert(path, Entry::File(merged));
        }
        any
    }

    /// Files without which nothing is known of a session that is not ours yet, and that no version before stands for.
    pub(super) fn untold(&self) -> impl Iterator<Item = &String> {
        let is_bad = |state: &FileState| matches!(state, FileState::Damaged | FileState::Unreadable);
        let found = self.states.iter().filter(move |(path, state)| {
            self.is_foreign && is_bad(state) && self.knows == Knows::Nothing((*path).clone())
        });
        found.map(|(path, _)| path)
    }

    pub(super) fn in_state(&self, wanted: FileState) -> Vec<String> {
        let found = self.states.iter().filter(|(_, state)| **state == wanted);
        found.map(|(path, _)| path.clone()).collect()
    }
}

/// Files of a session's state.
pub(super) fn state_files(layout: &dyn Layout, spot: &Spot, tree: &Tree) -> impl Iterator<Item = String> {
    layout.files(spot).state_files(tree).into_iter()
}

fn fold(told: &ForeignSession, actor: &model::actor::Actor) -> Option<(Session, ItemBook)> {
    let without_proofs = ForeignSession { proofs: Vec::new(), ..told.clone() };
    without_proofs.fold(actor).map(|(_, session, items)| (session, items))
}
