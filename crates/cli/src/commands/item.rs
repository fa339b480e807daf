//! `leftoff item`

use crate::arguments::{given, pair, seconds};
use crate::commands::{Outcome, Run, answered_briefly, answered_unless};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::{moment, one_line};
use engine::{Answer, ItemAdd, ItemListRequest, ItemRequest, ItemSetting, Request};
use model::command::items::Count;
use model::hint::Hint;
use model::item::{ItemStatus, LONGEST_LEASE_SECONDS};
use model::nearest_name::nearest;
use model::words;
use std::process::ExitCode;

const LONGEST_TITLE: usize = 200;

/// Units of work inside a phase: tasks, sections, paragraphs
///
/// An item can wait for other items, be split into parts, and be claimed, so that only one of several agents works on
/// it. A claim expires by itself; activity of its holder in this session extends it. An item with parts is done when
/// all of its parts are done.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff item add \"Rotate refresh tokens\" --id impl-1\n  leftoff item add \"Cookie flags\" --needs impl-1\n  leftoff item claim --for 30m\n  leftoff item done impl-1\n  leftoff item drop impl-2 --reason \"one cookie is enough\"\n  leftoff item list --all"
)]
pub struct ItemCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    #[command(alias = "new", alias = "create")]
    Add(Add),
    /// Start work on an item, and claim it
    Start {
        /// Item, as `leftoff item list` shows it
        id: String,
    },
    /// Mark an item as done
    #[command(alias = "complete", alias = "finish")]
    Done {
        /// Item, as `leftoff item list` shows it
        id: String,
    },
    /// Mark an item as blocked, with a reason
    Block {
        /// Item, as `leftoff item list` shows it
        id: String,
        /// What the item waits for; shown in the brief
        #[arg(long)]
        reason: String,
    },
    /// Mark an item as no longer blocked
    Unblock {
        /// Item, as `leftoff item list` shows it
        id: String,
    },
    /// Drop an item that is no longer needed; if a gate needs it done, only a person can
    #[command(alias = "skip", alias = "cancel")]
    Drop {
        /// Item, as `leftoff item list` shows it
        id: String,
        /// Why it is no longer needed; stays in the history
        #[arg(long)]
        reason: String,
    },
    #[command(alias = "ls")]
    List(List),
    /// Claim an item, so that nobody else works on it; exit code 4 if somebody else holds it, 3 if no item is ready
    Claim {
        /// Item [default: the first ready one]
        id: Option<String>,
        /// How long to hold the item, such as 10m or 2h [default: 30m]
        #[arg(long = "for", value_name = "DURATION", value_parser = lease)]
        seconds: Option<u64>,
    },
    /// Release an item; only its holder or a person can do this
    Release {
        /// Item, as `leftoff item list` shows it
        id: String,
    },
    /// Split a pending item into parts: ID.1, ID.2 and so on
    Split {
        /// Item, as `leftoff item list` shows it
        id: String,
        /// Title of a part; may be repeated
        #[arg(long = "into", value_name = "TITLE", required = true, num_args = 1..)]
        titles: Vec<String>,
    },
    Set(Set),
}

/// Add an item to a phase
#[derive(clap::Args)]
struct Add {
    /// The work to do
    title: String,
    /// The id, such as impl-1 [default: the kind and a number]
    #[arg(long)]
    id: Option<String>,
    /// The kind [default: the phase's kind in the workflow, else task]
    #[arg(long)]
    kind: Option<String>,
    /// The phase [default: the current one, or the next one with items of this kind]
    #[arg(long)]
    phase: Option<String>,
    /// The item to which it belongs as a part
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// An item that must be done first; may be repeated
    #[arg(long, value_name = "ID", num_args = 1..)]
    needs: Vec<String>,
    /// A custom field; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    field: Vec<(String, String)>,
}

/// List the open items of the current phase
#[derive(clap::Args)]
struct List {
    /// List the items of another phase
    #[arg(long)]
    phase: Option<String>,
    /// List only items with this status: pending, active, completed, blocked or dropped
    #[arg(long)]
    status: Option<String>,
    /// List the items of all phases of this run, done or not
    #[arg(long)]
    all: bool,
    /// The maximum number of items to list
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

/// Set fields, counters, title, order or dependencies of an item
#[derive(clap::Args)]
struct Set {
    /// Item, as `leftoff item list` shows it
    id: String,
    /// A custom field; may be repeated
    #[arg(value_name = "K=V", value_parser = pair)]
    field: Vec<(String, String)>,
    /// A counter: words=120 sets it, words=+20 or words=-20 changes it
    #[arg(long, value_name = "NAME=N", value_parser = pair, allow_hyphen_values = true)]
    count: Vec<(String, String)>,
    /// A new title
    #[arg(long)]
    title: Option<String>,
    /// The position among its siblings; usually a multiple of ten: 10, 20, 30
    #[arg(long, value_name = "N")]
    order: Option<u64>,
    /// An item that must be done first; may be repeated
    #[arg(long, value_name = "ID", num_args = 1..)]
    needs: Vec<String>,
    /// An item that this item no longer waits for
    #[arg(long, value_name = "ID", num_args = 1..)]
    no_longer_needs: Vec<String>,
}

impl Run for ItemCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            Action::List(list) => list.run(globals),
            Action::Add(add) => add.run(globals),
            Action::Set(set) => set.run(globals),
            Action::Start { id } => {
                show_answer("started", &changed(ItemRequest::Start { id }, globals)?, globals)
            }
            Action::Done { id } => show_answer("done", &changed(ItemRequest::Done { id }, globals)?, globals),
            Action::Block { id, reason } => {
                show_answer("blocked", &changed(ItemRequest::Block { id, reason }, globals)?, globals)
            }
            Action::Unblock { id } => {
                show_answer("no longer blocked", &changed(ItemRequest::Unblock { id }, globals)?, globals)
            }
            Action::Drop { id, reason } => {
                show_answer("dropped", &changed(ItemRequest::Drop { id, reason }, globals)?, globals)
            }
            Action::Claim { id, seconds } => {
                show_answer("claimed", &changed(ItemRequest::Claim { id, seconds }, globals)?, globals)
            }
            Action::Release { id } => {
                show_answer("released", &changed(ItemRequest::Release { id }, globals)?, globals)
            }
            Action::Split { id, titles } => {
                let answer = changed(ItemRequest::Split { id, titles }, globals)?;
                let parts = answer.view.item.as_ref().map_or(0, |item| item.item.parts);
                let word = if parts == 1 { "part" } else { "parts" };
                show_answer(&format!("split into {parts} {word}"), &answer, globals)
            }
        }
    }
}

impl Add {
    fn run(self, globals: &Globals) -> Outcome {
        let request = ItemAdd {
            title: self.title,
            id: self.id,
            kind: self.kind,
            phase: self.phase,
            parent: self.parent,
            needs: self.needs,
            fields: given("field", self.field)?,
        };
        let answer = changed(ItemRequest::Add(request), globals)?;
        let phase = answer.view.item.as_ref().map(|item| format!("added to {}", item.item.phase));
        answered_briefly(&about_item(&phase.unwrap_or_default(), &answer), &answer, globals)
    }
}

impl Set {
    fn run(self, globals: &Globals) -> Outcome {
        let setting = ItemSetting {
            title: self.title,
            order: self.order,
            fields: given("field", self.field)?,
            counters: self.count.iter().map(count).collect::<Result<_, _>>()?,
            needs: self.needs,
            no_longer: self.no_longer_needs,
        };
        if setting == ItemSetting::default() {
            return Err(Failure::wrong_usage(
                "nothing to set",
                "give a field or an option: leftoff item set ID K=V, --count, --title, --order, --needs",
            ));
        }
        show_answer("set", &changed(ItemRequest::Set { id: self.id, setting }, globals)?, globals)
    }
}

impl List {
    fn run(self, globals: &Globals) -> Outcome {
        let status = self.status.as_deref().map(known).transpose()?;
        let request = ItemListRequest { phase: self.phase, status, all: self.all, limit: self.limit };
        let engine = globals.query()?;
        let listing = engine.items(&request)?;
        let out = globals.out();
        if globals.json {
            out.json(&listing)?;
            return Ok(ExitCode::SUCCESS);
        }
        if listing.phases.is_empty() {
            let naming = globals.naming_words(&engine);
            let hint = Hint::new("no items here; see all of them: ")
                .run_here(words!["item", "list", "--all"])
                .then(", or add one: ")
                .run_here(words!["item", "add", "TITLE"]);
            out.say(&hint.naming(&naming).to_string());
        } else {
            out.text(&ui::items::tree(&listing, &out))?;
            if !self.all && listing.items.is_empty() {
                out.say("done items are not listed; see all:  leftoff item list --all");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn changed(request: ItemRequest, globals: &Globals) -> engine::Result<Answer> {
    globals.command()?.execute(Request::Item(request))
}

/// Shows the result for an item, such as `impl-2 claimed until 15:40 UTC: Rotate refresh tokens`, and the next step.
fn show_answer(done: &str, answer: &Answer, globals: &Globals) -> Outcome {
    let already = about_item(&format!("already {done}"), answer);
    answered_unless(&already, &about_item(done, answer), answer, globals)
}

fn about_item(done: &str, answer: &Answer) -> String {
    let Some(item) = &answer.view.item else { return done.to_owned() };
    let until = item.item.lease.as_ref().filter(|_| item.mine);
    let until = until.map(|lease| format!(" until {}", moment(lease.until, answer.view.updated_at)));
    let title = one_line(&item.item.title, LONGEST_TITLE);
    format!("{} {done}{}: {title}", item.id(), until.unwrap_or_default())
}

fn lease(text: &str) -> Result<u64, String> {
    match seconds(text)? {
        long if long > LONGEST_LEASE_SECONDS => Err("an item can be held for at most 30d".to_owned()),
        seconds => Ok(seconds),
    }
}

fn count((name, value): &(String, String)) -> Result<(String, Count), Failure> {
    let number = |text: &str| {
        text.parse::<i64>().map_err(|_| {
            Failure::wrong_usage(
                format!("--count {name}={value} is not a whole number"),
                "write words=120, words=+20 or words=-20",
            )
        })
    };
    let count = match value.strip_prefix('+') {
        Some(more) => Count::By(number(more)?),
        None if value.starts_with('-') => Count::By(number(value)?),
        None => Count::To(number(value)?),
    };
    Ok((name.clone(), count))
}

fn known(status: &str) -> Result<String, Failure> {
    // Other tools call an active item `in_progress`.
    let status = if status == "in_progress" { "active" } else { status };
    if ItemStatus::NAMES.contains(&status) {
        return Ok(status.to_owned());
    }
    let hint = match nearest(status, ItemStatus::NAMES) {
        Some(name) => format!("did you mean '{name}'?"),
        None => format!("use one of {}", ItemStatus::NAMES.join(", ")),
    };
    Err(Failure::wrong_usage(format!("unknown status '{status}'"), hint))
}
