//! `leftoff retry`

use crate::arguments::{given, pair};
use crate::commands::{Outcome, Run, advance::shown};
use crate::globals::Globals;
use engine::Request;

/// Retry a failed phase
///
/// Runs the gate again with the evidence of the last attempt; values given now replace those of the last attempt. A
/// session marked as failed becomes active.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff retry\n  leftoff retry --evidence coverage=82")]
pub struct Retry {
    /// Evidence that has changed; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    evidence: Vec<(String, String)>,
}

impl Run for Retry {
    fn run(self, globals: &Globals) -> Outcome {
        let evidence = given("evidence", self.evidence)?;
        let mut engine = globals.command()?;
        let answer = engine.execute(Request::Retry { evidence })?;
        shown(&answer, None, globals)
    }
}
