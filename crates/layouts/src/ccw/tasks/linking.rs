//! Relations of tasks: parts and dependencies. Contradictions are reported, and resolved in memory so that no
//! task waits for itself. The files stay as they are.

use super::{Task, TaskStatus, natural, plain};
use crate::problem::{OfItem, Problem, Relation, What};
use model::id::ItemId;
use model::item::DEEPEST_LEVEL;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn settle(tasks: &mut Vec<Task>, warnings: &mut Vec<Problem>) {
    drop_repeated(tasks, warnings);
    let known: BTreeMap<String, ItemId> =
        tasks.iter().map(|task| (plain(task.id.as_str()), task.id.clone())).collect();
    parents(tasks, &known, warnings);
    break_circles_of_parents(tasks, warnings);
    limit_depth(tasks, warnings);
    needs(tasks, &known, warnings);
    break_cycles(tasks, warnings);
    in_order(tasks);
    containers(tasks, warnings);
}

/// Keeps one file per task. Several files may describe the same task, with its id spelled differently.
fn drop_repeated(tasks: &mut Vec<Task>, warnings: &mut Vec<Problem>) {
    let mut counts: BTreeMap<String, &Task> = BTreeMap::new();
    for task in tasks.iter() {
        let counting = counts.entry(plain(task.id.as_str())).or_insert(task);
        if counts_before(task, counting) {
            *counting = task;
        }
    }
    let counts: BTreeMap<String, String> =
        counts.into_iter().map(|(id, task)| (id, task.file.clone())).collect();
    tasks.retain(|task| {
        let counting = counts.get(&plain(task.id.as_str())).filter(|counting| **counting != task.file);
        if let Some(counting) = counting {
            let (id, file) = (task.id.clone(), counting.clone());
            odd(warnings, task, OfItem::SameAs { id, file });
        }
        counting.is_none()
    });
}

/// True if `task` is kept and `other` is dropped. The file changed later is kept. Without two different
/// times, the file with the more advanced status is kept, because a second file is usually written to advance
/// the task.
fn counts_before(task: &Task, other: &Task) -> bool {
    match (task.updated, other.updated) {
        (Some(one), Some(other)) if one != other => one > other,
        (Some(_) | None, Some(_) | None) => how_far(task.status) > how_far(other.status),
    }
}

fn how_far(status: TaskStatus) -> u8 {
    match status {
        TaskStatus::Pending | TaskStatus::Container => 0,
        TaskStatus::Blocked => 1,
        TaskStatus::Active => 2,
        TaskStatus::Completed | TaskStatus::Cancelled => 3,
    }
}

/// Resolves the parent of each task. The task's own file decides, or else the parent's file, or else the dots
/// in the id.
fn parents(tasks: &mut [Task], known: &BTreeMap<String, ItemId>, warnings: &mut Vec<Problem>) {
    let mut claimed: BTreeMap<String, ItemId> = BTreeMap::new();
    let mut named: BTreeSet<(String, String)> = BTreeSet::new();
    for task in tasks.iter() {
        for part in &task.named_parts {
            if known.contains_key(&plain(part)) {
                claimed.entry(plain(part)).or_insert_with(|| task.id.clone());
                named.insert((plain(task.id.as_str()), plain(part)));
            } else {
                odd(warnings, task, not_there(Relation::Part, part));
            }
        }
    }
    for task in tasks.iter_mut() {
        let own = plain(task.id.as_str());
        let by_child = task.named_parent.as_deref().map(plain);
        if let Some(missing) = by_child.as_ref().filter(|parent| !known.contains_key(*parent)) {
            odd(warnings, task, not_there(Relation::Parent, missing));
        }
        let by_child = by_child.as_ref().and_then(|parent| known.get(parent)).cloned();
        let by_id = own.rsplit_once('.').and_then(|(above, _)| known.get(above)).cloned();
        let (parent, silent) = match (by_child, claimed.get(&own).cloned(), by_id) {
            (Some(parent), _, _) => {
                let is_named = named.contains(&(plain(parent.as_str()), own.clone()));
                (Some(parent.clone()), (!is_named).then_some(OfItem::ParentIsSilent { parent }))
            }
            (None, Some(parent), _) => (Some(parent.clone()), Some(OfItem::PartIsSilent { parent })),
            (None, None, Some(parent)) => (Some(parent.clone()), Some(OfItem::BothAreSilent { parent })),
            (None, None, None) => (None, None),
        };
        if let Some(silent) = silent {
            odd(warnings, task, silent);
        }
        task.parent = parent;
    }
}

fn break_circles_of_parents(tasks: &mut [Task], warnings: &mut Vec<Problem>) {
    let mut above = parents_by_key(tasks);
    for task in tasks {
        let own = task.id.key();
        let mut seen = BTreeSet::new();
        let mut next = above.get(&own);
        while let Some(key) = next.filter(|key| seen.insert((*key).clone())) {
            next = above.get(key).filter(|_| *key != own);
        }
        if seen.contains(&own) {
            above.remove(&own);
            task.parent = None;
            odd(warnings, task, OfItem::PartOfItself);
        }
    }
}

/// Moves tasks that are nested too deeply up to the last allowed level.
fn limit_depth(tasks: &mut [Task], warnings: &mut Vec<Problem>) {
    let above = parents_by_key(tasks);
    let ids: BTreeMap<String, ItemId> = tasks.iter().map(|task| (task.id.key(), task.id.clone())).collect();
    for task in tasks.iter_mut() {
        let mut line: Vec<String> = Vec::new();
        let mut next = above.get(&task.id.key()).cloned();
        while let Some(key) = next {
            next = above.get(&key).cloned();
            line.push(key);
        }
        if line.len() < DEEPEST_LEVEL {
            continue;
        }
        let highest = line.len() + 1 - DEEPEST_LEVEL;
        task.parent = line.get(highest).and_then(|key| ids.get(key)).cloned();
        odd(warnings, task, OfItem::TooDeep { levels: line.len() + 1, most: DEEPEST_LEVEL });
    }
}

fn needs(tasks: &mut [Task], known: &BTreeMap<String, ItemId>, warnings: &mut Vec<Problem>) {
    for task in tasks.iter_mut() {
        let mut needs: Vec<ItemId> = Vec::new();
        for name in task.named_needs.clone() {
            match known.get(&plain(&name)) {
                Some(need) if !needs.iter().any(|other| other.is(need)) => needs.push(need.clone()),
                Some(_) => {}
                None => odd(warnings, task, not_there(Relation::Need, &name)),
            }
        }
        task.needs = needs;
    }
}

/// Removes dependencies until no task waits for itself; a container also waits for its parts.
fn break_cycles(tasks: &mut [Task], warnings: &mut Vec<Problem>) {
    while let Some(cycle) = find_cycle(tasks) {
        let path: Vec<String> = cycle.iter().map(|at| tasks[*at].id.to_string()).collect();
        // The last step of the cycle that is a dependency. Such a step exists, because parts alone cannot
        // form a cycle.
        let step = (0..cycle.len()).rev().find_map(|step| {
            let (from, to) = (cycle[step], cycle[(step + 1) % cycle.len()]);
            let need = tasks[to].id.clone();
            tasks[from].needs.iter().any(|other| other.is(&need)).then_some((from, need))
        });
        let Some((from, need)) = step else { return };
        tasks[from].needs.retain(|other| !other.is(&need));
        odd(warnings, &tasks[from], OfItem::Cycle { path, left_out: need });
    }
}

/// Finds one cycle and returns the positions of its tasks. Not recursive, because a chain may be as long as
/// the list of tasks.
fn find_cycle(tasks: &[Task]) -> Option<Vec<usize>> {
    let at: BTreeMap<String, usize> =
        tasks.iter().enumerate().map(|(at, task)| (task.id.key(), at)).collect();
    let mut edges: Vec<Vec<usize>> = tasks
        .iter()
        .map(|task| task.needs.iter().filter_map(|need| at.get(&need.key()).copied()).collect())
        .collect();
    for (part, task) in tasks.iter().enumerate() {
        if let Some(container) = task.parent.as_ref().and_then(|parent| at.get(&parent.key())) {
            edges[*container].push(part);
        }
    }
    let mut finished = vec![false; tasks.len()];
    for start in 0..tasks.len() {
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        let mut on_path = BTreeSet::from([start]);
        while let Some((node, next)) = path.last_mut() {
            let Some(target) = edges[*node].get(*next).copied().filter(|_| !finished[*node]) else {
                finished[*node] = true;
                on_path.remove(node);
                path.pop();
                continue;
            };
            *next += 1;
            if on_path.contains(&target) {
                let from = path.iter().position(|(node, _)| *node == target)?;
                return Some(path[from..].iter().map(|(node, _)| *node).collect());
            }
            if !finished[target] {
                on_path.insert(target);
                path.push((target, 0));
            }
        }
    }
    None
}

/// Sets the status of containers. A container is done when its parts are done; without parts it is an
/// ordinary task. A task that is blocked or in progress according to its file has work of its own, and keeps
/// its status.
fn containers(tasks: &mut [Task], warnings: &mut Vec<Problem>) {
    let mut parts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    // The deepest tasks come first, because containers need the results of their parts.
    for at in (0..tasks.len()).rev() {
        match parts.get(&tasks[at].id.key()).copied() {
            None if tasks[at].status == TaskStatus::Container => {
                odd(warnings, &tasks[at], OfItem::NoParts);
            }
            None => {}
            Some((_, 0)) => match tasks[at].status {
                TaskStatus::Container => tasks[at].status = TaskStatus::Completed,
                TaskStatus::Pending
                | TaskStatus::Active
                | TaskStatus::Blocked
                | TaskStatus::Completed
                | TaskStatus::Cancelled => {}
            },
            Some((all, open)) => {
                if tasks[at].is_over() {
                    odd(warnings, &tasks[at], OfItem::OpenParts { open, all });
                }
                if !matches!(tasks[at].status, TaskStatus::Active | TaskStatus::Blocked) {
                    tasks[at].status = TaskStatus::Container;
                }
            }
        }
        if let Some(parent) = &tasks[at].parent {
            let (all, open) = parts.entry(parent.key()).or_default();
            *all += 1;
            *open += usize::from(!tasks[at].is_over());
        }
    }
}

/// Sorts tasks by id, containers before their parts.
fn in_order(tasks: &mut Vec<Task>) {
    tasks.sort_by_cached_key(|task| natural(task.id.as_str()));
    let mut waiting = std::mem::take(tasks);
    let mut placed: BTreeSet<String> = BTreeSet::new();
    // Each pass adds one level of tasks.
    while !waiting.is_empty() {
        let is_next = |task: &Task| task.parent.as_ref().is_none_or(|parent| placed.contains(&parent.key()));
        let (next, rest): (Vec<Task>, Vec<Task>) = waiting.into_iter().partition(is_next);
        if next.is_empty() {
            tasks.extend(rest);
            return;
        }
        placed.extend(next.iter().map(|task| task.id.key()));
        tasks.extend(next);
        waiting = rest;
    }
}

fn parents_by_key(tasks: &[Task]) -> BTreeMap<String, String> {
    tasks.iter().filter_map(|task| Some((task.id.key(), task.parent.as_ref()?.key()))).collect()
}

fn odd(warnings: &mut Vec<Problem>, task: &Task, how: OfItem) {
    warnings.push(Problem::of_file(&task.file, What::Item(how)));
}

fn not_there(relation: Relation, name: &str) -> OfItem {
    OfItem::NotThere { relation, name: super::cut(name) }
}
