//! How keys, changes and time change the state of the screen. Changes only the state: everything else that must be done
//! is returned as an effect.

use crate::snapshot::Snapshot;
use crate::state::{Action, Copied, Effect, Focus, Message, Mode, State, Tab};
use crossterm::event::{KeyCode, KeyModifiers, MouseEventKind};
use engine::words::one_line;

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Key(KeyCode, KeyModifiers),
    Mouse(MouseEventKind),
    /// The user pasted text. It is inserted where the user is typing, and otherwise ignored. It never acts as keys.
    Pasted(String),
    Resized(u16, u16),
    Loaded(Box<Snapshot>),
    /// A minute has passed, so the times on the screen are out of date.
    Minute,
    /// An action was carried out or refused, with this message.
    Said(Message),
}

const LONGEST_TYPED: usize = 10_000;
/// The number of rows by which the page keys move.
const PAGE: isize = 10;

pub fn update(state: &mut State, event: Event) -> Option<Effect> {
    match event {
        Event::Resized(width, height) => {
            state.size = (width, height);
            None
        }
        Event::Loaded(snapshot) => {
            state.snapshot = *snapshot;
            None
        }
        Event::Minute => Some(Effect::Load),
        Event::Said(message) => {
            let is_done = !message.is_failure;
            state.message = Some(message);
            is_done.then_some(Effect::Load)
        }
        Event::Mouse(kind) => match kind {
            MouseEventKind::ScrollDown => moved(state, 3),
            MouseEventKind::ScrollUp => moved(state, -3),
            MouseEventKind::Down(_)
            | MouseEventKind::Up(_)
            | MouseEventKind::Drag(_)
            | MouseEventKind::Moved
            | MouseEventKind::ScrollLeft
            | MouseEventKind::ScrollRight => None,
        },
        Event::Pasted(text) => {
            let text = if state.mode.is_typing() { one_line(&text, LONGEST_TYPED) } else { String::new() };
            for letter in text.chars() {
                update(state, Event::Key(KeyCode::Char(letter), KeyModifiers::NONE));
            }
            None
        }
        Event::Key(KeyCode::Char('c'), modifiers) if modifiers.contains(KeyModifiers::CONTROL) => {
            Some(Effect::Quit)
        }
        Event::Key(key, _) => {
            state.message = None;
            match state.mode.clone() {
                Mode::Browse => browse(state, key),
                Mode::Filter => filter(state, key),
                Mode::Help { filter } => help(state, key, filter),
                Mode::Note { text } => note(state, key, text),
                Mode::Approve { check } => approve(state, key, check),
            }
        }
    }
}

fn browse(state: &mut State, key: KeyCode) -> Option<Effect> {
    match key {
        KeyCode::Char('q') => Some(Effect::Quit),
        KeyCode::Char('j') | KeyCode::Down => moved(state, 1),
        KeyCode::Char('k') | KeyCode::Up => moved(state, -1),
        KeyCode::PageDown => moved(state, PAGE),
        KeyCode::PageUp => moved(state, -PAGE),
        KeyCode::Home | KeyCode::Char('g') => moved(state, isize::MIN),
        KeyCode::End | KeyCode::Char('G') => moved(state, isize::MAX),
        KeyCode::Left | KeyCode::Char('h') => focused(state, Focus::Sessions),
        KeyCode::Right | KeyCode::Char('l') | KeyCode::Enter => focused(state, Focus::Detail),
        KeyCode::Esc => left(state),
        KeyCode::Tab => tabbed(state, state.tab.position() + 1),
        KeyCode::BackTab => tabbed(state, state.tab.position() + Tab::ALL.len() - 1),
        KeyCode::Char(digit @ '1'..='5') => tabbed(state, digit as usize - '1' as usize),
        KeyCode::Char('/') => {
            state.mode = Mode::Filter;
            None
        }
        KeyCode::Char('?') => {
            state.mode = Mode::Help { filter: String::new() };
            None
        }
        KeyCode::Char('R') => Some(Effect::Load),
        KeyCode::Char('y') => copied(state),
        KeyCode::Char('Y') => state.view().map(|_| Effect::Copy(Copied::Brief)),
        KeyCode::Char('p') => paused(state),
        KeyCode::Char('n') => {
            if state.view().is_some() {
                state.mode = Mode::Note { text: String::new() };
            }
            None
        }
        KeyCode::Char('a') => asked_to_approve(state),
        KeyCode::Char('m') => {
            state.mouse = !state.mouse;
            Some(Effect::SetMouse(state.mouse))
        }
        _ => None,
    }
}

fn moved(state: &mut State, by: isize) -> Option<Effect> {
    match state.focus {
        Focus::Detail => {
            let scroll = &mut state.scroll[state.tab.position()];
            // When the frame is drawn, a position beyond the end of the text is corrected.
            *scroll = scroll.saturating_add_signed(by);
            None
        }
        Focus::Sessions => {
            let sessions = state.sessions();
            let last = sessions.len().checked_sub(1)?;
            let place = state.selected().map_or(0, |place| place.saturating_add_signed(by).min(last));
            let id = sessions[place].session_id.clone();
            (state.chosen.as_ref() != Some(&id)).then(|| {
                state.chosen = Some(id);
                state.scroll = [0; Tab::ALL.len()];
                Effect::Load
            })
        }
    }
}

fn focused(state: &mut State, focus: Focus) -> Option<Effect> {
    if state.focus != focus {
        state.focus = focus;
        state.filter.clear();
    }
    None
}

/// Reverts the user's last selection: the filter, the list, or the choice of a session.
fn left(state: &mut State) -> Option<Effect> {
    if !state.filter.is_empty() {
        state.filter.clear();
        return None;
    }
    if state.focus == Focus::Sessions {
        state.focus = Focus::Detail;
    }
    state.chosen.take().map(|_| {
        state.scroll = [0; Tab::ALL.len()];
        Effect::Load
    })
}

fn tabbed(state: &mut State, position: usize) -> Option<Effect> {
    state.tab = Tab::ALL[position % Tab::ALL.len()];
    if state.focus == Focus::Detail {
        state.filter.clear();
    }
    Some(Effect::Load)
}

fn copied(state: &mut State) -> Option<Effect> {
    match state.command() {
        Some(command) => Some(Effect::Copy(Copied::Command(command.to_string()))),
        None => refused(state, "there is no next command to copy; Y copies the brief"),
    }
}

fn paused(state: &mut State) -> Option<Effect> {
    let lifecycle = state.view()?.lifecycle.name();
    match lifecycle {
        "active" => Some(Effect::Run(Action::Pause)),
        "paused" => Some(Effect::Run(Action::Resume)),
        other => refused(state, &format!("the session is {other}: it can be neither paused nor resumed")),
    }
}

fn asked_to_approve(state: &mut State) -> Option<Effect> {
    let first = state.approvals().first().map(|check| check.id.clone());
    match first {
        Some(check) => {
            state.files_asked = state.view().and_then(|view| view.files_shown.clone());
            state.mode = Mode::Approve { check };
            None
        }
        None => refused(state, "nothing in this phase waits for approval"),
    }
}

fn refused(state: &mut State, why: &str) -> Option<Effect> {
    state.message = Some(Message { text: why.to_owned(), is_failure: true });
    None
}

/// The meaning of a key while the user is typing a line.
enum Typed {
    Goes(String),
    Done(String),
    Left,
}

fn typed(key: KeyCode, mut text: String) -> Typed {
    match key {
        KeyCode::Esc => return Typed::Left,
        KeyCode::Enter => return Typed::Done(text),
        KeyCode::Backspace => {
            text.pop();
        }
        KeyCode::Char(letter) if text.len() < LONGEST_TYPED => text.push(letter),
        _ => {}
    }
    Typed::Goes(text)
}

fn filter(state: &mut State, key: KeyCode) -> Option<Effect> {
    match typed(key, std::mem::take(&mut state.filter)) {
        Typed::Goes(text) => {
            state.filter = text;
            state.scroll[state.tab.position()] = 0;
        }
        Typed::Done(text) => {
            state.filter = text;
            state.mode = Mode::Browse;
        }
        Typed::Left => state.mode = Mode::Browse,
    }
    None
}

fn help(state: &mut State, key: KeyCode, filter: String) -> Option<Effect> {
    state.mode = match typed(key, filter) {
        Typed::Goes(filter) => Mode::Help { filter },
        Typed::Done(_) | Typed::Left => Mode::Browse,
    };
    None
}

fn note(state: &mut State, key: KeyCode, text: String) -> Option<Effect> {
    match typed(key, text) {
        Typed::Goes(text) => state.mode = Mode::Note { text },
        Typed::Left => state.mode = Mode::Browse,
        Typed::Done(text) => {
            state.mode = Mode::Browse;
            let text = one_line(&text, usize::MAX);
            return (!text.is_empty()).then_some(Effect::Run(Action::Note(text)));
        }
    }
    None
}

/// Approves the check if the key is `y`. Any other key cancels.
fn approve(state: &mut State, key: KeyCode, check: String) -> Option<Effect> {
    state.mode = Mode::Browse;
    match key {
        KeyCode::Char('y') => Some(Effect::Run(Action::Approve(check))),
        _ => refused(state, "not approved"),
    }
}
