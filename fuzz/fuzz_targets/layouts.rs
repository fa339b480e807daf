//! The files of another tool's session, in every layout: the first byte chooses the layout, the second the file.
#![no_main]

use layouts::layout::{Depth, Folder, ReadAs, all};
use layouts::tree::{Entry, Tree};

/// A session of each layout, with files that its tool would write.
const PLACES: [(&str, bool, &[&str]); 4] = [
    (".ocr/sessions/2026-11-14-x", true, &["state.json", "rounds/round-1/final.md", "context.md"]),
    (".workflow/WFS-x", true, &["workflow-session.json", ".task/impl-1.json", "../workflow_status.json"]),
    (".praxis-os/.cache/state/5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77.json", false, &["5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77.json"]),
    ("essay-pipeline-20261114-100000", true, &["session-state.yaml", "outline.md"]),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [which, file, content @ ..] = bytes else { return };
    let at = usize::from(*which) % PLACES.len();
    let (path, is_folder, names) = PLACES[at];
    let layout = all()[at];
    let Some(spot) = layout.identify(path, is_folder) else { return };
    let mut tree = Tree::default();
    let name = names[usize::from(*file) % names.len()];
    tree.insert(name, Entry::File(content.to_vec()));
    let _ = layout.more_files(&spot, &tree, Depth::Whole);
    let now = jiff::Timestamp::from_second(1_763_000_000).expect("in range");
    let folder = Folder { spot: &spot, id: &spot.id, worktree: "/w", tree: &tree, now, read_as: ReadAs::Found };
    let _ = layout.read(&folder);
    let _ = layout.questions(&folder);
    let _ = layout.is_whole(name, content);
});
