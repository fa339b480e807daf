//! Workflows that a layout's own files define: how they are asked for, and what comes of it. Reads nothing itself.

use crate::problem::Problem;
use crate::reading::Reading;
use crate::tree::Tree;
use model::workflow::Workflow;

/// Where a layout's own workflows are: a folder for each, of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definitions {
    /// Below the project's folder; the first that has a workflow of a name counts.
    pub folders: &'static [&'static str],
    /// The file that makes a folder in one of them a workflow.
    pub file: &'static str,
}

/// A workflow that is asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub name: &'a str,
    /// What the session is to be about; a definition may depend on it.
    pub target: Option<&'a str>,
    /// What was read of the project so far, and what was not there; paths are relative to its folder.
    pub tree: &'a Tree,
}

/// What a layout's own files say about a workflow.
#[derive(Debug, Clone, PartialEq)]
pub enum Defined {
    /// These files must be read first; one that is not there stays out of the tree.
    Needs(Vec<String>),
    Found(Box<Reading<Workflow>>),
    /// There is no such workflow.
    Unknown,
    /// Which phases it has is its target's to say, and none was given that says it.
    NeedsTarget(Problem),
    /// It is not usable; why, a line for each reason.
    Refused(Vec<Problem>),
}
