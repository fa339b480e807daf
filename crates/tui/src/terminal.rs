//! The loop on a real terminal: waits for keys, looks for changes, and draws what differs. The terminal is restored
//! even if the program panics or is terminated.

use crate::act;
use crate::draw;
use crate::snapshot::{Snapshot, Wanted};
use crate::state::{Effect, Message, State, Tab};
use crate::text::Look;
use crate::update::{Event, update};
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, KeyEventKind,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use engine::{Options, Watch, next_look};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Stdout, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_mins(1);

/// The tab and the session that the screen shows first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub tab: Tab,
    /// The only workflow to show in the view of the session's own tool. `None` for all.
    pub workflow: Option<String>,
}

/// Runs the live screen until the user leaves it.
pub fn run(options: &Options, start: Start, look: Look) -> Result<(), crate::Error> {
    let ended = Arc::new(AtomicBool::new(false));
    // If the user closes the terminal, SIGHUP ends the program. No terminal must then be restored.
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&ended))
        .map_err(crate::Error::Terminal)?;
    let mut watch = Watch::begin(options);
    let chosen = options.session.clone();
    let size = crossterm::terminal::size().map_err(crate::Error::Terminal)?;
    let wanted = Wanted { session: chosen.clone(), tab: start.tab };
    let snapshot = Snapshot::load(options, &wanted, Some(&mut watch))?;
    let mut screen = Screen::open().map_err(crate::Error::Terminal)?;
    let mut state = State::new(snapshot, chosen, size);
    state.tab = start.tab;
    state.workflow = start.workflow;
    let mut shown = Live {
        options,
        look,
        watch,
        state,
        quiet_since: Instant::now(),
        looked: Instant::now(),
        minute: Instant::now(),
    };
    shown.go_on(&mut screen.terminal, &ended).map_err(crate::Error::Terminal)
}

struct Live<'a> {
    options: &'a Options,
    look: Look,
    watch: Watch,
    state: State,
    /// The time of the last key or change.
    quiet_since: Instant,
    looked: Instant,
    minute: Instant,
}

/// The decision of the loop to continue or to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    Ended,
}

impl Live<'_> {
    fn go_on(
        &mut self,
        terminal: &mut Terminal<CrosstermBackend<Stdout>>,
        ended: &AtomicBool,
    ) -> io::Result<()> {
        let mut is_old = true;
        while !ended.load(Ordering::Relaxed) {
            if std::mem::take(&mut is_old) {
                terminal.draw(|frame| {
                    let area = frame.area();
                    draw::frame(&mut self.state, self.look, area, frame.buffer_mut());
                })?;
            }
            // Input is also polled here, before the wait, because the first call makes the terminal report changes of
            // its size.
            while event::poll(Duration::ZERO)? {
                self.quiet_since = Instant::now();
                let Some(event) = translated(&event::read()?) else { continue };
                is_old = true;
                if self.handle(event) == Goes::Ended {
                    return Ok(());
                }
            }
            if is_old {
                continue;
            }
            let wait = next_look(self.quiet_since.elapsed()).saturating_sub(self.looked.elapsed());
            if wait_for_input(wait.min(MINUTE.saturating_sub(self.minute.elapsed())))? == Goes::Ended {
                return Ok(());
            }
            is_old = self.looked_around();
        }
        Ok(())
    }

    /// Looks for changes if it is time to do so. Returns true if the screen must be drawn again.
    fn looked_around(&mut self) -> bool {
        if self.minute.elapsed() >= MINUTE {
            self.minute = Instant::now();
            self.handle(Event::Minute);
            return true;
        }
        if self.looked.elapsed() < next_look(self.quiet_since.elapsed()) {
            return false;
        }
        self.looked = Instant::now();
        if !self.watch.changed() {
            return false;
        }
        self.quiet_since = Instant::now();
        self.load();
        true
    }

    fn handle(&mut self, event: Event) -> Goes {
        let mut effect = update(&mut self.state, event);
        while let Some(wanted) = effect.take() {
            match wanted {
                Effect::Quit => return Goes::Ended,
                Effect::Load => self.load(),
                Effect::SetMouse(is_on) => self.set_mouse(is_on),
                Effect::Run(action) => {
                    let message = act::run(self.options, &self.state, &action);
                    effect = update(&mut self.state, Event::Said(message));
                }
                Effect::Copy(copied) => {
                    let message = act::copy(self.options, &self.state, &copied);
                    // Copying changes no session, so no data is loaded again.
                    self.state.message = Some(message);
                }
            }
        }
        Goes::On
    }

    /// Loads the data for a frame. If this fails, the error is shown, and the old data stays.
    fn load(&mut self) {
        #[cfg(debug_assertions)]
        assert!(std::env::var_os("LEFTOFF_TEST_SCREEN_PANICS").is_none(), "the screen panics for a test");
        match Snapshot::load(self.options, &self.state.wanted(), Some(&mut self.watch)) {
            Ok(snapshot) => {
                update(&mut self.state, Event::Loaded(Box::new(snapshot)));
            }
            Err(error) => {
                self.state.message = Some(Message { text: error.to_string(), is_failure: true });
            }
        }
    }

    fn set_mouse(&mut self, is_on: bool) {
        let done = if is_on {
            execute!(stdout(), EnableMouseCapture)
        } else {
            execute!(stdout(), DisableMouseCapture)
        };
        let text = if is_on { "mouse on: the wheel scrolls; m switches it off" } else { "mouse off" };
        let text = done.map_or_else(|error| error.to_string(), |()| text.to_owned());
        self.state.message = Some(Message { text, is_failure: false });
    }
}

/// Waits for input from the terminal. If the terminal is gone, the screen ends, because crossterm would try to read
/// from it forever.
fn wait_for_input(most: Duration) -> io::Result<Goes> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    match poll(&mut watched, Some(&most)) {
        // A signal arrived: the terminal has another size, or the program should end. The loop checks both.
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_gone = watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    Ok(if is_gone { Goes::Ended } else { Goes::On })
}

fn translated(event: &event::Event) -> Option<Event> {
    match event {
        event::Event::Key(key) if key.kind != KeyEventKind::Release => {
            Some(Event::Key(key.code, key.modifiers))
        }
        event::Event::Mouse(mouse) => Some(Event::Mouse(mouse.kind)),
        event::Event::Resize(width, height) => Some(Event::Resized(*width, *height)),
        event::Event::Paste(text) => Some(Event::Pasted(text.clone())),
        event::Event::Key(_) | event::Event::FocusGained | event::Event::FocusLost => None,
    }
}

/// A terminal in the mode that the screen needs. It is restored when this value is dropped.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    fn open() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        enable_raw_mode()?;
        // From here on, the terminal is restored even after an error.
        let opened = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        if opened.is_err() {
            give_back();
        }
        opened.map(|terminal| Self { terminal })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal. An error is ignored, because nothing can be done about it.
fn give_back() {
    let _ =
        execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}
