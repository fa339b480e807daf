//! Tests hooks before and after tools, and when an agent stops.

use super::*;

const PLAN: &str = "
requirements:
  commit_plan: {enabled: true, message: Plan first., auto_resolve_skill: arch-review}
";
const GUARD: &str = "requirements: {protected: {enabled: true, type: guard, guard_type: protected_branch}}";
const TWO: &str = "
requirements:
  commit_plan: {enabled: true}
  adr_reviewed: {enabled: true}
";

#[test]
fn behaviour_2_what_one_agent_session_satisfied_another_still_needs() {
    let place = Place::with(PLAN);
    place.satisfy(ANNA, &["commit_plan"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    denied(place.edit(BEN));
}

#[test]
fn behaviour_3_branch_scope_is_for_every_agent_session_of_that_branch_and_no_other_branch() {
    let place = Place::with("requirements: {github_ticket: {enabled: true, scope: branch}}");
    denied(place.edit(ANNA));
    place.satisfy(ANNA, &["github_ticket"]);
    assert_eq!(place.edit(BEN), Verdict::Allow);
    place.check_out("other");
    denied(place.edit(BEN));
}

#[test]
fn behaviour_4_an_override_for_the_branch_expires() {
    let place = Place::with(PLAN);
    let request = SatisfyRequest {
        names: vec!["commit_plan".to_owned()],
        for_the_branch: true,
        ttl_seconds: Some(60),
        ..SatisfyRequest::default()
    };
    place.engine().satisfy_requirements(&request).expect("satisfied, for nobody in particular");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.edit(BEN), Verdict::Allow);
    place.pass(60);
    denied(place.edit(ANNA));
}

#[test]
fn behaviour_5_triggered_is_marked_only_when_the_tool_is_allowed() {
    let place = Place::with(TWO);
    place.satisfy(ANNA, &["commit_plan"]);
    denied(place.edit(ANNA));
    let triggered = |name: &str| {
        place.state("feature-auth")["requirements"][name]["sessions"]["a4326893"]["triggered"].clone()
    };
    assert_eq!(triggered("commit_plan"), Value::Null);
    place.satisfy(ANNA, &["adr_reviewed"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!((triggered("commit_plan"), triggered("adr_reviewed")), (true.into(), true.into()));
    let first =
        place.state("feature-auth")["requirements"]["commit_plan"]["sessions"]["a4326893"]["triggered_at"]
            .clone();
    place.pass(100);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    let again =
        place.state("feature-auth")["requirements"]["commit_plan"]["sessions"]["a4326893"]["triggered_at"]
            .clone();
    assert_eq!(first, again);
}

#[test]
fn behaviour_6_an_edit_is_held_until_it_is_satisfied_and_one_denial_names_all() {
    let place = Place::with(TWO);
    let message = denied(place.edit(ANNA));
    assert!(message.contains("commit_plan") && message.contains("adr_reviewed"), "{message}");
    assert!(
        message.contains("leftoff req satisfy commit_plan adr_reviewed --agent-session a4326893"),
        "{message}"
    );
    place.satisfy("a4326893", &["commit_plan", "adr_reviewed"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
}

#[test]
fn behaviour_7_reading_is_never_held_and_leaves_no_trace() {
    let place = Place::with(TWO);
    assert_eq!(place.uses(ANNA, "Read", None, &["src/a.rs"]), Verdict::Allow);
    assert!(!place.root().join(".git/requirements").exists());
}

#[test]
fn r8_tools_that_only_read_or_delegate_are_not_held_even_where_they_are_named() {
    let place = Place::with(
        "requirements: {a: {enabled: true, trigger_tools: [Read, Task, NotebookEdit, mcp__x__y, Edit]}}",
    );
    for tool in ["Read", "Task", "NotebookEdit", "mcp__x__y"] {
        assert_eq!(place.uses(ANNA, tool, None, &["src/a.rs"]), Verdict::Allow, "{tool}");
    }
    denied(place.edit(ANNA));
}

#[test]
fn r1_the_skill_that_a_denial_names_satisfies_it() {
    let place = Place::with(
        "requirements: {architecture_reviewed: {enabled: true, scope: branch, auto_resolve_skill: arch-review}}",
    );
    assert!(denied(place.edit(ANNA)).contains("Run /arch-review"));
    assert_eq!(place.skill(ANNA, "arch-review"), ["architecture_reviewed"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.edit(BEN), Verdict::Allow, "once for the branch");
}

#[test]
fn behaviour_8_no_configuration_holds_nobody_and_leaves_no_trace() {
    let place = Place::with("");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.used(ANNA, "Edit", None, Some("arch-review"), None), Vec::<String>::new());
    assert_eq!(place.stops(ANNA), None);
    assert_eq!(place.starts(ANNA, "startup"), Opening::default());
    assert!(!place.root().join(".git/requirements").exists());
    assert!(!place.home().join(".claude/sessions.json").exists());
}

#[test]
fn behaviour_9_a_stop_is_held_by_what_was_triggered_and_is_not_satisfied() {
    let place = Place::with(PLAN);
    assert_eq!(place.stops(ANNA), None, "nothing was triggered");
    place.satisfy(ANNA, &["commit_plan"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None, "it is satisfied");
    let until = SatisfyRequest {
        names: vec!["commit_plan".to_owned()],
        agent_session: Some(ANNA.to_owned()),
        ttl_seconds: Some(60),
        ..SatisfyRequest::default()
    };
    place.engine().satisfy_requirements(&until).expect("satisfied, for a while");
    place.pass(60);
    let held = place.stops(ANNA).expect("held");
    assert!(held.contains("commit_plan") && held.contains("Run /arch-review"), "{held}");
    assert_eq!(place.engine().at_stop(&claude(ANNA), true).answer, None, "never twice in a row");
    assert_eq!(place.stops(BEN), None, "it is another's");
}

#[test]
fn behaviour_9_only_the_scopes_that_are_verified_hold_a_stop() {
    let settings = "
requirements: {ticket: {enabled: true, scope: branch}}
hooks: {stop: {verify_scopes: [session]}}";
    let place = Place::with(settings);
    let until = SatisfyRequest {
        names: vec!["ticket".to_owned()],
        ttl_seconds: Some(60),
        ..SatisfyRequest::default()
    };
    place.engine().satisfy_requirements(&until).expect("satisfied, for a while");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.pass(60);
    assert_eq!(place.stops(ANNA), None);
    place.write(".claude/requirements.local.yaml", "hooks: {stop: {verify_scopes: [session, branch]}}");
    assert!(place.stops(ANNA).is_some());
    place.write(
        ".claude/requirements.local.yaml",
        "hooks: {stop: {verify_requirements: false, verify_scopes: [branch]}}",
    );
    assert_eq!(place.stops(ANNA), None);
}

#[test]
fn behaviour_10_stop_only_lets_the_edit_through_and_holds_the_stop() {
    let place = Place::with("requirements: {verified: {enabled: true, stop_only: true}}");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert!(place.stops(ANNA).expect("held").contains("verified"));
    place.satisfy(ANNA, &["verified"]);
    assert_eq!(place.stops(ANNA), None);
}

#[test]
fn behaviour_11_a_guard_at_stop_allows_a_feature_branch_and_holds_master() {
    let place = Place::with(GUARD);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
    place.check_out("master");
    let approve = |ttl: Option<u64>| {
        place.engine().approve_requirements(&["protected".to_owned()], Some(ANNA), ttl).expect("approved");
    };
    approve(Some(60));
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
    place.pass(60);
    assert!(place.stops(ANNA).expect("held: it was triggered").contains("protected"));
    assert_eq!(place.stops(BEN), None, "who only looked around goes");
    approve(None);
    assert_eq!(place.stops(ANNA), None);
}

#[test]
fn r5_a_guard_that_only_denied_holds_no_stop() {
    let place = Place::with(GUARD);
    place.check_out("master");
    assert!(denied(place.edit(ANNA)).contains("'master' is a protected branch"));
    assert_eq!(place.stops(ANNA), None, "nothing was done");
}

#[test]
fn r6_satisfying_what_is_measured_is_an_approval_for_a_while() {
    let settings = "requirements: {size: {enabled: true, type: dynamic, calculator: branch_size_calculator, thresholds: {block: 400}, approval_ttl: 30}}";
    let place = Place::with(settings);
    place.satisfy(ANNA, &["size"]);
    let entry = place.state("feature-auth")["requirements"]["size"]["sessions"]["a4326893"].clone();
    assert_eq!((&entry["satisfied_by"], &entry["expires_at"]), (&"approval".into(), &1_000_030.into()));
}

#[test]
fn r7_only_what_could_be_held_uses_a_single_use_up() {
    let settings = "requirements: {reviewed: {enabled: true, scope: single_use, trigger_tools: [Write]}}";
    let place = Place::with(settings);
    place.satisfy(ANNA, &["reviewed"]);
    let wrote = |file: &str| {
        let agent = claude(ANNA);
        let files = [file];
        let call = ToolCall {
            agent: &agent,
            tool: "Write",
            command: None,
            files: &files,
            skill: None,
            tool_use_id: None,
        };
        assert_eq!(place.engine().after_tool(&call).problems, Vec::<String>::new());
    };
    wrote("docs/plans/a.md");
    assert_eq!(place.uses(ANNA, "Write", None, &["src/a.rs"]), Verdict::Allow, "a plan is never held");
    wrote("src/a.rs");
    let sessions = place.state("feature-auth")["requirements"]["reviewed"]["sessions"].clone();
    assert_eq!(sessions, serde_json::json!({}), "the entry is gone");
    denied(place.uses(ANNA, "Write", None, &["src/a.rs"]));
}

#[test]
fn r7_clearing_clears_every_agent_session_and_what_was_triggered() {
    let place = Place::with(PLAN);
    for who in [ANNA, BEN] {
        place.satisfy(who, &["commit_plan"]);
        assert_eq!(place.edit(who), Verdict::Allow);
    }
    place.clear(None, "commit_plan");
    for who in [ANNA, BEN] {
        denied(place.edit(who));
        assert_eq!(place.stops(who), None);
    }
}

#[test]
fn r9_a_pause_is_the_marker_file_that_the_original_reads() {
    let place = Place::with(PLAN);
    let marker = place.root().join(".git/requirements/sessions/a4326893.paused");
    place.engine().pause_requirements(Some(ANNA), "lunch").expect("paused");
    assert_eq!(json(&marker)["reason"], "lunch");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.engine().resume_requirements(Some(ANNA)).expect("resumed");
    assert!(!marker.exists());
    denied(place.edit(ANNA));
    // The marker file counts, no matter what it contains.
    fs::write(&marker, "{broken").expect("a file");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    denied(place.edit(BEN));
    place.engine().at_end(&claude(ANNA));
    assert!(!marker.exists(), "the end of the session ends its pause");
}

#[test]
fn r9_the_command_that_pauses_is_never_held() {
    let place = Place::with(
        "requirements: {a: {enabled: true, trigger_tools: [{tool: Bash, command_pattern: '.'}]}}",
    );
    denied(place.bash(ANNA, "make"));
    assert_eq!(place.bash(ANNA, "req pause"), Verdict::Allow);
    assert_eq!(place.bash(ANNA, "leftoff req resume"), Verdict::Allow);
    place.pass(10);
    denied(place.bash(ANNA, "req pause && make"));
}

#[test]
fn r11_what_only_reminds_warns_and_never_holds() {
    let place = Place::with(
        "requirements: {changelog: {enabled: true, blocking: false, message: Say it in the changelog}}",
    );
    let Verdict::Warn(warning) = place.edit(ANNA) else { panic!("it reminds") };
    assert!(warning.contains("changelog: Say it in the changelog. It blocks nothing."), "{warning}");
    assert_eq!(place.stops(ANNA), None);
    assert!(place.engine().requirements().list(None, Some(ANNA)).expect("a list").requirements[0].advisory);
    place.satisfy(ANNA, &["changelog"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
}

#[test]
fn r11_a_view_across_agent_sessions_says_who_satisfied_what_when() {
    let place = Place::with(TWO);
    place.satisfy(ANNA, &["commit_plan"]);
    place.pass(10);
    place.satisfy(BEN, &["adr_reviewed"]);
    let sessions = place.engine().requirements().records(true).expect("records").sessions;
    let told: Vec<(&str, &str, Option<i64>)> = sessions
        .iter()
        .map(|one| {
            let record = &one.requirements[0];
            (
                one.agent_session.as_str(),
                record.requirement.as_str(),
                record.satisfied_at.map(Timestamp::as_second),
            )
        })
        .collect();
    assert_eq!(told, [(ANNA, "commit_plan", Some(1_000_000)), (BEN, "adr_reviewed", Some(1_000_010))]);
}

#[test]
fn behaviour_13_a_single_use_is_needed_again_after_what_it_guards() {
    let place = Place::with(
        r"requirements: {pre_commit_review: {enabled: true, scope: single_use, trigger_tools: [{tool: Bash, command_pattern: 'git\s+commit'}]}}",
    );
    denied(place.bash(ANNA, "git commit -m x"));
    assert_eq!(place.skill(ANNA, "requirements-framework:pre-commit"), ["pre_commit_review"]);
    assert_eq!(place.bash(ANNA, "git status"), Verdict::Allow);
    assert_eq!(place.bash(ANNA, "git commit -m x"), Verdict::Allow);
    place.used(ANNA, "Bash", Some("git status"), None, Some("1"));
    assert_eq!(place.bash(ANNA, "git commit -m x"), Verdict::Allow, "something else does not use it up");
    place.used(ANNA, "Bash", Some("git commit -m x"), None, Some("2"));
    place.pass(10);
    denied(place.bash(ANNA, "git commit -m y"));
    place.skill(ANNA, "pre-commit");
    place.used(ANNA, "Bash", Some("git commit -m x"), None, Some("2"));
    assert_eq!(place.bash(ANNA, "git commit -m y"), Verdict::Allow, "the same event again uses nothing up");
}

#[test]
fn behaviour_16_a_repeated_denial_is_told_in_short() {
    let place = Place::with(TWO);
    let first = denied(place.edit(ANNA));
    let second = denied(place.edit(ANNA));
    assert!(second.len() < first.len() && second.contains("commit_plan, adr_reviewed"), "{second}");
    place.satisfy(ANNA, &["commit_plan"]);
    let changed = denied(place.edit(ANNA));
    assert!(
        changed.contains("leftoff req satisfy adr_reviewed"),
        "a changed message is told again: {changed}"
    );
    place.pass(5);
    assert_eq!(denied(place.edit(ANNA)), changed);
}

#[test]
fn behaviour_17_a_pause_of_one_leaves_the_other_gated_and_ends_with_the_session() {
    let place = Place::with(PLAN);
    place.engine().pause_requirements(Some(ANNA), "manual").expect("paused");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
    denied(place.edit(BEN));
    assert!(place.engine().requirements().list(None, Some(ANNA)).expect("a list").paused);
    place.engine().at_end(&claude(ANNA));
    denied(place.edit(ANNA));
    place.engine().pause_requirements(Some(ANNA), "manual").expect("paused");
    place.engine().resume_requirements(Some(ANNA)).expect("resumed");
    denied(place.edit(ANNA));
}

#[test]
fn behaviour_19_plans_are_never_gated() {
    let place = Place::with(PLAN);
    let root = place.root();
    let absolute = root.join("docs/plans/x.md").display().to_string();
    let home = place.home().join(".claude/plans/y.md").display().to_string();
    for plan in [".claude/plans/a.md", "docs/plans/b.md", absolute.as_str(), home.as_str()] {
        assert_eq!(place.uses(ANNA, "Write", None, &[plan]), Verdict::Allow, "{plan}");
    }
    denied(place.uses(ANNA, "Write", None, &["docs/plans/../../src/a.rs"]));
    denied(place.uses(ANNA, "Write", None, &["docs/plans/a.md", "src/a.rs"]));
}

#[test]
fn behaviour_20_a_subfolder_has_the_same_gate_as_the_root() {
    let place = Place::with(PLAN);
    fs::create_dir_all(place.root().join("deep/down/.leftoff"))
        .expect("a folder with a project of ours in it");
    for folder in ["deep", "deep/down"] {
        let agent = claude(ANNA);
        let call = ToolCall {
            agent: &agent,
            tool: "Edit",
            command: None,
            files: &["a.rs"],
            skill: None,
            tool_use_id: None,
        };
        place.pass(10);
        let told = place.engine_in(folder, Intent::Query).before_tool(&call);
        denied(told.answer);
    }
}

#[test]
fn behaviour_22_a_skill_satisfies_what_is_its_own() {
    let place = Place::with(
        "
requirements:
  commit_plan: {enabled: true}
  adr_reviewed: {enabled: true}
  tdd_planned: {enabled: false}
  mine: {enabled: true, satisfied_by_skill: my-review}
",
    );
    assert_eq!(place.skill(ANNA, "arch-review"), ["commit_plan", "adr_reviewed"]);
    let message = denied(place.edit(ANNA));
    assert!(message.contains("mine") && !message.contains("commit_plan"), "{message}");
    assert_eq!(place.skill(ANNA, "my-review"), ["mine"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    let entry = place.state("feature-auth")["requirements"]["commit_plan"]["sessions"]["a4326893"].clone();
    assert_eq!(
        (&entry["satisfied_by"], &entry["metadata"]["skill"]),
        (&"skill".into(), &"arch-review".into())
    );
    assert_eq!(entry["session_id"], ANNA);
}

#[test]
fn r6_an_approval_of_what_somebody_does_holds_for_good_and_says_by_whom() {
    let place = Place::with("requirements: {commit_plan: {enabled: true, approval_ttl: 30}}");
    place.engine().approve_requirements(&["commit_plan".to_owned()], Some(ANNA), None).expect("approved");
    let entry = place.state("feature-auth")["requirements"]["commit_plan"]["sessions"]["a4326893"].clone();
    assert_eq!(entry["expires_at"], Value::Null);
    assert!(entry["metadata"]["approved_by"].as_str().is_some_and(|by| !by.is_empty()), "{entry}");
    place.pass(10_000);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.engine().approve_requirements(&["commit_plan".to_owned()], Some(ANNA), Some(30)).expect("approved");
    place.pass(29);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.pass(1);
    denied(place.edit(ANNA));
}

#[test]
fn what_agents_do_is_counted_once() {
    let place = Place::with(PLAN);
    denied(place.edit(ANNA));
    for event in ["1", "1", "2"] {
        place.used(ANNA, "Bash", Some("cargo test"), None, Some(event));
    }
    // The agent's hook is installed twice, so every event is reported twice.
    place.engine().compacted(&claude(ANNA), Some("one"));
    place.engine().compacted(&claude(ANNA), Some("one"));
    let agent = claude(ANNA);
    let failed = ToolCall {
        agent: &agent,
        tool: "Bash",
        command: Some("x"),
        files: &[],
        skill: None,
        tool_use_id: Some("3"),
    };
    place.engine().tool_failed(&failed, "exit 1");
    place.engine().tool_failed(&failed, "exit 1");
    place.skill(ANNA, "arch-review");
    place.pass(7);
    place.engine().at_end(&claude(ANNA));
    let metrics = place.metrics_of(ANNA);
    assert_eq!(metrics["tools"]["Edit"]["blocked_count"], 1);
    assert_eq!(metrics["tools"]["Bash"]["count"], 2);
    assert_eq!(metrics["tools"]["Bash"]["commands"], serde_json::json!(["cargo test"]));
    assert_eq!(metrics["compaction_count"], 1);
    assert_eq!(metrics["errors"].as_array().map(Vec::len), Some(1));
    assert_eq!(metrics["skills"][0]["name"], "arch-review");
    assert_eq!(metrics["requirements"]["commit_plan"]["satisfied_by"], "skill");
    assert_eq!(metrics["duration_seconds"], 7);
}

#[test]
fn an_approval_of_what_the_branch_needs_holds_for_every_agent_session() {
    let place = Place::with(
        "requirements: {ticket: {enabled: true, scope: branch, message: 'For {branch}, {session_id}.'}}",
    );
    assert!(denied(place.edit(ANNA)).contains("For feature/auth, a4326893."));
    place.engine().approve_requirements(&["ticket".to_owned()], None, None).expect("approved");
    place.pass(300);
    assert_eq!(place.edit(BEN), Verdict::Allow);
}
