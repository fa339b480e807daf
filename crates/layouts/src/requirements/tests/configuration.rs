use super::*;
use crate::reading::Reading;

fn read_files(files: &[(&str, &str)]) -> Reading<Settings> {
    let sources: Vec<Source<'_>> = files.iter().map(|(path, text)| Source { path, text }).collect();
    read(&sources)
}

fn clean(files: &[(&str, &str)]) -> Settings {
    let reading = read_files(files);
    assert_eq!(reading.warnings, []);
    reading.value
}

fn one<'a>(settings: &'a Settings, name: &str) -> &'a Requirement {
    settings.requirements.iter().find(|one| one.name == name).expect("it is there")
}

const USER: &str = "
requirements:
  commit_plan:
    enabled: true
    scope: session
    trigger_tools: [Edit, Write]
    message: Plan first
    approval_ttl: 60
  github_ticket:
    enabled: true
    scope: branch
hooks:
  stop: {verify_scopes: [session, branch]}
";

#[test]
fn behaviour_8_no_configuration_asks_for_nothing() {
    for files in [&[][..], &[("p", "")], &[("p", "# only words\n")], &[("p", "---\n")]] {
        let settings = clean(files);
        assert_eq!(settings, Settings::default());
    }
}

#[test]
fn later_files_are_merged_key_by_key_and_lists_replace() {
    let project = "requirements: {commit_plan: {trigger_tools: [Bash], message: Mine}}";
    let local =
        "requirements: {github_ticket: {enabled: false}}\nhooks: {session_end: {clear_session_state: yes}}";
    let settings = clean(&[("user", USER), ("project", project), ("local", local)]);
    let plan = one(&settings, "commit_plan");
    assert_eq!(plan.triggers, [Trigger::tool("Bash")]);
    assert_eq!((plan.message.as_deref(), plan.approval_ttl, plan.enabled), (Some("Mine"), 60, true));
    assert!(!one(&settings, "github_ticket").enabled);
    assert_eq!(settings.stop.verify_scopes, [Session, Branch]);
    assert!(settings.clear_session_state);
}

#[test]
fn a_file_that_inherits_nothing_replaces() {
    let project = "inherit: false\nrequirements: {own: {enabled: true}}";
    let settings = clean(&[("user", USER), ("project", project)]);
    assert_eq!(settings.requirements.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["own"]);
    assert_eq!(settings.stop.verify_scopes, [Session]);
}

#[test]
fn switched_off_asks_for_nothing() {
    assert_eq!(clean(&[("user", USER), ("project", "enabled: false")]).requirements, []);
    let settings = clean(&[("p", "requirements: {commit_plan: {scope: session}}")]);
    assert!(!one(&settings, "commit_plan").enabled, "nothing is on unless it says so");
}

#[test]
fn every_kind_and_every_key_is_read() {
    let settings = clean(&[(
        "p",
        r"
requirements:
  pre_commit_review:
    enabled: true
    scope: single_use
    trigger_tools: [{tool: Bash, command_pattern: 'git\s+commit'}, Edit]
    satisfied_by_skill: [pre-commit, other]
    auto_resolve_skill: pre-commit
    checklist: [One, Two]
  branch_size:
    enabled: true
    type: dynamic
    calculator: branch_size_calculator
    thresholds: {warn: 250, block: 400}
    cache_ttl: 30
  protected:
    enabled: true
    type: guard
    guard_type: protected_branch
    protected_branches: [trunk]
  usual: {enabled: true, type: guard, guard_type: protected_branch}
  alone: {enabled: true, type: guard, guard_type: single_session}
  done: {enabled: true, stop_only: true, satisfied_by_skill: verify}
hooks:
  session_start: {inject_context: false, carry_over: {enabled: true, window_seconds: 20, scopes: [session, branch]}}
  stop: {verify_requirements: false}
",
    )]);
    let review = one(&settings, "pre_commit_review");
    assert_eq!(review.scope, SingleUse);
    assert_eq!(review.triggers[0].command_pattern.as_deref(), Some(r"git\s+commit"));
    assert_eq!((review.skills.len(), review.checklist.len()), (2, 2));
    assert_eq!(
        one(&settings, "branch_size").kind,
        RequirementKind::Dynamic(Limits { warn: Some(250), block: 400, cache_ttl: 30 })
    );
    assert_eq!(
        one(&settings, "protected").kind,
        RequirementKind::Guard(Guard::ProtectedBranch(vec!["trunk".to_owned()]))
    );
    let usual = vec!["master".to_owned(), "main".to_owned()];
    assert_eq!(one(&settings, "usual").kind, RequirementKind::Guard(Guard::ProtectedBranch(usual)));
    assert_eq!(one(&settings, "alone").kind, RequirementKind::Guard(Guard::SingleSession));
    assert!(one(&settings, "done").stop_only);
    let carry_over = settings.carry_over.expect("it is on");
    assert_eq!((carry_over.window_seconds, carry_over.scopes), (20, vec![Session, Branch]));
    assert!(!settings.inject_context && !settings.stop.verify_requirements);
}

#[test]
fn behaviour_14_carry_over_is_off_unless_it_is_set() {
    assert_eq!(clean(&[("u", USER)]).carry_over, None);
    let on = clean(&[("p", "hooks: {session_start: {carry_over: {enabled: true}}}")]);
    assert_eq!(on.carry_over, Some(CarryOver { window_seconds: 300, scopes: vec![Session] }));
}

#[test]
fn a_mistake_names_its_file_and_key_and_holds_nobody() {
    for (text, key) in [
        (
            "requirements: {a: {enabled: true, scope: sesion}}",
            "requirements.a.scope: \"sesion\" is not one of session",
        ),
        ("requirements: {a: {enabled: maybe}}", "requirements.a.enabled: \"maybe\" is not true or false"),
        (
            "requirements: {a: {enabled: true, trigger_tools: Edit}}",
            "requirements.a.trigger_tools: \"Edit\" is not a list",
        ),
        ("requirements: {a: {enabled: true, trigger_tools: [{tool: 3}]}}", "requirements.a.trigger_tools:"),
        (
            "requirements: {a: {enabled: true, approval_ttl: -1}}",
            "requirements.a.approval_ttl: -1 is not a number",
        ),
        ("requirements: {a: {enabled: true, message: [x]}}", "requirements.a.message:"),
        ("requirements: {a: [x]}", "requirements.a: [\"x\"] is not a table"),
        (
            "requirements: {a: {enabled: true, type: dynamic, thresholds: {block: 4}}}",
            "requirements.a.calculator: it is missing",
        ),
        (
            "requirements: {a: {enabled: true, type: dynamic, calculator: x, thresholds: {block: 4}}}",
            "requirements.a.calculator: \"x\" is unknown",
        ),
        (
            "requirements: {a: {enabled: true, type: dynamic, calculator: branch_size, thresholds: {warn: 4}}}",
            "requirements.a.thresholds.block: it is missing",
        ),
        (
            "requirements: {a: {enabled: true, type: dynamic, calculator: branch_size, thresholds: {block: x}}}",
            "requirements.a.thresholds:",
        ),
        ("requirements: {a: {enabled: true, type: guard}}", "requirements.a.guard_type: it is missing"),
        ("requirements: [a]", "requirements: [\"a\"] is not a table"),
        ("hooks: {stop: {verify_scopes: 3}}", "hooks.stop.verify_scopes: 3 is not a list"),
        ("just words", "it is not a table of settings"),
        ("a: [1, 2", "it is not valid YAML"),
        ("a: b: c", "it is not valid YAML"),
        ("\"unclosed", "it is not valid YAML"),
    ] {
        let reading = read_files(&[("/p/.claude/requirements.yaml", text)]);
        assert_eq!(reading.warnings.len(), 1, "{text}: {:?}", reading.warnings);
        assert_eq!(reading.warnings[0].path, "/p/.claude/requirements.yaml");
        assert!(reading.warnings[0].to_string().starts_with(key), "{text}: {}", reading.warnings[0]);
        assert!(!reading.value.requirements.iter().any(|one| one.enabled), "{text}");
    }
}

#[test]
fn a_broken_file_hides_no_good_one() {
    let reading =
        read_files(&[("user", USER), ("project", "{{{{"), ("local", "requirements: {own: {enabled: true}}")]);
    assert_eq!(reading.warnings.len(), 1);
    assert_eq!(reading.warnings[0].path, "project");
    assert_eq!(reading.value.requirements.iter().filter(|one| one.enabled).count(), 3);
}

#[test]
fn the_order_of_the_files_is_the_order_of_the_requirements() {
    let settings =
        clean(&[("p", "requirements: {z: {enabled: true}, a: {enabled: true}, m: {enabled: true}}")]);
    assert_eq!(
        settings.requirements.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        ["z", "a", "m"]
    );
}

#[test]
fn half_a_configuration_is_read_as_far_as_it_goes_and_never_asks_for_more() {
    for (end, _) in USER.char_indices() {
        let asked: Vec<String> = read_files(&[("p", &USER[..end])])
            .value
            .requirements
            .into_iter()
            .filter(|one| one.enabled)
            .map(|one| one.name)
            .collect();
        let known = ["commit_plan", "github_ticket"];
        assert!(asked.iter().all(|name| known.contains(&name.as_str())), "{}: {asked:?}", &USER[..end]);
    }
}

#[test]
fn r8_a_truth_in_quotes_is_a_text() {
    let enabled = |word: &str| {
        let text = format!("requirements: {{a: {{enabled: {word}}}}}");
        let reading = read(&[Source { path: "requirements.yaml", text: &text }]);
        (reading.value.requirements[0].enabled, reading.warnings.len())
    };
    for word in ["yes", "on", "true", "True"] {
        assert_eq!(enabled(word), (true, 0), "{word}");
    }
    for word in ["\"yes\"", "'true'", "\"on\""] {
        assert_eq!(enabled(word), (false, 1), "{word}");
    }
}
