//! Requests to change items, as callers make them. Checks their input; decides nothing.

use super::{Asked, bounded_fields, parse, titled};
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::{Answer, checked_reason};
use model::command::items::{Count, ItemCommand};
use model::item::LEASE_SECONDS;
use model::typed_value::Given;
use std::collections::BTreeMap;

/// The input for a new item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemAdd {
    pub title: String,
    pub id: Option<String>,
    pub kind: Option<String>,
    pub phase: Option<String>,
    pub parent: Option<String>,
    pub needs: Vec<String>,
    pub fields: BTreeMap<String, Given>,
}

/// The requested changes of an item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemSetting {
    pub title: Option<String>,
    pub order: Option<u64>,
    pub fields: BTreeMap<String, Given>,
    pub counters: BTreeMap<String, Count>,
    pub needs: Vec<String>,
    pub no_longer: Vec<String>,
}

/// A request to change an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemRequest {
    Add(ItemAdd),
    Start {
        id: String,
    },
    Done {
        id: String,
    },
    Block {
        id: String,
        reason: String,
    },
    Unblock {
        id: String,
    },
    /// Gives the item up, because it is no longer needed.
    Drop {
        id: String,
        reason: String,
    },
    /// Claims an item for `seconds`: the named one or, without a name, the first ready one. If several callers try,
    /// exactly one of them gets the item.
    Claim {
        id: Option<String>,
        seconds: Option<u64>,
    },
    Release {
        id: String,
    },
    Split {
        id: String,
        titles: Vec<String>,
    },
    Set {
        id: String,
        setting: ItemSetting,
    },
}

impl Engine {
    pub(crate) fn change_item(&mut self, request: ItemRequest) -> Result<Answer> {
        match request {
            ItemRequest::Add(request) => {
                titled(&request.title)?;
                bounded_fields(&request.fields)?;
                let arguments = format!("{request:?}");
                self.item_change("item add", &arguments, &Asked::Add(request))
            }
            ItemRequest::Claim { id, seconds } => {
                let id = id.as_deref().map(parse).transpose()?;
                let seconds = seconds.unwrap_or(LEASE_SECONDS);
                let arguments = format!("{id:?} {seconds}");
                self.item_change("item claim", &arguments, &Asked::Claim { id, seconds })
            }
            ItemRequest::Set { id, setting } => {
                bounded_fields(&setting.fields)?;
                let id = parse(&id)?;
                let arguments = format!("{id} {setting:?}");
                self.item_change("item set", &arguments, &Asked::Set { id, setting })
            }
            ItemRequest::Start { id } => {
                self.item_command("item start", ItemCommand::Start { id: parse(&id)? })
            }
            ItemRequest::Done { id } => {
                self.item_command("item done", ItemCommand::Complete { id: parse(&id)? })
            }
            ItemRequest::Block { id, reason } => {
                let reason = checked_reason(&reason)?;
                self.item_command("item block", ItemCommand::Block { id: parse(&id)?, reason })
            }
            ItemRequest::Unblock { id } => {
                self.item_command("item unblock", ItemCommand::Unblock { id: parse(&id)? })
            }
            ItemRequest::Drop { id, reason } => {
                let reason = checked_reason(&reason)?;
                self.item_command("item drop", ItemCommand::Drop { id: parse(&id)?, reason })
            }
            ItemRequest::Release { id } => {
                self.item_command("item release", ItemCommand::Release { id: parse(&id)? })
            }
            ItemRequest::Split { id, titles } => {
                let titles = titles.iter().map(|title| titled(title)).collect::<Result<_>>()?;
                self.item_command("item split", ItemCommand::Split { id: parse(&id)?, titles })
            }
        }
    }
}
