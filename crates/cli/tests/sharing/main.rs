//! Sharing through git: real clones of one bare repository, real pushes and fetches.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod authors;
mod clones;
mod hostile;
mod random;
mod stories;
mod told;
mod ways_on;
