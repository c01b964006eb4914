//! Names that a relay file refers to.

use units::{Refusal, refusal};

/// Index of `wanted` among `names`; otherwise a sentence with the most similar name, or with all names.
pub(super) fn find<'a>(
    what: &str,
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, Refusal> {
    if let Some(found) = names.clone().position(|name| name == wanted) {
        return Ok(found);
    }
    let nearest = names.clone().min_by_key(|name| distance(name, wanted));
    Err(match nearest {
        None => refusal!("no {what} \"{wanted}\": the file has none"),
        Some(near) if distance(near, wanted) <= 1 + wanted.chars().count() / 3 => {
            refusal!("no {what} \"{wanted}\": did you mean \"{near}\"?")
        }
        Some(_) => {
            let have: Vec<&str> = names.collect();
            refusal!("no {what} \"{wanted}\" (have: {})", have.join(", "))
        }
    })
}

/// Checks that a name is not used yet, and has no characters that could be confused with the text around it.
pub(super) fn free<'a>(what: &str, name: &str, mut taken: impl Iterator<Item = &'a String>) -> Result<(), Refusal> {
    if name.is_empty() || name.contains(['.', ':', ',']) || name.chars().any(char::is_control) {
        return Err(refusal!(
            "{what} \"{name}\": a name has no dot, colon, comma or control character, and is not empty"
        ));
    }
    match taken.any(|other| other == name) {
        true => Err(refusal!(
            "{what} \"{name}\" is in the file twice: give each its own name"
        )),
        false => Ok(()),
    }
}

/// Number of letters to insert, delete or change to get from one word to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, wanted) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, find};

    #[test]
    fn the_nearest_is_named() {
        assert_eq!(distance("bay1", "bay1"), 0);
        assert_eq!(distance("bay1", "by12"), 2);
        assert_eq!(distance("", "abc"), 3);
        let names = ["bay1", "line"];
        assert_eq!(find("stream", "line", names.into_iter()), Ok(1));
        let near = find("stream", "bya1", names.into_iter()).expect_err("none");
        assert_eq!(near.to_string(), "no stream \"bya1\": did you mean \"bay1\"?");
        let far = find("stream", "transformer", names.into_iter()).expect_err("none");
        assert_eq!(far.to_string(), "no stream \"transformer\" (have: bay1, line)");
        assert!(find("stream", "x", std::iter::empty()).is_err());
    }
}
