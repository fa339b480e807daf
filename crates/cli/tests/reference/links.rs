//! Follows the links of all pages, to files and to headings in them. Links to other hosts are not followed.

use crate::guides::{markdown_in, pages};
use crate::{blessed, root};
use std::path::{Path, PathBuf};

#[test]
fn every_link_of_the_pages_leads_somewhere() {
    // While pages are being generated, not all of them exist.
    if blessed::is_blessing() {
        return;
    }
    let mut dead = Vec::new();
    for path in all_pages() {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to);
        let broken = targets.filter(|target| !target.contains("://") && !leads_somewhere(&path, target));
        dead.extend(broken.map(|target| format!("{}: {target}", path.display())));
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

fn all_pages() -> Vec<PathBuf> {
    let tops =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "plugin/README.md", "extensions/README.md"];
    let folders = ["docs/formats", "docs/reference"];
    let others =
        tops.into_iter().map(PathBuf::from).chain(folders.iter().flat_map(|folder| markdown_in(folder)));
    pages().into_iter().chain(others).collect()
}

fn leads_somewhere(page: &Path, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => root().join(page),
        file => root().join(page.parent().unwrap_or(Path::new(""))).join(file),
    };
    if heading.is_empty() {
        return path.exists();
    }
    std::fs::read_to_string(path).is_ok_and(|text| anchors(&text).any(|anchor| anchor == heading))
}

/// The anchors that a Markdown renderer creates for headings.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    })
}

#[test]
fn headings_have_anchors() {
    let found: Vec<String> = anchors("# A page\ntext\n## In the terminal: `leftoff progress`\n").collect();
    assert_eq!(found, ["a-page", "in-the-terminal-leftoff-progress"]);
}
