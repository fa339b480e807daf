//! Plain data about a layout: what is true of all of its sessions, wherever their files are. Decides nothing.

use crate::tree::Tree;
use model::run::Run;

/// Where sessions are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Below the project's folder; empty for the folder itself.
    Project(&'static str),
    /// In the folders for temporary files, and in places that are configured: entries whose names begin so.
    Temporary(&'static str),
}

/// Which runs a layout's files have words for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// Phases have numbers in its files, and those of every workflow can be counted.
    AnyRun,
    /// A run with just these phases, whatever its workflow is called.
    Phases(&'static [&'static str]),
    /// One of these workflows by name, with its phases: the same name with other phases is another workflow.
    Workflows(&'static [(&'static str, &'static [&'static str])]),
}

/// A place where files lay before they had another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OlderPlace {
    /// The beginning of their paths now, and then.
    pub now: &'static str,
    pub then: &'static str,
    /// They are in the older place where this is not there, and one of these is.
    pub without: &'static str,
    pub with_any: &'static [&'static str],
}

/// State that later releases of a tool keep in a file that this program does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptElsewhere {
    /// Below the project's folder.
    pub path: &'static str,
    /// The first release that keeps it there.
    pub since: &'static str,
    /// The file that it does not read any more.
    pub instead_of: &'static str,
    /// What somebody who uses both does.
    pub remedy: &'static str,
}

/// Fields of a session that name files and promise nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpromised {
    Nothing,
    /// Free fields are anybody's.
    Everything,
    Fields(&'static [&'static str]),
}

/// Facts about a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own; none depends on another")]
pub struct Facts {
    /// As `--layout` and the session view name it.
    pub name: &'static str,
    /// As people call the tool that it comes from.
    pub title: &'static str,
    /// A session of it on disk, for whoever named something else: "a folder in .ocr/sessions".
    pub looks_for: &'static str,
    /// Folders whose entries may be sessions.
    pub places: &'static [Place],
    /// Folders right below a project's that tell that it is one.
    pub folders: &'static [&'static str],
    /// The workflows that its sessions can follow; the first one when none is asked for. Empty: any.
    pub workflows: &'static [&'static str],
    pub shows: Shows,
    /// The files that alone say what a session's summary needs; empty where all must be looked at.
    pub summary_files: &'static [&'static str],
    /// The file in which a finished session is opened again, where no summary files say so: a list looks at its time,
    /// and reads it only where somebody wrote it after the log was.
    pub reopened_in: Option<&'static str>,
    /// Files that may be in a folder in which a session is started.
    pub may_be_there: &'static [&'static str],
    /// The folder below a session's own, empty for all of it, in which no archived version may lie beside its file: the
    /// tool takes every file there for one of the session's.
    pub no_archives_in: Option<&'static str>,
    /// How the names of marker files right below its home begin; the rest of such a name is a session's.
    pub marker_prefix: Option<&'static str>,
    /// Files that older releases of the tool keep elsewhere below the workspace than the workflow says.
    pub older_places: &'static [OlderPlace],
    /// The heading of its own tool's list of sessions.
    pub list_heading: Option<&'static str>,
    /// Its own tool numbers its sessions from the newest on.
    pub newest_first: bool,
    /// Its own tool's report when the backup took the place of a file that cannot be read.
    pub recovered_note: Option<&'static str>,
    /// Its own tool takes every folder among its sessions for one.
    pub takes_every_folder: bool,
    /// A path that sorts after another is of a later session. Where it does not tell, times are compared.
    pub ordered_by_name: bool,
    /// Times in its files can be without a zone. The tree then has the zone of this machine.
    pub local_times: bool,
    /// A worktree has one active session of it at most, together with native ones.
    pub exclusive: bool,
    /// Pausing is an error where no session is active: its tool then has nothing to pause.
    pub pauses_active_only: bool,
    /// Its files say how many parts an item has, and list the items of a phase. A part beyond that number, and an item
    /// that was taken out of the list, is dropped, unless somebody worked on it.
    pub counts_parts: bool,
    /// A phase that somebody calls done in the files of a session that we know is only claimed, also where its file is
    /// there: not where a tool writes that down only once it is so.
    pub edits_only_claim: bool,
    /// Whoever takes a session's folder away or renames it means the session: it is not made again unasked.
    pub goes_with_folder: bool,
    /// A session may be stalled only where nothing was written for a while, however long its phase takes.
    pub stalls_in_silence: bool,
    /// Its tool resumes also a session that is in progress, with the same checks and words: whoever left it may not have
    /// paused it.
    pub taken_up_again: bool,
    /// A folder that is made for a session is its user's alone.
    pub private: bool,
    /// Null in its files means that a field is not set. A key that is missing clears nothing.
    pub null_clears: bool,
    /// A new session that is about something, and has no title, is called by the last part of its path.
    pub titled_by_target: bool,
    /// The commands that were run in a phase are kept with what it handed in.
    pub keeps_commands: bool,
    /// Fields of the session that name a file without promising that it is there: one that is missing stops nobody.
    pub unpromised: Unpromised,
    /// The reasons for which a point can be deferred; empty: any.
    pub deferred_reasons: &'static [&'static str],
    /// Its sessions are paused when nothing happens in them for long; of others that is only said.
    pub expires: bool,
    /// Where later releases of its tool keep their state.
    pub kept_elsewhere: Option<KeptElsewhere>,
    /// Workflows whose runs its tool counts by their folders, with what such a folder's path begins with, below the
    /// session's own; a run's number follows.
    pub run_folders: &'static [(&'static str, &'static str)],
}

impl Facts {
    /// The folder of one run, below the session's own, where its tool counts runs by their folders.
    pub fn run_folder(&self, workflow: &str, ordinal: u32) -> Option<String> {
        let (_, beginning) = self.run_folders.iter().find(|(name, _)| *name == workflow)?;
        Some(format!("{beginning}{ordinal}"))
    }

    /// Whether a field of the session that names a file promises that it is there.
    pub fn promises(&self, field: &str) -> bool {
        match self.unpromised {
            Unpromised::Nothing => true,
            Unpromised::Everything => false,
            Unpromised::Fields(names) => !names.contains(&field),
        }
    }

    /// True where its files have words for the phases of such a run.
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

    /// Where a file of a phase is in a session that keeps it elsewhere than its workflow says; `is_there` looks below the
    /// session's workspace.
    pub fn older_path(&self, path: &str, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
        self.older_places.iter().find_map(|place| {
            let rest = path.strip_prefix(place.now)?;
            let is_older = !is_there(place.without) && place.with_any.iter().any(|name| is_there(name));
            is_older.then(|| format!("{}{rest}", place.then))
        })
    }

    /// True where a session may be started in a folder that is there already and holds these files.
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
        assert_eq!(path(&[]), None, "nothing tells how old it is");
        assert_eq!(facts.older_path("rounds/round-2/final.md", &|path| path == "final.md"), None);
    }
}
