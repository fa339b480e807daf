//! Examines the arguments before they are parsed, because building the parser of all commands takes longer than most
//! commands.

use crate::commands;
use crate::failure::Failure;
use model::typed_value::Given;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;

/// Options that take a value, and that may come before the command.
const WITH_VALUE: [&str; 4] = ["--project", "--session", "--key", "--color"];
/// Options that take no value, and that may come before the command.
const FLAGS: [&str; 6] = ["--json", "--quiet", "-q", "--verbose", "-v", "--yes"];

/// The command that was typed. `None` if it cannot be determined, because help was requested or something was mistyped.
/// The parser of all commands is then needed.
pub fn subcommand(arguments: &[OsString]) -> Option<String> {
    let mut words = arguments.iter().skip(1).map(|word| word.to_str());
    loop {
        let word = words.next()??;
        if word == "--help" || word == "-h" || word == "--version" || word == "-V" {
            return None;
        }
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word.to_owned());
        } else if !is_known(word) {
            // The parser will report this unknown option. The next word may be its value, so it is not taken for the
            // command.
            return words.flatten().find(|word| commands::exists(word)).map(str::to_owned);
        }
    }
}

fn is_known(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    FLAGS.contains(&option) || (name != option && WITH_VALUE.contains(&name))
}

/// Changes `leftoff help start` to `leftoff start --help`.
pub fn without_help_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

/// Reads a file, or stdin if the path is `-`. Fails if there are more than `most` bytes.
pub fn read_at_most(path: &std::path::Path, most: u64) -> std::io::Result<String> {
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path)?)
    };
    let mut text = String::new();
    source.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(std::io::Error::other(format!("longer than {most} bytes")));
    }
    Ok(text)
}

/// Parses an argument such as `name=value`, for evidence, outputs and fields.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) => Err("the name before '=' is missing; write NAME=VALUE".to_owned()),
        None => Err(match serde_json::from_str::<BTreeMap<String, serde_json::Value>>(text) {
            Ok(values) if !values.is_empty() => {
                let each = values.iter().map(|(name, value)| match value {
                    serde_json::Value::String(text) => format!("'{name}={text}'"),
                    other => format!("'{name}={other}'"),
                });
                format!("give each value with an option of its own: {}", each.collect::<Vec<_>>().join(" "))
            }
            Ok(_) | Err(_) => "there is no '='; write NAME=VALUE".to_owned(),
        }),
    }
}

/// The pairs in the form that the engine takes. Refuses a name that was given twice.
pub fn given(option: &str, pairs: Vec<(String, String)>) -> Result<BTreeMap<String, Given>, Failure> {
    let mut values = BTreeMap::new();
    for (name, value) in pairs {
        if values.insert(name.clone(), Given::Text(value)).is_some() {
            let message = format!("--{option} {name} was given twice");
            return Err(Failure::wrong_usage(message, "give each name only once"));
        }
    }
    Ok(values)
}

/// The phase, given as an argument or as an option. Refuses two different phases.
pub fn one_phase(behind: Option<String>, option: Option<String>) -> Result<Option<String>, Failure> {
    match (behind, option) {
        (Some(behind), _) if behind.contains('=') => {
            let message = format!("'{behind}' is not a phase");
            Err(Failure::wrong_usage(
                message,
                format!("repeat the option for each value: --evidence {behind}"),
            ))
        }
        (Some(behind), Some(option)) if behind != option => {
            let message = format!("two phases were given: '{behind}' and '{option}'");
            Err(Failure::wrong_usage(message, "give the phase only once"))
        }
        (behind, option) => Ok(behind.or(option)),
    }
}

/// The number of seconds in a duration such as `30s`, `10m`, `24h` or `7d`.
pub fn seconds(text: &str) -> Result<u64, String> {
    let expected = || "write a number and a unit, such as 30s, 10m, 24h or 7d".to_owned();
    let unit = text.chars().next_back().ok_or_else(expected)?;
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(expected()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    count.checked_mul(factor).filter(|seconds| *seconds > 0).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Option<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        subcommand(&words)
    }

    #[test]
    fn the_command_is_found_behind_options() {
        assert_eq!(typed(&["leftoff", "status"]).as_deref(), Some("status"));
        assert_eq!(typed(&["leftoff", "--json", "--session", "x", "next"]).as_deref(), Some("next"));
        assert_eq!(typed(&["leftoff", "--project=/p", "log"]).as_deref(), Some("log"));
        assert_eq!(typed(&["leftoff", "--help"]), None);
        assert_eq!(typed(&["leftoff", "--sesion", "login", "status"]).as_deref(), Some("status"));
        assert_eq!(typed(&["leftoff"]), None);
    }

    #[test]
    fn the_command_help_is_the_option_help() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let help = |typed: &[&str]| without_help_command(words(typed));
        assert_eq!(help(&["leftoff", "help"]), words(&["leftoff", "--help"]));
        assert_eq!(help(&["leftoff", "help", "start"]), words(&["leftoff", "start", "--help"]));
        assert_eq!(help(&["leftoff", "note", "help"]), words(&["leftoff", "note", "help"]));
    }

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        assert_eq!(seconds("30m"), Ok(1800));
        assert_eq!(seconds("7d"), Ok(604_800));
        for bad in ["", "m", "30", "1.5h", "-1h", "0s", "9h9", "99999999999999999999d"] {
            assert!(seconds(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn a_pair_needs_a_name_and_keeps_every_later_equals_sign() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(pair("a="), Ok(("a".to_owned(), String::new())));
        assert!(pair("=b").is_err());
        assert!(pair("ab").is_err());
    }
}
