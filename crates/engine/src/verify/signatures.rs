//! Finds the events of a history that a person signed with an allowed key.

use super::material::Material;
use super::replay::{Approved, Replay};
use crate::engine::Engine;
use crate::error::Result;
use crate::hex;
use crate::policy::Restricted;
use crate::signing;
use model::actor::Actor;
use model::event::{Event, SignedAct};
use model::id::{Name, SessionId};
use std::collections::BTreeMap;

/// The signatures of a history.
#[derive(Default)]
pub(super) struct Signatures {
    good: BTreeMap<u64, Good>,
    /// The versions of events whose signature is not by an allowed key, or signs something else.
    pub(super) bad: Vec<u64>,
}

struct Good {
    act: SignedAct,
    who: String,
    /// The version of the last event that the signer had seen.
    seen: u64,
}

impl Signatures {
    pub(super) fn of(material: &Material<'_>, replay: &Replay, allowed: Option<&str>) -> Result<Self> {
        let mut signatures = Self::default();
        let links: BTreeMap<String, u64> =
            material.chain.seals.iter().map(|(version, seal)| (hex(&seal.link), *version)).collect();
        for recorded in &replay.history {
            let Event::Signed { act, signature } = &recorded.event else { continue };
            let seen = links.get(&act.head).copied().filter(|seen| follows(replay, *seen, recorded.version));
            let who = match (allowed, seen) {
                (Some(allowed), Some(_)) if act.session == material.session => {
                    signing::check(&act.payload(), signature, allowed)?
                }
                _ => None,
            };
            match who.zip(seen) {
                Some((who, seen)) => {
                    signatures.good.insert(recorded.version, Good { act: act.clone(), who, seen });
                }
                None => signatures.bad.push(recorded.version),
            }
        }
        Ok(signatures)
    }

    /// Returns the version up to which the history is authentic because a signer had seen it; 0 without valid
    /// signatures.
    pub(super) fn anchored(&self) -> u64 {
        self.good.values().map(|good| good.seen).max().unwrap_or(0)
    }

    /// Returns the signer of an approval, if it was signed with an allowed key.
    pub(super) fn of_approval(&self, approved: &Approved) -> Option<&str> {
        let good = self.good.get(&approved.version.checked_sub(1)?)?;
        let act = &good.act;
        let is_of_it = act.action == Restricted::Approve.key()
            && act.phase.as_ref() == Some(&approved.phase)
            && act.check.as_ref() == Some(&approved.check)
            && act.evidence == approved.evidence;
        is_of_it.then_some(good.who.as_str())
    }

    /// True if the last valid signature before the phase ended is that of an override of this phase.
    pub(super) fn is_override_signed(&self, phase: &Name, end: u64) -> bool {
        let last = self.good.range(..end).next_back().map(|(_, good)| &good.act);
        last.is_some_and(|act| act.action == Restricted::Override.key() && act.phase.as_ref() == Some(phase))
    }
}

impl Engine {
    /// True if the newest approval of a check came from another machine without a valid signature. It is then only a
    /// claim.
    pub(crate) fn is_unsigned_from_elsewhere(
        &self,
        id: &SessionId,
        phase: &Name,
        check: &Name,
    ) -> Result<bool> {
        let material = Material::of_store(self, id)?;
        if material.from_elsewhere == 0 {
            return Ok(false);
        }
        let replay = Replay::of(id, &material.rows)?;
        let is_from_elsewhere = |approved: &&Approved| approved.version <= material.from_elsewhere;
        let Some(approved) = replay.approval(phase, check).filter(is_from_elsewhere) else {
            return Ok(false);
        };
        let allowed = self.allowed_signers()?;
        Ok(Signatures::of(&material, &replay, allowed.as_deref())?.of_approval(approved).is_none())
    }
}

/// True if a signature directly follows the events that its signer had seen, so that an old signature cannot be used
/// again. Only external edits may lie between.
fn follows(replay: &Replay, seen: u64, signed: u64) -> bool {
    let between = replay.history.iter().filter(|recorded| (seen + 1..signed).contains(&recorded.version));
    let is_edit = |actor: &Actor| match actor {
        Actor::Tool { .. } => true,
        Actor::Person { .. } | Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
    };
    seen < signed && between.clone().all(|recorded| is_edit(&recorded.actor))
}
