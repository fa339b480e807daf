//! Named places where a test may end the process, as a crash would. Absent from release builds.

/// Ends this process at once if a test asked for it here.
#[cfg(debug_assertions)]
pub(crate) fn reached(name: &str) {
    if std::env::var_os("LEFTOFF_TEST_CRASH").is_some_and(|asked| asked == name) {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn reached(_name: &str) {}
