//! Decides which session is active if several are called active where only one can be: the one that was changed last.
//! Pure: takes claims, and returns the sessions to pause.

use jiff::Timestamp;
use model::id::SessionId;

/// A session that is called active, and its last change. If two claims have the same time, their ids decide.
/// A session that is missing from its tool's registry never takes the place of another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Claim {
    pub(crate) is_listed: bool,
    pub(crate) updated_at: Timestamp,
    pub(crate) id: SessionId,
}

/// A session of a layout that allows one active session, as its files describe it.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) claim: Claim,
    pub(crate) is_active: bool,
    /// True if files call the session active, but another active session was changed later.
    pub(crate) counts_as_paused: bool,
}

/// The change of the log's active session that must come before edits of another session are adopted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum First {
    Nothing,
    /// The files of the log's active session ended this session, so their edits are adopted first.
    Adopt(SessionId),
    /// The log's active session was changed earlier than the other session, so it is paused first.
    Pause(SessionId),
}

/// Returns the active session among all that are called active.
pub(crate) fn holder(claims: impl IntoIterator<Item = Claim>) -> Option<Claim> {
    claims.into_iter().max()
}

/// Returns the session that is active instead of `own` because it was changed later; `None` if `own` is active.
pub(crate) fn displaced_by(own: &Claim, others: impl IntoIterator<Item = Claim>) -> Option<Claim> {
    holder(others).filter(|other| other > own)
}

/// Returns what must happen first if files call `own` active, but `rival` is active in the log.
pub(crate) fn before_adopting(own: &Contender, rival: &Contender) -> First {
    match (own.is_active, rival.is_active) {
        (false, _) => First::Nothing,
        (true, false) => First::Adopt(rival.claim.id.clone()),
        (true, true) => {
            let earlier = if own.claim > rival.claim { rival } else { own };
            First::Pause(earlier.claim.id.clone())
        }
    }
}

/// Returns the sessions that must be paused in the log before `own` stops. They count as paused only because `own` is
/// active, and one of them would otherwise become active without a command.
pub(crate) fn paused_with(own: &Claim, others: impl IntoIterator<Item = Contender>) -> Vec<SessionId> {
    let is_it = |other: &Contender| {
        let is_earlier = other.is_active && other.claim < *own;
        other.claim.id != own.id && (is_earlier || other.counts_as_paused)
    };
    others.into_iter().filter(is_it).map(|other| other.claim.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a claim in a test: `a3` is session a, changed at second 3, and no registry lists `a3?`.
    fn claim(text: &str) -> Claim {
        let (id, second) = text.split_at(1);
        let updated_at = Timestamp::from_second(second.trim_end_matches('?').parse().unwrap()).unwrap();
        Claim { is_listed: !text.ends_with('?'), updated_at, id: SessionId::parse(id).unwrap() }
    }

    /// Parses a session in a test: `a3` is active, `a3-` is not, and `a3p` counts as paused.
    fn contender(text: &str) -> Contender {
        let (stands, counts_as_paused) = (text.trim_end_matches(['-', 'p']), text.ends_with('p'));
        let is_active = !text.ends_with(['-', 'p']);
        Contender { claim: claim(stands), is_active, counts_as_paused }
    }

    #[test]
    fn the_one_that_changed_last_is_active() {
        let cases = [
            ("", "-"),
            ("a1", "a"),
            ("a1 b2", "b"),
            ("b2 a1", "b"),
            ("a2 b2", "b"),
            ("c1 b3 a2", "b"),
            ("a1 b2?", "a"),
            ("a1? b2?", "b"),
        ];
        for (claims, active) in cases {
            let found = holder(claims.split_whitespace().map(claim));
            assert_eq!(found.map_or("-".to_owned(), |found| found.id.to_string()), active, "{claims}");
        }
        let cases =
            [("a2", "b1", "-"), ("a2", "b3", "b"), ("a2", "b2 c1", "b"), ("b2", "a2", "-"), ("a2", "", "-")];
        for (own, others, by) in cases {
            let found = displaced_by(&claim(own), others.split_whitespace().map(claim));
            assert_eq!(
                found.map_or("-".to_owned(), |found| found.id.to_string()),
                by,
                "{own} beside {others}"
            );
        }
    }

    #[test]
    fn what_comes_before_edits_that_call_a_session_active() {
        let id = |text: &str| SessionId::parse(text).unwrap();
        let cases = [
            ("a2-", "b1", First::Nothing),
            ("a2-", "b1-", First::Nothing),
            ("a2", "b1-", First::Adopt(id("b"))),
            ("a2", "b3-", First::Adopt(id("b"))),
            ("a2", "b1", First::Pause(id("b"))),
            ("a2", "b3", First::Pause(id("a"))),
            ("a2", "b2", First::Pause(id("a"))),
            ("b2", "a2", First::Pause(id("a"))),
        ];
        for (own, rival, first) in cases {
            assert_eq!(before_adopting(&contender(own), &contender(rival)), first, "{own} against {rival}");
        }
    }

    #[test]
    fn those_that_count_as_paused_are_paused_before_the_active_one_stops() {
        let cases = [
            ("a2", "", ""),
            ("a2", "b1", "b"),
            ("a2", "b1-", ""),
            ("a2", "b3", ""),
            ("a2", "b3p", "b"),
            ("a2", "b1p c1 d1- e3", "b c"),
            ("a2", "a1", ""),
            ("a2", "a1p", ""),
        ];
        for (own, others, paused) in cases {
            let found = paused_with(&claim(own), others.split_whitespace().map(contender));
            let found: Vec<&str> = found.iter().map(SessionId::as_str).collect();
            assert_eq!(found.join(" "), paused, "{own} stops beside {others}");
        }
    }
}
