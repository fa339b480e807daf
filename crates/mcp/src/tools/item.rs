//! `item`: lists and changes the items of a session.

use super::schema::{ArgumentType, optional, required};
use super::{Call, Effect, Entry};
use crate::answer::Answer;
use crate::error::Mishap;
use engine::words::one_line;
use engine::{Intent, ItemAdd, ItemListRequest, ItemRequest, ItemSetting, Request};
use model::item::LONGEST_LEASE_SECONDS;

const ACTIONS: &[&str] =
    &["list", "add", "claim", "start", "done", "block", "unblock", "drop", "release", "split", "set"];
const MOST_LISTED: usize = 100;
const LONGEST_TITLE: usize = 200;

pub(super) const ENTRY: Entry = Entry {
    name: "item",
    description: "The session's to-do list: tasks, sections. Use it instead of your own list. claim takes `id`, or the next ready one, so no other agent works on it; done, block, drop (both with reason) and release end that; split cuts one into `titles`.",
    parameters: &[
        required("action", ArgumentType::Choice(ACTIONS), ""),
        optional("id", ArgumentType::Text, ""),
        optional("title", ArgumentType::Text, ""),
        optional("titles", ArgumentType::List, ""),
        optional("kind", ArgumentType::Text, ""),
        optional("phase", ArgumentType::Text, ""),
        optional("parent", ArgumentType::Text, "the item it is part of"),
        optional("needs", ArgumentType::List, "items that must be done first"),
        optional("fields", ArgumentType::Object, ""),
        optional("reason", ArgumentType::Text, ""),
        optional("minutes", ArgumentType::Number, "of a claim, default 30"),
        optional("all", ArgumentType::Flag, "list other phases and done ones too"),
    ],
    fields: &[("item", "object"), ("items", "array"), ("more", "boolean")],
    effect: Effect::Adds,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let action = call.arguments.required_choice("action", ACTIONS)?;
    let request = match action {
        "list" => return list(call),
        "add" => ItemRequest::Add(new_item(call)?),
        "claim" => claim(call)?,
        "set" => set(call)?,
        "split" => {
            let (id, titles) = (the_item(call)?, call.arguments.list("titles")?);
            if titles.is_empty() {
                return Err(Mishap::wrong_usage("'titles' is missing", "give the titles of its parts"));
            }
            ItemRequest::Split { id, titles }
        }
        "block" => {
            let reason = call.arguments.required_text("reason", "\"waits for the certificate\"")?;
            ItemRequest::Block { id: the_item(call)?, reason }
        }
        "drop" => {
            let reason = call.arguments.required_text("reason", "\"one cookie is enough\"")?;
            ItemRequest::Drop { id: the_item(call)?, reason }
        }
        "start" => ItemRequest::Start { id: the_item(call)? },
        "done" => ItemRequest::Done { id: the_item(call)? },
        "unblock" => ItemRequest::Unblock { id: the_item(call)? },
        _ => ItemRequest::Release { id: the_item(call)? },
    };
    let done = call.open(Intent::Command)?.execute(Request::Item(request))?;
    let item = done.view.item.as_ref();
    let told =
        item.map(|item| format!("{action}: {} {}", item.id(), one_line(&item.item.title, LONGEST_TITLE)));
    let answer = Answer::of_command(&told.unwrap_or_else(|| action.to_owned()), &done);
    Ok(match item {
        Some(item) => answer.with("item", item),
        None => answer,
    })
}

fn the_item(call: &Call) -> Result<String, Mishap> {
    call.arguments.required_name("id", "\"impl-1\"; action list shows them")
}

fn new_item(call: &Call) -> Result<ItemAdd, Mishap> {
    let arguments = &call.arguments;
    Ok(ItemAdd {
        title: arguments.required_text("title", "\"Rotate refresh tokens\"")?,
        id: arguments.name("id")?,
        kind: arguments.name("kind")?,
        phase: arguments.name("phase")?,
        parent: arguments.name("parent")?,
        needs: arguments.list("needs")?,
        fields: arguments.values("fields")?,
    })
}

fn claim(call: &Call) -> Result<ItemRequest, Mishap> {
    const MOST_MINUTES: u64 = LONGEST_LEASE_SECONDS / 60;
    let minutes = call.arguments.number("minutes")?;
    if minutes.is_some_and(|minutes| minutes == 0 || minutes > MOST_MINUTES) {
        let message = format!("'minutes' must be from 1 to {MOST_MINUTES}");
        return Err(Mishap::wrong_usage(message, "omit 'minutes' for a claim of 30 minutes"));
    }
    let id = call.arguments.name("id")?;
    Ok(ItemRequest::Claim { id, seconds: minutes.map(|minutes| minutes * 60) })
}

fn set(call: &Call) -> Result<ItemRequest, Mishap> {
    let arguments = &call.arguments;
    let setting = ItemSetting {
        title: arguments.text("title")?,
        fields: arguments.values("fields")?,
        needs: arguments.list("needs")?,
        ..ItemSetting::default()
    };
    if setting == ItemSetting::default() {
        let hint = "give at least one of title, fields, needs";
        return Err(Mishap::wrong_usage("no change was given", hint).with_valid(["title", "fields", "needs"]));
    }
    Ok(ItemRequest::Set { id: the_item(call)?, setting })
}

fn list(call: &Call) -> Result<Answer, Mishap> {
    let arguments = &call.arguments;
    let request = ItemListRequest {
        phase: arguments.name("phase")?,
        all: arguments.flag("all")?,
        limit: MOST_LISTED,
        ..ItemListRequest::default()
    };
    let listing = call.open(Intent::Query)?.items(&request)?;
    let mut text = format!("{} items", listing.items.len());
    for item in &listing.items {
        let title = one_line(&item.item.title, LONGEST_TITLE);
        text.push_str(&format!("\n- {} {title} ({})", item.id(), item.item.status.name()));
    }
    let answer = Answer::new("listed", text).with("session_id", &listing.session_id);
    Ok(answer.with("items", &listing.items).with("more", listing.more))
}
