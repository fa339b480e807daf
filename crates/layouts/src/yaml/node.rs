//! Parses a YAML document into a tree with source positions. Its depth and size are limited.

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The maximum depth of nesting. Files that people write are much flatter.
const DEEPEST: usize = 32;
/// The maximum number of values. Each use of an alias counts all values of the alias again, because a few
/// lines of aliases can stand for millions of values.
const MOST_NODES: usize = 50_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// The position of the node's first byte. A block extends from the start of its first entry to the end of
    /// its last.
    pub start: usize,
    pub end: usize,
    pub kind: NodeKind,
    /// True for `*name`, whose content is in another place.
    pub is_alias: bool,
    size: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Scalar { value: Value, style: Style, is_block: bool },
    Mapping { entries: Vec<Entry>, is_flow: bool },
    Sequence { values: Vec<Node>, is_flow: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub key_end: usize,
    pub column: usize,
    pub is_flow: bool,
    pub value: Node,
}

impl Entry {
    /// The position at which the value of this entry may start.
    pub fn after_colon(&self, text: &str) -> Option<usize> {
        let rest = &text[self.key_end..];
        let colon = rest.find(':')?;
        rest[..colon].trim().is_empty().then_some(self.key_end + colon + 1)
    }

    pub fn end(&self, text: &str) -> usize {
        if self.value.start == self.value.end {
            self.after_colon(text).unwrap_or(self.value.end)
        } else {
            self.value.end
        }
    }
}

impl Node {
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar { value, .. } => value.clone(),
            NodeKind::Sequence { values, .. } => values.iter().map(Self::value).collect(),
            NodeKind::Mapping { entries, .. } => {
                Value::Object(entries.iter().map(|entry| (entry.key.clone(), entry.value.value())).collect())
            }
        }
    }

    /// True for an empty value: null, `[]` or `{}`.
    pub fn is_nothing(&self) -> bool {
        match &self.kind {
            NodeKind::Scalar { value, .. } => value.is_null(),
            NodeKind::Sequence { values, .. } => values.is_empty(),
            NodeKind::Mapping { entries, .. } => entries.is_empty(),
        }
    }
}

/// Parses the first document of a text, and returns warnings about it. The error says why the text cannot be
/// parsed.
pub(super) fn parse(text: &str) -> Result<(Node, Vec<String>), String> {
    let mut options = granit_parser::options! {
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    options.set_emit_comments(false);
    let mut builder = Builder { text, ..Builder::default() };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| {
            format!("line {}, column {}: {}", error.marker().line(), error.marker().col() + 1, error.info())
        })?;
        builder.take(event, &span)?;
    }
    let root = builder.root.ok_or("it is empty")?;
    Ok((root, builder.warnings))
}

/// A list or mapping of which the end has not been parsed yet.
struct Open {
    start: usize,
    end: usize,
    is_flow: bool,
    anchor: usize,
    size: usize,
    inside: Inside,
}

enum Inside {
    Mapping { entries: Vec<Entry>, key: Option<Key> },
    Sequence { values: Vec<Node> },
}

struct Key {
    text: String,
    end: usize,
    column: usize,
}

#[derive(Default)]
struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    warnings: Vec<String>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), String> {
        let line = span.start.line();
        let (start, mut end) = (bytes(span.start.byte_offset())?, bytes(span.end.byte_offset())?);
        if let Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..) = &event {
            // The parser gives the start of the next key as the end of the value.
            end = self.text[..end].trim_end().len();
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().map(ToString::to_string);
                if let Some(tag) = &tag {
                    self.warn(line, &format!("has the tag {tag}, which is ignored"));
                }
                self.warn_of_anchor(line, anchor);
                if self.wants_key() {
                    return self.take_key(text, span, start, end);
                }
                self.add(scalar(text, style, start, end), anchor)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.begin(line, start, style, anchor, tag.is_some(), || Inside::Mapping {
                    entries: Vec::new(),
                    key: None,
                })
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.begin(line, start, style, anchor, tag.is_some(), || Inside::Sequence {
                    values: Vec::new(),
                })
            }
            Event::MappingEnd | Event::SequenceEnd => self.close(end),
            Event::Alias(anchor) => {
                self.warn(line, "is an alias, and is read as the value it refers to");
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(format!("line {line}: an alias refers to a value that contains it"));
                };
                let node = Node { start, end, is_alias: true, ..node.clone() };
                if self.wants_key() {
                    return Err(format!("line {line}: a key is an alias"));
                }
                self.add(node, 0)
            }
            Event::DocumentStart(..) if self.root.is_some() => {
                self.warn(line, "a second document starts, which is ignored");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { inside: Inside::Mapping { key: None, .. }, .. }))
    }

    fn take_key(&mut self, text: Cow<'_, str>, span: &Span, start: usize, end: usize) -> Result<(), String> {
        let Some(Open { inside: Inside::Mapping { entries, key }, .. }) = self.open.last_mut() else {
            return Err(format!("line {}: a key without a mapping", span.start.line()));
        };
        if end > start || !text.is_empty() {
            let is_double = entries.iter().any(|entry| entry.key == text);
            *key = Some(Key { text: text.into_owned(), end, column: span.start.col() });
            if is_double {
                self.warn(span.start.line(), "is set more than once; the last value is used");
            }
            return Ok(());
        }
        Err(format!("line {}: a key is empty", span.start.line()))
    }

    fn begin(
        &mut self,
        line: usize,
        start: usize,
        style: StructureStyle,
        anchor: usize,
        has_tag: bool,
        inside: impl FnOnce() -> Inside,
    ) -> Result<(), String> {
        if self.wants_key() {
            return Err(format!("line {line}: a key is not a string"));
        }
        if has_tag {
            self.warn(line, "has a tag, which is ignored");
        }
        self.warn_of_anchor(line, anchor);
        if self.open.len() >= DEEPEST {
            return Err(format!("line {line}: it is nested deeper than {DEEPEST} levels"));
        }
        let is_flow = matches!(style, StructureStyle::Flow);
        self.open.push(Open { start, end: start, is_flow, anchor, size: 1, inside: inside() });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let kind = match open.inside {
            Inside::Mapping { entries, .. } => NodeKind::Mapping { entries, is_flow: open.is_flow },
            Inside::Sequence { values } => NodeKind::Sequence { values, is_flow: open.is_flow },
        };
        let end = if open.is_flow { end } else { open.end };
        self.add(Node { start: open.start, end, kind, is_alias: false, size: open.size }, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), String> {
        self.nodes += node.size.max(1);
        if self.nodes > MOST_NODES {
            return Err(format!("it has more than {MOST_NODES} values, including aliases"));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return Ok(());
        };
        open.end = open.end.max(node.end);
        open.size += node.size;
        match &mut open.inside {
            Inside::Sequence { values } => values.push(node),
            Inside::Mapping { entries, key } => {
                if let Some(Key { text, end, column }) = key.take() {
                    open.end = open.end.max(end);
                    let is_flow = open.is_flow;
                    entries.push(Entry { key: text, key_end: end, column, is_flow, value: node });
                }
            }
        }
        Ok(())
    }

    fn warn_of_anchor(&mut self, line: usize, anchor: usize) {
        if anchor > 0 {
            self.warn(line, "has an anchor");
        }
    }

    /// Adds a warning that names the value by its keys.
    fn warn(&mut self, line: usize, what: &str) {
        let keys: Vec<String> = self
            .open
            .iter()
            .filter_map(|open| match &open.inside {
                Inside::Mapping { key, .. } => key.as_ref().map(|key| key.text.clone()),
                Inside::Sequence { values } => Some((values.len() + 1).to_string()),
            })
            .collect();
        let name = if keys.is_empty() { String::new() } else { format!("'{}' ", keys.join(".")) };
        self.warnings.push(format!("line {line}: {name}{what}"));
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, start: usize, end: usize) -> Node {
    let (value, style, is_block) = match style {
        ScalarStyle::Plain if start == end => (Value::Null, Style::Plain, false),
        ScalarStyle::Plain => (plain(&text), Style::Plain, false),
        ScalarStyle::SingleQuoted => (Value::String(text.into_owned()), Style::Single, false),
        ScalarStyle::DoubleQuoted => (Value::String(text.into_owned()), Style::Double, false),
        ScalarStyle::Literal | ScalarStyle::Folded => (Value::String(text.into_owned()), Style::Double, true),
    };
    Node {
        start: start.min(end),
        end,
        kind: NodeKind::Scalar { value, style, is_block },
        is_alias: false,
        size: 1,
    }
}

/// The value of an unquoted word in the core schema of YAML 1.2.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix: u32| {
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        is_number.then(|| u64::from_str_radix(digits, radix).ok()).flatten().map(Number::from)
    };
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let begins = bare.strip_prefix('.').unwrap_or(bare);
    let is_number = begins.starts_with(|first: char| first.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if !is_number {
        return None;
    }
    if let Ok(whole) = text.strip_prefix('+').unwrap_or(text).parse::<i64>() {
        return Some(Number::from(whole));
    }
    // An integer that is too large for 64 bits stays a string, because a float would round it.
    if bare.chars().all(|digit| digit.is_ascii_digit()) {
        return text.parse::<u64>().ok().map(Number::from);
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

fn bytes(offset: Option<usize>) -> Result<usize, String> {
    offset.ok_or_else(|| "the position of a value is unknown".to_owned())
}
