//! The sentence for every problem, without the path of its file.

use super::{
    Disagreement, Elsewhere, Incomplete, OfItem, OfRegistry, Problem, Range, Relation, Total, Unknown, What,
    why_paused,
};
use crate::layout::some_of;
use std::fmt;

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field.as_deref().unwrap_or_default();
        match &self.what {
            What::Unreadable { why, then } => write!(out, "{why}{then}"),
            What::Recovered { words } | What::Reconstructed { words } => out.write_str(words),
            What::Lost { report, session } => {
                write!(out, "{report} Choose where to resume: leftoff repair --session {session}")
            }
            What::CutOff { most } => {
                write!(out, "there are more than {most} files and folders; the rest was not read")
            }
            What::ByteOrderMark { tool } => {
                write!(out, "it starts with a byte order mark, which {tool} itself cannot read")
            }
            What::Syntax(said) | What::Definition(said) => out.write_str(said),
            What::Setting(said) if field.is_empty() => out.write_str(said),
            What::Setting(said) => write!(out, "{field}: {said}"),
            What::Absent(taken) => write!(out, "{field} is missing{taken}"),
            What::WrongType { found, wanted } => write!(out, "{field} is {found}, not {wanted}"),
            What::WrongEntry { found, wanted } => write!(out, "{field} holds {found}, not {wanted}"),
            What::NotA(wanted) => write!(out, "{field} is not {wanted}"),
            What::NotOneOf { found, known, taken } if known.is_empty() => {
                write!(out, "{field} is {found}, which is unknown{taken}")
            }
            What::NotOneOf { found, known, taken } => {
                write!(out, "{field} is {found}, but must be one of {}{taken}", known.join(", "))
            }
            What::NoSuch(unknown) => no_such(field, unknown, out),
            What::NotATime { found } => write!(out, "{field} is '{found}', which is not a time"),
            What::InFuture { found } => write!(out, "{field} is in the future: {found}"),
            What::Copied { found } => write!(
                out,
                "{field} is long before the session's start, looks copied from an example, and is not used: {found}"
            ),
            What::OutOfOrder { before, later, earlier } => {
                write!(out, "{field} is before {before}: {later}, {earlier}")
            }
            What::OutOfRange { found, range } => out_of_range(field, *found, range, out),
            What::ReadAs { found, number } => write!(out, "{field} is {found}, read as {number}"),
            What::Doubled => write!(out, "{field} is set more than once; the last value is used"),
            What::Twice { number } => write!(out, "{field} contains {number} twice"),
            What::SectionTwice { index } => {
                write!(out, "{field} lists section_index {index} more than once; the first one is used")
            }
            What::NotJsonNumber { word } => {
                write!(out, "{field} is {word}, which is not a JSON number: it is kept, but ignored")
            }
            What::EmptySection => write!(out, "{field} is null: it is ignored"),
            What::Disagrees(how) => disagrees(field, how, out),
            What::Incomplete(how) => incomplete(field, how, out),
            What::FileMissing { path } => write!(out, "{field} is '{path}', which is missing or empty"),
            What::FileOutside { path } => {
                write!(out, "{field} is '{path}', outside the session's folder; it was not checked")
            }
            What::Item(how) => of_item(how, out),
            What::Registry(how) => of_registry(how, out),
            What::Log(how) => out.write_str(&how.sentence(&self.path)),
            What::CountsAsPaused { session, other, is_unlisted } => {
                let why = why_paused(other, *is_unlisted);
                write!(out, "several sessions are marked active; {why}, so {session} counts as paused")
            }
            What::ItemStays { item } => {
                write!(out, "the files no longer list {item}; somebody worked on it, so it stays")
            }
            What::Legacy => out.write_str("legacy session format, limited resumption context"),
            What::LastError { error } => write!(out, "the last recorded error: {error}"),
            What::Undefined { workflow } => write!(
                out,
                "workflow '{workflow}' is not defined in this project: its phases have no names and no gates"
            ),
            What::TotalUnknown => out.write_str(
                "the number of phases is unknown, so nobody can tell whether the session is complete",
            ),
            What::TotalUnused(why) => unused(field, why, out),
            What::ElsewhereToo { counts } => {
                write!(out, "the session is also in another folder; {counts} is used")
            }
        }
    }
}

fn no_such(field: &str, unknown: &Unknown, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match unknown {
        Unknown::PhaseOf { name, workflow } => {
            write!(out, "{field} is '{name}', but a {workflow} has no such phase")
        }
        Unknown::Phase { name, last_valid } => {
            write!(out, "there is no phase '{name}'; the last valid one is {last_valid}")
        }
        Unknown::PhaseInList { name } => write!(out, "{field} names '{name}', which is not a phase"),
        Unknown::PhaseNumber { found } => write!(out, "{field} has {found}, which is not a phase number"),
        Unknown::Stage { name } => write!(out, "{field} is '{name}', which is not a stage"),
    }
}

fn out_of_range(field: &str, found: i64, range: &Range, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match range {
        Range::To(last) => write!(out, "{field} {found} is not in the range 1 to {last}"),
        Range::FromOne => write!(out, "{field} is {found}, but counting starts at 1"),
        Range::Stages => write!(out, "{field} is {found}, but the stages are 1 to 4"),
        Range::Sections(last) => write!(out, "{field} is {found}, but the sections are 1 to {last}"),
        Range::Paragraphs(last) => write!(out, "{field} is {found}, but the paragraphs are 1 to {last}"),
        Range::Indexes(last) => write!(out, "{field} is {found}, but only 1 to {last} are used"),
        Range::AtMost(most) => write!(out, "{field} is {found}, but the maximum is {most}"),
        Range::AtLeast(least) => write!(out, "{field} is {found}, but the minimum is {least}"),
        Range::Of(all) => write!(out, "{field} is {found}, of {all}"),
        Range::Phases { first, last, taken } => {
            write!(out, "{field} is {found}, but the phases are {first} to {last}; phase {taken} is used")
        }
        Range::Completed { taken } => {
            write!(out, "{field} is {found}, which is already completed; phase {taken} is used")
        }
        Range::Folders { folder, last } => {
            write!(out, "{field} is {found}, but the last folder is {folder}-{last}; the folder is used")
        }
    }
}

fn disagrees(field: &str, how: &Disagreement, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        Disagreement::PhaseAndNumber { name, number } => {
            write!(out, "current_phase is '{name}', but phase_number is {number}; the name is used")
        }
        Disagreement::StageAndName { number, name } => {
            write!(out, "current_stage is {number}, but current_stage_name is '{name}'; the name is used")
        }
        Disagreement::EarlierStage { found, other } => {
            write!(out, "{field} is {found}, but {other} in an earlier stage; the later stage is used")
        }
        Disagreement::IdAndFile { id, file } => {
            write!(out, "{field} is '{id}', but the file's name is {file}")
        }
        Disagreement::Status { said, counts, counting } => {
            write!(out, "it says {said}, but {counts} says {counting}; the latter is used")
        }
        Disagreement::Archived => {
            out.write_str("the session is among the archived sessions, so it counts as completed")
        }
        Disagreement::StatusAndFolder { status, folder } => {
            write!(out, "{field} is '{status}', but it is in the folder {folder}; the folder is used")
        }
        Disagreement::TotalAndDefinition { recorded, defined } => write!(
            out,
            "{field} is {recorded}, but its workflow has {defined} phases; the recorded number is used"
        ),
    }
}

fn incomplete(field: &str, how: &Incomplete, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        Incomplete::File { name } => write!(out, "{field} is completed, but {name} is missing or empty"),
        Incomplete::SectionFile { section, name } => {
            write!(out, "{field}: section {section} is completed, but {name} is missing or empty")
        }
        Incomplete::NoArgumentMap => write!(out, "{field} is completed, but there is no argument map"),
        Incomplete::Earlier { stage } => {
            write!(out, "{field} is completed, but {stage} before it is not_started")
        }
    }
}

fn of_item(how: &OfItem, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        OfItem::BadId { found, why } => {
            write!(out, "'{found}' is not an id: {why}; the file is left as it is")
        }
        OfItem::SameAs { id, file } => write!(out, "{id} is also in {file}; that file is used"),
        OfItem::NotThere { relation, name } => match relation {
            Relation::Part => write!(out, "its subtask '{name}' does not exist"),
            Relation::Parent => write!(out, "its parent '{name}' does not exist"),
            Relation::Need => write!(out, "it depends on '{name}', which does not exist"),
        },
        OfItem::ParentIsSilent { parent } => {
            write!(out, "its parent {parent} does not list it")
        }
        OfItem::PartIsSilent { parent } => write!(out, "it does not list its parent {parent}"),
        OfItem::BothAreSilent { parent } => {
            write!(out, "by its id it is part of {parent}, but neither lists the other")
        }
        OfItem::PartOfItself => out.write_str("it is part of itself; it is treated as a top-level task"),
        OfItem::TooDeep { levels, most } => {
            write!(out, "it is nested {levels} levels deep; the maximum is {most}")
        }
        OfItem::Cycle { path, left_out } => {
            let first = path.first().map(String::as_str).unwrap_or_default();
            write!(
                out,
                "it waits for itself: {} → {first}; its dependency on {left_out} is ignored",
                path.join(" → ")
            )
        }
        OfItem::OpenParts { open: 1, all: 1 } => out.write_str("it is marked done, but its subtask is not"),
        OfItem::OpenParts { open: 1, all } => {
            write!(out, "it is marked done, but 1 of its {all} subtasks is not")
        }
        OfItem::OpenParts { open, all } => {
            write!(out, "it is marked done, but {open} of its {all} subtasks are not")
        }
        OfItem::NoParts => out.write_str("it is a container without subtasks"),
    }
}

fn unused(field: &str, why: &Total, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        Total::Specification { recorded, phases } => write!(
            out,
            "{field} is {recorded}, but the specification has {phases} phases: it is wrong and not used"
        ),
        Total::Completed { recorded, completed } => {
            write!(
                out,
                "{field} is {recorded}, but {completed} phases are completed: it is wrong and not used"
            )
        }
        Total::NotANumber { found } => {
            write!(out, "{field} is {found}, which is not a number of phases: it is not used")
        }
    }
}

fn of_registry(how: &OfRegistry, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        OfRegistry::BrokenLines(lines) => {
            if let [one] = lines.as_slice() {
                return write!(out, "line {one} is not a JSON object; it is left as it is");
            }
            let numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
            write!(out, "lines {} are not JSON objects; they are left as they are", some_of(&numbers))
        }
        OfRegistry::Repeated { name, lines } => write!(out, "{name} has {lines} lines; the last one is used"),
        OfRegistry::LineElsewhere { line, name, path, place: Elsewhere::Session { name: own } } => write!(
            out,
            "line {line} lists '{name}' in {path}, but the session there is '{own}': the line must have that id"
        ),
        OfRegistry::LineElsewhere { line, name, path, place: Elsewhere::NoPlace { places } } => {
            write!(
                out,
                "line {line} lists '{name}' in {path}, where no session can be; a session is {places}"
            )
        }
        OfRegistry::NamesNothing(names) => {
            write!(out, "it lists {}, which nothing else mentions", some_of(names))
        }
        OfRegistry::StrayMarker { name } => {
            write!(out, "it marks '{name}' as active, but there is no such session")
        }
        OfRegistry::Strangers { prefix, names } => {
            write!(out, "it contains no session (a folder {prefix}…), only {}", some_of(names))
        }
    }
}
