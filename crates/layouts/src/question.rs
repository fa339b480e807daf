//! Questions about a session's files that only a person can answer.

use crate::layout::{Folder, Layout};
use crate::problem::Problem;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The files do not contain the session's position. `report` is in the tool's own words.
    WhereToResume { report: String },
    /// Something is inconsistent. Whoever resumes the session is asked first.
    Discrepancy { problem: Problem, remedy: &'static str },
}

/// The report for a session whose position is unknown; `None` otherwise.
pub fn where_to_resume(layout: &dyn Layout, folder: &Folder<'_>) -> Option<String> {
    layout.questions(folder).into_iter().find_map(|question| match question {
        Question::WhereToResume { report } => Some(report),
        Question::Discrepancy { .. } => None,
    })
}
