//! Bundles: a session with its history, definitions and files, in one file for another machine. A bundle is imported
//! completely or not at all.

mod arrival;
mod create;
mod files;
mod format;
mod take;

pub(crate) use arrival::{is_bundle, taken};
pub use create::BundleMade;
pub(crate) use files::{may_be_put, put_back, refused};
pub(crate) use format::{EventLine, PackedFile};
pub(crate) use take::opened;

#[cfg(feature = "fuzzing")]
pub(crate) fn read(bytes: &[u8]) {
    let _ = format::read(&mut &*bytes);
}
