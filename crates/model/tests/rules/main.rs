//! The rules of a session through its public interface: events in, a command, events or a refusal out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod examples;
mod given;
mod play;
mod properties;
mod snapshots;
mod table;
