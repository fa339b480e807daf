//! Marks phases whose proof came from another machine and that no allowed key signed, so that every view calls them
//! claimed, as `verify` does.

use super::VerifyRequest;
use super::judge::Judge;
use super::material::Material;
use super::replay::Replay;
use crate::engine::Engine;
use crate::error::Result;
use crate::policy::{Restricted, Who};
use model::gate::CheckResult;
use model::phase::Phase;
use model::session::Session;
use std::collections::BTreeSet;
use store::Arrival;

/// A phase, by the position of its run and its own.
type Place = (usize, usize);

impl Engine {
    /// The session with its unsigned phases marked; `None` if it has none. Looks only at the store's own record of
    /// arrivals, because this is done for every view.
    pub(crate) fn with_unsigned_marked(
        &self,
        session: &Session,
        arrival: Option<&Arrival>,
    ) -> Option<Session> {
        let over = || phases_of(session).filter(|(_, phase)| phase.is_done());
        let is_approved = |phase: &Phase| {
            let checks = phase.last_attempt().map(|attempt| attempt.report.checks.as_slice());
            let is_approval = |check: &CheckResult| check.kind == "approval" && !check.failed();
            checks.unwrap_or_default().iter().any(is_approval)
        };
        over().next()?;
        let needs_signature = || {
            over().any(|(_, phase)| is_approved(phase)) && self.who_may(Restricted::Approve) == Who::Signed
        };
        if arrival.is_none() && !needs_signature() {
            return None;
        }
        // A signature that cannot be checked does not count.
        let unsigned =
            self.unsigned_phases(session).unwrap_or_else(|_| over().map(|(place, _)| place).collect());
        let mut marked = session.clone();
        for (run, phase) in &unsigned {
            marked.runs[*run].phases[*phase].unsigned = true;
        }
        (!unsigned.is_empty()).then_some(marked)
    }

    fn unsigned_phases(&self, session: &Session) -> Result<BTreeSet<Place>> {
        let material = Material::of_store(self, &session.id)?;
        let replay = Replay::of(&material.session, &material.rows)?;
        let judge =
            Judge { engine: self, material: &material, replay: &replay, request: &VerifyRequest::default() };
        let ground = judge.ground()?;
        let is_unsigned = |(run, _): &Place, phase: &Phase| {
            phase.is_done() && judge.is_unsigned(&session.runs[*run], phase, &ground)
        };
        Ok(phases_of(session)
            .filter(|(place, phase)| is_unsigned(place, phase))
            .map(|(place, _)| place)
            .collect())
    }
}

fn phases_of(session: &Session) -> impl Iterator<Item = (Place, &Phase)> {
    session.runs.iter().enumerate().flat_map(|(run, found)| {
        found.phases.iter().enumerate().map(move |(phase, found)| ((run, phase), found))
    })
}
