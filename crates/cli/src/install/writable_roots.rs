//! The list of folders to which Codex's sandbox may write, in Codex's settings (TOML). Works on texts. All other
//! settings stay.

use crate::install::marked_section::{Marks, with_section, without_section};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const TABLE: &str = "sandbox_workspace_write";
const LIST: &str = "writable_roots";
/// The mark at the end of a line that leftoff added to a table that already existed.
const OURS: &str = " # leftoff";

/// The text with these folders in the list. The error says what the user must write by hand.
pub fn with_roots(text: Option<&str>, roots: &[String]) -> Result<String, String> {
    let mut text = text.map(ToOwned::to_owned);
    for root in roots {
        text = Some(with_root(text.as_deref(), root)?);
    }
    Ok(text.unwrap_or_default())
}

/// The text without these folders in the list. `None` if nothing else was in the text.
pub fn without_roots(text: &str, roots: &[String]) -> Result<Option<String>, String> {
    let mut text = text.to_owned();
    for root in roots.iter().rev() {
        match without_root(&text, root)? {
            Some(shorter) => text = shorter,
            None => return Ok(None),
        }
    }
    Ok(Some(text))
}

/// True if the list contains all of these folders.
pub fn has_roots(text: &str, roots: &[String]) -> bool {
    let Ok(document) = DeTable::parse(text) else { return false };
    match found(text, &document) {
        Found::List(list) => roots.iter().all(|root| element(list, root).is_some()),
        Found::Table(_) | Found::Nothing | Found::Other => false,
    }
}

enum Found<'b, 'a> {
    Nothing,
    /// The table exists, without the list. The position is the end of the line with the table's header.
    Table(usize),
    List(&'b Spanned<DeValue<'a>>),
    /// The list is written in a form that leftoff cannot edit.
    Other,
}

fn with_root(text: Option<&str>, root: &str) -> Result<String, String> {
    let whole = text.unwrap_or_default();
    let document = parsed(whole)?;
    let quoted = quoted(root);
    Ok(match found(whole, &document) {
        Found::Nothing => with_section(text, Marks::Hash, &format!("[{TABLE}]\n{LIST} = [{quoted}]")),
        Found::Table(end) => format!("{}\n{LIST} = [{quoted}]{OURS}{}", &whole[..end], &whole[end..]),
        Found::List(list) if element(list, root).is_some() => whole.to_owned(),
        Found::List(list) => {
            let start = list.span().start + 1;
            let is_empty = list.get_ref().as_array().is_none_or(|elements| elements.is_empty());
            let comma = if is_empty { "" } else { ", " };
            format!("{}{quoted}{comma}{}", &whole[..start], &whole[start..])
        }
        Found::Other => {
            return Err(format!(
                "leftoff cannot edit {TABLE}.{LIST} in the form in which it is written; add {quoted} by hand"
            ));
        }
    })
}

fn without_root(text: &str, root: &str) -> Result<Option<String>, String> {
    let document = parsed(text)?;
    let Found::List(list) = found(text, &document) else { return Ok(Some(text.to_owned())) };
    let Some((start, end)) = element(list, root) else { return Ok(Some(text.to_owned())) };
    let only = list.get_ref().as_array().is_some_and(|elements| elements.len() == 1);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
    let line = &text[line_start..line_end];
    if only && line == format!("{LIST} = [{}]{OURS}", quoted(root)) {
        return Ok(Some(format!("{}{}", &text[..line_start - 1], &text[line_end..])));
    }
    let block = format!("[{TABLE}]\n{LIST} = [{}]\n", quoted(root));
    if only && text[..line_end + 1.min(text.len() - line_end)].ends_with(&block) && is_marked(text, line_end)
    {
        return Ok(without_section(text, Marks::Hash));
    }
    let (before, after) = (&text[..start], &text[end..]);
    Ok(Some(match (before.strip_suffix(", "), after.strip_prefix(", ")) {
        (_, Some(rest)) => format!("{before}{rest}"),
        (Some(rest), None) => format!("{rest}{after}"),
        (None, None) => format!("{before}{after}"),
    }))
}

/// True if the next line is the mark that ends leftoff's section.
fn is_marked(text: &str, line_end: usize) -> bool {
    text[line_end..].trim_start_matches('\n').starts_with("# END leftoff")
}

fn found<'b, 'a>(text: &str, document: &'b Spanned<DeTable<'a>>) -> Found<'b, 'a> {
    let Some((_, table)) = document.get_ref().get_key_value(TABLE) else { return Found::Nothing };
    let DeValue::Table(inner) = table.get_ref() else { return Found::Other };
    match inner.get(LIST) {
        Some(list) if list.get_ref().is_array() => Found::List(list),
        // For a table with a header, the parser's range is that of the header.
        None if text.get(table.span()) == Some(&format!("[{TABLE}]")) => {
            let end = table.span().end;
            Found::Table(text[end..].find('\n').map_or(text.len(), |newline| end + newline))
        }
        Some(_) | None => Found::Other,
    }
}

fn element(list: &Spanned<DeValue<'_>>, root: &str) -> Option<(usize, usize)> {
    let elements = list.get_ref().as_array()?;
    let ours = elements.iter().find(|element| element.get_ref().as_str() == Some(root))?;
    Some((ours.span().start, ours.span().end))
}

fn parsed(text: &str) -> Result<Spanned<DeTable<'_>>, String> {
    DeTable::parse(text).map_err(|error| format!("the file is not TOML: {}", error.message()))
}

/// A quoted string in TOML. It is written like a string in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_and_out_again_is_byte_for_byte_the_same() {
        let roots = ["/p/.git/leftoff".to_owned(), "/p/.git/\"odd\"".to_owned()];
        for text in [
            "",
            "model = \"m\"\n",
            "model = \"m\"",
            "[sandbox_workspace_write]\nnetwork_access = true\n\n[other]\nx = 1\n",
            "[sandbox_workspace_write]\n",
            "[sandbox_workspace_write] # mine\nnetwork_access = true\n",
            "[sandbox_workspace_write]\nwritable_roots = [] # none\n",
            "[sandbox_workspace_write]\nwritable_roots = [\"/a\", \"/b\"]\n",
            "[sandbox_workspace_write]\nwritable_roots = [\n  \"/a\", # why\n]\n",
            "sandbox_workspace_write = { writable_roots = [\"/a\"] }\n",
        ] {
            let once = with_roots(Some(text), &roots).expect("in");
            assert!(has_roots(&once, &roots), "{once}");
            assert_eq!(with_roots(Some(&once), &roots).as_deref(), Ok(once.as_str()), "twice is once");
            assert_eq!(without_roots(&once, &roots), Ok(Some(text.to_owned())), "{once}");
            assert_eq!(without_roots(text, &roots), Ok(Some(text.to_owned())));
        }
        let alone = with_roots(None, &roots).expect("in");
        assert_eq!(without_roots(&alone, &roots), Ok(None));
    }

    #[test]
    fn two_projects_share_a_section() {
        let [one, two] = [["/one".to_owned()], ["/two".to_owned()]];
        let both = with_roots(Some(&with_roots(Some("m = 1\n"), &one).unwrap()), &two).unwrap();
        let left = without_roots(&both, &one).unwrap().unwrap();
        assert!(has_roots(&left, &two) && !has_roots(&left, &one), "{left}");
        assert_eq!(without_roots(&left, &two), Ok(Some("m = 1\n".to_owned())), "{left}");
    }

    #[test]
    fn what_cannot_be_edited_is_said() {
        for text in [
            "sandbox_workspace_write = { network_access = true }\n",
            "sandbox_workspace_write = 1\n",
            "a = [\n",
        ] {
            with_roots(Some(text), &["/r".to_owned()]).unwrap_err();
        }
    }
}
