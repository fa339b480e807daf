//! Tells the program what it was built from, and the linker which functions belong together in the static release program
//! for Linux: see `crates/bench/hot`.
#![allow(clippy::print_stdout, reason = "that is how cargo is told")]

fn main() {
    println!("cargo::rerun-if-changed=hot.ld");
    println!("cargo::rerun-if-env-changed=LEFTOFF_BUILD");
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    // `./release` names commit, date and target. Others do not: the program would be linked anew after every commit.
    let build = std::env::var("LEFTOFF_BUILD").unwrap_or_else(|_| "development build".to_owned());
    println!("cargo::rustc-env=LEFTOFF_VERSION={} ({build})", set("CARGO_PKG_VERSION"));
    let is_fast_build = set("PROFILE") == "release"
        && set("CARGO_CFG_TARGET_OS") == "linux"
        && set("CARGO_CFG_TARGET_ENV") == "gnu"
        && set("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if is_fast_build {
        let folder = set("CARGO_MANIFEST_DIR");
        println!("cargo::rustc-link-arg-bin=leftoff=-Wl,-T,{folder}/hot.ld");
    }
}
