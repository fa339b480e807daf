//! Messages in the words of a session's own tool. Only reads.

use crate::NATIVE;
use crate::discrepancies::Discrepancy;
use crate::engine::Engine;
use crate::error::Error;
use crate::facades::Sessions;
use crate::view::HealthView;
use crate::walk;
use layouts::capabilities::{Moment, Saying};
use layouts::layout::{self, Depth, Folder, Health, Question, Refused, SessionToPublish};
use layouts::reader::Located;
use layouts::screen::Screen;
use layouts::tree::{Entry, Tree};
use model::Refusal;
use model::id::SessionId;
use model::session::Session;
use std::collections::BTreeSet;
use store::Batch;

impl Sessions<'_> {
    /// Returns the session as its own tool would show it, whether it is adopted or not. `None` if the tool has no
    /// screen.
    pub fn screen(&self, id: &SessionId) -> Option<Screen> {
        let engine = self.engine;
        let (_, session) = engine.load(id).ok()?;
        let located = engine.located(&session)?;
        let own = located.layout.capabilities().own_screen?;
        let mut tree = walk::read(located.layout, &located.spot, &engine.root_of(&session), Depth::Whole);
        // Instead of a missing or damaged state file, the screen shows the content from which the session was loaded.
        if let Some(observation) = engine.observed(id) {
            for path in observation.verdicts.keys() {
                if let Some(content) = observation.documents.content(path) {
                    tree.insert(path.clone(), Entry::File(content.to_vec()));
                }
            }
        }
        Some(own.screen(&session, &engine.folder(&located, &session, &tree)))
    }
}

impl Engine {
    /// Returns the results of the layout's checks of a session's files, whether the session is adopted or not.
    pub(crate) fn health(&self, id: &SessionId) -> Vec<Health> {
        let Ok((_, session)) = self.load(id) else { return Vec::new() };
        self.read_whole(&session).map(|(_, session)| session.checks).unwrap_or_default()
    }

    /// Returns the message that the session's own tool prints at this moment of a session; `None` if there is none.
    pub(crate) fn own_words(&self, id: &SessionId, moment: Moment) -> Option<String> {
        let (_, session) = self.load(id).ok()?;
        let session = self.with_expiry(session);
        let (located, tree) = self.whole_tree(&session)?;
        let items = self.all_items(id).ok()?;
        let publication = SessionToPublish::new(&session, &items, &[]);
        let folder = self.folder(&located, &session, &tree);
        let voice = located.layout.capabilities().tool_voice?;
        voice.say(&Saying::Session { moment, publication: &publication, folder: &folder })
    }

    /// Returns the tool's own words after a command.
    pub(crate) fn words_after(&self, batch: &Batch, id: &SessionId) -> Option<String> {
        let stream =
            batch.streams.iter().find(|stream| stream.row.id == *id && stream.row.layout != NATIVE)?;
        let moment = stream.events.iter().rev().find_map(|event| match event.kind.as_str() {
            "session_paused" => Some(Moment::Paused),
            "session_resumed" => Some(Moment::Resumed),
            "session_completed" => Some(Moment::Completed),
            _ => None,
        })?;
        self.own_words(id, moment)
    }

    /// Returns a session's line as in its own tool's list.
    pub(crate) fn own_line(&self, id: &str) -> Option<String> {
        self.own_words(&SessionId::parse(id).ok()?, Moment::Listed)
    }

    /// Returns inconsistencies in a session's files that were not reported already.
    pub(crate) fn file_discrepancies(
        &self,
        session: &Session,
        reported: &BTreeSet<String>,
    ) -> Vec<Discrepancy> {
        let Some((located, tree)) = self.whole_tree(session) else { return Vec::new() };
        let found = located.layout.questions(&self.folder(&located, session, &tree));
        let in_project = |path: &str| format!("{}/{path}", located.spot.home);
        let discrepancies = found.into_iter().filter_map(|question| match question {
            Question::Discrepancy { problem, remedy } => Some((problem, remedy)),
            Question::WhereToResume { .. } => None,
        });
        let root = self.root_of(session);
        let is_reported = |path: &str| reported.iter().any(|known| root.join(known) == root.join(path));
        discrepancies
            .filter(|(problem, _)| !problem.names_file().is_some_and(is_reported))
            .map(|(problem, remedy)| Discrepancy {
                kind: "foreign_file".to_owned(),
                phase: None,
                path: Some(in_project(&problem.path)),
                message: format!("{}: {problem}", in_project(&problem.path)),
                remedy: remedy.into(),
            })
            .collect()
    }

    /// Returns all of a session's files that its layout needs.
    pub(crate) fn whole_tree(&self, session: &Session) -> Option<(Located, Tree)> {
        let located = self.located(session)?;
        let tree = walk::read(located.layout, &located.spot, &self.root_of(session), Depth::Whole);
        Some((located, tree))
    }

    pub(crate) fn folder<'a>(
        &self,
        located: &'a Located,
        session: &'a Session,
        tree: &'a Tree,
    ) -> Folder<'a> {
        located.folder(&session.worktree, tree, self.clock.now())
    }
}

/// Returns a refusal in the words of the session's own tool. If the tool has none, the refusal is unchanged.
pub(crate) fn in_own_words(session: &Session, refusal: Refusal) -> Error {
    let voice = layout::by_name(&session.layout).and_then(|layout| layout.capabilities().tool_voice);
    let words = Refused::of(&refusal).zip(voice).and_then(|(why, voice)| voice.say(&Saying::Refused(&why)));
    match words {
        Some(words) => Error::RefusedInOwnWords { words, refusal: Box::new(refusal) },
        None => Error::Refused(refusal),
    }
}

/// Returns the heading of the list that a layout's own tool shows.
pub(crate) fn heading(layout: Option<&str>) -> Option<&'static str> {
    layout::by_name(layout?)?.facts().list_heading
}

/// True if the layout's own tool has a screen for sessions.
pub fn has_own_screen(layout: &str) -> bool {
    layout::by_name(layout).is_some_and(|layout| layout.capabilities().own_screen.is_some())
}

/// Returns the workflows that screens of other tools show.
pub fn workflows_with_a_screen() -> Vec<&'static str> {
    let with_one = layout::all().iter().filter(|layout| layout.capabilities().own_screen.is_some());
    with_one.flat_map(|layout| layout.facts().workflows).copied().collect()
}

impl From<Health> for HealthView {
    fn from(health: Health) -> Self {
        Self { check: health.check.to_owned(), ok: health.is_well, found: health.found }
    }
}
