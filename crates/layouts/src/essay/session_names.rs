//! Names of sessions. A name contains the time at which its session started.

use super::Essay;
use crate::layout::{Folder, Layout, Spot, Unplaced};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

impl Essay {
    pub(super) fn asked_for(&self, id: &str) -> Result<Spot, Unplaced> {
        let spot = self.identify(id, true).filter(|_| !id.contains('/'));
        let example = || format!("{PREFIX}20260214-143022");
        spot.ok_or_else(|| Unplaced::NotLike { name: id.to_owned(), example: example() })
    }

    pub(super) fn first_free(
        &self,
        now: Timestamp,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<Spot, Unplaced> {
        let names = (0..MOST_TRIES).filter_map(|seconds| Some(name_at(later(now, seconds)?)));
        let free = names.into_iter().find(|name| !is_taken(name));
        free.and_then(|name| self.identify(&name, true)).ok_or(Unplaced::AllTaken)
    }

    /// The location of a session whose name is already taken. Its start time is moved by some seconds.
    pub(super) fn numbered(&self, spot: &Spot, number: u32) -> Result<Spot, Unplaced> {
        let (folder, name) = spot.path.rsplit_once('/').unwrap_or(("", &spot.path));
        let no_name = || Unplaced::NoFolderName { name: name.to_owned() };
        let at = began_at(name).and_then(|at| later(at, i64::from(number) - 1)).ok_or_else(no_name)?;
        let path = if folder.is_empty() { name_at(at) } else { format!("{folder}/{}", name_at(at)) };
        self.identify(&path, true).ok_or_else(no_name)
    }
}

pub(super) const PREFIX: &str = "essay-pipeline-";

/// The maximum number of names that are tried for a new folder: one for each second of a minute.
const MOST_TRIES: i64 = 60;

fn later(at: Timestamp, seconds: i64) -> Option<Timestamp> {
    at.checked_add(SignedDuration::from_secs(seconds)).ok()
}

fn name_at(at: Timestamp) -> String {
    format!("{PREFIX}{}", at.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S"))
}

/// When the session started, according to the name of its folder.
pub(super) fn began(folder: &Folder<'_>) -> Option<Timestamp> {
    began_at(folder.spot.path.rsplit('/').next()?)
}

pub(super) fn began_at(name: &str) -> Option<Timestamp> {
    let (date, time) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(date, 8) || !is_digits(time, 6) {
        return None;
    }
    let text = format!("{date}T{time}");
    // A name of the right form is a session's even if its numbers are not a valid time.
    let at = text.parse::<DateTime>().ok().and_then(|at| Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp()));
    Some(at.unwrap_or(Timestamp::UNIX_EPOCH))
}
