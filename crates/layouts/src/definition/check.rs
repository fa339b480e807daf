//! Reads the checks of a phase's gate, with one function per kind of check. Runs and compiles nothing.

use super::duration;
use super::lines::Place;
use super::mistake::{Found, Report};
use super::path;
use super::section::Section;
use model::nearest_name::nearest;
use model::workflow::{CheckDefinition, CheckKind};

pub(super) const COMMON_KEYS: &[&str] = &["id", "kind", "help"];
const DEFAULT_TIMEOUT_SECONDS: u64 = 10 * 60;

/// A check, and the position of the text in it that the engine compiles or runs.
type KindAndPlace = (CheckKind, Option<Place>);

pub(super) struct CheckSchema {
    pub(super) name: &'static str,
    /// The keys that a check of this kind has in addition to the common keys.
    pub(super) keys: &'static [&'static str],
    read: fn(&mut Report, &Section) -> Found<KindAndPlace>,
}

pub(super) const KINDS: &[CheckSchema] = &[
    CheckSchema { name: "artifact", keys: &["path", "matches", "stale"], read: artifact },
    CheckSchema { name: "expr", keys: &["expr"], read: expr },
    CheckSchema { name: "command", keys: &["run", "timeout"], read: command },
    CheckSchema { name: "git", keys: &["clean"], read: git },
    CheckSchema { name: "items", keys: &[], read: items },
    CheckSchema { name: "approval", keys: &["expires"], read: approval },
];

pub(super) fn read(report: &mut Report, section: Section) -> Found<(CheckDefinition, Option<Place>)> {
    let id = section.required_name(report, "id");
    let help = section.owned_prose(report, "help");
    // The allowed keys depend on the kind. Without a kind, the rest of the check cannot be read.
    let kind = kind_of(report, &section)?;
    let section = section.called(format!("a check of kind '{}'", kind.name));
    refuse_foreign_keys(report, kind, &section);
    let (kind, place) = (kind.read)(report, &section)?;
    let check = CheckDefinition { id: id?, help: help?, kind };
    let kind = section.value("kind").map(|value| report.place(value.span().start));
    Ok((check, place.or(kind)))
}

fn kind_of(report: &mut Report, section: &Section) -> Found<&'static CheckSchema> {
    let Some(word) = section.string(report, "kind")? else {
        return Err(section.missing(report, "kind"));
    };
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == word.text) {
        return Ok(kind);
    }
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let hint = format!("'kind' is one of: {}", names.join(", "));
    Err(report.add_unknown(word.offset, "kind of check", word.text, &names, hint))
}

/// Reports keys that belong to another kind of check, because the author more likely chose the wrong kind
/// than the wrong key.
fn refuse_foreign_keys(report: &mut Report, kind: &CheckSchema, section: &Section) {
    let known: Vec<&str> = COMMON_KEYS.iter().chain(kind.keys).copied().collect();
    let keys_here = format!("the keys of {}: {}", section.what, known.join(", "));
    for key in section.keys().filter(|key| !known.contains(&key.text)) {
        let owner = KINDS.iter().find(|other| other.keys.contains(&key.text));
        match owner {
            Some(owner) if nearest(key.text, known.iter().copied()).is_none() => {
                let message = format!(
                    "unknown key '{}': it belongs to a check of kind '{}', but this one is of kind '{}'",
                    key.text, owner.name, kind.name
                );
                report.add_with_hint(key.offset, message, keys_here.as_str());
            }
            Some(_) | None => {
                report.add_unknown(key.offset, "key", key.text, &known, keys_here.as_str());
            }
        }
    }
}

/// When a check accepts a file older than the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    Ok,
    /// In every run of the workflow but the first.
    LaterRuns,
}

fn artifact(report: &mut Report, section: &Section) -> Found<KindAndPlace> {
    let path = section
        .string(report, "path")
        .and_then(|path| path.ok_or_else(|| section.missing(report, "path")))
        .and_then(|path| path::read(report, "path", path));
    let matches = section.prose(report, "matches");
    let stale = section.choice(report, "stale", &[("ok", Stale::Ok), ("later-runs", Stale::LaterRuns)]);
    let (matches, stale) = (matches?, stale?);
    let kind = CheckKind::Artifact {
        path: path?,
        matches: matches.map(|matches| matches.text.to_owned()),
        stale_ok: stale == Some(Stale::Ok),
        is_shared: stale == Some(Stale::LaterRuns),
    };
    Ok((kind, matches.map(|matches| report.place(matches.offset))))
}

fn expr(report: &mut Report, section: &Section) -> Found<KindAndPlace> {
    let expr = section.required_prose(report, "expr")?;
    let kind = CheckKind::Expr { expr: expr.text.to_owned(), written: None };
    Ok((kind, Some(report.place(expr.offset))))
}

fn command(report: &mut Report, section: &Section) -> Found<KindAndPlace> {
    let run = section.required_prose(report, "run");
    let timeout = duration::read(report, section, "timeout");
    let run = run?;
    let kind = CheckKind::Command {
        run: run.text.to_owned(),
        timeout_seconds: timeout?.unwrap_or(DEFAULT_TIMEOUT_SECONDS),
    };
    Ok((kind, Some(report.place(run.offset))))
}

/// `clean` is required, because a git check without a condition would always pass.
fn git(report: &mut Report, section: &Section) -> Found<KindAndPlace> {
    let clean = section.boolean(report, "clean")?;
    let clean = clean.ok_or_else(|| section.missing(report, "clean"))?;
    Ok((CheckKind::Git { clean: Some(clean) }, None))
}

#[expect(clippy::unnecessary_wraps, reason = "the table of kinds wants one signature")]
fn items(_report: &mut Report, _section: &Section) -> Found<KindAndPlace> {
    Ok((CheckKind::Items, None))
}

fn approval(report: &mut Report, section: &Section) -> Found<KindAndPlace> {
    let expires_seconds = duration::read(report, section, "expires")?;
    Ok((CheckKind::Approval { expires_seconds }, None))
}
