//! One table of a definition, and functions that read its keys by type. Does not know which keys exist.

use super::mistake::{Found, Report, Reported, is_unprintable, quoted};
use super::value;
use model::id::{InvalidId, Name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A string of the definition and its byte offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
}

pub(super) struct Section<'a> {
    /// The name of this table in messages, such as "a phase" or "a check of kind 'expr'".
    pub(super) what: String,
    pub(super) offset: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    pub(super) fn root(table: &'a DeTable<'a>) -> Self {
        Self { what: "a workflow".to_owned(), offset: 0, table }
    }

    /// The table in a value. `name` is the key or the entry's name, as the author of the definition would
    /// search for it.
    pub(super) fn of_value(
        report: &mut Report,
        what: &str,
        name: &str,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Found<Self> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(Self { what: what.to_owned(), offset: value.span().start, table }),
            other => Err(wrong_type(report, value.span().start, &quoted(name), "a table", other)),
        }
    }

    pub(super) fn called(self, what: String) -> Self {
        Self { what, ..self }
    }

    pub(super) fn refuse_unknown_keys(&self, report: &mut Report, known: &[&str]) {
        let hint = format!("the keys of {}: {}", self.what, known.join(", "));
        for key in self.keys() {
            if !known.contains(&key.text) {
                report.add_unknown(key.offset, "key", key.text, known, hint.as_str());
            }
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = Text<'a>> {
        self.table.keys().map(text_of_key)
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Reads any string. For text that people see, use `line` or `prose`, which check it.
    pub(super) fn string(&self, report: &mut Report, key: &str) -> Found<Option<Text<'a>>> {
        self.value(key).map(|value| string_of(report, &quoted(key), value)).transpose()
    }

    /// Reads a single-line string that is not blank.
    pub(super) fn line(&self, report: &mut Report, key: &str) -> Found<Option<Text<'a>>> {
        let found = self.string(report, key)?;
        found.map(|text| single_line(report, &quoted(key), text)).transpose()
    }

    /// Reads a string that is not blank, possibly of several lines.
    pub(super) fn prose(&self, report: &mut Report, key: &str) -> Found<Option<Text<'a>>> {
        let Some(text) = self.string(report, key)? else {
            return Ok(None);
        };
        let without_line_ends = text.text.replace("\r\n", "").replace(['\n', '\t'], "");
        refuse_unreadable(report, &quoted(key), text, &without_line_ends)?;
        Ok(Some(text))
    }

    /// Reads a string as `prose` does, and returns an owned copy.
    pub(super) fn owned_prose(&self, report: &mut Report, key: &str) -> Found<Option<String>> {
        Ok(self.prose(report, key)?.map(|text| text.text.to_owned()))
    }

    pub(super) fn required_prose(&self, report: &mut Report, key: &str) -> Found<Text<'a>> {
        let found = self.prose(report, key)?;
        found.ok_or_else(|| self.missing(report, key))
    }

    pub(super) fn name(&self, report: &mut Report, key: &str) -> Found<Option<Name>> {
        let found = self.string(report, key)?;
        found.map(|text| name_of(report, &format!("a name in '{key}'"), text)).transpose()
    }

    pub(super) fn required_name(&self, report: &mut Report, key: &str) -> Found<Name> {
        let found = self.name(report, key)?;
        found.ok_or_else(|| self.missing(report, key))
    }

    pub(super) fn boolean(&self, report: &mut Report, key: &str) -> Found<Option<bool>> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Boolean(boolean) => Ok(Some(*boolean)),
            other => {
                let what = quoted(key);
                Err(wrong_type(report, value.span().start, &what, "true or false", other))
            }
        }
    }

    /// Reads a word that must be in a fixed list.
    pub(super) fn choice<T: Copy>(
        &self,
        report: &mut Report,
        key: &str,
        choices: &[(&str, T)],
    ) -> Found<Option<T>> {
        let Some(word) = self.string(report, key)? else {
            return Ok(None);
        };
        if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == word.text) {
            return Ok(Some(*chosen));
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let hint = format!("'{key}' is one of: {}", names.join(", "));
        Err(report.add_unknown(word.offset, key, word.text, &names, hint))
    }

    pub(super) fn array(&self, report: &mut Report, key: &str) -> Found<Option<&'a [Spanned<DeValue<'a>>]>> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Array(array) => Ok(Some(array.as_ref())),
            other => Err(wrong_type(report, value.span().start, &quoted(key), "an array", other)),
        }
    }

    /// Reads an array of strings that are all different.
    pub(super) fn strings(&self, report: &mut Report, key: &str) -> Found<Option<Vec<Text<'a>>>> {
        let Some(array) = self.array(report, key)? else {
            return Ok(None);
        };
        let mut texts: Vec<Text<'a>> = Vec::new();
        let mut reported = None;
        for value in array {
            match string_of(report, &format!("an entry of '{key}'"), value) {
                Ok(text) if texts.iter().any(|earlier| earlier.text == text.text) => {
                    let message = format!("{} is listed twice in '{key}'", quoted(text.text));
                    reported = Some(report.add(text.offset, message));
                }
                Ok(text) => texts.push(text),
                Err(already_reported) => reported = Some(already_reported),
            }
        }
        reported.map_or(Ok(Some(texts)), Err)
    }

    /// Reads an array of tables, in order. `header` is the line that starts a table, for a hint.
    pub(super) fn tables(&self, report: &mut Report, key: &str, header: &str) -> Found<Vec<Section<'a>>> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(array) = value.get_ref() else {
            let message = format!("'{key}' must be a list of tables, not {}", value::kind(value.get_ref()));
            let hint = format!("start each one with a line {header}");
            return Err(report.add_with_hint(value.span().start, message, hint));
        };
        let sections: Vec<Found<Section<'a>>> =
            array.iter().map(|value| Section::of_value(report, &format!("a {key}"), key, value)).collect();
        sections.into_iter().collect()
    }

    /// Reads the entries of a table whose keys the author chooses, in the order of the source.
    pub(super) fn named_tables<T>(
        &self,
        report: &mut Report,
        key: &str,
        what: &str,
        mut read: impl FnMut(&mut Report, &Section<'a>) -> Found<T>,
    ) -> Found<Vec<(Name, T)>> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let entries = Section::of_value(report, what, key, value)?;
        let mut in_order: Vec<_> = entries.table.iter().collect();
        in_order.sort_by_key(|(name, _)| name.span().start);
        let read: Vec<Found<(Name, T)>> = in_order
            .into_iter()
            .map(|(key_of_entry, value)| {
                let text = text_of_key(key_of_entry);
                let name = name_of(report, &format!("the name of {what}"), text);
                let entry = Section::of_value(report, what, text.text, value)
                    .and_then(|section| read(report, &section));
                Ok((name?, entry?))
            })
            .collect();
        read.into_iter().collect()
    }

    pub(super) fn missing(&self, report: &mut Report, key: &str) -> Reported {
        report.add(self.offset, format!("{} needs the key '{key}'", self.what))
    }
}

fn name_of(report: &mut Report, what: &str, text: Text) -> Found<Name> {
    Name::parse(text.text).map_err(|invalid| {
        let why = match invalid {
            // A name allows fewer characters than an id, so the general message about ids would be wrong
            // here.
            InvalidId::BadCharacter(bad) => {
                format!("{bad:?} is not allowed in it; use letters, digits, '-' and '_'")
            }
            other => other.to_string(),
        };
        report.add(text.offset, format!("{} cannot be {what}: {why}", quoted(text.text)))
    })
}

pub(super) fn single_line<'a>(report: &mut Report, what: &str, text: Text<'a>) -> Found<Text<'a>> {
    refuse_unreadable(report, what, text, text.text)?;
    Ok(text)
}

fn refuse_unreadable(report: &mut Report, what: &str, text: Text, shown: &str) -> Found<()> {
    if text.text.trim().is_empty() {
        return Err(report.add(text.offset, format!("{what} must not be empty")));
    }
    match shown.chars().find(|letter| is_unprintable(*letter)) {
        None => Ok(()),
        Some(bad) => {
            let message = format!(
                "{what} contains the character {}; only printable text is allowed",
                bad.escape_unicode()
            );
            Err(report.add(text.offset, message))
        }
    }
}

fn string_of<'a>(report: &mut Report, what: &str, value: &'a Spanned<DeValue<'a>>) -> Found<Text<'a>> {
    let offset = value.span().start;
    match value.get_ref() {
        DeValue::String(text) => Ok(Text { text, offset }),
        other => Err(wrong_type(report, offset, what, "a string", other)),
    }
}

fn text_of_key<'a>(key: &'a Spanned<std::borrow::Cow<'a, str>>) -> Text<'a> {
    Text { text: key.get_ref(), offset: key.span().start }
}

fn wrong_type(report: &mut Report, offset: usize, what: &str, expected: &str, found: &DeValue) -> Reported {
    let message = format!("{what} must be {expected}, not {}", value::kind(found));
    report.add(offset, message)
}
