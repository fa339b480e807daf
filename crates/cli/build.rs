//! Tells the program what it was built from, and the linker which functions belong together: `LEFTOFF_HOT` is a list that
//! `crates/bench/hot` made.
#![allow(clippy::print_stdout, reason = "that is how cargo is told")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LEFTOFF_BUILD");
    println!("cargo::rerun-if-env-changed=LEFTOFF_HOT");
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    // `./release` names commit, date and target. Others do not: the program would be linked anew after every commit.
    let build = std::env::var("LEFTOFF_BUILD").unwrap_or_else(|_| "development build".to_owned());
    println!("cargo::rustc-env=LEFTOFF_VERSION={} ({build})", set("CARGO_PKG_VERSION"));
    if let Ok(list) = std::env::var("LEFTOFF_HOT") {
        println!("cargo::rerun-if-changed={list}");
        println!("cargo::rustc-link-arg-bin=leftoff=-Wl,-T,{list}");
    }
}
