//! Edits JSON in place, so that unchanged parts keep every byte. Knows no particular keys.

mod python;

use crate::redaction_mark::hides_a_secret;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

/// A JSON object being edited.
pub struct Document {
    root: CstRootNode,
    object: CstObject,
    /// True if the file begins with a byte order mark, which is then kept.
    has_mark: bool,
    ends: LineEnds,
}

/// The line endings of a text. Additions to the text use the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Windows,
    Other,
}

impl LineEnds {
    fn of(text: &str) -> Self {
        let is_windows = text.contains("\r\n") && !text.replace("\r\n", "").contains(['\r', '\n']);
        if is_windows { Self::Windows } else { Self::Other }
    }

    /// The text, with every line ending replaced by this kind. JSON values contain no raw line endings, so
    /// none of them changes.
    fn put(self, text: &str) -> String {
        match self {
            Self::Windows => text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n"),
            Self::Other => text.to_owned(),
        }
    }
}

/// Parses a JSON object. The error says why the text is not one.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    object_with_doubled(bytes).map(|(fields, _)| fields)
}

/// Parses a JSON object like `object`. Also returns the keys that occur twice in it; the last value of such a
/// key is used.
pub fn object_with_doubled(bytes: &[u8]) -> Result<(Map<String, Value>, Vec<String>), String> {
    let text = text_of(bytes)?.trim_start_matches(MARK);
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if !text.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => "it is not a JSON object".to_owned(),
            Err(error) => format!("it is not JSON ({error})"),
        });
    }
    let Pairs(pairs) = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
    let (mut fields, mut doubled) = (Map::new(), Vec::new());
    for (key, value) in pairs {
        if fields.insert(key.clone(), value).is_some() && !doubled.contains(&key) {
            doubled.push(key);
        }
    }
    Ok((fields, doubled))
}

/// Parses a JSON object like `object`, from a file that Python wrote. Python's words for values that are not
/// numbers become null.
pub fn object_of_python(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    object_of_python_with_doubled(bytes).map(|(fields, _)| fields)
}

pub fn object_of_python_with_doubled(bytes: &[u8]) -> Result<(Map<String, Value>, Vec<String>), String> {
    object_with_doubled(bytes).or_else(|why| {
        let text = text_of(bytes).ok().and_then(python::marked).ok_or(why)?;
        let (fields, doubled) = object_with_doubled(text.as_bytes())?;
        Ok((fields.into_iter().map(|(key, value)| (key, python::read(value))).collect(), doubled))
    })
}

/// Python's words for values that are not numbers, each with its path: `a.b`, `NaN`.
pub fn not_numbers(bytes: &[u8]) -> Vec<(String, &'static str)> {
    let text = text_of(bytes).ok().and_then(python::marked);
    let fields = text.and_then(|text| object(text.as_bytes()).ok()).map(Value::Object);
    let places = fields.map(|fields| python::places(&fields)).unwrap_or_default();
    places.into_iter().map(|(keys, word)| (keys.join("."), word)).collect()
}

/// True if a text begins with a byte order mark.
pub fn has_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xef, 0xbb, 0xbf])
}

/// The members of an object in their order. A key may occur twice.
struct Pairs(Vec<(String, Value)>);

impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Document {
    /// A new document: an empty object, indented by two spaces.
    pub fn new() -> Self {
        Self::from_text("{\n}\n").unwrap_or_else(|_| unreachable!("an empty object is JSON"))
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        // The editing parser accepts more than JSON, and its errors have no reason. So the strict parser
        // checks the text first.
        object(bytes)?;
        Self::from_text(text_of(bytes)?)
    }

    /// Parses a document like `parse`, from a file that Python wrote. Python's words for values that are not
    /// numbers stay as they are.
    pub fn parse_python(bytes: &[u8]) -> Result<Self, String> {
        Self::parse(bytes).or_else(|why| {
            let text = text_of(bytes).ok().and_then(python::marked).ok_or(why)?;
            Self::parse(text.as_bytes())
        })
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let has_mark = text.starts_with(MARK);
        let root = CstRootNode::parse(text.trim_start_matches(MARK), &ParseOptions::default())
            .map_err(|error| error.to_string())?;
        let object = root.object_value().ok_or_else(|| "it is not a JSON object".to_owned())?;
        Ok(Self { root, object, has_mark, ends: LineEnds::of(text) })
    }

    /// Sets the value at this path of keys. Missing objects on the path are created. A value that is already
    /// equal is not written.
    pub fn set(&mut self, path: &[&str], value: &Value) {
        let Some((last, above)) = path.split_last() else { return };
        if hides_a_secret(value) && self.get(path).is_some() {
            return;
        }
        let mut object = self.object.clone();
        for key in above {
            object = object.object_value_or_set(key);
        }
        match last_property(&object, last) {
            Some(property) => {
                if property.value().as_ref().and_then(value_of).as_ref() != Some(value) {
                    property.set_value(input(value));
                }
            }
            None => {
                object.append(last, input(value));
            }
        }
    }

    /// Sets a value if the path has none.
    pub fn set_missing(&mut self, path: &[&str], value: &Value) {
        if self.get(path).is_none() {
            self.set(path, value);
        }
    }

    /// Copies a value that is missing here from another file. Numbers keep their spelling.
    pub fn copy_missing(&mut self, path: &[&str], from: &Self) {
        let Some((last, above)) = path.split_last() else { return };
        let Some(node) = from.property(path).and_then(|property| property.value()) else { return };
        if self.get(path).is_some() {
            return;
        }
        let mut object = self.object.clone();
        for key in above {
            object = object.object_value_or_set(key);
        }
        object.append(last, as_written(&node));
    }

    /// Copies Python's words for values that are not numbers from another file to the places where they
    /// became null.
    pub fn copy_not_numbers(&mut self, from: &Self) {
        let marked = serde_json::from_str(&from.object.to_string()).unwrap_or_default();
        for (keys, _) in python::places(&marked) {
            let path: Vec<&str> = keys.iter().map(String::as_str).collect();
            if self.get(&path) == Some(Value::Null) && from.get(&path) == Some(Value::Null) {
                self.remove(&path);
                self.copy_missing(&path, from);
            }
        }
    }

    /// The keys of the object at this path, in order.
    pub fn keys(&self, path: &[&str]) -> Vec<String> {
        let found = if path.is_empty() { Some(self.object.clone()) } else { self.object_at(path) };
        let properties = found.map(|object| object.properties()).unwrap_or_default();
        properties.iter().filter_map(CstObjectProp::decoded_name).collect()
    }

    fn object_at(&self, path: &[&str]) -> Option<CstObject> {
        self.property(path).and_then(|property| property.object_value())
    }

    /// Appends to the list at this path. A missing list is created. A value that is not a list stays as it
    /// is.
    pub fn push(&mut self, path: &[&str], value: &Value) {
        match self.get(path) {
            None => self.set(path, &Value::Array(vec![value.clone()])),
            Some(Value::Array(_)) => {
                let list = self.property(path).and_then(|property| property.array_value());
                if let Some(list) = list {
                    list.append(input(value));
                }
            }
            Some(_) => {}
        }
    }

    pub fn remove(&mut self, path: &[&str]) {
        let Some((last, above)) = path.split_last() else { return };
        let mut object = self.object.clone();
        for key in above {
            let Some(next) = object.object_value(key) else { return };
            object = next;
        }
        if let Some(property) = last_property(&object, last) {
            property.remove();
        }
    }

    pub fn get(&self, path: &[&str]) -> Option<Value> {
        value_of(&self.property(path)?.value()?)
    }

    fn property(&self, path: &[&str]) -> Option<CstObjectProp> {
        let (last, above) = path.split_last()?;
        let mut object = self.object.clone();
        for key in above {
            object = object.object_value(key)?;
        }
        last_property(&object, last)
    }

    /// Removes the byte order mark, because some readers do not accept one.
    pub fn drop_mark(&mut self) {
        self.has_mark = false;
    }

    pub fn into_bytes(self) -> Vec<u8> {
        let mark = if self.has_mark { MARK.to_string() } else { String::new() };
        let text = python::unmarked(self.root.to_string());
        format!("{mark}{}", self.ends.put(&text)).into_bytes()
    }
}

impl Default for Document {
    fn default() -> Self {
        Self::new()
    }
}

/// Replaces the string at a path by `to` if it equals `from`.
pub fn with_text(bytes: &[u8], path: &[&str], from: &str, to: &str) -> Vec<u8> {
    let Ok(mut document) = Document::parse_python(bytes) else { return bytes.to_vec() };
    if document.get(path).as_ref().and_then(Value::as_str) != Some(from) {
        return bytes.to_vec();
    }
    document.set(path, &Value::from(to));
    document.into_bytes()
}

/// `theirs`, with the keys of `base` restored that it lacks, at every level of nested objects. If `theirs` is
/// not an object, it is returned unchanged.
pub fn with_missing_of(base: &[u8], theirs: &[u8]) -> Vec<u8> {
    let (Ok(had), Ok(mut document)) = (Document::parse_python(base), Document::parse_python(theirs)) else {
        return theirs.to_vec();
    };
    let (Ok(base), Ok(fields)) = (object_of_python(base), object_of_python(theirs)) else {
        return theirs.to_vec();
    };
    put_back(&mut document, &had, (&base, &fields), &mut Vec::new());
    document.into_bytes()
}

/// Adds missing keys, with their values as written in `base`: numbers keep every digit.
fn put_back<'a>(
    document: &mut Document,
    had: &Document,
    (base, theirs): (&'a Map<String, Value>, &Map<String, Value>),
    above: &mut Vec<&'a str>,
) {
    for (key, value) in base {
        above.push(key);
        match (value, theirs.get(key)) {
            (_, None) => document.copy_missing(above, had),
            (Value::Object(inner), Some(Value::Object(present))) => {
                put_back(document, had, (inner, present), above);
            }
            (_, Some(_)) => {}
        }
        above.pop();
    }
}

/// `onto`, with the value of `theirs` for every key whose value differs between `base` and `theirs`, at every
/// level of nested objects.
pub fn with_changes(base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
    let (Ok(written), Ok(mut document)) = (Document::parse_python(theirs), Document::parse_python(onto))
    else {
        return onto.to_vec();
    };
    let (Ok(base), Ok(theirs)) = (object_of_python(base), object_of_python(theirs)) else {
        return onto.to_vec();
    };
    set_changed(&mut document, &written, (&base, &theirs), &mut Vec::new());
    document.into_bytes()
}

fn set_changed<'a>(
    document: &mut Document,
    written: &Document,
    (base, theirs): (&Map<String, Value>, &'a Map<String, Value>),
    above: &mut Vec<&'a str>,
) {
    for (key, value) in theirs {
        above.push(key);
        match (base.get(key), value) {
            (Some(before), now) if before == now => {}
            (Some(Value::Object(before)), Value::Object(now)) => {
                set_changed(document, written, (before, now), above);
            }
            (None, _) if document.get(above).is_none() => document.copy_missing(above, written),
            (_, now) => document.set(above, now),
        }
        above.pop();
    }
}

const MARK: char = '\u{feff}';

fn text_of(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8 (byte {})", error.valid_up_to()))
}

/// The last of several equal keys, because every JSON reader uses the last one.
fn last_property(object: &CstObject, key: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rfind(|property| property.decoded_name().as_deref() == Some(key))
}

fn value_of(node: &CstNode) -> Option<Value> {
    serde_json::from_str(&node.to_string()).ok().map(python::read)
}

/// A value as it is written in the file. A number that is too large for Rust's types thus stays a number.
fn as_written(node: &CstNode) -> CstInputValue {
    if let Some(number) = node.as_number_lit() {
        return CstInputValue::Number(number.to_string());
    }
    if let Some(list) = node.as_array() {
        return CstInputValue::Array(list.elements().iter().map(as_written).collect());
    }
    if let Some(object) = node.as_object() {
        let member =
            |property: CstObjectProp| Some((property.decoded_name()?, as_written(&property.value()?)));
        return CstInputValue::Object(object.properties().into_iter().filter_map(member).collect());
    }
    input(&serde_json::from_str(&node.to_string()).unwrap_or(Value::Null))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_that_are_added_end_as_all_others_do() {
        let before = "{\r\n  \"a\": 1,\r\n  \"list\": [\r\n    1\r\n  ]\r\n}\r\n";
        let mut document = Document::parse(before.as_bytes()).unwrap();
        document.set(&["b", "c"], &json!({"d": [1, {"e": 2}]}));
        document.push(&["list"], &json!(2));
        let after = String::from_utf8(document.into_bytes()).unwrap();
        assert!(!after.replace("\r\n", "").contains(['\r', '\n']), "{after:?}");
        assert!(after.contains("\r\n    2\r\n  ]"), "{after:?}");
    }

    #[track_caller]
    fn check(before: &str, edit: impl FnOnce(&mut Document), after: &str) {
        let mut document = Document::parse(before.as_bytes()).expect("an object");
        edit(&mut document);
        assert_eq!(String::from_utf8(document.into_bytes()).expect("text"), after);
    }

    #[test]
    fn what_is_not_set_keeps_every_byte() {
        let before = "{ \"z\": 1.50e3,\r\n\t\"a\" : [1,2 , 3],\"é\":\"\\u00e9\",\n  \"phase\": \"one\"}\n\n";
        check(before, |_| {}, before);
        check(before, |document| document.set(&["phase"], &json!("one")), before);
        check(
            before,
            |document| document.set(&["phase"], &json!("two")),
            "{ \"z\": 1.50e3,\r\n\t\"a\" : [1,2 , 3],\"é\":\"\\u00e9\",\n  \"phase\": \"two\"}\n\n",
        );
    }

    #[test]
    fn new_keys_come_last_in_the_style_of_the_file() {
        check(
            "{\n    \"a\": 1\n}\n",
            |d| d.set(&["b"], &json!("x")),
            "{\n    \"a\": 1,\n    \"b\": \"x\"\n}\n",
        );
        // An object on one line is split into lines when a key is added. Its old content stays as it is
        // written.
        check("{\"a\":1e2}", |d| d.set(&["b"], &json!(2)), "{\n  \"a\":1e2,\n  \"b\": 2\n}");
        let mut document = Document::new();
        document.set(&["a"], &json!(1));
        document.set(&["b", "c"], &json!([]));
        let text = String::from_utf8(document.into_bytes()).expect("text");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), json!({"a": 1, "b": {"c": []}}));
        assert!(text.starts_with("{\n  \"a\": 1,\n"), "{text:?}");
    }

    #[test]
    fn a_mark_and_a_doubled_key_are_kept() {
        check(
            "\u{feff}{\"a\": 1, \"a\": 2}",
            |document| document.set(&["a"], &json!(3)),
            "\u{feff}{\"a\": 1, \"a\": 3}",
        );
    }

    #[test]
    fn a_list_grows_at_its_end_and_keeps_what_it_has() {
        check(
            "{\n  \"a\": [\n    1.50e3\n  ]\n}\n",
            |document| document.push(&["a"], &json!(2)),
            "{\n  \"a\": [\n    1.50e3,\n    2\n  ]\n}\n",
        );
        check("{\"a\": 7}", |document| document.push(&["a"], &json!(2)), "{\"a\": 7}");
        let mut document = Document::new();
        document.push(&["a", "b"], &json!({"c": 1}));
        assert_eq!(document.get(&["a", "b"]), Some(json!([{"c": 1}])));
    }

    #[test]
    fn what_is_carried_over_keeps_its_numbers_and_displaces_nothing() {
        let from =
            Document::parse(br#"{"a": {"n": [1.50, 12345678901234567890123], "s": "\u00e9"}, "b": 1e40}"#)
                .expect("an object");
        let mut document = Document::parse(b"{\n  \"b\": 2\n}\n").expect("an object");
        for key in from.keys(&[]) {
            document.copy_missing(&[&key], &from);
        }
        document.copy_missing(&["in", "a"], &from);
        let text = String::from_utf8(document.into_bytes()).expect("text");
        assert!(text.contains("[1.50, 12345678901234567890123]") && text.contains("\"b\": 2"), "{text}");
        assert_eq!(from.keys(&["a"]), ["n", "s"]);
    }

    #[test]
    fn what_another_writer_dropped_comes_back() {
        let base = br#"{"a": 1, "own": {"x": 1, "y": 2}, "gone": [1]}"#;
        let theirs = br#"{"own": {"x": 5}, "a": 2, "new": true}"#;
        let merged = object(&with_missing_of(base, theirs)).expect("an object");
        assert_eq!(Value::Object(merged), json!({"own": {"x": 5, "y": 2}, "a": 2, "new": true, "gone": [1]}));
    }

    #[test]
    fn what_comes_back_or_came_in_keeps_the_spelling_of_its_numbers() {
        let base = br#"{"id": 123456789012345678901234567890, "in": {"n": 1E3, "a": 1}, "share": [0.10]}"#;
        let merged = with_missing_of(base, br#"{"in": {"a": 1}}"#);
        let added = with_changes(br#"{"a": 1}"#, base, br#"{"a": 1}"#);
        for bytes in [merged, added] {
            let text = String::from_utf8(bytes).expect("text");
            for written in ["123456789012345678901234567890", "1E3", "[0.10]"] {
                assert!(text.contains(written), "{written} is not in {text}");
            }
        }
    }

    #[test]
    fn an_edit_that_came_in_between_is_made_on_what_is_there_now() {
        let base = br#"{"a": 1, "in": {"x": 1, "y": 2}}"#;
        let theirs = br#"{"a": 2, "in": {"x": 1, "y": 3}, "new": [1]}"#;
        let onto = br#"{"a": 1, "in": {"x": 9, "y": 2}, "ours": true}"#;
        let merged = object(&with_changes(base, theirs, onto)).expect("an object");
        assert_eq!(Value::Object(merged), json!({"a": 2, "in": {"x": 9, "y": 3}, "ours": true, "new": [1]}));
    }

    #[test]
    fn what_is_no_object_says_why() {
        for (bytes, why) in [
            (&b""[..], "empty"),
            (b" \n", "empty"),
            (b"null", "not a JSON object"),
            (b"[]", "not a JSON object"),
            (b"{\"a\":", "not JSON"),
            (b"{// c\n}", "not JSON"),
            (b"\xff\xfe", "not UTF-8"),
        ] {
            let found = Document::parse(bytes).err().unwrap_or_default();
            assert!(found.contains(why), "{found:?} of {bytes:?}");
        }
        let deep = "[".repeat(500_000);
        assert!(Document::parse(format!("{{\"a\":{deep}").as_bytes()).is_err());
    }
}
