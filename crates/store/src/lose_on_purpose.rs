//! Makes the store lose changes at the request of a test that must show that it notices lost changes. Absent from
//! release builds.

use crate::Batch;

/// True if a test requested the fault of this name.
pub(crate) fn is(fault: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os("LEFTOFF_TEST_CONTROL").is_some_and(|asked| asked == fault)
}

/// True if this batch is to be reported as stored but dropped: batches with a note, all of them or about one in eight,
/// as requested.
pub(crate) fn loses(batch: &Batch) -> bool {
    let now_and_then = || {
        let mut byte = [0];
        getrandom::fill(&mut byte).is_ok() && byte[0] % 8 == 0
    };
    (is("lose-all") || is("lose") && now_and_then())
        && batch.streams.iter().any(|stream| stream.events.iter().any(|event| event.kind == "note_added"))
}
