//! The environment of a latency test of the Node Tuning Operator (openshift/cluster-node-tuning-operator,
//! test/e2e/performanceprofile/functests/4_latency/latency.go): names, ranges, defaults and precedence are those of its source.

use super::Tool;
use std::ffi::OsString;

/// Default measuring time in seconds.
const RUNTIME_S: u64 = 300;

/// Largest number that the operator accepts.
const MOST: u64 = i32::MAX as u64;

/// Names that concern the pod and the operator's wait for it: nothing is left to do for them in the container.
const OF_THE_POD: [&str; 3] = [
    "LATENCY_TEST_IMAGE",
    "LATENCY_TEST_MEMORY",
    "LATENCY_TEST_TIMEOUT_BUFFER",
];

const RUN: &str = "LATENCY_TEST_RUN";
const RUNTIME: &str = "LATENCY_TEST_RUNTIME";
const DELAY: &str = "LATENCY_TEST_DELAY";
const CPUS: &str = "LATENCY_TEST_CPUS";

/// Limit of all tools; each has one of its own, too, which then counts.
const MAXIMUM: &str = "MAXIMUM_LATENCY";

/// Limits of single tools. The last belongs to a tool that has no counterpart here, and may be set beside the others.
const OWN_MAXIMA: [&str; 3] = [
    "CYCLICTEST_MAXIMUM_LATENCY",
    "OSLAT_MAXIMUM_LATENCY",
    "HWLATDETECT_MAXIMUM_LATENCY",
];

/// Request that the variables make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    /// Measuring time in seconds.
    pub(super) runtime_s: u64,
    /// Seconds to wait before the measurement.
    pub(super) delay_s: u64,
    /// Number of CPUs that the test has.
    pub(super) cpus: Option<u64>,
    /// The limit: the variable that states it, and its value in us. The largest latency has to be below it.
    pub(super) maximum: Option<(String, u64)>,
}

impl Wish {
    /// The wish of these variables for `tool`.
    ///
    /// # Errors
    /// The first variable, in alphabetical order, that is unknown or has no possible value, with a correction; or that the test is switched
    /// off.
    pub(super) fn of(tool: Tool, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, String> {
        let texts = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let mut ours: Vec<(String, OsString)> = texts.filter(|(name, _)| is_ours(name)).collect();
        ours.sort();
        let mut wish = Self {
            runtime_s: RUNTIME_S,
            delay_s: 0,
            cpus: None,
            maximum: None,
        };
        let mut of_all = None;
        for (name, value) in &ours {
            let value = value.to_str().ok_or_else(|| format!("{name}: not UTF-8"))?;
            let number = |least, unit| number(name, value, least, unit);
            match name.as_str() {
                RUN if value == "true" => {}
                RUN => {
                    return Err(format!(
                        "{RUN}={value}: the test is switched off: write true, or leave it out"
                    ));
                }
                RUNTIME => wish.runtime_s = number(1, "seconds")?,
                DELAY => wish.delay_s = number(0, "seconds")?,
                CPUS => wish.cpus = Some(number(1, "CPUs")?),
                MAXIMUM => of_all = Some((name.clone(), number(0, "microseconds")?)),
                other if OF_THE_POD.contains(&other) => {}
                other if OWN_MAXIMA.contains(&other) => {
                    let us = number(0, "microseconds")?;
                    if other == tool.maximum() {
                        wish.maximum = Some((name.clone(), us));
                    }
                }
                other => return Err(unknown(other)),
            }
        }
        wish.maximum = wish.maximum.or(of_all);
        Ok(wish)
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("LATENCY_TEST_") || name == MAXIMUM || name.ends_with("_MAXIMUM_LATENCY")
}

fn number(name: &str, value: &str, least: u64, unit: &str) -> Result<u64, String> {
    let is_plain = !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit());
    let number = Some(value).filter(|_| is_plain).and_then(|value| value.parse().ok());
    number
        .filter(|number| (least..=MOST).contains(number))
        .ok_or_else(|| format!("{name}={value}: write a whole number of {unit}, {least} to {MOST}"))
}

fn unknown(name: &str) -> String {
    let all: Vec<&str> = [RUN, RUNTIME, DELAY, CPUS, MAXIMUM]
        .into_iter()
        .chain(OWN_MAXIMA)
        .collect();
    format!("{name}: no variable of a latency test (have: {})", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::Wish;
    use crate::commands::latency_test::Tool;

    fn of(tool: Tool, words: &str) -> Result<Wish, String> {
        let pair = |word: &str| word.split_once('=').map(|(name, value)| (name.into(), value.into()));
        Wish::of(tool, words.split_whitespace().filter_map(pair))
    }

    fn maximum(tool: Tool, words: &str) -> Option<(String, u64)> {
        of(tool, words).expect(words).maximum
    }

    #[test]
    fn defaults_and_values_are_those_of_the_operator() {
        let none = of(Tool::Oslat, "PATH=/bin HOME=/").expect("nothing of ours");
        assert_eq!(
            (none.runtime_s, none.delay_s, none.cpus, none.maximum),
            (300, 0, None, None)
        );
        let all = "LATENCY_TEST_RUN=true LATENCY_TEST_RUNTIME=60 LATENCY_TEST_DELAY=0 LATENCY_TEST_CPUS=6 MAXIMUM_LATENCY=700 \
                   LATENCY_TEST_TIMEOUT_BUFFER=150 LATENCY_TEST_MEMORY=1Gi";
        let wish = of(Tool::Cyclictest, all).expect(all);
        assert_eq!((wish.runtime_s, wish.delay_s, wish.cpus), (60, 0, Some(6)));
        assert_eq!(wish.maximum, Some(("MAXIMUM_LATENCY".to_owned(), 700)));
    }

    #[test]
    fn the_limit_of_a_tool_counts_before_that_of_all() {
        let words = "MAXIMUM_LATENCY=1 OSLAT_MAXIMUM_LATENCY=20 CYCLICTEST_MAXIMUM_LATENCY=30";
        let of_tool = |tool| maximum(tool, words).map(|(_, us)| us);
        assert_eq!((of_tool(Tool::Oslat), of_tool(Tool::Cyclictest)), (Some(20), Some(30)));
        assert_eq!(
            maximum(Tool::Oslat, "MAXIMUM_LATENCY=1 CYCLICTEST_MAXIMUM_LATENCY=30").map(|(_, us)| us),
            Some(1)
        );
        let other = "HWLATDETECT_MAXIMUM_LATENCY=10";
        assert_eq!(maximum(Tool::Oslat, other), None);
    }

    /// The values that the operator's own negative tests use (5_latency_testing/latency_testing.go), and names that nobody reads.
    #[test]
    fn impossible_values_and_unknown_names_are_refused_by_name() {
        for words in [
            "LATENCY_TEST_RUNTIME=2147483648",
            "LATENCY_TEST_RUNTIME=-1",
            "LATENCY_TEST_RUNTIME=0",
            "LATENCY_TEST_RUNTIME=1H",
            "LATENCY_TEST_RUNTIME=",
            "LATENCY_TEST_DELAY=J",
            "LATENCY_TEST_DELAY=-5",
            "LATENCY_TEST_CPUS=p",
            "LATENCY_TEST_CPUS=0",
            "MAXIMUM_LATENCY=&",
            "MAXIMUM_LATENCY=-2",
            "CYCLICTEST_MAXIMUM_LATENCY=+3",
            "OSLAT_MAXIMUM_LATENCY=2147483648",
            "LATENCY_TEST_RUN=false",
            "LATENCY_TEST_CPU=4",
            "oslat_MAXIMUM_LATENCY=4",
            "TIMERLAT_MAXIMUM_LATENCY=4",
        ] {
            let (name, _) = words.split_once('=').expect(words);
            let problem = of(Tool::Cyclictest, words).expect_err(words);
            assert!(problem.starts_with(name), "{problem}");
        }
    }
}
