//! Named places where a test may end the process, as a crash would, or let it panic. Absent from release builds.

/// Ends this process at once, or panics, if a test asked for it here.
#[cfg(debug_assertions)]
pub(crate) fn reached(name: &str) {
    let asked = |variable| std::env::var_os(variable).is_some_and(|asked| asked == name);
    if asked("LEFTOFF_TEST_CRASH") {
        std::process::abort();
    }
    assert!(!asked("LEFTOFF_TEST_PANIC"), "a test asked for it at {name}");
}

#[cfg(not(debug_assertions))]
pub(crate) fn reached(_name: &str) {}
