//! What the tool that a session comes from says about it, in its own words. Reads, and writes nothing.

use super::NATIVE;
use super::find::Located;
use super::tree;
use crate::engine::Engine;
use crate::error::Error;
use crate::validation::Discrepancy;
use layouts::capabilities::{Moment, Saying};
use layouts::layout::{self, Depth, Folder, Question, ReadAs, Refused, Standing};
use layouts::tree::Tree;
use model::Refusal;
use model::id::SessionId;
use model::session::Session;
use std::collections::BTreeSet;
use store::Batch;

impl Engine {
    /// What is said to its user at such a moment; nothing where its tool says nothing.
    pub(crate) fn own_words(&self, id: &SessionId, moment: Moment) -> Option<String> {
        let (_, session) = self.load(id).ok()?;
        let session = self.laid_over(session);
        let (located, tree) = self.whole_tree(&session)?;
        let items = self.all_items(id).ok()?;
        let standing = Standing::new(&session, &items, &[]);
        let folder = self.folder(&located, &session, &tree);
        let voice = located.layout.capabilities().tool_voice?;
        voice.say(&Saying::Session { moment, standing: &standing, folder: &folder })
    }

    /// The same after a command: by what it did to the session.
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

    /// The line that a tool's own list has for a session.
    pub(crate) fn own_line(&self, id: &str) -> Option<String> {
        self.own_words(&SessionId::parse(id).ok()?, Moment::Listed)
    }

    /// What does not fit together in a session's files, but for files that were told of before.
    pub(crate) fn file_discrepancies(
        &self,
        session: &Session,
        told_of: &BTreeSet<String>,
    ) -> Vec<Discrepancy> {
        let Some((located, tree)) = self.whole_tree(session) else { return Vec::new() };
        let found = located.layout.questions(&self.folder(&located, session, &tree));
        let told = |path: &str| format!("{}/{path}", located.spot.home);
        let discrepancies = found.into_iter().filter_map(|question| match question {
            Question::Discrepancy { problem, remedy } => Some((problem, remedy)),
            Question::WhereToResume { .. } => None,
        });
        discrepancies
            .filter(|(problem, _)| !problem.names_file().is_some_and(|path| told_of.contains(path)))
            .map(|(problem, remedy)| Discrepancy {
                kind: "foreign_file".to_owned(),
                phase: None,
                path: Some(told(&problem.path)),
                message: format!("{}: {problem}", told(&problem.path)),
                remedy: remedy.into(),
            })
            .collect()
    }

    /// All that a layout wants to know of a session's files.
    pub(super) fn whole_tree(&self, session: &Session) -> Option<(Located, Tree)> {
        let located = self.located(session)?;
        let tree = tree::read(located.layout, &located.spot, &self.root_of(session), Depth::Whole);
        Some((located, tree))
    }

    pub(super) fn folder<'a>(
        &self,
        located: &'a Located,
        session: &'a Session,
        tree: &'a Tree,
    ) -> Folder<'a> {
        let now = self.clock.now();
        Folder {
            spot: &located.spot,
            id: &session.id,
            worktree: &session.worktree,
            tree,
            now,
            read_as: ReadAs::Found,
        }
    }
}

/// A refusal as the tool says it whose session it is; as it is where that has no words of its own.
pub(crate) fn in_own_words(session: &Session, refusal: Refusal) -> Error {
    let voice = layout::by_name(&session.layout).and_then(|layout| layout.capabilities().tool_voice);
    let words = Refused::of(&refusal).zip(voice).and_then(|(why, voice)| voice.say(&Saying::Refused(&why)));
    match words {
        Some(words) => Error::RefusedInOwnWords { words, refusal: Box::new(refusal) },
        None => Error::Refused(refusal),
    }
}

/// What a layout's own list begins with.
pub(crate) fn heading(layout: Option<&str>) -> Option<&'static str> {
    layout::by_name(layout?)?.facts().list_heading
}
