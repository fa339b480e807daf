//! Adopts custom fields that an edit set or cleared.

use super::draft::Draft;
use crate::layout;
use model::event::Event;
use model::phase::Phase;
use model::session::Session;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn fields(draft: &mut Draft, base: &Session, theirs: &Session) {
    let mut fields = changed_fields(&draft.session().fields, &base.fields, &theirs.fields);
    fields.extend(cleared(draft, &draft.session().fields, &base.fields, &theirs.fields));
    if !fields.is_empty() {
        draft.push(Event::FieldsSet { phase: None, fields });
    }
}

pub(super) fn fields_of_phase(draft: &mut Draft, theirs: &Phase, was: Option<&Phase>) {
    let nothing = BTreeMap::new();
    let ours = draft.phase(theirs.id()).map(|phase| phase.fields.clone()).unwrap_or_default();
    let before = was.map_or(&nothing, |was| &was.fields);
    let mut fields = changed_fields(&ours, before, &theirs.fields);
    fields.extend(cleared(draft, &ours, before, &theirs.fields));
    if !fields.is_empty() {
        draft.push(Event::FieldsSet { phase: Some(theirs.id().clone()), fields });
    }
}

/// Fields that an edit cleared, in a layout in which null means cleared. A missing key clears nothing: keys
/// that another writer dropped are restored before.
fn cleared(
    draft: &Draft,
    ours: &BTreeMap<String, Value>,
    base: &BTreeMap<String, Value>,
    theirs: &BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let has_nulls = layout::by_name(&draft.session().layout).is_some_and(|layout| layout.facts().null_clears);
    let is_set =
        |fields: &BTreeMap<String, Value>, name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    let is_cleared = |name: &&String| is_set(ours, name) && is_set(base, name) && !theirs.contains_key(*name);
    base.keys().filter(|_| has_nulls).filter(is_cleared).map(|name| (name.clone(), Value::Null)).collect()
}

/// Fields that an edit changed. A field that is missing in the files was not deleted, because the other
/// writer did not know it.
pub(super) fn changed_fields(
    ours: &BTreeMap<String, Value>,
    base: &BTreeMap<String, Value>,
    theirs: &BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let is_new = |(name, value): &(&String, &Value)| {
        base.get(*name) != Some(*value) && ours.get(*name) != Some(*value)
    };
    theirs.iter().filter(is_new).map(|(name, value)| (name.clone(), value.clone())).collect()
}
