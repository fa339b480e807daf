//! `is_whole` and `read` must agree about every state file: `read` must accept content that `is_whole`
//! accepts. Verdicts depend on `is_whole`, and messages on `read`.

use crate::layout::{self, Folder, Layout, ReadAs};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;

/// Contents that a layout may or may not accept.
const CONTENTS: &[&str] = &[
    "",
    " \n",
    "{}",
    "[]",
    "null",
    "7",
    "{\"session_id\": \"a\"",
    "{\"session_id\": \"a\"}",
    "{\"session_id\": 7}",
    "{\"id\": \"IMPL-1\", \"title\": \"One\"}",
    "{\"current_phase\": \"context\", \"phase_number\": 1}",
    "{\"workflow_type\": 7, \"current_phase\": 1}",
    "{\"workflow_type\": \"ship_v1\", \"current_phase\": 1, \"completed_phases\": [0]}",
    "{\"completed_phases\": \"all\"}",
    "{\"checkpoints\": []}",
    "{\"current_phase\": NaN}",
    "session_id: a\n",
    "- one\n",
    "text",
    "a: [1\n",
    "version: 1\nsession:\n  id: a\nstages: {}\n",
    "\u{feff}{\"session_id\": \"a\"}",
    "\u{0}",
];

/// A session's path, and its state files below its home.
const SESSIONS: &[(&str, &str, bool, &[&str])] = &[
    ("ocr", ".ocr/sessions/2026-11-14-main", true, &["state.json"]),
    (
        "ccw",
        ".workflow/WFS-one",
        true,
        &["WFS-one/workflow-session.json", "WFS-one/.task/IMPL-1.json", "session_status.jsonl"],
    ),
    (
        "praxis",
        ".praxis-os/.cache/state/5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77.json",
        false,
        &[".praxis-os/.cache/state/5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77.json"],
    ),
    ("essay", "essay-pipeline-20261114-100000", true, &["session-state.yaml"]),
];

fn is_unreadable(layout: &dyn Layout, path: &str, is_folder: bool, file: &str, content: &str) -> bool {
    let spot = layout.identify(path, is_folder).unwrap_or_else(|| panic!("{path} is not a session"));
    let mut tree = Tree::default();
    if file.contains(".task") {
        tree.insert("WFS-one/workflow-session.json", Entry::File(b"{\"session_id\": \"WFS-one\"}".to_vec()));
    }
    tree.insert(file, Entry::File(content.as_bytes().to_vec()));
    let folder = Folder {
        spot: &spot,
        id: &spot.id,
        worktree: "/project",
        tree: &tree,
        now: Timestamp::UNIX_EPOCH,
        read_as: ReadAs::Found,
    };
    let told = layout.read(&folder).value;
    told.unreadable.iter().chain(&told.unreadable_parts).any(|unreadable| unreadable == file)
}

#[test]
fn what_is_whole_is_never_told_as_unreadable_nor_the_other_way_round() {
    for (name, path, is_folder, files) in SESSIONS {
        let layout = layout::by_name(name).unwrap();
        for file in *files {
            for content in CONTENTS {
                assert_eq!(
                    layout.is_whole(file, content.as_bytes()),
                    !is_unreadable(layout, path, *is_folder, file, content),
                    "{name}: {file}: {content:?}"
                );
            }
        }
    }
}
