//! Writes the brief in Markdown: the order of its sections, how each section is shortened, and which is dropped first
//! to save room. Other forms render this text.

mod agents;
mod ahead;
mod done;
mod head;
mod items;
mod notes;
mod problems;
mod touched;
mod warnings;

use crate::brief::{Brief, paths};
use crate::words::{ago, date, defused, defused_around_quotes, duration};
use jiff::Timestamp;
use model::hint::{Hint, Piece};
use model::note::{Note, NoteKind};
use model::time::seconds_between;
use model::typed_value;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Default size of a brief in tokens.
pub const USUAL_BUDGET: usize = 600;

/// How much detail a section shows, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Full,
    /// Without durations; long texts and lists are shortened.
    Short,
    /// Finished work on one line; texts and lists are shortened further.
    Line,
    /// As in `Line`, with even shorter lists.
    Tight,
    /// Only the newest line of every list.
    Least,
}

impl Detail {
    fn longest_text(self) -> usize {
        match self {
            Self::Full => 500,
            Self::Short => 200,
            Self::Line => 140,
            Self::Tight | Self::Least => 80,
        }
    }

    /// Returns the maximum length of a check's finding. A shorter finding would no longer say what is missing.
    fn longest_found(self) -> usize {
        match self {
            Self::Full | Self::Short | Self::Line => self.longest_text(),
            Self::Tight | Self::Least => Self::Line.longest_text(),
        }
    }

    fn longest_purpose(self) -> usize {
        match self {
            Self::Full | Self::Short => self.longest_text(),
            Self::Line | Self::Tight => 80,
            Self::Least => 60,
        }
    }

    fn longest_list(self) -> usize {
        match self {
            Self::Full => 50,
            Self::Short => 10,
            Self::Line => 5,
            Self::Tight => 3,
            Self::Least => 1,
        }
    }

    /// True if details are omitted that a reader can do without.
    fn is_brief(self) -> bool {
        match self {
            Self::Full | Self::Short => false,
            Self::Line | Self::Tight | Self::Least => true,
        }
    }
}

/// Returns the estimated number of tokens in a text: 3.2 bytes each, rounded up.
pub fn tokens(text: &str) -> usize {
    (text.len() * 5).div_ceil(16)
}

/// When a section is dropped because there is too little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    Never,
    /// Dropped only after all sections have been shortened.
    Late,
    /// Dropped before any other section is shortened: a reader can continue the work without it.
    First,
}

struct Section {
    /// The section's name, also used in the list of dropped sections.
    name: &'static str,
    text: String,
    goes: Goes,
}

/// Returns the brief in Markdown, in at most `budget` tokens of 3.2 bytes each.
pub fn markdown(brief: &Brief, budget: usize) -> String {
    fitting(brief, budget, str::len)
}

/// Returns Markdown that takes at most `budget` tokens when it is rendered. `size` returns the rendered size of a text
/// in bytes.
pub fn fitting(brief: &Brief, budget: usize, size: impl Fn(&str) -> usize) -> String {
    let longest = budget.saturating_mul(16) / 5;
    for detail in [Detail::Full, Detail::Short] {
        let text = joined(brief, &sections(brief, detail), &[]);
        if size(&text) <= longest {
            return text;
        }
    }
    // From here on, a dropped section is never added again, so that a larger budget never shows less than a smaller
    // one.
    let mut left_out: Vec<&'static str> = Vec::new();
    let mut kept = Vec::new();
    for detail in [Detail::Line, Detail::Tight] {
        kept = sections(brief, detail);
        kept.retain(|section| !left_out.contains(&section.name));
        while let Some(last) = kept.iter().rposition(|section| section.goes == Goes::First) {
            if size(&joined(brief, &kept, &left_out)) <= longest {
                break;
            }
            left_out.push(kept.remove(last).name);
        }
        let text = joined(brief, &kept, &left_out);
        if size(&text) <= longest {
            return text;
        }
    }
    // If the text is still too long, the sections are shortened to the minimum one by one, the last section first.
    for least in sections(brief, Detail::Least).into_iter().rev() {
        if let Some(section) = kept.iter_mut().find(|section| section.name == least.name) {
            *section = least;
        }
        let text = joined(brief, &kept, &left_out);
        if size(&text) <= longest {
            return text;
        }
    }
    while let Some(last) = kept.iter().rposition(|section| section.goes == Goes::Late) {
        left_out.push(kept.remove(last).name);
        let text = joined(brief, &kept, &left_out);
        if size(&text) <= longest {
            return text;
        }
    }
    joined(brief, &kept, &left_out)
}

fn joined(brief: &Brief, sections: &[Section], left_out: &[&str]) -> String {
    let mut texts: Vec<&str> = sections.iter().map(|section| section.text.trim_end()).collect();
    let names: Vec<&str> = left_out.iter().rev().copied().collect();
    let missing = format!("Left out: {} (`leftoff brief --budget 4000`)", names.join(", "));
    if !names.is_empty() {
        texts.push(&missing);
    }
    let text =
        told_once(&texts.join("\n\n"), &format!(": `leftoff show {}`", brief.session.session_id)) + "\n";
    let introduced = format!("Files: {}/ (below: {})\n", brief.folder, paths::SHORT);
    let shortened = paths::shortened(&text, &brief.folder, &introduced);
    if shortened == text {
        return text;
    }
    // The list of dropped sections is inserted after the head, which is the first part of the text.
    match shortened.split_once("\n\n") {
        Some((head, rest)) => format!("{head}\n{introduced}\n{rest}"),
        None => text,
    }
}

/// Returns the text with only the first occurrence of an ending. Several shortened lists may end with the same advice,
/// and the reader needs it only once.
fn told_once(text: &str, ending: &str) -> String {
    match text.split_once(ending) {
        Some((before, after)) => format!("{before}{ending}{}", after.replace(ending, "")),
        None => text.to_owned(),
    }
}

/// Returns the sections in reading order: what to do, what not to redo, what is wrong, everything else.
fn sections(brief: &Brief, detail: Detail) -> Vec<Section> {
    let made = |name, goes, text: String| (!text.is_empty()).then_some(Section { name, text, goes });
    let essential = |name, text: String| made(name, Goes::Never, text);
    let optional = |name, text: String| made(name, Goes::Late, text);
    let of_kind = |name, title, kind| optional(name, notes::of_kind(title, kind, brief, detail));
    [
        essential("Head", head::head(brief, detail)),
        essential("Next", next(brief, detail)),
        essential("Done", done::done(brief, detail)),
        essential("Failed", problems::failed(brief, detail)),
        essential("Waits for review", problems::to_review(brief, detail)),
        essential("Unverified", problems::unverified(brief, detail)),
        essential("Blocked or open", notes::open(brief, detail)),
        optional("Items", items::items(brief, detail)),
        optional("Required", warnings::required(brief, detail)),
        optional("Revised", notes::revised(brief, detail)),
        of_kind("Decided", "Decided", NoteKind::Decision),
        of_kind("Tried", "Tried, did not work", NoteKind::Tried),
        of_kind("Assumed", "Assumed", NoteKind::Assumption),
        optional("Paused", head::paused(brief, detail)),
        optional("Overridden", notes::overridden(brief, detail)),
        optional("Here now", agents::here_now(brief)),
        optional("Touched", touched::touched(brief, detail)),
        optional("Warnings", warnings::warnings(brief, detail)),
        optional("Last words", agents::last_words(brief, detail)),
        made("A person decides later", Goes::First, ahead::ahead(brief, detail)),
        made("Notes", Goes::First, notes::of_kind("Notes", NoteKind::Note, brief, detail)),
        made("Commands run", Goes::First, touched::commands_run(brief, detail)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the section about the next step. For a session that is over it is empty, unless only the session's files
/// call it over.
fn next(brief: &Brief, detail: Detail) -> String {
    const ABOUT_BLOCKERS: usize = 80;
    let next = &brief.session.next;
    if is_over(brief) {
        return String::new();
    }
    // The session's folder is abbreviated later, so it does not count towards the length.
    let folder = if brief.folder.is_empty() { 0 } else { brief.folder.chars().count() };
    let named = next.summary.to_string().matches(&brief.folder).count();
    // An open blocker is named before the step, and gets room of its own.
    let blocks = brief.notes(NoteKind::Blocker).any(Note::is_open);
    let blockers = if blocks { ABOUT_BLOCKERS } else { 0 };
    let longest = detail.longest_text() * 2 + blockers + folder * named;
    let mut text = format!("## Next\n{}\n", advice(&next.summary, longest));
    if let Some(command) = &next.command {
        let _ = writeln!(text, "`{command}`");
    }
    text
}

/// True if the session is finished or abandoned beyond doubt, so that no next step is shown.
fn is_over(brief: &Brief) -> bool {
    let view = &brief.session;
    view.lifecycle.is_over() && !view.is_closed_in_doubt()
}

/// Returns advice with its commands in backticks. Commands are never cut. Foreign text in the advice is already quoted.
fn advice(hint: &Hint, longest: usize) -> String {
    let mut text = String::new();
    let mut room = longest;
    for piece in hint.pieces() {
        match piece {
            Piece::Command(command) => {
                let _ = write!(text, "`{command}`");
            }
            Piece::Text(words) => {
                let plain = uncut_commands(words, room);
                // `defused` has trimmed the spaces between the text and its neighbours.
                let space = |is_there| if is_there { " " } else { "" };
                let (before, after) = (words.starts_with(' '), words.ends_with(' '));
                if words.chars().count() > room {
                    return text + space(before) + &plain;
                }
                room -= words.chars().count();
                let _ = write!(text, "{}{plain}{}", space(before), space(after));
            }
        }
    }
    text
}

/// Shortens text of a definition, which may contain commands and paths. Cuts before a command or path, never inside it.
fn uncut_commands(text: &str, longest: usize) -> String {
    let text = text.trim_start();
    let short = defused_around_quotes(text, longest);
    if text.chars().count() <= longest {
        return short;
    }
    // The last word may be the beginning of a path that is cut off before its first slash.
    let is_whole = short.chars().count().checked_sub(1).and_then(|end| text.chars().nth(end)) == Some(' ');
    let word = short.rfind(' ').filter(|at| {
        let before = short[..=*at].chars().count();
        let rest = text.chars().skip(before).take_while(|letter| *letter != ' ').any(|letter| letter == '/');
        rest && !is_whole
    });
    let kept =
        short.rfind("leftoff ").or(word).map_or_else(|| short.strip_suffix('…'), |at| Some(&short[..at]));
    match kept {
        Some(kept) => format!("{}…", kept.trim_end_matches([' ', ':', ',', ';', '('])),
        None => short,
    }
}

/// Returns a time for display: relative within a day, later as a date.
fn when(at: Timestamp, now: Timestamp) -> String {
    const DAY: u64 = 24 * 3600;
    const ALMOST_A_YEAR: u64 = 300 * DAY;
    match seconds_between(at, now) {
        0..DAY => ago(at, now),
        DAY..ALMOST_A_YEAR => date(at),
        _ => at.strftime("%-d %b %Y").to_string(),
    }
}

fn pairs(values: &Map<String, Value>, detail: Detail) -> String {
    let longest = detail.longest_text().min(90);
    let most = if detail == Detail::Least { 3 } else { detail.longest_list().clamp(5, 20) };
    let told = |(name, value): (&String, &Value)| {
        format!("{}={}", defused(name, 60), defused_around_quotes(&typed_value::quoted(value), longest))
    };
    let mut shown: Vec<String> = values.iter().take(most).map(told).collect();
    if values.len() > shown.len() {
        shown.push(format!("{} more", values.len() - shown.len()));
    }
    shown.join(", ")
}

/// Returns a duration of at least a minute for display; `None` if it is shorter or if there is no room.
fn took(seconds: Option<u64>, detail: Detail) -> Option<String> {
    seconds.filter(|seconds| detail == Detail::Full && *seconds >= 60).map(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b10_a_path_is_not_cut_even_before_its_first_slash() {
        let text = "Write it. Produces essay-pipeline-20260214/stage-1.md, essay-pipeline-20260214/log.md.";
        let cut = |longest: usize| uncut_commands(text, longest);
        assert_eq!(cut(30), "Write it. Produces…");
        assert_eq!(cut(60), "Write it. Produces essay-pipeline-20260214/stage-1.md…");
        assert_eq!(cut(text.len()), text);
        // A piece after another one begins with a space.
        let hint = Hint::new("It failed.").then(" Write your review into round-1/reviews/one.md.");
        assert_eq!(advice(&hint, 40), "It failed. Write your review into…");
    }
}
