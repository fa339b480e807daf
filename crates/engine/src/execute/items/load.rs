//! Loads only the items that a decision needs. Everything that these items wait for is loaded only to detect a cycle.

use super::spelling::Spellings;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::items::read_item;
use model::command::items::{AddItem, ItemCommand, ItemEdit};
use model::id::{InvalidId, ItemId};
use model::item::{Item, ItemBook};
use model::session::Session;
use store::ItemFilter;

/// How many numbers are tried for a new id. Only a deliberate flood of items needs more.
const TRIED_NUMBERS: u32 = 1_000_000;

pub(super) struct Loading<'a> {
    engine: &'a Engine,
    session: &'a Session,
    pub(super) book: ItemBook,
    spellings: Option<Spellings>,
}

impl<'a> Loading<'a> {
    pub(super) fn new(engine: &'a Engine, session: &'a Session) -> Result<Self> {
        let spellings = Spellings::of(engine, session)?;
        Ok(Self { engine, session, book: ItemBook::default(), spellings })
    }

    /// Returns the command with the ids of items spelled as in the session.
    pub(super) fn in_known_spelling(&self, command: ItemCommand) -> ItemCommand {
        match &self.spellings {
            Some(spellings) => spellings.command(command),
            None => command,
        }
    }

    pub(super) fn known(&self, id: &ItemId) -> ItemId {
        self.spellings.as_ref().map_or_else(|| id.clone(), |spellings| spellings.known(id.clone()))
    }

    /// Returns the item with this id, if it exists.
    pub(super) fn item(&mut self, id: &ItemId) -> Result<Option<Item>> {
        if let Some(item) = self.book.get(id) {
            return Ok(Some(item.clone()));
        }
        let Some(row) = self.engine.store.item(&self.session.id, id)? else { return Ok(None) };
        let item = read_item(&row)?;
        self.book.insert(item.clone());
        Ok(Some(item))
    }

    /// Loads the items that deciding this command reads, and those that its events change.
    pub(super) fn what_is_needed_by(&mut self, command: &ItemCommand) -> Result<()> {
        match command {
            ItemCommand::Add(new) => self.for_adding(new),
            ItemCommand::Complete { id } | ItemCommand::Drop { id, .. } => self.for_completing(id),
            ItemCommand::Split { id, titles } => self.for_splitting(id, titles.len()),
            ItemCommand::Set { id, edit } => self.for_setting(id, edit),
            ItemCommand::Start { id }
            | ItemCommand::Block { id, .. }
            | ItemCommand::Unblock { id }
            | ItemCommand::Claim { id, .. }
            | ItemCommand::Release { id } => self.item(id).map(drop),
        }
    }

    /// Returns the first id that is free and has a number after `from`.
    pub(super) fn free_id(
        &self,
        from: u32,
        named: impl Fn(u32) -> std::result::Result<ItemId, InvalidId>,
    ) -> Result<ItemId> {
        for number in (from.saturating_add(1)..u32::MAX).take(TRIED_NUMBERS as usize) {
            let id = named(number).map_err(|why| Error::WrongUsage {
                message: format!("no id can be generated for the item: {why}"),
                hint: "choose one: --id ID".into(),
            })?;
            let is_taken = match &self.spellings {
                Some(spellings) => spellings.is_taken(&id),
                None => self.engine.store.item(&self.session.id, &id)?.is_some(),
            };
            if !is_taken {
                return Ok(self.spellings.as_ref().map_or(id.clone(), |spellings| spellings.new_one(id)));
            }
        }
        Err(Error::Contended)
    }

    fn for_adding(&mut self, new: &AddItem) -> Result<()> {
        self.item(&new.id)?;
        for need in &new.needs {
            self.item(need)?;
        }
        if let Some(parent) = &new.parent {
            self.item(parent)?;
            // Nothing can wait for a new top-level item yet. A new part, however, may close a cycle.
            self.what_is_waited_for(new.needs.clone())?;
        }
        Ok(())
    }

    /// Loads an item and its containers. For each of them that becomes complete, also loads the items that wait for it.
    fn for_completing(&mut self, id: &ItemId) -> Result<()> {
        let mut at = Some(id.clone());
        let mut completes = true;
        while let Some(id) = at {
            let Some(item) = self.item(&id)? else { break };
            completes = completes && item.open_parts <= 1;
            if completes {
                for row in self.engine.store.dependents(&self.session.id, &id)? {
                    if !self.book.contains(&row.id) {
                        self.book.insert(read_item(&row)?);
                    }
                }
            }
            at = item.parent;
        }
        Ok(())
    }

    fn for_splitting(&mut self, id: &ItemId, parts: usize) -> Result<()> {
        self.item(id)?;
        for number in (1..).take(parts) {
            if let Ok(part) = id.part(number) {
                self.item(&part)?;
            }
        }
        Ok(())
    }

    fn for_setting(&mut self, id: &ItemId, edit: &ItemEdit) -> Result<()> {
        let Some(item) = self.item(id)? else { return Ok(()) };
        if edit.order.is_some() && item.is_container() {
            self.parts_of(id)?;
        }
        if !edit.needs.is_empty() || !edit.no_longer.is_empty() {
            for need in item.depends_on.iter().chain(&edit.needs) {
                self.item(need)?;
            }
            self.what_is_waited_for(edit.needs.clone())?;
        }
        Ok(())
    }

    /// Loads everything that the given items wait for, directly or indirectly. Finished items wait for nothing.
    fn what_is_waited_for(&mut self, mut open: Vec<ItemId>) -> Result<()> {
        let mut seen = std::collections::BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id.key()) {
                continue;
            }
            let Some(item) = self.item(&id)?.filter(Item::is_open) else { continue };
            open.extend(item.waits_for);
            if item.parts > 0 {
                open.extend(self.direct_parts(&id)?);
            }
        }
        Ok(())
    }

    fn parts_of(&mut self, id: &ItemId) -> Result<()> {
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            open.extend(self.direct_parts(&id)?);
        }
        Ok(())
    }

    fn direct_parts(&mut self, id: &ItemId) -> Result<Vec<ItemId>> {
        let filter = ItemFilter { parent: Some(id.clone()), ..ItemFilter::default() };
        let rows = self.engine.store.items(&self.session.id, &filter)?;
        for row in &rows {
            if !self.book.contains(&row.id) {
                self.book.insert(read_item(row)?);
            }
        }
        Ok(rows.into_iter().map(|row| row.id).collect())
    }
}
