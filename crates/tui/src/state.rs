//! The state of the screen: the selected tab and session, and the text that the user typed. This is plain data;
//! `update` changes it, and `draw` shows it.

use crate::snapshot::{Snapshot, Wanted};
use engine::view::{CheckView, GateOutcome, ShortView, View};
use model::hint::CommandLine;
use model::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Now,
    Phases,
    Items,
    Log,
    Files,
}

impl Tab {
    pub const ALL: [Self; 5] = [Self::Now, Self::Phases, Self::Items, Self::Log, Self::Files];

    pub fn name(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::Phases => "Phases",
            Self::Items => "Items",
            Self::Log => "Log",
            Self::Files => "Files",
        }
    }

    /// The tab with this name, which is in lower case. `None` if there is no such tab.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tab| tab.name().eq_ignore_ascii_case(text))
    }

    pub fn position(self) -> usize {
        Self::ALL.iter().position(|tab| *tab == self).unwrap_or(0)
    }
}

/// The side of the screen to which the arrow keys apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Sessions,
    Detail,
}

/// How the next key is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    Browse,
    /// The user is typing a filter.
    Filter,
    Help {
        filter: String,
    },
    Note {
        text: String,
    },
    /// The user is asked to confirm the approval of a check.
    Approve {
        check: String,
    },
}

impl Mode {
    /// True if letters are inserted into a text, and do not act as keys.
    pub fn is_typing(&self) -> bool {
        match self {
            Self::Filter | Self::Help { .. } | Self::Note { .. } => true,
            Self::Browse | Self::Approve { .. } => false,
        }
    }
}

/// A request of the user, which the loop carries out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Load,
    Run(Action),
    Copy(Copied),
    SetMouse(bool),
    Quit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    Command(String),
    /// The brief of the session that is shown.
    Brief,
}

/// A change of the session that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Pause,
    Resume,
    Note(String),
    Approve(String),
}

impl Action {
    /// The command line that makes the same change.
    pub fn command(&self, view: &View) -> CommandLine {
        match self {
            Self::Pause => view.command(words!["pause"]),
            Self::Resume => CommandLine::new(words!["resume", view.session_id]),
            Self::Note(text) => view.command(words!["note", text]),
            Self::Approve(check) => view.command(words!["approve", check]),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    pub is_failure: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub snapshot: Snapshot,
    pub tab: Tab,
    pub focus: Focus,
    pub mode: Mode,
    /// The id of the session that the user chose. `None` if the active session is shown.
    pub chosen: Option<String>,
    /// The first visible row of each tab.
    pub scroll: [usize; Tab::ALL.len()],
    /// Words that the user typed. On the focused side, only lines that contain them are shown.
    pub filter: String,
    pub message: Option<Message>,
    /// The hash of the phase's files at the time when the user was asked to approve. If a file changes before the user
    /// answers, the approval does not cover the change.
    pub files_asked: Option<String>,
    pub mouse: bool,
    /// The only workflow to show in the view of the session's own tool. `None` for all.
    pub workflow: Option<String>,
    /// The number of columns and rows of the terminal.
    pub size: (u16, u16),
}

impl State {
    pub fn new(snapshot: Snapshot, chosen: Option<String>, size: (u16, u16)) -> Self {
        Self {
            snapshot,
            tab: Tab::Now,
            focus: Focus::Detail,
            mode: Mode::Browse,
            chosen,
            scroll: [0; Tab::ALL.len()],
            filter: String::new(),
            message: None,
            files_asked: None,
            mouse: false,
            workflow: None,
            size,
        }
    }

    pub fn wanted(&self) -> Wanted {
        Wanted { session: self.chosen.clone(), tab: self.tab }
    }

    pub fn view(&self) -> Option<&View> {
        self.snapshot.shown.as_ref().map(|shown| &*shown.view)
    }

    /// The sessions that match the filter.
    pub fn sessions(&self) -> Vec<&ShortView> {
        let words = if self.focus == Focus::Sessions { self.filter.to_lowercase() } else { String::new() };
        let texts = |line: &ShortView| {
            format!("{} {} {} {}", line.session_id, line.title, line.phase, line.lifecycle).to_lowercase()
        };
        let is_found = |line: &&ShortView| {
            let texts = texts(line);
            words.split_whitespace().all(|word| texts.contains(word))
        };
        self.snapshot.sessions.iter().filter(is_found).collect()
    }

    /// The index of the session that is shown among the sessions that match the filter. `None` if it does not match.
    pub fn selected(&self) -> Option<usize> {
        let id = &self.view()?.session_id;
        self.sessions().iter().position(|line| line.session_id == *id)
    }

    /// The checks of the current phase that wait for approval.
    pub fn approvals(&self) -> Vec<&CheckView> {
        let gate = self.view().filter(|view| view.run.completed_at.is_none()).and_then(View::current);
        let waits = |check: &&CheckView| {
            check.kind == "approval" && check.outcome != GateOutcome::Passed && !check.settled
        };
        gate.iter().flat_map(|phase| &phase.gate.checks).filter(waits).collect()
    }

    /// The command of the next step of the session that is shown. Without a session, the command of the project's next
    /// step.
    pub fn command(&self) -> Option<&CommandLine> {
        match &self.snapshot.shown {
            Some(shown) => shown.command.as_ref(),
            None => self.snapshot.next.as_ref()?.command.as_ref(),
        }
    }

    /// True if there is room for the list of sessions beside the tab.
    pub fn is_wide(&self) -> bool {
        self.size.0 >= 80
    }
}
