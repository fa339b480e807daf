//! Reads names and values in addresses and forms.

/// The names and values in a query or in the body of a form.
pub fn pairs(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

/// The first value with this name.
pub fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

pub fn encoded(text: &str) -> String {
    let letter = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(letter).collect()
}

pub fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex =
            |byte: Option<&u8>| char::from(*byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match bytes[at] {
            b'%' => match (hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
                (Some(high), Some(low)) => {
                    found.push(high << 4 | low);
                    at += 2;
                }
                _ => found.push(b'%'),
            },
            b'+' => found.push(b' '),
            byte => found.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&found).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        for text in ["", "a b&c=d", "漢字 🙂", "100%", "<script>", "a+b"] {
            assert_eq!(decoded(&encoded(text)), text);
        }
        assert_eq!(decoded("a+b%2"), "a b%2");
        assert_eq!(decoded("%zz%"), "%zz%");
        let pairs = pairs("q=a+b&&page=2&x");
        assert_eq!(
            (value(&pairs, "q"), value(&pairs, "page"), value(&pairs, "x")),
            (Some("a b"), Some("2"), Some(""))
        );
        assert_eq!(value(&pairs, "none"), None);
    }
}
