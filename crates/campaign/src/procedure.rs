//! The procedure that a run was to follow, and how plan, limits and options of the run depart from it, from its file.

use crate::CampaignError;
use model::fact::{CPUS_LEFT_OUT, STEPS_SETTLED};
use plan::{EMBEDDED, Plan, first_step_of_rest};
use report::limits::Profile;
use report::procedure::{Deviation, PlanOfRun, Procedure};
use store::RunFile;

/// Options of a plan's run with a value that concern its files, its names or its start alone. Every other option counts as one that changes how or
/// where it measures: an option that this list forgot is named once too often, never left out.
const HARMLESS: [&str; 8] = [
    "--out",
    "--label",
    "--html",
    "--junit",
    "--about",
    "--file-budget",
    "--secret",
    "--detached",
];

/// The same without a value.
const HARMLESS_FLAGS: [&str; 9] = [
    "--quiet",
    "--json",
    "--full",
    "--summary",
    "--detach",
    "--restart-after-reboot",
    "--list",
    "--show",
    "--dry-run",
];

/// Other options without a value: the word after them is not theirs.
const FLAGS: [&str; 5] = [
    "--hold-idle",
    "--no-flight-recorder",
    "--force",
    "--disturb",
    "--serial",
];

/// Short names, which may stand in one word: `-qa2`.
const SHORT: [(char, &str); 3] = [('D', "--duration"), ('a', "--cpus"), ('q', "--quiet")];

/// The procedure of a run that is judged by `used`.
///
/// # Errors
/// The run file cannot be read.
pub fn procedure_of(run: &RunFile, used: Option<&Profile>) -> Result<Procedure, CampaignError> {
    let text = run.document("plan")?;
    let mut given = text
        .as_ref()
        .map(|_| options(&run.info().arguments))
        .unwrap_or_default();
    let read = text
        .as_deref()
        .map(|text| Plan::parse("plan kept in the run", text).ok());
    let plan = read.as_ref().and_then(Option::as_ref);
    let is_plans = |option: &Given| option.name == "--limits" && option.value.as_ref() == plan.map(|plan| &plan.limits);
    given.retain(|option| !is_plans(option));
    let facts = run.facts()?;
    let found = [
        read.as_ref().filter(|plan| plan.is_none()).map(|_| unreadable()),
        plan.zip(text.as_deref())
            .and_then(|(plan, text)| other_plan(plan, text)),
        used.and_then(other_profile),
        other_limits(run, used)?,
        changed_by(&given),
        CPUS_LEFT_OUT.of(&facts).map(cpus_left_out),
    ];
    let labels = labels(&given);
    let settled = STEPS_SETTLED.of(&facts);
    let first = first_step_of_rest(&run.events()?);
    Ok(Procedure {
        plan: plan.map(|plan| PlanOfRun {
            name: plan.name.clone(),
            steps: plan
                .as_settled(settled.as_deref(), &labels)
                .planned(duration(&given), &labels),
            before: first.map_or(0, |first| first.saturating_sub(1)),
            is_rest: first.is_some(),
            loads: plan.all_through(),
        }),
        deviations: found.into_iter().flatten().collect(),
    })
}

fn unreadable() -> Deviation {
    Deviation::of_run(
        "this version cannot read the plan that it followed",
        "Its steps are not listed, so that a missing one is not seen.",
    )
}

/// Names the CPUs that a step left to another one beside it.
fn cpus_left_out(text: String) -> Deviation {
    Deviation::of_run(text, "The verdict on this step is about its other CPUs.")
}

/// Names a plan that has the name of a shipped one, and another text.
fn other_plan(plan: &Plan, text: &str) -> Option<Deviation> {
    let (name, shipped) = EMBEDDED.iter().find(|(name, _)| *name == plan.name)?;
    (*shipped != text).then(|| {
        Deviation::of_run(
            format!("its plan has the name \"{name}\", and is not the \"{name}\" of this version of triptime"),
            "The verdict is about the plan in the file.",
        )
    })
}

/// Names a limit profile that has the name of a shipped one, and other limits.
fn other_profile(used: &Profile) -> Option<Deviation> {
    let name = &used.name;
    let shipped = Profile::parse(Profile::embedded_text(name)?, name).ok()?;
    // A plan adds the limits of its own steps.
    let is_it = used.limits.starts_with(&shipped.limits)
        && (used.requirements == shipped.requirements && used.decision == shipped.decision);
    (!is_it).then(|| {
        Deviation::of_run(
            format!("its limits have the name \"{name}\", and are not the \"{name}\" of this version of triptime"),
            "The verdict is by the limits in the file.",
        )
    })
}

/// Names limits other than those that the run kept when it was measured.
fn other_limits(run: &RunFile, used: Option<&Profile>) -> Result<Option<Deviation>, CampaignError> {
    let Some(used) = used else { return Ok(None) };
    let what = match run.document("limits")? {
        None => format!("measured without limits, and judged by \"{}\" afterwards", used.name),
        Some(text) => match Profile::parse(&text, "kept in the run") {
            Ok(kept) if kept == *used => return Ok(None),
            Ok(kept) if kept.name != used.name => {
                format!(
                    "measured for the limits \"{}\", and judged by \"{}\"",
                    kept.name, used.name
                )
            }
            _ => format!(
                "judged by limits \"{}\" that differ from those kept in the run",
                used.name
            ),
        },
    };
    let effect = "The verdict is by the limits given afterwards.";
    Ok(Some(Deviation::of_run(what, effect)))
}

/// An option with its value, if it has one.
struct Given {
    name: String,
    value: Option<String>,
}

/// The options on a command line that change the procedure.
fn options(words: &[String]) -> Vec<Given> {
    let mut given = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        for (name, own) in named(word) {
            let has_value = !FLAGS.contains(&name.as_str()) && !HARMLESS_FLAGS.contains(&name.as_str());
            let value = match own {
                None if has_value => rest.next().cloned(),
                own => own,
            };
            let is_harmless = HARMLESS.contains(&name.as_str()) || HARMLESS_FLAGS.contains(&name.as_str());
            given.extend(Some(Given { name, value }).filter(|_| !is_harmless));
        }
    }
    given
}

/// The options that a word names, and the value in the same word: `--duration=1s`, `-D1s`, `-qD1s`.
fn named(word: &str) -> Vec<(String, Option<String>)> {
    if word.starts_with("--") {
        return match word.split_once('=') {
            Some((name, value)) => vec![(name.to_owned(), Some(value.to_owned()))],
            None => vec![(word.to_owned(), None)],
        };
    }
    let mut all = Vec::new();
    let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
    while let Some(letter) = letters.next() {
        let known = SHORT.iter().find(|(short, _)| *short == letter);
        let name = known.map_or_else(|| format!("-{letter}"), |(_, long)| (*long).to_owned());
        if HARMLESS_FLAGS.contains(&name.as_str()) {
            all.push((name, None));
            continue;
        }
        let rest = letters.as_str();
        let value = rest.strip_prefix('=').unwrap_or(rest);
        all.push((name, (!value.is_empty()).then(|| value.to_owned())));
        break;
    }
    all
}

fn changed_by(given: &[Given]) -> Option<Deviation> {
    let word = |option: &Given| {
        let value = option.value.as_ref();
        value.map_or_else(|| option.name.clone(), |value| format!("{} {value}", option.name))
    };
    let words: Vec<String> = given.iter().map(word).collect();
    (!words.is_empty()).then(|| {
        Deviation::of_run(
            format!("options changed its plan: {}", words.join(", ")),
            "The verdict is about the plan with these options.",
        )
    })
}

/// The labels of the only steps that were asked for; none: all of them.
fn labels(given: &[Given]) -> Vec<String> {
    let of_steps = given.iter().filter(|option| option.name == "--step");
    of_steps.filter_map(|option| option.value.clone()).collect()
}

/// The measuring time of each step that was asked for, in ns.
fn duration(given: &[Given]) -> Option<u64> {
    let last = given.iter().rev().find(|option| option.name == "--duration")?;
    units::parse_ns(last.value.as_deref()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{changed_by, duration, options};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_that_change_a_plan_are_found_in_every_form() {
        for line in [
            "qualify quick --duration 1s",
            "qualify --duration=1s quick",
            "qualify quick -D 1s",
            "qualify quick -D1s",
        ] {
            let given = options(&words(line));
            assert_eq!(duration(&given), Some(1_000_000_000), "{line}");
            let told = changed_by(&given).expect("a deviation").what;
            assert_eq!(told, "options changed its plan: --duration 1s", "{line}");
        }
        let given = options(&words("qualify vpc --step 20-streams --step=trip"));
        assert_eq!(super::labels(&given), ["20-streams", "trip"]);
        let given = options(&words("qualify --force quick -a 1-3 --out a.triptime"));
        let told = changed_by(&given).expect("a deviation").what;
        assert_eq!(told, "options changed its plan: --force, --cpus 1-3");
        let harmless = "qualify quick --out a.triptime --quiet --label a -q --html=a.html --detach";
        assert!(changed_by(&options(&words(harmless))).is_none());
    }

    #[test]
    fn every_option_counts_that_is_not_known_to_be_harmless() {
        for (line, told) in [
            (
                "qualify vpac --vcpus 4 --append=nohz=off",
                "--vcpus 4, --append nohz=off",
            ),
            (
                "qualify vpac --isolate 2-3 --serial --icount 3",
                "--isolate 2-3, --serial, --icount 3",
            ),
            (
                "qualify quick --far-end test-set --clock ptp",
                "--far-end test-set, --clock ptp",
            ),
            (
                "qualify vpac --trip-member 2 --scl a.scd",
                "--trip-member 2, --scl a.scd",
            ),
            ("qualify quick --of-tomorrow 1", "--of-tomorrow 1"),
            ("qualify quick -qa2 --out a.triptime", "--cpus 2"),
            ("qualify quick -qD1h", "--duration 1h"),
            ("qualify quick -qa 2 -z", "--cpus 2, -z"),
        ] {
            let found = changed_by(&options(&words(line))).expect("a deviation").what;
            assert_eq!(found, format!("options changed its plan: {told}"), "{line}");
        }
    }
}
