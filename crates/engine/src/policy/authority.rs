//! Authorises restricted commands: they need a person, and a signature if the policy asks for one.

use super::{Restricted, Who};
use crate::checks::trust;
use crate::engine::Engine;
use crate::error::{Error, Result, Unsigned};
use crate::hex;
use crate::signing;
use model::event::{Event, SignedAct};
use model::id::{Name, SessionId};
use std::path::PathBuf;

/// How often a command is signed again because the session changed meanwhile.
const TRIES: usize = 3;
/// The name of the file with the allowed keys, in the format of `ssh-keygen`.
pub(crate) const ALLOWED_SIGNERS: &str = "allowed_signers";

/// A restricted command, with the values that a signature covers.
pub(crate) struct Act<'a> {
    pub(crate) rule: Restricted,
    pub(crate) session: &'a SessionId,
    pub(crate) phase: Option<&'a Name>,
    pub(crate) check: Option<&'a Name>,
    /// Hash of the files that an approval covers.
    pub(crate) evidence: Option<&'a str>,
    /// True to sign even if the policy does not require it.
    pub(crate) sign: bool,
}

impl<'a> Act<'a> {
    pub(crate) fn new(rule: Restricted, session: &'a SessionId) -> Self {
        Self { rule, session, phase: None, check: None, evidence: None, sign: false }
    }
}

/// An act with its signature.
pub(crate) struct Signature {
    act: SignedAct,
    text: String,
}

impl Engine {
    /// Runs an action that may need a signature. Signing happens before the turn to write: if a signature is missing,
    /// `act` fails without changing anything, and is called again with the signature.
    pub(crate) fn with_signature<T>(
        &mut self,
        mut act: impl FnMut(&mut Self, Option<&Signature>) -> Result<T>,
    ) -> Result<T> {
        let mut signature = None;
        for _ in 0..TRIES {
            match act(self, signature.as_ref()) {
                Err(Error::Unsigned(Unsigned::Missing(act))) => signature = Some(self.sign(*act)?),
                other => return other,
            }
        }
        Err(Error::Contended)
    }

    /// Refuses a restricted command if no person runs it. If the command is signed, returns the event with the
    /// signature.
    pub(crate) fn authorise(&self, act: &Act<'_>, signature: Option<&Signature>) -> Result<Option<Event>> {
        self.require_person(act.rule)?;
        if self.who_may(act.rule) < Who::Signed && !act.sign {
            return Ok(None);
        }
        let head = self.store.chain(act.session)?.head.map(|head| hex(&head)).unwrap_or_default();
        let asked = SignedAct {
            action: act.rule.key().to_owned(),
            session: act.session.clone(),
            phase: act.phase.cloned(),
            check: act.check.cloned(),
            evidence: act.evidence.map(ToOwned::to_owned),
            head,
        };
        match signature.filter(|signature| signature.act == asked) {
            Some(signature) => Ok(Some(Event::Signed { act: asked, signature: signature.text.clone() })),
            None => Err(Unsigned::Missing(Box::new(asked)).into()),
        }
    }

    /// Signs an act. Fails if the signature would not count.
    fn sign(&self, act: SignedAct) -> Result<Signature> {
        let Some(allowed) = self.allowed_signers()? else {
            return Err(Unsigned::NoSigners.into());
        };
        let payload = act.payload();
        let text = signing::sign(&payload, &self.project.root)?;
        match signing::check(&payload, &text, &allowed)? {
            Some(_) => Ok(Signature { act, text }),
            None => Err(Unsigned::KeyNotAllowed.into()),
        }
    }

    /// Returns the list of allowed signers that counts here: the list accepted on this machine, or the project's own if
    /// automation names its hash. `None` if neither exists.
    pub(crate) fn allowed_signers(&self) -> Result<Option<String>> {
        if let Some(accepted) = trust::accepted_signers(&self.project.root) {
            return Ok(Some(accepted));
        }
        let own = self.own_signers();
        let is_named = own.as_deref().is_some_and(trust::is_trusted_by_hash);
        Ok(if is_named && self.known_agent()?.is_none() { own } else { None })
    }

    /// Returns the project's own file of allowed signers, whether accepted or not.
    pub(super) fn own_signers(&self) -> Option<String> {
        std::fs::read_to_string(self.signers_path()).ok()
    }

    /// True if the project's list of signers differs from the accepted list.
    pub(crate) fn has_new_signers(&self) -> bool {
        self.own_signers().is_some_and(|own| trust::accepted_signers(&self.project.root) != Some(own))
    }

    fn signers_path(&self) -> PathBuf {
        self.project.folder().join(ALLOWED_SIGNERS)
    }
}
