//! A session's documents beside its state: plan, lists, summaries and reviews. Finds which of these documents
//! exist, and which phases they prove.

use super::phase_and_size_names::{PhaseWord, Size};
use super::tasks::Tasks;
use crate::layout::Folder;
use crate::tree::{Entry, Tree};

/// The plan: the result of planning, and the basis of the implementation.
pub const PLAN: &str = "IMPL_PLAN.md";
/// The name of a native session's plan.
pub(super) const NATIVE_PLAN: &str = "PLAN.md";
const TODO: &str = "TODO_LIST.md";
pub(super) const REVIEW: &str = "REVIEW.md";
const SUMMARIES: &str = ".summaries";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The path below the session's folder; the path of a folder stands for the files in it.
    pub path: &'static str,
    /// True if the document exists and has content of its own; an unedited template does not count.
    pub says_something: bool,
    /// The number of files, if the document is a folder.
    pub files: usize,
}

pub(super) fn of(tree: &Tree, folder: &str) -> Vec<Document> {
    let file = |path: &'static str| Document {
        path,
        says_something: says_something(tree, &format!("{folder}/{path}"), path == PLAN),
        files: usize::from(tree.get(&format!("{folder}/{path}")).is_some()),
    };
    let whole = |path: &'static str| {
        let files = tree.names_in(&format!("{folder}/{path}")).count();
        Document { path, says_something: files > 0, files }
    };
    vec![
        file(PLAN),
        file(TODO),
        file(REVIEW),
        file("test-results.json"),
        whole(SUMMARIES),
        whole(".brainstorming"),
        whole("reports"),
        whole("issues"),
    ]
}

/// Paths of all documents with content of their own, below the home.
pub(super) fn files(tree: &Tree, folder: &str) -> Vec<String> {
    let there = of(tree, folder).into_iter().filter(|document| document.says_something);
    let paths = there.flat_map(|document| {
        let path = format!("{folder}/{}", document.path);
        let inside: Vec<String> = tree.names_in(&path).map(|name| format!("{path}/{name}")).collect();
        if tree.has_folder(&path) { inside } else { vec![path] }
    });
    paths.filter(|path| tree.has_file(path)).collect()
}

/// The files of a session from another layout. The plan is renamed to the file name that Claude-Code-Workflow
/// expects.
pub(super) fn with_plan(folder: &Folder<'_>) -> Tree {
    let at = super::place::folder_in(folder.spot, folder.tree);
    let (plan, native) = (format!("{at}/{PLAN}"), format!("{at}/{NATIVE_PLAN}"));
    let mut tree = folder.tree.clone();
    if let Some(content) = folder.tree.content(&native).filter(|_| folder.tree.get(&plan).is_none()) {
        tree.insert(plan, Entry::File(content.to_vec()));
    }
    tree
}

pub(super) fn has(documents: &[Document], path: &str) -> bool {
    documents.iter().any(|document| document.path == path && document.says_something)
}

/// The phase that the documents and tasks suggest. Used if the state file names no valid phase.
pub(super) fn approximate(documents: &[Document], tasks: &Tasks, size: Option<Size>) -> PhaseWord {
    if has(documents, REVIEW) {
        return PhaseWord::Review;
    }
    if tasks.count() > 0 || has(documents, SUMMARIES) || size == Some(Size::Simple) {
        return PhaseWord::Implement;
    }
    PhaseWord::Plan
}

/// The plan template of a new session.
pub(super) fn template(title: &str, goal: Option<&str>) -> String {
    let title = title.replace(['\r', '\n'], " ");
    // The goal is written as a comment, because the gate would accept other text as a plan.
    let goal = goal.unwrap_or(&title).replace(['\r', '\n'], " ").replace("--", "- ");
    format!(
        "# Implementation plan: {title}\n\n\
         ## Requirements\n\n<!-- What is wanted: {goal} -->\n\n\
         ## Approach\n\n<!-- How it will be built, and which files it touches. -->\n\n\
         ## Tasks\n\n<!-- One line for each task. -->\n\n\
         ## Acceptance\n\n<!-- How to tell that it is done. -->\n"
    )
}

/// True if a document has content of its own. A plan has content if a line is neither a heading nor a
/// comment; its gate demands the same.
fn says_something(tree: &Tree, path: &str, is_plan: bool) -> bool {
    match tree.content(path) {
        Some(content) if is_plan => {
            let text = String::from_utf8_lossy(content);
            text.lines().map(str::trim_start).any(|line| !line.is_empty() && !line.starts_with(['#', '<']))
        }
        Some(_) | None => tree.has_file(path),
    }
}
