//! Removes secrets before anything is stored. Pure. Fast for text without anything suspicious.

mod by_context;
mod by_prefix;
mod event;

pub(crate) use event::{attempt, event};

use serde_json::Value;
use std::fmt;
use std::ops::Range;

/// The kind of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SecretKind {
    PrivateKey,
    Aws,
    GitHub,
    GitLab,
    Slack,
    Stripe,
    OpenAi,
    Anthropic,
    Google,
    Npm,
    HuggingFace,
    SendGrid,
    Jwt,
    Authorization,
    UrlPassword,
    Password,
    Secret,
    Token,
    ApiKey,
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrivateKey => "private key",
            Self::Aws => "AWS access key",
            Self::GitHub => "GitHub token",
            Self::GitLab => "GitLab token",
            Self::Slack => "Slack token",
            Self::Stripe => "Stripe key",
            Self::OpenAi => "OpenAI key",
            Self::Anthropic => "Anthropic key",
            Self::Google => "Google API key",
            Self::Npm => "npm token",
            Self::HuggingFace => "Hugging Face token",
            Self::SendGrid => "SendGrid key",
            Self::Jwt => "JSON web token",
            Self::Authorization => "authorization",
            Self::UrlPassword => "password in a URL",
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::ApiKey => "API key",
        })
    }
}

/// A secret's position in a text.
type Found = (Range<usize>, SecretKind);

/// Returns the text without its secrets, and the kinds of these; `None` if it has no secrets.
pub(crate) fn text(text: &str) -> Option<(String, Vec<SecretKind>)> {
    let found = places(text);
    if found.is_empty() {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    let mut kinds = Vec::new();
    let mut end = 0;
    for (range, kind) in found {
        if range.start < end {
            end = end.max(range.end);
            continue;
        }
        clean.push_str(&text[end..range.start]);
        clean.push_str(&mark(kind));
        kinds.push(kind);
        end = range.end;
    }
    clean.push_str(text.get(end..).unwrap_or_default());
    Some((clean, kinds))
}

/// Returns the positions of secrets, in order of their beginning. Secrets may overlap. If two begin at the same
/// position, the longer one comes first.
fn places(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = by_prefix::find(text);
    found.extend(by_context::find(text));
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    found
}

/// Returns the text without its secrets.
pub(crate) fn cleaned(given: &str) -> String {
    text(given).map_or_else(|| given.to_owned(), |(clean, _)| clean)
}

/// Removes secrets from a text in place. Returns their kinds.
pub(crate) fn in_text(given: &mut String) -> Vec<SecretKind> {
    match text(given) {
        None => Vec::new(),
        Some((clean, kinds)) => {
            *given = clean;
            kinds
        }
    }
}

/// Returns a copy of the value with this name, without secrets.
pub(crate) fn seen(name: &str, value: &Value) -> Value {
    let mut clean = value.clone();
    in_value(name, &mut clean);
    clean
}

/// Removes secrets from the value with this name. If the name says that the value is secret, all strings and numbers in
/// it are removed. Booleans are kept, because they reveal nothing.
pub(crate) fn in_value(name: &str, value: &mut Value) -> Vec<SecretKind> {
    match value {
        Value::String(given) => match by_context::named(name) {
            Some(kind) if !given.is_empty() && !given.starts_with(MARK) => {
                *given = mark(kind);
                vec![kind]
            }
            Some(_) | None => in_text(given),
        },
        Value::Array(values) => values.iter_mut().flat_map(|value| in_value(name, value)).collect(),
        Value::Object(fields) => fields
            .iter_mut()
            .flat_map(|(inner, value)| {
                // Everything inside a secret value is secret. If an inner name names a kind of secret, that kind is
                // used.
                let is_told_outside = by_context::named(inner).is_none() && by_context::named(name).is_some();
                in_value(if is_told_outside { name } else { inner }, value)
            })
            .collect(),
        Value::Number(_) => match by_context::named(name) {
            Some(kind) => {
                *value = Value::String(mark(kind));
                vec![kind]
            }
            None => Vec::new(),
        },
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

const MARK: &str = layouts::REDACTED;

fn mark(kind: SecretKind) -> String {
    format!("{MARK}{kind}]")
}

#[cfg(test)]
mod tests;
