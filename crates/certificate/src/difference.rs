//! Differences between a certified result and one judged again.

use serde_json::Value;

/// A value that is not as certified.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Place in the result: `checks[wakeup.max of wakeup/cpu1].verdict`.
    pub place: String,
    /// The value in the certificate; `Null` if there is none.
    pub certified: Value,
    /// The value found; `Null` if there is none.
    pub found: Value,
}

impl Difference {
    /// True if it is one of measured figures, which do not depend on the version that judges: of a series, of the run itself, of a fact, or of
    /// the value that a limit judged.
    pub fn is_of_data(&self) -> bool {
        let begins = |name: &&str| self.place.starts_with(*name);
        let is_data = ["series[", "run.", "inventory[", "events.", "plan", "profile.", "octets"]
            .iter()
            .any(begins);
        let is_figure = self.place.starts_with("checks[") && self.place.ends_with("].measured");
        // A series comes from the run file, whatever the version.
        let is_series = self.place.starts_with("series[") && self.place.ends_with(']') || self.place == "series";
        // A field that one of both versions does not have is not a changed one.
        is_series || ((is_data || is_figure) && !self.certified.is_null() && !self.found.is_null())
    }
}

/// All differences between two results, in the order of the certified one.
pub fn differences(certified: &Value, found: &Value) -> Vec<Difference> {
    let mut list = Vec::new();
    compare("", certified, found, &mut list);
    list
}

fn compare(place: &str, certified: &Value, found: &Value, list: &mut Vec<Difference>) {
    match (certified, found) {
        (Value::Object(left), Value::Object(right)) => {
            let added = right.keys().filter(|name| !left.contains_key(*name));
            for name in left.keys().chain(added) {
                let place = if place.is_empty() {
                    name.clone()
                } else {
                    format!("{place}.{name}")
                };
                compare(&place, &certified[name], &found[name], list);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for at in 0..left.len().max(right.len()) {
                let (one, other) = (
                    left.get(at).unwrap_or(&Value::Null),
                    right.get(at).unwrap_or(&Value::Null),
                );
                let named = if one.is_null() { other } else { one };
                compare(&format!("{place}[{}]", name_of(named, at)), one, other, list);
            }
        }
        _ if certified == found => {}
        _ => list.push(Difference {
            place: if place.is_empty() { "result" } else { place }.to_owned(),
            certified: certified.clone(),
            found: found.clone(),
        }),
    }
}

/// Name of an item of a list, so that a reader finds it: its limit and series, its name, or its place.
fn name_of(item: &Value, at: usize) -> String {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    match (text("limit"), text("series"), text("group"), text("name")) {
        (Some(limit), Some(series), ..) => format!("{limit} of {series}"),
        (_, _, Some(group), Some(name)) => format!("{group}, {name}"),
        (.., Some(name)) => name.to_owned(),
        _ => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::differences;
    use serde_json::json;

    #[test]
    fn a_difference_is_named_by_what_it_is_about() {
        let certified =
            json!({"verdict": "pass", "checks": [{"limit": "wakeup.max", "series": "wakeup/cpu1", "measured": 5}]});
        assert_eq!(differences(&certified, &certified), []);
        let mut found = certified.clone();
        found["checks"][0]["measured"] = json!(6);
        let list = differences(&certified, &found);
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].place, "checks[wakeup.max of wakeup/cpu1].measured");
        assert_eq!((&list[0].certified, &list[0].found), (&json!(5), &json!(6)));
    }

    #[test]
    fn a_series_that_was_left_out_is_a_difference_of_data_for_every_version() {
        let (all, one) = (
            json!({"series": [{"name": "a", "max": 1}, {"name": "b"}], "more": 1}),
            json!({"series": [{"name": "a"}]}),
        );
        let list = differences(&one, &all);
        let of_data: Vec<&str> = list
            .iter()
            .filter(|each| each.is_of_data())
            .map(|each| each.place.as_str())
            .collect();
        assert_eq!(of_data, ["series[b]"]);
        assert!(differences(&json!({}), &all).iter().any(|each| each.is_of_data()));
    }

    #[test]
    fn an_item_more_or_less_is_a_difference() {
        let (one, two) = (
            json!({"series": [{"name": "a"}]}),
            json!({"series": [{"name": "a"}, {"name": "b"}], "more": 1}),
        );
        let places = |left, right| {
            differences(left, right)
                .into_iter()
                .map(|each| each.place)
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&one, &two), ["series[b]", "more"]);
        assert_eq!(places(&two, &one), ["series[b]", "more"]);
    }
}
