//! Tests the choice of a session with a table of existing sessions and the chosen one.

use super::*;

/// The letter of each source. In a test case, a capital letter means that the source's session is unfinished.
const SOURCES: [(char, Source); 10] = [
    ('f', Source::Flag),
    ('b', Source::Binding),
    ('w', Source::Worktree),
    ('h', Source::ActiveHere),
    ('a', Source::ActiveInFiles),
    ('x', Source::ForeignActive),
    ('c', Source::ContinuedInFiles),
    ('u', Source::UnfinishedInFiles),
    ('p', Source::Waiting),
    ('q', Source::WaitingInFiles),
];

fn candidate(there: &str, letter: char) -> Option<Candidate> {
    let is_open = there.contains(letter.to_ascii_uppercase());
    let id = SessionId::parse(&format!("session-{letter}")).unwrap();
    (is_open || there.contains(letter)).then_some(Candidate { id, is_open })
}

/// Returns the letter of the chosen session, or `-` if none was chosen, and the letters of the sources in the order in
/// which they were asked.
fn chosen(want: Want, there: &str) -> (String, String) {
    let (mut known, mut asked) = (Candidates::new(), String::new());
    loop {
        match choose(want, &known) {
            Choice::Meant(id, source) => {
                let letter = SOURCES.iter().find(|(_, known)| *known == source).unwrap().0;
                assert_eq!(id.as_str(), format!("session-{letter}"), "its source is told with it");
                return (letter.to_string(), asked);
            }
            Choice::Nobody => return ("-".to_owned(), asked),
            Choice::Ask(source) => {
                let letter = SOURCES.iter().find(|(_, known)| *known == source).unwrap().0;
                assert!(known.insert(source, candidate(there, letter)).is_none(), "asked twice: {letter}");
                asked.push(letter);
            }
        }
    }
}

#[test]
fn the_session_that_is_meant() {
    // Each case: the existing sessions, then the choice for `Latest`, `Unfinished` and `Resumable`.
    let cases = [
        ("", "-", "-", "-"),
        // A named session comes first, finished or not.
        ("fBWHAXCUPQ", "f", "f", "f"),
        // The session of the agent comes before that of the worktree, unless the agent's session is finished.
        ("BWHAXCUPQ", "b", "b", "b"),
        ("bWH", "w", "w", "h"),
        ("b", "b", "-", "-"),
        ("bw", "w", "-", "-"),
        // If files call another session active than the log does, the session of the files comes first.
        ("WAC", "a", "a", "-"),
        ("wAU", "a", "a", "u"),
        // If the tool moved on to a later session, leftoff uses that one, even if the earlier session is
        // finished.
        ("WC", "c", "c", "-"),
        ("WU", "w", "w", "u"),
        ("wU", "u", "u", "u"),
        ("wC", "w", "-", "-"),
        ("U", "u", "u", "u"),
        // A finished session is shown, but not changed.
        ("w", "w", "-", "-"),
        ("W", "w", "w", "-"),
        // Active sessions are resumed before waiting ones, and those in the log before those in files.
        ("HXPQU", "u", "u", "h"),
        ("XPQU", "u", "u", "x"),
        ("pqU", "u", "u", "p"),
        ("qU", "u", "u", "q"),
    ];
    for (there, latest, unfinished, resumable) in cases {
        for (want, meant) in
            [(Want::Latest, latest), (Want::Unfinished, unfinished), (Want::Resumable, resumable)]
        {
            assert_eq!(chosen(want, there).0, meant, "{want:?} of {there:?}");
        }
    }
}

#[test]
fn nothing_is_looked_up_that_the_choice_does_not_depend_on() {
    let cases = [
        (Want::Latest, "f", "f"),
        (Want::Latest, "B", "fb"),
        (Want::Latest, "A", "fba"),
        (Want::Latest, "W", "fbawc"),
        (Want::Latest, "w", "fbawu"),
        (Want::Unfinished, "", "fbawu"),
        (Want::Resumable, "H", "fbh"),
        (Want::Resumable, "", "fbhxpqu"),
    ];
    for (want, there, asked) in cases {
        assert_eq!(chosen(want, there).1, asked, "{want:?} of {there:?}");
    }
}
