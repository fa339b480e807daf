//! Why a required signature is missing or invalid.

use model::event::SignedAct;
use model::hint::Hint;
use model::words;

#[derive(Debug, thiserror::Error)]
pub enum Unsigned {
    /// Nobody has signed the change yet. This never leaves the engine, which signs the change and tries again.
    #[error("this needs a signature")]
    Missing(Box<SignedAct>),
    #[error("nothing was signed: there is no signing key")]
    NoKey,
    #[error("nothing was signed: {0}")]
    Failed(String),
    #[error("nothing was signed: the allowed signers were not accepted on this machine")]
    NoSigners,
    #[error("nothing was signed: your key is not among the allowed signers accepted on this machine")]
    KeyNotAllowed,
}

impl Unsigned {
    pub(super) fn hint(&self) -> Hint {
        match self {
            Self::Missing(_) | Self::Failed(_) => {
                "check the key: ssh-keygen -Y sign must be able to use it".into()
            }
            Self::NoKey => {
                "set a signing key: git config user.signingkey ~/.ssh/id_ed25519, or LEFTOFF_SIGNING_KEY"
                    .into()
            }
            Self::NoSigners | Self::KeyNotAllowed => {
                Hint::new("put names and public keys into .leftoff/allowed_signers, then: ")
                    .run(words!["trust", "--policy"])
            }
        }
    }
}
