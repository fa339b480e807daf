//! The definition that `leftoff workflow new` begins with.

use model::id::Name;

const TEMPLATE: &str = include_str!("template.toml");
/// What the template calls itself.
const NAME_IN_TEMPLATE: &str = "your-workflow";
const TITLE_IN_TEMPLATE: &str = "Your workflow";

/// A commented starter that reads without mistakes and can be walked through as it stands.
pub fn template(name: &Name) -> String {
    TEMPLATE.replace(NAME_IN_TEMPLATE, name.as_str()).replace(TITLE_IN_TEMPLATE, &title(name))
}

/// "ship-it" is read aloud as "Ship it".
fn title(name: &Name) -> String {
    let words = name.as_str().replace(['-', '_'], " ");
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest.trim_end()
}
