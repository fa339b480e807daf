//! `leftoff start`

use crate::arguments::pair;
use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use engine::{Answer, Engine, FoundList, Intent, ListRequest, OnDiscrepancy, Request, StartRequest, Taking};
use model::hint::Hint;
use model::lifecycle::Lifecycle;
use model::typed_value::Given;
use model::words;

/// Start a session here, and print the next step
///
/// The session becomes the active one of this worktree. The previous one is paused if it is a native session or one of
/// ccw, which allow one active session at a time. If another live agent works on the previous session, it stays active
/// and the new one runs beside it. Sessions of ocr, praxis and essay stay active. If leftoff is not set up in this
/// folder yet, it is set up first.
#[derive(Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff start\n  leftoff start review --target src/auth --title \"Review of the log-in\"\n  leftoff start spec --goal \"Exports run in the background\" --set ticket=ABC-12\n  leftoff start --from specs/001-albums"
)]
pub struct Start {
    /// The workflow, from `leftoff workflow list` [default: the one in .leftoff/config.toml, else
    /// plan-implement-review]
    workflow: Option<String>,
    /// A short name for the session [default: from the goal, else the branch, else the workflow]
    #[arg(long)]
    title: Option<String>,
    /// The goal, in a sentence; every brief begins with it
    #[arg(long)]
    goal: Option<String>,
    /// The subject of the work: a path, a branch, a ticket
    #[arg(long)]
    target: Option<String>,
    /// The size of the work; stored as the field `type`
    #[arg(long = "type", value_parser = ["simple", "medium", "complex"])]
    size: Option<String>,
    /// An id of your own [default: eight random characters]
    #[arg(long)]
    id: Option<String>,
    /// The layout of the session's files: native, ocr, ccw, praxis, essay; native has no files [default: the one in
    /// .leftoff/config.toml, or else that of the only tool with sessions here, or else native]
    #[arg(long)]
    layout: Option<String>,
    /// A custom field of the session; may be repeated
    #[arg(long = "set", value_name = "K=V", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Run beside the active session instead of pausing it
    #[arg(long)]
    parallel: bool,
    /// A task list whose tasks become items: a file or folder that `leftoff import` can read. If this worktree has an
    /// unfinished session that was started from this list, that session is resumed and updated
    #[arg(long, value_name = "PATH", conflicts_with_all = ["parallel", "paused"])]
    from: Option<String>,
    /// Create the session without activating it; `resume` or `switch` activates it
    #[arg(long, conflicts_with = "parallel")]
    paused: bool,
}

impl Run for Start {
    fn run(self, globals: &Globals) -> Outcome {
        if let Some(path) = &self.from {
            return self.start_from_list(path, globals);
        }
        self.started(globals).and_then(|(done, answer)| answered(&done, &answer, globals))
    }
}

impl Start {
    /// Imports the tasks of a list as items. If an unfinished session was started from the list, that session is
    /// resumed; otherwise a new one is started.
    fn start_from_list(&self, path: &str, globals: &Globals) -> Outcome {
        let engine = globals.open(Intent::Create)?;
        let list = FoundList::at(path, engine.project())?.ok_or_else(|| no_list(path))?;
        let known = started_from(&engine, &list.path)?;
        let (done, session, said) = if let Some(id) = known {
            let named = globals.naming(Some(id));
            let (on, taking) = (OnDiscrepancy::Continue, Taking::Refused);
            let answer = named.command()?.execute(Request::Resume { session: None, on, taking })?;
            (format!("continues from {}", list.path), answer.view.session_id, answer.said)
        } else {
            let mut own = self.clone();
            own.title = own.title.or_else(|| list.title.clone());
            own.set.push((engine::FROM.to_owned(), list.path.clone()));
            let (done, answer) = own.started(globals)?;
            (done, answer.view.session_id, answer.said)
        };
        let named = globals.naming(Some(session));
        let mut answer = named.command()?.execute(Request::ImportTasks(list))?;
        answer.said.splice(0..0, said);
        answered(&done, &answer, globals)
    }

    fn started(&self, globals: &Globals) -> Result<(String, Answer), Failure> {
        let this = self.clone();
        let size = this.size.map(|size| ("type".to_owned(), size));
        let fields = this.set.into_iter().chain(size).map(|(name, value)| (name, Given::Text(value)));
        let request = StartRequest {
            workflow: this.workflow,
            title: this.title,
            goal: this.goal,
            target: this.target,
            id: this.id,
            layout: this.layout,
            fields: fields.collect(),
            parallel: self.parallel,
            paused: self.paused,
        };
        let mut engine = request.open(globals.options.clone())?;
        let answer = engine.execute(Request::Start(request))?;
        let view = &answer.view;
        let verb = if self.paused { "created, paused" } else { "started" };
        let done = format!("{verb}: {} ({})", engine::words::one_line(&view.title, 80), view.workflow.name);
        Ok((done, answer))
    }
}

/// The error for a path that is not a task list. If the path is a folder, the error names the lists below it.
fn no_list(path: &str) -> Failure {
    const NAMED: usize = 3;
    if !std::path::Path::new(path).exists() {
        let message = format!("there is no file or folder {path}");
        return Failure::wrong_usage(message, "name a task list, or a folder with one");
    }
    let message = format!("{path} is not a task list");
    let below = FoundList::below(path);
    let Some((first, others)) = below.split_first() else {
        let hint = "name a Markdown file with check boxes, a tasks.json, or a folder with one of these";
        return Failure::wrong_usage(message, hint);
    };
    let others = others.iter().take(NAMED);
    let hint = Hint::new("task lists below this folder: ").run(words!["start", "--from", first]);
    Failure::wrong_usage(message, others.fold(hint, |hint, other| hint.then(format!(", {other}"))))
}

/// The id of the unfinished session in this worktree that was started from this list.
fn started_from(engine: &Engine, list: &str) -> engine::Result<Option<String>> {
    let lifecycles = Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec();
    let started_from = Some(list.to_owned());
    let request = ListRequest { lifecycles, started_from, ..ListRequest::default() };
    Ok(engine.sessions().list(&request)?.sessions.into_iter().next().map(|line| line.session_id))
}
