//! Requests for workflows that are defined in a layout's own files, and the answers. Reads no files.

use crate::problem::Problem;
use crate::reading::Reading;
use crate::tree::Tree;
use model::workflow::Workflow;

/// The location of a layout's own workflows. Each workflow has a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definitions {
    /// The folders to search, below the project's folder. The first folder that contains the workflow is
    /// used.
    pub folders: &'static [&'static str],
    /// The file by which a folder is recognised as a workflow.
    pub file: &'static str,
}

/// A request for a workflow with this name.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub name: &'a str,
    /// The target of the session. The definition may depend on it.
    pub target: Option<&'a str>,
    /// The part of the project that was read so far, and the paths that are missing. Paths are relative to
    /// the project's folder.
    pub tree: &'a Tree,
}

/// A layout's answer about a workflow.
#[derive(Debug, Clone, PartialEq)]
pub enum Defined {
    /// The answer depends on these files, which must be read first. A file that does not exist must be
    /// recorded as missing.
    Needs(Vec<String>),
    Found(Box<Reading<Workflow>>),
    /// There is no workflow with this name.
    Unknown,
    /// The phases depend on the target of the session, and the given target does not define them.
    NeedsTarget(Problem),
    /// The workflow cannot be used. Each problem is one reason.
    Refused(Vec<Problem>),
}
