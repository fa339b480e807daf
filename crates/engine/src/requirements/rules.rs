//! The requirements of this project, from its configuration files and from the session's workflow. Only reads. Parses
//! nothing if there is no file.

use super::Ground;
use super::shared_file;
use crate::engine::{Engine, is_unfinished};
use layouts::reading::Reading;
use layouts::requirements::{self as layout, Requirement, Settings, Source};
use model::session::Session;
use std::path::{Path, PathBuf};

pub(super) const SHARED: &str = "requirements.yaml";
pub(super) const LOCAL: &str = "requirements.local.yaml";

/// The requirements of this project, and the mistakes in their configuration.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) settings: Settings,
    pub(super) problems: Vec<String>,
    /// The ids of the completed phases of the session whose workflow declares requirements.
    done: Vec<String>,
    /// The session whose workflow declares requirements. Set only when the requirements are loaded for a hook.
    pub(super) session: Option<Session>,
}

impl Rules {
    pub(super) fn enabled(&self) -> impl Iterator<Item = &Requirement> {
        self.settings.requirements.iter().filter(|requirement| requirement.enabled)
    }

    /// Returns the completed phase of the session's run that satisfies this requirement, if any.
    pub(super) fn phase_done<'a>(&self, requirement: &'a Requirement) -> Option<&'a str> {
        requirement.phases.iter().find(|phase| self.done.contains(phase)).map(String::as_str)
    }
}

impl Engine {
    pub(super) fn rules(&self, ground: &Ground) -> Rules {
        let mut rules = configured(ground);
        match self.session_of_rules() {
            Ok(Some(session)) => {
                self.add_declared(&mut rules, &session);
                rules.session = Some(session);
            }
            Ok(None) => {}
            Err(error) => rules.problems.push(error.to_string()),
        }
        rules
    }

    /// Like `rules`, for a session that is already loaded.
    pub(super) fn rules_of(&self, ground: &Ground, session: &Session) -> Rules {
        let mut rules = configured(ground);
        self.add_declared(&mut rules, session);
        rules
    }

    /// True if anything may be required: a configuration file exists, or the session's workflow declares requirements.
    pub(super) fn may_require(&self, session: &Session) -> bool {
        let declares = |hash: &str| {
            self.definition(hash).ok().flatten().is_some_and(|workflow| !workflow.requirements.is_empty())
        };
        project_folder(&self.project.root).is_some()
            || session.run().is_some_and(|run| declares(&run.workflow.hash))
    }

    /// Returns the session whose workflow counts: that of the asking agent, or else the active one of this worktree. No
    /// other session is searched for.
    fn session_of_rules(&self) -> crate::Result<Option<Session>> {
        let bound = match self.asking_agent()? {
            Some(identity) => self.store.agent(&identity.agent, &identity.id)?.and_then(|row| row.session),
            None => None,
        };
        if let Some(id) = bound {
            let (loaded, session) = self.load(&id)?;
            if is_unfinished(&loaded.row.lifecycle) {
                return Ok(Some(session));
            }
        }
        let active = self.store.active(&self.project.worktree())?;
        active.map(|id| Ok(self.load(&id)?.1)).transpose()
    }

    fn add_declared(&self, rules: &mut Rules, session: &Session) {
        let Some(run) = session.run() else { return };
        let definition = self.definition(&run.workflow.hash).ok().flatten();
        for (name, declared) in definition.iter().flat_map(|definition| &definition.requirements) {
            match rules.settings.requirements.iter_mut().find(|known| known.name == *name) {
                // The configuration has precedence. The workflow only adds ways to satisfy a requirement.
                Some(known) => known.satisfied_also_by(&declared.satisfied_by),
                None => rules.settings.requirements.push(Requirement::declared(name, declared)),
            }
        }
        let done = run.phases.iter().filter(|phase| phase.is_done());
        rules.done = done.map(|phase| phase.id().to_string()).collect();
    }
}

/// Returns the paths and texts of the configuration files. Later files have precedence over earlier ones.
pub(super) fn texts_of(ground: &Ground, problems: &mut Vec<String>) -> Vec<(String, String)> {
    places(ground)
        .into_iter()
        .filter_map(|path| match shared_file::read_following_links(&path) {
            Ok(text) => Some((path.display().to_string(), text?)),
            Err(error) => {
                problems.push(format!("{}: {error}", path.display()));
                None
            }
        })
        .collect()
}

fn configured(ground: &Ground) -> Rules {
    let mut problems = Vec::new();
    let texts = texts_of(ground, &mut problems);
    if texts.is_empty() {
        return Rules { problems, ..Rules::default() };
    }
    let sources: Vec<Source<'_>> = texts.iter().map(|(path, text)| Source { path, text }).collect();
    let Reading { value: settings, warnings } = layout::read(&sources);
    problems.extend(warnings.iter().map(|problem| format!("{}: {problem}", problem.path)));
    Rules { settings, problems, ..Rules::default() }
}

/// Returns the configuration files that apply; later ones have precedence. None apply if the project has no file of its
/// own, because only the project's file enables requirements.
fn places(ground: &Ground) -> Vec<PathBuf> {
    let Some(folder) = project_folder(&ground.root) else { return Vec::new() };
    let shared = folder.join(SHARED);
    let user = ground.home.as_ref().map(|home| home.join(".claude").join(SHARED));
    // If the home folder is itself the repository, both paths are the same file.
    let user = user.filter(|user| *user != shared);
    user.into_iter().chain([shared, folder.join(LOCAL)]).collect()
}

/// Returns the nearest folder of this repository that has the project's configuration.
fn project_folder(root: &Path) -> Option<PathBuf> {
    repository_folders(root).map(|folder| folder.join(".claude")).find(|folder| folder.join(SHARED).exists())
}

/// Returns the folders from this one up to the repository's root; outside a repository, up to `/`.
fn repository_folders(from: &Path) -> impl Iterator<Item = &Path> {
    let mut is_above = false;
    from.ancestors().take_while(move |folder| {
        let is_inside = !is_above;
        is_above = is_inside && folder.join(".git").exists();
        is_inside
    })
}
