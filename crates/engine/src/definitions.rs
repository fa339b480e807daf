//! Finds workflow definitions: the project's own, then the built-in ones. The module `of_other_tools` finds those of
//! other tools. Compiles the expressions of definitions; runs nothing.

mod differences;
mod of_other_tools;

pub(crate) use differences::differences;
pub(crate) use of_other_tools::{are_any, are_elsewhere, is_there, of_layout, only_one, unnamed};

use crate::checks;
use crate::error::{Error, FileMistake, Result, WorkflowPlace};
use crate::hex;
use crate::project::Project;
use layouts::builtin;
use layouts::definition::{self, Reading};
use model::id::Name;
use model::nearest_name::nearest;
use model::session::Session;
use model::workflow::Workflow;
use sha2::{Digest, Sha256};
use std::io::ErrorKind;
use std::path::PathBuf;

/// The text of a definition, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// The path of the definition's file, or `built-in NAME`.
    pub origin: String,
    /// True if the definition is built into the program.
    pub is_builtin: bool,
    pub text: String,
    /// The layout whose files define the workflow; `None` for a definition in leftoff's own format.
    pub layout: Option<&'static str>,
}

/// Says if a definition can be used to start a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Checked {
    Good(Box<Workflow>),
    /// The phases of the workflow depend on the target of a session. Contains an explanation.
    OfItsTarget(String),
    Mistaken(Vec<FileMistake>),
}

/// A workflow in a list, on one line, with the mistakes in its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowLine {
    pub name: String,
    pub origin: String,
    /// True if the definition is built into the program.
    pub is_builtin: bool,
    pub layout: Option<&'static str>,
    pub checked: Checked,
}

impl Source {
    pub(crate) fn hash(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }
}

/// Loads the definition of this name and checks it.
pub(crate) fn load(project: &Project, name: &str) -> Result<Workflow> {
    let source = find(project, name)?;
    let workflow = check(&source).map_err(|mistakes| Error::BadDefinition { mistakes })?;
    if workflow.name.as_str() != name && !source.is_builtin {
        return Err(Error::BadDefinition {
            mistakes: vec![FileMistake {
                path: source.origin,
                line: 1,
                message: format!("name is '{}', but the file's name is '{name}'", workflow.name),
                hint: None,
            }],
        });
    }
    Ok(workflow)
}

/// Returns the definition that this session would follow if it started now. The project's own definition has precedence
/// over a built-in one of the same name, so the result can differ from the definition that a run actually followed.
pub(crate) fn known_here(project: &Project, session: &Session, name: &str) -> Option<Workflow> {
    match layouts::layout::by_name(&session.layout) {
        Some(layout) => of_layout(project, layout, name, session.target.as_deref()).ok(),
        None => load(project, name).ok(),
    }
}

/// Returns a built-in definition. Foreign sessions follow it even if the project has its own definition of the same
/// name.
pub(crate) fn load_builtin(name: &str) -> Option<Workflow> {
    let found = builtin::find(name)?;
    check(&from_builtin(found.name, found.text)).ok()
}

/// Returns the text of a definition, unchecked.
pub(crate) fn find(project: &Project, name: &str) -> Result<Source> {
    let name = Name::parse(name).map_err(|why| Error::InvalidWorkflowName { asked: name.to_owned(), why })?;
    if let Some(source) = own(project, name.as_str())? {
        return Ok(source);
    }
    if let Some(found) = builtin::find(name.as_str()) {
        return Ok(from_builtin(found.name, found.text));
    }
    let elsewhere = of_other_tools::layout_with(project, name.as_str());
    let place = elsewhere.map_or(WorkflowPlace::Ours, WorkflowPlace::OursAndDefinedFor);
    Err(unknown(name.as_str(), names(project), place))
}

/// Returns the definition of this name: the project's own, else a built-in one, else another tool's.
pub(crate) fn find_any(project: &Project, name: &str) -> Result<(Source, Checked)> {
    match (find(project, name), of_other_tools::find(project, name)) {
        (Ok(source), _) => {
            let checked = checked(&source);
            Ok((source, checked))
        }
        (Err(Error::UnknownWorkflow { .. }), Some(found)) => Ok(found),
        (Err(error), _) => Err(error),
    }
}

fn unknown(name: &str, known: Vec<String>, place: WorkflowPlace) -> Error {
    let nearest = nearest(name, known.iter().map(String::as_str)).map(ToOwned::to_owned);
    Error::UnknownWorkflow { asked: name.to_owned(), nearest, known, place }
}

/// How a definition compares with the one that a run followed from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Same,
    /// The definition has another text now, or is unreadable.
    Changed,
    /// The project has no definition of this name: it was deleted, or the run came from another project.
    Missing,
}

/// Compares the definition of this name with the hash that a run recorded.
pub(crate) fn since(project: &Project, name: &str, hash: &str) -> Since {
    match find(project, name) {
        Ok(source) if source.hash() == hash => Since::Same,
        Err(Error::UnknownWorkflow { .. }) => Since::Missing,
        Ok(_) | Err(_) => Since::Changed,
    }
}

/// Returns every definition with its mistakes; those of other tools come last.
pub(crate) fn lines(project: &Project) -> Vec<WorkflowLine> {
    let own = all(project).into_iter().map(|source| {
        let checked = checked(&source);
        (source, checked)
    });
    own.chain(of_other_tools::all(project)).map(WorkflowLine::from).collect()
}

impl From<(Source, Checked)> for WorkflowLine {
    fn from((source, checked): (Source, Checked)) -> Self {
        Self {
            name: source.name,
            origin: source.origin,
            is_builtin: source.is_builtin,
            layout: source.layout,
            checked,
        }
    }
}

fn checked(source: &Source) -> Checked {
    check(source).map_or_else(Checked::Mistaken, |workflow| Checked::Good(Box::new(workflow)))
}

/// Returns every definition in leftoff's own format. A definition of the project replaces a built-in one of the same
/// name.
pub(crate) fn all(project: &Project) -> Vec<Source> {
    names(project).iter().filter_map(|name| find(project, name).ok()).collect()
}

/// Returns the definition, or all of its mistakes, including expressions that do not compile.
pub(crate) fn check(source: &Source) -> std::result::Result<Workflow, Vec<FileMistake>> {
    let Reading { workflow, lines } = definition::read(&source.text).map_err(|mistakes| {
        mistakes
            .into_iter()
            .map(|mistake| FileMistake {
                path: source.origin.clone(),
                line: mistake.line,
                message: mistake.message,
                hint: mistake.hint,
            })
            .collect::<Vec<_>>()
    })?;
    let mistakes = checks::mistakes(&workflow, &lines, &source.origin);
    if mistakes.is_empty() { Ok(workflow) } else { Err(mistakes) }
}

pub(crate) fn folder(project: &Project) -> PathBuf {
    project.folder().join("workflows")
}

fn own(project: &Project, name: &str) -> Result<Option<Source>> {
    let path = folder(project).join(format!("{name}.toml"));
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(Source {
            name: name.to_owned(),
            origin: path.display().to_string(),
            is_builtin: false,
            text,
            layout: None,
        })),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io(format!("reading {}", path.display()), error)),
    }
}

fn from_builtin(name: &str, text: &str) -> Source {
    Source {
        name: name.to_owned(),
        origin: format!("built-in {name}"),
        is_builtin: true,
        text: text.to_owned(),
        layout: None,
    }
}

impl Project {
    /// Returns the names of all workflows, each with the layout that defines it. Does not read the definitions.
    pub fn workflow_names(&self) -> Vec<(String, Option<&'static str>)> {
        let own = names(self);
        let theirs = of_other_tools::names(self).filter(|(name, _)| !own.contains(name));
        let theirs: Vec<_> = theirs.map(|(name, layout)| (name, Some(layout))).collect();
        own.into_iter().map(|name| (name, None)).chain(theirs).collect()
    }
}

fn names(project: &Project) -> Vec<String> {
    let mut names: Vec<String> = builtin::all().iter().map(|found| found.name.to_owned()).collect();
    for entry in std::fs::read_dir(folder(project)).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_definition = path.extension().is_some_and(|extension| extension == "toml");
        if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_definition)
            && !names.iter().any(|name| name == stem)
        {
            names.push(stem.to_owned());
        }
    }
    names.sort();
    names
}
