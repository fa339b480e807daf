//! Which of a session's files are read, only listed, or none of its business; and in which places its files can be.
//! Plain data that a layout makes for one session, and the questions that can be asked of it.

use crate::tree::Tree;
use model::lifecycle::Lifecycle;

/// The most of a file that is read, where no rule says otherwise.
pub const MOST_BYTES: u64 = 1024 * 1024;

/// The rules for one session's files. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRules {
    /// Entries of the home that are walked through; an empty path is the home itself. None of them: nothing is walked
    /// through, because every file has a name that is known beforehand.
    pub roots: Vec<String>,
    pub places: Places,
    /// The first that fits a path counts; a path that none fits is skipped.
    pub rules: Vec<Rule>,
}

/// Places between which a session's files are moved. Empty where they stay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The first that is there counts: a file in another place has left it.
    pub all: Vec<SessionPlace>,
    /// The place that counts where none is there.
    pub when_gone: Option<String>,
}

/// A place where a session's files can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// A folder, or the session's only file.
    pub path: String,
    /// The file that shows that the session is here, where the folder is not seen.
    pub known_by: String,
    /// The states of a session that belongs here, as `Lifecycle::name` has them. Empty where the place says nothing.
    pub lifecycles: &'static [&'static str],
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub fits: Fits,
    pub on: On,
    pub role: Role,
    /// The most bytes that are read.
    pub most: u64,
}

/// The paths that a rule fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fits {
    Is(String),
    /// An entry right below this folder whose name ends so.
    In(String, &'static str),
    /// Everything below this folder.
    Below(String),
    Ends(&'static str),
    Holds(&'static str),
    All,
}

/// The entries that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Files,
    Folders,
    Both,
}

/// The part that a file plays in a session. A folder with any role but `Skip` is walked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Read; whoever changes it changes the session.
    State,
    /// State that holds parts of other sessions, too.
    Shared,
    /// An empty file that means something by being there.
    Marker,
    /// Read, and no state: it may show something, and whoever changes it changes no session.
    Evidence,
    /// Read only by who looks at the whole session; listed by others.
    ReadIfWhole,
    /// Only that it is there counts.
    Listed,
    /// Listed only by who looks at the whole session.
    ListedIfWhole,
    /// Not the session's.
    Skip,
}

/// How much of a session's files is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// A few files that are enough for a summary.
    Summary,
    /// Its state and which files there are.
    Short,
    Whole,
}

/// Something that is needed beside what the rules say, because a session's own files name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    Content(String),
    /// Only whether it is there, and when it was written.
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

/// The path below a folder that a path is in.
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
    /// All of the home is walked through, and the session's files stay where they are.
    pub fn whole_home(rules: Vec<Rule>) -> Self {
        Self { roots: vec![String::new()], places: Places::default(), rules }
    }

    pub fn role(&self, path: &str, is_folder: bool) -> Role {
        self.rule(path, is_folder).map_or(Role::Skip, |rule| rule.role)
    }

    /// True for a file in which the session is written.
    pub fn is_state(&self, path: &str) -> bool {
        self.role(path, false).is_state()
    }

    /// The most of a file that is read.
    pub fn most_bytes(&self, path: &str) -> u64 {
        self.rule(path, false).map_or(MOST_BYTES, |rule| rule.most)
    }

    fn rule(&self, path: &str, is_folder: bool) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.applies(path, is_folder))
    }

    /// True for a file that was in the session's place when that was another one.
    pub fn has_left(&self, path: &str, tree: &Tree) -> bool {
        let Some(now) = self.places.now(tree) else { return false };
        self.places.all.iter().any(|place| place.path != now && place.holds(path))
    }

    /// Files of the session's state, in the place where it is.
    pub fn state_files(&self, tree: &Tree) -> Vec<String> {
        let is_own = |path: &&str| self.is_state(path) && !self.has_left(path, tree);
        tree.files().filter(is_own).map(ToOwned::to_owned).collect()
    }
}

impl Places {
    /// Where the session's files are.
    pub fn now(&self, tree: &Tree) -> Option<&str> {
        let is_there =
            |place: &&SessionPlace| tree.has_folder(&place.path) || tree.get(&place.known_by).is_some();
        let there = self.all.iter().find(is_there).map(|place| place.path.as_str());
        there.or(self.when_gone.as_deref())
    }

    /// A path of a session that stands so, where it belongs: some layouts have a place for each status. None where it
    /// is right.
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
