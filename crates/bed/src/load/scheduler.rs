//! Pairs of threads that send each other small messages.

use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, check_count, counted};
use super::messages::{BYTES, Over, check_message, group, read_bytes};
use super::request::LoadRequestError;
use super::settings::{Settings, size_text};
use super::workers::{Workers, in_turn};

/// Pairs of a sending and a receiving thread: system calls, wake-ups and context switches. Both threads of a pair share a CPU;
/// the pairs take turns over the CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulerLoad {
    /// Pairs of threads.
    pub pairs: usize,
    /// Octets of a message; hackbench sends 100.
    pub bytes: usize,
    /// What carries the messages.
    pub over: Over,
}

const PAIRS: usize = 10;

impl Default for SchedulerLoad {
    /// Ten pairs over sockets, messages of 100 octets.
    fn default() -> Self {
        Self {
            pairs: PAIRS,
            bytes: BYTES,
            over: Over::default(),
        }
    }
}

impl SchedulerLoad {
    pub(super) const NAME: &str = "scheduler";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(Self {
            pairs: settings.count("pairs")?.unwrap_or(PAIRS),
            bytes: read_bytes(settings)?,
            over: Over::read(settings)?,
        })
    }
}

impl ThreadLoad for SchedulerLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("pairs", self.pairs.to_string()),
            ("bytes", size_text(self.bytes as u64)),
            ("over", self.over.word().to_owned()),
        ]
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "pairs", self.pairs)?;
        check_message(Self::NAME, self.bytes)
    }

    fn describe(&self) -> String {
        let (pairs, over) = (counted(self.pairs, "pair"), self.over.word());
        format!("{pairs}, messages of {} octets over {over}", self.bytes)
    }

    fn unit(&self) -> &'static str {
        "messages"
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let mut workers = Workers::new(Self::NAME);
        for cpu in in_turn(cpus).take(self.pairs) {
            group(&mut workers, 1, (self.bytes, self.over), std::iter::repeat(cpu))?;
        }
        Ok(workers)
    }
}
