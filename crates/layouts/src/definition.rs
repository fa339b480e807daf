//! Reads a workflow definition from TOML. Compiles no expression and no pattern: the engine does that.

mod check;
mod declared;
mod duration;
mod lines;
mod mistake;
mod path;
mod phase;
mod requirement;
mod schema;
mod section;
mod template;
#[cfg(test)]
mod tests;
mod value;

pub use crate::hash::sha256;
pub use duration::seconds as duration_seconds;
pub use lines::{Lines, Place};
use mistake::Mistake;
pub use schema::schema;
pub use template::template;

use mistake::{Found, Report};
use model::workflow::{Indexing, OnComplete, Workflow};
use section::Section;
use toml::de::{DeTable, DeValue};

const KEYS: &[&str] = &[
    "name",
    "version",
    "title",
    "indexing",
    "on_complete",
    "keep_going",
    "hold_at_stop",
    "phase",
    "fields",
    "requirement",
];
const INDEXINGS: &[(&str, Indexing)] = &[("one", Indexing::One), ("zero", Indexing::Zero)];
const ON_COMPLETES: &[(&str, OnComplete)] = &[("close", OnComplete::Close), ("stay", OnComplete::Stay)];

/// A definition without mistakes, and the positions of the texts in it that the engine compiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub workflow: Workflow,
    pub lines: Lines,
}

/// Reads a definition. If it has mistakes, all of them are returned, in the order of the source; this list is
/// never empty.
pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    let mut report = Report::new(text);
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let place = error.span().map_or(0, |span| span.start);
            report.add(place, format!("this is not TOML: {}", error.message()));
            return Err(report.into_mistakes());
        }
    };
    let reading = read_document(&mut report, text, document.get_ref());
    match reading {
        Ok(reading) if report.is_clean() => Ok(reading),
        Ok(_) | Err(_) => Err(report.into_mistakes()),
    }
}

fn read_document(report: &mut Report, text: &str, document: &DeTable<'_>) -> Found<Reading> {
    let root = Section::root(document);
    root.refuse_unknown_keys(report, KEYS);
    let name = root.required_name(report, "name");
    let version = version(report, &root);
    let title = root.line(report, "title");
    let indexing = root.choice(report, "indexing", INDEXINGS);
    let on_complete = root.choice(report, "on_complete", ON_COMPLETES);
    let keep_going = root.boolean(report, "keep_going");
    let hold_at_stop = root.boolean(report, "hold_at_stop");
    let phases = phase::read_all(report, &root);
    let fields = declared::fields(report, &root);
    let requirements = requirement::read_all(report, &root);

    let name = name?;
    let (phases, lines) = phases?;
    let workflow = Workflow {
        version: version?,
        title: title?.map_or_else(|| name.to_string(), |title| title.text.to_owned()),
        name,
        describe: None,
        indexing: indexing?.unwrap_or_default(),
        on_complete: on_complete?.unwrap_or_default(),
        keep_going: keep_going?.unwrap_or(false),
        hold_at_stop: hold_at_stop?.unwrap_or(false),
        phases,
        fields: fields?,
        requirements: requirements?,
        hash: sha256(text.as_bytes()),
    };
    Ok(Reading { workflow, lines })
}

/// The version as a string: `version = 2` means the same as `version = "2"`.
fn version(report: &mut Report, root: &Section) -> Found<String> {
    if let Some(value) = root.value("version")
        && let DeValue::Integer(_) = value.get_ref()
    {
        return Ok(value::json(report, value)?.to_string());
    }
    let version = root.line(report, "version")?;
    Ok(version.map_or("1", |version| version.text).to_owned())
}
