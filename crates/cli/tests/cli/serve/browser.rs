//! Tests of the page in a real browser: opening, filtering, watching, approving, copying, small screens, dark
//! mode, and accessibility.

use super::client::Page;
use super::{Sandbox, waiting};
use crate::git;
use chromium::Chromium;

#[path = "chromium.rs"]
mod chromium;

const ACCESSIBILITY: &str = include_str!("accessibility.js");

fn opened(sandbox: &Sandbox, words: &[&str]) -> Option<(Page, Chromium)> {
    let mut browser = Chromium::start(sandbox)?;
    let page = Page::serve_at_terminal(sandbox, words);
    let (name, value) = page.cookie.split_once('=').unwrap();
    browser.set_cookie(name, value, &page.origin());
    Some((page, browser))
}

#[test]
fn a_printed_address_opens_the_page_and_leaves_no_token_behind() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login", "--title", "Stay logged in"]).ok();
    let Some(mut browser) = Chromium::start(&sandbox) else { return };
    let mut server = testkit::Running::start(sandbox.command(["serve"]));
    let address = server.until("http://").trim().to_owned();
    browser.open(&address);
    browser.until("document.querySelector('h1')?.textContent.startsWith('Sessions of')");
    assert_eq!(browser.eval("location.search"), "");
    assert_eq!(browser.eval("document.cookie"), "", "no script reads the cookie");
}

#[test]
fn sessions_are_filtered_and_a_phase_completes_as_it_is_watched() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login", "--title", "Stay logged in"]).ok();
    sandbox.run(["start", "--id", "other", "--title", "Another matter"]).ok();
    let Some((page, mut browser)) = opened(&sandbox, &[]) else { return };
    browser.open(&format!("{}/", page.origin()));
    browser.until("document.querySelectorAll('tbody tr').length === 2");
    browser.eval("document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true})), document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))");
    assert_eq!(browser.eval("document.activeElement.id"), "search", "the key of the search");
    browser.eval("document.getElementById('search').value = 'logged'; document.querySelector('form.filter').requestSubmit()");
    browser
        .until("document.querySelectorAll('tbody tr').length === 1 && location.search.includes('q=logged')");
    browser.open(&format!("{}/session/other", page.origin()));
    browser.until("document.querySelector('.track li.now')?.textContent.includes('Plan')");
    browser.until("document.getElementById('live').textContent === 'live'");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    browser.until("document.querySelector('.track li.good')?.textContent.includes('Plan')");
    browser.until("document.querySelector('.track li.now')?.textContent.includes('Implement')");
}

#[test]
fn a_gate_is_approved_and_the_brief_is_copied() {
    let sandbox = waiting();
    let Some((page, mut browser)) = opened(&sandbox, &["--allow-actions"]) else { return };
    browser.open(&format!("{}/approvals", page.origin()));
    browser.until("document.querySelector('button.main')?.textContent === 'Approve agreed'");
    browser.eval("document.querySelector('button.main').click()");
    browser.until("location.pathname === '/session/login'");
    assert!(sandbox.run(["log"]).ok().stdout.contains("check agreed of plan approved by anna"));
    browser.allow_clipboard(&page.origin());
    browser.click("[data-copy=brief]");
    browser.until("document.querySelector('[data-copy=brief]').textContent === 'Copied'");
    let copied = browser.eval("navigator.clipboard.readText()");
    assert!(copied.contains("Stay logged in"), "{copied}");
}

#[test]
fn hostile_titles_do_nothing_in_a_browser() {
    let sandbox = git();
    let title = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=2</script>\u{202e}";
    sandbox.run(["start", "--id", "login", "--title", title]).ok();
    sandbox.run(["note", title, "--kind", "question"]).ok();
    let Some((page, mut browser)) = opened(&sandbox, &[]) else { return };
    for path in ["/", "/approvals", "/session/login"] {
        browser.open(&format!("{}{path}", page.origin()));
        browser.until("document.body.textContent.includes('window.hacked=1')");
        assert_eq!(browser.eval("String(window.hacked)"), "undefined", "{path}");
    }
}

#[test]
fn every_page_is_for_everybody_on_a_phone_and_in_the_dark() {
    let sandbox = waiting();
    sandbox.run(["note", "which certificate?", "--kind", "question"]).ok();
    sandbox.run(["artifact", "add", ".leftoff/workflows/asked.toml"]).ok();
    let Some((page, mut browser)) = opened(&sandbox, &["--allow-actions"]) else { return };
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")] {
        browser.emulate(width, 800, scheme);
        for path in ["/", "/approvals", "/session/login"] {
            browser.open(&format!("{}{path}", page.origin()));
            browser.until("document.querySelector('main h1') !== null");
            let found = browser.eval(ACCESSIBILITY);
            assert_eq!(found, "", "{path} at {width}, {scheme}");
            let wide = browser.eval("String(document.documentElement.scrollWidth - innerWidth)");
            assert!(wide.parse::<i64>().unwrap() <= 0, "{path} at {width}: {wide} pixels too wide");
        }
    }
}
