//! Translates the command line of the original program `req` to leftoff's. Used if this program is called
//! through a link `req`, and for commands after `leftoff req`.

use crate::arguments::subcommand;
use std::ffi::OsString;
use std::path::Path;

/// An option that makes the command answer in the words of the original program.
const AS_ORIGINAL: &str = "--as-original";
/// Commands for which `--project` is a flag in the original program, each with leftoff's option for that
/// flag.
const SWITCHES: [(&str, &str); 3] = [("sessions", "--here"), ("init", "--shared"), ("config", "--shared")];

/// True if this program was called by the name of the original program.
pub fn is_called_as_req(arguments: &[OsString]) -> bool {
    let program = arguments.first().map(Path::new).and_then(Path::file_name);
    program.is_some_and(|name| name == "req")
}

/// The arguments in the form that leftoff's parser expects.
pub fn translated(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let as_req = is_called_as_req(&arguments);
    if as_req {
        arguments.splice(..1, ["leftoff".into(), "req".into(), AS_ORIGINAL.into()]);
    }
    let Some(verb) = verb_at(&arguments) else { return arguments };
    if as_req && arguments[verb] == "list" {
        arguments[verb] = "branches".into();
    }
    let switch = SWITCHES.iter().find(|(name, _)| arguments[verb] == **name).map(|(_, switch)| *switch);
    let Some(switch) = switch else { return arguments };
    for at in verb + 1..arguments.len() {
        let ends_here = arguments.get(at + 1).is_none_or(|next| next.to_string_lossy().starts_with('-'));
        if arguments[at] == "--project" && (as_req || ends_here) {
            arguments[at] = switch.into();
        } else if arguments[at] == "-y" {
            arguments[at] = "--yes".into();
        }
    }
    arguments
}

/// The position of the word after `req`.
fn verb_at(arguments: &[OsString]) -> Option<usize> {
    let is_word = |word: &OsString| !word.to_string_lossy().starts_with('-');
    if subcommand(arguments).as_deref() != Some("req") {
        return None;
    }
    let req = arguments.iter().position(|word| word == "req")?;
    let verb = arguments.iter().skip(req + 1).position(is_word)?;
    Some(req + 1 + verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: &str) {
        let words: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
        let found: Vec<String> =
            translated(words).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn r10_the_originals_program_is_ours_under_another_name() {
        check("/home/a/.local/bin/req status --summary", "leftoff req --as-original status --summary");
        check("req", "leftoff req --as-original");
        check("req list", "leftoff req --as-original branches");
        check("req sessions --project", "leftoff req --as-original sessions --here");
        check("req config --project a -y", "leftoff req --as-original config --shared a --yes");
    }

    #[test]
    fn r10_the_originals_words_are_known_behind_leftoff_req() {
        check("leftoff req sessions --project", "leftoff req sessions --here");
        check("leftoff req init --project -y", "leftoff req init --shared --yes");
        check("leftoff req sessions --project /p", "leftoff req sessions --project /p");
        check("leftoff req list", "leftoff req list");
        check("leftoff note req sessions --project", "leftoff note req sessions --project");
        check("leftoff start --goal x", "leftoff start --goal x");
    }
}
