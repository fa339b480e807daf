//! The control: a parser with a mistake in it, which the fuzzer must find.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"{\"a\"") {
        let value: Result<serde_json::Value, _> = serde_json::from_slice(bytes);
        assert!(value.is_err(), "the planted mistake");
    }
});
