//! The preview of a revision: what would change if a phase was revisited.

use crate::ui::{Out, Tone, line};
use engine::words::one_line;
use engine::{FileChange, RevisitPreview};
use model::id::Name;
use model::revision::Impact;
use model::typed_value::shown;
use std::fmt::Write;

pub fn preview(preview: &RevisitPreview, out: &Out) -> String {
    let mut text = format!("{}\n", out.paint(Tone::Heading, &format!("Revisiting phase {}", preview.phase)));
    for field in &preview.fields {
        let now = field.now.as_ref().map_or_else(|| "unset".to_owned(), shown);
        let change = format!("{} to {now}", shown(&field.before));
        let _ = writeln!(text, "{}", line(&format!("{}: ", one_line(&field.name, 60)), &change, out));
    }
    for file in &preview.files {
        text.push_str(&changed(file, out));
    }
    let overridden = if preview.impact == preview.proposed {
        String::new()
    } else {
        format!(" (proposed was {})", preview.proposed.name())
    };
    let impact = format!("{}{overridden}: {}", preview.impact.name(), preview.because);
    let tone = if preview.impact == Impact::Major { Tone::Warning } else { Tone::Heading };
    let _ = writeln!(text, "{}", out.paint(tone, &line("Impact: ", &impact, out)));
    // If the revision is not major, a phase that it interrupts keeps its work.
    let restarted = if preview.impact == Impact::Major { "To redo: " } else { "To continue: " };
    for (label, phases) in [("To review: ", &preview.flagged), (restarted, &preview.restarted)] {
        if !phases.is_empty() {
            let _ = writeln!(text, "{}", line(label, &names(phases), out));
        }
    }
    if preview.reopened > 0 {
        let items = if preview.reopened == 1 { "item that was done" } else { "items that were done" };
        let _ = writeln!(text, "{}", line("To reopen: ", &format!("{} {items}", preview.reopened), out));
    }
    for archived in &preview.archived {
        let how = if archived.copied { "To copy: " } else { "To archive: " };
        let _ = writeln!(text, "{}", line(how, &format!("{} as {}", archived.from, archived.to), out));
    }
    for warning in &preview.warnings {
        let _ = writeln!(text, "{}", out.paint(Tone::Warning, &line("! ", warning, out)));
    }
    text
}

fn changed(file: &FileChange, out: &Out) -> String {
    let what = file.difference.map_or("as it was", engine::Difference::name);
    let mut text = format!("{}\n", line(&format!("{}: ", one_line(&file.path, 200)), what, out));
    for words in file.lines.iter().flat_map(|lines| lines.lines()) {
        let shown = one_line(words.get(1..).unwrap_or_default(), 200);
        // Leading spaces are kept, because they have a meaning in most files. Control characters are removed.
        let indent: String = words.chars().skip(1).take_while(|c| *c == ' ').take(40).collect();
        let _ = match words.chars().next() {
            Some('+') => writeln!(text, "  {}", out.paint(Tone::Good, &format!("+{indent}{shown}"))),
            Some('-') => writeln!(text, "  {}", out.paint(Tone::Bad, &format!("-{indent}{shown}"))),
            Some('@') => writeln!(text, "  {}", out.paint(Tone::Faint, "@@")),
            Some('…') => writeln!(text, "  {}", one_line(words, 200)),
            Some(_) | None => writeln!(text, "   {indent}{shown}"),
        };
    }
    text
}

fn names(phases: &[Name]) -> String {
    phases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
