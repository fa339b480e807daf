//! Merges another writer's version of a session's file with leftoff's: restores leftoff's keys that the
//! writer dropped.

use super::state::damage::SECTIONS;
use crate::json::{self, Document};

/// `theirs`, with dropped keys restored. A section that is null counts as missing, so leftoff's content is
/// restored there.
pub(super) fn merged(base: &[u8], theirs: &[u8]) -> Vec<u8> {
    let (Ok(had), Ok(mut document)) = (Document::parse_python(base), Document::parse_python(theirs)) else {
        return theirs.to_vec();
    };
    let is_object = |key: &str| had.get(&[key]).is_some_and(|value| value.is_object());
    let is_null = |key: &str| document.get(&[key]).is_some_and(|value| value.is_null());
    let emptied: Vec<&str> = SECTIONS.iter().copied().filter(|key| is_object(key) && is_null(key)).collect();
    if emptied.is_empty() {
        return json::with_missing_of(base, theirs);
    }
    for key in emptied {
        document.remove(&[key]);
    }
    json::with_missing_of(base, &document.into_bytes())
}
