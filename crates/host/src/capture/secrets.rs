//! Secrets in the texts of a tree: values whose names mark them as secret, in the syntax of XML, YAML, JSON and settings files.

/// Words that mark a name as that of a secret.
const SECRET: [&str; 6] = ["pass", "secret", "token", "privkey", "psk", "credential"];

pub(crate) fn is_secret_name(name: &str) -> bool {
    // `bypass` is an exception: Speculation_Store_Bypass is in the status of every process.
    let name = name.to_ascii_lowercase().replace("bypass", "");
    let last = name.rsplit(['.', '_', '-']).next().unwrap_or_default();
    SECRET.iter().any(|part| name.contains(part)) || last.ends_with("key")
}

const QUOTES: [char; 2] = ['"', '\''];
const BLANKS: [char; 2] = [' ', '\t'];

/// Secret after a name and its `=`, `:` or `>`, which end `line`: returns the spaces and quote before it, its text, and the rest. The text
/// is empty if the name does not mark a secret.
pub(super) fn value_of<'a>(line: &str, after: &'a str) -> (&'a str, &'a str, &'a str) {
    let none = ("", "", after);
    let (head, sign) = line.split_at(line.len() - 1);
    let bare = head.trim_end_matches(BLANKS);
    let (name, outside) = name_at_end(bare);
    // `>` ends the start tag of an element only if the element's name precedes it.
    if !is_secret_name(name) || (sign == ">" && outside != Some('<')) {
        return none;
    }
    if let Some(text) = in_lines_below(line, after) {
        return (" ", text, &after[text.len()..]);
    }
    let value = after.trim_start_matches(BLANKS);
    let blanks = after.len() - value.len();
    // An empty value of a kernel argument: the next argument follows.
    let is_apart = blanks > 0 && (sign == ":" || bare.len() < head.len());
    if blanks > 0 && !is_apart && sign != ">" {
        return none;
    }
    let inner = value.chars().next().filter(|c| QUOTES.contains(c));
    let start = blanks + usize::from(inner.is_some());
    let (open, rest) = after.split_at(start);
    let end = match (inner, open_quote(head)) {
        (Some(quote), _) if sign == ":" || is_apart => end_of_quoted(line, quote, rest),
        (Some(quote), _) | (None, Some(quote)) => rest.find([quote, '\n']),
        (None, None) if sign == ">" => rest.find('<'),
        (None, None) if is_apart && head.contains('{') => Some(until(below(line, rest), &[',', '}'])),
        (None, None) if sign == ":" && is_apart => Some(until(below(line, rest), &['\0', '<'])),
        (None, None) if is_apart => rest.find(['\n', '\0', '<']),
        (None, None) => rest.find(|c: char| c.is_whitespace() || "<>\0".contains(c)),
    };
    let (value, behind) = rest.split_at(end.unwrap_or(rest.len()));
    (open, value, behind)
}

/// Name at the end of a text, with or without quotes, and the text before it.
fn name_at_end(text: &str) -> (&str, Option<char>) {
    let text = text.strip_suffix(QUOTES).unwrap_or(text);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name = text.trim_end_matches(is_of_name);
    (&text[name.len()..], name.chars().next_back())
}

/// Quote that a line has opened but not closed.
fn open_quote(line: &str) -> Option<char> {
    line.chars().fold(None, |open, c| match open {
        None if QUOTES.contains(&c) => Some(c),
        Some(quote) if quote == c => None,
        open => open,
    })
}

/// End of a quoted text that may continue on the following lines, as in YAML: `\"` does not end one in double quotes, `''` does not end one
/// in single quotes.
fn end_of_quoted(line: &str, quote: char, rest: &str) -> Option<usize> {
    let text = below(line, rest);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_doubled = quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == quote);
        match c {
            '\\' if quote == '"' => drop(chars.next()),
            c if c == quote && is_doubled => drop(chars.next()),
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    rest.find('\n')
}

/// A value in YAML: the rest of its line, and the following lines that are indented further than its name.
fn below<'a>(line: &str, rest: &'a str) -> &'a str {
    let name = line[..line.len() - 1].trim_end_matches(BLANKS);
    let depth = name.len() - name.trim_start_matches([' ', '\t', '-']).len();
    let is_inside = |next: &str| next.trim().is_empty() || next.len() - next.trim_start().len() > depth;
    let mut lines = rest.split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    let end = first + lines.take_while(|next| is_inside(next)).map(str::len).sum::<usize>();
    rest[..end].trim_end()
}

/// Value of a name at the end of its line, which follows on the next lines: a text or a list of texts. Entries of a mapping are checked by
/// their own names.
fn in_lines_below<'a>(line: &str, after: &'a str) -> Option<&'a str> {
    let text = below(line, after);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let is_below = line.ends_with(':') && after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    (is_below && !is_entry(first.trim_start_matches("- "))).then_some(text)
}

/// True for an entry of a mapping, whose name may be in quotes.
fn is_entry(line: &str) -> bool {
    match line.strip_prefix(QUOTES).zip(line.chars().next()) {
        Some((text, quote)) => text
            .split_once(quote)
            .is_some_and(|(_, behind)| behind.starts_with(':')),
        None => line.ends_with(':') || line.contains(": "),
    }
}

/// Length of the text before one of these, or of the whole text.
fn until(text: &str, ends: &[char]) -> usize {
    text.find(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use crate::capture::neutral::Neutral;

    #[test]
    fn a_text_over_several_lines_is_hidden_as_a_whole() {
        for (text, shown) in [
            (
                "a:\n  password: | # two lines\n    ge\n\n    heim\n  b: 1\n",
                "a:\n  password: (hidden)\n  b: 1\n",
            ),
            ("password: >2-\n  ge\n  heim\nb: 1\n", "password: (hidden)\nb: 1\n"),
            ("password: !!str |\n  ge\n  heim\nb: 1\n", "password: (hidden)\nb: 1\n"),
            (
                "password: &p |+\r\n  ge\r\n  heim\r\nb: 1\r\n",
                "password: (hidden)\r\nb: 1\r\n",
            ),
            (
                "- password: |\n    ge\n    heim\n  b: 1\n",
                "- password: (hidden)\n  b: 1\n",
            ),
            (
                "password: \"ge\n  heim\" # x\nb: 1\n",
                "password: \"(hidden)\" # x\nb: 1\n",
            ),
            ("password: 'ge''x\n\n  heim'\nb: 1\n", "password: '(hidden)'\nb: 1\n"),
            (
                "password: \"ge\\\"x\n  heim\"\nb: 1\n",
                "password: \"(hidden)\"\nb: 1\n",
            ),
            ("password: ge\n  heim\nb: 1\n", "password: (hidden)\nb: 1\n"),
            ("password:\n  ge\n  heim\nb: 1\n", "password: (hidden)\nb: 1\n"),
            (
                "a:\n  passwords:\n    - ge\n    - heim\n  b: 1\n",
                "a:\n  passwords: (hidden)\n  b: 1\n",
            ),
            ("password:\n  \"ge: heim\"\nb: 1\n", "password: (hidden)\nb: 1\n"),
            ("token:\n  Z2U=\n  aGVpbQ==\nb: 1\n", "token: (hidden)\nb: 1\n"),
            ("secrets:\n  \"db\": x\nb: 1\n", "secrets:\n  \"db\": x\nb: 1\n"),
            ("{password: ge\nheim\nb: 1\n", "{password: (hidden)\nheim\nb: 1\n"),
            ("{password: ge\n  heim, port: 5}\n", "{password: (hidden), port: 5}\n"),
            (
                "{\"password\":\"ge\\\"heim\",\"port\":5}\n",
                "{\"password\":\"(hidden)\",\"port\":5}\n",
            ),
            (
                "secrets:\n  db:\n    file: /x\nb: 1\n",
                "secrets:\n  db:\n    file: /x\nb: 1\n",
            ),
            ("password: \"open\nb: 1\n", "password: \"(hidden)\nb: 1\n"),
        ] {
            let kept = Neutral::of(&[]).file("/etc/relay/compose.yaml", text.as_bytes());
            assert_eq!(String::from_utf8(kept).expect("text"), shown, "{text}");
        }
    }
}
