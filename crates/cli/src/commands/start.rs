//! `leftoff start`

use crate::arguments::pair;
use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::{Engine, StartRequest};
use model::gate::Given;

/// Start a session here, and be told what is next
///
/// The session becomes the active one of this worktree. One that was active is paused, unless another live agent works on it: then the new one stands beside it. A folder that was never used is set up first.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff start\n  leftoff start review --target src/auth --title \"Review of the log-in\"\n  leftoff start spec --goal \"Exports run in the background\" --set ticket=ABC-12"
)]
pub struct Start {
    /// Workflow to go through, see `leftoff workflow list` [default: the one in .leftoff/config.toml, else plan-implement-review]
    workflow: Option<String>,
    /// A short name for the session [default: from the goal, else the branch, else the workflow]
    #[arg(long)]
    title: Option<String>,
    /// What is to be reached, in a sentence; every brief begins with it
    #[arg(long)]
    goal: Option<String>,
    /// What the work is about: a path, a branch, a ticket
    #[arg(long)]
    target: Option<String>,
    /// How large the work is; kept as the field `type`
    #[arg(long = "type", value_parser = ["simple", "medium", "complex"])]
    size: Option<String>,
    /// An id of your own [default: eight random characters]
    #[arg(long)]
    id: Option<String>,
    /// Format of the session's files: native, ocr, ccw, praxis, essay; native has none [default: native]
    #[arg(long)]
    layout: Option<String>,
    /// A free field of the session; may be given several times
    #[arg(long = "set", value_name = "K=V", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Stand beside the active session instead of pausing it
    #[arg(long)]
    parallel: bool,
}

impl Run for Start {
    fn run(self, globals: &Globals) -> Outcome {
        let size = self.size.map(|size| ("type".to_owned(), size));
        let fields = self.set.into_iter().chain(size).map(|(name, value)| (name, Given::Text(value)));
        let request = StartRequest {
            workflow: self.workflow,
            title: self.title,
            goal: self.goal,
            target: self.target,
            id: self.id,
            layout: self.layout,
            fields: fields.collect(),
            parallel: self.parallel,
        };
        let mut engine = Engine::open_to_start(globals.options.clone(), &request)?;
        let answer = engine.start(&request)?;
        let view = &answer.view;
        let done = format!("started: {} ({})", engine::words::one_line(&view.title, 80), view.workflow.name);
        answered(&done, &answer, globals)
    }
}
