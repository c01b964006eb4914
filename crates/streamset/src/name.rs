//! Names with a range: `BAY{01..20}_MU`.

use units::{Refusal, refusal};

/// Largest number of streams in one range.
const MOST: u32 = 10_000;

/// The names in a text with a range. Each number of the range has as many digits as the first one.
///
/// # Errors
/// Defect of the text, and how to write it.
pub fn expand(text: &str) -> Result<Vec<String>, Refusal> {
    let Some((before, rest)) = text.split_once('{') else {
        return match text.contains('}') {
            true => Err(refusal!("`{text}` has a }} without {{")),
            false => Ok(vec![text.to_owned()]),
        };
    };
    let (range, after) = rest
        .split_once('}')
        .ok_or_else(|| refusal!("`{text}` has a {{ without }}"))?;
    if after.contains(['{', '}']) {
        return Err(refusal!("`{text}` has more than one range"));
    }
    let (first, last, digits) =
        numbers(range).ok_or_else(|| refusal!("`{{{range}}}` is not a range: write it as {{01..20}}"))?;
    let name = |number| format!("{before}{number:0digits$}{after}");
    Ok((first..=last).map(name).collect())
}

/// The svIDs in a text with a range.
///
/// # Errors
/// Defect of the text, and how to write it.
pub(crate) fn sv_ids(text: &str) -> Result<Vec<String>, Refusal> {
    let names = expand(text)?;
    match names.iter().find(|name| !is_visible(name)) {
        Some(name) => Err(refusal!(
            "`{name}` cannot be a svID: use 1 to {} characters of visible ASCII",
            wire::sv::MAX_NAME
        )),
        None => Ok(names),
    }
}

/// First and last number, and the number of digits. The range is not empty and not too long.
fn numbers(range: &str) -> Option<(u32, u32, usize)> {
    let (from, to) = range.split_once("..")?;
    let number = |digits: &str| -> Option<u32> {
        let plain = digits.bytes().all(|octet| octet.is_ascii_digit()) && digits.len() <= 9;
        digits.parse().ok().filter(|_| plain)
    };
    let (first, last) = (number(from)?, number(to)?);
    (first <= last && last - first < MOST).then_some((first, last, from.len()))
}

/// True if a text can be a svID or datSet.
pub(crate) fn is_visible(name: &str) -> bool {
    (1..=wire::sv::MAX_NAME).contains(&name.len()) && name.bytes().all(|octet| (0x20..0x7f).contains(&octet))
}

#[cfg(test)]
mod tests {
    use super::sv_ids;

    #[test]
    fn ranges() {
        assert_eq!(sv_ids("MU01"), Ok(vec!["MU01".into()]));
        assert_eq!(
            sv_ids("B{08..10}x"),
            Ok(vec!["B08x".into(), "B09x".into(), "B10x".into()])
        );
        assert_eq!(sv_ids("{1..1}"), Ok(vec!["1".into()]));
        assert_eq!(sv_ids("M{0..9999}").map(|names| names.len()), Ok(10_000));
        for (text, part) in [
            ("M{1..0}", "not a range"),
            ("M{1}", "not a range"),
            ("M{-1..3}", "not a range"),
            ("M{1..20000}", "not a range"),
            ("M{1..2}{1..2}", "more than one"),
            ("M{1..2", "without }"),
            ("M1}", "without {"),
            ("", "1 to 129"),
            ("MÜ", "visible ASCII"),
        ] {
            let error = sv_ids(text).expect_err(text);
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
