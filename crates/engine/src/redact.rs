//! Takes secrets out of what is about to be kept. Pure, and does no work on text that holds nothing suspicious.

mod event;
mod pair;
mod token;

pub(crate) use event::event;

use serde_json::Value;
use std::fmt;
use std::ops::Range;

/// What sort of secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
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

impl fmt::Display for Kind {
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

/// A secret's place in a text.
type Found = (Range<usize>, Kind);

/// The text without its secrets, and what they were; none when it holds none.
pub(crate) fn text(text: &str) -> Option<(String, Vec<Kind>)> {
    let mut found: Vec<Found> = token::find(text);
    found.extend(pair::find(text));
    if found.is_empty() {
        return None;
    }
    // Where one lies in another, the one that begins first and reaches furthest stands for both.
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
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

/// The text without its secrets.
pub(crate) fn cleaned(given: &str) -> String {
    text(given).map_or_else(|| given.to_owned(), |(clean, _)| clean)
}

/// Takes secrets out of a text in place.
pub(crate) fn in_text(given: &mut String) -> Vec<Kind> {
    match text(given) {
        None => Vec::new(),
        Some((clean, kinds)) => {
            *given = clean;
            kinds
        }
    }
}

/// Takes secrets out of a value under this name: all of it where the name says what it is.
pub(crate) fn in_value(name: &str, value: &mut Value) -> Vec<Kind> {
    match value {
        Value::String(given) => match pair::named(name) {
            Some(kind) if !given.is_empty() && !given.starts_with(MARK) => {
                *given = mark(kind);
                vec![kind]
            }
            Some(_) | None => in_text(given),
        },
        Value::Array(values) => values.iter_mut().flat_map(|value| in_value(name, value)).collect(),
        Value::Object(fields) => fields.iter_mut().flat_map(|(name, value)| in_value(name, value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

const MARK: &str = "[redacted: ";

fn mark(kind: Kind) -> String {
    format!("{MARK}{kind}]")
}

#[cfg(test)]
mod tests;
