//! Reading a plan: every key checked, every refusal with file, line and key.

use serde::Deserialize;
use std::path::Path;
use sys::thread::Policy;
use units::CpuList;

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Neither a plan inside the binary nor a file.
    #[error("{name}: no such plan (inside triptime: {have}; or give the path of a TOML file)")]
    NotFound {
        /// What was asked for.
        name: String,
        /// The embedded plans.
        have: String,
    },
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML, or a key or value that cannot be. The text has line, column and key.
    #[error("{name}: {problem}")]
    Invalid {
        /// Plan name or file.
        name: String,
        /// What and where.
        problem: String,
    },
}

/// A duration in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Duration(pub u64);

impl TryFrom<String> for Duration {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

/// A size in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Size(pub u64);

impl TryFrom<String> for Size {
    type Error = units::SizeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_bytes(&text).map(Self)
    }
}

/// A scheduling policy in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct PlanPolicy(pub Policy);

impl TryFrom<String> for PlanPolicy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self).map_err(|error| format!("{error}"))
    }
}

/// Which CPUs a role gets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Cpus {
    /// The lowest CPU this process may use.
    First,
    /// Every CPU but the housekeeping ones; the same ones when there are no others.
    Rest,
    /// These.
    List(CpuList),
}

impl TryFrom<String> for Cpus {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "first" => Ok(Self::First),
            "rest" => Ok(Self::Rest),
            list => match list.parse::<CpuList>() {
                Ok(list) if !list.is_empty() => Ok(Self::List(list)),
                _ => Err(format!(
                    "\"{list}\" is not \"first\", \"rest\" or a CPU list such as 1-3,5"
                )),
            },
        }
    }
}

/// The two roles a CPU can have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuRoles {
    /// Loads, recorder, test set.
    pub housekeeping: Cpus,
    /// Device under test.
    pub measured: Cpus,
}

/// A load that runs beside every step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// Pairs of threads sending each other messages, as hackbench does.
    Scheduler {
        /// How many pairs.
        pairs: usize,
    },
    /// A thread streaming through memory.
    Memory {
        /// Size of its buffer: larger than the last-level cache.
        size: Size,
    },
    /// Any command.
    Command {
        /// Its command line, without shell.
        line: String,
    },
}

/// One measurement of a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "probe", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Wake-up latency on every measured CPU.
    Wakeup {
        /// How long.
        duration: Duration,
        /// Time between due instants.
        interval: Duration,
        /// Policy of the threads.
        policy: PlanPolicy,
    },
    /// Round trip from the test set to the device under test.
    Reflect {
        /// How long.
        duration: Duration,
        /// Time between frames; `0` is back to back.
        interval: Duration,
        /// Policy of both ends.
        policy: PlanPolicy,
    },
    /// Streams from the test set to a subscriber on the device under test.
    SampledValues {
        /// How long.
        duration: Duration,
        /// How many streams.
        streams: u16,
        /// Samples a second of each.
        rate: u32,
        /// ASDUs in a frame.
        asdus: u8,
        /// Policy of both ends.
        policy: PlanPolicy,
    },
}

impl Step {
    /// The step's name in events and progress.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wakeup { .. } => "wake-up",
            Self::Reflect { .. } => "round trip",
            Self::SampledValues { .. } => "sampled values",
        }
    }

    /// How long it measures.
    pub fn duration_ns(&self) -> u64 {
        match self {
            Self::Wakeup { duration, .. } | Self::Reflect { duration, .. } | Self::SampledValues { duration, .. } => {
                duration.0
            }
        }
    }
}

/// A plan, checked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it is for, in one sentence.
    pub what: String,
    /// Limit profile that judges it: a name or a file.
    pub limits: String,
    /// Length of a window.
    pub window: Duration,
    /// Who runs where.
    pub cpus: CpuRoles,
    /// What runs beside.
    #[serde(default, rename = "load")]
    pub loads: Vec<Load>,
    /// What is measured, in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// The text it was read from.
    #[serde(skip)]
    pub text: String,
}

impl Plan {
    /// The plan called `name`: one of those inside the binary, or a file.
    ///
    /// # Errors
    /// No such plan, or what is wrong in it, with line, column and key.
    pub fn load(name: &str) -> Result<Self, PlanError> {
        if let Some((_, text)) = super::EMBEDDED.iter().find(|(embedded, _)| *embedded == name) {
            return Self::parse(name, text);
        }
        if !Path::new(name).exists() {
            let have: Vec<&str> = super::EMBEDDED.iter().map(|(name, _)| *name).collect();
            return Err(PlanError::NotFound {
                name: name.to_owned(),
                have: have.join(", "),
            });
        }
        let text = std::fs::read_to_string(name).map_err(|source| PlanError::Unreadable {
            path: name.to_owned(),
            source,
        })?;
        Self::parse(name, &text)
    }

    /// A plan from its text; `name` is only for messages.
    ///
    /// # Errors
    /// What is wrong, with line, column and key.
    pub fn parse(name: &str, text: &str) -> Result<Self, PlanError> {
        let invalid = |problem: String| PlanError::Invalid {
            name: name.to_owned(),
            problem,
        };
        let mut plan: Self = toml::from_str(text).map_err(|error| invalid(error.to_string().trim_end().to_owned()))?;
        if plan.steps.is_empty() {
            return Err(invalid("no [[step]]: a plan measures something".into()));
        }
        if plan.window.0 < 100_000_000 {
            return Err(invalid(
                "window: shorter than 100ms: extremes of so little say nothing".into(),
            ));
        }
        if let Some(step) = plan.steps.iter().find(|step| step.duration_ns() == 0) {
            return Err(invalid(format!("duration of step \"{}\" is zero", step.name())));
        }
        text.clone_into(&mut plan.text);
        Ok(plan)
    }

    /// How long all steps together measure.
    pub fn duration_ns(&self) -> u64 {
        self.steps.iter().map(Step::duration_ns).sum()
    }

    /// The housekeeping and the measured CPUs on a machine with these `allowed` ones.
    ///
    /// # Errors
    /// A CPU that this process may not use.
    pub fn roles(&self, allowed: &CpuList) -> Result<(CpuList, CpuList), PlanError> {
        let housekeeping = self.resolve(&self.cpus.housekeeping, allowed, &CpuList::default())?;
        let measured = self.resolve(&self.cpus.measured, allowed, &housekeeping)?;
        Ok((housekeeping, measured))
    }

    fn resolve(&self, cpus: &Cpus, allowed: &CpuList, taken: &CpuList) -> Result<CpuList, PlanError> {
        match cpus {
            Cpus::First => Ok(allowed.first().into_iter().collect()),
            Cpus::Rest => {
                let rest = allowed.without(taken);
                Ok(if rest.is_empty() { allowed.clone() } else { rest })
            }
            Cpus::List(list) => match list.without(allowed).first() {
                None => Ok(list.clone()),
                Some(cpu) => Err(PlanError::Invalid {
                    name: self.name.clone(),
                    problem: format!("cpus: no CPU {cpu} for this process (it may use: {allowed})"),
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, Step};
    use crate::plan::EMBEDDED;
    use units::CpuList;

    #[test]
    fn every_embedded_plan_is_valid_and_called_what_it_says() {
        for (name, text) in EMBEDDED {
            let plan = Plan::parse(name, text).expect(name);
            assert_eq!(plan.name, name);
        }
    }

    #[test]
    fn quick_stays_near_a_minute() {
        let plan = Plan::load("quick").expect("embedded");
        assert!((40..=60).contains(&(plan.duration_ns() / 1_000_000_000)));
    }

    fn refusal(change: impl Fn(&str) -> String) -> String {
        Plan::parse("site.toml", &change(EMBEDDED[0].1))
            .expect_err("must be refused")
            .to_string()
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        let message = refusal(|text| text.replace("interval = \"250us\"", "intervall = \"250us\""));
        assert!(
            message.contains("site.toml") && message.contains("line") && message.contains("intervall"),
            "{message}"
        );
    }

    #[test]
    fn wrong_values_say_what_would_do() {
        let message = refusal(|text| text.replace("duration = \"20s\"", "duration = \"20\""));
        assert!(message.contains("20s, 5m"), "{message}");
        let message = refusal(|text| text.replace("\"rest\"", "\"some\""));
        assert!(message.contains("CPU list"), "{message}");
        let message = refusal(|text| text.replace("fifo:80", "fifo:800"));
        assert!(message.contains("800"), "{message}");
    }

    #[test]
    fn one_cpu_has_to_play_both_roles() {
        let plan = Plan::load("quick").expect("embedded");
        let one: CpuList = "0".parse().expect("list");
        assert_eq!(plan.roles(&one).expect("roles"), (one.clone(), one));
        let four: CpuList = "0-3".parse().expect("list");
        let (housekeeping, measured) = plan.roles(&four).expect("roles");
        assert_eq!(
            (housekeeping.to_string(), measured.to_string()),
            ("0".into(), "1-3".into())
        );
    }

    #[test]
    fn steps_are_named_in_the_words_of_the_field() {
        let plan = Plan::load("quick").expect("embedded");
        let names: Vec<&str> = plan.steps.iter().map(Step::name).collect();
        assert_eq!(names, ["wake-up", "round trip", "sampled values"]);
    }
}
