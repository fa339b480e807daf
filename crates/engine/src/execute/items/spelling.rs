//! Handles layouts in which an id can be spelled in several ways. Any spelling finds the existing item, and a new id is
//! spelled like the existing ones.

use crate::engine::Engine;
use crate::error::Result;
use layouts::capabilities::IdSpelling;
use layouts::layout;
use model::command::items::{AddItem, ItemCommand, ItemEdit};
use model::id::ItemId;
use model::session::Session;

/// The ids of a session's items, in a layout where ids have several spellings.
pub(super) struct Spellings {
    spelling: &'static dyn IdSpelling,
    known: Vec<ItemId>,
}

impl Spellings {
    /// Returns the spellings used in a session; `None` if its layout has only one spelling of an id.
    pub(super) fn of(engine: &Engine, session: &Session) -> Result<Option<Self>> {
        let spelling = layout::by_name(&session.layout).and_then(|layout| layout.capabilities().id_spelling);
        let Some(spelling) = spelling else { return Ok(None) };
        let known = engine.all_items(&session.id)?.iter().map(|item| item.id.clone()).collect();
        Ok(Some(Self { spelling, known }))
    }

    /// Returns the id of the existing item that is meant: the same id or, failing that, the same id in another
    /// spelling.
    pub(super) fn known(&self, id: ItemId) -> ItemId {
        let meant = self.spelling.plain(id.as_str());
        let is_same = |known: &&ItemId| self.spelling.plain(known.as_str()) == meant;
        let exact = self.known.iter().find(|known| known.is(&id));
        exact.or_else(|| self.known.iter().find(is_same)).cloned().unwrap_or(id)
    }

    pub(super) fn is_taken(&self, id: &ItemId) -> bool {
        self.known.contains(&self.known(id.clone()))
    }

    /// Returns a new id, spelled like the existing ones.
    pub(super) fn new_one(&self, id: ItemId) -> ItemId {
        let known: Vec<&str> = self.known.iter().map(ItemId::as_str).collect();
        let written = self.spelling.like(id.as_str(), &known);
        written.and_then(|text| ItemId::parse(&text).ok()).unwrap_or(id)
    }

    /// Returns the command with its ids spelled as in the session.
    pub(super) fn command(&self, command: ItemCommand) -> ItemCommand {
        let all = |ids: Vec<ItemId>| ids.into_iter().map(|id| self.known(id)).collect();
        match command {
            ItemCommand::Add(new) => ItemCommand::Add(AddItem {
                id: self.known(new.id),
                parent: new.parent.map(|id| self.known(id)),
                needs: all(new.needs),
                ..new
            }),
            ItemCommand::Start { id } => ItemCommand::Start { id: self.known(id) },
            ItemCommand::Complete { id } => ItemCommand::Complete { id: self.known(id) },
            ItemCommand::Block { id, reason } => ItemCommand::Block { id: self.known(id), reason },
            ItemCommand::Unblock { id } => ItemCommand::Unblock { id: self.known(id) },
            ItemCommand::Drop { id, reason } => ItemCommand::Drop { id: self.known(id), reason },
            ItemCommand::Claim { id, seconds } => ItemCommand::Claim { id: self.known(id), seconds },
            ItemCommand::Release { id } => ItemCommand::Release { id: self.known(id) },
            ItemCommand::Split { id, titles } => ItemCommand::Split { id: self.known(id), titles },
            ItemCommand::Set { id, edit } => ItemCommand::Set {
                id: self.known(id),
                edit: ItemEdit { needs: all(edit.needs), no_longer: all(edit.no_longer), ..edit },
            },
        }
    }
}
