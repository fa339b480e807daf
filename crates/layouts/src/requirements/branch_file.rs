//! The file of a branch: which requirements are satisfied, for whom, and until when. Unknown keys are kept.

use super::agent::{AgentKey, FULL_ID, shortened};
use super::satisfaction::{
    CARRIED_TO, SATISFACTION, Satisfaction, SatisfiedBy, Satisfying, forget, is_heritable, moment,
    satisfaction, triggered_at,
};
use super::{VERSION, without_mark};
use model::workflow::RequirementScope;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    root: Map<String, Value>,
}

/// The record that a requirement is satisfied, for one agent session or for the whole branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub requirement: String,
    /// The agent session; `None` for the whole branch.
    pub agent_session: Option<String>,
    pub satisfaction: Option<Satisfaction>,
    pub triggered_at: Option<i64>,
}

/// The reason why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    Broken(String),
    /// The version in the file, which is not supported.
    OtherVersion(String),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Broken(why) => write!(f, "it is not valid JSON: {why}"),
            Self::OtherVersion(version) => {
                write!(f, "its version is {version}, but only {VERSION:?} is supported")
            }
        }
    }
}

impl Document {
    pub fn new(branch: &str, project: &str, now: i64) -> Self {
        let fields = [
            ("version", json!(VERSION)),
            ("branch", json!(branch)),
            ("project", json!(project)),
            ("created_at", json!(now)),
            ("updated_at", json!(now)),
            ("requirements", json!({})),
        ];
        Self { root: fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }
    }

    /// Reads a file. Entries under full ids are moved to short ids.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let root: Map<String, Value> = serde_json::from_str(without_mark(text))
            .map_err(|error| Unreadable::Broken(error.to_string()))?;
        match root.get("version") {
            Some(Value::String(version)) if version == VERSION => {}
            Some(other) => return Err(Unreadable::OtherVersion(other.to_string())),
            None => return Err(Unreadable::OtherVersion("missing".to_owned())),
        }
        match root.get("requirements") {
            None | Some(Value::Object(_)) => {}
            Some(_) => return Err(Unreadable::Broken("'requirements' is not a table".to_owned())),
        }
        let mut document = Self { root };
        document.migrate();
        Ok(document)
    }

    pub fn text(&self) -> String {
        // A map of JSON values can always be serialised.
        serde_json::to_string_pretty(&self.root).unwrap_or_default()
    }

    /// The branch that the file names; `None` if it names none.
    pub fn branch(&self) -> Option<&str> {
        self.root.get("branch").and_then(Value::as_str).filter(|name| !name.is_empty())
    }

    pub fn touch(&mut self, now: i64) {
        self.root.insert("updated_at".to_owned(), json!(now));
    }

    /// How this requirement is satisfied for this agent session at the time `now`. `None` if it is not
    /// satisfied.
    pub fn satisfaction(
        &self,
        name: &str,
        scope: RequirementScope,
        agent: Option<&AgentKey>,
        now: i64,
    ) -> Option<Satisfaction> {
        let entry = self.requirement(name)?;
        let expires = scope != RequirementScope::Permanent;
        let of_the_branch =
            satisfaction(entry, expires, now).map(|found| Satisfaction { for_the_branch: true, ..found });
        if of_the_branch.is_some() || !scope.is_of_one_agent() {
            return of_the_branch;
        }
        satisfaction(self.session(name, agent?)?, true, now)
    }

    /// Satisfies a requirement. Returns false if the requirement must be satisfied for one agent session, and
    /// none is given.
    pub fn satisfy(
        &mut self,
        name: &str,
        scope: RequirementScope,
        agent: Option<&AgentKey>,
        satisfying: &Satisfying,
        now: i64,
    ) -> bool {
        let for_the_branch = satisfying.for_the_branch || !scope.is_of_one_agent();
        if !for_the_branch && agent.is_none() {
            return false;
        }
        let entry = self.requirement_mut(name);
        entry.insert("scope".to_owned(), json!(scope.name()));
        let ttl = satisfying.ttl.filter(|_| scope != RequirementScope::Permanent);
        match agent.filter(|_| !for_the_branch) {
            Some(agent) => satisfying.write(session_mut(entry, agent), ttl, now),
            None => satisfying.write(entry, ttl, now),
        }
        true
    }

    /// Clears a requirement and its trigger. If an agent session is given, the requirement is cleared for
    /// that session and for the whole branch, otherwise for everybody. Returns true if anything was cleared.
    pub fn clear(&mut self, name: &str, agent: Option<&AgentKey>) -> bool {
        if self.requirement(name).is_none() {
            return false;
        }
        let Some(agent) = agent else {
            return table_mut(&mut self.root, "requirements").shift_remove(name).is_some();
        };
        let was_of_the_branch = forget(self.requirement_mut(name));
        self.remove_session(name, agent) || was_of_the_branch
    }

    /// Removes a satisfaction that was valid for a single action of this agent session, after that action.
    pub fn use_up(&mut self, name: &str, agent: &AgentKey) -> bool {
        self.remove_session(name, agent)
    }

    /// When the guarded action was first done: by this agent session, or, for a requirement of the whole
    /// branch, by anybody.
    pub fn triggered_at(&self, name: &str, scope: RequirementScope, agent: &AgentKey) -> Option<i64> {
        let entry =
            if scope.is_of_one_agent() { self.session(name, agent)? } else { self.requirement(name)? };
        triggered_at(entry)
    }

    /// Records that the guarded action was done. If it was done before, the time of the first action stays.
    pub fn trigger(&mut self, name: &str, scope: RequirementScope, agent: &AgentKey, now: i64) -> bool {
        if self.triggered_at(name, scope, agent).is_some() {
            return false;
        }
        let entry = self.requirement_mut(name);
        entry.entry("scope").or_insert_with(|| json!(scope.name()));
        let place = if scope.is_of_one_agent() { session_mut(entry, agent) } else { entry };
        place.insert("triggered".to_owned(), json!(true));
        place.insert("triggered_at".to_owned(), json!(now));
        true
    }

    /// Records of all requirements that are satisfied or were triggered. For each requirement, the record of
    /// the whole branch comes before those of agent sessions.
    pub fn records(&self, now: i64) -> Vec<Record> {
        let mut records = Vec::new();
        for (name, entry) in self.requirements().into_iter().flatten() {
            let Some(entry) = entry.as_object() else { continue };
            let record = |agent_session: Option<String>, fields: &Map<String, Value>| Record {
                requirement: name.clone(),
                agent_session,
                satisfaction: satisfaction(fields, true, now),
                triggered_at: triggered_at(fields),
            };
            records.push(record(None, entry));
            let sessions = entry.get("sessions").and_then(Value::as_object);
            for (key, fields) in sessions.into_iter().flatten() {
                let Some(fields) = fields.as_object() else { continue };
                let id = fields.get(FULL_ID).and_then(Value::as_str).unwrap_or(key);
                records.push(record(Some(id.to_owned()), fields));
            }
        }
        records.retain(|record| record.satisfaction.is_some() || record.triggered_at.is_some());
        records
    }

    /// Removes everything about this agent session. Nothing changes for other agent sessions.
    pub fn clear_session(&mut self, agent: &AgentKey) -> bool {
        let mut changed = false;
        for sessions in self.sessions_mut() {
            if let Some(key) = agent.key_in(sessions).map(ToOwned::to_owned) {
                changed |= sessions.shift_remove(&key).is_some();
            }
        }
        changed
    }

    /// Copies the newest satisfaction of another agent session to this one, if it is recent enough. An
    /// inherited satisfaction is not copied again, and each satisfaction is inherited only once. Returns true
    /// if one was copied.
    pub fn carry_over(&mut self, name: &str, heir: &AgentKey, window: u64, now: i64) -> bool {
        let Some(sessions) = self.requirement(name).and_then(|entry| entry.get("sessions")) else {
            return false;
        };
        let Some(sessions) = sessions.as_object() else { return false };
        let newest = sessions
            .iter()
            .filter(|(key, entry)| !heir.owns(key, entry) && is_heritable(entry, window, now))
            .max_by_key(|(_, entry)| moment(entry.get("satisfied_at")));
        let Some((key, from)) = newest.map(|(key, entry)| (key.clone(), entry.clone())) else { return false };
        let entry = self.requirement_mut(name);
        if let Some(source) = entry.get_mut("sessions").and_then(|sessions| sessions.get_mut(&key)) {
            source[CARRIED_TO] = json!(heir.full());
        }
        let session = session_mut(entry, heir);
        for field in SATISFACTION.iter().filter(|field| **field != CARRIED_TO) {
            if let Some(value) = from.get(*field) {
                session.insert((*field).to_owned(), value.clone());
            }
        }
        session.insert("satisfied_by".to_owned(), json!(SatisfiedBy::CarryOver.name()));
        session
            .insert("metadata".to_owned(), json!({ "from": key, "satisfied_by": from.get("satisfied_by") }));
        true
    }

    /// The names of the requirements in the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.requirements().into_iter().flat_map(Map::keys).map(String::as_str)
    }

    fn requirements(&self) -> Option<&Map<String, Value>> {
        self.root.get("requirements")?.as_object()
    }

    fn requirement(&self, name: &str) -> Option<&Map<String, Value>> {
        self.requirements()?.get(name)?.as_object()
    }

    fn requirement_mut(&mut self, name: &str) -> &mut Map<String, Value> {
        table_mut(table_mut(&mut self.root, "requirements"), name)
    }

    fn session(&self, name: &str, agent: &AgentKey) -> Option<&Map<String, Value>> {
        let sessions = self.requirement(name)?.get("sessions")?.as_object()?;
        sessions.get(agent.key_in(sessions)?)?.as_object()
    }

    fn remove_session(&mut self, name: &str, agent: &AgentKey) -> bool {
        if self.session(name, agent).is_none() {
            return false;
        }
        let sessions = table_mut(self.requirement_mut(name), "sessions");
        let key = agent.key_in(sessions).map(ToOwned::to_owned);
        key.is_some_and(|key| sessions.shift_remove(&key).is_some())
    }

    fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Map<String, Value>> {
        let requirements = self.root.get_mut("requirements").and_then(Value::as_object_mut);
        let entries = requirements.into_iter().flat_map(Map::values_mut);
        entries.filter_map(|entry| entry.get_mut("sessions")?.as_object_mut())
    }

    /// Moves entries under full ids to short ids. If an agent session then has two entries, the newer one is
    /// kept.
    fn migrate(&mut self) {
        for sessions in self.sessions_mut() {
            if sessions.keys().all(|key| shortened(key) == *key) {
                continue;
            }
            *sessions = migrated(std::mem::take(sessions));
        }
    }
}

fn migrated(old: Map<String, Value>) -> Map<String, Value> {
    let mut entries = Map::new();
    for (key, mut entry) in old {
        let is_short = shortened(&key) == key;
        if let Some(fields) = entry.as_object_mut().filter(|_| !is_short) {
            fields.entry(FULL_ID).or_insert_with(|| json!(key));
        }
        let id = entry.get(FULL_ID).and_then(Value::as_str).unwrap_or(&key);
        let place = match AgentKey::new(id) {
            Some(agent) if !is_short || entries.contains_key(&key) => agent.key_for(&entries),
            Some(_) | None => key,
        };
        let Some(there) = entries.get_mut(&place) else {
            entries.insert(place, entry);
            continue;
        };
        let at = |entry: &Value| moment(entry.get("satisfied_at"));
        let older = if at(there) < at(&entry) { std::mem::replace(there, entry) } else { entry };
        keep_first_trigger(there, &older);
    }
    entries
}

/// Keeps the earlier of two times at which the guarded action was first done.
fn keep_first_trigger(kept: &mut Value, other: &Value) {
    let at = |entry: &Value| moment(entry.get("triggered_at"));
    let is_triggered = |entry: &Value| entry.get("triggered").and_then(Value::as_bool).unwrap_or_default();
    let is_first = is_triggered(other) && (!is_triggered(kept) || at(other) < at(kept));
    if let Some(fields) = kept.as_object_mut().filter(|_| is_first) {
        for key in ["triggered", "triggered_at"] {
            fields.extend(other.get(key).map(|value| (key.to_owned(), value.clone())));
        }
    }
}

fn session_mut<'a>(entry: &'a mut Map<String, Value>, agent: &AgentKey) -> &'a mut Map<String, Value> {
    let sessions = table_mut(entry, "sessions");
    let key = agent.key_for(sessions);
    let session = table_mut(sessions, &key);
    // If the id has only eight characters, no full id is known.
    if agent.full() != agent.short() {
        session.insert(FULL_ID.to_owned(), json!(agent.full()));
    }
    session
}

/// The table under a key. A value of another type is replaced by an empty table.
pub(super) fn table_mut<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let value = map.entry(key).or_insert_with(|| json!({}));
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(table) => table,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            unreachable!("it was made a table just now")
        }
    }
}
