//! The resources at `leftoff://…`: sessions, briefs, logs and workflow definitions. All are read-only.

use crate::answer::json;
use crate::error::Mishap;
use engine::words::one_line;
use engine::{Detail, Engine, Intent, ListRequest, Log, Options, event_text};
use model::id::SessionId;
use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

const SCHEME: &str = "leftoff://";
/// The maximum number of resources on one page of the list.
const PAGE: usize = 100;
const LONGEST_URI: usize = 500;
/// The maximum number of events of a log that are returned, newest first; `leftoff log` returns all events.
const MOST_EVENTS: usize = 1_000;

pub(crate) const SESSIONS: &str = "leftoff://sessions";
pub(crate) const BRIEF: &str = "leftoff://brief";

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
const TOML: &str = "application/toml";
const TEXT: &str = "text/plain";

/// The parsed address of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Sessions,
    Brief,
    Session(String),
    SessionBrief(String),
    Log(String),
    Workflow(String),
}

pub(crate) fn parse(uri: &str) -> Result<Address, ErrorData> {
    let path = uri.strip_prefix(SCHEME).filter(|_| uri.len() <= LONGEST_URI);
    let parts: Vec<&str> = path.unwrap_or_default().split('/').collect();
    match parts.as_slice() {
        ["sessions"] => Ok(Address::Sessions),
        ["brief"] => Ok(Address::Brief),
        ["session", id] if !id.is_empty() => Ok(Address::Session((*id).to_owned())),
        ["session", id, "brief"] if !id.is_empty() => Ok(Address::SessionBrief((*id).to_owned())),
        ["session", id, "log"] if !id.is_empty() => Ok(Address::Log((*id).to_owned())),
        ["workflow", name] if !name.is_empty() => Ok(Address::Workflow((*name).to_owned())),
        _ => Err(unknown(uri, "list the resources with resources/list and resources/templates/list")),
    }
}

/// The addresses of all resources of a session.
pub(crate) fn of_session(id: &SessionId) -> [String; 3] {
    [
        format!("leftoff://session/{id}"),
        format!("leftoff://session/{id}/brief"),
        format!("leftoff://session/{id}/log"),
    ]
}

pub(crate) fn of_workflow(name: &str) -> String {
    format!("leftoff://workflow/{name}")
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(kind)
    };
    vec![
        template("leftoff://session/{id}", "session", "A session with every attempt and note", JSON),
        template("leftoff://session/{id}/brief", "session-brief", "The hand-over of a session", MARKDOWN),
        template("leftoff://session/{id}/log", "session-log", "The newest 1000 events of a session", JSON),
        template("leftoff://workflow/{name}", "workflow", "A workflow's definition", TOML),
    ]
}

pub(crate) fn list(options: Options, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let from: usize = match cursor {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            ErrorData::invalid_params("the cursor is unknown; list from the start, without a cursor", None)
        })?,
    };
    let all = all(options)?;
    let mut result = ListResourcesResult::with_all_items(all.iter().skip(from).take(PAGE).cloned().collect());
    result.next_cursor = (all.len() > from.saturating_add(PAGE)).then(|| (from + PAGE).to_string());
    Ok(result)
}

fn all(options: Options) -> Result<Vec<Resource>, ErrorData> {
    let resource = |uri: &str, name: &str, about: &str, kind: &str| {
        Resource::new(uri, name).with_description(about).with_mime_type(kind)
    };
    let mut all = vec![
        resource(SESSIONS, "sessions", "All sessions, one line each, last changed first", JSON),
        resource(BRIEF, "brief", "The hand-over of the current session", MARKDOWN),
    ];
    let engine = match Engine::open(options, Intent::Query) {
        Ok(engine) => engine,
        // Outside a project there are no sessions to list.
        Err(engine::Error::NoProject { .. }) => return Ok(all),
        Err(error) => return Err(failed(error)),
    };
    let sessions = engine.sessions().list(&ListRequest::default()).map_err(failed)?.sessions;
    for session in &sessions {
        let title = one_line(&session.title, 120);
        let uri = format!("leftoff://session/{}", session.session_id);
        let about = format!("{}, phase {}", session.lifecycle, session.phase);
        let of_session = |uri: String, name: String, kind: &str| {
            Resource::new(uri, name).with_title(&title).with_description(&about).with_mime_type(kind)
        };
        all.push(of_session(uri.clone(), format!("session {}", session.session_id), JSON));
        all.push(of_session(format!("{uri}/brief"), format!("brief {}", session.session_id), MARKDOWN));
        all.push(of_session(format!("{uri}/log"), format!("log {}", session.session_id), JSON));
    }
    for (name, layout) in engine.project().workflow_names() {
        let about = "A workflow's definition";
        all.push(resource(&of_workflow(&name), &format!("workflow {name}"), about, definition_kind(layout)));
    }
    Ok(all)
}

pub(crate) fn read(mut options: Options, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let address = parse(uri)?;
    if let Address::SessionBrief(id) = &address {
        options.session = Some(id.clone());
    }
    let engine = Engine::open(options, Intent::Query).map_err(failed)?;
    let (text, kind) = text_of(&engine, &address).map_err(|error| match error.class() {
        engine::Class::NothingThere | engine::Class::WrongUsage => {
            unknown(uri, &format!("{error}; {}", error.hint().unwrap_or_default()))
        }
        engine::Class::Failed
        | engine::Class::Refused
        | engine::Class::NeedsAPerson
        | engine::Class::OutcomeUnknown => failed(error),
    })?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

fn text_of(engine: &Engine, address: &Address) -> engine::Result<(String, &'static str)> {
    Ok(match address {
        Address::Sessions => (pretty(&json(engine.sessions().list(&ListRequest::default())?)), JSON),
        Address::Brief | Address::SessionBrief(_) => match engine.sessions().brief()? {
            Some(brief) => (engine::brief::markdown(&brief, engine::brief::USUAL_BUDGET), MARKDOWN),
            None => ("No active session here.\n".to_owned(), MARKDOWN),
        },
        Address::Session(id) => (pretty(&json(engine.sessions().show(Some(id), Detail::Whole)?)), JSON),
        Address::Log(id) => {
            let Log { session, events } = engine.sessions().log(Some(id), 0)?;
            let left_out = events.len().saturating_sub(MOST_EVENTS);
            let shown: Vec<_> = events.iter().skip(left_out).map(event_text::json).collect();
            (
                pretty(&json!({ "session_id": session.to_string(), "earlier": left_out, "events": shown })),
                JSON,
            )
        }
        Address::Workflow(name) => {
            let (source, _) = engine.workflows().source(Some(name))?;
            let kind = definition_kind(source.layout);
            (source.text, kind)
        }
    })
}

/// The media type of a definition. Another tool's definition has several files, and so another type.
fn definition_kind(layout: Option<&str>) -> &'static str {
    if layout.is_none() { TOML } else { TEXT }
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn unknown(uri: &str, hint: &str) -> ErrorData {
    let uri = one_line(uri, 120);
    ErrorData::resource_not_found(
        format!("there is no resource '{uri}'; {hint}"),
        Some(json!({ "uri": uri, "kind": "unknown_resource", "hint": hint })),
    )
}

fn failed(error: engine::Error) -> ErrorData {
    let mishap = Mishap::from(error);
    let data = json!({ "kind": mishap.kind, "hint": mishap.hint });
    ErrorData::internal_error(format!("{} — {}", mishap.message, mishap.hint.unwrap_or_default()), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_mean_one_thing_or_nothing() {
        assert_eq!(parse("leftoff://sessions").ok(), Some(Address::Sessions));
        assert_eq!(parse("leftoff://session/k3/log").ok(), Some(Address::Log("k3".to_owned())));
        assert_eq!(parse("leftoff://workflow/review").ok(), Some(Address::Workflow("review".to_owned())));
        let long = format!("leftoff://session/{}", "x".repeat(1_000));
        for bad in ["", "leftoff://", "leftoff://session/", "file:///etc/passwd", "leftoff://x/../y", &long] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
