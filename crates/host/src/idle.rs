//! Idle states deeper than C1 that a CPU enters without a limit. The deepest is the halt of a virtual CPU whose guest polls before halting
//! (haltpoll): its host must schedule it again. With a latency limit, the guest only polls.

use std::fs::File;
use std::io::Read;

use units::CpuList;

use crate::error::{HostError, Unreadable};
use crate::reader::Reader;

const CPUS: &str = "/sys/devices/system/cpu";

/// Prefix of the name of the state in which a virtual CPU halts. The kernel assigns it 1 us and does not know the host's delay.
const HALT_OF_A_GUEST: &str = "haltpoll";

/// Deepest idle state that CPUs enter, if deeper than C1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeepIdle {
    /// The CPUs.
    pub cpus: CpuList,
    /// Name of the state: `C6`.
    pub state: String,
    /// Exit latency in us; `None` if the kernel does not report it.
    pub exit_us: Option<u64>,
}

/// A limit for all CPUs, and the idle state that it keeps CPUs out of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOut {
    /// The limit in us.
    pub us: i32,
    /// The deepest state without the limit.
    pub state: DeepIdle,
}

/// Limit in us if nobody requests one (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
const NO_LIMIT_US: i32 = 2_000_000_000;

/// CPUs among these that enter a deep idle state, and the slowest of their states. A machine without an idle driver has only the
/// processor's halt, which no limit prevents; a state with unreadable files counts as entered.
pub(crate) fn deep(reader: &Reader, cpus: &CpuList) -> Option<DeepIdle> {
    deep_under(reader, cpus, held_limit_us(reader).ok())
}

/// The limit for all CPUs, if these CPUs would enter a deeper state without it. If the time to leave a state is unknown, any limit may keep
/// them out.
///
/// # Errors
/// There is a deep state, and the limit cannot be read.
pub(crate) fn kept_out(reader: &Reader, cpus: &CpuList) -> Result<Option<KeptOut>, HostError> {
    let limit = held_limit_us(reader);
    if limit.as_ref().is_ok_and(|us| *us >= NO_LIMIT_US) {
        return Ok(None);
    }
    let Some(state) = deep_under(reader, cpus, None) else {
        return Ok(None);
    };
    let us = limit?;
    let is_kept = state.exit_us.is_none() || deep_under(reader, cpus, Some(us)).as_ref() != Some(&state);
    Ok(is_kept.then_some(KeptOut { us, state }))
}

/// Same as [`deep`] with this limit for all CPUs.
fn deep_under(reader: &Reader, cpus: &CpuList, held_us: Option<i32>) -> Option<DeepIdle> {
    let held_us = held_us.map(f64::from);
    let deepest = |cpu: u32| Some((cpu, deepest(reader, cpu, held_us)?));
    let found: Vec<(u32, State)> = cpus.iter().filter_map(deepest).collect();
    let slowest = found.iter().map(|(_, state)| state).max_by_key(|state| state.exit_us)?;
    Some(DeepIdle {
        cpus: found.iter().map(|(cpu, _)| *cpu).collect(),
        state: slowest.name.clone(),
        exit_us: slowest.exit_us,
    })
}

struct State {
    name: String,
    exit_us: Option<u64>,
}

/// Deepest state that is neither disabled nor above a limit of this CPU or of all (`held_us`).
fn deepest(reader: &Reader, cpu: u32, held_us: Option<f64>) -> Option<State> {
    let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
    let names = match reader.names(&folder, |name| name.starts_with("state")) {
        Ok(names) => names,
        Err(error) if error.is_absent() => return None,
        Err(error) => {
            return Some(State {
                name: format!("an unknown state ({error})"),
                exit_us: None,
            });
        }
    };
    let number = |name: &str| name.strip_prefix("state")?.parse::<u32>().ok();
    let text = |number: u32, file: &str| reader.line(&format!("{folder}/state{number}/{file}"));
    // C1 is the first state other than polling.
    let is_loop = text(0, "name").is_ok_and(|name| name == "POLL");
    let numbers = names.iter().filter_map(|name| number(name));
    let is_of_a_guest = |number: u32| text(number, "name").is_ok_and(|name| name.starts_with(HALT_OF_A_GUEST));
    let deeper = numbers.filter(|number| *number > u32::from(is_loop) || is_of_a_guest(*number));
    let limit_us = resume_limit_us(reader, cpu).ok().flatten();
    let limits_us = [limit_us, held_us];
    let state = |number: u32| {
        let is_off = text(number, "disable").is_ok_and(|value| value != "0");
        let exit_us: Option<u64> = text(number, "latency").ok().and_then(|us| us.parse().ok());
        let is_over_one = |exit_us: u64| limits_us.into_iter().flatten().any(|us| exit_us as f64 > us);
        let is_over = exit_us.is_some_and(is_over_one);
        (!is_off && !is_over).then(|| State {
            name: text(number, "name").unwrap_or_else(|_| format!("state{number}")),
            exit_us: exit_us.filter(|_| !is_of_a_guest(number)),
        })
    };
    deeper.filter_map(state).max_by_key(|state| state.exit_us)
}

/// Latency limit in force for all CPUs, in us, as requested by a process that holds `/dev/cpu_dma_latency` open.
///
/// # Errors
/// The file cannot be read or contains no time.
pub fn held_limit_us(reader: &Reader) -> Result<i32, HostError> {
    let answer = reader.answer("cpu-dma-latency-us", || held_limit().map(|us| us.to_string()));
    answer.and_then(|text| {
        let us: Result<i32, _> = text.trim().parse();
        us.map_err(|_| HostError::unexpected("/.answers/cpu-dma-latency-us", "microseconds", &text))
    })
}

/// Four bytes: the limit in force for all CPUs (Linux: power/pm_qos_interface.rst).
fn held_limit() -> Result<i32, HostError> {
    let path = "/dev/cpu_dma_latency";
    let mut octets = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut octets));
    read.map_err(|error| HostError::Unreadable {
        path: path.to_owned(),
        why: Unreadable::from_io(&error),
    })?;
    Ok(i32::from_ne_bytes(octets))
}

/// Limit of one CPU in us; `None` without a limit. `n/a` tolerates no latency at all, 0 sets no limit
/// (Linux: ABI/testing/sysfs-devices-power).
///
/// # Errors
/// The file cannot be read or contains no time.
pub fn resume_limit_us(reader: &Reader, cpu: u32) -> Result<Option<f64>, HostError> {
    let path = format!("{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us");
    let value = match reader.line(&path) {
        Ok(value) => value,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error),
    };
    match value.as_str() {
        "n/a" => Ok(Some(0.0)),
        "0" => Ok(None),
        us => match us.parse::<u32>() {
            Ok(us) => Ok(Some(f64::from(us))),
            Err(_) => Err(HostError::unexpected(&path, "a time in us", us)),
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::{DeepIdle, Host};
    use std::fs;
    use std::path::{Path, PathBuf};

    fn recorded(name: &str) -> PathBuf {
        let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts");
        hosts.join(name).join("root")
    }

    fn deep(root: &Path, cpus: &str) -> Option<DeepIdle> {
        Host::at(root)
            .expect("a tree")
            .deep_idle(&cpus.parse().expect("a list"))
    }

    #[test]
    fn the_deepest_state_of_recorded_hosts_is_found() {
        let found = deep(&recorded("debian-untuned"), "0,2").expect("C10");
        assert_eq!((found.state.as_str(), found.exit_us), ("C10", Some(890)));
        assert_eq!(found.cpus, "0,2".parse().expect("a list"));
        // Up to C1 by the boot argument; C1E switched off; a guest whose tree has no states.
        for tuned in ["seapath-tuned", "preempt-rt-bare-metal", "kvm-guest"] {
            assert_eq!(deep(&recorded(tuned), "0,2"), None, "{tuned}");
        }
        // A guest that polls, and then halts.
        let halts = deep(&recorded("firecracker-vm"), "0").expect("haltpoll");
        assert_eq!((halts.state.as_str(), halts.exit_us), ("haltpoll idle", None));
    }

    #[test]
    fn switches_and_limits_decide_which_states_are_entered() {
        let tree = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        let cpu = "/sys/devices/system/cpu/cpu1";
        let state = |number: u32, name: &str, us: u32, off: u32| {
            let folder = format!("{cpu}/cpuidle/state{number}");
            write(&format!("{folder}/name"), name);
            write(&format!("{folder}/latency"), &us.to_string());
            write(&format!("{folder}/disable"), &off.to_string());
        };
        let found = || deep(tree.path(), "1-2").map(|found| (found.state, found.exit_us));
        // An Arm machine: its first state is its C1.
        state(0, "WFI", 1, 0);
        assert_eq!(found(), None);
        state(1, "cpu-sleep-0", 300, 0);
        assert_eq!(found(), Some(("cpu-sleep-0".into(), Some(300))));
        state(1, "cpu-sleep-0", 300, 1);
        assert_eq!(found(), None);
        state(1, "C6", 133, 0);
        for (limit, is_entered) in [("0", true), ("133", true), ("132", false), ("n/a", false)] {
            write(&format!("{cpu}/power/pm_qos_resume_latency_us"), limit);
            assert_eq!(found().is_some(), is_entered, "{limit}");
        }
        write(&format!("{cpu}/power/pm_qos_resume_latency_us"), "0");
        // Another process holds them off in service, too.
        write("/.answers/cpu-dma-latency-us", "10");
        assert_eq!(found(), None);
        write("/.answers/cpu-dma-latency-us", "2000000000");
        assert!(found().is_some());
        // The limit of another process keeps the CPU out of this state.
        let kept_out = || {
            let host = Host::at(tree.path()).expect("a tree");
            host.kept_out_of_idle(&"1-2".parse().expect("a list"))
        };
        assert_eq!(kept_out().expect("a limit"), None);
        write("/.answers/cpu-dma-latency-us", "133");
        assert_eq!(kept_out().expect("a limit"), None, "it allows the state");
        write("/.answers/cpu-dma-latency-us", "0");
        let kept = kept_out().expect("a limit").expect("C6");
        assert_eq!((kept.us, kept.state.state.as_str()), (0, "C6"));
        fs::remove_file(tree.path().join(".answers/cpu-dma-latency-us")).expect("removed");
        assert!(kept_out().is_err(), "no limit is known");
        // Nothing shows that it is disabled.
        fs::remove_file(tree.path().join("sys/devices/system/cpu/cpu1/cpuidle/state1/disable")).expect("removed");
        fs::remove_file(tree.path().join("sys/devices/system/cpu/cpu1/cpuidle/state1/latency")).expect("removed");
        assert_eq!(found(), Some(("C6".into(), None)));
        write("/.answers/cpu-dma-latency-us", "500");
        assert!(kept_out().expect("a limit").is_some(), "its time is unknown");
    }

    #[test]
    fn only_an_absent_folder_is_evidence_of_no_state() {
        let tree = tempfile::tempdir().expect("a folder");
        let folder = "sys/devices/system/cpu/cpu1/cpuidle";
        fs::create_dir_all(tree.path().join(folder)).expect("made");
        fs::write(tree.path().join(".unreadable"), format!("EACCES /{folder}\n")).expect("written");
        assert_eq!(deep(tree.path(), "2"), None, "absent");
        let found = deep(tree.path(), "1-2").expect("unknown");
        assert_eq!(found.cpus, "1".parse().expect("a list"));
        assert!(found.state.contains("permission denied"), "{found:?}");
    }
}
