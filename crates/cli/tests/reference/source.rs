//! Reads types and their doc comments from the model's source, as rustfmt formats it.

use crate::root;
use std::path::Path;

/// A struct or an enum.
#[derive(Debug)]
pub struct Type {
    pub doc: String,
    /// The variants of an enum; a struct has a single one, without a name.
    pub variants: Vec<Variant>,
    pub is_enum: bool,
    pub attributes: String,
}

#[derive(Debug, Default)]
pub struct Variant {
    pub name: String,
    pub doc: String,
    pub attributes: String,
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub of: String,
    pub doc: String,
    pub attributes: String,
}

/// The type of this name, anywhere in the model.
pub fn find(name: &str) -> Option<Type> {
    find_below(&root().join("crates/model/src"), name)
}

fn find_below(folder: &Path, name: &str) -> Option<Type> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().find_map(|path| {
        if path.is_dir() {
            return find_below(path, name);
        }
        read(&std::fs::read_to_string(path).unwrap(), name)
    })
}

fn read(text: &str, name: &str) -> Option<Type> {
    let lines: Vec<&str> = text.lines().collect();
    let opens = |keyword: &str| lines.iter().position(|line| *line == format!("pub {keyword} {name} {{"));
    let (start, is_enum) = opens("enum").map(|at| (at, true)).or(opens("struct").map(|at| (at, false)))?;
    let end = start + lines[start..].iter().position(|line| *line == "}")?;
    let above: Vec<&str> = lines[..start]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("///") || line.starts_with("#["))
        .copied()
        .collect();
    let (doc, attributes) = about(&above.into_iter().rev().collect::<Vec<_>>());
    let body = &lines[start + 1..end];
    let variants = if is_enum {
        variants(body)
    } else {
        vec![Variant { fields: fields(body, "    "), ..Variant::default() }]
    };
    Some(Type { doc, variants, is_enum, attributes })
}

fn variants(body: &[&str]) -> Vec<Variant> {
    let mut found = Vec::new();
    let mut above = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let line = body[at].strip_prefix("    ").unwrap_or(body[at]);
        at += 1;
        if line.starts_with("///") || line.starts_with("#[") {
            above.push(line);
            continue;
        }
        let (doc, attributes) = about(&std::mem::take(&mut above));
        let name: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
        let fields = if let Some(inline) = line.split_once("{ ").and_then(|(_, rest)| rest.split_once(" }")) {
            inline.0.split(", ").filter_map(|text| field(text, &[])).collect()
        } else if line.ends_with('{') {
            let length = body[at..].iter().position(|line| *line == "    },").unwrap_or(0);
            let inside = &body[at..at + length];
            at += length + 1;
            fields(inside, "        ")
        } else {
            Vec::new()
        };
        found.push(Variant { name, doc, attributes, fields });
    }
    found
}

fn fields(body: &[&str], indent: &str) -> Vec<Field> {
    let mut found = Vec::new();
    let mut above = Vec::new();
    for line in body.iter().filter_map(|line| line.strip_prefix(indent)) {
        if line.starts_with("///") || line.starts_with("#[") {
            above.push(line);
        } else if let Some(field) = field(line.trim_end_matches(','), &std::mem::take(&mut above)) {
            found.push(field);
        }
    }
    found
}

/// A field of a type; `None` if the field is private.
fn field(text: &str, above: &[&str]) -> Option<Field> {
    let (name, of) = text.trim_start_matches("pub ").split_once(": ")?;
    let (doc, attributes) = about(above);
    Some(Field { name: name.to_owned(), of: of.to_owned(), doc, attributes })
}

fn about(lines: &[&str]) -> (String, String) {
    let doc: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("///")).map(str::trim).collect();
    let attributes: Vec<&str> = lines.iter().filter(|line| line.starts_with("#[")).copied().collect();
    (doc.join(" "), attributes.join(" "))
}

/// The name under which an event or a refusal is stored: `PhaseNotCurrent` becomes `phase_not_current`.
pub fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
