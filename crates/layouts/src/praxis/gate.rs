//! A phase's gate from its gate-definition.yaml: typed evidence, and rules as checks. Runs nothing.

use super::lambda;
use model::id::Name;
use model::workflow::{CheckDefinition, CheckKind, EvidenceDefinition, ValueType};
use serde_json::{Map, Value};

/// The requirements of a phase's gate.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Gate {
    pub(super) strict: bool,
    pub(super) no_override: bool,
    pub(super) evidence: Vec<EvidenceDefinition>,
    pub(super) checks: Vec<CheckDefinition>,
    /// Messages about entries that cannot be used. A rule that cannot be translated becomes a check that a
    /// person answers.
    pub(super) refused: Vec<String>,
    pub(super) remarks: Vec<String>,
}

pub(super) fn read(content: &[u8]) -> Result<Gate, String> {
    let text = std::str::from_utf8(content).map_err(|_| "it is not UTF-8".to_owned())?;
    let document: Value = serde_saphyr::from_str(text).map_err(|error| {
        let said = error.to_string();
        format!("it is not usable YAML ({})", said.lines().next().unwrap_or_default())
    })?;
    let Value::Object(document) = document else { return Err("it is not a mapping".to_owned()) };
    let mut gate = Gate::default();
    let checkpoint = gate.section(&document, "checkpoint");
    gate.strict = gate.flag(&checkpoint, "strict", false);
    gate.no_override = !gate.flag(&checkpoint, "allow_override", true);
    if !gate.flag(&checkpoint, "enabled", true) {
        gate.remarks.push("the checkpoint is not enabled, so it checks nothing".to_owned());
        let Gate { strict, no_override, remarks, .. } = gate;
        return Ok(Gate { strict, no_override, remarks, ..Gate::default() });
    }
    let schema = gate.section(&document, "evidence_schema");
    let validators = gate.section(&document, "validators");
    gate.evidence(&schema);
    gate.validators(&schema, &validators);
    gate.rules(document.get("cross_field_validation"));
    Ok(gate)
}

impl Gate {
    fn section(&mut self, of: &Map<String, Value>, key: &str) -> Map<String, Value> {
        match of.get(key) {
            Some(Value::Object(section)) => section.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                self.refused.push(format!("{key} is not a mapping"));
                Map::new()
            }
        }
    }

    fn flag(&mut self, of: &Map<String, Value>, key: &str, default: bool) -> bool {
        match of.get(key) {
            Some(Value::Bool(flag)) => *flag,
            None | Some(Value::Null) => default,
            Some(other) => {
                self.refused.push(format!("{key} is {other}, not true or false"));
                default
            }
        }
    }

    fn evidence(&mut self, schema: &Map<String, Value>) {
        for (name, field) in schema {
            let Value::Object(field) = field else {
                self.refused.push(format!("the field '{name}' is not a mapping"));
                continue;
            };
            let named = field.get("type").and_then(Value::as_str).unwrap_or_default();
            let Some(value_type) = TYPES.iter().find(|(word, _)| *word == named).map(|(_, known)| *known)
            else {
                let known: Vec<&str> = TYPES.iter().map(|(word, _)| *word).collect();
                self.refused.push(format!(
                    "the field '{name}' has the type '{named}'; the types are {}",
                    known.join(", ")
                ));
                continue;
            };
            let required = self.flag(field, "required", false);
            let describe = field.get("description").and_then(Value::as_str).map(ToOwned::to_owned);
            let name = name.clone();
            // For Python, 90.0 is a float and not an int.
            let as_written = value_type == ValueType::Integer;
            self.evidence.push(EvidenceDefinition { name, value_type, required, describe, as_written });
        }
    }

    fn validators(&mut self, schema: &Map<String, Value>, validators: &Map<String, Value>) {
        let declared = self.declared();
        for (field, details) in schema {
            let validator = match details.get("validator") {
                None | Some(Value::Null) => continue,
                Some(Value::String(name)) => name,
                Some(other) => {
                    let about = format!("validator {other} of the field '{field}'");
                    let help =
                        format!("Validator {other} for field '{field}' is not the name of a validator");
                    let refused = Err("a value that is not the name of a validator".to_owned());
                    self.check(&format!("{field}-validator"), &about, "", refused, help);
                    continue;
                }
            };
            let nothing = Map::new();
            let parameters = details.get("validator_params").and_then(Value::as_object).unwrap_or(&nothing);
            let about = format!("validator '{validator}' of the field '{field}'");
            let text = validators.get(validator).and_then(Value::as_str);
            let expression = match text {
                Some(text) => lambda::of_field(text, field, &declared, parameters),
                None => Err("a validator that is not defined under `validators`".to_owned()),
            };
            let rule = with_parameters(text.unwrap_or_default(), parameters);
            let described = details.get("description").and_then(Value::as_str);
            let rule = described.map_or(rule.clone(), |described| format!("{described} ({rule})"));
            let help = format!("Validator '{validator}' failed for field '{field}': {rule}");
            self.check(&format!("{field}-{validator}"), &about, &rule, expression, help);
        }
    }

    fn rules(&mut self, rules: Option<&Value>) {
        let rules = match rules {
            Some(Value::Array(rules)) => rules.as_slice(),
            None | Some(Value::Null) => &[],
            Some(_) => {
                self.refused.push("cross_field_validation is not a list".to_owned());
                &[]
            }
        };
        let declared = self.declared();
        for (number, rule) in (1..).zip(rules) {
            let text = rule.get("rule").and_then(Value::as_str).unwrap_or_default();
            let expression = lambda::of_evidence(text, &declared);
            let said = rule.get("error_message").and_then(Value::as_str);
            let help =
                said.map_or_else(|| format!("Cross-field rule {number} does not hold"), ToOwned::to_owned);
            let about = format!("cross-field rule {number}");
            self.check(&format!("rule-{number}"), &about, text, expression, help);
        }
    }

    fn declared(&self) -> lambda::Declared {
        self.evidence.iter().map(|field| (field.name.clone(), field.value_type)).collect()
    }

    /// Adds a check. A rule that cannot be translated must not pass by itself, so a person has to approve it.
    fn check(&mut self, id: &str, about: &str, text: &str, expression: Result<String, String>, help: String) {
        let (kind, help) = match expression {
            Ok(expr) => (CheckKind::Expr { expr, written: Some(text.to_owned()) }, help),
            Err(why) => {
                self.refused.push(format!("{about} cannot be translated: it uses {why}"));
                let help = format!(
                    "{help}. `{text}` is not evaluated by leftoff: check the rule yourself, then approve it."
                );
                (CheckKind::Approval { expires_seconds: None }, help)
            }
        };
        let id = self.free_id(id);
        self.checks.push(CheckDefinition { id, help: Some(help), kind });
    }

    fn free_id(&self, text: &str) -> Name {
        let is_taken = |id: &Name| self.checks.iter().any(|check| check.id == *id);
        let wanted = super::name_of(text);
        let numbered = (2..).map(|number| super::name_of(&format!("check-{number}-{text}")));
        std::iter::once(wanted)
            .chain(numbered)
            .find(|id| !is_taken(id))
            .unwrap_or_else(|| super::name_of(text))
    }
}

/// The text of a lambda, with the values of its parameters, for people to read.
fn with_parameters(text: &str, parameters: &Map<String, Value>) -> String {
    let given: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if given.is_empty() { text.to_owned() } else { format!("{text} ({})", given.join(", ")) }
}

const TYPES: &[(&str, ValueType)] = &[
    ("boolean", ValueType::Boolean),
    ("integer", ValueType::Integer),
    ("string", ValueType::String),
    ("object", ValueType::Object),
    ("list", ValueType::List),
];
