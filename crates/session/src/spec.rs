//! Description of a run before it starts: session, keeper and loads take their settings from it.

use crate::detach::Detached;
use crate::memory::OF_A_PROBE;
use crate::room::RoomNeed;
use bed::load::LoadSpec;
use place::Asking;
use run::{Explain, NewRun, Thresholds};
use units::CpuList;

/// Commands whose windows are due by the clock. All others wait for frames from others.
const PACED: [&str; 4] = ["qualify", "wakeup", "noise", "capacity"];

/// Explainers of late samples.
#[derive(Default)]
pub enum Explainer {
    /// A flight recorder of this kernel, if one is requested.
    #[default]
    Own,
    /// This explainer instead.
    Other(Box<dyn Explain>),
    /// A flight recorder of this kernel, and in addition the host of this guest.
    OverHost(Asking),
}

/// Facts about the machine that go into its run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inventory {
    /// The whole inventory, and the audit's results for the measured CPUs.
    #[default]
    Measured,
    /// The same, with these CPUs in place of the measured ones.
    Of(CpuList),
    /// Nothing: an earlier run of the same place has the inventory.
    Known,
}

/// A run before it starts.
pub struct RunSpec {
    /// The run file, and the known facts of the run.
    pub run: NewRun,
    /// Name of the machine or set-up, which tables and comparisons show for the run.
    pub label: Option<String>,
    /// Version, commit and build of this program, for the report.
    pub build: Option<String>,
    /// Difference of the local time from UTC, such as `+01:00`, for the report.
    pub local_time: Option<String>,
    /// True to hold `/dev/cpu_dma_latency` at 0 during the run; otherwise idle states stay as the system has them.
    pub hold_idle: bool,
    /// True to record the kernel's events, so that late samples can be explained.
    pub flight_recorder: bool,
    /// True to have the kernel's osnoise tracer, together with the flight recorder, account for interruptions of spinning threads,
    /// if it is built in.
    pub osnoise: bool,
    /// Explainer of late samples.
    pub explain: Explainer,
    /// CPUs that are measured. The recorder stays off them, if others are left. The flight recorder's effect on wake-ups is
    /// measured on the first.
    pub measured: CpuList,
    /// CPUs of the recorder and of everything else that does not measure; `None`: the CPUs of this process that are not measured.
    pub housekeeping: Option<CpuList>,
    /// Facts about the machine that go into the run.
    pub inventory: Inventory,
    /// Interfaces that are measured: the run contains their facts.
    pub interfaces: Vec<String>,
    /// More measured interfaces of the calling thread's namespace, to be announced to other sessions.
    pub ports: Vec<String>,
    /// True if the probe reports the links of these interfaces itself, by their LANs.
    pub are_lans: bool,
    /// Loads during the whole measurement.
    pub loads: Vec<LoadSpec>,
    /// Limits above which samples count as over the threshold.
    pub thresholds: Thresholds,
    /// Bytes of memory that it needs in addition to what the process has when it begins.
    pub memory: u64,
    /// The plan that it runs.
    pub plan: Option<String>,
    /// How long it measures, in ns, if its end is known.
    pub lasts_ns: Option<u64>,
    /// Disk space that it is expected to need; `None`: as much as one probe for that time.
    pub need: Option<RoomNeed>,
    /// True if it may fill the disk.
    pub force: bool,
    /// True if it ends only on request: then the request is no interruption.
    pub open_ended: bool,
    /// True if windows are due by the clock. Measurements of another process arrive only at its end.
    pub is_paced: bool,
    /// How it was started, if in the background.
    pub detached: Option<Detached>,
}

impl RunSpec {
    /// A run of one probe by its own command on the `measured` CPUs: without limits, without explanations, and without an end if
    /// `duration_ns` is `None`.
    pub fn probe(run: NewRun, measured: CpuList, duration_ns: Option<u64>) -> Self {
        Self {
            is_paced: PACED.contains(&run.command.as_str()),
            run,
            label: None,
            build: None,
            local_time: None,
            hold_idle: false,
            flight_recorder: false,
            osnoise: false,
            explain: Explainer::Own,
            measured,
            housekeeping: None,
            inventory: Inventory::Measured,
            interfaces: Vec::new(),
            ports: Vec::new(),
            are_lans: false,
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

    /// Adds an interface: the run contains its facts.
    #[must_use]
    pub fn on(mut self, interface: &str) -> Self {
        self.interfaces.push(interface.to_owned());
        self
    }

    /// Adds the interface in LAN B of a doubly attached node, if it is one.
    #[must_use]
    pub fn with_lan_b(mut self, interface: Option<&str>) -> Self {
        self.are_lans = interface.is_some();
        self.interfaces.extend(interface.map(str::to_owned));
        self
    }

    /// CPUs of the recorder and of everything else that does not measure.
    pub(crate) fn housekeeping(&self) -> CpuList {
        self.housekeeping.clone().unwrap_or_else(|| beside(&self.measured))
    }

    /// Disk space that it will need, if its end is known: for one series at least, and one for each measured CPU.
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

/// The CPUs of this process that are not measured; all of them if none is left.
pub fn beside(measured: &CpuList) -> CpuList {
    let allowed = sys::thread::allowed_cpus();
    let others = allowed.without(measured);
    if others.is_empty() { allowed } else { others }
}
