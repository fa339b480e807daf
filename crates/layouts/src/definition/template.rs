//! The template from which `leftoff workflow new` creates a definition.

use model::id::Name;

const TEMPLATE: &str = include_str!("template.toml");
/// The placeholder for the name of the workflow in the template.
const NAME_IN_TEMPLATE: &str = "your-workflow";
const TITLE_IN_TEMPLATE: &str = "Your workflow";

/// A definition for a new workflow, with comments. It has no mistakes, and can be used unchanged.
pub fn template(name: &Name) -> String {
    TEMPLATE.replace(NAME_IN_TEMPLATE, name.as_str()).replace(TITLE_IN_TEMPLATE, &title(name))
}

/// A title made from a name: "ship-it" becomes "Ship it".
fn title(name: &Name) -> String {
    let words = name.as_str().replace(['-', '_'], " ");
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest.trim_end()
}
