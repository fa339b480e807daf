//! Finds secrets by their context: a name, `Authorization`, or a user in a URL.

use super::{Found, SecretKind};

/// Suffixes of names that have secret values.
const NAMES: &[(&str, SecretKind)] = &[
    ("password", SecretKind::Password),
    ("passwd", SecretKind::Password),
    ("passphrase", SecretKind::Password),
    ("pwd", SecretKind::Password),
    ("secret", SecretKind::Secret),
    ("secret_key", SecretKind::Secret),
    ("token", SecretKind::Token),
    ("api_key", SecretKind::ApiKey),
    ("api-key", SecretKind::ApiKey),
    ("apikey", SecretKind::ApiKey),
    ("access_key", SecretKind::ApiKey),
    ("private_key", SecretKind::PrivateKey),
];

/// Values that are not secret even after a name from `NAMES`.
const HARMLESS: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "yes",
    "no",
    "on",
    "off",
    "required",
    "optional",
    "missing",
    "empty",
    "expired",
    "invalid",
    "valid",
    "unset",
    "string",
    "str",
    "text",
    "redacted",
    "hidden",
    "secret",
    "password",
    "token",
];

/// Prefixes of expressions that fetch a value from elsewhere.
const FETCHED: &[&str] = &["os.", "process.env", "env.", "env!", "std::env", "secrets.", "vault:", "file:"];

/// How a value follows its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    Equals,
    Colon,
    /// As an option: `--password VALUE`.
    Option,
}

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    if text.contains("://") {
        found.extend(in_addresses(text));
    }
    if text.contains(['=', ':', ' ']) {
        let lower = text.to_ascii_lowercase();
        found.extend(authorizations(text, &lower));
        found.extend(assignments(text, &lower));
    }
    found
}

/// Returns the kind of secret in a field with this name.
pub(super) fn named(name: &str) -> Option<SecretKind> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    NAMES.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| *kind)
}

/// Finds passwords in URLs, as in `scheme://user:password@host`.
fn in_addresses(text: &str) -> impl Iterator<Item = Found> {
    text.match_indices("://").filter_map(|(place, mark)| {
        let from = place + mark.len();
        let end = text[from..].find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>'));
        let authority = &text[from..end.map_or(text.len(), |end| from + end)];
        let (account, _) = authority.rsplit_once('@')?;
        let (user, password) = account.split_once(':')?;
        let start = from + user.len() + 1;
        is_a_value(password, SecretKind::Password, Tie::Equals)
            .then(|| (start..start + password.len(), SecretKind::UrlPassword))
    })
}

/// Finds tokens after `Authorization: Bearer`, and long tokens after `Bearer` anywhere.
fn authorizations<'a>(text: &'a str, lower: &'a str) -> impl Iterator<Item = Found> + 'a {
    const SHORTEST: usize = 8;
    const SHORTEST_ALONE: usize = 20;
    let is_of_value = |c: char| c.is_ascii_alphanumeric() || "._~+/=-".contains(c);
    ["bearer ", "basic "].into_iter().flat_map(move |scheme| {
        lower.match_indices(scheme).filter_map(move |(place, scheme)| {
            let start = place + scheme.len();
            let value = text[start..].split(|c| !is_of_value(c)).next().unwrap_or_default();
            let before = lower[..place].trim_end_matches([' ', ':', '=', '"', '\'']);
            let is_header = before.ends_with("authorization");
            let is_long = scheme == "bearer " && value.len() >= SHORTEST_ALONE && has_digit_and_letter(value);
            ((is_header && value.len() >= SHORTEST) || is_long)
                .then(|| (start..start + value.len(), SecretKind::Authorization))
        })
    })
}

fn assignments<'a>(text: &'a str, lower: &'a str) -> impl Iterator<Item = Found> + 'a {
    NAMES.iter().flat_map(move |(name, kind)| {
        lower.match_indices(name).filter_map(move |(place, name)| {
            let (tie, at) = tied(text, place, place + name.len())?;
            let (start, value, quoted) = value_at(text, at);
            let tie = if quoted && tie == Tie::Colon { Tie::Equals } else { tie };
            is_a_value(value, *kind, tie).then(|| (start..start + value.len(), *kind))
        })
    })
}

/// Returns how and where the value after the name at this position begins; `None` if no value follows.
fn tied(text: &str, start: usize, end: usize) -> Option<(Tie, usize)> {
    let rest = &text[end..];
    let unquoted = rest.trim_start_matches(['\\', '"', '\'']);
    let spaced = unquoted.trim_start_matches([' ', '\t']);
    let at = |rest: &str| text.len() - rest.len();
    if let Some(after) = spaced.strip_prefix(":=").or_else(|| spaced.strip_prefix("=>")) {
        return Some((Tie::Equals, at(after)));
    }
    if let Some(after) = spaced.strip_prefix('=') {
        return (!after.starts_with('=')).then(|| (Tie::Equals, at(after)));
    }
    if let Some(after) = spaced.strip_prefix(':') {
        return (!after.starts_with(':')).then(|| (Tie::Colon, at(after)));
    }
    let word = text[..start].rsplit(char::is_whitespace).next().unwrap_or_default();
    (word.starts_with("--") && rest.starts_with(' ')).then(|| (Tie::Option, at(rest)))
}

/// Returns the value at this position: its beginning, its text, and true if it is quoted.
fn value_at(text: &str, from: usize) -> (usize, &str, bool) {
    let rest = text[from..].trim_start_matches([' ', '\t']);
    let start = text.len() - rest.len();
    let rest = rest.strip_prefix('\\').unwrap_or(rest);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let start = text.len() - rest.len() + 1;
        let value = text[start..].split(quote).next().unwrap_or_default();
        return (start, value.trim_end_matches('\\'), true);
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '&' | ',' | ';' | '"' | '\'' | '`' | '\\');
    (start, text[start..].split(ends).next().unwrap_or_default(), false)
}

/// True if the value may be a secret, and not a word about secrets, a variable or a count.
fn is_a_value(value: &str, kind: SecretKind, tie: Tie) -> bool {
    let lower = value.to_ascii_lowercase();
    let first = value.chars().next();
    let is_placeholder = match first {
        None | Some('$' | '<' | '{' | '%' | '@' | '[') => true,
        Some('-') => tie == Tie::Option,
        Some(first) => value.chars().all(|c| c == first),
    };
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_fetched = value.contains('(') || FETCHED.iter().any(|way| lower.starts_with(way));
    if value.len() < 3 || is_placeholder || is_fetched || HARMLESS.contains(&lower.as_str()) {
        return false;
    }
    // After `token`, a number is usually a count. After `password`, it may be the password.
    if is_number && kind != SecretKind::Password {
        return false;
    }
    match tie {
        Tie::Equals | Tie::Option => true,
        // Text such as "password: it must be longer" talks about a password but contains none.
        Tie::Colon => value.len() >= 6 && (has_digit_and_letter(value) || is_number),
    }
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}
