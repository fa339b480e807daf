//! Removes what is particular to a machine from a text.

use testkit::Sandbox;

/// A text with paths and the host name replaced.
pub fn anonymous(text: &str, sandbox: &Sandbox) -> String {
    let folder = sandbox.folder().canonicalize().unwrap();
    let paths = [
        (sandbox.project().to_owned(), "/home/anna/shop"),
        (folder.join("state"), "/home/anna/.local/state"),
        (folder.join("home"), "/home/anna"),
    ];
    let text = paths
        .iter()
        .fold(text.to_owned(), |text, (found, shown)| text.replace(&found.display().to_string(), shown));
    text.split_inclusive('\n').map(without_host).collect()
}

fn without_host(line: &str) -> String {
    const FIELD: &str = "\"host\": \"";
    let Some((before, rest)) = line.split_once(FIELD) else { return line.to_owned() };
    let after = rest.split_once('"').map_or("", |(_, after)| after);
    format!("{before}{FIELD}laptop\"{after}")
}
