//! Exempts the files of a phase from the requirement that this phase satisfies. Otherwise the requirement would block
//! its own fulfilment.

use super::ToolCall;
use super::blocking::normalised;
use super::rules::Rules;
use crate::engine::Engine;
use layouts::requirements::Requirement;
use model::session::Session;
use model::workflow::{CheckKind, PhaseDefinition};
use std::path::{Path, PathBuf};

const ITEM: &str = "{item}";

impl Engine {
    /// True if a call writes only files of phases that satisfy this requirement.
    pub(super) fn writes_what_satisfies(
        &self,
        rules: &Rules,
        requirement: &Requirement,
        call: &ToolCall<'_>,
    ) -> bool {
        let Some(session) = &rules.session else { return false };
        if call.files.is_empty() || !requirement.is_proved_by_phase() {
            return false;
        }
        let patterns = self.files_of_phases(session, &requirement.phases);
        call.files.iter().all(|file| {
            let path = self.written_path(file);
            patterns
                .iter()
                .any(|pattern| is_named_by(pattern, &path) || is_named_by(pattern, &resolved(&path)))
        })
    }

    /// Returns the path of a file that an agent named.
    pub(super) fn written_path(&self, file: &str) -> PathBuf {
        let folder = self.options.project.as_deref().unwrap_or(&self.project.root);
        normalised(&folder.join(file))
    }

    fn files_of_phases(&self, session: &Session, phases: &[String]) -> Vec<PathBuf> {
        let Some(run) = session.run() else { return Vec::new() };
        let Some(definition) = self.definition(&run.workflow.hash).ok().flatten() else { return Vec::new() };
        let workspace = self.workspace(session);
        phases
            .iter()
            .filter_map(|phase| definition.phase(phase))
            .flat_map(named_files)
            .map(|path| workspace.join(self.file_of_run(session, run.ordinal, path)))
            .collect()
    }
}

fn named_files(phase: &PhaseDefinition) -> impl Iterator<Item = &str> {
    let checked = phase.checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Artifact { path, .. } => Some(path.as_str()),
        CheckKind::Expr { .. }
        | CheckKind::Command { .. }
        | CheckKind::Git { .. }
        | CheckKind::Items
        | CheckKind::Approval { .. } => None,
    });
    phase.produces.iter().map(String::as_str).chain(checked)
}

/// Returns the path with its folder in canonical form, because an agent may know the folder by a link.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

/// True if a path matches a pattern with a placeholder for an item. The item's name cannot contain a slash.
fn is_named_by(pattern: &Path, path: &Path) -> bool {
    let (pattern, path) = (pattern.to_string_lossy(), path.to_string_lossy());
    let Some((before, after)) = pattern.split_once(ITEM) else { return pattern == path };
    let Some(rest) = path.strip_prefix(before) else { return false };
    let mut ends = rest.char_indices().map(|(end, _)| end).skip(1).chain([rest.len()]);
    ends.any(|end| !rest[..end].contains('/') && rest[end..] == after.replace(ITEM, &rest[..end]))
}

#[cfg(test)]
mod tests {
    use super::is_named_by;
    use std::path::Path;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        assert_eq!(is_named_by(Path::new(pattern), Path::new(path)), expected, "{pattern} {path}");
    }

    #[test]
    fn a_path_is_the_patterns_own_or_that_of_one_item() {
        check("/w/PLAN.md", "/w/PLAN.md", true);
        check("/w/PLAN.md", "/w/PLAN.md.bak", false);
        check("/w/reviews/{item}.md", "/w/reviews/a-1.md", true);
        check("/w/reviews/{item}.md", "/w/reviews/.md", false);
        check("/w/reviews/{item}.md", "/w/reviews/x/a.md", false);
        check("/w/{item}/{item}.md", "/w/a/a.md", true);
        check("/w/{item}/{item}.md", "/w/a/b.md", false);
    }
}
