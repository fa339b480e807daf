//! Lists and searches sessions. Writes nothing.

use super::Scope;
use super::columns::{SESSION, at_most, listed};
use super::wire::Step;
use crate::{Filter, Listed};
use tokio_postgres::types::{ToSql, Type};

pub(super) async fn list(scope: Scope<'_>, filter: &Filter) -> Step<Vec<Listed>> {
    let Conditions { all, texts } = conditions(filter, scope.machine);
    let limit = at_most(filter.limit);
    let sql = format!(
        "SELECT {SESSION} FROM leftoff.sessions s WHERE {} ORDER BY s.turn DESC,s.number DESC LIMIT $2",
        all.join(" AND ")
    );
    let mut values: Vec<(&(dyn ToSql + Sync), Type)> =
        vec![(&scope.project, Type::INT4), (&limit, Type::INT8)];
    values.extend(texts.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)));
    let rows = scope.ask.rows(&sql, &values).await?;
    rows.iter().map(|row| listed(row, scope.machine)).collect()
}

struct Conditions {
    all: Vec<String>,
    texts: Vec<String>,
}

impl Conditions {
    fn bind(&mut self, text: &str) -> String {
        self.texts.push(super::columns::plain(text));
        format!("${}", self.texts.len() + 2)
    }
}

fn conditions(filter: &Filter, machine: &str) -> Conditions {
    let mut conditions = Conditions { all: vec!["s.project=$1".to_owned()], texts: Vec::new() };
    if !filter.lifecycles.is_empty() {
        let places: Vec<String> = filter.lifecycles.iter().map(|name| conditions.bind(name)).collect();
        conditions.all.push(format!("s.lifecycle IN({})", places.join(",")));
    }
    if let Some(worktree) = &filter.worktree {
        // Worktrees on different machines may have the same path.
        let (place, own) = (conditions.bind(worktree), conditions.bind(machine));
        conditions.all.push(format!("s.worktree={place} AND s.machine={own}"));
    }
    if let Some(layout) = &filter.layout {
        let place = conditions.bind(layout);
        conditions.all.push(format!("s.layout={place}"));
    }
    for word in filter.search.iter().flat_map(|text| text.split_whitespace()) {
        let place = conditions.bind(&containing(word));
        conditions.all.push(found_in(&place));
    }
    conditions
}

fn found_in(place: &str) -> String {
    let matches = |what: &str| format!("lower({what}) LIKE {place}");
    format!(
        "({} OR {} OR {} OR {} OR EXISTS(SELECT 1 FROM leftoff.events n WHERE n.project=s.project \
         AND n.session=s.number AND n.note IS NOT NULL AND {}))",
        matches("s.id"),
        matches("s.title"),
        matches("s.goal"),
        matches("s.target"),
        matches("n.note"),
    )
}

fn containing(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{}%", escaped.to_ascii_lowercase())
}
