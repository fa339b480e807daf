//! State in JSON that another program wrote, and edits of it in place: whatever is read is still read after an edit.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = layouts::json::object_of_python_with_doubled(bytes);
    let _ = layouts::json::not_numbers(bytes);
    if let Ok((before, _)) = layouts::json::object_with_doubled(bytes) {
        let edited = layouts::json::with_missing_of(br#"{"leftoff_was_here":1}"#, bytes);
        let after = layouts::json::object(&edited).expect("what was read is still read after an edit");
        assert!(before.keys().all(|key| after.contains_key(key)), "a key is gone");
    }
});
