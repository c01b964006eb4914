//! Splits a command line into words. Only the shell's rules for words and quotes apply.

/// The words of `line`. Single quotes preserve everything, double quotes all except `\"` and `\\`, and a backslash outside quotes preserves the next
/// character.
pub(super) fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => quoted(&mut characters, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut characters, '"', word.get_or_insert_default())?,
            '\\' => word
                .get_or_insert_default()
                .push(characters.next().ok_or("it ends in a backslash")?),
            c if c.is_whitespace() => words.extend(word.take()),
            '|' | '&' | ';' | '<' | '>' | '$' | '`' => {
                return Err("no shell runs it: quote characters such as | & ; < > $ `");
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        Err("it names no program")
    } else {
        Ok(words)
    }
}

/// Reads up to the closing quote.
fn quoted(characters: &mut std::str::Chars<'_>, quote: char, word: &mut String) -> Result<(), &'static str> {
    let unclosed = "a quote is not closed";
    loop {
        match characters.next().ok_or(unclosed)? {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match characters.next().ok_or(unclosed)? {
                c @ ('"' | '\\') => word.push(c),
                other => word.extend(['\\', other]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_and_quotes() {
        for (line, words) in [
            ("stress-ng  --cpu 1", vec!["stress-ng", "--cpu", "1"]),
            (
                "a 'b c' \"d \\\"e\\\" \\f\" g\\ h",
                vec!["a", "b c", "d \"e\" \\f", "g h"],
            ),
            ("a '' b'c'd", vec!["a", "", "bcd"]),
            ("sh -c 'a; b | c'", vec!["sh", "-c", "a; b | c"]),
        ] {
            assert_eq!(split(line).expect(line), words, "{line}");
        }
    }

    #[test]
    fn what_a_shell_would_do_more_is_refused() {
        for line in [
            "", "  ", "''", "a 'b", "a \"b", "a \\", "a | b", "a; b", "a > f", "a $HOME",
        ] {
            assert!(split(line).is_err(), "{line}");
        }
    }
}
