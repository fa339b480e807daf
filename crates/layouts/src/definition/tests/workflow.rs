//! Tests of the top-level keys of a definition, including fields and requirements.

use super::{check, check_after, only_mistake, read};

const PHASE: &str = "[[phase]]\nid = \"a\"\n";

#[test]
fn syntax() {
    check("name = ", &[(1, "this is not TOML: string values must be quoted, expected literal string")]);
    check("name = \"w\"\nname = \"x\"\n", &[(2, "this is not TOML: duplicate key")]);
}

#[test]
fn names_and_titles() {
    check(PHASE, &[(1, "a workflow needs the key 'name'")]);
    check(&format!("name = 3\n{PHASE}"), &[(1, "'name' must be a string, not an integer")]);
    check(
        &format!("name = \"a b\"\n{PHASE}"),
        &[(
            1,
            "'a b' cannot be a name in 'name': ' ' is not allowed in it; use letters, digits, '-' and '_'",
        )],
    );
    check(
        &format!("name = \"../x\"\n{PHASE}"),
        &[(
            1,
            "'../x' cannot be a name in 'name': '.' is not allowed in it; use letters, digits, '-' and '_'",
        )],
    );
    check(&format!("name = \"w\"\ntitle = \" \"\n{PHASE}"), &[(2, "'title' must not be empty")]);
    check(
        &format!("name = \"w\"\ntitle = \"a\\u001b[2Jb\"\n{PHASE}"),
        &[(2, "'title' contains the character \\u{1b}; only printable text is allowed")],
    );
    check(
        &format!("name = \"w\"\ntitle = \"two\\nlines\"\n{PHASE}"),
        &[(2, "'title' contains the character \\u{a}; only printable text is allowed")],
    );
}

#[test]
fn versions() {
    check(
        &format!("name = \"w\"\nversion = 1.5\n{PHASE}"),
        &[(2, "'version' must be a string, not a number with a decimal point")],
    );
    check(
        &format!("name = \"w\"\nversion = 99999999999999999999\n{PHASE}"),
        &[(2, "99999999999999999999 does not fit into 64 bits")],
    );
}

#[test]
fn choices_and_flags() {
    check(
        &format!("name = \"w\"\nindexing = \"oen\"\non_complete = \"leave\"\nkeep_going = \"no\"\n{PHASE}"),
        &[
            (2, "unknown indexing 'oen'; did you mean 'one'?"),
            (3, "unknown on_complete 'leave'"),
            (4, "'keep_going' must be true or false, not a string"),
        ],
    );
    let hint = only_mistake(&format!("name = \"w\"\nindexing = \"three\"\n{PHASE}")).hint;
    assert_eq!(hint.as_deref(), Some("'indexing' is one of: one, zero"));
}

#[test]
fn unknown_keys() {
    check(
        &format!("name = \"w\"\ntitel = \"W\"\ncolour = 1\n{PHASE}[phases]\n"),
        &[
            (2, "unknown key 'titel'; did you mean 'title'?"),
            (3, "unknown key 'colour'"),
            (6, "unknown key 'phases'; did you mean 'phase'?"),
        ],
    );
    let hint = only_mistake(&format!("name = \"w\"\ncolour = 1\n{PHASE}")).hint;
    assert_eq!(
        hint.as_deref(),
        Some(
            "the keys of a workflow: name, version, title, indexing, on_complete, keep_going, hold_at_stop, phase, fields, requirement"
        )
    );
}

#[test]
fn a_key_that_would_upset_a_terminal_is_escaped_and_cut() {
    let long = "x".repeat(70);
    check(
        &format!("name = \"w\"\n\"a\\u001bb\" = 1\n{long} = 1\n{PHASE}"),
        &[(2, "unknown key 'a\\u{1b}b'"), (3, &format!("unknown key '{}…'", "x".repeat(60)))],
    );
}

#[test]
fn several_mistakes_come_in_the_order_of_the_text() {
    let text = "version = true\ntitel = \"W\"\n[[phase]]\nid = \"a\"\nstrict = 1\n[[phase]]\ntitle = \"B\"\n[fields]\nx = { type = \"text\" }\n";
    check(
        text,
        &[
            (1, "a workflow needs the key 'name'"),
            (1, "'version' must be a string, not a boolean"),
            (2, "unknown key 'titel'; did you mean 'title'?"),
            (5, "'strict' must be true or false, not an integer"),
            (6, "a phase needs the key 'id'"),
            (9, "unknown type 'text'"),
        ],
    );
}

#[test]
fn columns_count_characters_from_one() {
    let mistake = only_mistake(&format!("name = \"w\"\n{PHASE}purpose = \"ä\"\n'ü' = 1\n"));
    assert_eq!((mistake.line, mistake.column), (5, 1));
    let mistake =
        only_mistake(&format!("name = \"w\"\n{PHASE}check = [{{ id = \"ä\", kind = \"items\" }}]\n"));
    assert_eq!((mistake.line, mistake.column), (4, 17));
    let mistake =
        only_mistake(&format!("name = \"w\"\n{PHASE}check = [{{ help = \"ää\", id = \"b\", kind = 1 }}]\n"));
    assert_eq!((mistake.line, mistake.column), (4, 42));
    assert_eq!(mistake.to_string(), "4:42: 'kind' must be a string, not an integer");
}

#[test]
fn fields() {
    check_after(
        "[fields]\nx = \"string\"\n'a b' = { type = \"strin\" }\ny = { one_of = [1] }\nz = { type = \"integr\", describ = \"\" }",
        &[
            (5, "'x' must be a table, not a string"),
            (
                6,
                "'a b' cannot be the name of a field: ' ' is not allowed in it; use letters, digits, '-' and '_'",
            ),
            (6, "unknown type 'strin'; did you mean 'string'?"),
            (7, "a field needs the key 'type'"),
            (8, "unknown type 'integr'; did you mean 'integer'?"),
            (8, "unknown key 'describ'; did you mean 'describe'?"),
        ],
    );
    check(
        &format!(
            "name = \"w\"
fields = 1
requirement = []
{PHASE}"
        ),
        &[
            (2, "'fields' must be a table, not an integer"),
            (3, "'requirement' must be a table, not an array"),
        ],
    );
}

#[test]
fn values_of_fields_have_the_type_of_the_field() {
    check_after(
        "[fields]\na = { type = \"integer\", default = 1.5 }\nb = { type = \"string\", one_of = [\"x\", 2] }\nc = { type = \"boolean\", default = \"yes\" }\nd = { type = \"list\", default = {} }\ne = { type = \"object\", default = [] }\nf = { type = \"number\", default = true }",
        &[
            (5, "'default' must be of type 'integer', not a number with a decimal point"),
            (6, "a value of 'one_of' must be of type 'string', not an integer"),
            (7, "'default' must be of type 'boolean', not a string"),
            (8, "'default' must be of type 'list', not a table"),
            (9, "'default' must be of type 'object', not an array"),
            (10, "'default' must be of type 'number', not a boolean"),
        ],
    );
    check_after(
        "[fields]\na = { type = \"number\", default = nan }\nb = { type = \"string\", default = 2026-01-01 }\nc = { type = \"integer\", one_of = [0xffffffffffffffff] }",
        &[
            (5, "nan cannot be written in JSON"),
            (6, "2026-01-01 is a date; write it as a string, in quotes"),
            (7, "0xffffffffffffffff does not fit into 64 bits"),
        ],
    );
}

#[test]
fn a_default_is_one_of_what_is_allowed() {
    check_after(
        "[fields]\na = { type = \"string\", one_of = [\"x\", \"y\"], default = \"z\" }\nb = { type = \"number\", one_of = [1, 2.5], default = 1.0 }\nc = { type = \"string\", one_of = [] }\nd = { type = \"number\", one_of = [1, 1.0] }\ne = { type = \"string\", one_of = \"x\" }",
        &[
            (5, "'default' is \"z\", which 'one_of' does not list"),
            (7, "'one_of' is empty, so no value could be set"),
            (8, "1.0 is listed twice in 'one_of'"),
            (9, "'one_of' must be an array, not a string"),
        ],
    );
}

#[test]
fn requirements() {
    check_after(
        "[requirement.r]\nscop = \"session\"",
        &[
            (4, "a requirement needs the key 'scope'"),
            (4, "a requirement needs the key 'tools'"),
            (5, "unknown key 'scop'; did you mean 'scope'?"),
        ],
    );
    check_after(
        "[requirement.r]\nscope = \"sesion\"\ntools = []\nmessage = \"\"",
        &[
            (5, "unknown scope 'sesion'; did you mean 'session'?"),
            (6, "'tools' is empty; name at least one tool"),
            (7, "'message' must not be empty"),
        ],
    );
    check_after(
        "[requirement.r]\nscope = \"branch\"\ntools = [\"Edit\", 1, \"Edit\", \"Write\"]",
        &[
            (6, "an entry of 'tools' must be a string, not an integer"),
            (6, "'Edit' is listed twice in 'tools'"),
        ],
    );
    check_after(
        "[requirement.r]\nscope = \"branch\"\ntools = [\"\"]",
        &[(6, "an entry of 'tools' must not be empty")],
    );
}

#[test]
fn what_satisfies_a_requirement_exists() {
    check_after(
        "[requirement.r]\nscope = \"single_use\"\ntools = [\"Edit\"]\nsatisfied_by = [\n\"phase:plan\",\n\"skill:arch-review\",\n\"phase:plam\",\n\"skill:\",\n\"skil:x\",\n\"plan\",\n]",
        &[
            (10, "unknown phase 'plam'; did you mean 'plan'?"),
            (11, "'skill:' names no skill"),
            (12, "unknown kind of source 'skil'; did you mean 'skill'?"),
            (13, "'plan' is neither a phase nor a skill"),
        ],
    );
}

#[test]
fn what_is_right_has_no_mistakes() {
    check_after(
        "[fields]\na = { type = \"integer\", one_of = [1, 2], default = 2, describe = \"two\\nlines\" }\nb = { type = \"object\", default = { x = [1, \"y\"] } }\n[requirement.r]\nscope = \"permanent\"\ntools = [\"Edit\"]\nsatisfied_by = [\"phase:plan\"]",
        &[],
    );
    assert!(read("name = \"w\"\r\n[[phase]]\r\nid = \"a\"\r\npurpose = \"\"\"a\r\nb\"\"\"\r\n").is_ok());
}
