//! What an agent is told, as text. Others' words stand in it as data.

use crate::ui::log::words;
use engine::brief::markdown;
use engine::hooks::{Reply, Told};
use engine::words::{defused, moment, without_steering};

/// What a brief may take of an agent's context.
const BUDGET_TOKENS: usize = 2_000;
const LONGEST: usize = 300;

/// All that is told, or none.
pub fn context(reply: &Reply) -> Option<String> {
    let parts: Vec<String> = reply.told.iter().map(part).collect();
    (!parts.is_empty()).then(|| without_steering(&parts.join("\n")).into_owned())
}

fn part(told: &Told) -> String {
    match told {
        Told::Brief { brief, compacted } => {
            let text = markdown(brief, Some(BUDGET_TOKENS));
            if *compacted { format!("{COMPACTED}\n\n{text}") } else { text }
        }
        Told::Session { id, title, next } => format!(
            "Session {id} is going on here: {}. Where it stands: `leftoff brief --format markdown`\nNext: {next}\n",
            defused(title, LONGEST)
        ),
        Told::Changes { session, events, more, now } => {
            let mut text = format!("Changed by others in session {session} since you were last told:\n");
            for event in events {
                text.push_str(&format!(
                    "- {} {}: {}\n",
                    moment(event.at, *now),
                    defused(&event.actor.to_string(), 60),
                    defused(&words(&event.event), LONGEST)
                ));
            }
            if *more {
                text.push_str("- and more: `leftoff log`\n");
            }
            text
        }
        Told::Words(text) => format!("{}\n", text.trim_end()),
    }
}

const COMPACTED: &str = "Your conversation was compacted. What follows is on record and counts more than the summary: nothing that is done is to be done again.";
