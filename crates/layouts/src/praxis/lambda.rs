//! Translates the simple lambdas of gates into CEL. Never evaluates Python. A construct that is not supported
//! is refused with a message that names it.

mod cel;
mod parse;
mod token;
mod truth;

use model::workflow::ValueType;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The types of declared evidence, keyed by the name of the field.
pub(super) type Declared = BTreeMap<String, ValueType>;

/// Translates the rule for one field. The first parameter of the lambda is the field's value; the values of
/// the others are given.
pub(super) fn of_field(
    text: &str,
    field: &str,
    declared: &Declared,
    parameters: &Map<String, Value>,
) -> Result<String, String> {
    let lambda = parse::lambda(text)?;
    let (value, others) =
        lambda.parameters.split_first().ok_or_else(|| "a lambda without a parameter".to_owned())?;
    let mut scope = cel::Scope::new(declared);
    scope.bind_field(value, field);
    for name in others {
        let given = parameters
            .get(name)
            .ok_or_else(|| format!("the parameter '{name}', which is missing from validator_params"))?;
        scope.bind_value(name, given)?;
    }
    let condition = scope.condition(&lambda.body)?;
    // The rule holds for a missing field. If the field is required, another check reports that it is missing.
    cel::bounded(format!("!({}) || {condition}", cel::is_given(field)))
}

/// Translates a rule about all evidence. The lambda has one parameter, which is the evidence.
pub(super) fn of_evidence(text: &str, declared: &Declared) -> Result<String, String> {
    let lambda = parse::lambda(text)?;
    let [evidence] = lambda.parameters.as_slice() else {
        return Err(format!("a lambda with {} parameters", lambda.parameters.len()));
    };
    let mut scope = cel::Scope::new(declared);
    scope.bind_evidence(evidence);
    scope.condition(&lambda.body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared() -> Declared {
        [
            ("n", ValueType::Integer),
            ("m", ValueType::Integer),
            ("s", ValueType::String),
            ("l", ValueType::List),
            ("b", ValueType::Boolean),
            ("o", ValueType::Object),
        ]
        .into_iter()
        .map(|(name, value_type)| (name.to_owned(), value_type))
        .collect()
    }

    #[track_caller]
    fn field(text: &str, name: &str) -> Result<String, String> {
        let parameters = json!({ "min_val": 3, "max_val": 50, "words": ["a", "b"] });
        of_field(text, name, &declared(), parameters.as_object().expect("an object"))
    }

    /// True if the translated expression holds for this evidence.
    #[track_caller]
    fn holds(expression: &str, evidence: &Value) -> bool {
        let program = ::cel::Program::compile(expression).expect("CEL");
        let mut context = ::cel::Context::default();
        context.add_variable_from_value("evidence", to_cel(evidence));
        match program.execute(&context) {
            Ok(::cel::Value::Bool(answer)) => answer,
            other => panic!("{expression} gave {other:?}"),
        }
    }

    /// A JSON value as a CEL value. Integers become `int`, as in gates.
    fn to_cel(value: &Value) -> ::cel::Value {
        match value {
            Value::Number(number) => ::cel::Value::Int(number.as_i64().expect("a whole number")),
            Value::Array(values) => ::cel::Value::List(values.iter().map(to_cel).collect::<Vec<_>>().into()),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), to_cel(value)));
                fields.collect::<std::collections::HashMap<_, _>>().into()
            }
            Value::Bool(flag) => ::cel::Value::Bool(*flag),
            Value::String(text) => ::cel::Value::String(text.clone().into()),
            Value::Null => ::cel::Value::Null,
        }
    }

    /// Expects a rule about one field to pass for some values and to fail for others.
    #[track_caller]
    fn check(text: &str, name: &str, passing: &[Value], failing: &[Value]) {
        let expression = field(text, name).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert!(holds(&expression, &json!({})), "{text}: what is missing is said by the field itself");
        for value in passing {
            assert!(holds(&expression, &json!({ name: value })), "{expression} of {value}");
        }
        for value in failing {
            assert!(!holds(&expression, &json!({ name: value })), "{expression} of {value}");
        }
    }

    #[test]
    fn comparisons_len_in_and_or_not_are_translated() {
        check("lambda x: x > 0", "n", &[json!(1)], &[json!(0), json!(-1)]);
        let range = "lambda x, min_val, max_val: min_val <= x <= max_val";
        check(range, "n", &[json!(3), json!(50)], &[json!(2), json!(51)]);
        check("lambda x: len(x) >= 3", "s", &[json!("äöü")], &[json!("ab")]);
        check("lambda x: x in ['yes', \"no\"]", "s", &[json!("no")], &[json!("maybe")]);
        check("lambda x: x not in ('no',)", "s", &[json!("yes")], &[json!("no")]);
        check("lambda x: 'TODO' not in x", "s", &[json!("done")], &[json!("TODO: it")]);
        check("lambda x, words: x in words", "s", &[json!("a")], &[json!("c")]);
        check("lambda x: x is True", "b", &[json!(true)], &[json!(false)]);
        check("lambda x: not x", "b", &[json!(false)], &[json!(true)]);
        check("lambda x: x and len(x) > 2", "l", &[json!([1, 2, 3])], &[json!([]), json!([1])]);
        check("lambda x: x", "n", &[json!(2)], &[json!(0)]);
        let either = "lambda x: x == -1 or (x >= 0 and x < 100)";
        check(either, "n", &[json!(-1), json!(99)], &[json!(-2), json!(100)]);
        check("lambda x: not x == 1 and x != 2", "n", &[json!(3)], &[json!(1), json!(2)]);
        check("lambda x: x['deep'] == 'a\\n\"b'", "o", &[json!({"deep": "a\n\"b"})], &[json!({"deep": ""})]);
    }

    #[test]
    fn rules_over_all_evidence_are_translated() {
        let check = |text: &str, evidence: Value, expected: bool| {
            let expression = of_evidence(text, &declared()).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(holds(&expression, &evidence), expected, "{expression} of {evidence}");
        };
        check("lambda e: e['n'] >= e[\"m\"]", json!({"n": 2, "m": 2}), true);
        check("lambda e: e['n'] >= e[\"m\"]", json!({"n": 1, "m": 2}), false);
        check("lambda ev: ev.get('n', 0) + 1 <= ev.get('m', 0)", json!({"m": 1}), true);
        check("lambda ev: ev.get('n', 0) + 1 <= ev.get('m', 0)", json!({}), false);
        let rule = "lambda e: not e['b'] or len(e['l']) == e['n']";
        check(rule, json!({"b": true, "l": [1], "n": 1}), true);
        check(rule, json!({"b": true, "l": [1], "n": 2}), false);
        check("lambda e: 'odd-name' in e and e['odd-name'] is not None", json!({"odd-name": 1}), true);
        check("lambda e: 'odd-name' in e and e['odd-name'] is not None", json!({}), false);
        check("lambda e: 'm' not in e or e['m'] > 0", json!({}), true);
        let share = "lambda e: e['n'] >= 0.8 * e['m']";
        check(share, json!({"n": 4, "m": 5}), true);
        check(share, json!({"n": 3, "m": 5}), false);
        check("lambda e: e['n'] > 1.5", json!({"n": 2}), true);
        check("lambda e: 1.5 * 2 == e['n']", json!({"n": 3}), true);
        check("lambda e: e['b'] or e['n'] > 0", json!({"b": true}), true);
    }

    /// Python raises an error for a missing field, so such a rule must fail, whatever its other conditions
    /// are.
    #[test]
    fn a_field_that_is_missing_is_never_passed_over() {
        for text in [
            "lambda e: e['n'] != 1 or e['b']",
            "lambda e: not (e['n'] == 1 and not e['b'])",
            "lambda e: not (1 < e['n'] < 0)",
        ] {
            let expression = of_evidence(text, &declared()).unwrap_or_else(|why| panic!("{text}: {why}"));
            let program = ::cel::Program::compile(&expression).expect("CEL");
            let mut context = ::cel::Context::default();
            context.add_variable_from_value("evidence", to_cel(&json!({"b": true})));
            assert!(program.execute(&context).is_err(), "{expression}");
        }
    }

    /// Types of declared fields are checked before the rules. A field that is not declared may have any
    /// value.
    #[test]
    fn what_is_true_and_what_is_equal_is_so_as_python_has_it() {
        let given = json!({"n": 1, "b": true, "l": [1, 2], "one": 1, "yes": true, "no": false, "zero": 0,
            "text": "", "list": [], "object": {}, "nothing": null});
        for (text, expected) in [
            ("e['b'] == 1", true),
            ("e['b'] != 1", false),
            ("e['b'] in [1]", true),
            ("e['b'] not in (0, 1)", false),
            ("e['b'] > 0", true),
            ("e['one'] == True", true),
            ("e['one'] != True", false),
            ("e['one'] is True", false),
            ("e['yes'] is True", true),
            ("e['yes'] == 1", true),
            ("e['yes'] != e['n']", false),
            ("e['yes'] in e['l']", true),
            ("e['no'] == 0.0", true),
            ("e['nothing'] == False", false),
            ("e['yes'] >= e['one']", true),
            ("e['zero']", false),
            ("e['text']", false),
            ("e['list']", false),
            ("e['object']", false),
            ("e['nothing']", false),
            ("e['no']", false),
            ("e['one'] and e['yes']", true),
            ("not e.get('gone')", true),
            ("e.get('text', 5)", false),
            ("e.get('nothing', 5)", false),
            ("e.get('list', 1) or e.get('gone', 1)", true),
            ("-(e['n'] + 1) == -2", true),
            ("10 - (3 - 2) == 9", true),
            ("(e['n'] > 0) == 1", true),
        ] {
            let expression = of_evidence(&format!("lambda e: {text}"), &declared())
                .unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(holds(&expression, &given), expected, "{text}: {expression}");
        }
    }

    #[test]
    fn everything_else_is_refused_by_its_name() {
        for (text, why) in [
            ("lambda x: __import__('os').system('id')", "'__import__'"),
            ("lambda x: open('/etc/passwd')", "'open'"),
            ("lambda x: isinstance(x, int)", "'isinstance'"),
            ("lambda x: all(i > 0 for i in x)", "'all'"),
            ("lambda x: x.startswith('a')", "'startswith'"),
            ("lambda x: x ** 2 > 4", "'**'"),
            ("lambda x: x / 2 > 1", "'/'"),
            ("lambda x: x if x else 1", "'if'"),
            ("lambda x: [i for i in x]", "'for'"),
            ("lambda x: (lambda y: y)(x)", "'lambda'"),
            ("lambda x: f'{x}'", "'f'"),
            ("lambda x: other > 1", "'other'"),
            ("lambda *x: x", "'*'"),
            ("lambda x=1: x", "'='"),
            ("lambda x, high: x < high", "'high'"),
            ("x > 0", "no lambda"),
            ("lambda x:", "ends"),
            ("lambda x: x >", "ends"),
            ("lambda x: x > 0 )", "')'"),
            ("lambda x: 'abc", "string that does not end"),
            ("lambda x: x > 99999999999999999999", "99999999999999999999"),
            ("lambda x: x; import os", "';'"),
            ("lambda x: x == (1, 2)", "a tuple"),
            ("lambda x: x is 5", "'is'"),
            ("lambda x: x == 05", "05"),
            ("lambda x: x == 1.", "1."),
            ("lambda x: x == 5__0", "5__0"),
            ("lambda x: [x] < [2]", "'<'"),
            ("lambda x: True in [x] in [[1]]", "'in' with a boolean"),
            ("lambda x: x > 0\n  and x < 3", "a second line"),
            ("lambda x: x == 'a\nb'", "next line"),
            ("lambda x: x == 'a\\\nb'", "the escape"),
            ("lambda x, x: x", "twice"),
            ("lambda x: x.__class__", "'__class__'"),
            ("lambda x: (y := x)", "':='"),
            ("lambda x: {x: 1}", "'{'"),
            ("lambda x: x or 1 > 0 if x else 0", "'if'"),
            ("lambda x: (x or 1) > 0", "'or'"),
            ("lambda x: x.real", "'real'"),
        ] {
            let found = field(text, "n").err().unwrap_or_else(|| panic!("{text} was translated"));
            assert!(found.contains(why), "{text}: {found}");
        }
        let deep = format!("lambda x: {}x{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(field(&deep, "n").is_err());
        let long = format!("lambda x: {}", "not ".repeat(300));
        assert!(field(&long, "n").is_err());
        let long = format!("lambda x: x > len('{}')", "x".repeat(4096));
        assert!(field(&long, "n").is_err_and(|why| why.contains("characters of CEL")));
        // Each level contains the level below it three times.
        let nested = |level: usize| "e.get('a', ".repeat(level) + "1" + &" == 1)".repeat(level);
        let growing = format!("lambda e: {} == 1", nested(30));
        assert!(of_evidence(&growing, &declared()).is_err_and(|why| why.contains("characters of CEL")));
        let growing = format!("lambda e: e{} == 1", ".get('a')".repeat(40));
        assert!(of_evidence(&growing, &declared()).is_err_and(|why| why.contains("characters of CEL")));
    }
}
