//! What the file says about single phases: checkpoints, artifacts with their evidence, timings, every attempt.

use super::Change;
use crate::praxis::state::{AttemptSaid, PhaseSaid, Shape};
use crate::praxis::times::to_micros;
use crate::praxis::{ARTIFACTS, ATTEMPTS};
use jiff::Timestamp;
use model::gate::{Attempt, AttemptOutcome};
use model::phase::{Phase, PhaseState};
use serde_json::{Map, Value, json};

/// Of the attempts of all phases together, in bytes.
const MOST_OF_ATTEMPTS: usize = 384 * 1024;

impl Change<'_> {
    pub(super) fn phases(&mut self) {
        for at in 0..self.run.phases.len() {
            let phase = self.run.phases[at].clone();
            let number = self.run.number_at(at);
            let said = self.said.phases.get(&number).cloned().unwrap_or_default();
            self.checkpoint(number, &phase, &said);
            self.attempts(number, &phase, &said);
            self.timing(number, &phase, &said);
        }
    }

    fn checkpoint(&mut self, number: u32, phase: &Phase, said: &PhaseSaid) {
        let word = match phase.state {
            // Nobody has shown it: what the file says about it is its own word.
            PhaseState::Completed { .. } if phase.claimed => return,
            PhaseState::Completed { .. } => "passed",
            PhaseState::Skipped { .. } => "skipped",
            PhaseState::InProgress { .. } if phase.last_attempt_failed() => "failed",
            PhaseState::InProgress { .. } | PhaseState::NotStarted | PhaseState::NeedsReview { .. } => {
                "pending"
            }
        };
        // What the tool says of a phase that it does not count among those that are over is its own word.
        let was_open = !self.said.completed.contains(&number);
        if word == "pending" && was_open && matches!(said.checkpoint.as_deref(), Some("skipped" | "passed")) {
            return;
        }
        // That nothing was decided yet need not be said, unless something else is.
        let is_silent = said.checkpoint.is_none() && word == "pending";
        let is_news = phase.started_at().is_some() && self.said.shape == Shape::Seed;
        if said.checkpoint.as_deref() != Some(word) && (!is_silent || is_news) && self.has_word(number, word)
        {
            self.set(&["checkpoints", &number.to_string()], &json!(word));
        }
    }

    fn attempts(&mut self, number: u32, phase: &Phase, said: &PhaseSaid) {
        let Some(last) = phase.attempts.last() else { return };
        let line = in_order(&phase.attempts, &said.attempts);
        if line.iter().all(|(_, told)| told.is_some()) {
            return;
        }
        let key = number.to_string();
        // The newest is what an artifact holds: what somebody else made after ours stays in it.
        if matches!(line.last(), Some((Some(_), None))) {
            match self.said.shape {
                // Its artifacts are files; evidence has a place of its own.
                Shape::Second => {
                    let evidence = Value::Object(last.report.evidence.clone());
                    self.set(&["evidence_submitted", &key], &evidence);
                }
                Shape::First | Shape::Seed => self.artifact(&key, number, last),
            }
        }
        let all: Vec<Value> = line.iter().filter_map(|(ours, told)| self.kept_of(*ours, *told)).collect();
        let has_others = all.len() > 1;
        let all = self.newest(all);
        // A phase that passed and is open again: its checkpoint does not tell any more that it did.
        let is_undone = last.outcome == AttemptOutcome::Passed && !phase.is_done();
        // Of what was handed in the second shape says no time.
        let is_untimed = self.said.shape == Shape::Second && last.outcome == AttemptOutcome::Failed;
        let says_more = !last.report.checks.is_empty() || last.report.overridden.is_some() || is_untimed;
        if has_others || says_more || is_undone {
            self.set(&["metadata", ATTEMPTS, &key], &Value::Array(all));
        }
    }

    /// Those that have room: every phase has its part of what attempts may take of a file that must stay one that is
    /// read. The log has all of them.
    fn newest(&self, mut all: Vec<Value>) -> Vec<Value> {
        let most = MOST_OF_ATTEMPTS / self.run.phases.len().max(1);
        let mut size: usize = 0;
        let has_room = |attempt: &&Value| {
            size += written_size(attempt);
            size <= most
        };
        let kept = all.iter().rev().take_while(has_room).count().max(1);
        all.split_off(all.len().saturating_sub(kept))
    }

    fn artifact(&mut self, key: &str, number: u32, last: &Attempt) {
        let mut outputs = last.report.outputs.clone();
        let commands = outputs.shift_remove("commands_executed").unwrap_or_else(|| json!([]));
        // A list that somebody has there has no place beside the keys of one.
        if let Some(list @ Value::Array(_)) = self.document.get(&["phase_artifacts", key]) {
            outputs.entry(ARTIFACTS).or_insert(list);
        }
        for (name, value) in [
            ("phase_number", json!(number)),
            ("evidence", Value::Object(last.report.evidence.clone())),
            ("outputs", Value::Object(outputs)),
            ("commands_executed", commands),
            ("timestamp", self.time(last.at)),
        ] {
            self.set(&["phase_artifacts", key, name], &value);
        }
    }

    /// What the file tells of it stays as it is told.
    fn kept_of(&self, ours: Option<&Attempt>, told: Option<&AttemptSaid>) -> Option<Value> {
        let told = told.map(|told| self.kept_as(told.at, told.outcome, serde_json::to_value(&told.report)));
        let ours =
            || ours.map(|ours| self.kept_as(Some(ours.at), ours.outcome, serde_json::to_value(&ours.report)));
        told.or_else(ours)
    }

    fn kept_as(
        &self,
        at: Option<Timestamp>,
        outcome: AttemptOutcome,
        report: Result<Value, serde_json::Error>,
    ) -> Value {
        let mut kept = Map::new();
        kept.insert("at".to_owned(), at.map_or(Value::Null, |at| self.time(at)));
        kept.insert("outcome".to_owned(), json!(outcome));
        if let Ok(Value::Object(report)) = report {
            kept.extend(report);
        }
        Value::Object(kept)
    }

    fn timings(&self) -> &'static str {
        if self.said.shape == Shape::Second { "phase_timings" } else { "phase_timing" }
    }

    /// A timing without an end is one of a phase in progress: somebody went back before this one.
    fn not_begun(&mut self, number: u32, phase: &Phase, said: &PhaseSaid) {
        let went_back = self.said_current != self.run.current_number() && number > self.run.current_number();
        let is_open = said.started_at.is_some() && said.completed_at.is_none();
        if phase.state == PhaseState::NotStarted && is_open && went_back {
            self.document.remove(&[self.timings(), &number.to_string()]);
            self.any = true;
        }
    }

    /// Of an old file without timings only what has changed since is known.
    fn timing(&mut self, number: u32, phase: &Phase, said: &PhaseSaid) {
        let Some(started) = phase.started_at() else { return self.not_begun(number, phase, said) };
        let was_done = self.said.completed.contains(&number);
        let is_new = self.went_on_without.is_some_and(|written| started > written);
        let is_current = self.run.current_number() == number;
        let is_entered = !was_done && is_current && self.said_current != number;
        let has_moved = is_new || phase.is_done() != was_done || is_entered;
        if self.said.shape != Shape::Seed && said.started_at.is_none() && !has_moved {
            return;
        }
        let key = number.to_string();
        let section = self.timings();
        if self.said.shape == Shape::Second && self.document.get(&[section, &key]).is_none() {
            self.set(&[section, &key, "phase"], &json!(number));
        }
        // Of a phase that was done before, its tool's own times stay: the log knows when it was told of them.
        let is_told = was_done && phase.is_done() && !is_new;
        if !is_told || said.started_at.is_none() {
            self.set_time(&[section, &key, "started_at"], started);
        }
        match (phase.completed_at(), said.completed_at) {
            (Some(_), Some(_)) if is_told => {}
            (Some(at), _) => {
                if self.set_time(&[section, &key, "completed_at"], at) {
                    self.set(&[section, &key, "duration_seconds"], &json!(phase.duration_seconds()));
                }
            }
            // Open again: what was written about its end is not so any more.
            (None, Some(_)) => {
                self.set(&[section, &key, "completed_at"], &Value::Null);
                self.set(&[section, &key, "duration_seconds"], &Value::Null);
            }
            (None, None) => {}
        }
        if phase.paused_seconds != said.paused_seconds {
            self.paused(section, &key, phase.paused_seconds);
        }
    }
}

/// As it stands in the file, a line for each value, in the depth of a list of a phase's attempts.
fn written_size(attempt: &Value) -> usize {
    const INDENT: usize = 8;
    let text = serde_json::to_string_pretty(attempt).unwrap_or_default();
    text.len() + INDENT * text.lines().count()
}

/// One attempt: as the session has it, and as the file tells it.
type Pair<'a> = (Option<&'a Attempt>, Option<&'a AttemptSaid>);

/// Whether an attempt that the file tells is one of ours.
type Fits = dyn Fn(&AttemptSaid, &Attempt) -> bool;

/// Every attempt once, in the order of the session; what only the file tells is where its time puts it. Each that the
/// file has stands for one of ours: the one of that time, else any that says the same. What the tool recorded has a
/// time of its own, and the log one of when it was taken in.
fn in_order<'a>(ours: &'a [Attempt], told: &'a [AttemptSaid]) -> Vec<Pair<'a>> {
    let mut left: Vec<&AttemptSaid> = told.iter().collect();
    let is_of_that_time = |known: &AttemptSaid, attempt: &Attempt| {
        is_same(known, attempt) && known.at.is_none_or(|at| at == to_micros(attempt.at))
    };
    let mut line: Vec<Pair<'a>> = ours.iter().map(|attempt| (Some(attempt), None)).collect();
    // What a gate found is more than what the tool wrote down of another time.
    let says_as_much = |known: &AttemptSaid, attempt: &Attempt| {
        is_same(known, attempt) && (attempt.report.checks.is_empty() || !known.report.checks.is_empty())
    };
    let fits: [&Fits; 2] = [&is_of_that_time, &says_as_much];
    for fits in fits {
        // The newest first: an artifact holds no older one.
        for (attempt, told) in line.iter_mut().rev().filter(|(_, told)| told.is_none()) {
            *told = attempt.and_then(|attempt| take(&mut left, |known| fits(known, attempt)));
        }
    }
    for known in left {
        // Of the same time as one of ours it is older: ours are the last ones, where not all are at hand.
        let is_later = |pair: &Pair<'_>| match (time_of(pair), known.at) {
            (Some(other), Some(at)) => other > at || (other == at && pair.0.is_some()),
            (Some(_), None) => pair.0.is_some(),
            (None, _) => false,
        };
        let place = line.iter().position(is_later).unwrap_or(line.len());
        line.insert(place, (None, Some(known)));
    }
    line
}

/// When it was made, as the one says who was there.
fn time_of((ours, told): &Pair<'_>) -> Option<Timestamp> {
    told.and_then(|told| told.at).or(ours.map(|ours| ours.at))
}

/// Takes out the last that fits.
fn take<'a>(left: &mut Vec<&'a AttemptSaid>, fits: impl Fn(&AttemptSaid) -> bool) -> Option<&'a AttemptSaid> {
    let found = left.iter().rposition(|known| fits(known));
    found.map(|at| left.remove(at))
}

/// Two that a file cannot tell apart are the same. A secret in what was submitted is kept out of the log, and stays in
/// the file that it is in.
fn is_same(known: &AttemptSaid, attempt: &Attempt) -> bool {
    let is_hidden =
        || serde_json::to_string(&attempt.report.evidence).is_ok_and(|text| text.contains("[redacted"));
    known.outcome == attempt.outcome && (known.report.evidence == attempt.report.evidence || is_hidden())
}
