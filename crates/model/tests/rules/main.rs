//! The rules of a session, tested through the public interface: events and a command give events or a
//! refusal.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod examples;
mod given;
mod play;
mod properties;
mod snapshots;
mod table;
