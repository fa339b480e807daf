//! Decides to split an item into parts.

use super::refusals::refuse_container;
use super::{Context, Decided, order_after};
use crate::event::ItemEvent;
use crate::id::ItemId;
use crate::item::NewItem;
use crate::refusal::ItemRefusal;
use std::collections::BTreeMap;

impl Context<'_> {
    pub(super) fn split(&self, id: &ItemId, titles: Vec<String>) -> Decided {
        const DOING: &str = "split";
        let item = self.item(id)?;
        refuse_container(item, DOING)?;
        self.refuse_splitting(item, DOING, false)?;
        let mut parts = Vec::new();
        for (number, title) in (1..).zip(titles) {
            let id = item.id.part(number).map_err(|why| ItemRefusal::NoName { id: item.id.clone(), why })?;
            self.refuse_taken(&id)?;
            parts.push(NewItem {
                id,
                kind: item.kind.clone(),
                title,
                run: item.run.clone(),
                phase: item.phase.clone(),
                parent: Some(item.id.clone()),
                order: order_after(number - 1)?,
                depends_on: item.depends_on.clone(),
                fields: BTreeMap::new(),
            });
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![ItemEvent::ItemSplit { id: item.id.clone(), parts }])
    }
}
