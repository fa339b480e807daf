//! Answers that every front end takes from a view, such as phases to look at, open notes, progress and commands.

use super::{GateOutcome, PhaseView, View};
use crate::items::ItemView;
use crate::query::AgentView;
use jiff::Timestamp;
use model::actor::Actor;
use model::gate::{Attempt, AttemptOutcome};
use model::hint::CommandLine;
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::session::RevisionMade;
use model::words;

/// The maximum number of interrupted items that an answer names.
const MOST_INTERRUPTED: usize = 3;

impl PhaseView {
    /// True if the phase is contested and its last attempt failed, in leftoff or in its own tool.
    pub fn is_claimed_over_failure(&self) -> bool {
        let last = self.attempts.last();
        self.contested && last.is_some_and(|attempt| attempt.outcome == AttemptOutcome::Failed)
    }
}

impl View {
    pub fn current(&self) -> Option<&PhaseView> {
        self.phases.iter().find(|phase| phase.number == self.current_phase.number)
    }

    /// Returns the phases to review, each with the revision that requires it.
    pub fn waiting_for_review(&self) -> Vec<(&PhaseView, Option<&RevisionMade>)> {
        let waiting = self.phases.iter().filter(|phase| phase.status == "needs_review");
        waiting
            .map(|phase| {
                let why = self.revisions.iter().rfind(|made| made.revision.flagged.contains(&phase.id));
                (phase, why)
            })
            .collect()
    }

    /// Returns the first contested phase. Without one, returns the first unproven phase if a file closed the session.
    pub fn contested(&self) -> Option<&PhaseView> {
        let closed_over = || self.phases.iter().find(|phase| Some(&phase.id) == self.closed_over.as_ref());
        self.phases.iter().find(|phase| phase.contested).or_else(closed_over)
    }

    /// Returns the work that a pause interrupted: the description by whoever paused, and the items that were started.
    /// `say` quotes or shortens a caller's text.
    pub fn in_the_middle_of(&self, say: impl Fn(&str) -> String) -> Option<String> {
        let earlier = self.interrupted.as_ref().and_then(|before| before.context.as_ref());
        let (context, is_paused) = match &self.lifecycle {
            Lifecycle::Paused { context, .. } => (context.as_ref().or(earlier), true),
            Lifecycle::Active if self.interrupted.is_some() => (earlier, false),
            Lifecycle::Active
            | Lifecycle::Completed { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => return None,
        };
        // Nobody works while a session is paused. So the pause has interrupted every item that somebody holds.
        let is_interrupted = |item: &&ItemView| {
            let is_somebodys = item.item.lease.is_some() && !item.mine;
            if is_somebodys { is_paused } else { item.is_started() }
        };
        let mut items: Vec<&ItemView> = self.items.iter().filter(is_interrupted).collect();
        let more = items.len().saturating_sub(MOST_INTERRUPTED);
        items.truncate(MOST_INTERRUPTED);
        let mut names: Vec<String> = items.iter().map(|item| item.id().to_string()).collect();
        if let ([one], None) = (items.as_slice(), context) {
            names = vec![format!("{} ({})", one.id(), say(&one.item.title))];
        }
        if more > 0 {
            names.push(format!("{more} more"));
        }
        // The context of a pause usually names the item already. Items that it names are not listed again.
        if let Some(context) = context {
            let is_part_of_id = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
            let words = context.split(|letter| !is_part_of_id(letter));
            let named: Vec<&str> = words.map(|word| word.trim_end_matches('.')).collect();
            names.retain(|name| !named.contains(&name.as_str()));
        }
        let names = names.join(", ");
        match context {
            Some(context) if names.is_empty() => Some(say(context)),
            Some(context) => Some(format!("{} ({names})", say(context))),
            None => Some(names).filter(|names| !names.is_empty()),
        }
    }

    /// True if the session's files call it finished although a phase is unproven.
    pub fn is_closed_in_doubt(&self) -> bool {
        self.closed_over.is_some()
    }

    /// Returns the phases that only a file calls done.
    pub fn claimed(&self) -> impl Iterator<Item = &PhaseView> {
        self.phases.iter().filter(|phase| phase.gate.outcome == GateOutcome::Claimed)
    }

    /// Returns the open notes: blockers first, then questions and deferred points, each newest first.
    pub fn open_notes(&self) -> Vec<&Note> {
        let mut open: Vec<&Note> = self.notes.iter().rev().filter(|note| note.is_open()).collect();
        open.sort_by_key(|note| match note.kind {
            NoteKind::Blocker => 0,
            NoteKind::Question => 1,
            NoteKind::Note
            | NoteKind::Decision
            | NoteKind::Tried
            | NoteKind::Assumption
            | NoteKind::Override
            | NoteKind::Deferred => 2,
        });
        open
    }

    /// Returns the option that names this session, for the end of a printed command; empty if the command means this
    /// session anyway.
    pub fn naming(&self) -> String {
        if self.name_session { format!(" --session {}", self.session_id) } else { String::new() }
    }

    /// Returns a command about this session. It names the session if it would otherwise mean another one.
    pub fn command(&self, words: Vec<String>) -> CommandLine {
        CommandLine::new([words, self.naming_words()].concat())
    }

    /// Returns the words with which a printed command means this session.
    pub fn naming_words(&self) -> Vec<String> {
        if self.name_session { words!["--session", self.session_id] } else { Vec::new() }
    }

    /// Returns the last attempt at the current phase, if it failed. Otherwise returns the failed last attempt at
    /// another phase in progress, if any.
    pub fn failed_attempt(&self) -> Option<(&PhaseView, &Attempt)> {
        let current = self.current().filter(|_| self.run.completed_at.is_none())?;
        let is_open = |phase: &&PhaseView| phase.status == "in_progress";
        let others = self.phases.iter().filter(is_open).filter(|phase| phase.number != current.number);
        std::iter::once(current).chain(others).find_map(|phase| {
            let last = phase.attempts.last()?;
            (last.outcome == AttemptOutcome::Failed).then_some((phase, last))
        })
    }

    /// Returns the failed last attempt at a phase that is no longer in progress, because the session went back or
    /// passed the phase by. What was missing in it is still missing.
    pub fn failed_and_left(&self) -> Option<(&PhaseView, &Attempt)> {
        self.current().filter(|_| self.run.completed_at.is_none())?;
        let left = self.phases.iter().filter(|phase| phase.status == "not_started");
        left.rev().find_map(|phase| {
            let last = phase.attempts.last()?;
            (last.outcome == AttemptOutcome::Failed).then_some((phase, last))
        })
    }

    /// Returns who works on what now, such as `claude a4 works on expire "Expire on the server", claimed until 11:20 UTC`.
    pub fn at_work(&self, now: Timestamp) -> Vec<String> {
        self.items.iter().filter(|item| item.is_at_work()).filter_map(|item| item.worked_on(now)).collect()
    }

    /// Returns, for example, `1 of 3 items done`, about the current phase.
    pub fn items_done(&self) -> Option<String> {
        let counts = self.item_counts;
        let is_open = self.run.completed_at.is_none() && counts.total > 0;
        is_open.then(|| format!("{} of {} items done", counts.done, counts.total))
    }

    /// Returns when an agent was last seen, by its hooks or by its last change of this session.
    pub fn last_seen(&self, agent: &AgentView) -> Timestamp {
        let is_its_change = matches!(
            &self.last_actor,
            Actor::Agent { agent: name, id, .. } if *name == agent.agent && *id == agent.agent_session
        );
        if is_its_change { agent.last_seen.max(self.updated_at) } else { agent.last_seen }
    }

    /// Returns, for example, `2 of 4 phases done (50 %)`. The total is left out if more phases can be added. Outcomes
    /// other than done follow: `3 of 4 phases done (75 %), 1 overridden, 1 skipped`.
    pub fn how_far(&self) -> String {
        let outcomes = &self.progress.outcomes;
        let done = self.completed_phases.len();
        let counted = if let Some(percent) = self.percent() {
            let total = self.workflow.total_phases - outcomes.not_applicable as usize;
            format!("{done} of {total} phases done ({percent} %)")
        } else {
            let phases = if done == 1 { "phase" } else { "phases" };
            format!("{done} {phases} done, of an unknown number")
        };
        if outcomes.is_plain() { counted } else { format!("{counted}, {}", outcomes.without_done()) }
    }

    /// Returns the duration of a phase. `None` for zero seconds in another tool's session, because the tool's files do
    /// not date every phase.
    pub fn timed(&self, phase: &PhaseView) -> Option<u64> {
        phase.duration_seconds.filter(|seconds| *seconds > 0 || self.layout == crate::NATIVE)
    }

    pub fn percent(&self) -> Option<u32> {
        Some(self.progress.percent).filter(|_| !self.workflow.total_unknown)
    }
}
