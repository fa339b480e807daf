//! Questions about a session's files that only a person can answer.

use crate::layout::{Folder, Layout};
use crate::problem::Problem;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The files do not show where the session is. `report` is in the words of the tool.
    WhereToResume { report: String },
    /// The files contradict each other. The user must confirm before the session is resumed.
    Discrepancy { problem: Problem, remedy: &'static str },
}

/// The tool's report if the files do not show where the session is. `None` if they do.
pub fn where_to_resume(layout: &dyn Layout, folder: &Folder<'_>) -> Option<String> {
    layout.questions(folder).into_iter().find_map(|question| match question {
        Question::WhereToResume { report } => Some(report),
        Question::Discrepancy { .. } => None,
    })
}
