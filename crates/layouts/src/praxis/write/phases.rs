//! Writes data about phases: checkpoints, artifacts with their evidence, timings, and all attempts.

use super::Change;
use crate::praxis::state::{AttemptSaid, PhaseSaid, Shape};
use crate::praxis::time_format::to_micros;
use crate::praxis::{ARTIFACTS, ATTEMPTS};
use crate::redaction_mark::hides_a_secret;
use jiff::Timestamp;
use model::gate::{Attempt, AttemptOutcome};
use model::phase::{Phase, PhaseState};
use model::time::seconds_between;
use serde_json::{Map, Value, json};

/// The maximum size, in bytes, of the attempts of all phases together.
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
            // A claimed completion was read from the file, so the file already shows it.
            PhaseState::Completed { .. } if phase.claimed => return,
            PhaseState::Completed { .. } => "passed",
            PhaseState::Skipped { .. } => "skipped",
            PhaseState::InProgress { .. } if phase.last_attempt_failed() => "failed",
            PhaseState::InProgress { .. } | PhaseState::NotStarted | PhaseState::NeedsReview { .. } => {
                "pending"
            }
        };
        // The phase is not completed for the tool, so its data about the phase stays.
        let was_open = !self.said.completed.contains(&number);
        if word == "pending" && was_open && matches!(said.checkpoint.as_deref(), Some("skipped" | "passed")) {
            return;
        }
        // A checkpoint that is missing counts as pending, so it is not added.
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
        if line.iter().all(|(_, from_file)| from_file.is_some()) {
            return;
        }
        let key = number.to_string();
        // The artifact contains the newest attempt. If another writer made an attempt after leftoff's, the
        // artifact stays.
        if matches!(line.last(), Some((Some(_), None))) {
            match self.said.shape {
                // In this format, artifacts are files, and evidence is stored under its own key.
                Shape::Second => {
                    let evidence = Value::Object(last.report.evidence.clone());
                    self.set(&["evidence_submitted", &key], &evidence);
                }
                Shape::First | Shape::Seed => self.artifact(&key, number, last),
            }
        }
        let all: Vec<Value> =
            line.iter().filter_map(|(ours, from_file)| self.kept_of(*ours, *from_file)).collect();
        let has_others = all.len() > 1;
        let all = self.newest(all);
        // The phase passed and was reopened, so its checkpoint must not show it as passed.
        let is_undone = last.outcome == AttemptOutcome::Passed && !phase.is_done();
        // The second format stores no time for submitted evidence.
        let is_untimed = self.said.shape == Shape::Second && last.outcome == AttemptOutcome::Failed;
        let says_more = !last.report.checks.is_empty() || last.report.overridden.is_some() || is_untimed;
        if has_others || says_more || is_undone {
            self.set(&["metadata", ATTEMPTS, &key], &Value::Array(all));
        }
    }

    /// The newest attempts that fit into the maximum size, which is shared among the phases. The limit keeps
    /// the file readable; the log has all attempts.
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
        // No keys can be added to a list.
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

    /// The attempt to write. An attempt that the file already contains stays as it is written there.
    fn kept_of(&self, ours: Option<&Attempt>, from_file: Option<&AttemptSaid>) -> Option<Value> {
        let from_file = from_file.map(|from_file| {
            self.kept_as(from_file.at, from_file.outcome, serde_json::to_value(&from_file.report))
        });
        let ours =
            || ours.map(|ours| self.kept_as(Some(ours.at), ours.outcome, serde_json::to_value(&ours.report)));
        from_file.or_else(ours)
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

    /// Removes the timing of a phase that has not started, because it was skipped or rolled back. A timing
    /// without an end would mean that the phase is in progress.
    fn not_begun(&mut self, number: u32, phase: &Phase, said: &PhaseSaid) {
        let (Some(started), None) = (said.started_at, said.completed_at) else { return };
        let went_back = self.said_current != self.run.current_number() && number > self.run.current_number();
        match phase.state {
            PhaseState::Skipped { at, .. } => {
                let (section, key) = (self.timings(), number.to_string());
                let seconds = seconds_between(started, at).saturating_sub(phase.paused_seconds);
                self.set_time(&[section, &key, "completed_at"], at);
                self.set(&[section, &key, "duration_seconds"], &json!(seconds));
            }
            PhaseState::NotStarted if went_back => {
                self.document.remove(&[self.timings(), &number.to_string()]);
                self.any = true;
            }
            PhaseState::NotStarted
            | PhaseState::InProgress { .. }
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. } => {}
        }
    }

    /// Writes the timing of a phase. In an old file without timings, only new changes have known times.
    fn timing(&mut self, number: u32, phase: &Phase, said: &PhaseSaid) {
        let Some(started) = phase.started_at() else { return self.not_begun(number, phase, said) };
        let was_done = self.said.completed.contains(&number);
        let is_new = self.went_on_without.is_some_and(|written| started > written);
        let is_current = self.run.current_number() == number;
        let is_entered = !was_done && is_current && self.said_current != number;
        let has_moved = is_new || phase.is_done() != was_done || is_entered;
        let key = number.to_string();
        let section = self.timings();
        // The phase was completed without a duration: neither the file nor the log shows when somebody worked
        // on it.
        let is_untimed =
            phase.completed_at() == Some(started) && self.document.get(&[section, &key]).is_none();
        if said.started_at.is_none() && !has_moved && (self.said.shape != Shape::Seed || is_untimed) {
            return;
        }
        if self.said.shape == Shape::Second && self.document.get(&[section, &key]).is_none() {
            self.set(&[section, &key, "phase"], &json!(number));
        }
        // A phase that was already completed keeps the tool's times. The log only contains the time at which
        // they were reported.
        let is_told = was_done && phase.is_done() && !is_new;
        if !is_told || said.started_at.is_none() {
            self.set_time(&[section, &key, "started_at"], started);
        }
        match (phase.completed_at(), said.completed_at) {
            // If the tool did not record the end of a phase, nobody knows it.
            (Some(_), ended) if is_told && (ended.is_some() || said.started_at.is_some()) => {}
            (Some(at), _) => {
                if self.set_time(&[section, &key, "completed_at"], at) {
                    self.set(&[section, &key, "duration_seconds"], &json!(phase.duration_seconds()));
                }
            }
            // The phase was reopened, so the end in the file is wrong.
            (None, Some(_)) if has_moved => {
                self.set(&[section, &key, "completed_at"], &Value::Null);
                self.set(&[section, &key, "duration_seconds"], &Value::Null);
            }
            // The end of a failed attempt, as the tool recorded it.
            (None, _) => {}
        }
        if phase.paused_seconds != said.paused_seconds {
            self.paused(section, &key, phase.paused_seconds);
        }
    }
}

/// The size of an attempt as written in the file: one line per value, indented as an attempt of a phase is.
fn written_size(attempt: &Value) -> usize {
    const INDENT: usize = 8;
    let text = serde_json::to_string_pretty(attempt).unwrap_or_default();
    text.len() + INDENT * text.lines().count()
}

/// One attempt, as the session has it and as the file has it. Either may be missing.
type Pair<'a> = (Option<&'a Attempt>, Option<&'a AttemptSaid>);

/// True if an attempt in the file is the given attempt in the log.
type Fits = dyn Fn(&AttemptSaid, &Attempt) -> bool;

/// Every attempt once, in the session's order; attempts that only the file has are inserted by time. An
/// attempt in the file is matched by its time, or else by its content: the tool records its own time, while
/// the log records when the attempt was adopted.
fn in_order<'a>(ours: &'a [Attempt], from_file: &'a [AttemptSaid]) -> Vec<Pair<'a>> {
    let mut left: Vec<&AttemptSaid> = from_file.iter().collect();
    let is_of_that_time = |known: &AttemptSaid, attempt: &Attempt| {
        is_same(known, attempt) && known.at.is_none_or(|at| at == to_micros(attempt.at))
    };
    let mut line: Vec<Pair<'a>> = ours.iter().map(|attempt| (Some(attempt), None)).collect();
    // The log may contain results of a gate that the tool did not record.
    let says_as_much = |known: &AttemptSaid, attempt: &Attempt| {
        is_same(known, attempt) && (attempt.report.checks.is_empty() || !known.report.checks.is_empty())
    };
    let fits: [&Fits; 2] = [&is_of_that_time, &says_as_much];
    for fits in fits {
        // The newest attempt comes first, because an artifact contains the newest attempt.
        for (attempt, from_file) in line.iter_mut().rev().filter(|(_, from_file)| from_file.is_none()) {
            *from_file = attempt.and_then(|attempt| take(&mut left, |known| fits(known, attempt)));
        }
    }
    for known in left {
        // If two attempts have the same time, the file's is the older one. The session may have only its
        // latest attempts loaded.
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

/// When an attempt was made, according to the record that is older.
fn time_of((ours, from_file): &Pair<'_>) -> Option<Timestamp> {
    from_file.and_then(|from_file| from_file.at).or(ours.map(|ours| ours.at))
}

/// Removes the last attempt in the file that fits, and returns it.
fn take<'a>(left: &mut Vec<&'a AttemptSaid>, fits: impl Fn(&AttemptSaid) -> bool) -> Option<&'a AttemptSaid> {
    let found = left.iter().rposition(|known| fits(known));
    found.map(|at| left.remove(at))
}

/// True if two attempts look the same in a file. The log contains no secrets, so a secret in submitted
/// evidence is ignored.
fn is_same(known: &AttemptSaid, attempt: &Attempt) -> bool {
    let is_hidden = || attempt.report.evidence.values().any(hides_a_secret);
    known.outcome == attempt.outcome && (known.report.evidence == attempt.report.evidence || is_hidden())
}
