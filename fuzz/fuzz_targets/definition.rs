//! A workflow definition in TOML, as a repository has it.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(read) = layouts::definition::read(text) {
        let _ = engine::fuzzing::definition(&read);
    }
});
