//! Numbers of sessions that are known only from files. They get the numbers that the store has not assigned, in order
//! of path, or newest first if their tool lists them so. When a session is adopted, it keeps the number with which it
//! was shown, so that the other sessions keep theirs too.

use crate::engine::Engine;
use crate::error::Result;
use crate::foreign::observe::Observation;
use layouts::reader::Located;
use model::id::SessionId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use store::{Batch, Filter, StreamAppend};

impl Engine {
    /// Returns the foreign session that is shown with this number.
    pub(crate) fn foreign_with_number(&self, number: u64) -> Result<Option<SessionId>> {
        let found = self.foreign_numbers()?.into_iter().find(|(_, given)| *given == number);
        Ok(found.map(|(id, _)| id))
    }

    /// Returns the number of each session that exists only in files, observed or not.
    pub(crate) fn foreign_numbers(&self) -> Result<BTreeMap<SessionId, u64>> {
        if self.project.is_outside {
            return self.outside_numbers();
        }
        let all = self.in_files_alone();
        if all.is_empty() {
            return Ok(BTreeMap::new());
        }
        let given: BTreeSet<u64> =
            self.store.list(&Filter::default())?.into_iter().map(|listed| listed.number).collect();
        let free = (1..).filter(|number| !given.contains(number));
        let of_layouts = all.chunk_by(|one, next| one.layout.facts().name == next.layout.facts().name);
        let in_order = of_layouts.flat_map(|of_one| {
            let ids = of_one.iter().map(|located| located.id.clone());
            if of_one[0].layout.facts().newest_first { ids.rev().collect::<Vec<_>>() } else { ids.collect() }
        });
        Ok(in_order.zip(free).collect())
    }

    /// Assigns numbers to the new sessions of a batch. An adopted session keeps the number with which it was shown.
    /// Other new sessions get numbers after all that are shown.
    pub(crate) fn add_numbers(&self, batch: &mut Batch) -> Result<()> {
        let is_uncommitted = |id: &SessionId| self.store.pending(id).is_some_and(|laid| laid.expected == 0);
        let is_new = |stream: &&StreamAppend| stream.expected == 0 || is_uncommitted(&stream.row.id);
        let new: Vec<SessionId> =
            batch.streams.iter().filter(is_new).map(|stream| stream.row.id.clone()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let shown = self.foreign_numbers()?;
        let Some(last) = shown.values().max() else { return Ok(()) };
        let given = self.store.list(&Filter::default())?.into_iter().map(|listed| listed.number).max();
        let next = (*last).max(given.unwrap_or(0)) + 1;
        let mut others = next..;
        // Outside any project, a session is shown under the name of its folder.
        let folder = self.project.root.file_name().and_then(|name| SessionId::parse(name.to_str()?).ok());
        let folder = folder.filter(|_| self.project.is_outside);
        for id in new {
            let number = shown.get(folder.as_ref().unwrap_or(&id)).copied().or_else(|| others.next());
            batch.numbers.extend(number.map(|number| (id, number)));
        }
        Ok(())
    }

    /// Returns the sessions that the store does not have, in order of layout and path.
    pub(crate) fn in_files_alone(&self) -> Vec<Located> {
        let mut all = self.unadopted();
        let observed = self.scope.all();
        // While a session is being copied from another project, it is not in any list yet.
        let is_shown =
            |observation: &&Rc<Observation>| observation.is_foreign() && observation.brought_from().is_none();
        let uncommitted = observed.iter().filter(is_shown).map(|observation| observation.located.clone());
        let missing: Vec<Located> =
            uncommitted.filter(|laid| all.iter().all(|located| located.id != laid.id)).collect();
        if !missing.is_empty() {
            all.extend(missing);
            let place = |located: &Located| {
                layouts::layout::all()
                    .iter()
                    .position(|layout| layout.facts().name == located.layout.facts().name)
            };
            all.sort_by(|one, other| (place(one), &one.spot.path).cmp(&(place(other), &other.spot.path)));
        }
        all
    }
}
