//! Finds items that only a file calls done: ticked in an imported list, or done in another tool's files.

use super::replay::{End, Replay};
use crate::checks::{asks_for_finished_items, is_completed_by_file, is_ticked_in_list, was_ticked_in_list};
use model::id::Name;
use model::item::ItemBook;
use model::run::Run;
use model::workflow::PhaseDefinition;

/// True if a passed check required finished items, but only a file says that one of the items is finished.
pub(super) fn rests_on_claimed_items(
    replay: &Replay,
    run: &Run,
    phase: &Name,
    end: &End,
    defined: &PhaseDefinition,
) -> bool {
    let results = end.report.as_ref().map(|report| report.checks.as_slice()).unwrap_or_default();
    if !asks_for_finished_items(defined, results) {
        return false;
    }
    let kept = replay.history.partition_point(|recorded| recorded.version < end.version);
    let history = &replay.history[..kept];
    let book = ItemBook::fold(history);
    let mut done = book.iter().filter(|item| item.run.is(run) && item.phase == *phase && item.is_done());
    done.any(|item| {
        is_ticked_in_list(item)
            || was_ticked_in_list(history, &item.id)
            || is_completed_by_file(history, &item.id)
    })
}
