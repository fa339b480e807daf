//! Tools whose later releases keep their state where this program does not read it. Their sessions here and there can
//! stand differently, so every answer about such a session says so.

use crate::engine::Engine;
use crate::view::Warning;
use layouts::layout::{self, Layout};
use model::session::Session;
use std::path::Path;

impl Engine {
    /// That the tool of this session keeps its state elsewhere by now.
    pub(crate) fn kept_elsewhere_of(&self, session: &Session) -> Option<Warning> {
        kept_elsewhere(layout::by_name(&session.layout)?, &self.root_of(session))
    }

    /// The same for every tool that has files in this project, whatever session is asked about.
    pub(crate) fn all_kept_elsewhere(&self) -> Vec<Warning> {
        layout::all().iter().filter_map(|layout| kept_elsewhere(*layout, &self.project.root)).collect()
    }
}

fn kept_elsewhere(layout: &dyn Layout, root: &Path) -> Option<Warning> {
    let elsewhere = layout.facts().kept_elsewhere?;
    root.join(elsewhere.path).symlink_metadata().ok()?;
    Some(Warning {
        kind: "kept_elsewhere".to_owned(),
        message: format!(
            "{} exists: {} {} and later keeps its sessions there and never reads {}, so the two can stand differently",
            elsewhere.path,
            layout.facts().title,
            elsewhere.since,
            elsewhere.instead_of
        ),
        hint: Some(elsewhere.remedy.into()),
        path: Some(elsewhere.path.to_owned()),
        problem: None,
    })
}
