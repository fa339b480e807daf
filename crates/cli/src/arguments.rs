//! Looks at what was typed before it is parsed: building the parser of all commands costs more than most commands do.

use std::ffi::OsString;

/// Options that stand before a command and take a value of their own.
const WITH_VALUE: [&str; 4] = ["--project", "--session", "--key", "--color"];

/// The command that was typed, if one can be told. Help and mistakes need all of them.
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
        }
    }
}

/// `leftoff help start` is `leftoff start --help`.
pub fn without_help_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    arguments
}

/// `name=value`, as evidence, outputs and fields are given.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) => Err("the name before '=' is missing; write NAME=VALUE".to_owned()),
        None => Err("there is no '=' in it; write NAME=VALUE".to_owned()),
    }
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
    fn a_pair_needs_a_name_and_keeps_every_later_equals_sign() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(pair("a="), Ok(("a".to_owned(), String::new())));
        assert!(pair("=b").is_err());
        assert!(pair("ab").is_err());
    }
}
