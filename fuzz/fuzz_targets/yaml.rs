//! State in YAML that another program wrote.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = layouts::yaml::object(bytes);
    if let Ok(document) = layouts::yaml::Document::parse(bytes) {
        let _ = document.warnings();
    }
});
