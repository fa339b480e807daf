//! Reads registries: which session is active according to files, and which listed sessions have no folder. Other tools
//! switch the active session in a registry, without an event in the log. Writes nothing.

use crate::NATIVE;
use crate::doctor::Finding;
use crate::engine::Engine;
use crate::foreign::discover::Owner;
use crate::foreign::discover::markers;
use crate::foreign::select::exclusive::claims::holder;
use crate::view::Warning;
use crate::walk;
use layouts::capabilities::{Registry, RegistryFile, Survey};
use layouts::layout::{self, Layout, Spot, some_of};
use layouts::problem::Problem;
use layouts::reader::Located;
use layouts::tree::{Entry, Tree};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::words;
use std::collections::{BTreeMap, BTreeSet};
use store::SessionRow;

/// The maximum number of folders that are recreated if no session is named. If more are missing, somebody probably
/// removed them together, on purpose.
pub(crate) const MOST_MADE: usize = 20;

/// A tool's registry as it is now, and the marker files beside it.
struct FoundRegistry {
    layout: &'static dyn Layout,
    registry: &'static dyn Registry,
    file: RegistryFile,
    tree: Tree,
}

impl Engine {
    /// Returns the session that is active according to files, if it differs from `latest`, which is active according to
    /// the log.
    pub(crate) fn active_by_files(&self, latest: Option<&SessionRow>) -> Option<SessionId> {
        let called = self.called_active();
        if is_as_known(&called, latest) && !latest.is_some_and(|row| self.is_without_folder(row)) {
            return None;
        }
        match self.active_of(called, latest) {
            Some(id) => Some(self.or_later_in_files(id)),
            None => self.active_without_registry(),
        }
    }

    /// The given session, or one that only its files call active and that has changed later.
    fn or_later_in_files(&self, id: SessionId) -> SessionId {
        // The many folders of finished sessions are not read for this.
        let may_be_active = |located: &Located| {
            let places = located.layout.files(&located.spot).places;
            let is_there = places.belongs(&located.spot.folder(), &Lifecycle::Active).is_none();
            located.layout.facts().exclusive && is_there && located.id != id
        };
        if !self.unadopted().iter().any(may_be_active) {
            return id;
        }
        let own = self.contender(&id).ok().map(|contender| contender.claim);
        holder(self.foreign_active(&BTreeSet::new()).into_iter().chain(own)).map_or(id, |claim| claim.id)
    }

    /// True if a registry lists a session whose folder was renamed.
    fn is_without_folder(&self, row: &SessionRow) -> bool {
        row.layout != NATIVE && self.load(&row.id).is_ok() && self.is_gone(&row.id)
    }

    /// As `active_by_files`, but reads only registries, and not every folder.
    pub(crate) fn active_by_registry(&self, latest: Option<&SessionRow>) -> Option<SessionId> {
        let called = self.called_active();
        if is_as_known(&called, latest) { None } else { self.active_of(called, latest) }
    }

    /// Returns the active session that was changed last, among those that registries call active and the one that the
    /// log calls active.
    fn active_of(&self, called: BTreeSet<SessionId>, latest: Option<&SessionRow>) -> Option<SessionId> {
        let ours = latest.filter(|row| row.lifecycle == "active").map(|row| row.id.clone());
        let candidates: BTreeSet<SessionId> = called.into_iter().chain(ours).collect();
        let active = candidates.into_iter().filter_map(|id| {
            let (_, session) = self.load(&id).ok()?;
            let is_active = matches!(session.lifecycle, Lifecycle::Active) && !session.parallel;
            let is_it = is_active && session.worktree == self.project.worktree();
            is_it.then_some((session.updated_at, id))
        });
        active.max().map(|(_, id)| id)
    }

    /// Returns the active session of layouts without a registry. Their files must be read for this.
    fn active_without_registry(&self) -> Option<SessionId> {
        let registries = self.registries();
        let indexed = registries.iter().flat_map(|found| found.registry.sessions(&found.tree)).collect();
        holder(self.foreign_active(&indexed)).map(|claim| claim.id)
    }

    /// Returns the sessions in a layout's registry, whether they exist or not.
    pub(crate) fn listed_by_registry(&self, layout: &dyn Layout) -> BTreeSet<SessionId> {
        let is_own = |found: &FoundRegistry| found.layout.facts().name == layout.facts().name;
        let own = self.registries().into_iter().filter(is_own);
        own.flat_map(|found| found.registry.sessions(&found.tree)).collect()
    }

    /// Returns the sessions that a registry calls active, whether the store has them or not.
    pub(crate) fn called_active(&self) -> BTreeSet<SessionId> {
        let registries = self.registries().into_iter();
        let called = registries.flat_map(|found| {
            let called = found.registry.active(&found.tree).into_iter();
            called.map(move |id| self.meant_here(found.layout, id)).collect::<Vec<_>>()
        });
        called.collect()
    }

    /// Returns the id that a session named in a registry has here. Its own name may belong to a session of another
    /// worktree in the store.
    fn meant_here(&self, layout: &dyn Layout, id: SessionId) -> SessionId {
        let loaded = self.store.load(&id).ok().flatten();
        let is_elsewhere =
            loaded.is_some_and(|loaded| self.is_of_another_worktree(&loaded).unwrap_or_default());
        let spot =
            if is_elsewhere { self.spots(layout).into_iter().find(|spot| spot.id == id) } else { None };
        match spot.map(|spot| self.owner(layout, &spot, true)) {
            Some(Ok(Owner::Ours(own) | Owner::Nobody(own))) => own,
            Some(Err(_)) | None => id,
        }
    }

    /// Returns the findings about registries.
    pub(crate) fn registry_findings(&self) -> Vec<Finding> {
        let unlisted = self.surveys().into_iter().filter_map(|(file, survey)| {
            let (path, mut unlisted) = (file.path(), survey.unlisted);
            // Sessions in the log report a missing registry themselves.
            let is_there = self.project.root.join(&path).exists();
            unlisted.retain(|spot| is_there || !self.store.base_has(&spot.id));
            unlisted_warning(&path, &unlisted)
        });
        self.registry_warnings()
            .into_iter()
            .chain(unlisted)
            .map(|warning| Finding { kind: warning.kind, message: warning.message, hint: warning.hint })
            .collect()
    }

    /// Returns warnings about unknown files in folders for sessions.
    pub(crate) fn unknown_warnings(&self) -> Vec<Warning> {
        let hint = "if the files belong to sessions, the layout of these is unknown";
        let surveys = self.surveys().into_iter();
        surveys.filter_map(|(file, survey)| Some(warning(&file, survey.unknown?, hint))).collect()
    }

    /// Returns warnings that the files' lists of sessions may be incomplete.
    pub(crate) fn registry_warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for (file, mut survey) in self.surveys() {
            // A session in the log reports its missing files itself.
            survey.lost.retain(|spot| !self.store.base_has(&spot.id));
            warnings.extend(lost_warning(&file.path(), &survey.lost));
            for problem in survey.problems {
                let hint = if problem.path == file.file {
                    "fix the file; until then it is ignored"
                } else {
                    "remove the entry, or create what it lists"
                };
                warnings.push(warning(&file, problem, hint));
            }
        }
        warnings
    }

    /// Returns the places of listed sessions whose folder is missing.
    pub(crate) fn lost(&self) -> Vec<Spot> {
        self.surveys().into_iter().flat_map(|(_, survey)| survey.lost).collect()
    }

    /// Returns the sessions that a registry does not list, or lists repeatedly. Each comes with the messages to show
    /// after its repair.
    /// - If a session is named, returns only this session.
    /// - Otherwise returns all of them, but none of a registry with more than `MOST_MADE` of the same kind.
    pub(crate) fn badly_listed(&self, named: Option<&SessionId>) -> BTreeMap<SessionId, Vec<String>> {
        let mut found = BTreeMap::new();
        for (file, survey) in self.surveys() {
            let said = format!("it was missing from {}", file.path());
            for (spots, said) in [(&survey.unlisted, vec![said]), (&survey.repeated, Vec::new())] {
                let is_meant = |spot: &&Spot| match named {
                    Some(named) => spot.id == *named,
                    None => spots.len() <= MOST_MADE,
                };
                let meant = spots.iter().filter(is_meant);
                found.extend(meant.map(|spot| (spot.id.clone(), said.clone())));
            }
        }
        found
    }

    /// True unless the session is missing from its tool's registry. Every registry is read once.
    pub(crate) fn is_listed(&self, id: &SessionId) -> bool {
        let mut known = self.scope.listing.unlisted.borrow_mut();
        let unlisted = || self.surveys().into_iter().flat_map(|(_, survey)| survey.unlisted);
        !known.get_or_insert_with(|| unlisted().map(|spot| spot.id).collect()).contains(id)
    }

    pub(crate) fn registry_paths(&self) -> Vec<String> {
        self.registries().iter().map(|found| found.file.path()).collect()
    }

    /// Returns the current registries: their content by path, relative to the project's folder.
    pub(crate) fn registry_files(&self) -> Vec<(String, Vec<u8>)> {
        let of = |found: FoundRegistry| {
            let content = found.tree.content(found.file.file)?.to_vec();
            Some((found.file.path(), content))
        };
        self.registries().into_iter().filter_map(of).collect()
    }

    fn surveys(&self) -> Vec<(RegistryFile, Survey)> {
        let is_there = |path: &str| self.project.root.join(path).symlink_metadata().is_ok();
        let survey = |found: FoundRegistry| {
            let FoundRegistry { registry, file, mut tree, .. } = found;
            for name in markers::names_in(&self.project.root.join(file.home)) {
                if tree.get(&name).is_none() {
                    tree.insert(name, Entry::Unread { size: 0 });
                }
            }
            (file, registry.survey(&tree, &is_there))
        };
        self.registries().into_iter().map(survey).collect()
    }

    fn registries(&self) -> Vec<FoundRegistry> {
        // A session folder outside any project has no registry.
        let known = layout::all().iter().filter(|_| !self.project.is_outside);
        known
            .filter_map(|layout| {
                let registry = layout.capabilities().registry?;
                let file = registry.file();
                let home = self.project.root.join(file.home);
                if !home.exists() {
                    return None;
                }
                let mut tree = Tree::default();
                if let Some(content) = walk::registry_content(registry, &self.project.root) {
                    tree.insert(file.file, Entry::File(content));
                }
                for name in markers::listed(*layout, &home) {
                    tree.insert(name, Entry::Unread { size: 0 });
                }
                Some(FoundRegistry { layout: *layout, registry, file, tree })
            })
            .collect()
    }
}

fn warning(file: &RegistryFile, problem: Problem, hint: &str) -> Warning {
    let path = format!("{}/{}", file.home, problem.path).trim_end_matches('/').to_owned();
    Warning::new("foreign_file", format!("{path}: {problem}")).hint(hint).at(path).of(problem)
}

/// True if files call exactly the session active that the log calls active. Also true if the log's active session is
/// native and files call none active.
fn is_as_known(called: &BTreeSet<SessionId>, latest: Option<&SessionRow>) -> bool {
    latest.filter(|row| row.lifecycle == "active").is_some_and(|row| match called.first() {
        Some(first) => called.len() == 1 && *first == row.id,
        None => row.layout == NATIVE,
    })
}

/// Returns one warning for all listed sessions that have no folder.
fn lost_warning(path: &str, lost: &[Spot]) -> Option<Warning> {
    let ids: Vec<String> = lost.iter().map(|spot| spot.id.to_string()).collect();
    let (message, hint) = match lost {
        [] => return None,
        [one] => (
            format!("{path} lists {}, but {} does not exist", one.id, one.path),
            Hint::new("recreate the session as far as possible: ")
                .run(words!["repair"])
                .then("; or remove the session's line"),
        ),
        several if several.len() <= MOST_MADE => (
            format!("{path} lists {} sessions that have no folder: {}", ids.len(), some_of(&ids)),
            Hint::new("recreate the sessions as far as possible: ")
                .run(words!["repair"])
                .then("; or remove the sessions' lines"),
        ),
        [first, ..] => (
            format!("{path} lists {} sessions that have no folder: {}", ids.len(), some_of(&ids)),
            Hint::new("recreate one session as far as possible: ").run(words![
                "repair",
                "--session",
                first.id
            ]),
        ),
    };
    Some(Warning::new("session_lost", message).hint(hint).at(path))
}

/// Returns one warning for all sessions that a registry does not list.
fn unlisted_warning(path: &str, unlisted: &[Spot]) -> Option<Warning> {
    let ids: Vec<String> = unlisted.iter().map(|spot| spot.id.to_string()).collect();
    let first = ids.first()?;
    let hint = if ids.len() <= MOST_MADE {
        Hint::new("add the missing sessions: ").run(words!["repair"])
    } else {
        Hint::new("add one session: ").run(words!["repair", "--session", first])
    };
    let message = format!("{path} does not list {}", some_of(&ids));
    Some(Warning::new("unlisted", message).hint(hint).at(path))
}
