//! Tests of evidence and checks.

use super::{check_phase, only_mistake};

/// Puts lines into an otherwise valid check, starting at line 6.
#[track_caller]
fn check_gate(kind: &str, lines: &str, expected: &[(usize, &str)]) {
    check_phase(&format!("[[phase.check]]\nkind = \"{kind}\"\n{lines}\nid = \"c\""), expected);
}

#[test]
fn evidence() {
    check_phase(
        "[phase.evidence]\na = { type = \"integer\", required = true, describe = \"how many\" }\nb = { type = \"list\" }",
        &[],
    );
    check_phase(
        "[phase.evidence]\na = { required = true }\nb = { type = \"flaot\" }\nc = { type = \"string\", required = 1 }\nd = { type = \"string\", require = true }",
        &[
            (5, "an entry of evidence needs the key 'type'"),
            (6, "unknown type 'flaot'"),
            (7, "'required' must be true or false, not an integer"),
            (8, "unknown key 'require'; did you mean 'required'?"),
        ],
    );
    check_phase(
        "[phase.evidence]\na = \"integer\"\n'a b' = { type = \"string\" }",
        &[
            (5, "'a' must be a table, not a string"),
            (
                6,
                "'a b' cannot be the name of an entry of evidence: ' ' is not allowed in it; use letters, digits, '-' and '_'",
            ),
        ],
    );
}

#[test]
fn checks_have_an_id_and_a_known_kind() {
    check_phase(
        "[[phase.check]]\n[[phase.check]]\nid = \"a.b\"\nkind = \"exprr\"\n[[phase.check]]\nid = \"c\"\nkind = 1\nhelp = \"\"",
        &[
            (4, "a check needs the key 'id'"),
            (4, "a check needs the key 'kind'"),
            (6, "'a.b' cannot be a name in 'id': '.' is not allowed in it; use letters, digits, '-' and '_'"),
            (7, "unknown kind of check 'exprr'; did you mean 'expr'?"),
            (10, "'kind' must be a string, not an integer"),
            (11, "'help' must not be empty"),
        ],
    );
    let text = "name = \"w\"\n[[phase]]\nid = \"a\"\n[[phase.check]]\nid = \"c\"\nkind = \"zzz\"";
    assert_eq!(
        only_mistake(text).hint.as_deref(),
        Some("'kind' is one of: artifact, expr, command, git, items, approval")
    );
}

#[test]
fn ids_of_checks_are_unique_in_their_phase() {
    check_phase(
        "[[phase.check]]\nid = \"c\"\nkind = \"items\"\n[[phase.check]]\nid = \"c\"\nkind = \"items\"\n[[phase.check]]\nid = \"C\"\nkind = \"items\"\n[[phase]]\nid = \"b\"\n[[phase.check]]\nid = \"c\"\nkind = \"items\"",
        &[(8, "check 'c' is already on line 5"), (11, "check 'C' differs only in case from 'c' on line 5")],
    );
}

#[test]
fn artifact() {
    check_gate(
        "artifact",
        "path = \"{run}.md\"\nmatches = \"(?m)^x\"\nstale = \"ok\"\nhelp = \"write it\"",
        &[],
    );
    check_gate("artifact", "", &[(4, "a check of kind 'artifact' needs the key 'path'")]);
    check_gate(
        "artifact",
        "path = \"../x\"\nmatches = 1\nstale = \"never\"",
        &[
            (
                6,
                "'../x' cannot be a path in 'path': it contains '..'; paths must stay inside the session's workspace",
            ),
            (7, "'matches' must be a string, not an integer"),
            (8, "unknown stale 'never'"),
        ],
    );
    check_gate("artifact", "path = \"{x}\"", &[(6, "unknown placeholder 'x'")]);
}

#[test]
fn expr() {
    check_gate("expr", "expr = \"\"\"\n evidence.a\n == 1\"\"\"", &[]);
    check_gate("expr", "", &[(4, "a check of kind 'expr' needs the key 'expr'")]);
    check_gate("expr", "expr = true", &[(6, "'expr' must be a string, not a boolean")]);
    check_gate(
        "expr",
        "expr = \"true\"\nexpires = \"1h\"\nhelpp = \"x\"",
        &[
            (
                7,
                "unknown key 'expires': it belongs to a check of kind 'approval', but this one is of kind 'expr'",
            ),
            (8, "unknown key 'helpp'; did you mean 'help'?"),
        ],
    );
}

#[test]
fn command() {
    check_gate("command", "run = \"cargo test\"\ntimeout = \"30s\"", &[]);
    check_gate("command", "", &[(4, "a check of kind 'command' needs the key 'run'")]);
    check_gate(
        "command",
        "run = \"true \\u202e# harmless\"\ntimeout = \"10 m\"",
        &[
            (6, "'run' contains the character \\u{202e}; only printable text is allowed"),
            (7, "'timeout' must be a duration, not '10 m'"),
        ],
    );
    check_gate(
        "command",
        "run = \"true\\rfalse\"",
        &[(6, "'run' contains the character \\u{d}; only printable text is allowed")],
    );
}

#[test]
fn git() {
    check_gate("git", "clean = true", &[]);
    check_gate("git", "", &[(4, "a check of kind 'git' needs the key 'clean'")]);
    check_gate("git", "clean = \"yes\"", &[(6, "'clean' must be true or false, not a string")]);
}

#[test]
fn items() {
    check_gate("items", "help = \"do them\"", &[]);
    check_gate(
        "items",
        "path = \"x\"",
        &[(
            6,
            "unknown key 'path': it belongs to a check of kind 'artifact', but this one is of kind 'items'",
        )],
    );
}

#[test]
fn approval() {
    check_gate("approval", "", &[]);
    check_gate("approval", "expires = \"7d\"", &[]);
    for (duration, problem) in [
        ("\"0h\"", "'expires' must be longer than 0"),
        ("\"3651d\"", "'expires' must be at most 3650d, not '3651d'"),
        ("\"99999999999999999999999s\"", "'expires' must be at most 3650d, not '99999999999999999999999s'"),
        ("\"h\"", "'expires' must be a duration, not 'h'"),
        ("\"1w\"", "'expires' must be a duration, not '1w'"),
        ("\"-1h\"", "'expires' must be a duration, not '-1h'"),
        ("\"1h30m\"", "'expires' must be a duration, not '1h30m'"),
        ("\"1ß\"", "'expires' must be a duration, not '1ß'"),
        ("\"\"", "'expires' must be a duration, not ''"),
        ("24", "'expires' must be a string, not an integer"),
    ] {
        check_gate("approval", &format!("expires = {duration}"), &[(6, problem)]);
    }
}
