//! Chooses the layout of a new session: the requested one, else the configured one, else the only one in the project.

use super::StartRequest;
use crate::definitions;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::{NATIVE, layout_names};
use layouts::layout::{self, Layout, Place};
use model::hint::Hint;
use model::words;
use store::Filter;

/// The chosen layout; `None` is native. Contains the reason for the choice, unless the caller asked for the layout.
pub(super) struct Chosen {
    pub(super) layout: Option<&'static dyn Layout>,
    pub(super) said: Option<String>,
}

impl Engine {
    pub(super) fn layout_for(&self, request: &StartRequest) -> Result<Chosen> {
        if let Some(asked) = &request.layout {
            return Ok(Chosen { layout: foreign_layout(Some(asked))?, said: None });
        }
        let wanted = match &self.config.layout {
            Some(configured) => foreign_layout(Some(configured))?.map(|layout| (layout, "as configured")),
            None => self.only_layout()?.map(|layout| (layout, "the only layout in this project")),
        };
        let fitting = wanted.filter(|(layout, _)| self.can_begin(*layout, request));
        let said = match (fitting, wanted) {
            (Some((layout, why)), _) => Some(described(layout, why)),
            (None, Some((layout, _))) => Some(self.why_native(layout, request)),
            (None, None) => None,
        };
        Ok(Chosen { layout: fitting.map(|(layout, _)| layout), said })
    }

    /// Explains why a session is native although the project has a layout.
    fn why_native(&self, layout: &dyn Layout, request: &StartRequest) -> String {
        let facts = layout.facts();
        let why = match request.workflow.as_ref().or(self.config.workflow.as_ref()) {
            Some(name) if !self.follows(layout, name) => format!("{} has no workflow '{name}'", facts.title),
            Some(_) => format!("a session of {} cannot be parallel", facts.title),
            None if request.parallel && facts.exclusive => {
                format!("a session of {} cannot be parallel", facts.title)
            }
            None => {
                let start = Hint::new("").run(words!["start", "WORKFLOW", "--layout", facts.name]);
                format!("a session of {} needs a workflow's name: {start}", facts.title)
            }
        };
        format!("a native session; {why}")
    }

    /// True if a session of this layout can satisfy the request: it can follow the workflow and, if requested, run in
    /// parallel.
    fn can_begin(&self, layout: &dyn Layout, request: &StartRequest) -> bool {
        let facts = layout.facts();
        let follows = match request.workflow.as_ref().or(self.config.workflow.as_ref()) {
            Some(name) => self.follows(layout, name),
            None => !facts.workflows.is_empty() || definitions::only_one(&self.project, layout).is_some(),
        };
        follows && !(request.parallel && facts.exclusive)
    }

    fn follows(&self, layout: &dyn Layout, workflow: &str) -> bool {
        let facts = layout.facts();
        if facts.workflows.is_empty() {
            return definitions::is_there(&self.project, facts.name, workflow);
        }
        facts.workflows.contains(&workflow)
    }

    /// Returns the only layout with a place for sessions in this project; `None` if there are native sessions too.
    fn only_layout(&self) -> Result<Option<&'static dyn Layout>> {
        let present: Vec<_> =
            layout::all().iter().copied().filter(|layout| self.has_place(*layout)).collect();
        let [only] = present[..] else { return Ok(None) };
        let native = Filter { layout: Some(NATIVE.to_owned()), limit: Some(1), ..Filter::default() };
        Ok(self.store.list(&native)?.is_empty().then_some(only))
    }

    /// True if a tool stores its sessions or workflows in this project. False if the tool now stores them elsewhere,
    /// because it would not see a new session here.
    fn has_place(&self, layout: &dyn Layout) -> bool {
        let is_folder = |folder: &str| !folder.is_empty() && self.project.root.join(folder).is_dir();
        let has_folder = layout.facts().places.iter().any(|place| match place {
            Place::Project(folder) => is_folder(folder),
            Place::Temporary(_) => false,
        });
        let is_there = |path: &str| self.project.root.join(path).symlink_metadata().is_ok();
        let is_elsewhere = layout.facts().kept_elsewhere.is_some_and(|elsewhere| is_there(elsewhere.path));
        let is_here =
            has_folder || definitions::are_any(&self.project, layout) || !self.spots(layout).is_empty();
        is_here && !is_elsewhere
    }
}

fn described(layout: &dyn Layout, why: &str) -> String {
    let facts = layout.facts();
    let native = Hint::new("").run(words!["start", "--layout", NATIVE]);
    format!("a session of {} ({}), {why}; for a native one: {native}", facts.title, facts.name)
}

/// Refuses a parallel session in layouts that allow one active session. Their tools would confuse the two.
pub(super) fn refuse_parallel(request: &StartRequest, layout: Option<&dyn Layout>) -> Result<()> {
    match layout.filter(|layout| request.parallel && layout.facts().exclusive) {
        None => Ok(()),
        Some(layout) => Err(Error::WrongUsage {
            message: format!(
                "a session of {} cannot be parallel: the files of such sessions can record only one active session",
                layout.facts().title
            ),
            hint: "omit --parallel; the active session is then paused".into(),
        }),
    }
}

/// Returns the requested layout; `None` for a native session.
pub(crate) fn foreign_layout(asked: Option<&str>) -> Result<Option<&'static dyn Layout>> {
    let Some(asked) = asked.filter(|asked| *asked != NATIVE) else { return Ok(None) };
    match layout::by_name(asked) {
        Some(found) => Ok(Some(found)),
        None => Err(Error::WrongUsage {
            message: format!("there is no layout '{asked}'"),
            hint: format!("the layouts are native, {}", layout_names().join(", ")).into(),
        }),
    }
}
