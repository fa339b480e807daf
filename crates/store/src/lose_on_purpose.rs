//! Makes the store lose changes on request, for a test that must prove that it detects lost changes. Not part of
//! release builds.

use crate::Batch;

/// True if a test requested the fault of this name.
pub(crate) fn is(fault: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os("LEFTOFF_TEST_CONTROL").is_some_and(|asked| asked == fault)
}

/// True if this batch must be reported as stored but dropped. The test requests it for all batches with a note, or for
/// about one in eight of them.
pub(crate) fn loses(batch: &Batch) -> bool {
    let now_and_then = || {
        let mut byte = [0];
        getrandom::fill(&mut byte).is_ok() && byte[0] % 8 == 0
    };
    (is("lose-all") || is("lose") && now_and_then())
        && batch.streams.iter().any(|stream| stream.events.iter().any(|event| event.kind == "note_added"))
}
