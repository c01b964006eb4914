//! What the ConfigMap asks for.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{PARAMETER, TIMEOUT};

/// Names of the parameters, which are options of `triptime qualify`, and what each is; the plan is its argument.
pub const PARAMETERS: [(&str, &str); 6] = [
    ("plan", "name of a plan"),
    ("duration", "how long each step measures"),
    ("cpus", "CPUs to judge"),
    ("housekeeping", "CPUs for loads and recorder"),
    ("limits", "limit profile"),
    ("label", "name under which the run is shown"),
];

/// The plan of a checkup that names none: it needs no test bed, which a pod without NET_ADMIN cannot make.
const PLAN: &str = "vm-wakeup";

/// Longest time that a checkup may take.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// After this the checkup has failed.
    pub timeout: Duration,
    /// Words behind `triptime`.
    pub words: Vec<String>,
}

impl Parameters {
    /// Reads the contents of a ConfigMap.
    ///
    /// # Errors
    /// The time is missing or wrong, or a parameter is none of [`PARAMETERS`].
    pub fn read(data: &BTreeMap<String, String>) -> Result<Self, String> {
        let text = data
            .get(TIMEOUT)
            .ok_or_else(|| format!("{TIMEOUT} is missing: how long may it take, such as 10m"))?;
        let timeout = timeout(text).map_err(|why| format!("{TIMEOUT}: {why}"))?;
        let given: Vec<(&str, &str)> = data
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(PARAMETER)?, value.trim())))
            .collect();
        if let Some((name, _)) = given
            .iter()
            .find(|(name, _)| !PARAMETERS.iter().any(|(known, _)| known == name))
        {
            let known = PARAMETERS.map(|(name, _)| name).join(", ");
            return Err(format!("{PARAMETER}{name} is not known: this checkup takes {known}"));
        }
        let plan = given
            .iter()
            .find(|(name, _)| *name == "plan")
            .map_or(PLAN, |(_, plan)| plan);
        if plan.is_empty() || plan.starts_with('-') {
            return Err(format!("{PARAMETER}plan: \"{plan}\" is no plan"));
        }
        let options = given.iter().filter(|(name, _)| *name != "plan");
        // One word: a value cannot become an option of its own.
        let options = options.map(|(name, value)| format!("--{name}={value}"));
        let words = ["qualify".to_owned(), plan.to_owned()].into_iter().chain(options);
        Ok(Self {
            timeout,
            words: words.collect(),
        })
    }
}

/// A duration as Go writes it: `10m`, `1h30m`, `1.5h`, `5m0s`.
///
/// # Errors
/// It is none, is zero, or more than a year.
pub fn timeout(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 7] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let wrong = || format!("\"{text}\" is no duration: write it as 90s, 10m or 1h30m");
    let (mut rest, mut seconds) = (text.trim(), 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, behind) = rest.split_at(digits);
        let end = behind
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(behind.len());
        let (unit, next) = behind.split_at(end);
        let factor = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
        seconds += number.parse::<f64>().map_err(|_| wrong())? * factor;
        rest = next;
    }
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    match duration.is_zero() || duration > LONGEST {
        true => Err(wrong()),
        false => Ok(duration),
    }
}
