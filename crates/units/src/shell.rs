//! Words of a command line, as a shell takes them.

use std::borrow::Cow;

/// The word as it is where nothing in it means something to a shell, else in single quotes.
pub fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(word("relay=fifo:80@2"), "relay=fifo:80@2");
        assert_eq!(word("relay-*=@3"), "'relay-*=@3'");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }
}
