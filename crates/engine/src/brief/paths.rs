//! Writes paths compactly: a shared folder is written only once. Reads no disk.

/// Returns the paths in order. Those with the same folder and extension are combined, as in
/// `src/auth/{refresh,cookie}.rs` or `notes/part-{1,2}-draft.md`.
pub(super) fn folded(paths: &[String]) -> Vec<String> {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for path in paths {
        let (folder, name) =
            path.rsplit_once('/').map_or(("", path.as_str()), |(folder, name)| (folder, name));
        let (stem, ending) = match name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() => (stem, ending),
            _ => (name, ""),
        };
        match groups.iter_mut().find(|group| group.0 == folder && group.1 == ending) {
            Some(group) => group.2.push(stem),
            None => groups.push((folder, ending, vec![stem])),
        }
    }
    groups.into_iter().flat_map(|(folder, ending, stems)| spelled(folder, ending, &stems)).collect()
}

fn spelled(folder: &str, ending: &str, stems: &[&str]) -> Vec<String> {
    let before = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let after = if ending.is_empty() { String::new() } else { format!(".{ending}") };
    match stems {
        [] => Vec::new(),
        // Combining paths without a common folder would save no room.
        _ if folder.is_empty() => stems.iter().map(|stem| format!("{stem}{after}")).collect(),
        [stem] => vec![format!("{before}{stem}{after}")],
        _ => {
            let (start, end) = shared(stems);
            let middles: Vec<&str> = stems.iter().map(|stem| &stem[start..stem.len() - end]).collect();
            let (head, tail) = (&stems[0][..start], &stems[0][stems[0].len() - end..]);
            vec![format!("{before}{head}{{{}}}{tail}{after}", middles.join(","))]
        }
    }
}

/// Returns the lengths of the beginning and the end that all names share, both in whole words.
fn shared(stems: &[&str]) -> (usize, usize) {
    const BETWEEN_WORDS: [char; 3] = ['-', '_', '.'];
    let is_word = |name: &str, at: usize| name[at..].starts_with(BETWEEN_WORDS);
    let shortest = stems.iter().map(|stem| stem.len()).min().unwrap_or(0);
    let first = stems[0];
    let starts = first.match_indices(BETWEEN_WORDS).map(|(at, _)| at + 1).filter(|at| *at < shortest);
    let start =
        starts.filter(|at| stems.iter().all(|stem| stem.starts_with(&first[..*at]))).max().unwrap_or(0);
    let ends = (0..first.len()).filter(|at| first.is_char_boundary(*at) && is_word(first, *at));
    let ends = ends.map(|at| first.len() - at).filter(|end| start + end < shortest);
    let end = ends.filter(|end| stems.iter().all(|stem| stem.ends_with(&first[first.len() - end..])));
    (start, end.max().unwrap_or(0))
}

/// The abbreviation of the session's folder. The head explains it with the line `introduced`.
pub(super) const SHORT: &str = "…/";

/// Abbreviates the folder in a text, except in commands. Returns the text unchanged if the explanation `introduced`
/// would take more room than is saved.
pub(super) fn shortened(text: &str, folder: &str, introduced: &str) -> String {
    let long = format!("{folder}/");
    let outside = |part: &str| part.matches(&long).count();
    let parts: Vec<&str> = text.split('`').collect();
    let count: usize = parts.iter().step_by(2).map(|part| outside(part)).sum();
    let saved = count * long.len().saturating_sub(SHORT.len());
    if saved <= introduced.len() {
        return text.to_owned();
    }
    let shortened: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at % 2 == 0 { part.replace(&long, SHORT) } else { (*part).to_owned() })
        .collect();
    shortened.join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_folder_is_said_once() {
        let of = |paths: &[&str]| folded(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of(&[
                "src/a/x.rs",
                "README.md",
                "src/a/y.rs",
                "src/a/z.md",
                "tests/t.rs",
                "LICENSE",
                "src/a/.env"
            ]),
            ["src/a/{x,y}.rs", "README.md", "src/a/z.md", "tests/t.rs", "LICENSE", "src/a/.env"]
        );
        assert_eq!(
            of(&["e/stage-3-section-1-map.v1.md", "e/stage-3-section-2-map.v1.md"]),
            ["e/stage-3-section-{1,2}-map.v1.md"]
        );
        assert_eq!(of(&["e/a-b.md", "e/a-c.md", "e/a.md"]), ["e/{a-b,a-c,a}.md"]);
        assert_eq!(of(&["e/a-a.md", "e/a-b-a.md"]), ["e/a-{a,b-a}.md"]);
        assert_eq!(of(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_long_folder_is_spelled_out_once_and_commands_stay_whole() {
        let folder = ".ocr/sessions/2026-11-14-feat";
        let text = format!("{folder}/a.md, {folder}/b.md and `cat {folder}/a.md`");
        assert_eq!(shortened(&text, folder, "x"), format!("…/a.md, …/b.md and `cat {folder}/a.md`"));
        assert_eq!(shortened("a/b.md", "a", "Its files are in a (… below)."), "a/b.md");
    }
}
