//! Expressions of gates, and patterns of requirements.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = engine::fuzzing::compiles(text);
    if let Ok(pattern) = layouts::pattern::Pattern::new(text, layouts::pattern::Case::Matters) {
        let _ = pattern.is_match("git commit -m 'a message'");
    }
});
