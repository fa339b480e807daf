//! The options that every command takes.

use crate::origin::Origin;
use crate::ui::{Colour, Out};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use engine::{Detail, Engine, Intent, Options, Result};
use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

#[derive(Debug, Clone, Default)]
pub struct Globals {
    pub options: Options,
    pub json: bool,
    pub colour: Colour,
    pub quiet: bool,
    pub verbose: bool,
    pub yes: bool,
}

impl Globals {
    /// Adds these options to a parser.
    pub fn declare(command: Command) -> Command {
        let flag = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).help(help).global(true).action(ArgAction::SetTrue)
        };
        let value = |name: &'static str, word: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name(word).help(help).global(true)
        };
        command.next_help_heading("Everywhere").args([
            value("project", "DIR", "Project folder [default: this folder, or the nearest parent that is a project]")
                .value_hint(ValueHint::DirPath)
                .value_parser(clap::value_parser!(PathBuf)),
            value(
                "session",
                "ID",
                "Session: its id, a prefix of it, or its number in `list` [env: LEFTOFF_SESSION]",
            ),
            value("key", "K", "").help(format!(
                "Run a change only once: for {} days, the same command with the same key repeats its first answer",
                engine::KEY_LIFETIME.as_hours() / 24
            )),
            flag("json", "Print one JSON document on stdout; a failure prints one on stderr"),
            value("color", "WHEN", "Colours: auto, always or never [default: auto]")
                .value_parser(["auto", "always", "never"]),
            flag("quiet", "Print only data and errors: no messages on stderr, no next step").short('q'),
            flag("verbose", "Print more messages on stderr").short('v'),
            flag("yes", "Answer every question with yes"),
        ])
    }

    /// The options if none are typed. They depend on the environment, and on whether a person is present.
    pub fn of_nothing_typed() -> Self {
        let session = std::env::var("LEFTOFF_SESSION").ok().filter(|value| !value.is_empty());
        let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let origin = Origin::look(has_terminal);
        Self {
            options: Options {
                session,
                person_present: has_terminal && !origin.is_check(),
                marked_agent: crate::hooks::marked_agent(&origin),
                anywhere: true,
                watcher: crate::ui::progress_line::watcher(),
                ..Options::default()
            },
            ..Self::default()
        }
    }

    /// The options for a command that takes a session as an argument. A session outside this project is found by its
    /// name.
    pub fn naming(&self, session: Option<String>) -> Self {
        let mut named = self.clone();
        named.options.session = session.or(named.options.session);
        named
    }

    /// The session that the user typed. `None` if the session comes from the environment, or none is named.
    pub fn named_session(&self) -> Option<&str> {
        let asked = self.options.session.as_deref()?;
        (std::env::var("LEFTOFF_SESSION").ok().as_deref() != Some(asked)).then_some(asked)
    }

    /// The words that must be added to a printed command so that it is about the typed session. Empty if the command is
    /// about that session anyway.
    pub fn naming_words(&self, engine: &Engine) -> Vec<String> {
        let view =
            self.named_session().and_then(|asked| engine.sessions().show(Some(asked), Detail::Recent).ok());
        view.map(|view| view.naming_words()).unwrap_or_default()
    }

    pub fn out(&self) -> Out {
        Out::new(self)
    }

    /// The engine for a query. It is never dropped: the process ends soon, and the kernel then closes everything. To
    /// close the store and free its memory took 8 % of a command's instructions.
    pub fn query(&self) -> Result<ManuallyDrop<Engine>> {
        self.open(Intent::Query).map(ManuallyDrop::new)
    }

    /// The engine for a change of an existing session. It is never dropped, for the same reason as the engine of a
    /// query.
    pub fn command(&self) -> Result<ManuallyDrop<Engine>> {
        self.open(Intent::Command).map(ManuallyDrop::new)
    }

    pub fn open(&self, intent: Intent) -> Result<Engine> {
        // A change may take long, and may have to upgrade the store first.
        if matches!(intent, Intent::Command | Intent::Create) {
            self.say_that_it_works();
        }
        let engine = Engine::open(self.options.clone(), intent)?;
        if self.verbose {
            self.out().say(&format!("project {}", engine.project().root.display()));
        }
        Ok(engine)
    }
}

impl Globals {
    /// Makes progress appear on the terminal if a command is slow, unless messages are switched off.
    pub fn say_that_it_works(&self) {
        if !self.quiet && !self.json {
            crate::ui::progress_line::start();
        }
    }
}

impl From<&ArgMatches> for Globals {
    fn from(matches: &ArgMatches) -> Self {
        let text = |name| matches.get_one::<String>(name).cloned();
        let untyped = Self::of_nothing_typed();
        Self {
            options: Options {
                project: matches.get_one::<PathBuf>("project").cloned(),
                session: text("session").or(untyped.options.session),
                key: text("key"),
                person_present: untyped.options.person_present,
                marked_agent: untyped.options.marked_agent,
                anywhere: true,
                watcher: untyped.options.watcher,
                ..Options::default()
            },
            json: matches.get_flag("json"),
            colour: Colour::parse(text("color").as_deref()),
            quiet: matches.get_flag("quiet"),
            verbose: matches.get_flag("verbose"),
            yes: matches.get_flag("yes"),
        }
    }
}
