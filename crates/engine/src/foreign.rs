//! Sessions in other tools' formats. This module discovers, selects, observes and publishes them. The first command
//! that changes such a session adopts it. Layouts interpret the files; this module does the disk work for all layouts.

pub(crate) mod discover;
pub(crate) mod observation_cache;
pub(crate) mod observe;
pub(crate) mod publish;
pub(crate) mod repair;
pub(crate) mod select;
#[cfg(test)]
mod tests;
pub(crate) mod transfer;

pub use discover::layout_names;
pub(crate) use discover::path::{around, pointed, sessions_in, spot_at};
pub(crate) use discover::{Owner, has_foreign};
pub(crate) use observation_cache::{Aim, Scope};
pub(crate) use observe::read::LONGEST_WARNING;
pub(crate) use publish::write_files::make_private;
pub use repair::{Repaired, Rung, repair};
