//! The glossary contains every noun of the layout contract.

use crate::root;
use std::collections::BTreeSet;
use std::fs;

/// The types that the contract's file declares or re-exports.
fn nouns(source: &str) -> BTreeSet<String> {
    let is_named = |line: &&str| line.starts_with("pub use crate::") || line.starts_with("use crate::");
    let named = source.lines().filter(is_named).flat_map(|line| {
        let names = line.rsplit("::").next().unwrap_or_default();
        names.split(['{', '}', ',', ';']).map(str::trim)
    });
    let is_declared =
        |line: &&str| ["pub trait ", "pub struct ", "pub enum "].iter().any(|word| line.starts_with(word));
    let declared = source.lines().filter(is_declared).filter_map(|line| {
        line.split_whitespace().nth(2)?.split(|letter: char| !letter.is_alphanumeric()).next()
    });
    let is_type = |name: &&str| name.starts_with(char::is_uppercase);
    named.chain(declared).filter(is_type).map(ToOwned::to_owned).collect()
}

/// The name of a type as words: `FileRules` becomes `file rules`.
fn words(noun: &str) -> String {
    let mut words = String::new();
    for letter in noun.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words.replace("file op", "file operation")
}

fn is_told(glossary: &str, noun: &str) -> bool {
    let words = words(noun);
    let one = words.strip_suffix("ies").map_or_else(
        || words.strip_suffix('s').unwrap_or(&words).to_owned(),
        |beginning| format!("{beginning}y"),
    );
    [&words, &one].iter().any(|word| {
        glossary.contains(&format!("| **{word}**")) || glossary.contains(&format!("| **{word} ("))
    })
}

#[test]
fn every_noun_of_the_contract_is_in_the_glossary() {
    let source = fs::read_to_string(root().join("crates/layouts/src/layout.rs")).unwrap();
    let glossary = fs::read_to_string(root().join("docs/concepts/glossary.md")).unwrap();
    let nouns = nouns(&source);
    assert!(nouns.contains("Spot") && nouns.contains("Capabilities") && nouns.contains("Tree"), "{nouns:?}");
    let missing: Vec<&String> = nouns.iter().filter(|noun| !is_told(&glossary, noun)).collect();
    assert!(missing.is_empty(), "not in docs/concepts/glossary.md: {missing:?}");
    assert!(!is_told(&glossary, "NeverHeardOf"));
}
