//! Named places in the code where a test can end the process as a crash would, cause a panic, or simulate a full disk.
//! Not part of release builds.

use std::io;

/// Ends this process at once, or panics, if a test asked for that: at the place with this name, or at the n-th place
/// that is reached (`#n`).
#[cfg(debug_assertions)]
pub(crate) fn reached(name: &str) {
    static REACHED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
    let asked = |variable| std::env::var_os(variable).is_some_and(|asked| asked == name);
    let number = REACHED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let is_next = |asked: std::ffi::OsString| asked.to_str() == Some(&format!("#{number}"));
    if asked("LEFTOFF_TEST_CRASH") || std::env::var_os("LEFTOFF_TEST_CRASH").is_some_and(is_next) {
        std::process::abort();
    }
    assert!(!asked("LEFTOFF_TEST_PANIC"), "a test requested a panic at {name}");
}

#[cfg(not(debug_assertions))]
pub(crate) fn reached(_name: &str) {}

/// Like `reached`, for one of several files: the place is called `name:path`.
#[cfg(debug_assertions)]
pub(crate) fn reached_at(name: &str, path: &str) {
    reached(&format!("{name}:{path}"));
}

#[cfg(not(debug_assertions))]
pub(crate) fn reached_at(_name: &str, _path: &str) {}

/// Fails like a full disk, if a test asked for that.
#[cfg(debug_assertions)]
pub(crate) fn fails(name: &str) -> io::Result<()> {
    if std::env::var_os("LEFTOFF_TEST_FULL").is_some_and(|asked| asked == name) {
        return Err(rustix::io::Errno::NOSPC.into());
    }
    Ok(())
}

#[cfg(not(debug_assertions))]
pub(crate) fn fails(_name: &str) -> io::Result<()> {
    Ok(())
}

/// Waits, if a test asked for that, to make races more likely.
#[cfg(debug_assertions)]
pub(crate) fn slow(name: &str) {
    if std::env::var_os("LEFTOFF_TEST_SLOW").is_some_and(|asked| asked == name) {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn slow(_name: &str) {}

/// True if a test set this variable.
#[cfg(debug_assertions)]
pub(crate) fn is_asked(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

#[cfg(not(debug_assertions))]
pub(crate) fn is_asked(_variable: &str) -> bool {
    false
}
