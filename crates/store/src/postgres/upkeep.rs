//! Describes and checks a project's rows on a server. Changes nothing.

use super::Scope;
use super::columns::{first, unsigned, values};
use super::wire::Step;
use crate::Info;

pub(super) async fn describe(scope: Scope<'_>, schema: &str, place: &str) -> Step<Info> {
    let sql = "SELECT a.version::bigint,a.id,count(s.number),coalesce(sum(s.version),0)::bigint,\
               (SELECT coalesce(sum(pg_total_relation_size(c.oid)),0)::bigint FROM pg_class c \
               JOIN pg_namespace n ON n.oid=c.relnamespace WHERE n.nspname=$2 AND c.relkind='r'),\
               current_setting('server_version'),current_setting('fsync'),current_setting('full_page_writes') \
               FROM leftoff.about a LEFT JOIN leftoff.sessions s ON s.project=$1 GROUP BY a.version,a.id";
    let rows = scope.ask.rows(sql, values![scope.project, schema]).await?;
    let Some(row) = rows.first() else {
        return Err(super::columns::unreadable(&"the table 'about' is empty"));
    };
    let mut warnings = Vec::new();
    for (column, name) in [(6, "fsync"), (7, "full_page_writes")] {
        if row.try_get::<_, &str>(column)? == "off" {
            warnings.push(format!(
                "the server runs with {name}=off: a power cut can lose or damage acknowledged changes"
            ));
        }
    }
    Ok(Info {
        engine: "postgres".to_owned(),
        id: row.try_get(1)?,
        place: place.to_owned(),
        schema_version: u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default(),
        journal: format!("PostgreSQL {}", row.try_get::<_, &str>(5)?),
        sessions: unsigned(row, 2)?,
        events: unsigned(row, 3)?,
        bytes: unsigned(row, 4)?,
        warnings,
    })
}

/// Checks the project's rows. Returns one line for each finding.
pub(super) async fn check(scope: Scope<'_>) -> Step<Vec<String>> {
    let mut findings = Vec::new();
    for (what, sql) in SUSPICIONS {
        for row in scope.ask.rows(sql, values![scope.project]).await? {
            findings.push(format!("session {}: {what}", row.try_get::<_, &str>(0)?));
        }
    }
    let sql = "SELECT p.cursor-coalesce((SELECT max(cursor) FROM leftoff.events e WHERE e.project=p.project),0) \
               FROM leftoff.projects p WHERE p.project=$1";
    if first::<i64>(&scope.ask.rows(sql, values![scope.project]).await?)?.is_some_and(|ahead| ahead < 0) {
        findings.push("the project's counter is lower than the number of its newest event".to_owned());
    }
    Ok(findings)
}

/// Defects, each with a query that returns the sessions that have it.
const SUSPICIONS: &[(&str, &str)] = &[
    (
        "its row does not match its last event",
        "SELECT id FROM leftoff.sessions s WHERE project=$1 AND version IS DISTINCT FROM \
         (SELECT max(version) FROM leftoff.events e WHERE e.project=s.project AND e.session=s.number)",
    ),
    (
        "its history has a gap",
        "SELECT s.id FROM leftoff.sessions s JOIN leftoff.events e ON e.project=s.project AND e.session=s.number \
         WHERE s.project=$1 GROUP BY s.id HAVING min(e.version)<>1 OR count(*)<>max(e.version)",
    ),
    (
        "its snapshot is newer than its last event",
        "SELECT s.id FROM leftoff.sessions s JOIN leftoff.snapshots p ON p.project=s.project AND p.session=s.number \
         WHERE s.project=$1 AND p.version>s.version",
    ),
    (
        "it has events, but its row is missing",
        "SELECT DISTINCT 'number '||session FROM leftoff.events e WHERE project=$1 AND NOT EXISTS\
         (SELECT 1 FROM leftoff.sessions s WHERE s.project=e.project AND s.number=e.session)",
    ),
    (
        "it has items, but its row is missing",
        "SELECT DISTINCT 'number '||session FROM leftoff.items i WHERE project=$1 AND NOT EXISTS\
         (SELECT 1 FROM leftoff.sessions s WHERE s.project=i.project AND s.number=i.session)",
    ),
];
