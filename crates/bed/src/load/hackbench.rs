//! Groups of threads that send small messages to each other, as in hackbench (rt-tests).

use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, check_count, counted};
use super::messages::{BYTES, Over, check_message, group, read_bytes};
use super::request::LoadRequestError;
use super::settings::{Settings, size_text};
use super::workers::{Workers, in_turn};

/// Groups of threads: every sender of a group writes to each of its receivers in turn. The threads are distributed over the CPUs, so that messages
/// and wake-ups cross between them. It is an endless `hackbench --threads`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HackbenchLoad {
    /// Number of groups; 10 in hackbench.
    pub groups: usize,
    /// Number of senders of a group, and of receivers; 20 in hackbench.
    pub fds: usize,
    /// Bytes of a message; 100 in hackbench.
    pub bytes: usize,
    /// Carrier of the messages.
    pub over: Over,
}

const GROUPS: usize = 1;
const FDS: usize = 20;

impl Default for HackbenchLoad {
    /// One group of hackbench: 20 senders and 20 receivers over sockets, messages of 100 bytes.
    fn default() -> Self {
        Self {
            groups: GROUPS,
            fds: FDS,
            bytes: BYTES,
            over: Over::default(),
        }
    }
}

impl HackbenchLoad {
    pub(super) const NAME: &str = "hackbench";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(Self {
            groups: settings.count("groups")?.unwrap_or(GROUPS),
            fds: settings.count("fds")?.unwrap_or(FDS),
            bytes: read_bytes(settings)?,
            over: Over::read(settings)?,
        })
    }
}

impl ThreadLoad for HackbenchLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("groups", self.groups.to_string()),
            ("fds", self.fds.to_string()),
            ("bytes", size_text(self.bytes as u64)),
            ("over", self.over.word().to_owned()),
        ]
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "groups", self.groups)?;
        check_count(Self::NAME, "fds", self.fds)?;
        check_count(Self::NAME, "groups times fds", self.groups * self.fds)?;
        check_message(Self::NAME, self.bytes)
    }

    fn describe(&self) -> String {
        let (groups, over) = (counted(self.groups, "group"), self.over.word());
        let [senders, receivers] = ["sender", "receiver"].map(|end| counted(self.fds, end));
        format!(
            "{groups} of {senders} and {receivers}, messages of {} octets over {over}",
            self.bytes
        )
    }

    fn unit(&self) -> &'static str {
        "messages"
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let mut workers = Workers::new(Self::NAME);
        let mut cpus = in_turn(cpus);
        for _ in 0..self.groups {
            group(&mut workers, self.fds, (self.bytes, self.over), &mut cpus)?;
        }
        Ok(workers)
    }
}
