//! Answers that every front end takes from a view: phases to look at, open notes, progress, commands.

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

const LONGEST_TITLE: usize = 80;
/// How many interrupted items are named.
const MOST_INTERRUPTED: usize = 3;

impl PhaseView {
    /// True if a file calls the phase done, although its last attempt failed, here or in its own tool.
    pub fn is_claimed_over_failure(&self) -> bool {
        let last = self.attempts.last();
        self.contested && last.is_some_and(|attempt| attempt.outcome == AttemptOutcome::Failed)
    }
}

impl View {
    pub fn current(&self) -> Option<&PhaseView> {
        self.phases.iter().find(|phase| phase.number == self.current_phase.number)
    }

    /// Phases to review, each with its revision.
    pub fn waiting_for_review(&self) -> Vec<(&PhaseView, Option<&RevisionMade>)> {
        let waiting = self.phases.iter().filter(|phase| phase.status == "needs_review");
        waiting
            .map(|phase| {
                let why = self.revisions.iter().rfind(|made| made.revision.flagged.contains(&phase.id));
                (phase, why)
            })
            .collect()
    }

    /// The first phase that is not done in the log although a file calls it done or has closed the session.
    pub fn contested(&self) -> Option<&PhaseView> {
        let closed_over = || self.phases.iter().find(|phase| Some(&phase.id) == self.closed_over.as_ref());
        self.phases.iter().find(|phase| phase.contested).or_else(closed_over)
    }

    /// The work that a pause interrupted: as described by whoever paused, and the items that were started.
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
        // Nobody works while a session is paused, so every item with a lease was interrupted by the pause.
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
        // The context of a pause usually names the item.
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

    /// True if the session's files call it finished, but a phase is not done in the log.
    pub fn is_closed_in_doubt(&self) -> bool {
        self.closed_over.is_some()
    }

    /// Phases that a file calls done, without proof.
    pub fn claimed(&self) -> impl Iterator<Item = &PhaseView> {
        self.phases.iter().filter(|phase| phase.gate.outcome == GateOutcome::Claimed)
    }

    /// Open notes: blockers first, then questions and deferred points, newest first.
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

    /// The end of a printed command that names this session; empty if the command means this session anyway.
    pub fn naming(&self) -> String {
        if self.name_session { format!(" --session {}", self.session_id) } else { String::new() }
    }

    /// A command about this session. The session is named if the command alone would mean another one.
    pub fn command(&self, words: Vec<String>) -> CommandLine {
        CommandLine::new([words, self.naming_words()].concat())
    }

    /// The words that make a printed command mean this session.
    pub fn naming_words(&self) -> Vec<String> {
        if self.name_session { words!["--session", self.session_id] } else { Vec::new() }
    }

    /// The last failed attempt at the current phase, if nothing has passed since; otherwise at another open
    /// phase.
    pub fn failed_attempt(&self) -> Option<(&PhaseView, &Attempt)> {
        let current = self.current().filter(|_| self.run.completed_at.is_none())?;
        let is_open = |phase: &&PhaseView| phase.status == "in_progress";
        let others = self.phases.iter().filter(is_open).filter(|phase| phase.number != current.number);
        std::iter::once(current).chain(others).find_map(|phase| {
            let last = phase.attempts.last()?;
            (last.outcome == AttemptOutcome::Failed).then_some((phase, last))
        })
    }

    /// The last failed attempt at a phase that is no longer in progress, because the session went back to an
    /// earlier phase or moved on without passing the gate. What was missing is still missing.
    pub fn failed_and_left(&self) -> Option<(&PhaseView, &Attempt)> {
        self.current().filter(|_| self.run.completed_at.is_none())?;
        let left = self.phases.iter().filter(|phase| phase.status == "not_started");
        left.rev().find_map(|phase| {
            let last = phase.attempts.last()?;
            (last.outcome == AttemptOutcome::Failed).then_some((phase, last))
        })
    }

    /// Items that somebody works on now: `expire "Expire on the server", held by claude a4 until 11:20 UTC`.
    pub fn at_work(&self, now: Timestamp) -> Vec<String> {
        let held = self.items.iter().filter(|item| item.held && item.holder_gone_since.is_none());
        held.map(|item| {
            let title = crate::words::quoted(&item.item.title, LONGEST_TITLE);
            format!("{} {title}, {}", item.id(), item.standing(now))
        })
        .collect()
    }

    /// When an agent was last seen: by its hooks, or by its last change of this session.
    pub fn last_seen(&self, agent: &AgentView) -> Timestamp {
        let is_its_change = matches!(
            &self.last_actor,
            Actor::Agent { agent: name, id, .. } if *name == agent.agent && *id == agent.agent_session
        );
        if is_its_change { agent.last_seen.max(self.updated_at) } else { agent.last_seen }
    }

    /// `2 of 4 phases done (50 %)`. Mentions the total only if it is known, and outcomes other than done if
    /// there are any.
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
        if outcomes.is_plain() { counted } else { format!("{counted}: {outcomes}") }
    }

    /// A phase's duration; `None` for zero seconds in another tool's session, whose files do not date every
    /// phase.
    pub fn timed(&self, phase: &PhaseView) -> Option<u64> {
        phase.duration_seconds.filter(|seconds| *seconds > 0 || self.layout == crate::NATIVE)
    }

    pub fn percent(&self) -> Option<u32> {
        Some(self.progress.percent).filter(|_| !self.workflow.total_unknown)
    }
}
