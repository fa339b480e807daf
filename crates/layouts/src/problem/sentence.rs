//! The sentence of every problem, without the path that it is about.

use super::{
    Disagreement, Elsewhere, Incomplete, OfItem, OfRegistry, Problem, Range, Relation, Total, Unknown, What,
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
                write!(out, "{report} Say where to resume: leftoff repair --session {session}")
            }
            What::CutOff { most } => {
                write!(out, "there are more than {most} files and folders; the others were not looked at")
            }
            What::ByteOrderMark { tool } => {
                write!(out, "it begins with a byte order mark, which {tool} itself cannot read")
            }
            What::Syntax(said) | What::Definition(said) => out.write_str(said),
            What::Setting(said) if field.is_empty() => out.write_str(said),
            What::Setting(said) => write!(out, "{field}: {said}"),
            What::Absent(taken) => write!(out, "{field} is missing{taken}"),
            What::WrongType { found, wanted } => write!(out, "{field} is {found}, not {wanted}"),
            What::WrongEntry { found, wanted } => write!(out, "{field} holds {found}, not {wanted}"),
            What::NotA(wanted) => write!(out, "{field} is no {}", wanted.noun()),
            What::NotOneOf { found, known, taken } if known.is_empty() => {
                write!(out, "{field} is {found}, which is none that is known{taken}")
            }
            What::NotOneOf { found, known, taken } => {
                write!(out, "{field} is {found}, which is none of {}{taken}", known.join(", "))
            }
            What::NoSuch(unknown) => no_such(field, unknown, out),
            What::NotATime { found } => write!(out, "{field} is '{found}', which is no time"),
            What::InFuture { found } => write!(out, "{field} is in the future: {found}"),
            What::Copied { found } => write!(
                out,
                "{field} lies long before the session began, looks copied from an example, and is not used: {found}"
            ),
            What::OutOfOrder { before, later, earlier } => {
                write!(out, "{field} is before {before}: {later}, {earlier}")
            }
            What::OutOfRange { found, range } => out_of_range(field, *found, range, out),
            What::ReadAs { found, number } => write!(out, "{field} is {found}, read as {number}"),
            What::Doubled => write!(out, "{field} is there more than once; the last one counts"),
            What::Twice { number } => write!(out, "{field} has {number} twice"),
            What::SectionTwice { index } => {
                write!(out, "{field} has section_index {index} more than once; the first one counts")
            }
            What::NotJsonNumber { word } => {
                write!(
                    out,
                    "{field} is {word}, which is no number in JSON: it stays as it is, and says nothing"
                )
            }
            What::EmptySection => write!(out, "{field} is null: it says nothing"),
            What::Disagrees(how) => disagrees(field, how, out),
            What::Incomplete(how) => incomplete(field, how, out),
            What::FileMissing { path } => write!(out, "{field} is '{path}', which is missing or empty"),
            What::FileOutside { path } => {
                write!(out, "{field} is '{path}', outside of the session's folder; nobody looked")
            }
            What::Item(how) => of_item(how, out),
            What::Registry(how) => of_registry(how, out),
            What::Log(how) => out.write_str(&how.told_of(&self.path)),
            What::CountsAsPaused { session, other } => write!(
                out,
                "several sessions are called active; {other} changed last, so {session} counts as paused"
            ),
            What::Legacy => out.write_str("legacy session format, limited resumption context"),
            What::LastError { error } => write!(out, "the last error that was recorded: {error}"),
            What::Undefined { workflow } => write!(
                out,
                "workflow '{workflow}' is not defined in this project: its phases have no names and no gates"
            ),
            What::TotalUnknown => {
                out.write_str("how many phases there are is not known: whether it is complete is unknown")
            }
            What::TotalUnused(why) => unused(field, why, out),
            What::ElsewhereToo { counts } => write!(out, "it is in another folder as well; {counts} counts"),
        }
    }
}

fn no_such(field: &str, unknown: &Unknown, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match unknown {
        Unknown::PhaseOf { name, workflow } => {
            write!(out, "{field} is '{name}', and there is no such phase in a {workflow}")
        }
        Unknown::Phase { name, last_valid } => {
            write!(out, "there is no phase '{name}'; the last valid one is {last_valid}")
        }
        Unknown::PhaseInList { name } => write!(out, "{field} names '{name}', which is no phase"),
        Unknown::PhaseNumber { found } => write!(out, "{field} has {found}, which is no number of a phase"),
        Unknown::Stage { name } => write!(out, "{field} is '{name}', which is no stage"),
    }
}

fn out_of_range(field: &str, found: i64, range: &Range, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match range {
        Range::To(last) => write!(out, "{field} {found} is none of 1 to {last}"),
        Range::FromOne => write!(out, "{field} is {found}, and they are counted from 1"),
        Range::Stages => write!(out, "{field} is {found}, and there are stages 1 to 4"),
        Range::Sections(last) => write!(out, "{field} is {found}, and there are sections 1 to {last}"),
        Range::Paragraphs(last) => write!(out, "{field} is {found}, and there are paragraphs 1 to {last}"),
        Range::Indexes(last) => write!(out, "{field} is {found}, and 1 to {last} are taken"),
        Range::AtMost(most) => write!(out, "{field} is {found}, and {most} is the most that is taken"),
        Range::Of(all) => write!(out, "{field} is {found}, of {all}"),
        Range::Phases { first, last, taken } => {
            write!(out, "{field} is {found}, and the phases are {first} to {last}; phase {taken} is taken")
        }
        Range::Completed { taken } => {
            write!(out, "{field} is {found}, which is completed already; phase {taken} is taken")
        }
        Range::Folders { folder, last } => {
            write!(out, "{field} is {found}, and the last folder is {folder}-{last}, which counts")
        }
    }
}

fn disagrees(field: &str, how: &Disagreement, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        Disagreement::PhaseAndNumber { name, number } => {
            write!(out, "current_phase is '{name}' and phase_number is {number}; the name counts")
        }
        Disagreement::StageAndName { number, name } => {
            write!(out, "current_stage is {number} and current_stage_name is '{name}'; the name counts")
        }
        Disagreement::EarlierStage { found, other } => {
            write!(out, "{field} is {found}, and {other} in an earlier stage; the later one counts")
        }
        Disagreement::IdAndFile { id, file } => {
            write!(out, "{field} is '{id}', and the file is called {file}")
        }
        Disagreement::Status { said, counts, counting } => {
            write!(out, "it says {said}, and {counts} says {counting}, which counts")
        }
        Disagreement::Archived => out.write_str("it lies among the archived ones, so it counts as completed"),
        Disagreement::StatusAndFolder { status, folder } => {
            write!(out, "{field} is '{status}', and it is in the folder {folder}; the folder counts")
        }
        Disagreement::TotalAndDefinition { recorded, defined } => write!(
            out,
            "{field} is {recorded}, and its workflow is defined with {defined} phases; what was recorded counts"
        ),
    }
}

fn incomplete(field: &str, how: &Incomplete, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        Incomplete::File { name } => write!(out, "{field} is completed, and {name} is missing or empty"),
        Incomplete::SectionFile { section, name } => {
            write!(out, "{field}: section {section} is completed, and {name} is missing or empty")
        }
        Incomplete::NoArgumentMap => write!(out, "{field} is completed, and there is no argument map"),
        Incomplete::Earlier { stage } => {
            write!(out, "{field} is completed, and {stage} before it is not_started")
        }
    }
}

fn of_item(how: &OfItem, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        OfItem::BadId { found, why } => write!(out, "'{found}' is no id: {why}; the file is left as it is"),
        OfItem::SameAs { id, file } => write!(out, "{id} is the task in {file}, which counts"),
        OfItem::NotThere { relation, name } => match relation {
            Relation::Part => write!(out, "its subtask '{name}' is not there"),
            Relation::Parent => write!(out, "its parent '{name}' is not there"),
            Relation::Need => write!(out, "it depends on '{name}', which is not there"),
        },
        OfItem::ParentIsSilent { parent } => {
            write!(out, "its parent {parent} does not name it")
        }
        OfItem::PartIsSilent { parent } => write!(out, "it does not name its parent {parent}"),
        OfItem::BothAreSilent { parent } => {
            write!(out, "by its id it is part of {parent}; neither names the other")
        }
        OfItem::PartOfItself => out.write_str("it is part of itself; it counts as part of none"),
        OfItem::TooDeep { levels, most } => {
            write!(out, "it lies {levels} levels deep, and {most} are the most")
        }
        OfItem::Cycle { path, left_out } => {
            let first = path.first().map(String::as_str).unwrap_or_default();
            write!(
                out,
                "it waits for itself: {} → {first}; that it depends on {left_out} is left out",
                path.join(" → ")
            )
        }
        OfItem::OpenParts { open: 1, all: 1 } => out.write_str("it is called done, and its subtask is not"),
        OfItem::OpenParts { open: 1, all } => {
            write!(out, "it is called done, and 1 of its {all} subtasks is not")
        }
        OfItem::OpenParts { open, all } => {
            write!(out, "it is called done, and {open} of its {all} subtasks are not")
        }
        OfItem::NoParts => out.write_str("it is a container without subtasks"),
    }
}

fn unused(field: &str, why: &Total, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        Total::Specification { recorded, phases } => write!(
            out,
            "{field} is {recorded}, and the specification has {phases} phases: it is wrong and not used"
        ),
        Total::Completed { recorded, completed } => {
            write!(
                out,
                "{field} is {recorded}, and {completed} phases are completed: it is wrong and not used"
            )
        }
        Total::NotANumber { found } => {
            write!(out, "{field} is {found}, which is no number of phases: it is not used")
        }
    }
}

fn of_registry(how: &OfRegistry, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match how {
        OfRegistry::BrokenLines(lines) => {
            if let [one] = lines.as_slice() {
                return write!(out, "line {one} is no JSON object; it is left as it is");
            }
            let numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
            write!(out, "lines {} are no JSON objects; they are left as they are", some_of(&numbers))
        }
        OfRegistry::Repeated { name, lines } => write!(out, "{name} has {lines} lines; the last one counts"),
        OfRegistry::LineElsewhere { line, name, path, place: Elsewhere::Session { name: own } } => write!(
            out,
            "line {line} names '{name}' in {path}, where the session is '{own}': its line must have that as its id"
        ),
        OfRegistry::LineElsewhere { line, name, path, place: Elsewhere::NoPlace { places } } => {
            write!(out, "line {line} names '{name}' in {path}, which is no place of a session: {places}")
        }
        OfRegistry::NamesNothing(names) => {
            write!(out, "it names {}, of which nothing else is known", some_of(names))
        }
        OfRegistry::StrayMarker { name } => {
            write!(out, "it calls '{name}' active, and there is no such session")
        }
        OfRegistry::Strangers { prefix, names } => {
            write!(
                out,
                "nothing in it is known as a session, a folder {prefix}…; it holds {}",
                some_of(names)
            )
        }
    }
}
