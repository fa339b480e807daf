//! `leftoff set`

use crate::arguments::{given, pair};
use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::{ItemRequest, ItemSetting, Request};

/// Set custom fields of the session, a phase or an item
///
/// Fields that the workflow declares are checked for type and allowed values. Other fields are stored as given; `true`,
/// `42` and `[1, 2]` are read as JSON.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff set ticket=ABC-12 audience=expert\n  leftoff set --phase build branch=fix/timeout\n  leftoff set --item impl-2 voice=4\n  leftoff set --unset audience"
)]
pub struct Set {
    /// Set the fields of this phase, by id or number [default: of the session]
    #[arg(long, value_name = "P")]
    phase: Option<String>,
    /// Set the fields of this item
    #[arg(long, value_name = "ID", conflicts_with = "phase")]
    item: Option<String>,
    /// Name and value; may be repeated. `null` clears a field
    #[arg(required_unless_present = "unset", value_name = "K=V", value_parser = pair)]
    fields: Vec<(String, String)>,
    /// Clear a field; may be repeated
    #[arg(long, value_name = "K")]
    unset: Vec<String>,
}

impl Run for Set {
    fn run(self, globals: &Globals) -> Outcome {
        let unset = self.unset.into_iter().map(|name| (name, "null".to_owned()));
        let pairs: Vec<(String, String)> = self.fields.into_iter().chain(unset).collect();
        let names: Vec<String> = pairs.iter().map(|(name, _)| name.clone()).collect();
        let fields = given("field", pairs)?;
        let is_of_session = self.item.is_none() && self.phase.is_none();
        let request = match self.item {
            Some(id) => {
                let setting = ItemSetting { fields, ..ItemSetting::default() };
                Request::Item(ItemRequest::Set { id, setting })
            }
            None => Request::SetFields { phase: self.phase, fields },
        };
        let answer = globals.command()?.execute(request)?;
        let own = names.iter().find(|name| is_of_session && matches!(name.as_str(), "title" | "goal"));
        if let Some(name) = own {
            globals.out().say(&format!(
                "'{name}' is now a custom field; the session keeps the {name} that it was started with"
            ));
        }
        answered(&format!("set {}", names.join(", ")), &answer, globals)
    }
}
