//! Splits a Python expression into tokens, without interpreting them.

/// The maximum number of tokens. Sensible rules have far fewer, so a longer rule is refused before it is
/// parsed.
const MOST: usize = 300;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a keyword.
    Word(String),
    Number(String),
    Text(String),
    Sign(&'static str),
}

impl Token {
    /// The token as it appears in messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) | Self::Number(word) => format!("'{word}'"),
            Self::Text(text) => format!("the string {text:?}"),
            Self::Sign(sign) => format!("'{sign}'"),
        }
    }
}

/// Operators. Longer ones come first, so that `<=` is not read as `<`.
const SIGNS: &[&str] = &[
    "**", "//", "==", "!=", "<=", ">=", "->", ":=", "<<", ">>", "<", ">", "+", "-", "*", "/", "%", "(", ")",
    "[", "]", "{", "}", ",", ":", ".", "=", ";", "@", "|", "&", "^", "~",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut open: usize = 0;
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if found.len() == MOST {
            return Err(format!("more than {MOST} words and signs"));
        }
        let token;
        (token, rest) = if first.is_alphabetic() || first == '_' {
            word(rest)?
        } else if first.is_ascii_digit() {
            number(rest)?
        } else if matches!(first, '\'' | '"') {
            quoted(rest, first)?
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("'{first}'"))?;
            (Token::Sign(sign), &rest[sign.len()..])
        };
        match &token {
            Token::Sign("(" | "[" | "{") => open += 1,
            Token::Sign(")" | "]" | "}") => open = open.saturating_sub(1),
            Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Sign(_) => {}
        }
        found.push(token);
        let next = rest.trim_start();
        let is_new_line = rest[..rest.len() - next.len()].contains(['\n', '\r']);
        if is_new_line && open == 0 && !next.is_empty() {
            return Err("a second line outside of parentheses".to_owned());
        }
        rest = next;
    }
    Ok(found)
}

fn word(text: &str) -> Result<(Token, &str), String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    // A letter before the quotation mark, as in f'…' and r"…", means that the characters are not the value.
    if rest.starts_with(['\'', '"']) {
        return Err(format!("a string that starts with '{word}'"));
    }
    Ok((Token::Word(word.to_owned()), rest))
}

fn number(text: &str) -> Result<(Token, &str), String> {
    let end =
        text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let plain = word.replace('_', "");
    let is_spaced =
        !word.split('_').any(|digits| !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.is_empty());
    let has_zero = plain.len() > 1 && plain.starts_with('0');
    let is_whole = is_spaced && !has_zero && plain.parse::<i64>().is_ok();
    // CEL does not accept a number that ends in a point, or that has an exponent right after the point.
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal = word.split_once('.').is_some_and(|(whole, part)| digits(whole) && digits(part))
        && plain.parse::<f64>().is_ok_and(f64::is_finite);
    if !is_whole && !is_decimal {
        return Err(format!("the number {word}"));
    }
    Ok((Token::Number(plain), rest))
}

fn quoted(text: &str, quote: char) -> Result<(Token, &str), String> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => {
                let rest = &text[at + 1..];
                // Three quotation marks start a string of several lines, and adjacent strings form one
                // string. Neither is supported.
                if rest.trim_start().starts_with(['\'', '"']) {
                    return Err("two strings side by side".to_owned());
                }
                return Ok((Token::Text(value), rest));
            }
            '\\' => match letters.next() {
                Some((_, same @ ('\\' | '\'' | '"'))) => value.push(same),
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, other)) => return Err(format!("the escape '\\{}'", other.escape_debug())),
                None => break,
            },
            '\n' | '\r' => return Err("a string that continues on the next line".to_owned()),
            _ => value.push(letter),
        }
    }
    Err("a string that does not end".to_owned())
}
