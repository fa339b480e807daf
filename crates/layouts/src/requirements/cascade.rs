//! Reads the configuration: the user's file, then the project's, then the local one. A mistake is reported
//! with its file and key. A requirement with a mistake blocks nobody.

use super::rule::{BRANCH_SIZE, Guard, Limits, Requirement, RequirementKind, Trigger};
use super::type_check::{self, count};
use crate::problem::{Problem, What};
use crate::reading::Reading;
use model::workflow::RequirementScope;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const DEFAULT_CACHE_SECONDS: u64 = 60;
const DEFAULT_WINDOW_SECONDS: u64 = 300;

/// A configuration file. Later files override earlier ones.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

/// The merged configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The requirements, in the order of the files. Disabled requirements are included.
    pub requirements: Vec<Requirement>,
    /// True if a new agent session is informed about open requirements.
    pub inject_context: bool,
    pub carry_over: Option<CarryOver>,
    pub stop: Stop,
    /// True if the end of an agent session clears the requirements that it satisfied.
    pub clear_session_state: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarryOver {
    pub window_seconds: u64,
    pub scopes: Vec<RequirementScope>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub verify_requirements: bool,
    pub verify_scopes: Vec<RequirementScope>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            requirements: Vec::new(),
            inject_context: true,
            carry_over: None,
            stop: Stop { verify_requirements: true, verify_scopes: vec![RequirementScope::Session] },
            clear_session_state: false,
        }
    }
}

/// Reads the configuration files. A later file overrides earlier ones.
pub fn read(sources: &[Source<'_>]) -> Reading<Settings> {
    let mut merged = Map::new();
    let mut warnings = Vec::new();
    let mut origins = Origins::default();
    for source in sources {
        let Some(mut root) = parse(source, &mut warnings) else { continue };
        for mistake in type_check::prune(&mut root) {
            origins.wrong(mistake.requirement());
            warnings.push(Problem::of_field(source.path, mistake.key, What::Setting(mistake.message)));
        }
        origins.mentions(&root, source.path);
        inherit(&mut merged, root);
    }
    let value = settings(&merged, &origins, &mut warnings);
    Reading { value, warnings }
}

/// The merged content of the files, including mistakes and unknown keys.
pub fn merged(sources: &[Source<'_>]) -> Map<String, Value> {
    let mut merged = Map::new();
    for root in sources.iter().filter_map(|source| parse(source, &mut Vec::new())) {
        inherit(&mut merged, root);
    }
    merged
}

fn inherit(merged: &mut Map<String, Value>, root: Map<String, Value>) {
    if root.get("inherit") == Some(&Value::Bool(false)) {
        *merged = root;
    } else {
        merge(merged, root);
    }
}

/// Which file set each key of each requirement.
#[derive(Default)]
struct Origins {
    last_file: BTreeMap<String, String>,
    wrong: Vec<String>,
}

impl Origins {
    fn wrong(&mut self, requirement: Option<&str>) {
        self.wrong.extend(requirement.map(ToOwned::to_owned));
    }

    fn mentions(&mut self, root: &Map<String, Value>, path: &str) {
        let names = root.get("requirements").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        self.last_file.extend(names.map(|name| (name.clone(), path.to_owned())));
    }
}

fn parse(source: &Source<'_>, warnings: &mut Vec<Problem>) -> Option<Map<String, Value>> {
    let mut odd = |said: String| warnings.push(Problem::of_file(source.path, What::Setting(said)));
    let options = serde_saphyr::options! {
        with_snippet: false,
        // The last of several equal keys is used, as the framework itself does.
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
    };
    match serde_saphyr::from_str_with_options::<Option<Value>>(source.text, options) {
        Ok(Some(Value::Object(root))) => Some(root),
        Ok(None | Some(Value::Null)) => None,
        Ok(Some(_)) => {
            odd("it is not a table of settings, so all of it is ignored".to_owned());
            None
        }
        Err(error) => {
            let text = error.to_string();
            odd(format!("it is not valid YAML, so all of it is ignored: {}", text.trim()));
            None
        }
    }
}

/// Merges tables key by key. Any other value, also a list, is replaced as a whole.
fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn settings(root: &Map<String, Value>, origins: &Origins, warnings: &mut Vec<Problem>) -> Settings {
    let mut settings = hooks(root);
    if root.get("enabled") == Some(&Value::Bool(false)) {
        return settings;
    }
    let Some(entries) = root.get("requirements").and_then(Value::as_object) else { return settings };
    for (name, fields) in entries.iter().filter_map(|(name, value)| Some((name, value.as_object()?))) {
        let is_on = fields.get("enabled") == Some(&Value::Bool(true)) && !origins.wrong.contains(name);
        let requirement = requirement(name, fields).unwrap_or_else(|message| {
            if !is_on {
                return Requirement::named(name);
            }
            let path = origins.last_file.get(name).cloned().unwrap_or_default();
            warnings.push(Problem::of_file(path, What::Setting(format!("requirements.{name}.{message}"))));
            Requirement::named(name)
        });
        let enabled = requirement.enabled && is_on;
        settings.requirements.push(Requirement { enabled, ..requirement });
    }
    settings
}

fn hooks(root: &Map<String, Value>) -> Settings {
    let at = |path: &str| root.get("hooks").and_then(|hooks| hooks.pointer(path));
    let is = |path: &str, otherwise: bool| at(path).and_then(Value::as_bool).unwrap_or(otherwise);
    let scopes_at = |path: &str| at(path).map_or(vec![RequirementScope::Session], scopes);
    let carry_over = is("/session_start/carry_over/enabled", false).then(|| CarryOver {
        window_seconds: at("/session_start/carry_over/window_seconds")
            .and_then(count)
            .unwrap_or(DEFAULT_WINDOW_SECONDS),
        scopes: scopes_at("/session_start/carry_over/scopes"),
    });
    Settings {
        requirements: Vec::new(),
        inject_context: is("/session_start/inject_context", true),
        carry_over,
        stop: Stop {
            verify_requirements: is("/stop/verify_requirements", true),
            verify_scopes: scopes_at("/stop/verify_scopes"),
        },
        clear_session_state: is("/session_end/clear_session_state", false),
    }
}

/// Reads a requirement. The error names the key that is missing or unusable, and the reason.
fn requirement(name: &str, fields: &Map<String, Value>) -> Result<Requirement, String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let is = |key: &str| fields.get(key).and_then(Value::as_bool).unwrap_or(false);
    let plain = Requirement::named(name);
    Ok(Requirement {
        enabled: is("enabled"),
        kind: kind(fields)?,
        scope: text("scope").and_then(|word| scope(&word)).unwrap_or(plain.scope),
        triggers: fields.get("trigger_tools").map_or(plain.triggers, triggers),
        message: text("message").or_else(|| text("blocking_message")),
        checklist: fields.get("checklist").map(texts).unwrap_or_default(),
        skills: fields.get("satisfied_by_skill").map(texts).unwrap_or_default(),
        phases: Vec::new(),
        auto_resolve_skill: text("auto_resolve_skill"),
        approval_ttl: fields.get("approval_ttl").and_then(count).unwrap_or(plain.approval_ttl),
        stop_only: is("stop_only"),
        advisory: fields.get("blocking") == Some(&Value::Bool(false)),
        name: plain.name,
    })
}

fn kind(fields: &Map<String, Value>) -> Result<RequirementKind, String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    match text("type") {
        Some("dynamic") => {
            let calculator = text("calculator").ok_or("calculator: it is missing")?;
            if ![BRANCH_SIZE, "branch_size"].contains(&calculator) {
                return Err(format!("calculator: {calculator:?} is unknown; the only one is {BRANCH_SIZE}"));
            }
            let limit = |key: &str| fields.get("thresholds")?.get(key).and_then(count);
            Ok(RequirementKind::Dynamic(Limits {
                warn: limit("warn"),
                block: limit("block").ok_or("thresholds.block: it is missing")?,
                cache_ttl: fields.get("cache_ttl").and_then(count).unwrap_or(DEFAULT_CACHE_SECONDS),
            }))
        }
        Some("guard") => match text("guard_type") {
            Some("single_session") => Ok(RequirementKind::Guard(Guard::SingleSession)),
            Some(_) => Ok(RequirementKind::Guard(Guard::ProtectedBranch(
                fields
                    .get("protected_branches")
                    .map_or_else(|| vec!["master".to_owned(), "main".to_owned()], texts),
            ))),
            None => Err("guard_type: it is missing".to_owned()),
        },
        Some(_) | None => Ok(RequirementKind::Blocking),
    }
}

fn triggers(list: &Value) -> Vec<Trigger> {
    let read = |value: &Value| match value {
        Value::String(name) => Some(Trigger::tool(name)),
        other => Some(Trigger {
            tool: other.get("tool")?.as_str()?.to_owned(),
            command_pattern: other.get("command_pattern").and_then(Value::as_str).map(ToOwned::to_owned),
        }),
    };
    list.as_array().into_iter().flatten().filter_map(read).collect()
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        other => {
            other.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
        }
    }
}

fn scopes(value: &Value) -> Vec<RequirementScope> {
    texts(value).iter().filter_map(|word| scope(word)).collect()
}

fn scope(word: &str) -> Option<RequirementScope> {
    RequirementScope::ALL.into_iter().find(|scope| scope.name() == word)
}
