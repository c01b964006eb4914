//! Quotes words for a command line.

use std::borrow::Cow;

/// The word, unchanged if no character in it is special to a shell, otherwise in single quotes.
pub fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")).into(),
    }
}

/// The words of a command as a shell reads them.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{line, word};

    #[test]
    fn a_command_is_shown_as_a_shell_would_read_it() {
        assert_eq!(line(["virsh", "start", "relay-02"]), "virsh start relay-02");
        assert_eq!(line(["sh", "-c", "it's; rm x", ""]), r"sh -c 'it'\''s; rm x' ''");
    }

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(word("relay=fifo:80@2"), "relay=fifo:80@2");
        assert_eq!(word("relay-*=@3"), "'relay-*=@3'");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }
}
