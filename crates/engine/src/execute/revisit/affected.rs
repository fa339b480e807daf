//! The part of the later work that a revision affects, as the request names it.

use super::{RevisitRequest, wrong};
use crate::error::Result;
use model::command::resolve_phase;
use model::id::{ItemId, Name};
use model::item::ItemBook;
use model::phase::Phase;
use model::revision::Impact;
use model::run::Run;

/// The part of the later work that a revision affects: phases, and single items of phases. If both are empty, all later
/// phases are affected.
#[derive(Default)]
pub(super) struct Affected {
    whole: Vec<Name>,
    items: Vec<(ItemId, Name)>,
}

impl Affected {
    pub(super) fn phases(&self) -> Vec<Name> {
        let mut phases = self.whole.clone();
        for (_, phase) in &self.items {
            if !phases.contains(phase) {
                phases.push(phase.clone());
            }
        }
        phases
    }

    /// True if this file of an affected phase is archived. If the request names only items, a file is archived only if
    /// its name contains the id of one of them.
    pub(super) fn concerns(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_named = |id: &ItemId| {
            name.match_indices(id.as_str())
                .any(|(at, id)| !name[at + id.len()..].starts_with(|next: char| next.is_alphanumeric()))
        };
        self.items.is_empty() || !self.whole.is_empty() || self.items.iter().any(|(id, _)| is_named(id))
    }
}

/// Returns the later phases and items that the request names. Only phases that were started can be affected.
pub(super) fn affected(
    run: &Run,
    phase: &Phase,
    request: &RevisitRequest,
    items: &ItemBook,
) -> Result<Affected> {
    if request.impact == Some(Impact::Major) && !request.affects.is_empty() {
        return Err(wrong(
            "a major change affects all later phases",
            "omit --affects, or use --impact moderate",
        ));
    }
    let after = run.position(phase.id().as_str());
    let mut affected = Affected::default();
    for text in &request.affects {
        let item = ItemId::parse(text).ok().and_then(|id| items.get(&id));
        let named = match (resolve_phase(run, text), item) {
            (Ok(named), _) => named,
            (Err(_), Some(item)) => resolve_phase(run, item.phase.as_str())?,
            (Err(unknown), None) => return Err(unknown.into()),
        };
        if run.position(named.id().as_str()) <= after || named.started_at().is_none() {
            let message = format!("phase '{}' is not a started phase after '{}'", named.id(), phase.id());
            return Err(wrong(&message, "name later phases that have started, or omit --affects"));
        }
        let is_phase = resolve_phase(run, text).is_ok();
        match item.filter(|_| !is_phase) {
            Some(item) => affected.items.push((item.id.clone(), named.id().clone())),
            None => affected.whole.push(named.id().clone()),
        }
    }
    Ok(affected)
}
