//! Writes whether the user approved the bird's-eye view of all sections. The user approves it before writing
//! starts.

use super::Changes;
use crate::essay::STAGES;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::id::Name;
use model::phase::PhaseState;
use serde_json::{Value, json};

/// The check of stage 3 for the bird's-eye view, and the key for it in the file.
pub(in crate::essay) const BIRDS_EYE: &str = "birds-eye";
pub(in crate::essay) const BIRDS_EYE_KEY: &str = "birds_eye_approved";

/// The value to write for the bird's-eye view.
pub(super) enum BirdsEye {
    /// The existing value stays until something changes.
    AsItIs,
    Says(Option<Value>),
}

impl Changes<'_> {
    pub(super) fn birds_eye_now(&self) -> BirdsEye {
        let said = self.publication.session.fields.get(BIRDS_EYE_KEY).cloned();
        if self.is_approved_last() {
            BirdsEye::Says(self.birds_eye())
        } else if self.touched.contains(BIRDS_EYE_KEY) {
            BirdsEye::Says(said)
        } else if self.is_open_again() {
            BirdsEye::Says(Some(json!(false)))
        } else if self.is_new || self.went_back {
            BirdsEye::Says(self.birds_eye().or(said))
        } else {
            BirdsEye::AsItIs
        }
    }

    /// True if the bird's-eye view was approved since the file was last written, and its field was not set
    /// after that.
    fn is_approved_last(&self) -> bool {
        let arguments = STAGES[2].name;
        let said = self.publication.since.iter().rev().find_map(|recorded| match &recorded.event {
            Event::CheckApproved { phase, check, .. } if *phase == *arguments && *check == *BIRDS_EYE => {
                Some(true)
            }
            Event::PhaseCompleted { phase, .. } if *phase == *arguments => Some(true),
            Event::FieldsSet { fields, .. } if fields.contains_key(BIRDS_EYE_KEY) => Some(false),
            _ => None,
        });
        said == Some(true)
    }

    /// The value to write, which says whether the user approved the bird's-eye view.
    fn birds_eye(&self) -> Option<Value> {
        let phase = self.ours.phase(2)?;
        let check = Name::parse(BIRDS_EYE).ok()?;
        let is_approved = self.ours.session.approval(phase.id(), &check).is_some();
        let is_passed = matches!(phase.state, PhaseState::Completed { .. }) && !phase.claimed;
        let has_gate = phase.last_attempt().is_some_and(|attempt| {
            attempt.report.checks.iter().any(|result| result.id == BIRDS_EYE && !result.failed())
        });
        (is_approved || (is_passed && has_gate)).then(|| json!(true))
    }

    /// True if a command returned to the stage or an earlier one since the file was last written, so that the
    /// view needs approval again. Somebody who returns by editing the file sets the value in the file.
    fn is_open_again(&self) -> bool {
        let since = self.publication.since;
        let is_edit = |recorded: &&Recorded| matches!(recorded.event, Event::ExternalEdit { .. });
        let editors: Vec<&Actor> = since.iter().filter(is_edit).map(|recorded| &recorded.actor).collect();
        let went_back = since.iter().any(|recorded| {
            matches!(recorded.event, Event::RolledBack { .. }) && !editors.contains(&&recorded.actor)
        });
        let is_done = self.ours.phase(2).is_some_and(model::phase::Phase::is_done);
        went_back && !is_done && self.birds_eye().is_none()
    }
}
