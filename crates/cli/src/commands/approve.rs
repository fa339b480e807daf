//! `leftoff approve`

use crate::arguments::seconds;
use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Say yes to a check that waits for a person
///
/// A person's to do, at a terminal; `[policy] approve = "anyone"` in .leftoff/config.toml allows it to everybody.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff approve agreed\n  leftoff approve agreed --ttl 24h")]
pub struct Approve {
    /// The check, as `leftoff gate` shows it
    check: String,
    /// How long it holds, such as 30m, 24h or 7d [default: what the workflow says]
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    ttl: Option<u64>,
    /// Who says so [default: you]
    #[arg(long)]
    by: Option<String>,
}

impl Run for Approve {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.approve(&self.check, self.ttl, self.by.as_deref())?;
        answered(&format!("{} approved", self.check), &answer, globals)
    }
}
