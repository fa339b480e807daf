//! Tools whose later releases store their state in files that this program does not read. The state of such a tool may
//! differ from the files that are read here, so every answer about its sessions contains a warning.

use crate::engine::Engine;
use crate::view::Warning;
use layouts::layout::{self, Layout};
use model::session::Session;
use std::path::Path;

impl Engine {
    /// Returns a warning if this session's tool now stores its state elsewhere.
    pub(crate) fn kept_elsewhere_of(&self, session: &Session) -> Option<Warning> {
        kept_elsewhere(layout::by_name(&session.layout)?, &self.root_of(session))
    }

    /// Returns warnings for every tool in this project that now stores its state elsewhere.
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
