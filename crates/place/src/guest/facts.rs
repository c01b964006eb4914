//! The settings of a guest, as facts of the run.

use super::message::Greeting;
use super::qemu::line::{Ways, shown};
use super::{GuestSpec, fact};
use host::Host;
use model::Fact;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Properties of a running guest.
pub(super) struct Made<'a> {
    pub(super) spec: &'a GuestSpec,
    /// QEMU, and its command line.
    pub(super) program: &'a Path,
    pub(super) words: &'a [String],
    /// The settings behind it.
    pub(super) ways: &'a Ways,
    pub(super) image_octets: usize,
    /// The processor or the emulation that runs it, as text.
    pub(super) processor: &'a str,
    pub(super) kvm: bool,
    /// QEMU's process.
    pub(super) process: u32,
    pub(super) greeting: &'a Greeting,
    /// Time from the start of QEMU to the greeting.
    pub(super) boot: Duration,
    /// Host CPUs of its virtual CPUs, as text, if they are pinned.
    pub(super) placed: Option<String>,
}

impl Made<'_> {
    pub(super) fn facts(&self) -> Vec<Fact> {
        let spec = self.spec;
        let own = |name: &str, value: String| fact(name, Ok(value), "triptime");
        let isolated = match spec.isolated.is_empty() {
            true => "none isolated".to_owned(),
            false => format!("isolated: {}", spec.isolated),
        };
        let placed = self.placed.clone().unwrap_or_else(|| "anywhere".to_owned());
        let kernel = format!("{} ({})", self.greeting.release, spec.kernel.display());
        let boot = format!("{:.1} s from the start of QEMU", self.boot.as_secs_f64());
        let asked = format!("{} --version", self.program.display());
        let mut facts = vec![
            fact("program", version(self.program), &asked),
            own("processor", self.processor.to_owned()),
            own("virtual CPUs", format!("{}, {isolated}", spec.cpus)),
            own("virtual CPUs on this machine's", placed),
            own("threads of QEMU itself", self.ways.share.emulator_in_words()),
            own(
                "memory",
                format!("{} MiB, {}", self.ways.memory(spec) >> 20, memory(self.ways)),
            ),
            own("kernel", kernel),
            own("why this kernel", spec.why_kernel.clone()),
            own("kernel arguments", spec.kernel_arguments()),
            own("image", format!("{} octets", self.image_octets)),
            own("boot", boot),
            own("command line", shown(self.program, self.words)),
        ];
        let management = self.greeting.management.iter();
        facts.extend(management.map(|said| own("management card", said.clone())));
        if self.kvm {
            let exits = Host::live().kvm_exits_told(self.process);
            facts.push(fact("exits of its virtual CPUs", exits, "/sys/kernel/debug/kvm"));
        }
        let complaints = self.greeting.complaints.iter();
        facts.extend(complaints.map(|complaint| own("complaint", complaint.clone())));
        facts
    }
}

fn memory(ways: &Ways) -> String {
    if !ways.kvm {
        return "neither taken at the start nor locked".to_owned();
    }
    let pages = match ways.share.page_kib {
        Some(kib) => format!("huge pages of {} MiB", kib >> 10),
        None => "small pages, because too few huge ones are free (vm.nr_hugepages, hugepages=)".to_owned(),
    };
    let node = match ways.share.nodes.is_empty() {
        true => String::new(),
        false => format!(" on node {}", ways.share.nodes),
    };
    let locked = match ways.locked {
        true => "locked",
        false => "not locked, because CAP_IPC_LOCK is missing",
    };
    format!("{pages}{node}; all of it taken at the start, not merged, {locked}")
}

/// First line of the program's version output.
fn version(program: &Path) -> Result<String, String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().map(str::to_owned);
    first.ok_or_else(|| "it prints nothing".to_owned())
}
