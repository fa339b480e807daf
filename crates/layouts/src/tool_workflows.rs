//! Requests for workflows that a layout's own files define, and the answers. Reads nothing itself.

use crate::problem::Problem;
use crate::reading::Reading;
use crate::tree::Tree;
use model::workflow::Workflow;

/// The location of a layout's own workflows: one folder each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definitions {
    /// The folders to search, below the project's folder; the first match wins.
    pub folders: &'static [&'static str],
    /// The file that makes a folder a workflow.
    pub file: &'static str,
}

/// A request for a workflow by name.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub name: &'a str,
    /// The session's target; a definition may depend on it.
    pub target: Option<&'a str>,
    /// The part of the project read so far, including missing files; paths are relative to its folder.
    pub tree: &'a Tree,
}

/// A layout's answer about a workflow.
#[derive(Debug, Clone, PartialEq)]
pub enum Defined {
    /// These files must be read first. Missing files stay out of the tree.
    Needs(Vec<String>),
    Found(Box<Reading<Workflow>>),
    /// There is no workflow with this name.
    Unknown,
    /// The workflow's phases depend on the session's target, and the given target does not define them.
    NeedsTarget(Problem),
    /// The workflow is unusable, with one line per reason.
    Refused(Vec<Problem>),
}
