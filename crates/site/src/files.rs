//! Plan, relay, limits and statements of a site, as files.

use crate::answers::Answers;
use crate::form::quoted;
use crate::found::Found;
use report::limits::Profile;
use std::fmt::Write;
use std::path::Path;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name in the folder.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// The answers of a person, and where they are missing, those found.
pub(crate) struct Settled<'a> {
    pub(crate) answers: &'a Answers,
    pub(crate) found: &'a Found,
}

impl<'a> Settled<'a> {
    pub(crate) fn of(&self, key: &str) -> Option<&'a str> {
        self.answers
            .of(key)
            .or_else(|| self.found.of(key).map(|(answer, _)| answer))
    }

    fn or(&self, key: &str, otherwise: &'a str) -> &'a str {
        self.of(key).unwrap_or(otherwise)
    }

    /// The site's name, or that of the machine.
    fn site(&self, machine: &'a str) -> &'a str {
        self.or("site", machine)
    }
}

/// The files: `plan.toml`, `relay.toml`, `limits.toml`, `about.toml`. `folder` is the path under which the plan names relay and limits, `machine` the
/// name of this machine.
pub fn files(answers: &Answers, found: &Found, folder: &Path, machine: &str) -> [File; 4] {
    let settled = Settled { answers, found };
    [
        File {
            name: "plan.toml",
            text: plan(&settled, folder, machine),
        },
        File {
            name: "relay.toml",
            text: relay(&settled),
        },
        File {
            name: "limits.toml",
            text: profile(&settled, machine),
        },
        File {
            name: "about.toml",
            text: about(&settled, machine),
        },
    ]
}

/// The steps of the plan `substation`, with the streams, the place and the durations of the site.
fn plan(settled: &Settled<'_>, folder: &Path, machine: &str) -> String {
    let cpus = settled.of("cpus").map_or_else(|| quoted("rest"), quoted);
    let place = settled.or("place", "native");
    let (streams, rate, asdus) = stream(settled);
    let duration = quoted(settled.or("duration", "10m"));
    let name = quoted(&format!("site {}", settled.site(machine)));
    format!(
        r#"# Written by `triptime site`. Change site.toml and write it again, or change it here: docs/formats/plan.md has the keys.

name = {name}
what = "Wake-ups, noise, round trip, {streams} streams and trips at this site"
limits = {limits}
window = "20s"
place = "{place}"

[cpus]
housekeeping = "first"
measured = {cpus}

[[load]]
kind = "hackbench"
groups = 4
fds = 1

[[load]]
kind = "memory"
size = "64MiB"

[[step]]
probe = "wakeup"
duration = {duration}
interval = "250us"
policy = "fifo:80"

[[step]]
probe = "noise"
duration = {duration}
gaps_above = "1us"
policy = "fifo:80"

[[step]]
probe = "reflect"
duration = {duration}
interval = "250us"
policy = "fifo:60"

[[step]]
probe = "sampled-values"
duration = {duration}
streams = {streams}
rate = {rate}
asdus = {asdus}
policy = "fifo:60"
trace = true

[[step]]
probe = "trip"
duration = {duration}
relay = {relay}
streams = {streams}
profile = "F{rate}S{asdus}I4U4"
scenario = ["overcurrent", "load", "inrush"]
policy = "fifo:60"
"#,
        limits = quoted(&folder.join("limits.toml").to_string_lossy()),
        relay = quoted(&folder.join("relay.toml").to_string_lossy()),
    )
}

/// A relay of the program, with a bay for each stream and the site's profile.
fn relay(settled: &Settled<'_>) -> String {
    let (streams, rate, asdus) = stream(settled);
    let built_in = relay::library::file(&format!("bays{streams}")).unwrap_or_default();
    let head = "# Written by `triptime site`, from the program's own relay. Change functions and settings to those of this site.\n\n";
    head.to_owned() + &built_in.replace("F4800S1I4U4", &format!("F{rate}S{asdus}I4U4"))
}

/// Number, rate and ASDUs of the streams.
fn stream<'a>(settled: &Settled<'a>) -> (&'a str, &'a str, &'a str) {
    let rate = settled.or("rate", "4800");
    // One in a frame fits every rate.
    let usual = if rate == "4800" { "2" } else { "1" };
    (settled.or("streams", "8"), rate, settled.or("asdus", usual))
}

/// The profile it begins with, under the site's name, and the site's own time of a trip.
fn profile(settled: &Settled<'_>, machine: &str) -> String {
    let basis = settled.or("profile", "substation");
    let text = Profile::embedded_text(basis).unwrap_or_default();
    let own = format!("name = {}", quoted(&format!("site {}", settled.site(machine))));
    let named = text.replacen(&format!("name = \"{basis}\""), &own, 1);
    let head =
        format!("# Written by `triptime site`, from the profile {basis}: docs/formats/limits.md has the keys.\n\n");
    let mut profile = head + &named;
    if let Some(within) = settled.of("trip_within") {
        let source = settled.or("trip_source", "site.toml, trip_within");
        let _ = write!(
            profile,
            "\n[[limit]]\nid = \"site.trip\"\nseries = \"trip/*\"\nquantity = \"max\"\nallowed = {}\nsource = {}\n",
            quoted(within),
            quoted(source)
        );
    }
    profile
}

fn about(settled: &Settled<'_>, machine: &str) -> String {
    let mut text = "# Written by `triptime site`: docs/formats/about.md has the other keys.\n\n".to_owned();
    let rows = [
        ("object", settled.of("object")),
        ("site", Some(settled.site(machine))),
        ("operator", settled.of("operator")),
    ];
    for (key, value) in rows {
        let _ = writeln!(text, "{key} = {}", quoted(value.unwrap_or_default()));
    }
    let criteria = format!("limits.toml, from the profile {}", settled.or("profile", "substation"));
    let _ = writeln!(text, "criteria = {}", quoted(&criteria));
    text
}

#[cfg(test)]
mod tests {
    use super::files;
    use crate::{Answers, Found, QUESTIONS};
    use plan::Plan;
    use report::about::About;
    use report::limits::Profile;

    fn read(answers: &Answers) -> (Plan, Profile, About) {
        let folder = tempfile::tempdir().expect("a folder");
        let [plan, relay, limits, about] = files(answers, &Found::default(), folder.path(), "host7");
        std::fs::write(folder.path().join(relay.name), &relay.text).expect("written");
        (
            Plan::parse(plan.name, &plan.text).expect("a plan"),
            Profile::parse_given(&limits.text, limits.name).expect("limits"),
            About::parse(&about.text).expect("statements"),
        )
    }

    #[test]
    fn without_any_answer_the_files_are_usable() {
        let (plan, limits, about) = read(&Answers::default());
        assert_eq!((plan.name.as_str(), plan.steps.len()), ("site host7", 5));
        assert_eq!(limits.name, "site host7");
        assert_eq!(about.site, "host7");
    }

    #[test]
    fn the_answers_are_in_the_files() {
        let mut answers = Answers::default();
        for question in &QUESTIONS {
            answers.give(question, question.example).expect("its own example");
        }
        let (plan, limits, about) = read(&answers);
        assert!(plan.limits.ends_with("/limits.toml"), "{}", plan.limits);
        assert!(plan.text.contains("/relay.toml\"\n") && plan.text.contains("measured = \"2-3\""));
        let trip = limits
            .limits
            .iter()
            .find(|limit| limit.id == "site.trip")
            .expect("the site's limit");
        assert_eq!(trip.source, "Protection concept 110 kV, edition 3, table 4");
        assert_eq!(about.operator, "A. Example");
    }

    #[test]
    fn each_profile_and_rate_makes_readable_files() {
        for (profile, rate) in [
            ("substation", "4000"),
            ("seapath", "4800"),
            ("vpac", "14400"),
            ("avb", "12800"),
        ] {
            let mut answers = Answers::default();
            for (key, answer) in [("profile", profile), ("rate", rate), ("site", "a \"b\" \\ c")] {
                answers
                    .give(crate::Question::of(key).expect("a key"), answer)
                    .expect("an answer");
            }
            assert_eq!(read(&answers).1.name, "site a \"b\" \\ c");
        }
    }
}
