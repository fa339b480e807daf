//! Reads the requirements in a definition: conditions that agents must satisfy before they may use a tool.

use super::mistake::{Found, Report, quoted};
use super::phase;
use super::section::{Section, Text, single_line};
use model::workflow::{RequirementDefinition, RequirementScope};
use std::collections::BTreeMap;

pub(super) const KEYS: &[&str] = &["scope", "tools", "satisfied_by", "message"];
pub(super) const SCOPES: &[(&str, RequirementScope)] = &[
    ("session", RequirementScope::Session),
    ("branch", RequirementScope::Branch),
    ("single_use", RequirementScope::SingleUse),
    ("permanent", RequirementScope::Permanent),
];

pub(super) fn read_all(
    report: &mut Report,
    root: &Section,
) -> Found<BTreeMap<String, RequirementDefinition>> {
    let phase_ids = phase::ids(root);
    let what = "a requirement";
    let requirements = root.named_tables(report, "requirement", what, |report, section| {
        requirement(report, &phase_ids, section)
    })?;
    Ok(requirements.into_iter().map(|(name, requirement)| (name.into(), requirement)).collect())
}

fn requirement(report: &mut Report, phase_ids: &[&str], section: &Section) -> Found<RequirementDefinition> {
    section.refuse_unknown_keys(report, KEYS);
    let scope = section
        .choice(report, "scope", SCOPES)
        .and_then(|scope| scope.ok_or_else(|| section.missing(report, "scope")));
    let tools = tools(report, section);
    let satisfied_by = satisfied_by(report, phase_ids, section);
    let message = section.owned_prose(report, "message");
    Ok(RequirementDefinition { scope: scope?, tools: tools?, satisfied_by: satisfied_by?, message: message? })
}

fn tools(report: &mut Report, section: &Section) -> Found<Vec<String>> {
    let tools = section.strings(report, "tools")?;
    let tools = tools.ok_or_else(|| section.missing(report, "tools"))?;
    if tools.is_empty() {
        let offset = section.value("tools").map_or(section.offset, |value| value.span().start);
        return Err(report.add(offset, "'tools' is empty; name at least one tool"));
    }
    let read: Vec<Found<String>> = tools
        .into_iter()
        .map(|tool| Ok(single_line(report, "an entry of 'tools'", tool)?.text.to_owned()))
        .collect();
    read.into_iter().collect()
}

fn satisfied_by(report: &mut Report, phase_ids: &[&str], section: &Section) -> Found<Vec<String>> {
    let sources = section.strings(report, "satisfied_by")?.unwrap_or_default();
    let read: Vec<Found<String>> =
        sources.into_iter().map(|source| satisfier(report, phase_ids, source)).collect();
    read.into_iter().collect()
}

fn satisfier(report: &mut Report, phase_ids: &[&str], source: Text) -> Found<String> {
    let source = single_line(report, "an entry of 'satisfied_by'", source)?;
    let hint = "write \"phase:ID\" for a phase of this workflow, or \"skill:NAME\" for a skill";
    match source.text.split_once(':') {
        Some(("phase", id)) if phase_ids.contains(&id) => Ok(source.text.to_owned()),
        Some(("phase", id)) => {
            let hint = format!("the phases: {}", phase_ids.join(", "));
            Err(report.add_unknown(source.offset, "phase", id, phase_ids, hint))
        }
        Some(("skill", name)) if !name.trim().is_empty() => Ok(source.text.to_owned()),
        Some(("skill", _)) => Err(report.add_with_hint(source.offset, "'skill:' names no skill", hint)),
        Some((form, _)) => {
            Err(report.add_unknown(source.offset, "kind of source", form, &["phase", "skill"], hint))
        }
        None => {
            let message = format!("{} is neither a phase nor a skill", quoted(source.text));
            Err(report.add_with_hint(source.offset, message, hint))
        }
    }
}
