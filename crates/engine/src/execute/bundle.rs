//! One session with its history, definitions and files in one file, for another machine. Taken in whole or not at all.

mod create;
mod files;
mod format;
mod take;

pub use create::BundleMade;
