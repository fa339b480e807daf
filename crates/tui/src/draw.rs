//! Draws one frame: sessions on the left, a tab on the right, keys below. The same state always gives the same frame.

mod help;

use crate::panels;
use crate::state::{Action, Focus, Mode, State, Tab};
use crate::text::{Look, Row, Tone, cut, fit, outside};
use engine::view::ShortView;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

const NARROWEST_LIST: u16 = 24;
const WIDEST_LIST: u16 = 48;
/// The number of rows that a session occupies in the list.
const ROWS_OF_A_SESSION: usize = 2;

/// Draws the state. A scroll position beyond the end of the content is corrected in the state.
pub fn frame(state: &mut State, look: Look, area: Rect, buffer: &mut Buffer) {
    if area.width == 0 || area.height == 0 {
        return;
    }
    let footer_height = 1.min(area.height - 1);
    let body = Rect { height: area.height - footer_height, ..area };
    if let Mode::Help { filter } = &state.mode {
        put(&help::rows(filter, look), body, look, buffer);
    } else if state.is_wide() {
        let list = (area.width / 3).clamp(NARROWEST_LIST, WIDEST_LIST);
        let left = Rect { width: list, ..body };
        let line = Rect { x: area.x + list, width: 1, ..body };
        let right = Rect { x: area.x + list + 2, width: area.width - list - 2, ..body };
        sessions(state, look, left, buffer);
        put(&vec![Row::new(Tone::Faint, look.column()); usize::from(body.height)], line, look, buffer);
        detail(state, look, right, buffer);
    } else {
        match state.focus {
            Focus::Sessions => sessions(state, look, body, buffer),
            Focus::Detail => detail(state, look, body, buffer),
        }
    }
    let bottom = Rect { y: area.y + area.height - footer_height, height: footer_height, ..area };
    put(&[footer(state, usize::from(area.width))], bottom, look, buffer);
}

fn sessions(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let known = state.sessions();
    let more = if state.snapshot.more { "+" } else { "" };
    let word = if known.len() == 1 { "session" } else { "sessions" };
    let head =
        cut(&format!("{}{more} {word} of {}", known.len(), state.snapshot.project), width.saturating_sub(1));
    put(&[Row::new(Tone::Faint, head)], Rect { height: 1.min(area.height), ..area }, look, buffer);
    let room = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let fitting = (usize::from(room.height) / ROWS_OF_A_SESSION).max(1);
    let selected = state.selected();
    let first = selected.map_or(0, |place| place.saturating_sub(fitting - 1));
    for (line, place) in known.iter().zip(0..).skip(first).take(fitting) {
        let offset = u16::try_from((place - first) * ROWS_OF_A_SESSION).unwrap_or(u16::MAX);
        let rows = session_rows(line, selected == Some(place), state, width, look);
        let top = Rect { y: room.y.saturating_add(offset), ..room };
        let height = room.height.saturating_sub(offset).min(2);
        put(&rows, Rect { height, ..top }, look, buffer);
        if selected == Some(place) && state.focus == Focus::Sessions && height > 0 {
            buffer.set_style(Rect { height, ..top }, Modifier::REVERSED);
        }
    }
    if known.is_empty() && !state.filter.is_empty() {
        put(&[Row::new(Tone::Faint, "No session matches.")], room, look, buffer);
    }
}

/// Returns, for example, `1/4 done, build`. Only the number if the session is over, because no phase is current then.
fn far_along(line: &ShortView) -> String {
    let total = line.total_phases.map(|total| format!("/{total}")).unwrap_or_default();
    let phase = if matches!(line.lifecycle.as_str(), "completed" | "abandoned") {
        String::new()
    } else {
        format!(", {}", outside(&line.phase))
    };
    format!("{}{total} done{phase}", line.phases_done)
}

fn session_rows(line: &ShortView, is_shown: bool, state: &State, width: usize, look: Look) -> Vec<Row> {
    let mark = if is_shown { look.arrow() } else { " " };
    let tone = if line.current || is_shown { Tone::Heading } else { Tone::Plain };
    let done = far_along(line);
    let ago = engine::words::ago(line.updated_at, state.snapshot.now);
    let shown = state.view().filter(|_| is_shown).map(|view| view.short_status().to_owned());
    let place = line.machine.as_ref().map(|machine| format!(" on {}", outside(machine)));
    let standing = shown.unwrap_or_else(|| line.lifecycle.clone()) + &place.unwrap_or_default();
    let room = width.saturating_sub(1);
    let mut about = format!("  {standing}");
    for part in [done, ago] {
        let longer = format!("{about}{}{part}", look.between());
        if Row::plain(longer.as_str()).width() > room {
            break;
        }
        about = longer;
    }
    let trouble = if line.warnings.is_empty() { Tone::Faint } else { Tone::Warning };
    vec![
        Row::new(tone, cut(&format!("{mark} {}", outside(&line.title)), room)),
        Row::new(trouble, cut(&about, room)),
    ]
}

fn detail(state: &mut State, look: Look, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    put(&[tabs(state, width)], Rect { height: 1, ..area }, look, buffer);
    let room = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let ask = panels::Ask { chosen: state.chosen.is_some(), workflow: state.workflow.as_deref() };
    let mut rows = panels::rows(&state.snapshot, state.tab, &ask, width, look);
    if state.focus == Focus::Detail && !state.filter.is_empty() {
        rows.retain(|row| row.is_found(&state.filter));
    }
    let height = usize::from(room.height);
    let scroll = &mut state.scroll[state.tab.position()];
    *scroll = (*scroll).min(rows.len().saturating_sub(height));
    let first = *scroll;
    let below = rows.len().saturating_sub(first + height);
    put(&rows[first..], room, look, buffer);
    if below > 0 && room.height > 1 {
        let said = format!(" {} more below ", below + 1);
        let last = Rect { y: room.y + room.height - 1, height: 1, ..room };
        put(&[Row::new(Tone::Faint, fit(&said, width))], last, look, buffer);
    }
}

fn tabs(state: &State, width: usize) -> Row {
    let mut row = Row::default();
    for (tab, number) in Tab::ALL.into_iter().zip(1..) {
        let name = if width < 50 { tab.name().to_owned() } else { format!("{number} {}", tab.name()) };
        let (tone, text) = if tab == state.tab {
            (Tone::Heading, format!("[{name}] "))
        } else {
            (Tone::Faint, format!(" {name}  "))
        };
        row.0.push((tone, if width < 50 { text.trim().to_owned() + " " } else { text }));
    }
    row
}

/// The last row: the available keys, or a prompt, or a message.
fn footer(state: &State, width: usize) -> Row {
    if let Some(message) = &state.message {
        let tone = if message.is_failure { Tone::Bad } else { Tone::Good };
        return Row::new(tone, cut(&outside(&message.text), width));
    }
    match &state.mode {
        Mode::Filter => typing("filter: ", &state.filter, width),
        Mode::Note { text } => typing("note: ", text, width),
        Mode::Help { filter } => typing("help: ", filter, width),
        Mode::Approve { check } => {
            let command = state.view().map(|view| Action::Approve(check.clone()).command(view).to_string());
            let asked = format!("Approve {}? y or n ({})", outside(check), command.unwrap_or_default());
            Row::new(Tone::Warning, cut(&asked, width))
        }
        Mode::Browse => Row::new(Tone::Faint, cut(&keys(state), width)),
    }
}

/// A line that the user is typing. Its end is always visible.
fn typing(label: &str, text: &str, width: usize) -> Row {
    let room = width.saturating_sub(label.len() + 1);
    let mut shown = text;
    while Row::plain(shown).width() > room {
        shown = shown.char_indices().nth(1).map_or("", |(at, _)| &shown[at..]);
    }
    Row::new(Tone::Heading, label).then(Tone::Plain, format!("{shown}_"))
}

fn keys(state: &State) -> String {
    let mut keys = vec!["? help", "q quit"];
    if !state.approvals().is_empty() {
        keys.push("a approve");
    }
    match state.view().map(|view| view.lifecycle.name()) {
        Some("active") => keys.push("p pause"),
        Some("paused") => keys.push("p resume"),
        Some(_) | None => {}
    }
    if state.view().is_some() {
        keys.push("n note");
    }
    if state.command().is_some() {
        keys.push("y copy command");
    }
    keys.push("/ filter");
    if state.chosen.is_some() {
        keys.push("Esc follow the active one");
    }
    match state.focus {
        Focus::Sessions => keys.push("Enter open"),
        Focus::Detail => keys.push("h sessions"),
    }
    let filter = if state.filter.is_empty() { String::new() } else { format!("[{}] ", state.filter) };
    filter + &keys.join("  ")
}

fn put(rows: &[Row], area: Rect, look: Look, buffer: &mut Buffer) {
    for (row, y) in rows.iter().zip(area.y..area.y.saturating_add(area.height)) {
        buffer.set_line(area.x, y, &row.line(look), area.width);
    }
}

/// The rows of a drawn frame, for output without a terminal.
pub fn rows(buffer: &Buffer, look: Look) -> Vec<Row> {
    let area = buffer.area;
    (area.top()..area.bottom()).map(|y| row_at(buffer, y, look)).collect()
}

fn row_at(buffer: &Buffer, y: u16, look: Look) -> Row {
    let mut row = Row::default();
    let mut covered = 0;
    for x in buffer.area.left()..buffer.area.right() {
        let Some(cell) = buffer.cell((x, y)).filter(|_| covered <= x) else { continue };
        // A letter of double width occupies the next cell, too.
        let width = u16::try_from(Row::plain(cell.symbol()).width()).unwrap_or(1);
        covered = x + width.max(1);
        let style = (cell.fg, cell.modifier);
        let tone = Tone::ALL.into_iter().find(|tone| {
            let known = look.style(*tone);
            (known.fg.unwrap_or_default(), known.add_modifier) == style
        });
        let tone = tone.unwrap_or(Tone::Plain);
        match row.0.last_mut().filter(|(last, _)| *last == tone) {
            Some((_, text)) => text.push_str(cell.symbol()),
            None => row.0.push((tone, cell.symbol().to_owned())),
        }
    }
    while let Some((tone, text)) = row.0.pop() {
        let text = text.trim_end();
        if !text.is_empty() {
            row.0.push((tone, text.to_owned()));
            break;
        }
    }
    row
}
