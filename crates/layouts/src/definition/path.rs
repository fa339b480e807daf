//! Reads paths in a definition. Only paths inside the session's workspace are accepted.

use super::mistake::{Found, Report, is_unprintable, quoted};
use super::section::Text;

const PLACEHOLDERS: &[&str] = &["run", "item"];

pub(super) fn read(report: &mut Report, key: &str, path: Text) -> Found<String> {
    if let Some(problem) = problem(path.text) {
        let message = format!("{} cannot be a path in '{key}': {problem}", quoted(path.text));
        return Err(report.add(path.offset, message));
    }
    refuse_unknown_placeholders(report, path)?;
    Ok(path.text.to_owned())
}

fn problem(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it is empty");
    }
    if path.chars().any(is_unprintable) {
        return Some("it contains a control character");
    }
    if path.contains('\\') {
        return Some("it contains '\\'; separate parts with '/'");
    }
    if path.starts_with('/') {
        return Some("it starts with '/'; paths are relative to the session's workspace");
    }
    if path.split('/').any(|part| part == "..") {
        return Some("it contains '..'; paths must stay inside the session's workspace");
    }
    if path.split('/').any(|part| part.is_empty() || part == ".") {
        return Some("it has an empty part or a part '.'; remove that part");
    }
    None
}

fn refuse_unknown_placeholders(report: &mut Report, path: Text) -> Found<()> {
    let hint = "'{run}' is the number of the run, '{item}' the id of the item";
    let mut rest = path.text;
    while let Some(brace) = rest.find(['{', '}']) {
        let inside = rest[brace..].strip_prefix('{');
        let Some((name, after)) = inside.and_then(|inside| inside.split_once('}')) else {
            let message = format!("{} has an unmatched brace", quoted(path.text));
            return Err(report.add_with_hint(path.offset, message, hint));
        };
        if !PLACEHOLDERS.contains(&name) {
            let offset = path.offset;
            return Err(report.add_unknown(offset, "placeholder", name, PLACEHOLDERS, hint));
        }
        rest = after;
    }
    Ok(())
}
