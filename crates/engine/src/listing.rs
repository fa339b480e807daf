//! Sessions, a line each: of the store as their files have them, of files alone, and of those that belong to no project.

use crate::engine::{Engine, Want, is_unfinished};
use crate::error::Result;
use crate::query::MOST_IDLE_TOLD;
use crate::sync::LONGEST_WARNING;
use crate::view::{ShortView, Warning};
use crate::words::one_line;
use layouts::layout;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use store::{Filter, Listed};

/// So many files with the same problem a list names.
const MOST_FILES_NAMED: usize = 2;

/// What `list` shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    pub sessions: Vec<ShortView>,
    pub warnings: Vec<Warning>,
    /// What the list of the one layout that was asked for begins with, where its tool has words of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<&'static str>,
}

/// Which sessions a list is to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    pub lifecycles: Vec<String>,
    pub layout: Option<String>,
    pub search: Option<String>,
}

impl ListRequest {
    /// What the store's own filter does, for sessions that are not in it.
    fn wants(&self, session: &ShortView) -> bool {
        let told = format!("{} {}", session.session_id, session.title).to_lowercase();
        let found = |words: &String| words.split_whitespace().all(|word| told.contains(&word.to_lowercase()));
        (self.lifecycles.is_empty() || self.lifecycles.contains(&session.lifecycle))
            && self.layout.as_ref().is_none_or(|layout| *layout == session.layout)
            && self.search.as_ref().is_none_or(found)
    }
}

impl Engine {
    /// Sessions, a line each; the one that commands mean here is marked.
    pub fn list(&self, request: &ListRequest) -> Result<Listing> {
        let mut listing = self.lines(request)?;
        // Where nothing is unfinished there is none, and a thousand files need not be asked for it.
        let may_be = listing.sessions.iter().any(|line| is_unfinished(&line.lifecycle));
        let current = if may_be { self.select(Want::Unfinished).ok() } else { None };
        let here = self.project.worktree();
        for line in &mut listing.sessions {
            let is_it = current.as_ref().is_some_and(|id| line.session_id == id.as_str());
            // One of the same name may lie outside of this project.
            line.current = is_it && (line.worktree == here || self.options.session.is_some());
        }
        Ok(listing)
    }

    pub(crate) fn lines(&self, request: &ListRequest) -> Result<Listing> {
        crate::execute::beginning::foreign_layout(request.layout.as_deref())?;
        let mut odd = Vec::new();
        let mut sessions = self.kept_lines(request, &mut odd)?;
        let mut warnings = self.warnings.clone();
        warnings.extend(self.kept_lines_beside_others(&mut sessions));
        sessions.retain(|line| request.lifecycles.is_empty() || request.lifecycles.contains(&line.lifecycle));
        warnings.extend(sessions.iter().filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_TOLD));
        warnings.extend(self.place_warnings());
        warnings.extend(self.index_warnings());
        warnings.extend(self.unknown_warnings());
        let in_files = self.lines_of_files(request, &mut odd);
        let left_lying = in_files.iter().filter(|line| is_taken_up_again(&line.layout));
        warnings.extend(left_lying.filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_TOLD));
        add_by_time(&mut sessions, in_files);
        warnings.extend(said_once(odd));
        let heading = crate::sync::heading(request.layout.as_deref());
        if heading.is_some() {
            for line in &mut sessions {
                line.own_words = self.own_line(&line.session_id);
            }
        }
        let outside = self.lines_outside(request, heading.is_some(), &sessions, &mut warnings);
        warnings.extend(outside.iter().filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_TOLD));
        add_by_time(&mut sessions, outside);
        self.number_those_outside(&mut sessions)?;
        Ok(Listing { sessions, warnings, heading })
    }

    /// Those of the store, as their files have them by now; what is odd about them by their layout.
    fn kept_lines(&self, request: &ListRequest, odd: &mut Vec<(String, Warning)>) -> Result<Vec<ShortView>> {
        // What the index calls active may count as paused by now, so both are asked for.
        let mut lifecycles = request.lifecycles.clone();
        if lifecycles.iter().any(|wanted| wanted == "paused")
            && !lifecycles.iter().any(|wanted| wanted == "active")
        {
            lifecycles.push("active".to_owned());
        }
        let (layout, search) = (request.layout.clone(), request.search.clone());
        let kept = self.store.list(&Filter { lifecycles, layout, search, ..Filter::default() })?;
        let kept = kept.into_iter().map(ShortView::from);
        let (mut sessions, mut edited): (Vec<ShortView>, Vec<ShortView>) = (Vec::new(), Vec::new());
        for mut line in kept.chain(self.opened_by_files(request)?) {
            let known = line.updated_at;
            // What is wrong with one session is said on the way, and hides no other.
            let said = self
                .shown_by_files(&mut line)
                .unwrap_or_else(|error| vec![Warning::from_error("session", &error)]);
            line.warnings = to_mend(&said);
            odd.extend(said.into_iter().map(|warning| (line.layout.clone(), warning)));
            self.laid_over_line(&mut line);
            if line.updated_at > known { edited.push(line) } else { sessions.push(line) }
        }
        add_by_time(&mut sessions, edited);
        Ok(sessions)
    }

    /// Those that only files of this project tell of.
    fn lines_of_files(&self, request: &ListRequest, odd: &mut Vec<(String, Warning)>) -> Vec<ShortView> {
        let mut lines = Vec::new();
        for (mut line, said) in self.foreign_lines() {
            self.laid_over_line(&mut line);
            if request.wants(&line) {
                line.warnings = to_mend(&said);
                odd.extend(said.into_iter().map(|warning| (line.layout.clone(), warning)));
                lines.push(line);
            }
        }
        lines
    }

    /// Those that belong to no project, and are not known here.
    fn lines_outside(
        &self,
        request: &ListRequest,
        in_their_words: bool,
        sessions: &[ShortView],
        warnings: &mut Vec<Warning>,
    ) -> Vec<ShortView> {
        let mut lines = Vec::new();
        for (mut line, odd) in self.outside_lines(in_their_words) {
            let is_it =
                |known: &ShortView| known.session_id == line.session_id && known.worktree == line.worktree;
            if request.wants(&line) && !sessions.iter().any(is_it) {
                line.warnings = to_mend(&odd);
                warnings.extend(odd);
                lines.push(line);
            }
        }
        lines
    }

    /// Those of another store have numbers after all of this one's.
    fn number_those_outside(&self, sessions: &mut [ShortView]) -> Result<()> {
        if sessions.iter().all(|line| line.number != 0) {
            return Ok(());
        }
        let numbers = self.outside_numbers()?;
        let is_in = |line: &ShortView, name: &str| {
            line.session_id == name || Path::new(&line.worktree).file_name() == Some(OsStr::new(name))
        };
        let number = |line: &ShortView| numbers.iter().find(|(name, _)| is_in(line, name.as_str()));
        for line in sessions.iter_mut().filter(|line| line.number == 0) {
            line.number = number(line).map_or(0, |(_, number)| *number);
        }
        Ok(())
    }
}

/// Whether its tool offers what was left lying to whoever comes back.
fn is_taken_up_again(layout: &str) -> bool {
    layouts::layout::by_name(layout).is_some_and(|layout| layout.facts().taken_up_again)
}

impl From<Listed> for ShortView {
    fn from(listed: Listed) -> Self {
        let row = listed.row;
        Self {
            number: listed.number,
            session_id: row.id.to_string(),
            title: row.title,
            goal: row.goal,
            target: row.target,
            layout: row.layout,
            workflow: row.workflow,
            worktree: row.worktree,
            lifecycle: row.lifecycle,
            parallel: row.parallel,
            phase: row.phase,
            phases_done: row.phases_done,
            total_phases: row.phases_total,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
            current: false,
            own_words: None,
            warnings: Vec::new(),
        }
    }
}

/// Ours keep the store's order, which no clock can disturb; what only files tell has nothing but its time.
fn add_by_time(sessions: &mut Vec<ShortView>, mut others: Vec<ShortView>) {
    others.sort_by_key(|line| std::cmp::Reverse(line.updated_at));
    let mut others = others.into_iter().peekable();
    let mut all = Vec::with_capacity(sessions.len() + others.len());
    for known in sessions.drain(..) {
        while let Some(later) = others.next_if(|line| line.updated_at > known.updated_at) {
            all.push(later);
        }
        all.push(known);
    }
    all.extend(others);
    *sessions = all;
}

/// Of what is said of a session's files, what is wrong with them.
fn to_mend(said: &[Warning]) -> Vec<Warning> {
    said.iter().filter(|warning| warning.is_to_mend()).cloned().collect()
}

/// What is only to be known about many sessions of a layout is said once, with how many they are and which files they
/// have it in. What is to be mended is said of each.
fn said_once(odd: Vec<(String, Warning)>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    let mut counted: BTreeMap<(String, String), (usize, Vec<String>)> = BTreeMap::new();
    for (layout, warning) in odd {
        let known = warning.problem.as_ref().filter(|problem| !problem.is_to_mend());
        let Some(said) = known.map(|problem| one_line(&problem.to_string(), LONGEST_WARNING)) else {
            warnings.push(warning);
            continue;
        };
        let path = warning.path.clone().unwrap_or_default();
        let (_, paths) = counted.entry((layout, said)).or_insert_with(|| {
            warnings.push(warning);
            (warnings.len() - 1, Vec::new())
        });
        paths.push(path);
    }
    for ((layout, said), (place, mut paths)) in counted.into_iter().filter(|(_, (_, paths))| paths.len() > 1)
    {
        let title = layout::by_name(&layout).map_or(layout.as_str(), |layout| layout.facts().title);
        let count = paths.len();
        paths.retain(|path| !path.is_empty());
        let more = paths.len().saturating_sub(MOST_FILES_NAMED);
        paths.truncate(MOST_FILES_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        warnings[place].message = format!("{count} sessions of {title}: {said} ({}{more})", paths.join(", "));
        warnings[place].path = None;
    }
    warnings
}
