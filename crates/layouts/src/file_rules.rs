//! Rules for a session's files: which files are read, listed or ignored, and where the files can be. A layout
//! creates this plain data for each session; the functions here query it.

use crate::tree::Tree;
use model::lifecycle::Lifecycle;

/// The maximum size of a file that is read, in bytes. A rule can set another maximum.
pub const MOST_BYTES: u64 = 1024 * 1024;
/// The maximum number of files and folders of one session that are read, and also of its state files.
pub const MOST_ENTRIES: usize = 10_000;

/// The rules for one session's files. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRules {
    /// Files and folders to walk, relative to the home; an empty path is the home itself. The list is empty
    /// if all file names are known in advance, so that nothing needs to be walked.
    pub roots: Vec<String>,
    pub places: Places,
    /// The first rule that matches a path is used. Paths that no rule matches are skipped.
    pub rules: Vec<Rule>,
}

/// The places between which a session's files move. The list is empty if they never move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The session is in the first of these places that exists. A file in any other place is left over.
    pub all: Vec<SessionPlace>,
    /// The place of a session if none of the places contains a file of it.
    pub when_gone: Option<String>,
}

/// A possible place of a session's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// The path of the session's folder, or of its only file.
    pub path: String,
    /// A file that shows that the session is in this place. Needed if the folder itself is not listed.
    pub known_by: String,
    /// The lifecycles, named as by `Lifecycle::name`, that a session in this place has. Empty if the place
    /// has nothing to do with the lifecycle.
    pub lifecycles: &'static [&'static str],
}

/// One rule about a session's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub fits: Fits,
    pub on: On,
    pub role: Role,
    /// The maximum number of bytes that are read from the file.
    pub most: u64,
}

/// The paths that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fits {
    Is(String),
    /// An entry directly below this folder whose name has this suffix.
    In(String, &'static str),
    /// Everything below this folder.
    Below(String),
    Ends(&'static str),
    Holds(&'static str),
    All,
}

/// The entries to which a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Files,
    Folders,
    Both,
}

/// The role of a file in its session. A folder is walked, unless its role is `Skip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The file is read. Changing it changes the session.
    State,
    /// The file is state, and contains parts of other sessions, too.
    Shared,
    /// The file is empty, and its existence has a meaning.
    Marker,
    /// The file is read, and may prove something. It is not state, so changing it does not change the
    /// session.
    Evidence,
    /// The file is read if everything is needed, and otherwise only listed.
    ReadIfWhole,
    /// Only the existence of the file matters.
    Listed,
    /// The file is listed only if everything is needed.
    ListedIfWhole,
    /// The file does not belong to the session.
    Skip,
}

/// How much of a session's files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only the few files that a summary needs.
    Summary,
    /// The state, and the names of the other files.
    Short,
    Whole,
}

/// A file that is needed although no rule covers it, because the session's own files name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    Content(String),
    /// Only whether this file exists, and its modification time.
    Name(String),
}

impl Rule {
    pub fn files(fits: Fits, role: Role) -> Self {
        Self { fits, on: On::Files, role, most: MOST_BYTES }
    }

    pub fn folders(fits: Fits, role: Role) -> Self {
        Self { fits, on: On::Folders, role, most: MOST_BYTES }
    }

    pub fn both(fits: Fits, role: Role) -> Self {
        Self { fits, on: On::Both, role, most: MOST_BYTES }
    }

    fn applies(&self, path: &str, is_folder: bool) -> bool {
        let is_about = match self.on {
            On::Files => !is_folder,
            On::Folders => is_folder,
            On::Both => true,
        };
        is_about && self.fits.matches(path)
    }
}

impl Fits {
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Is(own) => own == path,
            Self::In(folder, ending) => {
                below(path, folder).is_some_and(|name| !name.contains('/') && name.ends_with(ending))
            }
            Self::Below(folder) => below(path, folder).is_some(),
            Self::Ends(ending) => path.ends_with(ending),
            Self::Holds(part) => path.contains(part),
            Self::All => true,
        }
    }
}

/// The part of a path after a folder; `None` if the path is not below the folder.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

impl Role {
    pub fn is_state(self) -> bool {
        match self {
            Self::State | Self::Shared | Self::Marker => true,
            Self::Evidence | Self::ReadIfWhole | Self::Listed | Self::ListedIfWhole | Self::Skip => false,
        }
    }

    pub fn is_read(self, depth: Depth) -> bool {
        match self {
            Self::State | Self::Shared | Self::Marker | Self::Evidence => true,
            Self::ReadIfWhole => depth == Depth::Whole,
            Self::Listed | Self::ListedIfWhole | Self::Skip => false,
        }
    }

    pub fn is_listed(self, depth: Depth) -> bool {
        match self {
            Self::State | Self::Shared | Self::Marker | Self::Evidence | Self::ReadIfWhole | Self::Listed => {
                true
            }
            Self::ListedIfWhole => depth == Depth::Whole,
            Self::Skip => false,
        }
    }
}

impl FileRules {
    /// Rules for files that never move. The whole home is walked.
    pub fn whole_home(rules: Vec<Rule>) -> Self {
        Self { roots: vec![String::new()], places: Places::default(), rules }
    }

    pub fn role(&self, path: &str, is_folder: bool) -> Role {
        self.rule(path, is_folder).map_or(Role::Skip, |rule| rule.role)
    }

    /// True for a file that holds the session's state.
    pub fn is_state(&self, path: &str) -> bool {
        self.role(path, false).is_state()
    }

    /// The maximum number of bytes read from a file.
    pub fn most_bytes(&self, path: &str) -> u64 {
        self.rule(path, false).map_or(MOST_BYTES, |rule| rule.most)
    }

    fn rule(&self, path: &str, is_folder: bool) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.applies(path, is_folder))
    }

    /// True for a file in a place that the session has left.
    pub fn has_left(&self, path: &str, tree: &Tree) -> bool {
        let Some(now) = self.places.now(tree) else { return false };
        self.places.all.iter().any(|place| place.path != now && place.holds(path))
    }

    /// The paths of the session's state files in its current place.
    pub fn state_files(&self, tree: &Tree) -> Vec<String> {
        let is_own = |path: &&str| self.is_state(path) && !self.has_left(path, tree);
        tree.files().filter(is_own).map(ToOwned::to_owned).collect()
    }
}

impl Places {
    /// The place in which the session's files are now.
    pub fn now(&self, tree: &Tree) -> Option<&str> {
        let is_there =
            |place: &&SessionPlace| tree.has_folder(&place.path) || tree.get(&place.known_by).is_some();
        let there = self.all.iter().find(is_there).map(|place| place.path.as_str());
        there.or(self.when_gone.as_deref())
    }

    /// The path at which a session with this lifecycle belongs, in layouts in which the place depends on the
    /// lifecycle. `None` if the session is already there.
    pub fn belongs(&self, path: &str, lifecycle: &Lifecycle) -> Option<String> {
        let place = self.all.iter().find(|place| place.holds(path))?;
        let is_right = |place: &&SessionPlace| place.lifecycles.contains(&lifecycle.name());
        if place.lifecycles.is_empty() || is_right(&place) {
            return None;
        }
        let other = self.all.iter().find(is_right)?;
        let rest = path.strip_prefix(&place.path)?;
        Some(format!("{}{rest}", other.path))
    }
}

impl SessionPlace {
    fn holds(&self, path: &str) -> bool {
        path == self.path || below(path, &self.path).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Entry;

    fn rules() -> FileRules {
        let place = |path: &str, lifecycles| SessionPlace {
            path: path.to_owned(),
            known_by: format!("{path}/state"),
            lifecycles,
        };
        FileRules {
            roots: vec!["open/a".to_owned(), "done/a".to_owned()],
            places: Places {
                all: vec![place("open/a", &["active"]), place("done/a", &["completed"])],
                when_gone: None,
            },
            rules: vec![
                Rule::files(Fits::Is("open/a/state".to_owned()), Role::State),
                Rule::folders(Fits::Is("open/a/cache".to_owned()), Role::Skip),
                Rule::files(Fits::In("open/a/parts".to_owned(), ".json"), Role::State),
                Rule::both(Fits::In("open/a".to_owned(), ""), Role::Listed),
                Rule::both(Fits::Below("open/a".to_owned()), Role::ListedIfWhole),
            ],
        }
    }

    #[test]
    fn the_first_rule_that_fits_counts_and_anything_else_is_skipped() {
        let rules = rules();
        for (path, is_folder, role) in [
            ("open/a/state", false, Role::State),
            ("open/a/state", true, Role::Listed),
            ("open/a/cache", true, Role::Skip),
            ("open/a/cache", false, Role::Listed),
            ("open/a/parts/1.json", false, Role::State),
            ("open/a/parts/1.txt", false, Role::ListedIfWhole),
            ("open/a/parts/deep/1.json", false, Role::ListedIfWhole),
            ("open/ab", false, Role::Skip),
            ("elsewhere", true, Role::Skip),
        ] {
            assert_eq!(rules.role(path, is_folder), role, "{path} {is_folder}");
        }
    }

    #[test]
    fn a_file_in_another_place_than_the_first_that_is_there_has_left() {
        let mut tree = Tree::default();
        assert!(!rules().has_left("open/a/state", &tree), "it is nowhere");
        tree.insert("done/a", Entry::Folder);
        assert!(rules().has_left("open/a/state", &tree));
        assert!(!rules().has_left("done/a/state", &tree) && !rules().has_left("registry", &tree));
    }

    #[test]
    fn a_session_belongs_in_the_place_of_its_status() {
        let places = rules().places;
        let at = jiff::Timestamp::UNIX_EPOCH;
        let done = Lifecycle::Completed { at, forced: false };
        assert_eq!(places.belongs("open/a", &done).as_deref(), Some("done/a"));
        assert_eq!(places.belongs("open/a/state", &done).as_deref(), Some("done/a/state"));
        assert_eq!(places.belongs("done/a", &done), None);
        assert_eq!(places.belongs("elsewhere", &done), None);
    }
}
