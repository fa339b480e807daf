//! Sets custom fields of a session or of one of its phases.

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::fields::check_fields;
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use layouts::capabilities::FieldOf;
use layouts::layout;
use model::command::{Command, decide};
use model::hint::Hint;
use model::session::Session;
use model::typed_value::{Given, guess, shown};
use model::words;
use std::collections::BTreeMap;

impl Engine {
    /// Sets custom fields, checked against the workflow's declarations.
    pub(crate) fn set_fields(
        &mut self,
        phase: Option<&str>,
        given: &BTreeMap<String, Given>,
    ) -> Result<Answer> {
        for (name, value) in given {
            bounded("a field's name", name)?;
            if let Given::Text(text) = value {
                bounded("a field's value", text)?;
            }
        }
        if given.is_empty() {
            return Err(Error::WrongUsage {
                message: "no field was given".to_owned(),
                hint: Hint::new("write NAME=VALUE: ").run_here(words!["set", "ticket=ABC-12"]),
            });
        }
        let fingerprint = self.fingerprint("set", &format!("{phase:?} {given:?}"));
        self.in_turn(&fingerprint, |engine| {
            let id = engine.select(Want::Unfinished)?;
            let subject = engine.load_subject(&id)?;
            let session = &subject.session;
            let of = if phase.is_some() { FieldOf::Phase } else { FieldOf::Session };
            refuse_no_fields(session, of, given)?;
            let fields = check_fields(&*engine.definition_of(session)?, given)?;
            let command = Command::SetFields { phase: phase.map(ToOwned::to_owned), fields };
            let events = decide(session, command)?;
            Ok(Plan::of(subject.change(events)))
        })
    }
}

/// Refuses a field if another tool's file uses the field's name for something else. The field would have no effect in
/// the file, or break it.
pub(super) fn refuse_no_fields(
    session: &Session,
    of: FieldOf,
    given: &BTreeMap<String, Given>,
) -> Result<()> {
    let Some(layout) = layout::by_name(&session.layout) else { return Ok(()) };
    let Some(rules) = layout.capabilities().item_rules else { return Ok(()) };
    let owner = match of {
        FieldOf::Session => "a session",
        FieldOf::Phase => "a phase",
        FieldOf::Item => "an item",
    };
    let odd = given.iter().find_map(|(name, value)| {
        let value = guess(value);
        Some((name, shown(&value), rules.wanted_instead(of, name, &value)?))
    });
    if let Some((name, found, wanted)) = odd {
        return Err(Error::WrongUsage {
            message: format!("{name} must be {wanted}, got: {found}"),
            hint: "give such a value, or null to clear the field".into(),
        });
    }
    let told = given.keys().find_map(|name| Some((name, rules.instead_of_field(of, name)?)));
    match told {
        Some((name, instead)) => Err(Error::WrongUsage {
            message: format!("'{name}' cannot be set as a field of {owner} of {}", layout.facts().title),
            hint: instead.into(),
        }),
        None => Ok(()),
    }
}
