//! Why a command about items was refused.

use crate::hint::Hint;
use crate::id::{InvalidId, ItemId, Name};
use crate::words;
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
    #[error("{}", left_open(phase, *open, item))]
    LeftOpen { phase: Name, open: u32, item: String },
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
            Self::LeftOpen { .. } => "items_left_open",
            Self::OrderTooHigh { .. } => "item_order",
        }
    }

    /// True if a named or requested thing does not exist.
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
            | Self::LeftOpen { .. }
            | Self::OrderTooHigh { .. } => false,
        }
    }

    /// The next step.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Unknown { .. } => {
                Hint::new("see what there is: ").run_here(words!["item", "list", "--all"])
            }
            Self::Exists { .. } => "choose another --id, or leave it out to be given one".into(),
            Self::NoName { .. } => Hint::new("add the parts one by one: ")
                .run_here(words!["item", "add", "<title>", "--id", "<id>", "--parent", "<id>"]),
            Self::Finished { .. } | Self::Held { doing: "claim", .. } => {
                Hint::new("take the first one that is free: ").run_here(words!["item", "claim"])
            }
            Self::Held { id, .. } => Hint::new("after that time it is free; a person can free it now: ")
                .run_here(words!["item", "release", id]),
            Self::Waits { waits_for, .. } => match waits_for.first() {
                Some(first) => {
                    Hint::new("finish what it waits for: ").run_here(words!["item", "done", first])
                }
                None => Hint::new("see what is ready: ").run_here(words!["item", "list"]),
            },
            Self::Container { doing: "split", id, .. } => {
                Hint::new("add one more part: ").run_here(words!["item", "add", "<title>", "--parent", id])
            }
            Self::Container { .. } => Hint::new("finish its parts: ").run_here(words!["item", "list"]),
            Self::Blocked { id, .. } => {
                Hint::new("when that is out of the way: ").run_here(words!["item", "unblock", id])
            }
            Self::NotPending { status: "active", id, .. } => {
                Hint::new("let it go first: ").run_here(words!["item", "release", id])
            }
            Self::NotPending { id, .. } => Hint::new("first: ").run_here(words!["item", "unblock", id]),
            Self::TooDeep { .. } => {
                Hint::new("add another item beside it: ").run_here(words!["item", "add", "<title>"])
            }
            Self::Cycle { .. } => "leave one of these dependencies out".into(),
            Self::ContainerWaits { .. } => "name the parts that wait, each on its own".into(),
            Self::PhaseDone { current, .. } => {
                format!("add it to the current phase: --phase {current}").into()
            }
            Self::OtherPhase { .. } => "leave --phase out".into(),
            // Without a phase, an item may be added to another phase that takes items.
            Self::NothingReady { total: 0, phase, .. } => Hint::new("do what the phase asks for: ")
                .run_here(words!["next"])
                .then("; or give it items: ")
                .run_here(words!["item", "add", "<title>", "--phase", phase]),
            Self::NothingReady { done, total, phase } if done == total => {
                Hint::new("all are done; go on with: ").run_here(words!["advance", "--phase", phase])
            }
            Self::NothingReady { .. } => {
                Hint::new("see who holds what, and what waits: ").run_here(words!["item", "list"])
            }
            Self::LeftOpen { item, .. } => Hint::new("finish it: ").run_here(words!["item", "claim", item]),
            Self::OrderTooHigh { .. } => "orders count in tens: 10, 20, 30".into(),
        }
    }
}

fn left_open(phase: &Name, open: u32, item: &str) -> String {
    let items = if open == 1 { "an item".to_owned() } else { format!("{open} items") };
    format!("{items} of phase '{phase}' would be left open ({item}); only a person can end the run so")
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
