//! The built-in workflows, as the text of their definitions. They are read like any other definition.

/// A definition compiled into the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    pub name: &'static str,
    pub text: &'static str,
}

const ALL: &[Builtin] = &[
    Builtin { name: "plan-implement-review", text: include_str!("builtin/plan-implement-review.toml") },
    Builtin { name: "spec", text: include_str!("builtin/spec.toml") },
    Builtin { name: "review", text: include_str!("builtin/review.toml") },
    Builtin { name: "map", text: include_str!("builtin/map.toml") },
    Builtin { name: "essay", text: include_str!("builtin/essay.toml") },
    Builtin { name: "ccw", text: include_str!("builtin/ccw.toml") },
];

pub fn all() -> &'static [Builtin] {
    ALL
}

pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}
