//! Writes a parsed lambda as CEL. Python accepts values of any type as conditions, so the type of each value
//! must be known.

use super::parse::{Comparison, Node};
use super::{Declared, truth};
use model::workflow::ValueType;
use serde_json::Value;
use std::collections::BTreeMap;

/// The type of an expression's result, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultType {
    Boolean,
    /// An integer, or a number that may be an integer or a fraction.
    Number,
    /// A fraction. CEL does not mix fractions with integers.
    Decimal,
    Text,
    List,
    Object,
    Nothing,
    Unknown,
}

pub(super) struct Written {
    pub(super) text: String,
    pub(super) kind: ResultType,
    /// True if the type is certain: it is declared, or the expression is a literal.
    pub(super) is_sure: bool,
}

impl Written {
    fn sure(text: impl Into<String>, kind: ResultType) -> Self {
        Self { text: text.into(), kind, is_sure: kind != ResultType::Unknown }
    }
}

enum Bound {
    Field(String),
    Evidence,
    Value(String, ResultType),
}

pub(super) struct Scope<'a> {
    declared: &'a Declared,
    names: BTreeMap<String, Bound>,
}

/// A CEL condition that is true if the field was given.
pub(super) fn is_given(field: &str) -> String {
    if is_plain(field) { format!("has(evidence.{field})") } else { format!("{} in evidence", quoted(field)) }
}

impl<'a> Scope<'a> {
    pub(super) fn new(declared: &'a Declared) -> Self {
        Self { declared, names: BTreeMap::new() }
    }

    pub(super) fn bind_field(&mut self, name: &str, field: &str) {
        self.names.insert(name.to_owned(), Bound::Field(field.to_owned()));
    }

    pub(super) fn bind_evidence(&mut self, name: &str) {
        self.names.insert(name.to_owned(), Bound::Evidence);
    }

    pub(super) fn bind_value(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let (text, kind) = literal(value).ok_or_else(|| format!("the parameter '{name}' with {value}"))?;
        self.names.insert(name.to_owned(), Bound::Value(text, kind));
        Ok(())
    }

    /// A boolean condition in CEL, in parentheses.
    pub(super) fn condition(&self, node: &Node) -> Result<String, String> {
        bounded(match node {
            Node::Not(inner) => format!("(!{})", self.condition(inner)?),
            Node::And(parts) => all_of(self.conditions(parts)?),
            Node::Or(parts) => any_of(self.conditions(parts)?),
            Node::Compare(first, others) => self.comparisons(first, others)?,
            _ => truth::is_true(&self.value(node)?),
        })
    }

    fn conditions(&self, parts: &[Node]) -> Result<Vec<String>, String> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    /// `a < b < c` means `a < b` and `b < c`.
    fn comparisons(&self, first: &Node, others: &[(Comparison, Node)]) -> Result<String, String> {
        let mut left = self.value(first)?;
        let mut parts = Vec::new();
        for (comparison, node) in others {
            let is_last = others.last().is_some_and(|(_, last)| std::ptr::eq(last, node));
            if let (Comparison::In | Comparison::NotIn, Node::Tuple(members) | Node::List(members), true) =
                (comparison, node, is_last)
            {
                let members: Result<Vec<Written>, String> =
                    members.iter().map(|member| self.value(member)).collect();
                let is_in = truth::is_one_of(&left, &members?);
                parts.push(if *comparison == Comparison::In { is_in } else { format!("!({is_in})") });
                break;
            }
            let right = self.value(node)?;
            parts.push(match comparison {
                Comparison::Sign(sign) => truth::compared(&left, sign, &right)?,
                Comparison::Is => format!("{} == {}", left.text, right.text),
                Comparison::IsNot => format!("{} != {}", left.text, right.text),
                Comparison::In => contains(&left, &right)?,
                Comparison::NotIn => format!("!({})", contains(&left, &right)?),
            });
            left = right;
        }
        Ok(all_of(parts))
    }

    /// Writes a value. The size of each part is checked: an expression that doubles at each level would
    /// exhaust memory before its whole size could be checked.
    fn value(&self, node: &Node) -> Result<Written, String> {
        let written = self.value_of(node)?;
        Ok(Written { text: bounded(written.text)?, ..written })
    }

    fn value_of(&self, node: &Node) -> Result<Written, String> {
        let written = |text: String, kind: ResultType| Ok(Written::sure(text, kind));
        match node {
            Node::Number(number) => {
                let kind = if number.contains('.') { ResultType::Decimal } else { ResultType::Number };
                written(number.clone(), kind)
            }
            Node::Text(text) => written(quoted(text), ResultType::Text),
            Node::Boolean(flag) => written(flag.to_string(), ResultType::Boolean),
            Node::Nothing => written("null".to_owned(), ResultType::Nothing),
            Node::List(parts) => {
                let parts: Result<Vec<String>, String> =
                    parts.iter().map(|part| Ok(self.value(part)?.text)).collect();
                written(format!("[{}]", parts?.join(", ")), ResultType::List)
            }
            Node::Tuple(_) => Err("a tuple other than after 'in'".to_owned()),
            Node::Name(name) => self.name(name),
            Node::Item(of, key) => self.item(of, key),
            Node::Get(of, key, default) => self.get(of, key, default.as_deref()),
            Node::Length(of) => {
                let of = self.value(of)?;
                match of.kind {
                    ResultType::Text | ResultType::List | ResultType::Object | ResultType::Unknown => {
                        written(format!("size({})", of.text), ResultType::Number)
                    }
                    ResultType::Boolean | ResultType::Number | ResultType::Decimal | ResultType::Nothing => {
                        Err(format!("'len' of {}", of.text))
                    }
                }
            }
            Node::Negative(of) => {
                let of = self.number(of)?;
                Ok(Written { text: format!("-{}", of.text), ..of })
            }
            Node::Sum(left, sign, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                // Python's `+` also joins strings, so both sides must be certain to be numbers.
                if let Some(unsure) = [&left, &right].into_iter().find(|part| !part.is_sure)
                    && (left.kind, right.kind) != (ResultType::Number, ResultType::Number)
                {
                    return Err(uncountable(&unsure.text));
                }
                let is_sure = left.is_sure && right.is_sure;
                let (left, right, kind) = alike(&left, &right);
                Ok(Written { text: format!("({left} {sign} {right})"), kind, is_sure })
            }
            Node::Not(_) | Node::Compare(..) => written(self.condition(node)?, ResultType::Boolean),
            // In Python, `and` and `or` give one of the two values. In CEL they give only true or false.
            Node::And(_) => Err("'and' used as a value".to_owned()),
            Node::Or(_) => Err("'or' used as a value".to_owned()),
        }
    }

    /// Writes an operand that must be a number, because its operator means something else for strings and
    /// lists.
    fn number(&self, node: &Node) -> Result<Written, String> {
        let written = self.value(node)?;
        match written.kind {
            ResultType::Number | ResultType::Decimal => Ok(written),
            ResultType::Boolean
            | ResultType::Text
            | ResultType::List
            | ResultType::Object
            | ResultType::Nothing
            | ResultType::Unknown => Err(uncountable(&written.text)),
        }
    }

    fn name(&self, name: &str) -> Result<Written, String> {
        match self.names.get(name) {
            Some(Bound::Field(field)) => Ok(Written::sure(path(field), self.kind(field))),
            Some(Bound::Evidence) => Ok(Written::sure("evidence", ResultType::Object)),
            Some(Bound::Value(text, kind)) => Ok(Written::sure(text.as_str(), *kind)),
            None => Err(format!("the name '{name}'")),
        }
    }

    fn item(&self, of: &Node, key: &str) -> Result<Written, String> {
        if self.is_evidence(of) {
            return Ok(Written::sure(path(key), self.kind(key)));
        }
        let of = self.value(of)?;
        Ok(Written::sure(format!("{}[{}]", of.text, quoted(key)), ResultType::Unknown))
    }

    fn get(&self, of: &Node, key: &str, default: Option<&Node>) -> Result<Written, String> {
        let item = self.item(of, key)?;
        let default = default
            .map_or_else(|| Ok(Written::sure("null", ResultType::Nothing)), |node| self.value(node))?;
        let is_there = if self.is_evidence(of) {
            is_given(key)
        } else {
            format!("{} in {}", quoted(key), self.value(of)?.text)
        };
        let kind = if item.kind == default.kind || item.kind == ResultType::Unknown {
            default.kind
        } else {
            ResultType::Unknown
        };
        let kind = if kind == ResultType::Nothing { ResultType::Unknown } else { kind };
        let is_sure = item.is_sure && default.is_sure && kind != ResultType::Unknown;
        Ok(Written { text: format!("({is_there} ? {} : {})", item.text, default.text), kind, is_sure })
    }

    fn is_evidence(&self, node: &Node) -> bool {
        matches!(node, Node::Name(name) if matches!(self.names.get(name), Some(Bound::Evidence)))
    }

    fn kind(&self, field: &str) -> ResultType {
        match self.declared.get(field) {
            Some(ValueType::Boolean) => ResultType::Boolean,
            Some(ValueType::Integer) => ResultType::Number,
            Some(ValueType::Number) => ResultType::Decimal,
            Some(ValueType::String) => ResultType::Text,
            Some(ValueType::List) => ResultType::List,
            Some(ValueType::Object) => ResultType::Object,
            None => ResultType::Unknown,
        }
    }
}

/// Refuses expressions that gates do not evaluate.
pub(super) fn bounded(expression: String) -> Result<String, String> {
    const LONGEST: usize = 4096;
    if expression.len() > LONGEST {
        Err(format!("more than {LONGEST} characters of CEL"))
    } else {
        Ok(expression)
    }
}

fn uncountable(text: &str) -> String {
    format!("arithmetic with {text}, which is not declared as a number")
}

/// Two numbers written so that CEL accepts both: both as integers, or both as fractions. Also returns their
/// common type.
pub(super) fn alike(left: &Written, right: &Written) -> (String, String, ResultType) {
    let is_number = |written: &Written| matches!(written.kind, ResultType::Number | ResultType::Decimal);
    let is_mixed = is_number(left)
        && is_number(right)
        && (left.kind, right.kind) != (ResultType::Number, ResultType::Number);
    if is_mixed {
        (format!("double({})", left.text), format!("double({})", right.text), ResultType::Decimal)
    } else {
        (left.text.clone(), right.text.clone(), left.kind)
    }
}

/// Joins conditions so that they are evaluated from left to right until one is false, as in Python. CEL's own
/// operators ignore an error on one side if the other side decides; a rule about a missing field could then
/// pass.
fn all_of(parts: Vec<String>) -> String {
    let whole = parts.into_iter().rev().reduce(|rest, part| format!("({part} ? {rest} : false)"));
    whole.map(|whole| format!("({whole})")).unwrap_or_default()
}

pub(super) fn any_of(parts: Vec<String>) -> String {
    let whole = parts.into_iter().rev().reduce(|rest, part| format!("({part} ? true : {rest})"));
    whole.map(|whole| format!("({whole})")).unwrap_or_default()
}

fn contains(part: &Written, whole: &Written) -> Result<String, String> {
    if part.kind == ResultType::Boolean && whole.kind == ResultType::List {
        return Err("'in' with a boolean, which Python also counts as a number".to_owned());
    }
    match whole.kind {
        ResultType::List => Ok(truth::is_in_list(part, whole)),
        ResultType::Object => Ok(format!("{} in {}", part.text, whole.text)),
        ResultType::Text => Ok(format!("{}.contains({})", whole.text, part.text)),
        ResultType::Boolean
        | ResultType::Number
        | ResultType::Decimal
        | ResultType::Nothing
        | ResultType::Unknown => {
            Err(format!("'in' {}, which is not declared as a list, a string or an object", whole.text))
        }
    }
}

fn literal(value: &Value) -> Option<(String, ResultType)> {
    match value {
        Value::Null => Some(("null".to_owned(), ResultType::Nothing)),
        Value::Bool(flag) => Some((flag.to_string(), ResultType::Boolean)),
        Value::Number(number) if number.is_i64() => Some((number.to_string(), ResultType::Number)),
        Value::Number(number) => Some((format!("{:?}", number.as_f64()?), ResultType::Decimal)),
        Value::String(text) => Some((quoted(text), ResultType::Text)),
        Value::Array(values) => {
            let parts: Option<Vec<String>> = values.iter().map(|value| Some(literal(value)?.0)).collect();
            Some((format!("[{}]", parts?.join(", ")), ResultType::List))
        }
        Value::Object(_) => None,
    }
}

fn path(field: &str) -> String {
    if is_plain(field) { format!("evidence.{field}") } else { format!("evidence[{}]", quoted(field)) }
}

/// True if CEL accepts a field's name without quotation marks.
fn is_plain(field: &str) -> bool {
    const RESERVED: &[&str] = &[
        "in",
        "true",
        "false",
        "null",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&field)
}

/// A string literal in CEL, whose escapes are those of JSON.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}
