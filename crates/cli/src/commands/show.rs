//! `leftoff show`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use engine::Detail;
use std::process::ExitCode;

/// Show a session with its whole history: every attempt, every note
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff show\n  leftoff show k3v9 --json\n  leftoff show k3v9 --format html > session.html"
)]
pub struct Show {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// The output format: text; json; or html, a single file that needs no server [default: text]
    #[arg(long, value_parser = ["text", "json", "html"])]
    format: Option<String>,
}

impl Run for Show {
    fn run(self, globals: &Globals) -> Outcome {
        // The commands in the output must name the session, even if the user named it as an argument and not
        // with --session.
        let mut globals = globals.clone();
        globals.options.session = self.id.or(globals.options.session);
        globals.json |= self.format.as_deref() == Some("json");
        let view = globals.query()?.sessions().show(None, Detail::Whole)?;
        let out = globals.out();
        if globals.json {
            out.json(&view)?;
        } else if self.format.as_deref() == Some("html") {
            out.text(&web::session_file(&globals.options, &view.session_id)?)?;
        } else {
            ui::answer::warn(&view.warnings, &out);
            out.text(&ui::show::whole(&view, &out))?;
            if let Some(words) = &view.own_words {
                out.text(&format!("\n{words}"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
