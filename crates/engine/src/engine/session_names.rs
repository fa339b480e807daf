//! Finds the session that a name means: a number, an id, or a part of an id.

use crate::engine::Engine;
use crate::error::{Error, Result};
use model::id::SessionId;
use model::nearest_name::nearest;
use store::{Filter, Store};

impl Engine {
    /// Returns the session for a list number, an id, the beginning of an id, or another part of an id.
    pub(crate) fn resolve(&self, asked: &str) -> Result<SessionId> {
        let is_number = asked.bytes().all(|byte| byte.is_ascii_digit()) && !asked.is_empty();
        // No list shows a number with leading zeros, but an id may begin with it.
        if is_number
            && !asked.starts_with('0')
            && let Some(numbered) = self.with_number(asked.parse().unwrap_or(u64::MAX))?
        {
            return Ok(numbered);
        }
        // Outside projects, a folder's name means the session in that folder, even if another session has the same
        // name.
        if self.project.is_outside
            && let Some(named) = self.in_a_place_called(asked)?
        {
            return Ok(named);
        }
        if let Ok(id) = SessionId::parse(asked)
            && let Some(loaded) = self.store.load(&id)?
        {
            // If a session of this name belongs to another worktree, the session of this name here is meant.
            let is_elsewhere = self.is_of_another_worktree(&loaded)?;
            let here = if is_elsewhere { self.in_a_place_called(asked)? } else { None };
            return Ok(here.unwrap_or(id));
        }
        let mut found = if asked.is_empty() { Vec::new() } else { self.store.with_prefix(asked, 10)? };
        found.extend(self.foreign_ids(asked));
        if let Some(exact) = found.iter().position(|id| id.as_str() == asked) {
            return Ok(found.swap_remove(exact));
        }
        if let Some(named) = self.in_a_place_called(asked)? {
            return Ok(named);
        }
        if let Some(same) = found.iter().position(|id| id.as_str().eq_ignore_ascii_case(asked)) {
            return Ok(found.swap_remove(same));
        }
        // A number that no list shows may be the beginning of an id, or the beginning of a part after '_'. Other parts
        // do not match a number.
        if found.is_empty() {
            found = self.ids_with_part(asked)?;
            let is_part = !is_number || asked.starts_with('0');
            found.retain(|id| is_part || id.as_str().contains(&format!("_{asked}")));
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 if is_number => Err(self.unknown_number(asked)),
            0 => Err(self.unknown_session(asked)?),
            _ => Err(Error::AmbiguousSession {
                asked: asked.to_owned(),
                candidates: found.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// Returns the session that a list shows with this number.
    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        match self.store.with_number(number)? {
            Some(found) => Ok(Some(found)),
            None => self.foreign_with_number(number),
        }
    }

    fn unknown_number(&self, asked: &str) -> Error {
        let nearest = match self.ids_with_part(asked).unwrap_or_default().as_slice() {
            [one] => Some(one.to_string()),
            _ => None,
        };
        Error::UnknownSession { asked: asked.to_owned(), nearest }
    }

    fn unknown_session(&self, asked: &str) -> Result<Error> {
        let some = Filter { limit: Some(1_000), ..Filter::default() };
        let ids: Vec<String> =
            self.store.list(&some)?.into_iter().map(|listed| listed.row.id.to_string()).collect();
        Ok(Error::UnknownSession {
            asked: asked.to_owned(),
            nearest: nearest(asked, ids.iter().map(String::as_str)).map(ToOwned::to_owned),
        })
    }
}
