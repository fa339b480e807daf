//! Why a command about items was refused.

use crate::id::{InvalidId, ItemId, Name};
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemRefusal {
    #[error("there is no item '{id}' in this session")]
    Unknown { id: ItemId },
    #[error("there is an item '{existing}' already")]
    Exists { existing: ItemId },
    #[error("the parts of '{id}' cannot be named after it: {why}")]
    NoName { id: ItemId, why: InvalidId },
    #[error("cannot {doing} item '{id}': it is finished")]
    Finished { doing: &'static str, id: ItemId },
    #[error("cannot {doing} item '{id}': {holder} holds it until {}", until.strftime("%-d %b %H:%M:%S UTC"))]
    Held { doing: &'static str, id: ItemId, holder: String, until: Timestamp },
    #[error("cannot {doing} item '{id}': it waits for {}", listed(waits_for))]
    Waits { doing: &'static str, id: ItemId, waits_for: Vec<ItemId> },
    #[error("cannot {doing} item '{id}': {}", has_parts(doing, *open))]
    Container { doing: &'static str, id: ItemId, open: u32 },
    #[error("cannot {doing} item '{id}': it is blocked: {reason}")]
    Blocked { doing: &'static str, id: ItemId, reason: String },
    #[error("cannot {doing} item '{id}': only a pending one can be cut into parts, and it is {status}")]
    NotPending { doing: &'static str, id: ItemId, status: &'static str },
    #[error("cannot {doing} item '{id}': items are nested three levels deep at most")]
    TooDeep { doing: &'static str, id: ItemId },
    #[error("these items would wait for each other for ever: {}", arrows(path))]
    Cycle { path: Vec<ItemId> },
    #[error("cannot let item '{id}' wait for others: it has parts")]
    ContainerWaits { id: ItemId },
    #[error("cannot add an item to phase '{phase}': it is done")]
    PhaseDone { phase: Name, current: Name },
    #[error("a part of '{parent}' belongs to its phase, '{phase}', and not to '{asked}'")]
    OtherPhase { parent: ItemId, phase: Name, asked: String },
    #[error("{}", nothing_ready(phase, *done, *total))]
    NothingReady { phase: Name, done: u32, total: u32 },
    #[error("{order} is too far down: an order is at most {highest}")]
    OrderTooHigh { order: u64, highest: u32 },
}

impl ItemRefusal {
    /// A short, stable name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_item",
            Self::Exists { .. } => "item_exists",
            Self::NoName { .. } => "item_name",
            Self::Finished { .. } => "item_finished",
            Self::Held { .. } => "item_held",
            Self::Waits { .. } => "item_waits",
            Self::Container { .. } => "item_container",
            Self::Blocked { .. } => "item_blocked",
            Self::NotPending { .. } => "item_not_pending",
            Self::TooDeep { .. } => "item_too_deep",
            Self::Cycle { .. } => "item_cycle",
            Self::ContainerWaits { .. } => "item_container_waits",
            Self::PhaseDone { .. } => "item_phase_done",
            Self::OtherPhase { .. } => "item_other_phase",
            Self::NothingReady { .. } => "nothing_ready",
            Self::OrderTooHigh { .. } => "item_order",
        }
    }

    /// Something that was named, or asked for, does not exist.
    pub fn is_unknown_name(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::NothingReady { .. } => true,
            Self::Exists { .. }
            | Self::NoName { .. }
            | Self::Finished { .. }
            | Self::Held { .. }
            | Self::Waits { .. }
            | Self::Container { .. }
            | Self::Blocked { .. }
            | Self::NotPending { .. }
            | Self::TooDeep { .. }
            | Self::Cycle { .. }
            | Self::ContainerWaits { .. }
            | Self::PhaseDone { .. }
            | Self::OtherPhase { .. }
            | Self::OrderTooHigh { .. } => false,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { .. } => "see what there is: leftoff item list --all".to_owned(),
            Self::Exists { .. } => "choose another --id, or leave it out to be given one".to_owned(),
            Self::NoName { .. } => {
                "add the parts one by one: leftoff item add TITLE --id ID --parent ID".to_owned()
            }
            Self::Finished { .. } | Self::Held { doing: "claim", .. } => {
                "take the first one that is free: leftoff item claim".to_owned()
            }
            Self::Held { id, .. } => {
                format!("after that time it is free; a person can free it now: leftoff item release {id}")
            }
            Self::Waits { waits_for, .. } => match waits_for.first() {
                Some(first) => format!("finish what it waits for: leftoff item done {first}"),
                None => "see what is ready: leftoff item list".to_owned(),
            },
            Self::Container { doing: "split", id, .. } => {
                format!("add one more part: leftoff item add TITLE --parent {id}")
            }
            Self::Container { .. } => "finish its parts: leftoff item list".to_owned(),
            Self::Blocked { id, .. } => {
                format!("when that is out of the way: leftoff item unblock {id}")
            }
            Self::NotPending { status: "active", id, .. } => {
                format!("let it go first: leftoff item release {id}")
            }
            Self::NotPending { id, .. } => format!("first: leftoff item unblock {id}"),
            Self::TooDeep { .. } => "add another item beside it: leftoff item add TITLE".to_owned(),
            Self::Cycle { .. } => "leave one of these dependencies out".to_owned(),
            Self::ContainerWaits { .. } => "name the parts that wait, each on its own".to_owned(),
            Self::PhaseDone { current, .. } => format!("add it to the current phase: --phase {current}"),
            Self::OtherPhase { .. } => "leave --phase out".to_owned(),
            // Without a phase an item may go to another one, in which the workflow has items.
            Self::NothingReady { total: 0, phase, .. } => format!(
                "do what the phase asks for: leftoff next; or give it items: leftoff item add TITLE --phase {phase}"
            ),
            Self::NothingReady { done, total, phase } if done == total => {
                format!("all are done; go on with: leftoff advance --phase {phase}")
            }
            Self::NothingReady { .. } => "see who holds what, and what waits: leftoff item list".to_owned(),
            Self::OrderTooHigh { .. } => "orders count in tens: 10, 20, 30".to_owned(),
        }
    }
}

fn nothing_ready(phase: &Name, done: u32, total: u32) -> String {
    match total {
        0 => format!("phase '{phase}' has no items"),
        _ => format!("no item of phase '{phase}' is ready ({done} of {total} are done)"),
    }
}

fn has_parts(doing: &str, open: u32) -> String {
    match (doing, open) {
        ("split", _) => "it has parts already".to_owned(),
        (_, 1) => "it has parts, and is done when they are (1 is not)".to_owned(),
        _ => format!("it has parts, and is done when they are ({open} are not)"),
    }
}

fn listed(ids: &[ItemId]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = ids.iter().take(SHOWN).map(ToString::to_string).collect();
    if ids.len() > SHOWN {
        names.push(format!("{} more", ids.len() - SHOWN));
    }
    names.join(", ")
}

fn arrows(path: &[ItemId]) -> String {
    path.iter().map(ItemId::as_str).collect::<Vec<_>>().join(" -> ")
}
