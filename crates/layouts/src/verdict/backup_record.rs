//! The record of a backup in the write journal, as one string: length, hash, file, and who wrote the content.

use super::Noted;
use crate::hash::sha256 as hash;
use model::written_file::{ViewRow, WriteJournal};

/// The words for the writer of the backup's content: leftoff, or somebody else.
const OURS: &str = "ours";
const THEIRS: &str = "theirs";

/// The number and the creation time of a file. The time is needed because the system reuses the numbers of
/// deleted files.
pub type FileId = (u64, u128);

/// The state of a backup when it became the backup.
#[derive(Debug)]
pub struct Backup<'a> {
    length: usize,
    pub hash: &'a str,
    /// The file of the backup; `None` if the operating system cannot tell files apart.
    file: Option<FileId>,
    pub is_of_others: bool,
}

impl<'a> Backup<'a> {
    pub fn of(journal: &'a WriteJournal) -> Option<Self> {
        Self::parse(journal.backup.as_deref()?)
    }

    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(' ');
        let (length, hash, file) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        let file =
            file.split_once('.').and_then(|(inode, born)| Some((inode.parse().ok()?, born.parse().ok()?)));
        Some(Self { length, hash, file, is_of_others: parts.next() == Some(THEIRS) })
    }

    pub fn compared_with(&self, there: Option<FileId>) -> Noted<'a> {
        let is_same_file = self.file.map(|file| there == Some(file));
        Noted { length: self.length, hash: self.hash, is_same_file }
    }
}

/// The write journal of a row during a write: `body` is about to replace `expected`. `last` is the row of the
/// file's last write.
pub fn pending(row: &ViewRow, last: &ViewRow, body: &[u8], expected: &[u8]) -> WriteJournal {
    WriteJournal {
        put_hash: Some(hash(body)),
        put_expected: Some(hash(expected)),
        put_this: true,
        backup: last.journal.backup.clone(),
        loses: row.journal.loses.clone(),
    }
}

/// The write journal of a row after a write: the replaced content `out` became the backup, in `file`. Empty
/// or unreadable content does not become the backup; the previous backup then stays. `last` is the row of the
/// file's last write.
pub fn dealt_with(
    row: &ViewRow,
    last: &ViewRow,
    out: &[u8],
    is_whole: bool,
    file: Option<FileId>,
) -> WriteJournal {
    let mut journal = WriteJournal { put_expected: None, ..row.journal.clone() };
    if is_whole && !out.is_empty() {
        let own = hash(out);
        let is_ours = row.earlier.last() == Some(&own) || last.journal.put_hash.as_ref() == Some(&own);
        let ((inode, born), by) = (file.unwrap_or_default(), if is_ours { OURS } else { THEIRS });
        journal.backup = Some(format!("{} {own} {inode}.{born} {by}", out.len()));
    }
    journal
}

/// True for content that leftoff observed before the write, or that another process of leftoff just wrote. An
/// older version of leftoff's is not expected: somebody must have restored it on purpose.
pub fn is_expected(row: &ViewRow, out: &[u8]) -> bool {
    let hash = hash(out);
    out == row.previous || hash == row.hash || row.earlier.last() == Some(&hash)
}

/// True if content with this hash is a version of a row's file: the last one, an earlier one, or the backup.
pub fn is_version_of(row: &ViewRow, wanted: &str) -> bool {
    let is_backup = || Backup::of(&row.journal).is_some_and(|backup| backup.hash == wanted);
    row.hash == wanted || row.earlier.iter().any(|earlier| earlier == wanted) || is_backup()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::SessionId;

    fn row(earlier: &[&str], put: Option<&str>) -> ViewRow {
        ViewRow {
            session: SessionId::parse("a").expect("an id"),
            path: "p".to_owned(),
            hash: hash(b"new"),
            body: b"new".to_vec(),
            previous: b"old".to_vec(),
            earlier: earlier.iter().map(|text| hash(text.as_bytes())).collect(),
            version: 1,
            boot_id: String::new(),
            confirmed: false,
            journal: WriteJournal {
                put_hash: put.map(|put| hash(put.as_bytes())),
                put_expected: Some(hash(b"old")),
                put_this: true,
                ..WriteJournal::default()
            },
        }
    }

    #[test]
    fn a_backup_is_noted_as_text_and_read_back() {
        let file = Some((7, 8));
        // leftoff wrote the last known version and the last version. Somebody else wrote any other content.
        for (earlier, put, is_of_others) in [
            (&["out"][..], None, false),
            (&["out", "later"], None, true),
            (&[], Some("out"), false),
            (&["later"], Some("later"), true),
        ] {
            let row = row(earlier, put);
            let journal = dealt_with(&row, &row, b"out", true, file);
            let backup = Backup::of(&journal).expect("a backup");
            assert_eq!((backup.hash, backup.is_of_others), (hash(b"out").as_str(), is_of_others));
            let noted = backup.compared_with(file);
            assert_eq!((noted.length, noted.is_same_file), (3, Some(true)));
            assert_eq!(
                backup.compared_with(Some((7, 9))).is_same_file,
                Some(false),
                "the number alone is no proof"
            );
            assert_eq!(
                (journal.put_expected, journal.put_this),
                (None, true),
                "the old content is dealt with"
            );
        }
    }

    #[test]
    fn unreadable_and_empty_content_becomes_no_backup_and_old_notes_are_understood() {
        let row = row(&[], None);
        assert_eq!(dealt_with(&row, &row, b"out", false, None).backup, None);
        // Compared with an empty file, all content of the backup would seem to be added.
        let noted = ViewRow { journal: dealt_with(&row, &row, b"out", true, Some((7, 8))), ..row.clone() };
        assert_eq!(dealt_with(&noted, &noted, b"", true, Some((7, 8))).backup, noted.journal.backup);
        assert!(Backup::parse("7 abc").is_none() && Backup::parse("x abc 1.2").is_none());
        let old = Backup::parse("7 abc -").expect("a note of an earlier version");
        assert_eq!(old.compared_with(Some((1, 2))).is_same_file, None);
        assert!(!old.is_of_others);
    }

    #[test]
    fn content_is_expected_if_it_was_seen_or_is_the_last_of_ours() {
        let row = row(&["first", "last"], None);
        for (out, is_it) in [("old", true), ("new", true), ("last", true), ("first", false), ("edit", false)]
        {
            assert_eq!(is_expected(&row, out.as_bytes()), is_it, "{out}");
        }
    }
}
