//! Writes the session's overall state: the flags in `lifecycle`, and `status` and `completed_at` in the
//! second format.

use super::Change;
use crate::praxis::state::{Life, Shape};
use crate::praxis::time_format;
use jiff::Timestamp;
use model::lifecycle::Lifecycle;
use model::time::seconds_between;
use serde_json::{Value, json};

/// The format's words for the reason of a pause.
const REASONS: &[&str] = &["user_request", "checkpoint_failed", "system_error", "inactivity"];

/// The section `lifecycle` of a new session.
pub(super) fn none() -> Value {
    json!({
        "completed": false,
        "completed_at": null,
        "paused": false,
        "paused_at": null,
        "paused_reason": null,
        "paused_context": null,
        "resumed_at": null,
        "resume_count": 0,
        "last_error": null,
        "last_error_at": null,
    })
}

/// The flags to write.
#[derive(Default)]
struct Flags {
    completed: Option<Timestamp>,
    paused: Option<Timestamp>,
    reason: Option<String>,
    context: Option<String>,
    failed: Option<(Timestamp, String)>,
}

impl Change<'_> {
    pub(super) fn lifecycle(&mut self) {
        let flags = flags(&self.session.lifecycle);
        let section = self.ours(&["lifecycle"]);
        let has_section = self.document.get(&section).is_some_and(|section| section.is_object());
        let resumed = self.session.resume_count > self.said.resume_count;
        if !has_section && !resumed && self.is_said() {
            return;
        }
        if !has_section {
            self.set(&section, &none());
        }
        self.flag("completed", flags.completed);
        self.flag("paused", flags.paused);
        self.word("paused_reason", flags.reason.as_deref());
        self.context(&flags);
        self.last_error(&flags);
        if resumed {
            self.set(&self.ours(&["lifecycle", "resume_count"]), &json!(self.session.resume_count));
            self.when("resumed_at", Some(self.session.updated_at));
        }
        if let Some(at) = flags.completed {
            let seconds = seconds_between(self.session.created_at, at);
            self.set(&self.ours(&["lifecycle", "total_duration_seconds"]), &json!(seconds));
        }
        if self.said.shape == Shape::Second {
            self.status(&flags);
        }
    }

    /// Writes the context of a pause. The last error is not repeated as the context of a pause that has none
    /// in the file.
    fn context(&mut self, flags: &Flags) {
        let is_said = matches!(&self.said.life, Life::Paused { context: None, .. });
        let is_error = flags.context.is_some() && flags.context == self.said.last_error;
        if !(is_said && is_error) {
            self.word("paused_context", flags.context.as_deref());
        }
    }

    /// Writes the last error. The error stays in the file when the session continues, and a later resume
    /// shows that it is over.
    fn last_error(&mut self, flags: &Flags) {
        let resumed = self.document.get(&self.ours(&["lifecycle", "resumed_at"]));
        let resumed =
            resumed.as_ref().and_then(Value::as_str).and_then(|text| time_format::read(text, &self.zone));
        if let Some((at, error)) = &flags.failed {
            self.word("last_error", Some(error));
            self.when("last_error_at", Some(*at));
            if resumed.is_some_and(|resumed| resumed >= *at) {
                self.clear("resumed_at");
            }
        } else if matches!(self.said.life, Life::Failed { .. }) {
            self.when("resumed_at", Some(self.session.updated_at));
        }
    }

    /// True if the file shows the session's state without any flag.
    fn is_said(&self) -> bool {
        let all_done = self.run.phases.iter().all(model::phase::Phase::is_done) && !self.run.is_open();
        match (&self.session.lifecycle, &self.said.life) {
            (Lifecycle::Active, Life::Unsaid | Life::Active)
            | (Lifecycle::Completed { .. }, Life::Completed { .. }) => true,
            // The format has no word for a completed session. The phases show that the session is completed.
            (Lifecycle::Completed { forced: false, .. }, Life::Unsaid) => all_done && self.said_all(),
            (Lifecycle::Failed { error, .. }, Life::Failed { error: said, .. }) => error == said,
            (
                Lifecycle::Active
                | Lifecycle::Paused { .. }
                | Lifecycle::Completed { .. }
                | Lifecycle::Failed { .. }
                | Lifecycle::Abandoned { .. },
                Life::Unsaid
                | Life::Active
                | Life::Paused { .. }
                | Life::Completed { .. }
                | Life::Failed { .. },
            ) => false,
        }
    }

    fn said_all(&self) -> bool {
        (0..self.run.phases.len()).all(|at| self.said.completed.contains(&self.run.number_at(at)))
    }

    fn flag(&mut self, name: &str, at: Option<Timestamp>) {
        let path = self.ours(&["lifecycle", name]);
        let is_silent = at.is_none() && self.document.get(&path).is_none();
        if !is_silent {
            self.set(&path, &json!(at.is_some()));
        }
        self.when(&format!("{name}_at"), at);
    }

    fn when(&mut self, key: &str, at: Option<Timestamp>) {
        match at {
            Some(at) => drop(self.set_time(&self.ours(&["lifecycle", key]), at)),
            None => self.clear(key),
        }
    }

    fn word(&mut self, key: &str, word: Option<&str>) {
        match word {
            Some(word) => self.set(&self.ours(&["lifecycle", key]), &json!(word)),
            None => self.clear(key),
        }
    }

    /// Sets an existing key to null.
    fn clear(&mut self, key: &str) {
        let path = self.ours(&["lifecycle", key]);
        if self.document.get(&path).is_some_and(|value| !value.is_null()) {
            self.set(&path, &Value::Null);
        }
    }

    /// Writes `status`, which only the second format has. The engine moves the file to the folder of that
    /// status.
    fn status(&mut self, flags: &Flags) {
        let status = match (flags.completed, &flags.failed) {
            (Some(_), _) => "completed",
            (None, Some(_)) => "error",
            (None, None) => "active",
        };
        let before = self.document.get(&["status"]);
        let is_there = before.is_some();
        // An active session has no end time.
        let has_ended = self.document.get(&["completed_at"]).is_some_and(|value| !value.is_null());
        if status == "active" && has_ended && before.is_some_and(|before| before != json!("active")) {
            self.set(&["completed_at"], &Value::Null);
        }
        if is_there || status != "active" {
            self.set(&["status"], &json!(status));
        }
        if let Some(at) = flags.completed.or(flags.failed.as_ref().map(|(at, _)| *at)) {
            self.set_time(&["completed_at"], at);
        }
    }
}

fn flags(lifecycle: &Lifecycle) -> Flags {
    match lifecycle {
        Lifecycle::Active => Flags::default(),
        Lifecycle::Paused { at, reason, context, .. } => {
            let is_known = REASONS.contains(&reason.as_str());
            let told = (!is_known).then(|| reason.clone());
            let context = [told, context.clone()].into_iter().flatten().collect::<Vec<_>>().join(": ");
            Flags {
                paused: Some(*at),
                reason: Some(if is_known { reason.clone() } else { "user_request".to_owned() }),
                context: (!context.is_empty()).then_some(context),
                ..Flags::default()
            }
        }
        Lifecycle::Completed { at, .. } => Flags { completed: Some(*at), ..Flags::default() },
        Lifecycle::Failed { at, error } => Flags { failed: Some((*at, error.clone())), ..Flags::default() },
        Lifecycle::Abandoned { at, reason } => Flags {
            paused: Some(*at),
            reason: Some("abandoned".to_owned()),
            context: reason.clone(),
            ..Flags::default()
        },
    }
}
