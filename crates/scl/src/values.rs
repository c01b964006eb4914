//! Values stated by the instance of a data object: `Val` of its `DAI`.

use crate::xml::Element;

/// Largest depth of nested structures, as for types.
const DEEPEST: usize = 12;

/// Largest number of values read for one data object.
const MOST_VALUES: usize = 1_000;

/// The values below `path` (data object, sub-objects, attribute and its parts) of the logical node `node`, each with its path below `path`, which is
/// empty if `path` is itself a value.
pub(crate) fn stated<'a>(node: Element<'a, '_>, path: &[&str]) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    let Some((object, rest)) = path.split_first() else {
        return found;
    };
    let Some(mut at) = node.named("DOI").find(|doi| doi.text_of("name") == *object) else {
        return found;
    };
    for part in rest {
        let Some(inner) = at.elements().find(|inner| inner.text_of("name") == *part) else {
            return found;
        };
        at = inner;
    }
    collect(at, &mut Vec::new(), DEEPEST, &mut found);
    found
}

fn collect<'a>(at: Element<'a, '_>, path: &mut Vec<&'a str>, depth: usize, found: &mut Vec<(String, &'a str)>) {
    if depth == 0 || found.len() >= MOST_VALUES {
        return;
    }
    if at.name() == "DAI" {
        found.extend(at.first("Val").map(|value| (path.join("."), value.content())));
        return;
    }
    for part in at.elements().filter(|part| matches!(part.name(), "SDI" | "DAI")) {
        path.push(part.text_of("name"));
        collect(part, path, depth - 1, found);
        path.pop();
    }
}
