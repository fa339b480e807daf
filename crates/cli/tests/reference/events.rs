//! `docs/reference/events.md`: the catalogue of events, from the model's source and a real log.

use crate::page::anonymous;
use crate::source::{self, Field, Type, Variant, snake_case};
use crate::{GENERATED, blessed, session};
use serde_json::Value;
use std::collections::BTreeMap;

const INTRODUCTION: &str = "The state of a session follows from its events, in their order. Events are kept for ever. Names and fields are never changed, only added. `leftoff log --json` prints events, each with three more fields: `version` (its place in the session's history, counted from 1 without gaps), `at` (when, in UTC) and `actor` (who).\n\nFields marked *optional* are left out when empty. A session with an event from a newer leftoff can be read but not changed.\n";

#[test]
fn the_catalogue_of_events_is_what_the_model_says() {
    let events = all_events();
    let known: Vec<&Variant> =
        events.iter().filter(|event| !event.attributes.contains("skip_serializing")).collect();
    let examples = examples();
    let mut page = format!("# Events\n\n{GENERATED}\n{INTRODUCTION}");
    let mut shapes = Shapes::default();
    for event in known {
        let name = snake_case(&event.name);
        page.push_str(&format!("\n## {name}\n\n{}\n", event.doc));
        page.push_str(&table(&event.fields, &mut shapes));
        if let Some(example) = examples.get(&name) {
            page.push_str(&format!("\n```json\n{example}\n```\n"));
        }
    }
    shapes.mention("Actor");
    page.push_str("\n# Shapes\n");
    page.push_str(&shapes.describe());
    blessed::check("docs/reference/events.md", &page);
}

/// Events of sessions, then events of items, which are an enum of their own but are stored like the others.
fn all_events() -> Vec<Variant> {
    let mut events = source::find("Event").expect("the enum of events").variants;
    events.retain(|event| !event.attributes.contains("untagged"));
    events.extend(source::find("ItemEvent").expect("the enum of events of items").variants);
    events
}

/// The first event of each kind in a real log.
fn examples() -> BTreeMap<String, String> {
    let sandbox = session::example();
    let log = sandbox.run(["log", "--json"]).ok().json();
    let mut examples = BTreeMap::new();
    for event in log["events"].as_array().into_iter().flatten() {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let mut event = event.clone();
        // The session's state names its folder, which is a different one in each run.
        if let Some(state) = event.pointer_mut("/attempt/judged/state") {
            *state = "c70f2578f533439fb4e89114fac2982871efa975e5ab6d4836bdfae1b6e9f506".into();
        }
        let text = serde_json::to_string_pretty(&event).unwrap();
        examples.entry(kind).or_insert_with(|| anonymous(&text, &sandbox));
    }
    examples
}

fn table(fields: &[Field], shapes: &mut Shapes) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let mut text = "\n| field | holds | |\n|---|---|---|\n".to_owned();
    for field in fields {
        let optional = field.of.starts_with("Option<") || field.attributes.contains("skip_serializing_if");
        let remark = match (optional, field.doc.as_str()) {
            (true, "") => "optional".to_owned(),
            (true, doc) => format!("optional. {doc}"),
            (false, doc) => doc.to_owned(),
        };
        text.push_str(&format!("| `{}` | {} | {remark} |\n", field.name, shapes.words(&field.of)));
    }
    text
}

/// Types that fields mention, which are described after the events.
#[derive(Default)]
struct Shapes {
    mentioned: Vec<String>,
}

impl Shapes {
    /// A type in words for a reader of JSON.
    fn words(&mut self, of: &str) -> String {
        let inside = |outer: &str| of.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>'));
        if let Some(inner) = inside("Option<").or_else(|| inside("Box<")) {
            return self.words(inner);
        }
        if let Some(inner) = inside("Vec<") {
            return format!("list of {}", self.words(inner));
        }
        match of {
            "String" => "text".to_owned(),
            "bool" => "true or false".to_owned(),
            "u16" | "u32" | "u64" | "usize" | "i64" => "whole number".to_owned(),
            "f64" => "number".to_owned(),
            "Timestamp" => "time, RFC 3339 in UTC".to_owned(),
            "Name" => "name: letters, digits, `-`, `_`".to_owned(),
            "SessionId" => "id of a session".to_owned(),
            "ItemId" => "id of an item: letters, digits, `-`, `_`, `.`".to_owned(),
            "Value" => "any value".to_owned(),
            _ if of.starts_with("BTreeMap<") || of.starts_with("Map<") => "object".to_owned(),
            _ => {
                self.mention(of);
                format!("[{of}](#{})", of.to_lowercase())
            }
        }
    }

    fn mention(&mut self, name: &str) {
        if !self.mentioned.iter().any(|known| known == name) {
            self.mentioned.push(name.to_owned());
        }
    }

    /// A description may mention further types.
    fn describe(mut self) -> String {
        let mut text = String::new();
        let mut at = 0;
        while at < self.mentioned.len() {
            let name = self.mentioned[at].clone();
            at += 1;
            let found = source::find(&name).unwrap_or_else(|| panic!("no type {name} in the model"));
            text.push_str(&format!("\n## {name}\n"));
            text.push_str(&self.shape(&found));
        }
        text
    }

    fn shape(&mut self, found: &Type) -> String {
        let doc = if found.doc.is_empty() { String::new() } else { format!("\n{}\n", found.doc) };
        if !found.is_enum {
            return doc + &found.variants.iter().map(|all| table(&all.fields, self)).collect::<String>();
        }
        let tag = found.attributes.split_once("tag = \"").and_then(|(_, rest)| rest.split_once('"'));
        if let Some((tag, _)) = tag {
            let variants = found.variants.iter().map(|variant| {
                format!("\n`{tag}` is `{}`:\n{}", snake_case(&variant.name), table(&variant.fields, self))
            });
            return doc + &variants.collect::<String>();
        }
        let names: Vec<String> =
            found.variants.iter().map(|variant| format!("`{}`", snake_case(&variant.name))).collect();
        format!("{doc}\nOne of {}.\n", names.join(", "))
    }
}

#[test]
fn every_event_of_a_real_log_is_in_the_catalogue() {
    let events = all_events();
    let names: Vec<String> = events.iter().map(|event| snake_case(&event.name)).collect();
    let log = session::example().run(["log", "--json"]).ok().json();
    let kinds: Vec<&str> =
        log["events"].as_array().unwrap().iter().filter_map(|e| e["type"].as_str()).collect();
    assert!(kinds.len() > 8, "{kinds:?}");
    assert!(kinds.iter().all(|kind| names.iter().any(|name| name == kind)), "{kinds:?} of {names:?}");
    assert!(events.iter().all(|event| !event.doc.is_empty()), "an event without a doc comment");
    assert_ne!(log["session_id"], Value::Null);
}
