//! The background sync that a hook starts. Never fails, and waits for nothing.

use super::settings::Settings;
use crate::project::Project;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The minimum interval between background syncs.
pub(super) const SECONDS_BETWEEN: u64 = 60;

/// The maximum time that a background sync waits for each answer of the remote.
pub(super) const LONGEST_UNATTENDED: Duration = Duration::from_mins(5);

/// Starts a background sync, if sharing is on and no sync was tried a short time ago. Errors are ignored, because a
/// hook must not fail.
pub fn sync_in_background(folder: &Path) {
    let Ok(database) = Project::find(folder).and_then(|project| project.database()) else { return };
    let Some(beside) = database.parent().filter(|beside| Settings::exist(beside)) else { return };
    let tried = Settings::read(beside).ok().flatten().and_then(|settings| settings.tried);
    let is_recent =
        |tried: jiff::Timestamp| model::time::seconds_between(tried, crate::clock::now()) < SECONDS_BETWEEN;
    let Ok(program) = std::env::current_exe() else { return };
    if tried.is_some_and(is_recent) {
        return;
    }
    let _ = Command::new(program)
        .args(["sync", "--unattended", "--project"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
}
