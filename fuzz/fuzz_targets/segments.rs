//! A segment of another replica, and the path that names it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engine::fuzzing::segment(bytes));
