//! Facts about a layout: plain data that holds for all of its sessions. Decides nothing.

use crate::tree::Tree;
use model::run::Run;

/// A place in which to look for sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A folder below the project's folder; empty for the project's folder itself.
    Project(&'static str),
    /// Entries with this prefix in temporary folders and in configured places.
    Temporary(&'static str),
}

/// The runs that a layout's files can represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// The layout's files number phases, so any workflow can be represented.
    AnyRun,
    /// A run with exactly these phases, whatever the name of its workflow.
    Phases(&'static [&'static str]),
    /// These workflows, by name and phases: the same name with other phases is another workflow.
    Workflows(&'static [(&'static str, &'static [&'static str])]),
}

/// An older location of some of a session's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OlderPlace {
    /// The prefix of the files' current paths, and the prefix of their older paths.
    pub now: &'static str,
    pub then: &'static str,
    /// The older place applies if this path is missing and one of these exists.
    pub without: &'static str,
    pub with_any: &'static [&'static str],
}

/// State that later releases of a tool keep in a file that this program does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptElsewhere {
    /// The file, below the project's folder.
    pub path: &'static str,
    /// The first release that stores the state there.
    pub since: &'static str,
    /// The file of earlier releases that it replaces.
    pub instead_of: &'static str,
    /// Advice for somebody who uses both leftoff and that tool.
    pub remedy: &'static str,
}

/// Session fields that name files without promising that they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpromised {
    Nothing,
    /// Custom fields may have any value.
    Everything,
    Fields(&'static [&'static str]),
}

/// Facts about a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own; none depends on another")]
pub struct Facts {
    /// The layout's name in `--layout` and in the session view.
    pub name: &'static str,
    /// The name of the layout's tool, for people.
    pub title: &'static str,
    /// A session's appearance on disk, for error messages: "a folder in .ocr/sessions".
    pub looks_for: &'static str,
    /// Folders whose entries may be sessions.
    pub places: &'static [Place],
    /// Folders that identify a project, directly below its root.
    pub folders: &'static [&'static str],
    /// The layout's workflows, the default first. Empty if any workflow can be used.
    pub workflows: &'static [&'static str],
    pub shows: Shows,
    /// Files that suffice for a summary; empty if all are needed.
    pub summary_files: &'static [&'static str],
    /// The file that shows whether a finished session was reopened, for layouts without summary files. A list
    /// of sessions reads this file only if it is newer than the log.
    pub reopened_in: Option<&'static str>,
    /// Files that may already exist in the folder of a new session.
    pub may_be_there: &'static [&'static str],
    /// A folder below the session's own in which no archived versions may be kept beside files, because the
    /// tool takes every file there for one of its own. Empty for the session's whole folder.
    pub no_archives_in: Option<&'static str>,
    /// The prefix of marker files directly below the home; the session's name follows.
    pub marker_prefix: Option<&'static str>,
    /// Files that older releases keep in another place than the workflow says.
    pub older_places: &'static [OlderPlace],
    /// The heading of the tool's own list of sessions.
    pub list_heading: Option<&'static str>,
    /// The tool numbers its sessions from the newest.
    pub newest_first: bool,
    /// The tool's own message after the backup replaced an unreadable file.
    pub recovered_note: Option<&'static str>,
    /// The tool takes every folder among its sessions for one.
    pub takes_every_folder: bool,
    /// Sessions sorted by path are sorted by age. In other layouts their times are compared.
    pub ordered_by_name: bool,
    /// Times in the files may lack a zone, and are then in this machine's zone, which the tree has.
    pub local_times: bool,
    /// At most one active session per worktree, native ones included.
    pub exclusive: bool,
    /// Pausing without an active session is an error, because the tool then has nothing to pause.
    pub pauses_active_only: bool,
    /// The files give the number of an item's parts, and list the items of a phase. A part beyond that
    /// number, and an item removed from the list, are dropped unless somebody worked on them.
    pub counts_parts: bool,
    /// An edit that marks a phase of a known session as done is only a claim, even if the phase's file
    /// exists. False for tools that write this only once it is true.
    pub edits_only_claim: bool,
    /// Somebody who deletes or renames a session's folder wants the session gone or renamed: the folder is
    /// not recreated unasked, unless the tool's registry still lists it.
    pub goes_with_folder: bool,
    /// A session counts as stalled only if nothing was written for a while, however long its current phase
    /// takes.
    pub stalls_in_silence: bool,
    /// The tool can also resume a session in progress, with the same checks and messages, because the session
    /// may have been left without a pause.
    pub taken_up_again: bool,
    /// A session's folder is readable only by its user.
    pub private: bool,
    /// Null in the files means that a field is unset. A missing key does not clear a field.
    pub null_clears: bool,
    /// A new session with a target but no title is named after the last part of the target's path.
    pub titled_by_target: bool,
    /// Commands run in a phase are recorded with its results.
    pub keeps_commands: bool,
    /// Files produced by the tool's finished phases are recorded when found, so that later changes can be
    /// detected.
    pub records_outputs: bool,
    /// The tool's words for a session's status, with the lifecycles that they mean.
    pub status_words: &'static [(&'static str, &'static str)],
    /// Session fields that name a file without promising it: a missing one stops nobody.
    pub unpromised: Unpromised,
    /// Allowed reasons for a deferred point. Empty if any reason is allowed.
    pub deferred_reasons: &'static [&'static str],
    /// Inactive sessions are paused; for other layouts, inactivity is only reported.
    pub expires: bool,
    /// Where later releases of the tool keep their state.
    pub kept_elsewhere: Option<KeptElsewhere>,
    /// Workflows whose runs the tool counts by folders, with the prefix of each folder's path below the
    /// session's folder; the run's number follows.
    pub run_folders: &'static [(&'static str, &'static str)],
}

impl Facts {
    /// True for an empty file that means something by existing.
    pub fn is_marker(&self, path: &str) -> bool {
        self.marker_prefix.is_some_and(|beginning| path.starts_with(beginning))
    }

    /// The folder of one run, below the session's own, if the tool counts runs by folders.
    pub fn run_folder(&self, workflow: &str, ordinal: u32) -> Option<String> {
        let (_, beginning) = self.run_folders.iter().find(|(name, _)| *name == workflow)?;
        Some(format!("{beginning}{ordinal}"))
    }

    /// True if a field that names a file promises that it exists.
    pub fn promises(&self, field: &str) -> bool {
        match self.unpromised {
            Unpromised::Nothing => true,
            Unpromised::Everything => false,
            Unpromised::Fields(names) => !names.contains(&field),
        }
    }

    /// True if the layout's files can represent the phases of such a run.
    pub fn can_show(&self, run: &Run) -> bool {
        let has =
            |phases: &[&str]| run.phases.iter().map(|phase| phase.id().as_str()).eq(phases.iter().copied());
        match self.shows {
            Shows::AnyRun => true,
            Shows::Phases(phases) => has(phases),
            Shows::Workflows(known) => {
                known.iter().any(|(name, phases)| run.workflow.name.as_str() == *name && has(phases))
            }
        }
    }

    /// The older location of a phase's file, if the session uses it; `is_there` returns true for an existing
    /// path below the session's workspace.
    pub fn older_path(&self, path: &str, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
        self.older_places.iter().find_map(|place| {
            let rest = path.strip_prefix(place.now)?;
            let is_older = !is_there(place.without) && place.with_any.iter().any(|name| is_there(name));
            is_older.then(|| format!("{}{rest}", place.then))
        })
    }

    /// True if a session may start in an existing folder with these files.
    pub fn may_start_in(&self, tree: &Tree) -> bool {
        tree.files().all(|path| self.may_be_there.contains(&path))
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::{self, Layout};

    #[test]
    fn a_file_is_in_its_older_place_only_where_the_newer_one_is_not_and_something_of_the_older_is() {
        let facts = layout::by_name("ocr").map(Layout::facts).expect("a layout");
        let path =
            |there: &[&str]| facts.older_path("rounds/round-1/final.md", &|path| there.contains(&path));
        assert_eq!(path(&["final.md"]).as_deref(), Some("final.md"));
        assert_eq!(path(&["rounds", "final.md"]), None);
        assert_eq!(path(&[]), None, "its age is unknown");
        assert_eq!(facts.older_path("rounds/round-2/final.md", &|path| path == "final.md"), None);
    }
}
