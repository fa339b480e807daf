//! Reads when phases started and ended, and how long they were paused. Two keys of a session's file contain
//! these times.

use super::PhaseSaid;
use super::fields::Fields;
use crate::praxis::PAUSED;
use crate::problem::{Type, What};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the timings of phases. The first format's key is `phase_timing`, the second's `phase_timings`.
pub(super) fn timings(fields: &mut Fields<'_>, phases: &mut BTreeMap<u32, PhaseSaid>) {
    for key in ["phase_timing", "phase_timings"] {
        for (number, value) in fields.by_phase(key) {
            let Value::Object(timing) = value else {
                (fields.say)(&format!("{key} {number}"), What::NotA(Type::Object));
                continue;
            };
            let phase = phases.entry(number).or_default();
            let name = format!("{key}.{number}");
            phase.started_at = fields.time_below(&name, &timing, "started_at");
            phase.completed_at = fields.time_below(&name, &timing, "completed_at");
            let paused = timing.get(PAUSED).and_then(Value::as_f64).unwrap_or_default();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clamped to a range that fits"
            )]
            let paused = paused.clamp(0.0, 1e10) as u64;
            phase.paused_seconds = paused;
        }
    }
}
