//! The starter definition of `leftoff workflow new`.

use model::id::Name;

const TEMPLATE: &str = include_str!("template.toml");
/// The placeholder for the workflow's name in the template.
const NAME_IN_TEMPLATE: &str = "your-workflow";
const TITLE_IN_TEMPLATE: &str = "Your workflow";

/// A commented starter without mistakes that runs as it is.
pub fn template(name: &Name) -> String {
    TEMPLATE.replace(NAME_IN_TEMPLATE, name.as_str()).replace(TITLE_IN_TEMPLATE, &title(name))
}

/// A title from a name: "ship-it" becomes "Ship it".
fn title(name: &Name) -> String {
    let words = name.as_str().replace(['-', '_'], " ");
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest.trim_end()
}
