use super::*;

fn named(name: &str) -> Requirement {
    Requirement { enabled: true, ..Requirement::named(name) }
}

fn triggered(requirement: &Requirement, tool: &str, command: Option<&str>) -> bool {
    requirement.is_triggered_by(tool, command).0
}

#[test]
fn behaviour_7_what_only_reads_triggers_nothing() {
    let requirement = named("commit_plan");
    for tool in ["Edit", "Write", "MultiEdit"] {
        assert!(triggered(&requirement, tool, None));
    }
    for tool in ["Read", "Grep", "Bash", "edit", ""] {
        assert!(!triggered(&requirement, tool, None));
    }
}

#[test]
fn a_pattern_is_looked_for_in_the_command_whatever_its_case() {
    let pattern = |text: &str| Requirement {
        triggers: vec![Trigger { tool: "Bash".to_owned(), command_pattern: Some(text.to_owned()) }],
        ..named("pre_commit_review")
    };
    let commit = pattern(r"git\s+(commit|merge)");
    assert!(triggered(&commit, "Bash", Some("cd x && GIT  Commit -m y")));
    assert!(!triggered(&commit, "Bash", Some("git status")));
    assert!(!triggered(&commit, "Bash", None));
    assert!(!triggered(&commit, "Edit", Some("git commit")));
    let (is_triggered, wrong) = pattern("(unclosed").is_triggered_by("Bash", Some("x"));
    assert!(!is_triggered);
    assert!(wrong.expect("told").starts_with("requirements.pre_commit_review.trigger_tools: the pattern"));
    assert_eq!(pattern("(unclosed").is_triggered_by("Edit", Some("x")), (false, None), "not even looked at");
}

#[test]
fn r4_a_pattern_that_looks_around_is_run_and_not_dropped() {
    let requirement = Requirement {
        triggers: vec![Trigger {
            tool: "Bash".to_owned(),
            command_pattern: Some(r"git\s+commit(?!.*--amend)".to_owned()),
        }],
        ..named("pre_commit_review")
    };
    assert_eq!(requirement.is_triggered_by("Bash", Some("git commit -m x")), (true, None));
    assert_eq!(requirement.is_triggered_by("Bash", Some("git commit --amend")), (false, None));
    assert_eq!(requirement.wrong_triggers(), Vec::<String>::new());
}

#[test]
fn r8_tools_that_only_read_or_delegate_are_never_held_and_naming_one_is_told() {
    let free = ["Read", "Task", "NotebookEdit", "mcp__github__create_issue", "Grep", "WebFetch"];
    let requirement = Requirement { triggers: free.map(Trigger::tool).to_vec(), ..named("commit_plan") };
    for tool in free {
        assert!(!triggered(&requirement, tool, None), "{tool}");
    }
    let told = requirement.wrong_triggers();
    assert_eq!(told.len(), free.len());
    assert_eq!(
        told[0],
        "requirements.commit_plan.trigger_tools: Read is never blocked; this trigger is ignored"
    );
}

#[test]
fn r1_the_skill_that_is_shown_satisfies_when_it_has_run() {
    let shown =
        Requirement { auto_resolve_skill: Some("arch-review".to_owned()), ..named("architecture_reviewed") };
    let requirements = [shown, named("other")];
    for spelled in ["arch-review", "/arch-review", "requirements-framework:arch-review"] {
        let met: Vec<&str> =
            requirements_of_skill(spelled, &requirements).iter().map(|one| one.name.as_str()).collect();
        assert_eq!(met, ["architecture_reviewed"], "{spelled}");
    }
    assert!(requirements_of_skill("another", &requirements).is_empty());
}

#[test]
fn r9_pausing_and_resuming_are_known_by_their_command_line() {
    for own in [
        "req pause",
        "leftoff req resume --agent-session a4326893",
        "cd /repo && leftoff req pause",
        "/usr/local/bin/leftoff req pause --reason \"a break\"",
        "python3 ~/.claude/hooks/requirements-cli.py pause --session a4326893",
    ] {
        assert!(is_pause_or_resume(own), "{own}");
    }
    for other in [
        "",
        "leftoff req satisfy x",
        "req pause; rm -rf src",
        "req pause && make",
        "req pause & make",
        "echo req pause",
        "req pause > src/a.rs",
        "req pause $(make)",
        "cd /repo",
    ] {
        assert!(!is_pause_or_resume(other), "{other}");
    }
}

#[test]
fn a_command_that_satisfies_is_held_only_by_a_pattern_that_names_it() {
    let asks_of_all = Requirement { triggers: vec![Trigger::tool("Bash")], ..named("commit_plan") };
    assert!(triggered(&asks_of_all, "Bash", Some("make")));
    assert!(!triggered(&asks_of_all, "Bash", Some("leftoff req satisfy commit_plan")));
    let pattern = Trigger { tool: "Bash".to_owned(), command_pattern: Some("req satisfy".to_owned()) };
    let names_it = Requirement { triggers: vec![pattern], ..named("commit_plan") };
    assert!(triggered(&names_it, "Bash", Some("leftoff req satisfy commit_plan")));
}

#[test]
fn behaviour_19_plans_are_never_gated() {
    for plan in
        [".claude/plans/a.md", "docs/plans/x/b.md", "/home/a/.claude/plans/c.md", "/p/docs/plans/d.md"]
    {
        assert!(is_plan_file(plan), "{plan}");
    }
    for other in ["docs/plans", "docs/plansx/a", "src/a.rs", "xdocs/plans/a", "docs/plans/../../src/a.rs", ""]
    {
        assert!(!is_plan_file(other), "{other}");
    }
}

#[test]
fn behaviour_22_skills_satisfy_their_requirements_with_or_without_the_prefix() {
    let table: &[(&str, &[&str])] = &[
        ("arch-review", &["commit_plan", "adr_reviewed", "tdd_planned", "solid_reviewed"]),
        ("plan-review", &["commit_plan", "adr_reviewed", "tdd_planned", "solid_reviewed"]),
        ("writing-plans", &["commit_plan", "plan_written"]),
        ("pre-commit", &["pre_commit_review"]),
        ("requesting-code-review", &["pre_commit_review"]),
        ("deep-review", &["pre_pr_review"]),
        ("quality-check", &["pre_pr_review"]),
        ("v3-review", &["pre_pr_review"]),
        ("codex-review", &["codex_reviewer"]),
        ("brainstorming", &["design_approved"]),
        ("test-driven-development", &["tdd_planned"]),
        ("systematic-debugging", &["debugging_systematic"]),
        ("verification-before-completion", &["verification_evidence"]),
        ("something-else", &[]),
    ];
    let all = [
        "commit_plan",
        "adr_reviewed",
        "tdd_planned",
        "solid_reviewed",
        "plan_written",
        "pre_commit_review",
        "pre_pr_review",
        "codex_reviewer",
        "design_approved",
        "debugging_systematic",
        "verification_evidence",
    ];
    let requirements: Vec<Requirement> = all.into_iter().map(named).collect();
    for (skill, expected) in table {
        for spelled in [(*skill).to_owned(), format!("requirements-framework:{skill}"), format!("/{skill}")] {
            let met = requirements_of_skill(&spelled, &requirements);
            assert_eq!(met.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), *expected, "{spelled}");
        }
    }
    let own = [Requirement { skills: vec!["my:own-review".to_owned()], ..named("mine") }];
    assert_eq!(requirements_of_skill("my:own-review", &own).len(), 1, "the configuration extends the map");
}

#[test]
fn a_workflow_declares_what_satisfies_it() {
    let definition = model::workflow::RequirementDefinition {
        scope: Session,
        tools: vec!["Edit".to_owned()],
        satisfied_by: vec!["phase:plan".to_owned(), "skill:arch-review".to_owned()],
        message: Some("Plan first.".to_owned()),
    };
    let requirement = Requirement::declared("commit_plan", &definition);
    assert!(
        requirement.enabled
            && triggered(&requirement, "Edit", None)
            && !triggered(&requirement, "Write", None)
    );
    assert_eq!(
        (requirement.phases, requirement.skills),
        (vec!["plan".to_owned()], vec!["arch-review".to_owned()])
    );
}

/// A blocked agent is told the skill that satisfies the requirement, even if only the built-in list names
/// that skill.
#[test]
fn r1_the_skill_of_a_requirement_that_everybody_knows_is_told() {
    for (name, skill) in [
        ("commit_plan", Some("arch-review")),
        ("adr_reviewed", Some("arch-review")),
        ("tdd_planned", Some("arch-review")),
        ("solid_reviewed", Some("arch-review")),
        ("pre_commit_review", Some("pre-commit")),
        ("github_ticket", None),
    ] {
        assert_eq!(skill_to_run(&named(name)), skill, "{name}");
    }
    let own = Requirement { skills: vec!["/own".to_owned()], ..named("commit_plan") };
    assert_eq!(skill_to_run(&own), Some("own"));
    let of_phase = Requirement { phases: vec!["plan".to_owned()], ..named("commit_plan") };
    assert_eq!(skill_to_run(&of_phase), None);
}
