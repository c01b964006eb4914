//! The kinds of the functions in a relay file, to name those that do not go together.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};
use units::{Refusal, line_of, refusal};

/// The functions of a relay file, whatever else is in it.
#[derive(Deserialize)]
struct Functions {
    #[serde(default, rename = "function")]
    functions: Vec<Spanned<Kinds>>,
}

#[derive(Deserialize)]
struct Kinds {
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    settings: BTreeMap<Spanned<String>, Value>,
}

/// The refusal of the first function whose settings are not those of one kind; `None` if each has one.
pub(super) fn refused(text: &str) -> Option<Refusal> {
    let found: Functions = toml::from_str(text).ok()?;
    let wrong = |function: &&Spanned<Kinds>| function.get_ref().settings.len() != 1;
    let function = found.functions.iter().find(wrong)?;
    let start = function.span().start;
    let Kinds { name, settings } = function.get_ref();
    let mut kinds: Vec<&Spanned<String>> = settings.keys().collect();
    kinds.sort_by_key(|kind| kind.span().start);
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    let problem = match kinds.last() {
        None => refusal!("it is empty: give the kind of the function, such as settings.ptoc = {{ pickup = 1.2 }}")
            .of_key("settings"),
        Some(_) => {
            let names: Vec<String> = kinds
                .iter()
                .map(|kind| format!("settings.{}", kind.get_ref()))
                .collect();
            refusal!("a function has settings of one kind: write a [[function]] for each").of_key(names.join(", "))
        }
    };
    let at = kinds.get(1).map_or(start, |kind| kind.span().start);
    Some(
        problem
            .of(format_args!("function \"{name}\""))
            .at_line(line_of(text, at)),
    )
}
