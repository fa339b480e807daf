//! Finds secrets by their prefix. Hashes, UUIDs and git ids have none of these prefixes.

use super::{Found, SecretKind};

/// A type of secret that has a characteristic prefix.
struct Shape {
    kind: SecretKind,
    begins: &'static str,
    /// Returns true for characters that may follow the prefix.
    may_follow: fn(char) -> bool,
    shortest: usize,
    longest: usize,
}

const fn shape(
    kind: SecretKind,
    begins: &'static str,
    may_follow: fn(char) -> bool,
    shortest: usize,
) -> Shape {
    Shape { kind, begins, may_follow, shortest, longest: usize::MAX }
}

const fn exactly(
    kind: SecretKind,
    begins: &'static str,
    may_follow: fn(char) -> bool,
    length: usize,
) -> Shape {
    Shape { kind, begins, may_follow, shortest: length, longest: length }
}

const SHAPES: &[Shape] = &[
    exactly(SecretKind::Aws, "AKIA", is_upper_or_digit, 16),
    exactly(SecretKind::Aws, "ASIA", is_upper_or_digit, 16),
    shape(SecretKind::GitHub, "ghp_", is_plain, 30),
    shape(SecretKind::GitHub, "gho_", is_plain, 30),
    shape(SecretKind::GitHub, "ghu_", is_plain, 30),
    shape(SecretKind::GitHub, "ghs_", is_plain, 30),
    shape(SecretKind::GitHub, "ghr_", is_plain, 30),
    shape(SecretKind::GitHub, "github_pat_", is_word, 22),
    shape(SecretKind::GitLab, "glpat-", is_url_safe, 20),
    shape(SecretKind::GitLab, "gldt-", is_url_safe, 20),
    shape(SecretKind::GitLab, "glrt-", is_url_safe, 20),
    shape(SecretKind::GitLab, "glptt-", is_url_safe, 20),
    shape(SecretKind::Slack, "xoxa-", is_url_safe, 10),
    shape(SecretKind::Slack, "xoxb-", is_url_safe, 10),
    shape(SecretKind::Slack, "xoxe-", is_url_safe, 10),
    shape(SecretKind::Slack, "xoxp-", is_url_safe, 10),
    shape(SecretKind::Slack, "xoxr-", is_url_safe, 10),
    shape(SecretKind::Slack, "xoxs-", is_url_safe, 10),
    shape(SecretKind::Slack, "xapp-", is_url_safe, 20),
    shape(SecretKind::Slack, "hooks.slack.com/services/", is_of_path, 20),
    shape(SecretKind::Stripe, "sk_live_", is_plain, 10),
    shape(SecretKind::Stripe, "sk_test_", is_plain, 10),
    shape(SecretKind::Stripe, "rk_live_", is_plain, 10),
    shape(SecretKind::Stripe, "rk_test_", is_plain, 10),
    shape(SecretKind::Stripe, "whsec_", is_plain, 20),
    shape(SecretKind::Anthropic, "sk-ant-", is_url_safe, 20),
    shape(SecretKind::OpenAi, "sk-proj-", is_url_safe, 20),
    shape(SecretKind::OpenAi, "sk-svcacct-", is_url_safe, 20),
    shape(SecretKind::OpenAi, "sk-admin-", is_url_safe, 20),
    // After `sk-`, only letters and digits may follow: `sk-learn-…` is not a key.
    shape(SecretKind::OpenAi, "sk-", is_plain, 32),
    exactly(SecretKind::Google, "AIza", is_url_safe, 35),
    exactly(SecretKind::Npm, "npm_", is_plain, 36),
    shape(SecretKind::HuggingFace, "hf_", is_plain, 30),
    shape(SecretKind::SendGrid, "SG.", is_of_jwt, 40),
];

const DASHES: &str = "-----";
const BEGINS: &str = "-----BEGIN ";
const ENDS: &str = "-----END ";

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = SHAPES.iter().flat_map(|shape| of_shape(text, shape)).collect();
    found.extend(web_tokens(text));
    found.extend(private_keys(text));
    found
}

fn of_shape<'a>(text: &'a str, shape: &'a Shape) -> impl Iterator<Item = Found> + 'a {
    text.match_indices(shape.begins).filter_map(|(start, begins)| {
        let after = start + begins.len();
        let length = run(&text[after..], shape.may_follow);
        let fits = (shape.shortest..=shape.longest).contains(&length) && !is_inside_a_word(text, start);
        fits.then_some((start..after + length, shape.kind))
    })
}

/// Finds JSON web tokens: three parts separated by dots, of which the first two are JSON in base64.
fn web_tokens(text: &str) -> impl Iterator<Item = Found> {
    text.match_indices("eyJ").filter_map(|(start, _)| {
        let length = run(&text[start..], is_of_jwt);
        let token = text[start..start + length].trim_end_matches('.');
        let parts: Vec<&str> = token.split('.').collect();
        let is_token = matches!(parts.as_slice(), [head, body, signature]
            if head.len() >= 10 && body.len() >= 10 && body.starts_with("eyJ") && signature.len() >= 10);
        (is_token && !is_inside_a_word(text, start)).then(|| (start..start + token.len(), SecretKind::Jwt))
    })
}

/// Finds private keys: the whole block or, if it is cut off, the part up to the end or from the beginning of the text.
fn private_keys(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut from = end_without_begin(text).unwrap_or_default();
    if from > 0 {
        found.push((0..from, SecretKind::PrivateKey));
    }
    while let Some(start) = text[from..].find(BEGINS).map(|place| from + place) {
        let label_at = start + BEGINS.len();
        let label = text[label_at..].split(DASHES).next().unwrap_or_default();
        from = label_at;
        if !is_of_private_key(label) {
            continue;
        }
        let close = format!("{ENDS}{label}{DASHES}");
        let end = text[label_at..].find(&close).map_or(text.len(), |place| label_at + place + close.len());
        found.push((start..end, SecretKind::PrivateKey));
        from = end;
    }
    found
}

/// Returns the end of a block whose first line is missing from the text.
fn end_without_begin(text: &str) -> Option<usize> {
    text.match_indices(ENDS).find_map(|(place, mark)| {
        let label = text[place + mark.len()..].split(DASHES).next().unwrap_or_default();
        let is_cut = is_of_private_key(label) && !text[..place].contains(&format!("{BEGINS}{label}{DASHES}"));
        let end = place + mark.len() + label.len() + DASHES.len();
        is_cut.then(|| end.min(text.len()))
    })
}

fn is_of_private_key(label: &str) -> bool {
    label.len() <= 60 && label.contains("PRIVATE KEY")
}

/// Returns the number of bytes at the beginning that consist of these characters.
fn run(text: &str, of: fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

/// True if the prefix is inside a word: `task-…` contains `sk-` but is not a key.
fn is_inside_a_word(text: &str, start: usize) -> bool {
    text[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn is_upper_or_digit(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_url_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_of_jwt(c: char) -> bool {
    is_url_safe(c) || c == '.'
}

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '/'
}
