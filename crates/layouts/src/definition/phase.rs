//! The phases of a definition: reads each phase, then checks the references between phases.

use super::check;
use super::declared;
use super::lines::{Lines, PhaseLines};
use super::mistake::{Found, Report, Reported, quoted};
use super::path;
use super::section::{Section, Text};
use model::id::Name;
use model::workflow::{CheckDefinition, PhaseDefinition};
use toml::Spanned;
use toml::de::DeValue;

pub(super) const KEYS: &[&str] = &[
    "id", "title", "purpose", "produces", "needs", "when", "items", "split", "strict", "terminal",
    "evidence", "check",
];
/// Keys that have no effect in a terminal phase, which ends as soon as it starts.
const USELESS_IN_TERMINAL: &[&str] = &["check", "evidence", "when", "items", "split"];

pub(super) fn read_all(report: &mut Report, root: &Section) -> Found<(Vec<PhaseDefinition>, Lines)> {
    let sections = root.tables(report, "phase", "[[phase]]")?;
    if sections.is_empty() {
        let offset = root.value("phase").map_or(root.offset, |value| value.span().start);
        let hint = "start each phase with a line [[phase]] and give it an id";
        return Err(report.add_with_hint(offset, "a workflow needs at least one phase", hint));
    }
    let ids: Vec<Option<Text>> = sections.iter().map(id_text).collect();
    let unique = refuse_repeats(report, "phase", &ids);
    let read: Vec<Found<(PhaseDefinition, PhaseLines)>> = sections
        .iter()
        .enumerate()
        .map(|(position, section)| phase(report, &ids, position, section))
        .collect();
    unique?;
    let mut phases = Vec::new();
    let mut lines = Lines::default();
    for phase_and_lines in read {
        let (phase, lines_of_phase) = phase_and_lines?;
        lines.insert(phase.id.clone(), lines_of_phase);
        phases.push(phase);
    }
    Ok((phases, lines))
}

/// The ids of all phases as written, so that references can be checked. Reports nothing.
pub(super) fn ids<'a>(root: &Section<'a>) -> Vec<&'a str> {
    let Some(DeValue::Array(phases)) = root.value("phase").map(Spanned::get_ref) else {
        return Vec::new();
    };
    phases
        .iter()
        .filter_map(|phase| match phase.get_ref() {
            DeValue::Table(table) => id_text(&Section::root(table)),
            _ => None,
        })
        .map(|id| id.text)
        .collect()
}

fn phase(
    report: &mut Report,
    ids: &[Option<Text>],
    position: usize,
    section: &Section,
) -> Found<(PhaseDefinition, PhaseLines)> {
    section.refuse_unknown_keys(report, KEYS);
    let id = section.required_name(report, "id");
    let title = section.line(report, "title");
    let purpose = section.owned_prose(report, "purpose");
    let produces = produces(report, section);
    let needs = needs(report, ids, position, section);
    let when = section.prose(report, "when");
    let items = section.name(report, "items");
    let split = section.boolean(report, "split");
    let strict = section.boolean(report, "strict");
    let terminal = terminal(report, ids.len(), position, section);
    let evidence = declared::evidence(report, section);
    let checks = checks(report, section);

    let id = id?;
    let when = when?;
    let (checks, mut lines) = checks?;
    lines.when = when.map(|when| report.place(when.offset));
    let phase = PhaseDefinition {
        title: title?.map_or_else(|| id.to_string(), |title| title.text.to_owned()),
        id,
        purpose: purpose?,
        produces: produces?,
        needs: needs?,
        when: when.map(|when| when.text.to_owned()),
        items: items?.map(String::from),
        split: split?.unwrap_or(false),
        strict: strict?.unwrap_or(true),
        no_override: false,
        terminal: terminal?,
        evidence: evidence?,
        checks,
    };
    Ok((phase, lines))
}

fn produces(report: &mut Report, section: &Section) -> Found<Vec<String>> {
    let paths = section.strings(report, "produces")?.unwrap_or_default();
    let read: Vec<Found<String>> =
        paths.into_iter().map(|path| path::read(report, "produces", path)).collect();
    read.into_iter().collect()
}

fn needs(report: &mut Report, ids: &[Option<Text>], position: usize, section: &Section) -> Found<Vec<Name>> {
    let Some(needed) = section.strings(report, "needs")? else {
        return Ok(the_one_before(ids, position));
    };
    let read: Vec<Found<()>> =
        needed.iter().map(|needed| refuse_not_earlier(report, ids, position, *needed)).collect();
    read.into_iter().collect::<Found<()>>()?;
    Ok(valid_names(needed))
}

fn the_one_before(ids: &[Option<Text>], position: usize) -> Vec<Name> {
    let before = position.checked_sub(1).and_then(|before| ids[before]);
    valid_names(before)
}

/// The valid ids. An invalid id is left out here, because it is reported at its own position.
fn valid_names<'a>(ids: impl IntoIterator<Item = Text<'a>>) -> Vec<Name> {
    ids.into_iter().filter_map(|id| Name::parse(id.text).ok()).collect()
}

fn refuse_not_earlier(report: &mut Report, ids: &[Option<Text>], position: usize, needed: Text) -> Found<()> {
    let earlier: Vec<&str> = ids[..position].iter().flatten().map(|id| id.text).collect();
    if earlier.contains(&needed.text) {
        return Ok(());
    }
    let hint = if earlier.is_empty() {
        "the first phase cannot need another".to_owned()
    } else {
        format!("earlier phases: {}", earlier.join(", "))
    };
    let is = |id: &Option<Text>| id.is_some_and(|id| id.text == needed.text);
    if is(&ids[position]) {
        let message = format!("phase '{}' cannot need itself", needed.text);
        return Err(report.add_with_hint(needed.offset, message, hint));
    }
    if ids.iter().any(is) {
        let message = format!("'needs' names '{}', which comes later", needed.text);
        return Err(report.add_with_hint(needed.offset, message, hint));
    }
    Err(report.add_unknown(needed.offset, "phase", needed.text, &earlier, hint))
}

fn terminal(report: &mut Report, phase_count: usize, position: usize, section: &Section) -> Found<bool> {
    if !section.boolean(report, "terminal")?.unwrap_or(false) {
        return Ok(false);
    }
    let offset = section.value("terminal").map_or(section.offset, |value| value.span().start);
    if position + 1 != phase_count {
        let message = "only the last phase can be terminal: entering it completes the run";
        return Err(report.add(offset, message));
    }
    if phase_count == 1 {
        let message = "the only phase cannot be terminal: the run would end as soon as it starts";
        return Err(report.add(offset, message));
    }
    let useless: Vec<Text> = section.keys().filter(|key| USELESS_IN_TERMINAL.contains(&key.text)).collect();
    let mut reported: Option<Reported> = None;
    for key in useless {
        let message = format!("a terminal phase cannot have '{}': entering it completes the run", key.text);
        reported = Some(report.add(key.offset, message));
    }
    reported.map_or(Ok(true), Err)
}

fn checks(report: &mut Report, section: &Section) -> Found<(Vec<CheckDefinition>, PhaseLines)> {
    let sections = section.tables(report, "check", "[[phase.check]]")?;
    let ids: Vec<Option<Text>> = sections.iter().map(id_text).collect();
    let unique = refuse_repeats(report, "check", &ids);
    let read: Vec<_> = sections.into_iter().map(|section| check::read(report, section)).collect();
    unique?;
    let mut checks = Vec::new();
    let mut lines = PhaseLines::default();
    for check_and_place in read {
        let (check, place) = check_and_place?;
        if let Some(place) = place {
            lines.checks.insert(check.id.clone(), place);
        }
        checks.push(check);
    }
    Ok((checks, lines))
}

/// Reports ids that are used twice. Upper and lower case count as the same, because ids become file names,
/// and some file systems ignore case.
fn refuse_repeats(report: &mut Report, what: &str, ids: &[Option<Text>]) -> Found<()> {
    let mut reported: Option<Reported> = None;
    for (position, id) in ids.iter().enumerate() {
        let Some(id) = id else { continue };
        let earlier = ids[..position].iter().flatten();
        let Some(first) = earlier.clone().find(|earlier| earlier.text.eq_ignore_ascii_case(id.text)) else {
            continue;
        };
        let line = report.place(first.offset).line;
        let message = if first.text == id.text {
            format!("{what} {} is already on line {line}", quoted(id.text))
        } else {
            let (id, first) = (quoted(id.text), quoted(first.text));
            format!("{what} {id} differs only in case from {first} on line {line}")
        };
        reported = Some(report.add(id.offset, message));
    }
    reported.map_or(Ok(()), Err)
}

fn id_text<'a>(section: &Section<'a>) -> Option<Text<'a>> {
    let value = section.value("id")?;
    match value.get_ref() {
        DeValue::String(text) => Some(Text { text, offset: value.span().start }),
        _ => None,
    }
}
