//! Requirements of a repository, and their state: configuration in YAML, branch files and lists in JSON.
#![no_main]

use layouts::requirements::{Document, file_stem};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = engine::fuzzing::requirements(text);
    if let Ok(document) = Document::read(text) {
        assert!(Document::read(&document.text()).is_ok(), "what was read is written so that it can be read");
    }
    let stem = file_stem(text);
    assert!(!stem.contains('/') && !stem.contains('\0'), "a branch's name leads nowhere: {stem:?}");
});
