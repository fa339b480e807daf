//! Workflows that other tools define in their own files. This file reads their files, and a layout interprets them.

use super::{Checked, Source, load, load_builtin, unknown};
use crate::checks;
use crate::error::{Error, FileMistake, Result, WorkflowPlace};
use crate::project::Project;
use crate::walk;
use layouts::capabilities::OwnDefinitions;
use layouts::definition::Lines;
use layouts::layout::{self, Asked, Defined, Definitions, Layout, Need};
use layouts::problem::Problem;
use layouts::tree::Tree;
use model::hint::Hint;
use model::id::Name;
use model::words;
use model::workflow::Workflow;
use std::collections::BTreeSet;

/// Returns the workflow of a session in this layout, as the layout's own files define the workflow. If the layout has no
/// such files, returns the built-in workflow of this name, even if the project has a definition of the same name. If
/// there is no built-in workflow either, returns the project's workflow.
pub(crate) fn of_layout(
    project: &Project,
    layout: &dyn Layout,
    name: &str,
    target: Option<&str>,
) -> Result<Workflow> {
    let Some((_, defined)) = defined(project, layout, name, target) else {
        return load_builtin(name).map_or_else(|| load(project, name), Ok);
    };
    match defined {
        Defined::Found(reading) => {
            compiled(reading.value).map_err(|mistakes| Error::BadDefinition { mistakes })
        }
        Defined::Needs(_) | Defined::Unknown => Err(not_there(project, layout, name)),
        Defined::NeedsTarget(why) => Err(Error::NeedsTarget {
            why: Box::new(mistake(why)),
            workflow: name.to_owned(),
            layout: layout.facts().name,
        }),
        Defined::Refused(why) => {
            Err(Error::BadDefinition { mistakes: why.into_iter().map(mistake).collect() })
        }
    }
}

/// Returns the error for a session without a named workflow, if its layout uses workflows that the project defines.
pub(crate) fn unnamed(project: &Project, layout: &dyn Layout) -> Option<Error> {
    let known = known(project, places(layout)?);
    let good = |name: &&String| of_layout(project, layout, name, None).is_ok();
    let Some(example) = known.iter().find(good).or(known.first()) else {
        return Some(none_there(layout, None));
    };
    Some(Error::WrongUsage {
        message: format!("a session of {} needs the name of its workflow", layout.facts().title),
        hint: Hint::new(format!("defined here: {}; for example: ", known.join(", "))).run(words![
            "start",
            example,
            "--layout",
            layout.facts().name
        ]),
    })
}

/// Returns the workflow that sessions of a layout follow, if the project defines exactly one.
pub(crate) fn only_one(project: &Project, layout: &dyn Layout) -> Option<String> {
    let [only] = <[String; 1]>::try_from(known(project, places(layout)?)).ok()?;
    Some(only)
}

/// True if any workflow is defined here for this layout.
pub(crate) fn are_any(project: &Project, layout: &dyn Layout) -> bool {
    places(layout).is_some_and(|places| !known(project, places).is_empty())
}

/// True if a workflow of this name is defined here for this layout. Does not read the definition.
pub(crate) fn is_there(project: &Project, layout: &str, name: &str) -> bool {
    let Some(places) = layout::by_name(layout).and_then(places) else { return true };
    places.folders.iter().any(|folder| project.root.join(folder).join(name).join(places.file).is_file())
}

/// True if sessions of a layout follow definitions in the layout's own files.
pub(crate) fn are_elsewhere(layout: &str) -> bool {
    layout::by_name(layout).and_then(places).is_some()
}

fn places(layout: &dyn Layout) -> Option<Definitions> {
    layout.capabilities().own_definitions.map(OwnDefinitions::places)
}

pub(super) fn all(project: &Project) -> Vec<(Source, Checked)> {
    let of = |(layout, places): (&'static dyn Layout, Definitions)| {
        let names = known(project, places);
        names.into_iter().filter_map(move |name| found(project, layout, &name)).collect::<Vec<_>>()
    };
    with_definitions().flat_map(of).collect()
}

pub(super) fn find(project: &Project, name: &str) -> Option<(Source, Checked)> {
    with_definitions().find_map(|(layout, _)| found(project, layout, name))
}

pub(super) fn names(project: &Project) -> impl Iterator<Item = (String, &'static str)> {
    with_definitions().flat_map(move |(layout, places)| {
        known(project, places).into_iter().map(move |name| (name, layout.facts().name))
    })
}

/// Returns the layout that defines a workflow of this name.
pub(super) fn layout_with(project: &Project, name: &str) -> Option<&'static str> {
    names(project).find(|(known, _)| known == name).map(|(_, layout)| layout)
}

fn with_definitions() -> impl Iterator<Item = (&'static dyn Layout, Definitions)> {
    layout::all().iter().filter_map(|layout| Some((*layout, places(*layout)?)))
}

fn found(project: &Project, layout: &'static dyn Layout, name: &str) -> Option<(Source, Checked)> {
    let (tree, defined) = defined(project, layout, name, None)?;
    let checked = match defined {
        Defined::Needs(_) | Defined::Unknown => return None,
        Defined::Found(reading) => compiled(reading.value)
            .map_or_else(Checked::Mistaken, |workflow| Checked::Good(Box::new(workflow))),
        Defined::NeedsTarget(why) => Checked::OfItsTarget(why.to_string()),
        Defined::Refused(why) => Checked::Mistaken(why.into_iter().map(mistake).collect()),
    };
    let places = places(layout)?;
    let mut folders = places.folders.iter().map(|folder| format!("{folder}/{name}"));
    let origin = folders.find(|folder| tree.get(&format!("{folder}/{}", places.file)).is_some())?;
    let text = written(&origin, &tree);
    Some((
        Source { name: name.to_owned(), origin, is_builtin: false, text, layout: Some(layout.facts().name) },
        checked,
    ))
}

/// Returns the texts of all files of a folder, each under its path as a heading.
fn written(folder: &str, tree: &Tree) -> String {
    let part = |path: &str| {
        let text = String::from_utf8_lossy(tree.content(path)?);
        Some(format!("# {path}\n{}\n", text.trim_end_matches('\n')))
    };
    let is_its = |path: &&str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    tree.files().filter(is_its).filter_map(part).collect::<Vec<_>>().join("\n")
}

/// Returns a layout's definition of a workflow, and the files that define it; `None` if the layout's workflows are in
/// leftoff's format.
fn defined(
    project: &Project,
    layout: &dyn Layout,
    name: &str,
    target: Option<&str>,
) -> Option<(Tree, Defined)> {
    let definitions = layout.capabilities().own_definitions?;
    let mut tree = Tree::default();
    let ask = |tree: &Tree| definitions.define(&Asked { name, target, tree });
    walk::add(&project.root, &mut tree, |tree| match ask(tree) {
        Defined::Needs(paths) => paths.into_iter().map(Need::Content).collect(),
        Defined::Found(_) | Defined::Unknown | Defined::NeedsTarget(_) | Defined::Refused(_) => Vec::new(),
    });
    let defined = ask(&tree);
    Some((tree, defined))
}

/// Compiles the translated expressions. A definition with an expression that does not compile is refused.
fn compiled(workflow: Workflow) -> std::result::Result<Workflow, Vec<FileMistake>> {
    let mistakes = checks::mistakes(&workflow, &Lines::default(), workflow.name.as_str());
    if mistakes.is_empty() { Ok(workflow) } else { Err(mistakes) }
}

fn mistake(problem: Problem) -> FileMistake {
    FileMistake { message: problem.to_string(), path: problem.path, line: 1, hint: None }
}

/// Returns the error for a workflow that does not exist. leftoff does not make up phases for such a workflow.
fn not_there(project: &Project, layout: &dyn Layout, name: &str) -> Error {
    let places = places(layout);
    let known = places.map(|places| known(project, places)).unwrap_or_default();
    match places.and_then(|places| places.folders.first()).filter(|_| !known.is_empty()) {
        Some(folder) => unknown(name, known, WorkflowPlace::Theirs(folder)),
        None => none_there(layout, Some(name)),
    }
}

fn none_there(layout: &dyn Layout, asked: Option<&str>) -> Error {
    let places = places(layout);
    Error::NoWorkflowsOf {
        layout: layout.facts().title.to_owned(),
        asked: asked.map(ToOwned::to_owned),
        file: places.map(|places| places.file).unwrap_or_default(),
        folders: places.map(|places| places.folders).unwrap_or_default(),
    }
}

/// Returns the names of the folders that contain a workflow, each once, in order.
fn known(project: &Project, places: Definitions) -> Vec<String> {
    let entries = places.folders.iter().flat_map(|folder| {
        let place = project.root.join(folder);
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    });
    let is_one = |entry: &std::fs::DirEntry| entry.path().join(places.file).symlink_metadata().is_ok();
    let is_name = |name: &String| Name::parse(name).is_ok();
    let names = entries.filter(is_one).filter_map(|entry| entry.file_name().into_string().ok());
    let names: BTreeSet<String> = names.filter(is_name).collect();
    names.into_iter().collect()
}
