//! The reasons for refusing commands about items, their wording, and the suggested next steps.

use crate::hint::Hint;
use crate::id::{InvalidId, ItemId, Name};
use crate::words;
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemRefusal {
    #[error("there is no item '{id}' in this session")]
    Unknown { id: ItemId },
    #[error("item '{existing}' already exists")]
    Exists { existing: ItemId },
    #[error("the parts of '{id}' cannot be named after it: {why}")]
    NoName { id: ItemId, why: InvalidId },
    #[error("cannot {doing} item '{id}': it is finished")]
    Finished { doing: &'static str, id: ItemId },
    #[error("cannot {doing} item '{id}': it was dropped: {reason}")]
    Dropped { doing: &'static str, id: ItemId, reason: String },
    #[error("cannot {doing} item '{id}': {holder} holds it until {}", until.strftime("%-d %b %H:%M:%S UTC"))]
    Held { doing: &'static str, id: ItemId, holder: String, until: Timestamp },
    #[error("cannot {doing} item '{id}': it waits for {}", listed(waits_for))]
    Waits { doing: &'static str, id: ItemId, waits_for: Vec<ItemId> },
    #[error("cannot {doing} item '{id}': {}", has_parts(doing, *open))]
    Container { doing: &'static str, id: ItemId, open: u32 },
    #[error("cannot {doing} item '{id}': it is blocked: {reason}")]
    Blocked { doing: &'static str, id: ItemId, reason: String },
    #[error("cannot {doing} item '{id}': only a pending item can be split, and it is {status}")]
    NotPending { doing: &'static str, id: ItemId, status: &'static str },
    #[error("cannot {doing} item '{id}': items can be nested at most three levels deep")]
    TooDeep { doing: &'static str, id: ItemId },
    #[error("these items would wait for each other forever: {}", arrows(path))]
    Cycle { path: Vec<ItemId> },
    #[error("cannot complete item '{id}': it has not been split into parts yet")]
    NotSplit { id: ItemId },
    #[error("item '{id}' cannot wait for others: it has parts")]
    ContainerWaits { id: ItemId },
    #[error("cannot add an item to phase '{phase}': the phase is done")]
    PhaseDone { phase: Name, current: Name },
    #[error("a part of '{parent}' belongs to the same phase, '{phase}', not to '{asked}'")]
    OtherPhase { parent: ItemId, phase: Name, asked: String },
    #[error("{}", nothing_ready(phase, *done, *total, later.as_ref()))]
    NothingReady {
        phase: Name,
        done: u32,
        total: u32,
        /// A later phase that has items.
        later: Option<Name>,
    },
    #[error("{}", left_open(phase, *open, item))]
    LeftOpen { phase: Name, open: u32, item: String },
    #[error("order {order} is too high: the maximum is {highest}")]
    OrderTooHigh { order: u64, highest: u32 },
}

impl ItemRefusal {
    /// Returns a short, stable name of the refusal, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_item",
            Self::Exists { .. } => "item_exists",
            Self::NoName { .. } => "item_name",
            Self::Finished { .. } => "item_finished",
            Self::Dropped { .. } => "item_dropped",
            Self::Held { .. } => "item_held",
            Self::Waits { .. } => "item_waits",
            Self::Container { .. } => "item_container",
            Self::Blocked { .. } => "item_blocked",
            Self::NotPending { .. } => "item_not_pending",
            Self::TooDeep { .. } => "item_too_deep",
            Self::Cycle { .. } => "item_cycle",
            Self::NotSplit { .. } => "item_not_split",
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
            | Self::Dropped { .. }
            | Self::Held { .. }
            | Self::Waits { .. }
            | Self::Container { .. }
            | Self::Blocked { .. }
            | Self::NotPending { .. }
            | Self::TooDeep { .. }
            | Self::Cycle { .. }
            | Self::NotSplit { .. }
            | Self::ContainerWaits { .. }
            | Self::PhaseDone { .. }
            | Self::OtherPhase { .. }
            | Self::LeftOpen { .. }
            | Self::OrderTooHigh { .. } => false,
        }
    }

    /// Returns the next step that the refusal suggests.
    pub fn hint(&self) -> Hint {
        match self {
            Self::Unknown { .. } => Hint::new("see all items: ").run_here(words!["item", "list", "--all"]),
            Self::Exists { .. } => "choose another --id, or omit it to get one assigned".into(),
            Self::NoName { .. } => Hint::new("add the parts one by one: ")
                .run_here(words!["item", "add", "<title>", "--id", "<id>", "--parent", "<id>"]),
            Self::Finished { .. } | Self::Held { doing: "claim", .. } => {
                Hint::new("claim the first free item: ").run_here(words!["item", "claim"])
            }
            Self::Dropped { .. } => Hint::new("if it is needed after all, add it again: ")
                .run_here(words!["item", "add", "<title>"]),
            Self::Held { id, .. } => {
                Hint::new("the item is free after that time; a person can release the item now: ")
                    .run_here(words!["item", "release", id])
            }
            Self::Waits { waits_for, .. } => match waits_for.first() {
                Some(first) => Hint::new(format!("work on item '{first}' first: "))
                    .run_here(words!["item", "claim", first]),
                None => Hint::new("see which items are ready: ").run_here(words!["item", "list"]),
            },
            Self::Container { doing: "split", id, .. } => {
                Hint::new("add one more part: ").run_here(words!["item", "add", "<title>", "--parent", id])
            }
            Self::Container { doing: "drop", .. } => {
                Hint::new("drop the parts that are not needed: ").run_here(words!["item", "list"])
            }
            Self::Container { .. } => Hint::new("finish the parts: ").run_here(words!["item", "list"]),
            Self::Blocked { id, .. } => Hint::new("unblock the item once the reason is resolved: ")
                .run_here(words!["item", "unblock", id]),
            Self::NotPending { status: "active", id, .. } => {
                Hint::new("release the item first: ").run_here(words!["item", "release", id])
            }
            Self::NotPending { id, .. } => Hint::new("first: ").run_here(words!["item", "unblock", id]),
            Self::TooDeep { .. } => {
                Hint::new("add a separate item instead: ").run_here(words!["item", "add", "<title>"])
            }
            Self::Cycle { .. } => "remove one of these dependencies".into(),
            Self::NotSplit { id } => Hint::new("add a part for each piece of the item's work: ")
                .run_here(words!["item", "split", id, "--into", "<title>"]),
            Self::ContainerWaits { .. } => "give the dependencies to the parts instead".into(),
            Self::PhaseDone { current, .. } => {
                format!("add the item to the current phase: --phase {current}").into()
            }
            Self::OtherPhase { .. } => "omit --phase".into(),
            Self::NothingReady { total: 0, phase, later: Some(_), .. } => {
                Hint::new(format!("complete {phase} first: ")).run_here(words!["advance", "--phase", phase])
            }
            // The command names the phase: without `--phase`, the item might be added to another phase.
            Self::NothingReady { total: 0, phase, .. } => Hint::new("do what the phase needs: ")
                .run_here(words!["next"])
                .then("; or add items to the phase: ")
                .run_here(words!["item", "add", "<title>", "--phase", phase]),
            Self::NothingReady { done, total, phase, .. } if done == total => {
                Hint::new("all items are done; complete the phase: ")
                    .run_here(words!["advance", "--phase", phase])
            }
            Self::NothingReady { .. } => {
                Hint::new("see which items are held, and which wait: ").run_here(words!["item", "list"])
            }
            Self::LeftOpen { item, .. } => {
                Hint::new("claim and finish the item: ").run_here(words!["item", "claim", item])
            }
            Self::OrderTooHigh { .. } => "orders are usually multiples of ten: 10, 20, 30".into(),
        }
    }
}

fn left_open(phase: &Name, open: u32, item: &str) -> String {
    let items = if open == 1 { "an item".to_owned() } else { format!("{open} items") };
    format!(
        "{items} of phase '{phase}' would stay open ({item}); only a person can end the run with open items"
    )
}

fn nothing_ready(phase: &Name, done: u32, total: u32, later: Option<&Name>) -> String {
    match (total, later) {
        (0, Some(later)) => format!("phase '{phase}' has no items; phase '{later}' has"),
        (0, None) => format!("phase '{phase}' has no items"),
        (_, _) => format!("no item of phase '{phase}' is ready ({done} of {total} are done)"),
    }
}

fn has_parts(doing: &str, open: u32) -> String {
    match (doing, open) {
        ("split", _) => "it already has parts".to_owned(),
        (_, 1) => "it is done when all of its parts are (1 is open)".to_owned(),
        _ => format!("it is done when all of its parts are ({open} are open)"),
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
