//! False statements that a trusted signer made.

use super::{BROKEN, UNDECIDED, UNREADABLE, Way, signed_again, signed_value, way};
use crate::bench::Bench;
use serde_json::Value;

/// False statements of a signer whom the reader trusts.
pub(super) fn signed_by_a_trusted_key<'a>() -> Vec<Way<'a>> {
    let edited = |name: &str, says, from: &'static str, to: &'static str| {
        way(&format!("{name}, signed again"), BROKEN, says, move |bench: &Bench| {
            signed_again(bench, &|text| text.replacen(from, to, 1));
        })
    };
    let changed = |name: &str, says, by: fn(&mut Value)| {
        way(&format!("{name}, signed again"), BROKEN, says, move |bench: &Bench| {
            signed_value(bench, &by);
        })
    };
    vec![
        edited(
            "another verdict",
            "not that of its own runs",
            "\"verdict\": \"pass\"",
            "\"verdict\": \"fail\"",
        ),
        changed("another verdict of run and whole", "differs    verdict", |value| {
            value["verdict"] = "inconclusive".into();
            value["runs"][0]["result"]["verdict"] = "inconclusive".into();
        }),
        edited(
            "a smaller figure",
            "].max",
            "\"max\": 439999,\n            \"exposure",
            "\"max\": 39999,\n            \"exposure",
        ),
        edited(
            "a smaller value of a check",
            "].measured",
            "\"measured\": 439999",
            "\"measured\": 39999",
        ),
        edited(
            "more samples",
            "].received",
            "\"received\": 180000",
            "\"received\": 9180000",
        ),
        edited(
            "a longer run",
            "run.duration_s",
            "\"duration_s\": ",
            "\"duration_s\": 9",
        ),
        edited(
            "a larger limit",
            "differs",
            "allowed = \\\"1ms\\\"",
            "allowed = \\\"9ms\\\"",
        ),
        edited(
            "a number as text",
            "].max",
            "\"max\": 439999,\n            \"exposure",
            "\"max\": \"439999\",\n            \"exposure",
        ),
        way(
            "a name twice, deep inside, signed again",
            UNREADABLE,
            "twice",
            |bench| {
                let once = "\"expected\": 180000";
                signed_again(bench, &|text| {
                    text.replacen(once, &format!("\"expected\": 1,\n{once}"), 1)
                });
            },
        ),
        changed("another length", "octets", |value| {
            value["runs"][0]["octets"] = 1.into();
        }),
        changed("another hash", "CHANGED", |value| {
            value["runs"][0]["sha256"] = "0".repeat(64).into();
        }),
        changed("another hash of the limits", "profile.sha256", |value| {
            value["runs"][0]["profile"]["sha256"] = "0".repeat(64).into();
        }),
        changed("a plan that the run had not", "differs    plan", |value| {
            value["runs"][0]["plan"] = serde_json::json!({"sha256": "0", "text": "name = \"site\""});
        }),
        changed("another decision rule", "its decision rule is not", |value| {
            value["decision_rule"] = "Trust us.".into();
        }),
        changed("a deviation kept back", "deviations", |value| {
            value["deviations"] = serde_json::json!([]);
        }),
        changed("a deviation in other words", "deviations", |value| {
            value["deviations"] = serde_json::json!(["sat.triptime: a formality"]);
        }),
        changed("a field that nobody knows", "no field \"accredited\"", |value| {
            value["accredited"] = true.into();
        }),
        changed(
            "a field of a run that nobody knows",
            "no field \"runs[0].seal\"",
            |value| {
                value["runs"][0]["seal"] = "good".into();
            },
        ),
        changed("a series left out", "series[task/VPC]", |value| {
            value["runs"][0]["result"]["series"] = serde_json::json!([]);
        }),
        changed("a check left out", "checks[", |value| {
            value["runs"][0]["result"]["checks"] = serde_json::json!([]);
        }),
        changed("another number of events", "events.", |value| {
            value["runs"][0]["result"]["events"]["note"] = 0.into();
        }),
        changed("no result", "differs", |value| value["runs"][0]["result"] = Value::Null),
        changed("no run", "not that of its own runs", |value| {
            value["runs"] = serde_json::json!([]);
        }),
        changed("another program and a smaller figure", "by another build", |value| {
            value["issued_by"] = "9.9.9".into();
            value["runs"][0]["result"]["series"][0]["max"] = 5.into();
        }),
        changed("another program and a series left out", "series[task/VPC]", |value| {
            value["issued_by"] = "9.9.9".into();
            value["runs"][0]["result"]["series"] = serde_json::json!([]);
        }),
        way("a later schema, signed again", UNREADABLE, "its schema is", |bench| {
            signed_again(bench, &|text| text.replacen("certificate/1", "certificate/2", 1));
        }),
        way("a run in another folder, signed again", UNDECIDED, "MISSING", |bench| {
            signed_again(bench, &|text| text.replacen("\"file\": \"sat", "\"file\": \"../sat", 1));
        }),
        way(
            "a zero in the name of a run, signed again",
            UNDECIDED,
            "MISSING",
            |bench| {
                signed_again(bench, &|text| {
                    text.replacen("\"file\": \"sat", "\"file\": \"\\u0000sat", 1)
                });
            },
        ),
    ]
}
