//! Makes the store lose work on purpose at a test's request: a control that shows that a proof can fail.
//! Absent from release builds.

use crate::Batch;

/// True if a test requested this fault.
pub(crate) fn is(fault: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os("LEFTOFF_TEST_CONTROL").is_some_and(|asked| asked == fault)
}

/// True if this batch is reported as written but dropped: batches with a note, always or about one in eight.
pub(crate) fn loses(batch: &Batch) -> bool {
    let now_and_then = || {
        let mut byte = [0];
        getrandom::fill(&mut byte).is_ok() && byte[0] % 8 == 0
    };
    (is("lose-all") || is("lose") && now_and_then())
        && batch.streams.iter().any(|stream| stream.events.iter().any(|event| event.kind == "note_added"))
}
