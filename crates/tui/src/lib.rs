//! The live terminal screen. Shows the engine's view, and runs the engine's commands when the user presses keys. Knows
//! neither stores nor layouts.

mod act;
mod draw;
mod panels;
mod snapshot;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod update;

pub use state::Tab;
pub use terminal::{Start, run};
pub use text::{Look, Row, Tone};

use engine::Options;
use engine::screen::Screen;
use jiff::Timestamp;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use snapshot::{Snapshot, Wanted};
use state::State;

/// The reason why the screen cannot be shown.
#[derive(Debug)]
pub enum Error {
    Engine(engine::Error),
    Terminal(std::io::Error),
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        Self::Engine(error)
    }
}

/// The complete Now tab of the selected session.
pub fn now(options: &Options, width: usize, look: Look) -> engine::Result<Vec<Row>> {
    let wanted = Wanted { session: options.session.clone(), tab: Tab::Now };
    let snapshot = Snapshot::load(options, &wanted, None)?;
    Ok(panels::rows(&snapshot, Tab::Now, &panels::Ask { chosen: true, workflow: None }, width, look))
}

/// The view of a session that its own tool would show; `None` if the session does not have the requested workflow.
pub fn own_screen(
    screen: &Screen,
    only: Option<&str>,
    now: Timestamp,
    width: usize,
    look: Look,
) -> Option<Vec<Row>> {
    panels::own_screen::rows(screen, only, now, width, look)
}

/// The first frame that the live screen would show, in this size.
pub fn frame(options: &Options, tab: Tab, size: (u16, u16), look: Look) -> engine::Result<Vec<Row>> {
    let wanted = Wanted { session: options.session.clone(), tab };
    let snapshot = Snapshot::load(options, &wanted, None)?;
    let mut state = State::new(snapshot, wanted.session, size);
    state.tab = tab;
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buffer = Buffer::empty(area);
    draw::frame(&mut state, look, area, &mut buffer);
    Ok(draw::rows(&buffer, look))
}

/// The abilities of the terminal according to the environment. Colours are used unless `NO_COLOR` is set; the locale
/// determines the characters.
pub fn look(colour: bool) -> Look {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    let locale = locale.to_lowercase();
    Look { colour, unicode: locale.contains("utf-8") || locale.contains("utf8") }
}
