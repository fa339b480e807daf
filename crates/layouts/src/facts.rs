//! Facts about a layout: plain data that is true for all of its sessions.

use crate::tree::Tree;
use model::run::Run;

/// A place in which to look for sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A folder below the project's folder. Empty for the project's folder itself.
    Project(&'static str),
    /// All entries with this prefix in temporary folders and in configured folders.
    Temporary(&'static str),
}

/// The runs that the layout's files can represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// Any run, because the files identify phases by number.
    AnyRun,
    /// Any run with exactly these phases, whatever the name of its workflow.
    Phases(&'static [&'static str]),
    /// Runs of these workflows, each with its name and its phases. A workflow with the same name but other
    /// phases is not included.
    Workflows(&'static [(&'static str, &'static [&'static str])]),
}

/// The location in which earlier releases stored some of a session's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OlderPlace {
    /// The prefix of the current paths of these files. The next field is the prefix of their older paths.
    pub now: &'static str,
    pub then: &'static str,
    /// The older location is used if this path is missing, and a path in the next field exists.
    pub without: &'static str,
    pub with_any: &'static [&'static str],
}

/// The file in which later releases of a tool store state, and that leftoff does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptElsewhere {
    /// The file, below the project's folder.
    pub path: &'static str,
    /// The first release that stores the state there.
    pub since: &'static str,
    /// The file of earlier releases that this file replaces.
    pub instead_of: &'static str,
    /// Advice for somebody who uses both leftoff and the tool.
    pub remedy: &'static str,
}

/// Session fields that may name a file that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpromised {
    Nothing,
    /// All fields, because custom fields may have any value.
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
    /// How a session looks on disk, for error messages, such as "a folder in .ocr/sessions".
    pub looks_for: &'static str,
    /// Folders whose entries may be sessions.
    pub places: &'static [Place],
    /// Folders that identify a project, directly below its root.
    pub folders: &'static [&'static str],
    /// The workflows of the layout; the first is the default. Empty if the layout accepts any workflow.
    pub workflows: &'static [&'static str],
    pub shows: Shows,
    /// The files that suffice for a summary. Empty if all files are needed.
    pub summary_files: &'static [&'static str],
    /// The file that shows that a finished session was reopened, for layouts without summary files. A list of
    /// sessions reads the file only if it is newer than the log.
    pub reopened_in: Option<&'static str>,
    /// Files that may already exist in the folder of a new session.
    pub may_be_there: &'static [&'static str],
    /// A folder below the session's own in which leftoff stores no archived versions, because the tool would
    /// read them as its own files. Empty for the session's whole folder.
    pub no_archives_in: Option<&'static str>,
    /// The prefix of marker files directly below the home. The name of the session follows the prefix.
    pub marker_prefix: Option<&'static str>,
    /// Locations in which earlier releases of the tool stored files, if they differ from the workflow's.
    pub older_places: &'static [OlderPlace],
    /// The heading of the tool's own list of sessions.
    pub list_heading: Option<&'static str>,
    /// True if the tool numbers its sessions beginning with the newest.
    pub newest_first: bool,
    /// The tool's own message after a backup replaced an unreadable file.
    pub recovered_note: Option<&'static str>,
    /// True if the tool reads every folder in the place of its sessions as a session.
    pub takes_every_folder: bool,
    /// True if sessions sorted by path are also sorted by age. If false, sessions are sorted by their times.
    pub ordered_by_name: bool,
    /// True if times in the files may lack a zone. Such times are in this machine's zone, which is stored in
    /// the tree.
    pub local_times: bool,
    /// True if a worktree can have only one active session, including native sessions.
    pub exclusive: bool,
    /// True if pausing is an error while no session is active, as it is in the tool.
    pub pauses_active_only: bool,
    /// True if the files contain the number of an item's parts, and list the items of a phase. A part beyond
    /// that number, and an item removed from the list, is then dropped unless somebody worked on it.
    pub counts_parts: bool,
    /// True if an edit that marks a phase of a known session as done is always a claim, even if the phase's
    /// file exists. False for tools that mark a phase only after it is done.
    pub edits_only_claim: bool,
    /// True if deleting or renaming a session's folder deletes or renames the session. Only an explicit
    /// command recreates such a folder, unless the tool's registry still lists it.
    pub goes_with_folder: bool,
    /// True if a session is stalled only when no file was written for a while. The duration of the current
    /// phase then does not matter.
    pub stalls_in_silence: bool,
    /// True if an active session can be resumed, too, with the same checks and messages, because somebody may
    /// have left it without pausing it.
    pub taken_up_again: bool,
    /// True if only the user may read a session's folder.
    pub private: bool,
    /// True if null in the files means that a field is unset. A missing key never unsets a field.
    pub null_clears: bool,
    /// True if a new session without a title is named after the last part of its target's path.
    pub titled_by_target: bool,
    /// True if the results of a phase include the commands that were run in it.
    pub keeps_commands: bool,
    /// True if files of finished phases of the tool are recorded when they are found, so that later changes
    /// can be detected.
    pub records_outputs: bool,
    /// The tool's words for the status of a session, each with the lifecycle that it means.
    pub status_words: &'static [(&'static str, &'static str)],
    /// Session fields that may name a file that does not exist.
    pub unpromised: Unpromised,
    /// The reasons that are allowed for a deferred point. Empty if any reason is allowed.
    pub deferred_reasons: &'static [&'static str],
    /// True if inactive sessions are paused. If false, inactivity is only reported.
    pub expires: bool,
    /// Where later releases of the tool store state that leftoff does not read.
    pub kept_elsewhere: Option<KeptElsewhere>,
    /// The workflows whose runs the tool counts by folders. Each has the prefix of the folders' paths, below
    /// the session's folder; the number of the run follows the prefix.
    pub run_folders: &'static [(&'static str, &'static str)],
}

impl Facts {
    /// True for a marker file: an empty file whose existence has a meaning.
    pub fn is_marker(&self, path: &str) -> bool {
        self.marker_prefix.is_some_and(|beginning| path.starts_with(beginning))
    }

    /// The folder of a run, below the session's own. `None` if the tool does not count runs by folders.
    pub fn run_folder(&self, workflow: &str, ordinal: u32) -> Option<String> {
        let (_, beginning) = self.run_folders.iter().find(|(name, _)| *name == workflow)?;
        Some(format!("{beginning}{ordinal}"))
    }

    /// True if the file that this field names must exist.
    pub fn promises(&self, field: &str) -> bool {
        match self.unpromised {
            Unpromised::Nothing => true,
            Unpromised::Everything => false,
            Unpromised::Fields(names) => !names.contains(&field),
        }
    }

    /// True if the layout's files can represent the phases of this run.
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

    /// The older path of a phase's file, if the session uses it. `is_there` returns true for a path that
    /// exists below the session's workspace.
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
