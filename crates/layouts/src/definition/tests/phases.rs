//! Tests of the rules for single phases, and for phases that refer to each other.

use super::{check, check_phase, only_mistake};

#[test]
fn there_is_at_least_one() {
    check("name = \"w\"", &[(1, "a workflow needs at least one phase")]);
    check("name = \"w\"\nphase = []", &[(2, "a workflow needs at least one phase")]);
    check("name = \"w\"\n[phase]\nid = \"a\"", &[(2, "'phase' must be a list of tables, not a table")]);
    let hint = only_mistake("name = \"w\"\n[phase]\nid = \"a\"").hint;
    assert_eq!(hint.as_deref(), Some("start each one with a line [[phase]]"));
    check("name = \"w\"\nphase = [1]", &[(2, "'phase' must be a table, not an integer")]);
}

#[test]
fn ids_are_names_and_unique() {
    check(
        "name = \"w\"\n[[phase]]\n[[phase]]\nid = \"a/b\"\n[[phase]]\nid = 4",
        &[
            (2, "a phase needs the key 'id'"),
            (4, "'a/b' cannot be a name in 'id': '/' is not allowed in it; use letters, digits, '-' and '_'"),
            (6, "'id' must be a string, not an integer"),
        ],
    );
    check(
        "name = \"w\"\n[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"PLAN\"",
        &[
            (5, "phase 'plan' is already on line 3"),
            (7, "phase 'PLAN' differs only in case from 'plan' on line 3"),
        ],
    );
}

#[test]
fn keys_have_their_types() {
    check_phase(
        "titel = \"A\"\nstrict = \"yes\"\npurpose = 1\nwhen = \"\"\nitems = \"a b\"\nproduces = \"x\"\nterminal = 0\nevidence = 1\ncheck = 2",
        &[
            (4, "unknown key 'titel'; did you mean 'title'?"),
            (5, "'strict' must be true or false, not a string"),
            (6, "'purpose' must be a string, not an integer"),
            (7, "'when' must not be empty"),
            (
                8,
                "'a b' cannot be a name in 'items': ' ' is not allowed in it; use letters, digits, '-' and '_'",
            ),
            (9, "'produces' must be an array, not a string"),
            (10, "'terminal' must be true or false, not an integer"),
            (11, "'evidence' must be a table, not an integer"),
            (12, "'check' must be a list of tables, not an integer"),
        ],
    );
}

#[test]
fn needs_name_earlier_phases() {
    check(
        "name = \"w\"\n[[phase]]\nid = \"plan\"\nneeds = [\"plan\"]\n[[phase]]\nid = \"build\"\nneeds = [\"review\", \"plam\"]\n[[phase]]\nid = \"review\"\nneeds = [\"plan\", \"build\", \"plan\"]\n[[phase]]\nid = \"ship\"\nneeds = \"review\"",
        &[
            (4, "phase 'plan' cannot need itself"),
            (7, "'needs' names 'review', which comes later"),
            (7, "unknown phase 'plam'; did you mean 'plan'?"),
            (10, "'plan' is listed twice in 'needs'"),
            (13, "'needs' must be an array, not a string"),
        ],
    );
    let hint =
        only_mistake("name = \"w\"\n[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\nneeds = [\"zzz\"]").hint;
    assert_eq!(hint.as_deref(), Some("earlier phases: a"));
    let hint = only_mistake("name = \"w\"\n[[phase]]\nid = \"a\"\nneeds = [\"zzz\"]").hint;
    assert_eq!(hint.as_deref(), Some("the first phase cannot need another"));
}

#[test]
fn a_bad_id_is_told_once_even_if_others_refer_to_it() {
    check(
        "name = \"w\"\n[[phase]]\nid = \"a b\"\n[[phase]]\nid = \"c\"\nneeds = [\"a b\"]\n[[phase]]\nid = \"d\"\n[requirement.r]\nscope = \"session\"\ntools = [\"Edit\"]\nsatisfied_by = [\"phase:a b\"]",
        &[(3, "'a b' cannot be a name in 'id': ' ' is not allowed in it; use letters, digits, '-' and '_'")],
    );
}

#[test]
fn only_the_last_phase_is_terminal() {
    check(
        "name = \"w\"\n[[phase]]\nid = \"a\"\nterminal = true\n[[phase]]\nid = \"b\"",
        &[(4, "only the last phase can be terminal: entering it completes the run")],
    );
    check_phase(
        "terminal = true",
        &[(4, "the only phase cannot be terminal: the run would end as soon as it starts")],
    );
    check(
        "name = \"w\"\n[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\nterminal = true\nwhen = \"true\"\nitems = \"task\"\n[phase.evidence]\nx = { type = \"string\" }\n[[phase.check]]\nid = \"c\"\nkind = \"items\"",
        &[
            (7, "a terminal phase cannot have 'when': entering it completes the run"),
            (8, "a terminal phase cannot have 'items': entering it completes the run"),
            (9, "a terminal phase cannot have 'evidence': entering it completes the run"),
            (11, "a terminal phase cannot have 'check': entering it completes the run"),
        ],
    );
    check("name = \"w\"\n[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\nterminal = true", &[]);
    check_phase("terminal = false", &[]);
}

#[test]
fn paths_stay_in_the_workspace() {
    let outside = "it contains '..'; paths must stay inside the session's workspace";
    let part = "it has an empty part or a part '.'; remove that part";
    let cases = [
        ("", "it is empty"),
        ("/etc/passwd", "it starts with '/'; paths are relative to the session's workspace"),
        ("..", outside),
        ("a/../b", outside),
        ("a\\\\b", "it contains '\\'; separate parts with '/'"),
        ("a\\u0000b", "it contains a control character"),
        ("a\\nb", "it contains a control character"),
        ("a//b", part),
        ("./a", part),
        ("a/", part),
    ];
    for (path, problem) in cases {
        let message =
            only_mistake(&format!("name = \"w\"\n[[phase]]\nid = \"a\"\nproduces = [\"{path}\"]")).message;
        assert!(message.ends_with(&format!("cannot be a path in 'produces': {problem}")), "{message}");
    }
    check_phase("produces = [\"a..b/..c/PLAN.md\", \"ü/x y.md\"]", &[]);
}

#[test]
fn placeholders_are_known() {
    check_phase("produces = [\"rounds/round-{run}/{item}-{item}.md\"]", &[]);
    check_phase(
        "produces = [\n\"a-{rum}.md\",\n\"{}\",\n\"a{run\",\n\"a}b\",\n\"{{run}}\",\n]",
        &[
            (5, "unknown placeholder 'rum'; did you mean 'run'?"),
            (6, "unknown placeholder ''"),
            (7, "'a{run' has an unmatched brace"),
            (8, "'a}b' has an unmatched brace"),
            (9, "unknown placeholder '{run'; did you mean 'run'?"),
        ],
    );
}
