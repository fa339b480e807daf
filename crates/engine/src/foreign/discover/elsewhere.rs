//! Tools whose later releases keep their state in files that this program does not read. The two can differ,
//! so every answer about such a session says so.

use crate::engine::Engine;
use crate::view::Warning;
use layouts::layout::{self, Layout};
use model::session::Session;
use std::path::Path;

impl Engine {
    /// A warning that this session's tool now keeps its state elsewhere.
    pub(crate) fn kept_elsewhere_of(&self, session: &Session) -> Option<Warning> {
        kept_elsewhere(layout::by_name(&session.layout)?, &self.root_of(session))
    }

    /// Such warnings for every tool with files in this project.
    pub(crate) fn all_kept_elsewhere(&self) -> Vec<Warning> {
        layout::all().iter().filter_map(|layout| kept_elsewhere(*layout, &self.project.root)).collect()
    }
}

fn kept_elsewhere(layout: &dyn Layout, root: &Path) -> Option<Warning> {
    let elsewhere = layout.facts().kept_elsewhere?;
    root.join(elsewhere.path).symlink_metadata().ok()?;
    let message = format!(
        "{} exists: {} {} and later keeps its sessions there and never reads {}, so the two can differ",
        elsewhere.path,
        layout.facts().title,
        elsewhere.since,
        elsewhere.instead_of
    );
    Some(Warning::new("kept_elsewhere", message).hint(elsewhere.remedy).at(elsewhere.path))
}
