//! Who may drop an item, and where.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::policy::{Act, Restricted, Signature};
use layouts::layout;
use model::event::Event;
use model::hint::Hint;
use model::id::ItemId;
use model::item::Item;
use model::session::Session;
use model::words;
use model::workflow::PhaseDefinition;

impl Engine {
    /// Lets only a person drop an item whose phase cannot be completed before its items are done: otherwise the gate
    /// would be optional.
    pub(super) fn authorise_drop(
        &self,
        session: &Session,
        item: &Item,
        signature: Option<&Signature>,
    ) -> Result<Option<Event>> {
        let definition = self.definition_of(session)?;
        let needs_items = |defined: &PhaseDefinition| defined.asks_for_items();
        if !definition.phase(item.phase.as_str()).is_some_and(needs_items) {
            return Ok(None);
        }
        let act = Act { phase: Some(&item.phase), ..Act::new(Restricted::Drop, &session.id) };
        self.authorise(&act, signature)
    }
}

/// Files of other tools have no word for a dropped item.
pub(super) fn refuse_dropping_in_files(session: &Session, item: &ItemId) -> Result<()> {
    if layout::by_name(&session.layout).is_none() {
        return Ok(());
    }
    Err(Error::NotSupported {
        what: "an item of a session in another tool's files cannot be dropped".to_owned(),
        hint: Hint::new("say why it stays undone: ")
            .run_here(words!["item", "block", item, "--reason", "<reason>"]),
    })
}
