//! The tools. Each is in a file of its own: a table from which the schema is made, and the call of the engine. They are
//! few and short, because a client pays for the list of tools in every conversation.

mod advance;
mod brief;
mod control;
mod item;
mod note;
mod requirements;
mod schema;
mod start;
mod status;

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::error::Mishap;
use engine::{Engine, Intent, ListRequest, Options, Progress, Watcher};
use rmcp::model::{Tool, ToolAnnotations};
use schema::{Field, Parameter, input, output};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// One tool: its description for models, and its function.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    description: &'static str,
    parameters: &'static [Parameter],
    /// The fields of the tool's structured content, in addition to the common ones.
    fields: &'static [Field],
    effect: Effect,
    run: fn(&mut Call) -> Result<Answer, Mishap>,
}

/// The effect of a tool, as the protocol's hints describe it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    /// Adds data. A repeated call may add more data.
    Adds,
    /// Adds data. A repeated call adds nothing.
    AddsOnce,
    /// May reopen finished work or archive files.
    TakesBack,
}

const ENTRIES: &[Entry] = &[
    status::ENTRY,
    brief::ENTRY,
    start::ENTRY,
    advance::ENTRY,
    item::ENTRY,
    note::ENTRY,
    control::ENTRY,
    requirements::ENTRY,
];

/// A call of a tool. Each call has its own thread and engine, so that many calls can run at the same time.
pub(crate) struct Call {
    pub(crate) arguments: Arguments,
    options: Options,
    progress: Option<Tell>,
}

impl Call {
    /// Opens an engine for this call. A client of the protocol never counts as a person at a terminal.
    pub(crate) fn open(&self, intent: Intent) -> Result<Engine, Mishap> {
        let engine = Engine::open(self.options.clone(), intent)?;
        Ok(engine)
    }

    /// Opens an engine for a call that may take long. The engine reports progress.
    pub(crate) fn open_for_checks(&mut self, intent: Intent) -> Result<Engine, Mishap> {
        if let Some(tell) = self.progress.take() {
            self.options.watcher = Watcher::new(move |progress| {
                if let Progress::Check { check, elapsed, .. } = progress {
                    tell(format!("check {check} has been running for {} s", elapsed.as_secs()));
                }
            });
        }
        self.open(intent)
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.options.session.as_deref()
    }
}

/// The paths of files named by a model. The names are relative to the project's folder, not to the server's current
/// folder.
fn paths(engine: &Engine, names: &[String]) -> Vec<PathBuf> {
    names.iter().map(|name| engine.project().root.join(name)).collect()
}

/// Adds the sessions that changed last to an error about an unknown session.
fn with_sessions(mut mishap: Mishap, options: &Options) -> Mishap {
    const MOST_LISTED: usize = 10;
    if mishap.kind != "unknown_session" {
        return mishap;
    }
    let options = Options { session: None, ..options.clone() };
    let listed = Engine::open(options, Intent::Query)
        .and_then(|engine| engine.sessions().list(&ListRequest::default()));
    let ids =
        listed.map(|listing| listing.sessions).unwrap_or_default().into_iter().map(|line| line.session_id);
    let others: Vec<String> = ids.filter(|id| !mishap.valid.contains(id)).take(MOST_LISTED).collect();
    mishap.valid.extend(others);
    mishap
}

/// Reports progress to the caller.
pub(crate) type Tell = Box<dyn Fn(String) + Send + Sync>;

pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

pub(crate) fn names() -> Vec<&'static str> {
    ENTRIES.iter().map(|entry| entry.name).collect()
}

pub(crate) fn list() -> Vec<Tool> {
    ENTRIES.iter().map(Entry::tool).collect()
}

impl Entry {
    pub(crate) fn tool(&self) -> Tool {
        let mut tool = Tool::new(self.name, self.description, input(self.parameters()));
        tool.output_schema = Some(output(self.fields).into());
        tool.annotations = Some(self.hints());
        tool
    }

    /// Runs the tool on the current thread.
    pub(crate) fn call(
        &self,
        mut options: Options,
        given: Map<String, Value>,
        progress: Option<Tell>,
    ) -> Result<Answer, Mishap> {
        let known: Vec<&str> = self.parameters().map(|parameter| parameter.name).collect();
        let arguments = Arguments::read(given, &known)?;
        options.session = arguments.name("session")?.or(options.session);
        options.key = arguments.name("key")?;
        let mut call = Call { arguments, options, progress };
        (self.run)(&mut call).map_err(|mishap| with_sessions(mishap, &call.options))
    }

    /// The tool's own parameters, and those that all tools have.
    fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let key = (self.effect != Effect::Reads).then_some(&schema::KEY);
        self.parameters.iter().chain(&schema::EVERYWHERE).chain(key)
    }

    fn hints(&self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        match self.effect {
            Effect::Reads => hints.read_only(true),
            Effect::AddsOnce => hints.destructive(false).idempotent(true),
            Effect::Adds => hints.destructive(false).idempotent(false),
            Effect::TakesBack => hints.destructive(true).idempotent(false),
        }
    }
}
