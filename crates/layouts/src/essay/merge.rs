//! Corrects two mistakes in another writer's state: a paragraph count that is not a number, and a section
//! count that was changed at only one of its two places.

use crate::yaml::{self, Document, Step};
use serde_json::{Map, Value};

const COUNTS: [&str; 2] = ["total_paragraphs", "completed_paragraphs"];

/// `theirs`, in which a paragraph count that is not a number is replaced by the count in `base`. Otherwise
/// such an edit would remove paragraphs.
pub(super) fn with_counts_of(base: &[u8], theirs: Vec<u8>) -> Vec<u8> {
    let (Ok((base, _)), Ok(mut document)) = (yaml::object(base), Document::parse(&theirs)) else {
        return theirs;
    };
    let (known, now) = (sections(&base), sections(&document.fields()));
    let mut any = false;
    for (place, section) in now.iter().enumerate() {
        let index = section.get("section_index");
        let same = known.iter().find(|known| known.get("section_index") == index);
        for key in COUNTS {
            let count = same.and_then(|same| same.get(key)).filter(|count| count.is_u64());
            let is_one = section.get(key).is_some_and(Value::is_u64);
            if let Some(count) = count.filter(|_| !is_one) {
                let path = [
                    Step::Key("stages"),
                    Step::Key("stage_4"),
                    Step::Key("sections"),
                    Step::At(place),
                    Step::Key(key),
                ];
                any |= document.set(&path, count).is_ok();
            }
        }
    }
    if any { document.into_bytes() } else { theirs }
}

/// `theirs`, with the same section count at both of its places. If the writer changed it at one place, the
/// new count is copied to the other.
pub(super) fn with_one_total(base: &[u8], theirs: Vec<u8>) -> Vec<u8> {
    let (Ok((base, _)), Ok(mut document)) = (yaml::object(base), Document::parse(&theirs)) else {
        return theirs;
    };
    let path = |stage| [Step::Key("stages"), Step::Key(stage), Step::Key("total_sections")];
    let was = |stage: &str| base.get("stages")?.get(stage)?.get("total_sections").cloned();
    let now = |stage| document.get(&path(stage));
    let [outline, arguments] = ["stage_2", "stage_3"].map(|stage| (stage, was(stage), now(stage)));
    for ((_, was, now), (other, other_was, other_now)) in [(&outline, &arguments), (&arguments, &outline)] {
        let is_changed = was != now && other_was == other_now && other_now.is_some();
        if let Some(total) = now.as_ref().filter(|total| is_changed && total.is_u64()) {
            return if document.set(&path(other), total).is_ok() { document.into_bytes() } else { theirs };
        }
    }
    theirs
}

fn sections(state: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let found = state.get("stages").and_then(|stages| stages.get("stage_4")?.get("sections")?.as_array());
    found.into_iter().flatten().map(|section| section.as_object().cloned().unwrap_or_default()).collect()
}
