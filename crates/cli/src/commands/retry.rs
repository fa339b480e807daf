//! `leftoff retry`

use crate::arguments::{given, pair};
use crate::commands::{Outcome, Run, advance::shown};
use crate::globals::Globals;
use crate::ui;

/// Try a failed phase again
///
/// Runs the gate again with the evidence of the last attempt; what you give now takes its place. A session that was marked failed goes on.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff retry\n  leftoff retry --evidence coverage=82")]
pub struct Retry {
    /// Evidence that has changed; may be given several times
    #[arg(long, value_name = "K=V", value_parser = pair)]
    evidence: Vec<(String, String)>,
}

impl Run for Retry {
    fn run(self, globals: &Globals) -> Outcome {
        let evidence = given("evidence", self.evidence)?;
        let mut engine = globals.command()?;
        ui::progress::show(&mut engine, globals);
        let answer = engine.retry(evidence)?;
        shown(&answer, None, globals)
    }
}
