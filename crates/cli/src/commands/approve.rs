//! `leftoff approve`

use crate::arguments::seconds;
use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::{ApproveRequest, Request};

/// Approve a check that waits for a person
///
/// Only a person can approve, at a terminal; `[policy] approve = "anyone"` in .leftoff/config.toml allows everybody to
/// approve, once a person has accepted that policy on this machine (`leftoff trust --policy`). The check belongs to the
/// current phase. With `--phase`, it belongs to a claimed phase: one that only a file says is done. `leftoff advance
/// --phase` then proves that phase. The approval covers the phase's files as they are now: if one of them changes, the
/// check must be approved again. With `--sign`, or with `[policy] approve = "signed"`, `ssh-keygen` signs the approval
/// with the key of `LEFTOFF_SIGNING_KEY`, or else of git's `user.signingkey`; that key must be in the accepted
/// .leftoff/allowed_signers.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff approve agreed\n  leftoff approve agreed --ttl 24h\n  leftoff approve agreed --phase plan\n  leftoff approve agreed --sign"
)]
pub struct Approve {
    /// The check, as `leftoff gate` shows it
    check: String,
    /// The phase, by id or number [default: the current phase, or else a claimed one with this check]
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// How long the approval is valid, such as 30m, 24h or 7d [default: the workflow's setting]
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    ttl: Option<u64>,
    /// A remark, such as who asked for the approval; the history contains your own name anyway
    #[arg(long)]
    by: Option<String>,
    /// Sign the approval with your SSH key, so that it also counts on other machines
    #[arg(long)]
    sign: bool,
}

impl Run for Approve {
    fn run(self, globals: &Globals) -> Outcome {
        let done = format!("{} approved", self.check);
        let request = ApproveRequest {
            check: self.check,
            phase: self.phase,
            ttl_seconds: self.ttl,
            by: self.by,
            sign: self.sign,
            files: None,
        };
        let answer = globals.command()?.execute(Request::Approve(request))?;
        answered(&done, &answer, globals)
    }
}
