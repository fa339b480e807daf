//! A bundle from somewhere else.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engine::fuzzing::bundle(bytes));
