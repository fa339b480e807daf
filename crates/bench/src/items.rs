//! Measures how long it takes to find the next item, to show the status, and to finish an item. The times
//! must not depend on the number of items.

use crate::project::{Programs, Project};
use crate::sample::{interleaved, medians, ratio, timed};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use engine::{Current, ItemAdd, ItemRequest, Request};

const FEW: usize = 10;
const AT_MOST: Must = Must::AtMost(3.0);

pub fn many_items(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (few, many) = (programs.project()?, programs.project()?);
    let phase = current_phase(&few)?;
    add(&few, &phase, FEW)?;
    add(&many, &phase, effort.items)?;
    few.settle()?;
    many.settle()?;
    for words in ["next", "status"] {
        let [slow, quick] = interleaved(
            effort.rounds,
            |_| Ok(()),
            &mut [&mut || timed(&mut many.leftoff(&[words])), &mut || timed(&mut few.leftoff(&[words]))],
        )?;
        let what = format!("{words}, {} items : {FEW}", effort.items);
        table.line(&what, ratio(&slow, &quick), AT_MOST, &medians(&slow, &quick));
    }
    // Each round finishes an item that was added for that round, so the number of open items stays the same.
    let before = |round: usize| -> Result<()> {
        let id = format!("round-{round}");
        let add = ["item", "add", "Of this round", "--id", &id, "--phase", &phase];
        many.run(&add)?;
        few.run(&add)
    };
    let finish = |project: &Project, round: &mut usize| {
        let id = format!("round-{round}");
        *round += 1;
        timed(&mut project.leftoff(&["item", "done", &id]))
    };
    let (mut round_of_many, mut round_of_few) = (0, 0);
    let [slow, quick] = interleaved(
        effort.rounds / 2,
        before,
        &mut [&mut || finish(&many, &mut round_of_many), &mut || finish(&few, &mut round_of_few)],
    )?;
    let what = format!("item done, {} items : {FEW}", effort.items);
    table.line(&what, ratio(&slow, &quick), AT_MOST, &medians(&slow, &quick));
    Ok(())
}

/// The current phase. Every answer reads the items of the current phase, and no items of other phases.
fn current_phase(project: &Project) -> Result<String> {
    match project.engine()?.sessions().status()? {
        Current::Session(view) => Ok(view.current_phase.id.to_string()),
        Current::Nothing(_) => Err("no active session".into()),
    }
}

/// Adds items. Every third item depends on the item before it.
fn add(project: &Project, phase: &str, count: usize) -> Result<()> {
    let mut engine = project.engine()?;
    for number in 1..=count {
        let needs = if number % 3 == 0 { vec![format!("impl-{}", number - 1)] } else { Vec::new() };
        let (id, title) = (Some(format!("impl-{number}")), format!("Item number {number} of a long plan"));
        let phase = Some(phase.to_owned());
        let item = ItemAdd { title, id, needs, phase, ..ItemAdd::default() };
        engine.execute(Request::Item(ItemRequest::Add(item)))?;
    }
    Ok(())
}
