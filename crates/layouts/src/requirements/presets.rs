//! Configurations to start with. They have the names that the original framework uses, but leftoff's own
//! wording.

/// The names of these configurations, and their YAML.
const PRESETS: [(&str, &str); 5] = [
    ("strict", include_str!("presets/strict.yaml")),
    ("relaxed", include_str!("presets/relaxed.yaml")),
    ("minimal", include_str!("presets/minimal.yaml")),
    ("advanced", include_str!("presets/advanced.yaml")),
    ("inherit", include_str!("presets/inherit.yaml")),
];

pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::{Source, read};

    #[test]
    fn r10_every_preset_reads_without_a_warning() {
        let enabled = |name: &str| {
            let text = preset(name).expect("a preset");
            let reading = read(&[Source { path: name, text }]);
            assert_eq!(reading.warnings, [], "{name}");
            let on = reading.value.requirements.into_iter().filter(|one| one.enabled);
            on.map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(enabled("strict"), ["commit_plan", "protected_branch"]);
        assert_eq!(enabled("relaxed"), ["commit_plan"]);
        assert_eq!(enabled("minimal"), Vec::<String>::new());
        assert_eq!(enabled("inherit"), Vec::<String>::new());
        assert_eq!(
            enabled("advanced"),
            [
                "commit_plan",
                "adr_reviewed",
                "protected_branch",
                "branch_size_limit",
                "pre_commit_review",
                "pre_pr_review"
            ]
        );
        assert_eq!(preset("other"), None);
        assert_eq!(preset_names().count(), 5);
    }
}
