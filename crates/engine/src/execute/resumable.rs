//! Selects the session that `resume` means if none is named. If several could be meant, asks a person.

use crate::discrepancies::OnDiscrepancy;
use crate::engine::{Engine, Want};
use crate::error::{Choice, Error, Result};
use crate::listing::ListRequest;
use crate::view::ShortView;
use layouts::layout::{self, Layout};
use model::hint::CommandLine;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::words;
use store::Filter;

impl Engine {
    pub(super) fn resumable(&self, asked: Option<&str>, on: OnDiscrepancy) -> Result<SessionId> {
        let named = asked.or(self.options.session.as_deref());
        let Some((id, source)) = self.selected(Want::Resumable, named)? else {
            return self.resumable_though_nothing_waits(on);
        };
        if source.waits() && on == OnDiscrepancy::Ask {
            self.refuse_to_choose(&id)?;
        }
        Ok(id)
    }

    /// Returns the session to resume if no session is paused: an active one whose tool resumes active sessions, or one
    /// outside projects that a person selects.
    fn resumable_though_nothing_waits(&self, on: OnDiscrepancy) -> Result<SessionId> {
        let worktree = self.project.worktree();
        let filter = Filter {
            lifecycles: vec!["active".to_owned()],
            worktree: Some(worktree.clone()),
            ..Filter::default()
        };
        let active = self.store.list(&filter)?.into_iter().map(|listed| listed.row);
        let is_again =
            |layout: &str| layout::by_name(layout).is_some_and(|layout| layout.facts().taken_up_again);
        if let Some(row) = active.into_iter().find(|row| is_again(&row.layout)) {
            if on == OnDiscrepancy::Ask {
                self.refuse_to_choose(&row.id)?;
            }
            return Ok(row.id);
        }
        if let Some(id) = self.only_active_that_can_be_resumed()? {
            return Ok(id);
        }
        self.have_one_outside_selected()?;
        Err(Error::NothingPaused { worktree, there_are: self.some_here()? })
    }

    /// Returns the only session that is active here, if its tool resumes even active sessions.
    fn only_active_that_can_be_resumed(&self) -> Result<Option<SessionId>> {
        let filter = Filter {
            lifecycles: vec!["active".to_owned()],
            worktree: Some(self.project.worktree()),
            limit: Some(2),
            ..Filter::default()
        };
        let active = self.store.list(&filter)?;
        let [only] = &active[..] else { return Ok(None) };
        let layout = layout::by_name(&only.row.layout);
        let is_resumable = layout.is_some_and(|layout| !layout.facts().pauses_active_only);
        Ok(is_resumable.then(|| only.row.id.clone()))
    }

    /// Refuses to choose a session if its own tool would let the user select one from a list.
    fn refuse_to_choose(&self, waiting: &SessionId) -> Result<()> {
        let known = self.store.load(waiting)?.map(|found| found.row.layout);
        // If the session is not adopted, the store does not know its layout, so every layout is asked.
        let is_meant =
            |layout: &&&dyn Layout| known.as_ref().is_none_or(|known| known == layout.facts().name);
        let mut layouts = layout::all().iter().filter(is_meant);
        layouts.try_for_each(|layout| self.have_selected(*layout, waiting))
    }

    /// Asks a person to select a session if several of this layout are in the same state, paused or active, as the
    /// session that would be resumed.
    fn have_selected(&self, layout: &dyn Layout, waiting: &SessionId) -> Result<()> {
        let Some(heading) = layout.facts().list_heading else { return Ok(()) };
        let lifecycles = vec!["paused".to_owned(), "active".to_owned()];
        let layout = Some(layout.facts().name.to_owned());
        let mut found = self.lines(&ListRequest { lifecycles, layout, ..ListRequest::default() })?.sessions;
        let Some(lifecycle) =
            found.iter().find(|line| line.session_id == waiting.as_str()).map(|line| line.lifecycle.clone())
        else {
            return Ok(());
        };
        found.retain(|line| line.lifecycle == lifecycle);
        if found.len() < 2 {
            return Ok(());
        }
        Err(to_be_chosen(heading, &found))
    }

    /// Asks a person to select a session outside projects, if none waits here: such a session can be resumed from any
    /// folder.
    fn have_one_outside_selected(&self) -> Result<()> {
        for layout in layout::all() {
            let Some(heading) = layout.facts().list_heading else { continue };
            let request = ListRequest {
                lifecycles: Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec(),
                layout: Some(layout.facts().name.to_owned()),
                ..ListRequest::default()
            };
            let elsewhere = self.outside_numbers()?;
            let is_elsewhere = |line: &ShortView| {
                self.project.is_outside || elsewhere.keys().any(|id| *id.as_str() == *line.session_id)
            };
            let mut found = self.lines(&request)?.sessions;
            found.retain(is_elsewhere);
            if !found.is_empty() {
                return Err(to_be_chosen(heading, &found));
            }
        }
        Ok(())
    }

    /// Returns recent sessions of this worktree, with their states.
    fn some_here(&self) -> Result<Vec<String>> {
        const MOST_NAMED: usize = 5;
        let mut lines: Vec<ShortView> = self.own_lines()?.into_iter().map(|(line, _)| line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.updated_at));
        let told = lines.iter().map(|line| format!("{} ({})", line.session_id, line.lifecycle));
        Ok(told.take(MOST_NAMED).collect())
    }
}

/// Returns the error that lists a tool's sessions by number, so that a person can select one.
fn to_be_chosen(heading: &str, found: &[ShortView]) -> Error {
    let choice = |line: &ShortView| Choice {
        key: line.number.to_string(),
        words: line.own_words.clone().unwrap_or_else(|| line.session_id.clone()),
        command: CommandLine::new(words!["resume", line.session_id]),
        session: line.session_id.clone(),
        phase: None,
    };
    Error::NeedsChoice { question: heading.to_owned(), choices: found.iter().map(choice).collect() }
}
