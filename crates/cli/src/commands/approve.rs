//! `leftoff approve`

use crate::arguments::seconds;
use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::ApproveRequest;

/// Say yes to a check that waits for a person
///
/// Only a person can, at a terminal; `[policy] approve = "anyone"` in .leftoff/config.toml allows it to everybody once a person accepted that policy here (`leftoff trust --policy`). The check is one of the current phase, or of a phase that only a file says is done, which `--phase` names; then `leftoff advance --phase` shows that phase to be done.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff approve agreed\n  leftoff approve agreed --ttl 24h\n  leftoff approve agreed --phase plan"
)]
pub struct Approve {
    /// The check, as `leftoff gate` shows it
    check: String,
    /// The phase, by id or number [default: the current one, else one that is claimed and has this check]
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// How long it holds, such as 30m, 24h or 7d [default: what the workflow says]
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    ttl: Option<u64>,
    /// A remark, such as on whose word; the history names you
    #[arg(long)]
    by: Option<String>,
}

impl Run for Approve {
    fn run(self, globals: &Globals) -> Outcome {
        let done = format!("{} approved", self.check);
        let request =
            ApproveRequest { check: self.check, phase: self.phase, ttl_seconds: self.ttl, by: self.by };
        let answer = globals.command()?.approve(&request)?;
        answered(&done, &answer, globals)
    }
}
