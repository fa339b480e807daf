//! Finds workflow definitions: the project's own first, then the built-in ones. Compiles their expressions, runs nothing.

use crate::checks;
use crate::error::{Error, FileMistake, Result};
use crate::hex;
use crate::place::Project;
use crate::sync::tree;
use layouts::builtin;
use layouts::definition::{self, Lines, Reading};
use layouts::layout::{Asked, Defined, Layout};
use layouts::tree::Tree;
use model::id::Name;
use model::nearest::nearest;
use model::workflow::Workflow;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A definition's text and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// A path, or `built-in NAME`.
    pub origin: String,
    pub text: String,
}

impl Source {
    pub(crate) fn hash(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }
}

/// The definition of this name, checked.
pub(crate) fn load(project: &Project, name: &str) -> Result<Workflow> {
    let source = find(project, name)?;
    let workflow = check(&source).map_err(|mistakes| Error::BadDefinition { mistakes })?;
    if workflow.name.as_str() != name && source.origin != builtin_origin(name) {
        return Err(Error::BadDefinition {
            mistakes: vec![FileMistake {
                path: source.origin,
                line: 1,
                message: format!("name is '{}', expected '{name}' as the file is called", workflow.name),
                hint: None,
            }],
        });
    }
    Ok(workflow)
}

/// What a session of a layout follows: what its own files define, else what its own tool knows by this name, whatever
/// the project calls its own.
pub(crate) fn of_layout(
    project: &Project,
    layout: &dyn Layout,
    name: &str,
    target: Option<&str>,
) -> Result<Workflow> {
    let mut tree = Tree::default();
    let mut missing = BTreeSet::new();
    let ask = |tree: &Tree, missing: &BTreeSet<String>| {
        let missing: Vec<String> = missing.iter().cloned().collect();
        layout.define(&Asked { name, target, tree, missing: &missing })
    };
    tree::add(&project.root, &mut tree, &mut missing, |tree, missing| match ask(tree, missing) {
        Defined::Needs(paths) => paths,
        Defined::Elsewhere | Defined::Found(_) | Defined::Unknown(_) | Defined::Refused(_) => Vec::new(),
    });
    match ask(&tree, &missing) {
        Defined::Elsewhere => load_builtin(name).map_or_else(|| load(project, name), Ok),
        Defined::Found(reading) => compiled(reading.value),
        Defined::Needs(_) => unknown(name, Vec::new()),
        Defined::Unknown(folders) => {
            unknown(name, folders.iter().flat_map(|folder| folders_in(project, folder)).collect())
        }
        Defined::Refused(why) => Err(Error::BadDefinition {
            mistakes: why
                .into_iter()
                .map(|oddity| FileMistake { path: oddity.path, line: 1, message: oddity.message, hint: None })
                .collect(),
        }),
    }
}

/// Whether sessions of a layout follow definitions of its own.
pub(crate) fn are_elsewhere(layout: &str, name: &str) -> bool {
    let tree = Tree::default();
    layouts::layout::by_name(layout).is_some_and(|layout| {
        layout.define(&Asked { name, target: None, tree: &tree, missing: &[] }) != Defined::Elsewhere
    })
}

/// Expressions that came out of a translation compile, or the definition is not used.
fn compiled(workflow: Workflow) -> Result<Workflow> {
    let mistakes = checks::mistakes(&workflow, &Lines::default(), workflow.name.as_str());
    if mistakes.is_empty() { Ok(workflow) } else { Err(Error::BadDefinition { mistakes }) }
}

fn unknown(name: &str, mut known: Vec<String>) -> Result<Workflow> {
    known.sort();
    Err(Error::UnknownWorkflow {
        nearest: nearest(name, known.iter().map(String::as_str)).map(ToOwned::to_owned),
        asked: name.to_owned(),
        known,
    })
}

fn folders_in(project: &Project, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(project.root.join(folder)).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// A built-in definition: what foreign sessions follow, whatever the project calls its own.
pub(crate) fn load_builtin(name: &str) -> Option<Workflow> {
    let found = builtin::find(name)?;
    check(&from_builtin(found.name, found.text)).ok()
}

/// The text of a definition, unchecked.
pub(crate) fn find(project: &Project, name: &str) -> Result<Source> {
    let name = Name::parse(name).map_err(|why| Error::InvalidWorkflowName { asked: name.to_owned(), why })?;
    if let Some(source) = own(project, name.as_str())? {
        return Ok(source);
    }
    if let Some(found) = builtin::find(name.as_str()) {
        return Ok(from_builtin(found.name, found.text));
    }
    let known = names(project);
    Err(Error::UnknownWorkflow {
        nearest: nearest(name.as_str(), known.iter().map(String::as_str)).map(ToOwned::to_owned),
        asked: name.to_string(),
        known,
    })
}

/// Whether the definition of this name is no longer the one with this hash. Unreadable counts as changed.
pub(crate) fn changed_since(project: &Project, name: &str, hash: &str) -> bool {
    find(project, name).map_or(true, |source| source.hash() != hash)
}

/// Every definition there is, the project's own in place of a built-in one of the same name.
pub(crate) fn all(project: &Project) -> Vec<Source> {
    names(project).iter().filter_map(|name| find(project, name).ok()).collect()
}

/// All mistakes of a definition, the engine's own (expressions that do not compile) among them.
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
        Ok(text) => Ok(Some(Source { name: name.to_owned(), origin: path.display().to_string(), text })),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io(format!("reading {}", path.display()), error)),
    }
}

fn from_builtin(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), origin: builtin_origin(name), text: text.to_owned() }
}

fn builtin_origin(name: &str) -> String {
    format!("built-in {name}")
}

pub(crate) fn names(project: &Project) -> Vec<String> {
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
