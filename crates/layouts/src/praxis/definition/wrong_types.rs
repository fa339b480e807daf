//! Reports values of metadata.json with the wrong type, and duplicate keys. The other values are used.

use crate::problem::{Problem, Type, What};
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
enum ValueType {
    Text,
    Texts,
    Objects,
    Object,
    Flag,
}

const WORKFLOW: &[(&str, ValueType)] = &[
    ("workflow_type", ValueType::Text),
    ("version", ValueType::Text),
    ("name", ValueType::Text),
    ("estimated_duration", ValueType::Text),
    ("primary_outputs", ValueType::Texts),
    ("phases", ValueType::Objects),
    ("dynamic_phases", ValueType::Flag),
    // praxis OS parses tasks.md with these templates; leftoff only needs the headings.
    ("dynamic_config", ValueType::Object),
];
const PHASE: &[(&str, ValueType)] = &[
    ("phase_name", ValueType::Text),
    ("purpose", ValueType::Text),
    ("estimated_effort", ValueType::Text),
    ("key_deliverables", ValueType::Texts),
    ("validation_criteria", ValueType::Texts),
    ("tasks", ValueType::Objects),
];
const TASK: &[(&str, ValueType)] =
    &[("name", ValueType::Text), ("file", ValueType::Text), ("purpose", ValueType::Text)];

pub(super) fn of(path: &str, metadata: &Map<String, Value>, doubled: &[String]) -> Vec<Problem> {
    let mut found: Vec<(String, What)> = doubled.iter().map(|key| (key.clone(), What::Doubled)).collect();
    check(metadata, WORKFLOW, "", &mut found);
    for (at, phase) in objects(metadata, "phases") {
        check(phase, PHASE, &format!("phases[{at}]."), &mut found);
        for (task_at, task) in objects(phase, "tasks") {
            check(task, TASK, &format!("phases[{at}].tasks[{task_at}]."), &mut found);
        }
    }
    found.into_iter().map(|(field, what)| Problem::of_field(path, field, what)).collect()
}

fn objects<'a>(
    of: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (usize, &'a Map<String, Value>)> {
    let list = of.get(key).and_then(Value::as_array).into_iter().flatten();
    list.enumerate().filter_map(|(at, value)| Some((at, value.as_object()?)))
}

fn check(of: &Map<String, Value>, kinds: &[(&str, ValueType)], below: &str, found: &mut Vec<(String, What)>) {
    for (key, kind) in kinds {
        let Some(value) = of.get(*key).filter(|value| !value.is_null()) else { continue };
        let name = format!("{below}{key}");
        if !kind.takes(value) {
            let what = What::WrongType { found: model::typed_value::shown(value), wanted: kind.wanted() };
            found.push((name.clone(), what));
        }
        for odd in value.as_array().into_iter().flatten().filter(|part| !kind.takes_in_a_list(part)) {
            let wanted = kind.wanted_in_a_list();
            found.push((name.clone(), What::WrongEntry { found: model::typed_value::shown(odd), wanted }));
        }
    }
}

impl ValueType {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Texts | Self::Objects => value.is_array(),
            Self::Object => value.is_object(),
            Self::Flag => value.is_boolean(),
        }
    }

    fn takes_in_a_list(self, value: &Value) -> bool {
        match self {
            Self::Texts => value.is_string(),
            Self::Objects => value.is_object(),
            Self::Text | Self::Object | Self::Flag => true,
        }
    }

    fn wanted(self) -> Type {
        match self {
            Self::Text => Type::Text,
            Self::Texts | Self::Objects => Type::List,
            Self::Object => Type::Object,
            Self::Flag => Type::Flag,
        }
    }

    fn wanted_in_a_list(self) -> Type {
        match self {
            Self::Objects => Type::Object,
            Self::Texts | Self::Text | Self::Object | Self::Flag => Type::Text,
        }
    }
}
