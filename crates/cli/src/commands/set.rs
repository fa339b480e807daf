//! `leftoff set`

use crate::arguments::{given, pair};
use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::ItemSetting;

/// Set free fields of the session, or of one of its phases or items
///
/// Fields that the workflow declares are checked: their type, and the values that they may have. Others are kept as they are given; `true`, `42` and `[1, 2]` are read as what they look like.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff set ticket=ABC-12 audience=expert\n  leftoff set --phase build branch=fix/timeout\n  leftoff set --item impl-2 voice=4\n  leftoff set --unset audience"
)]
pub struct Set {
    /// Phase that they belong to, by id or number [default: the session]
    #[arg(long, value_name = "P")]
    phase: Option<String>,
    /// Item that they belong to
    #[arg(long, value_name = "ID", conflicts_with = "phase")]
    item: Option<String>,
    /// Name and value; may be given several times. `null` takes a field back
    #[arg(required_unless_present = "unset", value_name = "K=V", value_parser = pair)]
    fields: Vec<(String, String)>,
    /// Take a field back: it is not set any more; may be given several times
    #[arg(long, value_name = "K")]
    unset: Vec<String>,
}

impl Run for Set {
    fn run(self, globals: &Globals) -> Outcome {
        let unset = self.unset.into_iter().map(|name| (name, "null".to_owned()));
        let pairs: Vec<(String, String)> = self.fields.into_iter().chain(unset).collect();
        let names: Vec<String> = pairs.iter().map(|(name, _)| name.clone()).collect();
        let fields = given("field", pairs)?;
        let mut engine = globals.command()?;
        let answer = match self.item {
            Some(id) => engine.item_set(&id, &ItemSetting { fields, ..ItemSetting::default() })?,
            None => engine.set_fields(self.phase.as_deref(), &fields)?,
        };
        answered(&format!("set {}", names.join(", ")), &answer, globals)
    }
}
