//! Exports a session as a layout's files: the session's own files with later changes, and its documents. If a layout
//! cannot represent the session's phases, the export is refused before anything is written.

use super::{Content, Piece, Share, put_all};
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::facades::Sessions;
use crate::foreign::{self, layout_names};
use crate::{NATIVE, walk};
use layouts::capabilities::{is_shared, own_part};
use layouts::layout::{
    self, Depth, Folder, Layout, NewSession, Occasion, Purpose, ReadAs, SessionToPublish, Spot, WriteRequest,
    puts,
};
use layouts::tree::{Entry, Tree};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::words;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The data from which an export to files starts.
struct Ground {
    spot: Spot,
    /// The session's existing files, or the files from which it was imported. Empty if the target is another layout.
    tree: Tree,
    /// The state files among `tree`.
    state: BTreeMap<String, Vec<u8>>,
    /// The version of the session that the files show.
    shown_version: u64,
    /// Folders with the session's documents. If two of them have the same file, that of the later folder is used.
    documents: Vec<PathBuf>,
}

impl Sessions<'_> {
    /// Writes the selected session as a layout's files below a folder, with the paths that they would have in a project
    /// of that tool.
    pub fn export_as(&self, layout: &str, folder: &Path) -> Result<Vec<PathBuf>> {
        let names: Vec<&str> = layout_names();
        let layout = layout::by_name(layout).ok_or_else(|| Error::WrongUsage {
            message: format!("there is no layout '{layout}' that has files"),
            hint: format!("the layouts are {}", names.join(", ")).into(),
        })?;
        let engine = self.engine;
        let id = engine.select(Want::Latest)?;
        let history = self.log(Some(id.as_str()), 0)?.events;
        let session = engine.replay(&id)?;
        engine.check_words_for(layout, &session, folder)?;
        let ground = engine.ground_for(layout, &session, folder)?;
        let (session, history) = engine.without_the_pause_of_its_import(layout, session, history, &ground);
        let pieces = engine.pieces(layout, &session, &history, &ground, folder)?;
        put_all(folder, pieces)
    }
}

impl Engine {
    /// Returns the session's current state files, or else those from which it was imported. Empty if there are neither.
    pub(super) fn state_of(&self, id: &SessionId) -> Result<BTreeMap<String, Vec<u8>>> {
        let (_, session) = self.load(id)?;
        if session.layout != NATIVE {
            return Ok(self.files_seen(id));
        }
        self.origin(id)?.map_or_else(|| Ok(BTreeMap::new()), |origin| self.files_kept(&origin))
    }

    /// Returns an error with alternatives if a layout cannot represent the session. Called before anything is done.
    fn check_words_for(&self, layout: &dyn Layout, session: &Session, folder: &Path) -> Result<()> {
        let Some(run) = session.run().filter(|run| !layout.facts().can_show(run)) else { return Ok(()) };
        let able: Vec<&str> = layout::all()
            .iter()
            .filter(|other| other.facts().can_show(run))
            .map(|other| other.facts().name)
            .collect();
        let all_of_it = "plain JSON has everything: omit --layout";
        let hint = able.first().map_or_else(
            || Hint::new(all_of_it),
            |name| {
                let naming = self.naming(session).unwrap_or_default();
                let words = words!["export", "--layout", name, folder.display()];
                Hint::new(format!("{} can: ", able.join(" and ")))
                    .run([words, naming].concat())
                    .then(format!("; {all_of_it}"))
            },
        );
        Err(Error::WrongUsage {
            message: format!(
                "{} cannot represent a session of workflow '{}'",
                layout.facts().title,
                run.workflow.name
            ),
            hint,
        })
    }

    fn ground_for(&self, layout: &'static dyn Layout, session: &Session, folder: &Path) -> Result<Ground> {
        let id = &session.id;
        let workspace = self.workspace(session);
        if let Some(located) =
            self.located(session).filter(|located| located.layout.facts().name == layout.facts().name)
        {
            let root = self.root_of(session);
            let state = self.files_seen(id);
            let tree = with_state(layout, &located.spot, &root, &state);
            let shown_version = self.shown_by_its_files(id)?.unwrap_or(session.version);
            let spot = inside(layout, located.spot);
            return Ok(Ground { spot, tree, state, shown_version, documents: vec![workspace] });
        }
        let origin = self.origin(id)?.filter(|origin| origin.layout.facts().name == layout.facts().name);
        if let Some(origin) = origin {
            let root = self.root_of_origin(&origin, id)?;
            let state = self.files_kept(&origin)?;
            let tree = with_state(layout, &origin.spot, &root, &state);
            let documents = vec![root.join(&origin.spot.workspace), workspace];
            // If the state files are no longer stored, the session is written like a new one.
            let shown_version = if state.is_empty() { 0 } else { origin.version };
            return Ok(Ground { spot: origin.spot, tree, state, shown_version, documents });
        }
        let spot = self.spot_for(layout, session, folder)?;
        let (tree, state) = (Tree::default(), BTreeMap::new());
        // Documents of another tool stay with that tool.
        let documents = Some(workspace).filter(|_| session.layout == NATIVE).into_iter().collect();
        Ok(Ground { spot, tree, state, shown_version: 0, documents })
    }

    /// Returns the place for a session that is new in this layout: under its own name, or under a name that the layout
    /// chooses.
    fn spot_for(&self, layout: &dyn Layout, session: &Session, folder: &Path) -> Result<Spot> {
        let occasion = Occasion {
            title: &session.title,
            today: session.created_at.to_zoned(jiff::tz::TimeZone::UTC).date(),
            now: session.created_at,
            branch: None,
            random: [0; 16],
        };
        let is_taken = |path: &str| folder.join(path).symlink_metadata().is_ok();
        let place = |id: Option<&str>| layout.place(&NewSession::new(id, occasion, &is_taken).to_export());
        let spot = place(Some(session.id.as_str())).or_else(|_| place(None));
        spot.map_err(|why| Error::WrongUsage {
            message: why.to_string(),
            hint: "export the session as JSON: omit --layout".into(),
        })
    }

    /// Undoes the pause that an import added, or the expiry after it. The session's files did not have them, so a
    /// session without other changes is exported as active.
    fn without_the_pause_of_its_import(
        &self,
        layout: &dyn Layout,
        session: Session,
        history: Vec<Recorded>,
        ground: &Ground,
    ) -> (Session, Vec<Recorded>) {
        let is_pause = |recorded: &&Recorded| {
            matches!(recorded.event, Event::SessionPaused { .. } | Event::SessionExpired { .. })
        };
        let last = history.iter().rev().find(is_pause).map(|recorded| recorded.version);
        // Only a pause directly after the event of the import belongs to the import.
        let is_of_import =
            session.layout == NATIVE && last.is_some_and(|last| last <= ground.shown_version + 1);
        let is_waiting = matches!(session.lifecycle, Lifecycle::Paused { .. });
        if !is_of_import || !is_waiting || !self.are_active(layout, &session, &history, ground) {
            return (session, history);
        }
        let others: Vec<Recorded> =
            history.iter().filter(|recorded| Some(recorded.version) != last).cloned().collect();
        match Session::fold(&others) {
            Some(without) => (without, others),
            None => (session, history),
        }
    }

    /// True if the files from which a session was imported show the session as active.
    fn are_active(
        &self,
        layout: &dyn Layout,
        session: &Session,
        history: &[Recorded],
        ground: &Ground,
    ) -> bool {
        let folder = Folder {
            spot: &ground.spot,
            id: &session.id,
            worktree: &session.worktree,
            tree: &ground.tree,
            now: self.clock.now(),
            read_as: ReadAs::Found,
        };
        let folded = history.first().and_then(|first| layout.read(&folder).value.fold(&first.actor));
        !ground.state.is_empty()
            && folded.is_some_and(|(_, session, _)| matches!(session.lifecycle, Lifecycle::Active))
    }

    fn pieces(
        &self,
        layout: &'static dyn Layout,
        session: &Session,
        history: &[Recorded],
        ground: &Ground,
        folder: &Path,
    ) -> Result<Vec<Piece>> {
        let items = self.all_items(&session.id)?;
        let since: Vec<Recorded> =
            history.iter().filter(|recorded| recorded.version > ground.shown_version).cloned().collect();
        let publication = SessionToPublish::new(session, &items, &since);
        // References in the state files mean the documents that are exported together with the session.
        let mut tree = ground.tree.clone();
        for folder in &ground.documents {
            walk::add_documents(&mut tree, layout, &ground.spot, folder);
        }
        let there = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let aim = Folder {
            spot: &ground.spot,
            id: &session.id,
            worktree: &there.to_string_lossy(),
            tree: &tree,
            now: self.clock.now(),
            read_as: ReadAs::Found,
        };
        // In its own layout, the session's files keep their format. For another layout, they are written like those of
        // a new session.
        let purpose = if session.layout == layout.facts().name {
            Purpose::Export
        } else if ground.state.is_empty() {
            Purpose::Newest
        } else {
            Purpose::Restore
        };
        let changes = puts(layout.write(&WriteRequest { purpose, publication: &publication }, &aim));
        for change in &changes {
            walk::check_length(layout, &ground.spot, &change.path, &change.content)?;
        }
        let mut files = ground.state.clone();
        files.extend(changes.into_iter().map(|change| (change.path, change.content)));
        let rules = layout.files(&ground.spot);
        let mut pieces = documents(layout, ground);
        for (path, content) in files {
            let own = own_part(layout, &ground.spot, &path, &content);
            let is_of_several = is_shared(layout, &path);
            // If the session is a single file, it goes to the place for the session's state. A folder is exported as it
            // is.
            let is_place = rules.places.all.iter().any(|place| place.path == path);
            let moved = rules.places.belongs(&path, &session.lifecycle).filter(|_| is_place);
            let path = moved.unwrap_or(path);
            let place = ground.spot.below_project(&path);
            let content = if is_of_several {
                Content::Share(Share { layout, spot: ground.spot.clone(), path, own })
            } else {
                Content::Bytes(own)
            };
            pieces.insert(place, content);
        }
        Ok(pieces.into_iter().map(|(path, content)| Piece { path, content }).collect())
    }
}

/// Returns a session's place such that even a session outside projects goes below the destination folder.
fn inside(layout: &dyn Layout, spot: Spot) -> Spot {
    let name = Path::new(&spot.path).file_name().map(|name| name.to_string_lossy().into_owned());
    let is_absolute = Path::new(&spot.path).is_absolute();
    name.filter(|_| is_absolute).and_then(|name| foreign::spot_at(layout, &name)).unwrap_or(spot)
}

/// Returns all files at the session's place, with the given state files instead of the current ones.
fn with_state(layout: &dyn Layout, spot: &Spot, root: &Path, state: &BTreeMap<String, Vec<u8>>) -> Tree {
    let mut tree = walk::read(layout, spot, root, Depth::Whole);
    let rules = layout.files(spot);
    let stale: Vec<String> = tree.files().filter(|path| rules.is_state(path)).map(str::to_owned).collect();
    for path in &stale {
        tree.remove(path);
    }
    for (path, content) in state {
        tree.insert(path.clone(), Entry::File(content.clone()));
    }
    tree
}

/// Returns the other files of the session's workspace, by their destination.
fn documents(layout: &dyn Layout, ground: &Ground) -> BTreeMap<String, Content> {
    let spot = &ground.spot;
    let mut found = BTreeMap::new();
    for folder in &ground.documents {
        for path in walk::documents(layout, spot, folder) {
            found.insert(format!("{}/{path}", spot.workspace), Content::Of(folder.join(path)));
        }
    }
    found
}
