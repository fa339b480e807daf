//! Infers a session's state from its artifacts alone. Archived versions of files prove nothing.

use super::STAGES;
use super::artifacts::{argument_map, current_name, section_of_map};
use super::session_names::began;
use super::state::{Section, Stage, StageStatus, State, Status};
use crate::layout::Folder;
use crate::tree::Tree;
use jiff::Timestamp;
use std::collections::BTreeSet;

pub(super) const THESIS: &str = "stage-1-thesis.md";
pub(super) const OUTLINE: &str = "stage-2-outline.md";
pub(super) const DRAFT: &str = "stage-4-draft.md";
pub(super) const FINAL: &str = "final-essay.md";
/// Log files that a session writes. They say nothing about its progress.
const LOGS: [&str; 4] =
    ["stage-1-development-log.md", "stage-4-paragraph-log.md", "fact-check-log.md", "voice-check-log.md"];

/// The state inferred from artifacts; `None` if they prove nothing.
pub(super) fn from_artifacts(folder: &Folder<'_>) -> Option<State> {
    let tree = folder.tree;
    let maps: BTreeSet<u32> = tree.files().filter_map(section_of_map).filter(|n| has_map(tree, *n)).collect();
    let (has_thesis, has_outline) = (tree.has_file(THESIS), tree.has_file(OUTLINE));
    let (has_draft, is_final) = (tree.has_file(DRAFT), tree.has_file(FINAL));
    if !(has_thesis || has_outline || has_draft || is_final || !maps.is_empty()) {
        return None;
    }
    let drafts = if has_draft { sections_of_draft(&text(tree, DRAFT)) } else { Vec::new() };
    let total = section_count(tree, &maps, drafts.len());
    let mut state = State {
        status: Some(if is_final { Status::Completed } else { Status::InProgress }),
        started_at: began(folder).or_else(|| tree.files().filter_map(|path| written(folder, path)).min()),
        last_activity: newest(folder),
        sections: (1..=total).map(|number| section(folder, number, maps.contains(&number))).collect(),
        drafts,
        ..State::default()
    };
    // A later artifact shows that the earlier stage was done.
    let reached = [
        has_thesis || has_outline || !maps.is_empty() || has_draft || is_final,
        has_outline || !maps.is_empty() || has_draft || is_final,
        // Argument maps for all sections do not show that the user approved the sections together; only a
        // draft shows that.
        has_draft || is_final,
        is_final,
    ];
    let files = [Some(THESIS), Some(OUTLINE), None, Some(DRAFT)];
    for (position, is_reached) in reached.into_iter().enumerate() {
        let at = files[position].and_then(|path| written(folder, path)).filter(|_| is_reached);
        let status = if is_reached { StageStatus::Completed } else { StageStatus::NotStarted };
        state.stages[position] = Stage { status, completed_at: at, ..Stage::default() };
    }
    state.current = Some(reached.iter().position(|reached| !reached).unwrap_or(STAGES.len() - 1));
    set_current_place(&mut state);
    if total > 0 {
        state.fields.insert("total_sections".to_owned(), total.into());
    }
    Some(state)
}

/// The names of files from which a person may want to continue.
pub(super) fn artifacts(tree: &Tree) -> Vec<&str> {
    let is_artifact = |path: &&str| {
        section_of_map(path).is_some()
            || [THESIS, OUTLINE, DRAFT, FINAL].contains(path)
            || LOGS.contains(path)
            || current_name(path) != *path
    };
    tree.files().filter(is_artifact).collect()
}

/// Sets the current section and paragraph to those at which work continues.
fn set_current_place(state: &mut State) {
    let Some(position) = state.current.filter(|at| state.stages[*at].status == StageStatus::NotStarted)
    else {
        return;
    };
    state.stages[position].status = StageStatus::InProgress;
    if position == 2 {
        let open = state.sections.iter().find(|section| section.status != StageStatus::Completed);
        state.stages[2].current_section = open.map(|section| i64::from(section.index));
    }
    if position == 3 {
        let last = state.drafts.last();
        state.stages[3].current_section = last.map(|section| i64::from(section.index));
        state.stages[3].current_paragraph = last.map(|section| i64::from(section.approved));
    }
}

fn section(folder: &Folder<'_>, index: u32, has_map: bool) -> Section {
    let status = if has_map { StageStatus::Completed } else { StageStatus::NotStarted };
    let completed_at = written(folder, &argument_map(index)).filter(|_| has_map);
    Section { index, status, completed_at, ..Section::default() }
}

fn has_map(tree: &Tree, section: u32) -> bool {
    tree.has_file(&argument_map(section))
}

/// The number of sections in the outline, or else in the draft. It is at least the highest number of an
/// argument map.
fn section_count(tree: &Tree, maps: &BTreeSet<u32>, drafted: usize) -> u32 {
    let outlined = sections_of_outline(&text(tree, OUTLINE));
    let drafted = if outlined == 0 { u32::try_from(drafted).unwrap_or(0) } else { 0 };
    let highest = maps.last().copied().unwrap_or(0);
    outlined.max(highest).max(drafted).min(super::state::MOST_SECTIONS)
}

pub(super) fn sections_of_outline(text: &str) -> u32 {
    u32::try_from(titles_of_outline(text).len()).unwrap_or(u32::MAX)
}

/// The titles of sections in an outline. Titles are the headings that begin with a number or with "section"
/// and a number. Without such headings, they are all headings of the section level. Without headings, they
/// are the entries of a numbered list.
pub(super) fn titles_of_outline(text: &str) -> Vec<String> {
    let headings: Vec<(usize, &str)> = lines(text).filter_map(heading).collect();
    // A numbered heading below a section's heading is a point of that section, not a section.
    let said = headings.iter().filter(|(level, words)| *level > 1 && is_section(words));
    let first = said.clone().map(|(level, _)| *level).min();
    let named = said.filter(|(level, _)| Some(*level) == first).map(|(_, words)| (*words).to_owned());
    let level = section_level(text);
    let leveled =
        headings.iter().filter(|(own, _)| Some(*own) == level).map(|(_, words)| (*words).to_owned());
    let listed = lines(text).filter(|line| is_numbered(line)).map(without_number);
    let found = [named.collect(), leveled.collect(), listed.collect::<Vec<_>>()];
    found.into_iter().find(|titles: &Vec<String>| !titles.is_empty()).unwrap_or_default()
}

fn without_number(line: &str) -> String {
    line.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".) ".contains(letter))
        .trim()
        .to_owned()
}

/// The heading level of sections. It is the highest level below the title, or the top level if there are
/// several top-level headings and no others. `None` if the text has at most a title.
fn section_level(text: &str) -> Option<usize> {
    let levels: Vec<usize> = lines(text).filter_map(heading).map(|(level, _)| level).collect();
    let below = levels.iter().copied().filter(|level| *level > 1).min();
    below.or_else(|| (levels.len() > 1).then_some(1))
}

/// The sections of a draft, found by its headings, each with its paragraphs. Every paragraph counts as
/// approved, because only approved paragraphs are added to the draft.
pub(super) fn sections_of_draft(text: &str) -> Vec<Section> {
    let level = section_level(text);
    let mut counts: Vec<u32> = if level.is_some() { Vec::new() } else { vec![0] };
    let mut is_inside = false;
    for line in lines(text) {
        if level.is_some() && heading(line).map(|(level, _)| level) == level {
            counts.push(0);
        }
        let is_words = !line.trim().is_empty()
            && heading(line).is_none()
            && !line.trim_start().starts_with("<!--")
            && !is_rule(line);
        if is_words && !is_inside {
            // Text before the first heading belongs to no section, and is not counted.
            counts.last_mut().into_iter().for_each(|count| *count += 1);
        }
        is_inside = is_words;
    }
    let last = counts.len();
    let begun = |(place, count): (usize, u32)| Section {
        index: u32::try_from(place + 1).unwrap_or(u32::MAX),
        // Somebody may still add paragraphs to the last section.
        status: if place + 1 == last || count == 0 {
            StageStatus::InProgress
        } else {
            StageStatus::Completed
        },
        paragraphs: Some(count).filter(|count| *count > 0),
        approved: count,
        ..Section::default()
    };
    let most = super::state::MOST_SECTIONS as usize;
    counts.into_iter().enumerate().take(most).map(begun).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_fenced = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fence && !is_fenced
    })
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    ((1..=6).contains(&level) && words.starts_with(' ')).then(|| (level, words.trim()))
}

fn is_section(words: &str) -> bool {
    let lower = words.to_lowercase();
    let rest = lower.strip_prefix("section").map_or(lower.as_str(), str::trim_start);
    rest.starts_with(|first: char| first.is_ascii_digit())
}

fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|letter| matches!(letter, '-' | '*' | '_'))
}

fn text(tree: &Tree, path: &str) -> String {
    String::from_utf8_lossy(tree.content(path).unwrap_or_default()).into_owned()
}

fn newest(folder: &Folder<'_>) -> Option<Timestamp> {
    let maps = folder.tree.files().filter(|path| section_of_map(path).is_some());
    [THESIS, OUTLINE, DRAFT, FINAL].into_iter().chain(maps).filter_map(|path| written(folder, path)).max()
}

/// When a file was written, but not later than now: the clock of the machine that wrote it may be ahead.
fn written(folder: &Folder<'_>, path: &str) -> Option<Timestamp> {
    folder.tree.modified(path).map(|at| at.min(folder.now))
}
