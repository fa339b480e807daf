//! Questions about a session's files that only a person can answer.

use crate::layout::{Folder, Layout};
use crate::problem::Problem;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Nothing in the files tells where the session stands: the tool's own report about it.
    WhereToResume { report: String },
    /// Something does not fit together. Whoever resumes the session is asked about it first.
    Discrepancy { problem: Problem, remedy: &'static str },
}

/// The report of a session of which nothing tells where it stands; none as long as something does.
pub fn where_to_resume(layout: &dyn Layout, folder: &Folder<'_>) -> Option<String> {
    layout.questions(folder).into_iter().find_map(|question| match question {
        Question::WhereToResume { report } => Some(report),
        Question::Discrepancy { .. } => None,
    })
}
