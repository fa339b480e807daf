//! Whether every item of the phase is done.

use super::{Surroundings, Verdict};
use crate::error::Result;

/// How many unfinished ones are named.
const NAMED: usize = 5;

pub(super) fn run(around: &Surroundings<'_>) -> Result<Verdict> {
    let phase = &around.phase.id;
    let record = around.session.run().and_then(|run| run.phases.iter().find(|record| record.id() == phase));
    let counts = record.map(|record| record.items).unwrap_or_default();
    let found = match counts.total {
        0 => "there are no items".to_owned(),
        total => format!("{} of {total} are done", counts.done),
    };
    if counts.open() == 0 {
        return Ok(Verdict::passed(found));
    }
    let unfinished = around.engine.unfinished_items(around.session, phase, NAMED)?;
    let mut names: Vec<String> = unfinished.iter().map(ToString::to_string).collect();
    let left_out = (counts.open() as usize).saturating_sub(names.len());
    if left_out > 0 {
        names.push(format!("{left_out} more"));
    }
    Ok(Verdict::failed(format!("{found}; unfinished: {}", names.join(", ")))
        .needing("every item done")
        .mended_by("Finish them, the first one that is ready first: leftoff item claim"))
}
