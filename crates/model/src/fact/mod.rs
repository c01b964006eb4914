//! Facts of the inventory, and the ones among them that are read back.

mod known;

pub use known::{
    BOOT_ID, BOUND, BUILD, CELL_ISOLATION, CELL_LOAD, CELL_MANAGEMENT, CELL_NETWORK, CELL_PLACE, CLOCK_LONG_READING,
    CLOCK_READING, CLOCK_SOURCE, CLOCK_STEP, CLOCKS_APART, CONTAINER, COUNTER_READING, CPU_MODEL, CPUS_LEFT_OUT,
    HOST_NAME, HYPERVISOR, INSTRUMENT, INVENTORIED, JUDGED_CPUS, KERNEL_ARCHITECTURE, KERNEL_LINE, KERNEL_RELEASE,
    KERNEL_THREADS, KERNEL_VERSION, LABEL, LOCAL_TIME, NO_SWITCH, PLAN, PREEMPTION, RECORDED_FROM, RECORDED_TO,
    RUN_START, STAMP_UNCERTAINTY, STEPS_LEFT_OUT, STEPS_SETTLED, SWITCH, TRACED_WAY, UNBOUND,
};
use units::{Monotonic, Realtime};

/// Beginning of the value of a fact that cannot exist on this machine, such as `not applicable: a veth has no PHY`. Such a fact is
/// known, and no limit is checked against it.
pub const NOT_APPLICABLE: &str = "not applicable";

/// Group of the results of the rules for real-time machines: one fact for each rule, such as `fail (major): 950000`.
pub const AUDIT: &str = "audit";

/// Group of the remedies for failed findings of [`AUDIT`]: the command with its options, or the check, then a colon and the step in
/// words. Findings without a remedy on that machine are not in it.
pub const REMEDIES: &str = "remedies";

/// The outcome with which a fact of [`AUDIT`] begins.
pub fn audit_outcome(value: &str) -> &str {
    value.split(" (").next().unwrap_or(value)
}

/// One fact of the inventory. For a fact that could not be read it holds the reason: unknown is neither empty nor zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Group in which it is shown, such as `kernel` or `cpu`.
    pub group: String,
    /// Name in the group, such as `release`.
    pub name: String,
    /// The value, or the reason why it could not be read.
    pub value: Result<String, String>,
    /// Source that it was read from, such as `/proc/cmdline`.
    pub source: String,
}

/// A type of value for facts that are read back.
pub trait FactValue: Sized {
    /// Returns the text that the inventory shows.
    fn write(&self) -> String;

    /// Parses such a text; `None` for any other text.
    fn read(text: &str) -> Option<Self>;
}

impl FactValue for String {
    fn write(&self) -> String {
        self.clone()
    }

    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

/// A duration in ns, as `183 ns`.
impl FactValue for u64 {
    fn write(&self) -> String {
        format!("{self} ns")
    }

    fn read(text: &str) -> Option<Self> {
        text.strip_suffix(" ns")?.parse().ok()
    }
}

impl FactValue for Monotonic {
    fn write(&self) -> String {
        format!("{} ns", self.as_ns())
    }

    fn read(text: &str) -> Option<Self> {
        text.strip_suffix(" ns")?.parse().ok().map(Self::from_ns)
    }
}

impl FactValue for Realtime {
    fn write(&self) -> String {
        format!("{} ns since 1970", self.as_ns())
    }

    fn read(text: &str) -> Option<Self> {
        text.strip_suffix(" ns since 1970")?.parse().ok().map(Self::from_ns)
    }
}

/// A fact that other parts read back: its group and name in the inventory, and the type of its value.
#[derive(Debug)]
pub struct FactOf<T> {
    /// Its group.
    pub group: &'static str,
    /// Name in the group.
    pub name: &'static str,
    value: std::marker::PhantomData<fn() -> T>,
}

impl<T: FactValue> FactOf<T> {
    const fn new(group: &'static str, name: &'static str) -> Self {
        Self {
            group,
            name,
            value: std::marker::PhantomData,
        }
    }

    /// Makes the fact from the value that was read from `source`, or from the reason why there is none.
    pub fn fact(&self, value: Result<T, String>, source: &str) -> Fact {
        Fact {
            group: self.group.to_owned(),
            name: self.name.to_owned(),
            value: value.map(|value| value.write()),
            source: source.to_owned(),
        }
    }

    /// Finds the fact among a run's facts, known or not; `None` if the run was measured by an older version that did not read it.
    pub fn find<'a>(&self, facts: &'a [Fact]) -> Option<&'a Fact> {
        facts
            .iter()
            .find(|fact| fact.group == self.group && fact.name == self.name)
    }

    /// The value; `None` if it is not known or cannot be parsed.
    pub fn of(&self, facts: &[Fact]) -> Option<T> {
        T::read(self.find(facts)?.value.as_ref().ok()?)
    }
}

impl FactOf<String> {
    /// The value in short: the part before the evidence in brackets.
    pub fn word_of(&self, facts: &[Fact]) -> Option<String> {
        let value = self.of(facts)?;
        Some(value.split(" (").next().unwrap_or(&value).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{RECORDED_FROM, RUN_START, STAMP_UNCERTAINTY};
    use units::{Monotonic, Realtime};

    #[test]
    fn what_is_written_is_read_back() {
        let facts = [
            RUN_START.fact(Ok(Monotonic::from_ns(-7)), "test"),
            RECORDED_FROM.fact(Ok(Realtime::from_ns(1_790_000_000_000_000_000)), "test"),
            STAMP_UNCERTAINTY.fact(Err("no clock".to_owned()), "test"),
        ];
        assert_eq!(RUN_START.of(&facts), Some(Monotonic::from_ns(-7)));
        assert_eq!(
            RECORDED_FROM.of(&facts),
            Some(Realtime::from_ns(1_790_000_000_000_000_000))
        );
        assert_eq!(STAMP_UNCERTAINTY.of(&facts), None);
        assert!(STAMP_UNCERTAINTY.find(&facts).is_some());
    }
}
