//! Description of a run before it starts: the one bag from which session, keeper and loads take their settings.

use crate::detach::Detached;
use crate::memory::OF_A_PROBE;
use crate::room::RoomNeed;
use crate::session::Explainer;
use bed::load::LoadSpec;
use run::{NewRun, Thresholds};
use units::CpuList;

/// Commands whose windows are due by the clock. All others wait for what somebody else sends.
const PACED: [&str; 4] = ["qualify", "wakeup", "noise", "capacity"];

/// Facts about the machine that go into its run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inventory {
    /// All that is known of it, and what the audit says of the measured CPUs.
    #[default]
    Measured,
    /// The same, with these CPUs in place of the measured ones.
    Of(CpuList),
    /// Nothing: it is in an earlier run of the same place.
    Known,
}

/// A run before it starts.
pub struct RunSpec {
    /// The run file, and what is known of the run.
    pub run: NewRun,
    /// Name of the machine or set-up, under which tables and comparisons show the run.
    pub label: Option<String>,
    /// Hold `/dev/cpu_dma_latency` at 0 during the run; else idle states are as the system has them.
    pub hold_idle: bool,
    /// Record what the kernel does, so that late samples can be explained.
    pub flight_recorder: bool,
    /// With the flight recorder, have the kernel's osnoise tracer account for what interrupts spinning threads, where it is
    /// built in.
    pub osnoise: bool,
    /// Explainer of late samples.
    pub explain: Explainer,
    /// CPUs that are measured: the recorder keeps off them, if others are left. On the first, the flight recorder's effect on wake-ups is
    /// looked at.
    pub measured: CpuList,
    /// CPUs of the recorder and of everything else that does not measure; `None`: those of this process that are not measured.
    pub housekeeping: Option<CpuList>,
    /// Facts about the machine that go into the run.
    pub inventory: Inventory,
    /// Interfaces that are measured on: their facts go into the run.
    pub interfaces: Vec<String>,
    /// More interfaces of the calling thread's namespace that are measured on, for other sessions to know of.
    pub ports: Vec<String>,
    /// Loads beside the measurement, whatever it is.
    pub loads: Vec<LoadSpec>,
    /// From when on samples are over.
    pub thresholds: Thresholds,
    /// Octets of memory that it takes beyond what the process has when it begins.
    pub memory: u64,
    /// The plan that it runs.
    pub plan: Option<String>,
    /// How long it measures, in ns, if it has an end that is known.
    pub lasts_ns: Option<u64>,
    /// Room that it is expected to need; `None`: as much as one probe for so long.
    pub need: Option<RoomNeed>,
    /// It may fill the disk.
    pub force: bool,
    /// Ends only when told to: then being told is no interruption.
    pub open_ended: bool,
    /// True if windows are due by the clock: measurements in another process come at its end.
    pub is_paced: bool,
    /// How it was started, unless by somebody who waits for it.
    pub detached: Option<Detached>,
}

impl RunSpec {
    /// One probe, run by its own command on the `measured` CPUs: judged by nothing, explained by nothing, open-ended without a duration.
    pub fn probe(run: NewRun, measured: CpuList, duration_ns: Option<u64>) -> Self {
        Self {
            is_paced: PACED.contains(&run.command.as_str()),
            run,
            label: None,
            hold_idle: false,
            flight_recorder: false,
            osnoise: false,
            explain: Explainer::Own,
            measured,
            housekeeping: None,
            inventory: Inventory::Measured,
            interfaces: Vec::new(),
            ports: Vec::new(),
            loads: Vec::new(),
            thresholds: Thresholds::default(),
            memory: OF_A_PROBE,
            plan: None,
            lasts_ns: duration_ns,
            need: None,
            force: false,
            open_ended: duration_ns.is_none(),
            detached: None,
        }
    }

    /// The same, on this interface: what is known of it goes into the run.
    #[must_use]
    pub fn on(mut self, interface: &str) -> Self {
        self.interfaces.push(interface.to_owned());
        self
    }

    /// CPUs of the recorder and of everything else that does not measure.
    pub(crate) fn housekeeping(&self) -> CpuList {
        self.housekeeping.clone().unwrap_or_else(|| beside(&self.measured))
    }

    /// Room that it will need: a series at least, and one for each measured CPU, if it has an end.
    pub(crate) fn need(&self) -> Option<RoomNeed> {
        let of_a_probe = || {
            let series = self.measured.len().max(1) as u64;
            Some(RoomNeed {
                budget: self.run.file_budget.unwrap_or(0),
                ..RoomNeed::of(series, self.lasts_ns?, self.run.window_ns)
            })
        };
        self.need.or_else(of_a_probe)
    }
}

/// The CPUs of this process that are not measured; all of them when none is left.
pub fn beside(measured: &CpuList) -> CpuList {
    let allowed = sys::thread::allowed_cpus();
    let others = allowed.without(measured);
    if others.is_empty() { allowed } else { others }
}
