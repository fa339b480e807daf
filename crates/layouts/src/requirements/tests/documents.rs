use super::*;
use serde_json::{Value, json};

#[test]
fn behaviour_2_one_agent_session_is_satisfied_and_another_is_not() {
    let mut document = document();
    document.satisfy("commit_plan", Session, Some(&agent("aaaa1111")), &by_skill(), 10);
    assert!(is_met(&document, "commit_plan", Session, "aaaa1111", 11));
    assert!(!is_met(&document, "commit_plan", Session, "bbbb2222", 11));
}

#[test]
fn behaviour_3_branch_scope_holds_for_every_agent_session_of_the_branch() {
    for scope in [Branch, Permanent] {
        let mut document = document();
        document.satisfy("github_ticket", scope, Some(&agent("aaaa1111")), &by_skill(), 10);
        assert!(is_met(&document, "github_ticket", scope, "bbbb2222", 11));
        assert!(document.satisfaction("github_ticket", scope, None, 11).is_some());
    }
}

#[test]
fn behaviour_4_a_root_override_with_a_ttl_expires() {
    let mut document = document();
    let for_all = Satisfying { for_the_branch: true, ttl: Some(60), ..Satisfying::by(SatisfiedBy::Cli) };
    document.satisfy("commit_plan", Session, None, &for_all, 100);
    assert!(is_met(&document, "commit_plan", Session, "bbbb2222", 159));
    assert!(!is_met(&document, "commit_plan", Session, "bbbb2222", 160));
    let mut permanent = super::document();
    permanent.satisfy("security", Permanent, None, &for_all, 100);
    assert!(
        permanent.satisfaction("security", Permanent, None, 1_000_000).is_some(),
        "permanent never expires"
    );
}

#[test]
fn behaviour_5_triggered_is_per_agent_session_and_keeps_its_first_time() {
    let mut document = document();
    let (one, other) = (agent("aaaa1111"), agent("bbbb2222"));
    assert!(document.trigger("commit_plan", Session, &one, 10));
    assert!(!document.trigger("commit_plan", Session, &one, 20));
    assert_eq!(document.triggered_at("commit_plan", Session, &one), Some(10));
    assert_eq!(document.triggered_at("commit_plan", Session, &other), None);
    document.satisfy("commit_plan", Session, Some(&one), &by_skill(), 30);
    assert_eq!(
        document.triggered_at("commit_plan", Session, &one),
        Some(10),
        "satisfying it keeps when it was triggered"
    );
}

#[test]
fn behaviour_12_clearing_an_agent_session_leaves_the_others_and_the_branch() {
    let mut document = document();
    let (one, other) = (agent("aaaa1111"), agent("bbbb2222"));
    for who in [&one, &other] {
        document.satisfy("commit_plan", Session, Some(who), &by_skill(), 10);
    }
    document.satisfy("github_ticket", Branch, None, &by_skill(), 10);
    assert!(document.clear_session(&one));
    assert!(!is_met(&document, "commit_plan", Session, one.full(), 11));
    assert!(is_met(&document, "commit_plan", Session, other.full(), 11));
    assert!(is_met(&document, "github_ticket", Branch, one.full(), 11));
}

#[test]
fn behaviour_13_a_single_use_is_used_up_for_the_one_who_used_it() {
    let mut document = document();
    for who in ["aaaa1111", "bbbb2222"] {
        document.satisfy("pre_commit_review", SingleUse, Some(&agent(who)), &by_skill(), 10);
    }
    assert!(document.use_up("pre_commit_review", &agent("aaaa1111")));
    assert!(!document.use_up("pre_commit_review", &agent("aaaa1111")));
    assert!(!is_met(&document, "pre_commit_review", SingleUse, "aaaa1111", 11));
    assert!(is_met(&document, "pre_commit_review", SingleUse, "bbbb2222", 11));
}

#[test]
fn r7_what_was_used_once_leaves_no_entry() {
    let mut document = document();
    let one = agent("aaaa1111");
    document.satisfy("pre_commit_review", SingleUse, Some(&one), &by_skill(), 10);
    document.trigger("pre_commit_review", SingleUse, &one, 11);
    assert!(document.use_up("pre_commit_review", &one));
    let written: Value = serde_json::from_str(&document.text()).expect("JSON");
    assert_eq!(written["requirements"]["pre_commit_review"]["sessions"], json!({}));
}

#[test]
fn r7_clearing_forgets_every_agent_session_and_what_was_triggered() {
    let mut document = document();
    let (one, other) = (agent("aaaa1111"), agent("bbbb2222"));
    for who in [&one, &other] {
        document.satisfy("commit_plan", Session, Some(who), &by_skill(), 10);
        document.trigger("commit_plan", Session, who, 11);
    }
    let mut of_one = document.clone();
    assert!(of_one.clear("commit_plan", Some(&one)));
    assert_eq!(of_one.triggered_at("commit_plan", Session, &one), None);
    assert!(is_met(&of_one, "commit_plan", Session, other.full(), 12), "the other's stays");
    assert!(document.clear("commit_plan", None));
    assert_eq!(document.names().count(), 0);
    assert!(!document.clear("commit_plan", None));
}

#[test]
fn r11_what_a_branch_is_asked_is_triggered_for_the_branch() {
    let mut document = document();
    let (one, other) = (agent("aaaa1111"), agent("bbbb2222"));
    assert!(document.trigger("github_ticket", Branch, &one, 10));
    assert!(!document.trigger("github_ticket", Branch, &other, 20));
    assert_eq!(document.triggered_at("github_ticket", Branch, &other), Some(10));
    let written: Value = serde_json::from_str(&document.text()).expect("JSON");
    let entry = &written["requirements"]["github_ticket"];
    assert_eq!((&entry["triggered"], &entry["triggered_at"]), (&json!(true), &json!(10)));
    assert_eq!(entry["sessions"], Value::Null);
}

#[test]
fn r11_records_say_who_satisfied_what_when() {
    let mut document = document();
    document.satisfy("commit_plan", Session, Some(&agent(UUID)), &by_skill(), 10);
    document.satisfy("github_ticket", Branch, None, &by_skill(), 20);
    let records = document.records(30);
    let told: Vec<(&str, Option<&str>, Option<i64>)> = records
        .iter()
        .map(|one| {
            let at = one.satisfaction.as_ref().and_then(|found| found.at);
            (one.requirement.as_str(), one.agent_session.as_deref(), at)
        })
        .collect();
    assert_eq!(told, [("commit_plan", Some(UUID), Some(10)), ("github_ticket", None, Some(20))]);
}

#[test]
fn behaviour_14_the_newest_young_satisfaction_is_inherited_once() {
    let mut document = document();
    document.satisfy("plan", Session, Some(&agent("old11111")), &by_skill(), 50);
    document.satisfy("plan", Session, Some(&agent("new22222")), &by_skill(), 90);
    let (heir, second, third) = (agent("heir3333"), agent("heir4444"), agent("heir5555"));
    assert!(document.carry_over("plan", &heir, 300, 100));
    let inherited = document.satisfaction("plan", Session, Some(&heir), 100).expect("inherited");
    assert_eq!((inherited.by.as_str(), inherited.at), ("carry_over", Some(90)));
    assert_eq!(inherited.metadata["from"], "new22222");
    assert!(document.carry_over("plan", &second, 300, 100), "the older one is left");
    let inherited = document.satisfaction("plan", Session, Some(&second), 100).expect("inherited");
    assert_eq!(inherited.metadata["from"], "old11111");
    assert!(!document.carry_over("plan", &third, 300, 100), "what was inherited is not inherited again");
}

#[test]
fn behaviour_14_too_old_expired_or_cleared_is_not_inherited() {
    let heir = agent("heir3333");
    let mut old = document();
    old.satisfy("plan", Session, Some(&agent("old11111")), &by_skill(), 100);
    assert!(old.clone().carry_over("plan", &heir, 300, 400), "300 seconds are young enough");
    assert!(!old.carry_over("plan", &heir, 300, 401));
    let mut expired = document();
    let brief = Satisfying { ttl: Some(10), ..by_skill() };
    expired.satisfy("plan", Session, Some(&agent("old11111")), &brief, 100);
    assert!(!expired.carry_over("plan", &heir, 300, 110));
    assert!(!document().carry_over("plan", &heir, 300, 110));
}

#[test]
fn keys_that_nobody_knows_stay_in_their_places() {
    let text = r#"{"zeta":1,"version":"1.0","branch":"b","workflow_cache":{"b":2,"a":[1.50,1e3]},"requirements":{"x":{"note":"keep","scope":"session","sessions":{"aaaa1111":{"mine":true,"satisfied":true,"satisfied_at":1}}}},"updated_at":5}"#;
    let mut document = Document::read(text).expect("reads");
    document.satisfy("x", Session, Some(&agent("bbbb2222")), &by_skill(), 10);
    document.touch(10);
    let written: Value = serde_json::from_str(&document.text()).expect("JSON");
    assert_eq!(written["workflow_cache"], json!({ "b": 2, "a": [1.50, 1e3] }));
    assert_eq!(written["requirements"]["x"]["note"], "keep");
    assert_eq!(written["requirements"]["x"]["sessions"]["aaaa1111"]["mine"], true);
    let keys: Vec<&String> = written.as_object().expect("a table").keys().collect();
    assert_eq!(keys, ["zeta", "version", "branch", "workflow_cache", "requirements", "updated_at"]);
}

#[test]
fn what_cannot_be_gone_on_with_says_why() {
    for (text, why) in [
        ("{", "it is not valid JSON"),
        ("[]", "it is not valid JSON"),
        ("{}", "its version is missing"),
        (r#"{"version":1.0}"#, "its version is 1.0"),
        (r#"{"version":"2.0","requirements":{}}"#, "its version is \"2.0\""),
        (r#"{"version":"1.0","requirements":[]}"#, "'requirements' is not a table"),
    ] {
        let error = Document::read(text).expect_err("it is broken").to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn an_example_of_the_original_is_read_as_it_means_it() {
    let text = r#"{"version":"1.0","branch":"feature/auth","project":"/abs","created_at":1,"updated_at":1,
 "requirements":{
  "commit_plan":{"scope":"session","sessions":{"cad0ac4d":{"satisfied":true,"satisfied_at":1,"satisfied_by":"skill","metadata":{"skill":"arch-review"},"expires_at":null,"triggered":true,"triggered_at":1}}},
  "github_ticket":{"scope":"branch","satisfied":true,"satisfied_at":1.5,"satisfied_by":"cli","expires_at":20.5}}}"#;
    let document = Document::read(text).expect("reads");
    assert_eq!(document.branch(), Some("feature/auth"));
    assert!(is_met(&document, "commit_plan", Session, UUID, 10));
    assert_eq!(document.triggered_at("commit_plan", Session, &agent(UUID)), Some(1));
    assert!(is_met(&document, "github_ticket", Branch, UUID, 19));
    assert!(!is_met(&document, "github_ticket", Branch, UUID, 20));
}

#[test]
fn a_branch_has_a_file_name_and_a_second_one_where_it_is_taken() {
    assert_eq!(file_stem("feature/auth"), "feature-auth");
    assert_eq!(file_stem("feature-auth"), "feature-auth");
    assert_eq!(file_stem("fix\\a b#1.2_x"), "fix-a_b_1_2_x");
    assert_eq!(file_stem("größe/ü"), "größe-ü");
    assert_ne!(collision_name("feature/auth"), collision_name("feature-auth"));
    assert!(collision_name("feature/auth").contains('.'), "no branch's own name has a point");
}

/// Some editors write a byte order mark.
#[test]
fn a_byte_order_mark_breaks_no_file() {
    let marked = |text: String| format!("\u{feff}{text}");
    assert_eq!(Document::read(&marked(document().text())), Ok(document()));
    assert_eq!(Registry::read(&marked(Registry::default().text())), Some(Registry::default()));
    let metrics = Metrics::new(&agent(UUID), "/p", "main", 100);
    assert_eq!(Metrics::read(&marked(metrics.text())), Some(metrics));
}

#[test]
fn half_a_file_is_never_taken_for_a_whole_one() {
    let mut whole = document();
    whole.satisfy("größe", Session, Some(&agent(UUID)), &by_skill(), 10);
    let text = whole.text();
    for (end, _) in text.char_indices() {
        assert!(Document::read(&text[..end]).is_err(), "{}", &text[..end]);
        assert_eq!(Metrics::read(&text[..end]), None);
        assert_eq!(Registry::read(&text[..end]), None);
    }
    assert_eq!(Document::read(&text), Ok(whole));
}
