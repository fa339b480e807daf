//! Tests of a session that is imported from another project and exported again. Every key that names a file
//! must name an existing one.

use super::*;

const KEYS: [(&str, &str); 5] = [
    ("thesis_file", "stage-1-thesis.md"),
    ("development_log", "stage-1-development-log.md"),
    ("outline_file", "stage-2-outline.md"),
    ("draft_file", "stage-4-draft.md"),
    ("paragraph_log", "stage-4-paragraph-log.md"),
];

/// A state with absolute paths below this folder, as the pipeline writes them.
fn state_in(place: &str) -> String {
    let named = |(key, file): (&str, &str)| format!("    {key}: \"{place}/{file}\"\n");
    let [thesis, log, outline, draft, paragraphs] = KEYS.map(named);
    format!(
        "started_at: \"2026-11-14T09:00:00Z\"\nlast_activity: \"2026-11-14T09:50:00Z\"\nstatus: in_progress\n\
         session_dir: \"{place}\"\ncurrent_stage: 4\ncurrent_stage_name: paragraph_writing\nstages:\n  \
         stage_1:\n    status: completed\n{thesis}{log}  stage_2:\n    status: completed\n{outline}  \
         stage_3:\n    status: completed\n  stage_4:\n    status: in_progress\n{draft}{paragraphs}"
    )
}

#[test]
fn a_session_of_another_project_names_its_own_files_after_an_export() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    let place = sandbox.folder().join("other").join(FOLDER);
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("session-state.yaml"), state_in(place.to_str().unwrap())).unwrap();
    for (_, file) in KEYS {
        std::fs::write(place.join(file), "# Words\n").unwrap();
    }
    sandbox.run(["import", place.to_str().unwrap()]).ok();
    let out = sandbox.folder().join("out");
    sandbox.run(["export", "--layout", "essay", out.to_str().unwrap(), "--session", FOLDER]).ok();
    let there = out.join(FOLDER);
    let written = std::fs::read_to_string(there.join("session-state.yaml")).unwrap();
    for (key, file) in KEYS {
        let line = format!("    {key}: \"{}\"\n", there.join(file).display());
        assert!(written.contains(&line), "{line:?} is not in\n{written}");
        assert!(there.join(file).exists(), "{file} came along");
    }
}
