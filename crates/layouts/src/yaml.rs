//! Reads YAML, and edits it in place, so that unchanged parts keep every byte, including comments and the
//! order of keys. Knows no particular keys. An edit that would change anything else is refused.

mod merge;
mod node;
mod render;
#[cfg(test)]
mod tests;

use crate::redaction_mark::hides_a_secret;
pub use merge::{with_changes, with_missing_of};
use node::{Entry, Node, NodeKind};
use render::{block_entry, block_item, inline, key_text, like};
use serde_json::{Map, Value};

/// One step on a path into a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    Key(&'a str),
    /// An entry of a list, identified by its index from 0.
    At(usize),
}

/// A YAML mapping being edited.
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    root: Node,
    warnings: Vec<String>,
    /// True if the file begins with a byte order mark, which is then kept.
    has_mark: bool,
}

/// Parses a mapping, and returns warnings about it. The error says why the text is not a mapping.
pub fn object(bytes: &[u8]) -> Result<(Map<String, Value>, Vec<String>), String> {
    let document = Document::parse(bytes)?;
    let fields = document.fields();
    Ok((fields, document.warnings))
}

impl Document {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| format!("it is not UTF-8 (byte {})", error.valid_up_to()))?;
        let has_mark = text.starts_with(MARK);
        let text = text.trim_start_matches(MARK);
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let (root, warnings) = node::parse(text)?;
        match root.kind {
            NodeKind::Mapping { .. } => Ok(Self { text: text.to_owned(), root, warnings, has_mark }),
            NodeKind::Sequence { .. } | NodeKind::Scalar { .. } => Err("it is not a YAML mapping".to_owned()),
        }
    }

    /// Warnings about duplicate keys, tags and aliases, because another program may read them differently.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub fn fields(&self) -> Map<String, Value> {
        match self.root.value() {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    pub fn get(&self, path: &[Step<'_>]) -> Option<Value> {
        let (_, node, rest) = self.find(path);
        rest.is_empty().then(|| node.value())
    }

    /// Sets a value. Missing mappings on the path are created. A value that is already equal is not written.
    pub fn set(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), String> {
        let now = self.get(path);
        let is_redacted = hides_a_secret(value) && now.is_some();
        if now.as_ref() == Some(value) || is_redacted {
            return Ok(());
        }
        let (entry, node, rest) = self.find(path);
        let edited = match rest.split_first() {
            None => self.with_replaced(entry, node, value),
            Some((Step::Key(key), deeper)) => self.with_entry(entry, node, key, &nested(deeper, value)?),
            Some((Step::At(place), _)) => Err(format!("there is no entry {} in it", place + 1)),
        }?;
        self.accept(edited, path, value, false)
    }

    /// Appends a value to a list. A missing list is created.
    pub fn push(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), String> {
        let (entry, node, rest) = self.find(path);
        if !rest.is_empty() {
            return self.set(path, &Value::Array(vec![value.clone()]));
        }
        let edited = match &node.kind {
            NodeKind::Sequence { values, is_flow } if !values.is_empty() => {
                self.with_pushed(node, values, *is_flow, value)
            }
            NodeKind::Sequence { .. } | NodeKind::Scalar { .. } => {
                self.with_replaced(entry, node, &Value::Array(vec![value.clone()]))
            }
            NodeKind::Mapping { .. } => Err("it is not a list".to_owned()),
        }?;
        self.accept(edited, path, value, true)
    }

    /// Removes an entry from a list, with its comments. If it was the only entry, an empty list stays.
    pub fn remove(&mut self, path: &[Step<'_>], place: usize) -> Result<(), String> {
        let (entry, node, rest) = self.find(path);
        let NodeKind::Sequence { values, is_flow } = &node.kind else {
            return Err("it is not a list".to_owned());
        };
        let Some(gone) = values.get(place).filter(|_| rest.is_empty() && !node.is_alias) else {
            return Err(format!("there is no entry {} in it", place + 1));
        };
        let kept: Vec<Value> =
            values.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, node)| node.value()).collect();
        if *is_flow {
            return self.set(path, &Value::Array(kept));
        }
        let start = self.text[..gone.start].rfind('\n').map_or(0, |at| at + 1);
        let dash = self.text[start..gone.start].find('-').ok_or("its entries are on separate lines")?;
        let end = after_block(&self.text, gone.end, dash);
        let (before, after) = (&self.text[..start], &self.text[end..]);
        let edited = match entry.filter(|_| kept.is_empty()) {
            Some(entry) => {
                let colon = entry.after_colon(before).ok_or("its key is elsewhere")?;
                format!("{} []{}{after}", &before[..colon], &before[colon..])
            }
            None => format!("{before}{after}"),
        };
        self.accept(edited, path, &Value::Array(kept), false)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        let mark = if self.has_mark { MARK.to_string() } else { String::new() };
        format!("{mark}{}", self.text).into_bytes()
    }

    /// The deepest node on a path that exists, its entry, and the steps after it that do not exist.
    fn find<'a, 'p>(&'a self, path: &'p [Step<'p>]) -> (Option<&'a Entry>, &'a Node, &'p [Step<'p>]) {
        let (mut entry, mut node, mut rest) = (None, &self.root, path);
        while let Some((step, deeper)) = rest.split_first() {
            match (step, &node.kind) {
                (Step::Key(key), NodeKind::Mapping { entries, .. }) => {
                    // The last of several equal keys is used.
                    let Some(found) = entries.iter().rfind(|found| found.key == *key) else { break };
                    (entry, node) = (Some(found), &found.value);
                }
                (Step::At(place), NodeKind::Sequence { values, .. }) => {
                    let Some(found) = values.get(*place) else { break };
                    (entry, node) = (None, found);
                }
                (Step::Key(_) | Step::At(_), _) => break,
            }
            rest = deeper;
        }
        (entry, node, rest)
    }

    /// Accepts an edited text if it has the expected content and nothing else has changed.
    fn accept(
        &mut self,
        text: String,
        path: &[Step<'_>],
        value: &Value,
        is_pushed: bool,
    ) -> Result<(), String> {
        let mut meant = self.root.value();
        put(&mut meant, path, value, is_pushed);
        let (root, warnings) = node::parse(&text)?;
        if root.value() != meant {
            return Err("it cannot be set without changing something else".to_owned());
        }
        (self.text, self.root, self.warnings) = (text, root, warnings);
        Ok(())
    }

    fn with_replaced(&self, entry: Option<&Entry>, node: &Node, value: &Value) -> Result<String, String> {
        let is_plain = !needs_block(value) || entry.is_none_or(|entry| entry.is_flow);
        let Some((start, end)) = self.place_of(entry, node) else {
            return Err("it already has a block of several lines".to_owned());
        };
        if is_plain {
            let new = like(node, &self.text[start..end], value);
            let space = if start == end { " " } else { "" };
            return Ok(format!("{}{space}{new}{}", &self.text[..start], &self.text[end..]));
        }
        let Some(entry) = entry.filter(|_| node.is_nothing()) else {
            return Err("it already has another value".to_owned());
        };
        // The comment in `key: [] # why` stays, above the first entry.
        let head = format!("{}{}", self.text[..start].trim_end_matches(' '), &self.text[end..]);
        let at = after_block(&head, entry.key_end, entry.column);
        let step = entry.column + self.step();
        let lines = match value {
            Value::Array(values) => values.iter().map(|value| block_item(value, step)).collect::<String>(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| block_entry(key, value, step)).collect()
            }
            _ => String::new(),
        };
        Ok(self.inserted(&head, at, &lines))
    }

    /// The range of a value that can be replaced on its own line.
    fn place_of(&self, entry: Option<&Entry>, node: &Node) -> Option<(usize, usize)> {
        match &node.kind {
            NodeKind::Scalar { is_block: true, .. } => {
                let colon = entry?.after_colon(&self.text)?;
                let start = colon + self.text[colon..].find(['|', '>'])?;
                Some((start, node.end))
            }
            NodeKind::Scalar { .. } if node.start == node.end => {
                let at = entry?.after_colon(&self.text)?;
                Some((at, at))
            }
            NodeKind::Scalar { .. } => Some((node.start, node.end)),
            NodeKind::Mapping { is_flow, .. } | NodeKind::Sequence { is_flow, .. } => {
                is_flow.then_some((node.start, node.end))
            }
        }
    }

    fn with_entry(
        &self,
        entry: Option<&Entry>,
        node: &Node,
        key: &str,
        value: &Value,
    ) -> Result<String, String> {
        let one = || Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
        match &node.kind {
            _ if node.is_alias => Err("it is an alias of something else".to_owned()),
            NodeKind::Scalar { .. } | NodeKind::Mapping { .. } if node.is_nothing() => {
                self.with_replaced(entry, node, &one())
            }
            NodeKind::Mapping { entries, is_flow: true } => {
                let at = entries.last().map_or(node.start + 1, |last| last.end(&self.text));
                let new = format!("{}{}", key_text(key), inline_after_colon(value));
                Ok(format!("{}, {new}{}", &self.text[..at], &self.text[at..]))
            }
            NodeKind::Mapping { entries, is_flow: false } => {
                let column = entries.first().map_or(0, |first| first.column);
                let at = after_block(&self.text, node.end, column);
                Ok(self.inserted(&self.text, at, &block_entry(key, value, column)))
            }
            NodeKind::Scalar { .. } | NodeKind::Sequence { .. } => {
                Err(format!("there is no mapping to set '{key}' in"))
            }
        }
    }

    fn with_pushed(
        &self,
        node: &Node,
        values: &[Node],
        is_flow: bool,
        value: &Value,
    ) -> Result<String, String> {
        let Some(last) = values.last().filter(|_| !node.is_alias) else {
            return Err("it is an alias of something else".to_owned());
        };
        if is_flow {
            let at = last.end;
            return Ok(format!("{}, {}{}", &self.text[..at], inline(value), &self.text[at..]));
        }
        let line = self.text[..last.start].rfind('\n').map_or(0, |at| at + 1);
        let dash = self.text[line..last.start].rfind('-').ok_or("its entries are on separate lines")?;
        let at = after_block(&self.text, node.end, dash);
        Ok(self.inserted(&self.text, at, &block_item(value, dash)))
    }

    /// Inserts whole lines before a line, with the line endings of the document.
    fn inserted(&self, text: &str, at: usize, lines: &str) -> String {
        let is_windows = self.text.contains("\r\n");
        let ending = if is_windows { "\r\n" } else { "\n" };
        let lines = if is_windows { lines.replace('\n', "\r\n") } else { lines.to_owned() };
        let before = if text[..at].is_empty() || text[..at].ends_with('\n') { "" } else { ending };
        // If the document has no line ending at its end, none is added there.
        let lines = if before.is_empty() { &lines } else { lines.trim_end_matches(['\n', '\r']) };
        format!("{}{before}{lines}{}", &text[..at], &text[at..])
    }

    /// The number of spaces by which one level is indented.
    fn step(&self) -> usize {
        let NodeKind::Mapping { entries, .. } = &self.root.kind else { return 2 };
        let inner = entries.iter().find_map(|entry| match &entry.value.kind {
            NodeKind::Mapping { entries, is_flow: false } => Some(entries.first()?.column - entry.column),
            _ => None,
        });
        inner.filter(|step| (1..=8).contains(step)).unwrap_or(2)
    }
}

const MARK: char = '\u{feff}';

fn nested(deeper: &[Step<'_>], value: &Value) -> Result<Value, String> {
    deeper.iter().rev().try_fold(value.clone(), |inner, step| match step {
        Step::Key(key) => Ok(Value::Object(Map::from_iter([((*key).to_owned(), inner)]))),
        Step::At(_) => Err("there is no such list in it".to_owned()),
    })
}

/// Applies an edit to the values. The result is the expected content of the edited text.
fn put(target: &mut Value, path: &[Step<'_>], value: &Value, is_pushed: bool) {
    let Some((step, deeper)) = path.split_first() else {
        match target {
            Value::Array(values) if is_pushed => values.push(value.clone()),
            _ if is_pushed => *target = Value::Array(vec![value.clone()]),
            _ => *target = value.clone(),
        }
        return;
    };
    match step {
        Step::Key(key) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            if let Value::Object(fields) = target {
                put(fields.entry(*key).or_insert(Value::Null), deeper, value, is_pushed);
            }
        }
        Step::At(place) => {
            if let Some(inner) = target.as_array_mut().and_then(|values| values.get_mut(*place)) {
                put(inner, deeper, value, is_pushed);
            }
        }
    }
}

fn needs_block(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(values) => values.iter().any(|value| value.is_object() || value.is_array()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn inline_after_colon(value: &Value) -> String {
    format!(": {}", inline(value))
}

/// The start of the line after a block. Comments with deeper indentation belong to the block.
fn after_block(text: &str, end: usize, column: usize) -> usize {
    let mut at = line_after(text, end);
    while at < text.len() {
        let line = text[at..].lines().next().unwrap_or_default();
        let words = line.trim_start_matches(' ');
        if !words.starts_with('#') || line.len() - words.len() <= column {
            break;
        }
        at = line_after(text, at);
    }
    at
}

fn line_after(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}
