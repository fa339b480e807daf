//! Gates of praxis OS with their lambdas, which are translated and never run.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(translated) = layouts::praxis::translated(text) {
        // Whatever is translated is an expression of the gate language.
        assert!(engine::fuzzing::compiles(&translated), "{translated}");
    }
});
