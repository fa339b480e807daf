//! Refuses changes to a session about which too little is known. A person must supply the missing data first.

use crate::engine::Engine;
use crate::error::{Choice, Error, Result};
use crate::foreign::discover::path::pointed;
use crate::foreign::observation_cache::Aim;
use crate::foreign::observe::read::LONGEST_WARNING;
use crate::words::one_line;
use layouts::question::where_to_resume;
use layouts::reader::Located;
use model::event::Event;
use model::hint::CommandLine;
use model::id::SessionId;
use model::phase::Phase;
use model::session::Session;
use model::words;

impl Engine {
    /// Returns the event of the adoption, if this command adopts the session. Refuses if too little is known about the
    /// session.
    pub(crate) fn adopted(&self, session: &Session) -> Result<Option<Event>> {
        self.refuse_what_nobody_knows(&session.id)?;
        self.refuse_until_somebody_says(session)?;
        let observation = self.observed(&session.id).filter(|observation| observation.is_foreign());
        Ok(observation.map(|observation| {
            let Located { layout, spot, .. } = &observation.located;
            Event::Adopted { layout: layout.facts().name.to_owned(), path: spot.path.clone() }
        }))
    }

    /// Refuses to change a session about which nothing is known. Whatever was written would be made up.
    fn refuse_what_nobody_knows(&self, id: &SessionId) -> Result<()> {
        match self.observed(id).and_then(|observation| observation.what_nobody_knows()) {
            Some((path, why)) => Err(nothing_known(id, path, &why)),
            None => Ok(()),
        }
    }

    /// Refuses to continue a session at a guessed position. A person must say where it continues.
    fn refuse_until_somebody_says(&self, session: &Session) -> Result<()> {
        match self.where_to_resume(session) {
            Some((question, choices)) if self.scope.aim != (Aim::Repair { says_where: true }) => {
                Err(Error::NeedsChoice { question, choices })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the tool's report that a session's position is unknown, and the phases to choose from. `None` if the
    /// position is known.
    pub(crate) fn where_to_resume(&self, session: &Session) -> Option<(String, Vec<Choice>)> {
        let observation = self.observed(&session.id).filter(|observation| observation.is_foreign())?;
        let folder = self.folder(&observation.located, session, &observation.documents);
        let report = where_to_resume(observation.located.layout, &folder)?;
        let run = session.run()?;
        // A session of another project must be repaired in that project before it can be copied here.
        let there = observation.brought_from().and_then(pointed);
        let meant = there.map_or_else(
            || words!["--session", session.id],
            |there| words!["--project", there.root.display(), "--session", there.spot.id],
        );
        let choice = |(place, phase): (usize, &Phase)| Choice {
            key: run.number_at(place).to_string(),
            words: phase.stub.title.clone(),
            command: CommandLine::new([words!["repair"], meant.clone(), words!["--at", phase.id()]].concat()),
            session: session.id.to_string(),
            phase: Some(phase.id().to_string()),
        };
        Some((
            format!("{report} Where should it resume?"),
            run.phases.iter().enumerate().map(choice).collect(),
        ))
    }
}

pub(crate) fn nothing_known(id: &SessionId, path: String, why: &str) -> Error {
    Error::NothingKnown { session: id.to_string(), path, why: one_line(why, LONGEST_WARNING) }
}
