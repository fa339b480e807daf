//! All commands, one file each, and their other names. Only the parser of the typed command is built, because building
//! all parsers takes half a millisecond.

mod abandon;
mod advance;
mod approve;
mod artifact;
mod brief;
mod bundle;
mod checkpoint;
mod close;
mod completions;
mod diff;
mod doctor;
mod exec;
mod export;
mod fail;
mod gate;
mod history;
mod hook;
mod import;
mod init;
mod item;
mod list;
mod log;
mod man;
mod mcp;
mod next;
mod note;
mod pause;
mod progress;
mod purge;
mod reopen;
mod repair;
mod req;
mod resume;
mod retry;
mod revisit;
mod rollback;
mod run;
mod serve;
mod set;
mod show;
mod skip;
mod start;
mod status;
mod statusline;
mod store;
mod switch;
mod sync;
mod trust;
mod undo;
mod verify;
mod workflow;

use crate::failure::Failure;
use crate::globals::Globals;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::process::ExitCode;

type Outcome = Result<ExitCode, Failure>;

/// A command: its name, and the functions that build its parser and run it.
struct Entry {
    name: &'static str,
    declare: fn(Command) -> Command,
    run: fn(&ArgMatches, &Globals) -> Outcome,
    /// Runs the command if it was typed without arguments. No parser is needed then.
    alone: Option<fn(&Globals) -> Outcome>,
}

/// A command. Its fields are its arguments, and its doc comment is its help.
trait Run: Args + FromArgMatches {
    fn run(self, globals: &Globals) -> Outcome;
}

const fn entry<C: Run>(name: &'static str) -> Entry {
    Entry { name, declare: C::augment_args, run: parse_and_run::<C>, alone: None }
}

/// A query that is usually typed without arguments. To run it without a parser saves a tenth of its time.
const fn question<C: Run + Default>(name: &'static str) -> Entry {
    Entry { alone: Some(|globals| C::default().run(globals)), ..entry::<C>(name) }
}

/// The commands in the order of the help, which begins with the commands of a session's life.
const ENTRIES: &[Entry] = &[
    entry::<init::Init>("init"),
    entry::<start::Start>("start"),
    question::<status::Status>("status"),
    question::<brief::Brief>("brief"),
    question::<next::Next>("next"),
    entry::<advance::Advance>("advance"),
    entry::<gate::Gate>("gate"),
    entry::<approve::Approve>("approve"),
    entry::<trust::Trust>("trust"),
    entry::<verify::Verify>("verify"),
    entry::<retry::Retry>("retry"),
    entry::<rollback::Rollback>("rollback"),
    entry::<revisit::Revisit>("revisit"),
    entry::<skip::Skip>("skip"),
    entry::<fail::Fail>("fail"),
    entry::<artifact::ArtifactCommand>("artifact"),
    entry::<item::ItemCommand>("item"),
    entry::<note::NoteCommand>("note"),
    entry::<pause::Pause>("pause"),
    entry::<resume::Resume>("resume"),
    entry::<switch::Switch>("switch"),
    entry::<close::Close>("close"),
    entry::<abandon::Abandon>("abandon"),
    entry::<reopen::Reopen>("reopen"),
    entry::<run::RunCommand>("run"),
    entry::<set::Set>("set"),
    entry::<checkpoint::Checkpoint>("checkpoint"),
    entry::<undo::Undo>("undo"),
    entry::<undo::Redo>("redo"),
    entry::<diff::Diff>("diff"),
    entry::<list::List>("list"),
    entry::<show::Show>("show"),
    entry::<history::HistoryCommand>("history"),
    entry::<log::Log>("log"),
    entry::<progress::Progress>("progress"),
    entry::<serve::Serve>("serve"),
    entry::<req::ReqCommand>("req"),
    entry::<exec::Exec>("exec"),
    entry::<import::Import>("import"),
    entry::<export::Export>("export"),
    entry::<bundle::BundleCommand>("bundle"),
    entry::<sync::SyncCommand>("sync"),
    entry::<purge::Purge>("purge"),
    entry::<workflow::WorkflowCommand>("workflow"),
    entry::<hook::Hook>("hook"),
    entry::<statusline::Statusline>("statusline"),
    entry::<mcp::Mcp>("mcp"),
    entry::<store::StoreCommand>("store"),
    entry::<doctor::Doctor>("doctor"),
    entry::<repair::Repair>("repair"),
    entry::<completions::Completions>("completions"),
    entry::<man::Man>("man"),
];

/// Alternative names of commands.
const ALIASES: &[(&str, &str)] = &[("round", "run"), ("complete", "close")];

/// The parser of the command `wanted`. If it is `None`, the parser of all commands.
pub fn parser(wanted: Option<&str>) -> Command {
    let root = Command::new("leftoff")
        .version(env!("LEFTOFF_VERSION"))
        .about("Durable session state for AI agents' work: continue where the last agent left off")
        .after_help(EXAMPLES)
        .disable_help_subcommand(true);
    let root = Globals::declare(root);
    match wanted.and_then(find) {
        Some(entry) => root.subcommand(declared(entry)),
        None => root.subcommands(ENTRIES.iter().map(declared)),
    }
}

/// The function that runs this command without arguments and without a parser. `None` if the command needs a parser.
pub fn alone(name: &str) -> Option<fn(&Globals) -> Outcome> {
    find(name)?.alone
}

pub fn exists(name: &str) -> bool {
    find(name).is_some()
}

/// The names of the commands, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// Runs `leftoff` without a command, which shows the status.
pub fn status(globals: &Globals) -> Outcome {
    status::Status::default().run(globals)
}

pub fn run(name: &str, matches: &ArgMatches, globals: &Globals) -> Outcome {
    match find(name) {
        Some(entry) => (entry.run)(matches, globals),
        None => Err(Failure::no_command()),
    }
}

const EXAMPLES: &str = "\
Examples:
  leftoff                                                 the state of the work
  leftoff start --goal \"no log-out while a tab is open\"   start a session here
  leftoff next                                            the next step, and its command
  leftoff advance plan                                    complete the phase 'plan'
  leftoff brief --format markdown                         the hand-over for the next agent

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused by a rule,
5 a gate did not pass, 6 a person must answer, 7 outcome unknown.";

fn find(name: &str) -> Option<&'static Entry> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, real)| real);
    ENTRIES.iter().find(|entry| entry.name == name)
}

fn declared(entry: &Entry) -> Command {
    let command = (entry.declare)(Command::new(entry.name));
    ALIASES
        .iter()
        .filter(|(_, real)| *real == entry.name)
        .fold(command, |command, (alias, _)| command.visible_alias(*alias))
}

fn parse_and_run<C: Run>(matches: &ArgMatches, globals: &Globals) -> Outcome {
    match C::from_arg_matches(matches) {
        Ok(command) => command.run(globals),
        Err(error) => Err(Failure::wrong_usage(error.to_string(), "see: leftoff --help")),
    }
}

/// Shows the result of a command that changed something: data on stdout, messages on stderr.
fn answered(done: &str, answer: &engine::Answer, globals: &Globals) -> Outcome {
    shown(done, answer, crate::ui::answer::answer, globals)
}

/// Shows a change in one line, because the change does not affect the next step.
fn answered_briefly(done: &str, answer: &engine::Answer, globals: &Globals) -> Outcome {
    shown(done, answer, crate::ui::answer::answer_line, globals)
}

/// Shows a change. If nothing had to change, says so in one line.
fn answered_unless(already: &str, done: &str, answer: &engine::Answer, globals: &Globals) -> Outcome {
    if answer.view.already {
        shown(already, answer, crate::ui::answer::already_line, globals)
    } else {
        answered(done, answer, globals)
    }
}

/// Shows a change. If nothing had to change, says so and shows the next step.
fn answered_or(already: &str, done: &str, answer: &engine::Answer, globals: &Globals) -> Outcome {
    if answer.view.already {
        shown(already, answer, crate::ui::answer::already, globals)
    } else {
        answered(done, answer, globals)
    }
}

/// Shows that a session continues, or that it was already active.
fn answered_continuing(done: &str, answer: &engine::Answer, globals: &Globals) -> Outcome {
    let phase = &answer.view.current_phase;
    let state = format!("already active in {}", engine::words::phase_called(phase.number, &phase.id));
    answered_or(&state, done, answer, globals)
}

fn shown(
    done: &str,
    answer: &engine::Answer,
    words: fn(&str, &engine::Answer, &crate::ui::Out) -> String,
    globals: &Globals,
) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(&with_talk(answer)).map_err(Failure::after_the_change)?;
    } else {
        for line in &answer.said {
            out.say(line);
        }
        crate::ui::answer::warn_shortly(&answer.view.warnings, &out);
        let text = words(done, answer, &out);
        out.text(&text).map_err(Failure::after_the_change)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The session view as JSON. It includes the messages, because a program does not read them on stderr.
fn with_talk(answer: &engine::Answer) -> serde_json::Value {
    let mut value = serde_json::to_value(&answer.view).unwrap_or(serde_json::Value::Null);
    if let serde_json::Value::Object(fields) = &mut value {
        fields.insert("said".to_owned(), serde_json::json!(answer.said));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_alone_is_what_its_parser_makes_of_no_arguments() {
        fn parsed<C: Run + Default + std::fmt::Debug>(name: &str) {
            let matches = parser(Some(name)).try_get_matches_from(["leftoff", name]).expect("parses");
            let (_, matches) = matches.subcommand().expect("a command");
            let parsed = C::from_arg_matches(matches).expect("its arguments");
            assert_eq!(format!("{parsed:?}"), format!("{:?}", C::default()));
            assert!(alone(name).is_some());
        }
        parsed::<status::Status>("status");
        parsed::<brief::Brief>("brief");
        parsed::<next::Next>("next");
        assert_eq!(ENTRIES.iter().filter(|entry| entry.alone.is_some()).count(), 3);
    }

    #[test]
    fn no_arguments_mean_the_same_options_with_and_without_a_parser() {
        let matches = parser(Some("status")).try_get_matches_from(["leftoff", "status"]).expect("parses");
        let parsed = Globals::from(&matches);
        assert_eq!(format!("{parsed:?}"), format!("{:?}", Globals::of_nothing_typed()));
    }
}
