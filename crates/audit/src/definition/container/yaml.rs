//! YAML as a JSON tree. Anchors are resolved, and so are merge keys (`<<`), since compose files use them.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json};

/// Maximum number of values in a document with its aliases resolved: a small file can expand to billions.
const MOST_VALUES: usize = 200_000;
/// Maximum nesting depth.
const DEEPEST: usize = 64;

/// A value under construction.
enum Open {
    List(usize, Vec<Json>),
    /// Anchor, completed part, and the key that still lacks its value.
    Map(usize, Map<String, Json>, Option<String>),
}

/// Documents of a text, in order; empty ones are left out.
///
/// # Errors
/// The text is not well-formed, or exceeds a maximum; with the position.
pub fn documents(text: &str) -> Result<Vec<Json>, String> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        reader.take(event)?;
    }
    Ok(reader.documents)
}

#[derive(Default)]
struct Reader {
    documents: Vec<Json>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Json>,
    values: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
                let value = if is_text {
                    Json::String(text.into_owned())
                } else {
                    plain(&text)
                };
                self.add(anchor, value)
            }
            Event::SequenceStart(anchor, _) => self.begin(Open::List(anchor, Vec::new())),
            Event::MappingStart(anchor, _) => self.begin(Open::Map(anchor, Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(anchor, items)) => self.add(anchor, Json::Array(items)),
                Some(Open::Map(anchor, entries, _)) => self.add(anchor, Json::Object(entries)),
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned();
                self.add(0, value.ok_or("an alias of an anchor that is not complete")?)
            }
            Event::DocumentEnd => {
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, open: Open) -> Result<(), String> {
        if self.open.len() >= DEEPEST {
            return Err(format!("nested deeper than {DEEPEST}"));
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, anchor: usize, value: Json) -> Result<(), String> {
        self.values += size(&value, MOST_VALUES);
        if self.values > MOST_VALUES {
            return Err(format!("more than {MOST_VALUES} values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None if value.is_null() => {}
            None => self.documents.push(value),
            Some(Open::List(_, items)) => items.push(value),
            Some(Open::Map(_, entries, key)) => match key.take() {
                None => *key = Some(as_key(value)),
                Some(key) => insert(entries, key, value),
            },
        }
        Ok(())
    }
}

/// Number of values in it; counts up to `most`.
fn size(value: &Json, most: usize) -> usize {
    let mut open = vec![value];
    let mut count = 0;
    while let Some(value) = open.pop() {
        count += 1;
        if count > most {
            break;
        }
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(entries) => open.extend(entries.values()),
            _ => {}
        }
    }
    count
}

fn as_key(value: Json) -> String {
    match value {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// Inserts an entry. Entries from `<<` do not replace existing ones.
fn insert(entries: &mut Map<String, Json>, key: String, value: Json) {
    if key != "<<" {
        entries.insert(key, value);
        return;
    }
    let maps = match value {
        Json::Array(maps) => maps,
        map => vec![map],
    };
    for (key, value) in maps.into_iter().filter_map(|map| map.as_object().cloned()).flatten() {
        entries.entry(key).or_insert(value);
    }
}

/// A scalar without quotes, by YAML's core schema, and with the `yes` and `no` of older files left as texts.
fn plain(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "true" | "True" | "TRUE" => return Json::Bool(true),
        "false" | "False" | "FALSE" => return Json::Bool(false),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return Json::from(number);
    }
    if let Ok(number) = text.parse::<u64>() {
        return Json::from(number);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            Json::from(number)
        }
        _ => Json::String(text.to_owned()),
    }
}
