//! The words of messages to agents. Text that leftoff did not write is quoted as data.

use engine::brief::{USUAL_BUDGET, markdown, tokens};
use engine::event_text::words;
use engine::hooks::{AgentMessage, Reply};
use engine::words::{defused, moment, without_steering};

const LONGEST: usize = 300;

/// The message with all of its parts. `None` if there is nothing to say.
pub fn context(reply: &Reply) -> Option<String> {
    let parts: Vec<String> = reply.messages.iter().map(part).collect();
    (!parts.is_empty()).then(|| without_steering(&parts.join("\n")).into_owned())
}

fn part(message: &AgentMessage) -> String {
    match message {
        AgentMessage::Brief { brief, compacted } => {
            if !compacted {
                return markdown(brief, USUAL_BUDGET);
            }
            // The introduction and the brief together must not be longer than a brief without an
            // introduction.
            let text = markdown(brief, USUAL_BUDGET - tokens(COMPACTED));
            format!("{COMPACTED}\n\n{text}")
        }
        AgentMessage::Session { id, title, next } => format!(
            "Session {id} is active here: {}. For its state: `leftoff brief --format markdown`\nNext: {next}\n",
            defused(title, LONGEST)
        ),
        AgentMessage::Changes { session, events, more, now } => {
            let mut text = format!("Changes by others in session {session} since the last message:\n");
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
        AgentMessage::Words(text) => format!("{}\n", text.trim_end()),
    }
}

const COMPACTED: &str =
    "Your conversation was compacted. Trust this record over its summary; do not redo finished work.";
