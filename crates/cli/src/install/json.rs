//! Adds entries to a JSON text and removes them, byte for byte: comments, order and spacing of everything else stay.
//! Works on texts.
//!
//! JSON has no place for a mark that distinguishes leftoff's additions from earlier content. So a list or object that
//! leftoff adds has white space after its opening bracket, and is removed when it is empty again. If a list or object
//! existed and was empty, leftoff's entry follows its bracket directly, and the list or object stays.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value as Json;

/// The message that says why a text cannot be edited.
pub type Problem = String;

/// Adds the key to the object at this path, unless the object already has the key.
pub fn with_key(text: &str, path: &[&str], key: &str, value: &Json) -> Result<String, Problem> {
    let document = Document::read(text)?;
    match document.deepest(path)? {
        Reached::All(Container::Object(object)) => match object.get(key) {
            Some(_) => Ok(text.to_owned()),
            None => Ok(document.appended(&Container::Object(object), path.len(), Some(key), value)),
        },
        Reached::All(Container::Array(_)) => Err(wrong(path, "an object")),
        Reached::Until(object, depth) => {
            let value = nested(&path[depth + 1..], key, value.clone());
            Ok(document.appended(&Container::Object(object), depth, Some(path[depth]), &value))
        }
    }
}

/// Adds the element to the list at this path, unless the list already contains one of leftoff's elements.
pub fn with_element(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Json) -> bool,
    element: &Json,
) -> Result<String, Problem> {
    let document = Document::read(text)?;
    match document.deepest(path)? {
        Reached::All(Container::Array(array)) => {
            if array.elements.iter().any(|value| is_ours(&plain(value))) {
                return Ok(text.to_owned());
            }
            Ok(document.appended(&Container::Array(array), path.len(), None, element))
        }
        Reached::All(Container::Object(_)) => Err(wrong(path, "a list")),
        Reached::Until(object, depth) => {
            let list = Json::Array(vec![element.clone()]);
            let value = match path[depth + 1..].split_last() {
                Some((last, between)) => nested(between, last, list),
                None => list,
            };
            Ok(document.appended(&Container::Object(object), depth, Some(path[depth]), &value))
        }
    }
}

/// Removes the key if its value is leftoff's. Returns `None` if only leftoff's additions were in the text.
pub fn without_key(
    text: &str,
    path: &[&str],
    key: &str,
    is_ours: &dyn Fn(&Json) -> bool,
) -> Result<Option<String>, Problem> {
    let document = Document::read(text)?;
    let Reached::All(Container::Object(object)) = document.deepest(path)? else {
        return Ok(Some(text.to_owned()));
    };
    let place = object.properties.iter().position(|property| property.name.as_str() == key);
    match place {
        Some(place) if is_ours(&plain(&object.properties[place].value)) => document.removed(path, place),
        Some(_) | None => Ok(Some(text.to_owned())),
    }
}

/// Removes the last of leftoff's elements from the list. Returns `None` if only leftoff's additions were in the text.
pub fn without_element(
    text: &str,
    path: &[&str],
    is_ours: &dyn Fn(&Json) -> bool,
) -> Result<Option<String>, Problem> {
    let document = Document::read(text)?;
    let Reached::All(Container::Array(array)) = document.deepest(path)? else {
        return Ok(Some(text.to_owned()));
    };
    match array.elements.iter().rposition(|value| is_ours(&plain(value))) {
        Some(place) => document.removed(path, place),
        None => Ok(Some(text.to_owned())),
    }
}

/// Parses the text as JSON, comments included.
pub fn read(text: &str) -> Result<Json, Problem> {
    Ok(Document::read(text)?.root.as_ref().map_or(Json::Null, plain))
}

/// The text of a new file.
pub fn fresh(value: &Json) -> String {
    format!("{}\n", pretty(value, "  ", "", "\n"))
}

struct Document<'a> {
    text: &'a str,
    root: Option<Value<'a>>,
}

/// How much of a path of keys exists in a document.
enum Reached<'b, 'a> {
    All(Container<'b, 'a>),
    /// The last object on the path that exists, and the number of keys that lead to it.
    Until(&'b Object<'a>, usize),
}

enum Container<'b, 'a> {
    Object(&'b Object<'a>),
    Array(&'b Array<'a>),
}

impl Container<'_, '_> {
    fn start(&self) -> usize {
        match self {
            Self::Object(object) => object.range.start,
            Self::Array(array) => array.range.start,
        }
    }

    fn end(&self) -> usize {
        match self {
            Self::Object(object) => object.range.end,
            Self::Array(array) => array.range.end,
        }
    }

    /// The start and the end of each member, as positions in the text.
    fn members(&self) -> Vec<(usize, usize)> {
        match self {
            Self::Object(object) => {
                object.properties.iter().map(|member| (member.range.start, member.range.end)).collect()
            }
            Self::Array(array) => array.elements.iter().map(|value| range(value)).collect(),
        }
    }
}

impl<'a> Document<'a> {
    fn read(text: &'a str) -> Result<Self, Problem> {
        let strict = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &CollectOptions::default(), &strict);
        match parsed {
            Ok(parsed) => Ok(Self { text, root: parsed.value }),
            Err(error) => Err(format!("the file is not JSON: {error}")),
        }
    }

    /// Follows a path as far as it exists. For an element of a list, the key is its index.
    fn deepest<'b>(&'b self, path: &[&str]) -> Result<Reached<'b, 'a>, Problem> {
        let Some(Value::Object(root)) = &self.root else { return Err(wrong(&[], "an object")) };
        let mut at = Container::Object(root);
        for (depth, key) in path.iter().enumerate() {
            let value = match &at {
                Container::Object(object) => match object.get(key) {
                    None => return Ok(Reached::Until(object, depth)),
                    Some(property) => &property.value,
                },
                Container::Array(array) => {
                    let element = key.parse::<usize>().ok().and_then(|place| array.elements.get(place));
                    element.ok_or_else(|| wrong(&path[..depth], "an object"))?
                }
            };
            at = match value {
                Value::Object(object) => Container::Object(object),
                Value::Array(array) => Container::Array(array),
                _ => return Err(wrong(&path[..=depth], "an object")),
            };
        }
        Ok(Reached::All(at))
    }

    /// The text after a member was added at the end of a list or object.
    fn appended(&self, into: &Container<'_, '_>, depth: usize, key: Option<&str>, value: &Json) -> String {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = self.indent_unit();
        let name = key.map_or_else(String::new, |key| format!("{}: ", Json::from(key)));
        let members = into.members();
        let Some(&(_, last)) = members.last() else {
            let inner = unit.repeat(depth + 1);
            let member = format!("{name}{}", pretty(value, &unit, &inner, newline));
            return self.spliced(&[(into.start() + 1, into.start() + 1, &member)]);
        };
        let first = members[0].0;
        let before_first = &self.text[into.start() + 1..first];
        if !before_first.contains('\n') {
            let comma = self.comma_after(last, into.end() - 1);
            return match comma {
                Some(comma) => {
                    let member = format!(" {name}{},", on_one_line(value));
                    self.spliced(&[(comma + 1, comma + 1, &member)])
                }
                None => self.spliced(&[(last, last, &format!(", {name}{}", on_one_line(value)))]),
            };
        }
        let inner = self.indent_of(first);
        let member = format!("{newline}{inner}{name}{}", pretty(value, &unit, inner, newline));
        if let Some(comma) = self.comma_after(last, into.end() - 1) {
            let place = self.end_of_line_comment(comma + 1, into.end() - 1);
            return self.spliced(&[(place, place, &format!("{member},"))]);
        }
        let place = self.end_of_line_comment(last, into.end() - 1);
        self.spliced(&[(last, last, ","), (place, place, &member)])
    }

    /// The text after a member was removed. If a list or object that leftoff added becomes empty, it is removed, too.
    fn removed(&self, path: &[&str], place: usize) -> Result<Option<String>, Problem> {
        let Reached::All(container) = self.deepest(path)? else { return Ok(Some(self.text.to_owned())) };
        let members = container.members();
        let (start, end) = members[place];
        if members.len() == 1 {
            if start == container.start() + 1 {
                return Ok(Some(self.spliced(&[(start, end, "")])));
            }
            return match path.split_last() {
                None => Ok(None),
                Some((key, above)) => {
                    let own = match self.deepest(above)? {
                        Reached::All(Container::Object(parent)) => {
                            parent.properties.iter().position(|member| member.name.as_str() == *key)
                        }
                        Reached::All(Container::Array(_)) => key.parse().ok(),
                        Reached::Until(..) => None,
                    };
                    own.map_or_else(|| Ok(Some(self.text.to_owned())), |own| self.removed(above, own))
                }
            };
        }
        if place + 1 < members.len() {
            return Ok(Some(self.spliced(&[(start, members[place + 1].0, "")])));
        }
        let before = members[place - 1].1;
        let from = before + self.text[before..start].trim_end().len();
        let trailing = self.comma_after(end, container.end() - 1);
        let comma = self.comma_after(before, start);
        Ok(Some(match (trailing, comma) {
            // The previous member has its own comma, so only the comma after the removed one is removed.
            (Some(trailing), _) => self.spliced(&[(from, trailing + 1, "")]),
            (None, Some(comma)) => {
                let from = from.max(comma + 1);
                self.spliced(&[(comma, comma + 1, ""), (from, end, "")])
            }
            (None, None) => self.spliced(&[(from, end, "")]),
        }))
    }

    /// The position of the first comma in this range, after white space and comments.
    fn comma_after(&self, from: usize, until: usize) -> Option<usize> {
        let mut at = from;
        while at < until {
            let rest = &self.text[at..until];
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else if rest.starts_with(',') {
                return Some(at);
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        None
    }

    /// The end of a comment that starts on the same line.
    fn end_of_line_comment(&self, from: usize, until: usize) -> usize {
        let rest = &self.text[from..until];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let blank = line.len() - line.trim_start().len();
        let comment = &line[blank..];
        if comment.starts_with("//") {
            return from + line.trim_end().len();
        }
        match comment.strip_prefix("/*").and_then(|rest| rest.find("*/")) {
            Some(end) => from + blank + 2 + end + 2,
            None => from,
        }
    }

    fn indent_of(&self, place: usize) -> &'a str {
        let line = &self.text[self.text[..place].rfind('\n').map_or(0, |newline| newline + 1)..place];
        &line[..line.len() - line.trim_start().len()]
    }

    fn indent_unit(&self) -> String {
        let first = match &self.root {
            Some(Value::Object(object)) => object.properties.first().map(|member| member.range.start),
            _ => None,
        };
        let indent = first.map(|first| self.indent_of(first)).unwrap_or_default();
        if indent.is_empty() { "  ".to_owned() } else { indent.to_owned() }
    }

    /// The text after these edits. The edits are in order, and do not overlap.
    fn spliced(&self, edits: &[(usize, usize, &str)]) -> String {
        let mut text = String::with_capacity(self.text.len() + 256);
        let mut done = 0;
        for (start, end, new) in edits {
            text.push_str(&self.text[done..*start]);
            text.push_str(new);
            done = *end;
        }
        text.push_str(&self.text[done..]);
        text
    }
}

fn nested(between: &[&str], key: &str, value: Json) -> Json {
    let inner = Json::from_iter([(key.to_owned(), value)]);
    between.iter().rev().fold(inner, |inner, key| Json::from_iter([((*key).to_owned(), inner)]))
}

fn wrong(path: &[&str], expected: &str) -> Problem {
    match path.last() {
        Some(_) => format!("'{}' is not {expected}", path.join(".")),
        None => format!("the file is not {expected}"),
    }
}

fn range(value: &Value<'_>) -> (usize, usize) {
    let range = match value {
        Value::StringLit(literal) => literal.range,
        Value::NumberLit(literal) => literal.range,
        Value::BooleanLit(literal) => literal.range,
        Value::Object(object) => object.range,
        Value::Array(array) => array.range,
        Value::NullKeyword(null) => null.range,
    };
    (range.start, range.end)
}

fn plain(value: &Value<'_>) -> Json {
    match value {
        Value::StringLit(literal) => Json::from(literal.value.as_ref()),
        Value::NumberLit(literal) => serde_json::from_str(literal.value).unwrap_or(Json::Null),
        Value::BooleanLit(literal) => Json::from(literal.value),
        Value::Object(object) => object
            .properties
            .iter()
            .map(|member| (member.name.as_str().to_owned(), plain(&member.value)))
            .collect(),
        Value::Array(array) => array.elements.iter().map(plain).collect(),
        Value::NullKeyword(_) => Json::Null,
    }
}

/// The JSON on one line. A space after each opening bracket marks a list or object as leftoff's.
fn on_one_line(value: &Json) -> String {
    match value {
        Json::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Json::from(key.as_str()), on_one_line(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Json::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(on_one_line).collect();
            format!("[ {} ]", elements.join(", "))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_string(),
    }
}

/// The JSON, indented. All lines but the first are also indented by `outer`.
fn pretty(value: &Json, unit: &str, outer: &str, newline: &str) -> String {
    use serde::Serialize;
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing to memory cannot fail.
    let _ = value.serialize(&mut serializer);
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.replace('\n', &format!("{newline}{outer}"))
}

#[cfg(test)]
mod tests;
