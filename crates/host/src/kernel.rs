//! The running kernel, its preemption, and its configuration.

use crate::cmdline::Cmdline;
use crate::config::{Config, PLACES};
use crate::error::HostError;
use crate::fact::{Sheet, chosen};
use crate::reader::Reader;
use model::Fact;

const RELEASE: &str = "/proc/sys/kernel/osrelease";
const VERSION: &str = "/proc/sys/kernel/version";
/// Exists with the RT patch set; mainline PREEMPT_RT kernels may lack it, so its absence is no evidence.
const REALTIME: &str = "/sys/kernel/realtime";
const LIVE_MODE: &str = "/sys/kernel/debug/sched/preempt";

/// Options that increase latency (kernel documentation, core-api/real-time/kernel-configuration.rst).
pub const COSTLY: [&str; 12] = [
    "PROVE_LOCKING",
    "DEBUG_LOCK_ALLOC",
    "LOCK_STAT",
    "KASAN",
    "KCSAN",
    "DEBUG_OBJECTS",
    "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "SLUB_DEBUG_ON",
    "DEBUG_KMEMLEAK",
    "IRQSOFF_TRACER",
    "PREEMPT_TRACER",
    "DEBUG_PREEMPT",
];

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "kernel");
    sheet.line("host name", "/proc/sys/kernel/hostname");
    sheet.add("operating system", "/etc/os-release", operating_system(reader));
    sheet.line("release", RELEASE);
    sheet.line("version", VERSION);
    sheet.line_or("architecture", "/proc/sys/kernel/arch", "kernels report it since 6.1");
    sheet.line("boot id", "/proc/sys/kernel/random/boot_id");
    sheet.add(
        "preemption model",
        &format!("{REALTIME}, {VERSION}"),
        model(reader).map(str::to_owned),
    );
    sheet.add(
        "flavour",
        RELEASE,
        reader.line(RELEASE).map(|release| flavour(&release)),
    );
    let config = Config::read(reader);
    sheet.add(
        "preemption mode",
        &format!("{LIVE_MODE}, /proc/cmdline"),
        mode(reader, config.as_ref().ok()),
    );
    configured(&mut sheet, &config);
    sheet.add(
        "RT group scheduling",
        "/proc/self/mountinfo, kernel configuration",
        rt_group(reader, config.as_ref()),
    );
    sheet.line("taint flags", "/proc/sys/kernel/tainted");
    sheet.line_or(
        "security modules",
        "/sys/kernel/security/lsm",
        "securityfs is not mounted or not in this kernel",
    );
    sheet.choice(
        "lockdown",
        "/sys/kernel/security/lockdown",
        "no lockdown in this kernel, or securityfs is not mounted",
    );
    sheet.finish()
}

/// Flavours of distributions' kernels, as words in the release, and the distributions that use them.
const FLAVOURS: [(&str, &str); 12] = [
    ("lowlatency", "low latency (Ubuntu)"),
    ("generic", "generic (Ubuntu)"),
    ("azure", "for Azure"),
    ("aws", "for AWS"),
    ("gcp", "for Google Cloud"),
    ("kvm", "for guests of KVM (Ubuntu)"),
    ("virt", "for guests (Alpine)"),
    ("cloud", "for guests (Debian)"),
    ("pve", "of Proxmox VE"),
    ("esx", "for guests of ESXi (Photon OS)"),
    ("default", "default (SUSE)"),
    ("yocto", "of a Yocto build, such as SEAPATH"),
];

/// The distribution's flavour of a kernel, by the words of its release. The name is no evidence of the preemption: another fact states that.
fn flavour(release: &str) -> String {
    let words: Vec<&str> = release.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let known = FLAVOURS.iter().filter(|(word, _)| words.contains(word));
    let real_time = crate::installed::is_named_so(release).then_some("real time");
    let found: Vec<&str> = real_time.into_iter().chain(known.map(|(_, what)| *what)).collect();
    match found.is_empty() {
        true => "none that its release names".to_owned(),
        false => found.join(", "),
    }
}

/// Preemption model of the running kernel: `PREEMPT_RT`, `full`…
///
/// # Errors
/// No conclusive file can be read.
pub fn model(reader: &Reader) -> Result<&'static str, HostError> {
    if reader.line(REALTIME).is_ok_and(|line| line == "1") {
        return Ok("PREEMPT_RT");
    }
    let version = reader.line(VERSION)?;
    // Patched kernels before 5.10 write "PREEMPT RT".
    if version.contains("PREEMPT_RT") || version.contains("PREEMPT RT") {
        return Ok("PREEMPT_RT");
    }
    if version.contains("PREEMPT_DYNAMIC") {
        return Ok("PREEMPT_DYNAMIC");
    }
    if version.contains("PREEMPT") {
        return Ok("PREEMPT");
    }
    // The build stamp of every Linux begins with #: any other text is not a Linux version.
    if version.starts_with('#') {
        return Ok("none or voluntary");
    }
    Err(HostError::unexpected(
        VERSION,
        "a kernel version such as #1 SMP PREEMPT_DYNAMIC",
        &version,
    ))
}

/// Mode in force: from debugfs, else from the boot argument, else from the build.
fn mode(reader: &Reader, config: Option<&Config>) -> Result<String, HostError> {
    let model = model(reader)?;
    let live = reader
        .line(LIVE_MODE)
        .and_then(|line| chosen(LIVE_MODE, &line, '(', ')'));
    let unknown = match live {
        Ok(mode) => return Ok(mode),
        Err(error) => error,
    };
    match model {
        "PREEMPT_RT" => return Ok("real time".to_owned()),
        "PREEMPT" => return Ok("full".to_owned()),
        _ => {}
    }
    if let Some(booted) = Cmdline::read(reader)
        .ok()
        .as_ref()
        .and_then(|line| line.last("preempt"))
    {
        return Ok(format!("{booted} (booted with preempt={booted})"));
    }
    let built = [
        ("PREEMPT", "full"),
        ("PREEMPT_LAZY", "lazy"),
        ("PREEMPT_VOLUNTARY", "voluntary"),
        ("PREEMPT_NONE", "none"),
    ];
    match config.and_then(|config| built.iter().find(|(option, _)| config.is_on(option))) {
        Some((_, mode)) => Ok(format!("{mode} (built in)")),
        None => Err(HostError::Undecided(format!(
            "{LIVE_MODE}: {}; no preempt= argument",
            unknown.reason()
        ))),
    }
}

fn configured(sheet: &mut Sheet<'_>, config: &Result<Config, HostError>) {
    let config = match config {
        Ok(config) => config,
        Err(error) => return sheet.add("timer frequency (HZ)", PLACES, Err(error.clone())),
    };
    let hertz = config.get("HZ").map(str::to_owned);
    let hertz = hertz.ok_or_else(|| HostError::Undecided("CONFIG_HZ is not stated".to_owned()));
    sheet.add("timer frequency (HZ)", &config.path, hertz);
    for option in ["HIGH_RES_TIMERS", "NO_HZ_FULL", "RCU_NOCB_CPU", "CPU_ISOLATION"] {
        sheet.add(
            option,
            &config.path,
            Ok(config.get(option).unwrap_or("not set").to_owned()),
        );
    }
    let on: Vec<&str> = COSTLY.into_iter().filter(|option| config.is_on(option)).collect();
    sheet.add(
        "costly debug options",
        &config.path,
        Ok(if on.is_empty() {
            "none".to_owned()
        } else {
            on.join(", ")
        }),
    );
}

/// First version with `rt_group_sched=` and `CONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED` (Linux 6.16: kernel/sched/core.c).
pub const RT_GROUP_ARGUMENT_SINCE: u32 = 6016;

/// Version as 1000 times the first number plus the second: 6012 for 6.12.
pub fn number(reader: &Reader) -> Result<u32, HostError> {
    let release = reader.line(RELEASE)?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(first)), Some(Ok(second))) if first < 1000 && second < 1000 => Ok(first * 1000 + second),
        _ => Err(HostError::unexpected(RELEASE, "a release such as 6.12.8", &release)),
    }
}

/// Real-time group scheduling: on a kernel with it, a cgroup without a budget cannot have real-time threads.
pub fn rt_group(reader: &Reader, config: Result<&Config, &HostError>) -> Result<String, HostError> {
    if let Ok(config) = config
        && !config.is_on("RT_GROUP_SCHED")
    {
        return Ok("off".to_owned());
    }
    let by_argument = match number(reader) {
        Ok(number) if number >= RT_GROUP_ARGUMENT_SINCE => Cmdline::read(reader).map(|line| group_argument(&line)),
        number => number.map(|_| None),
    };
    match (by_argument, config) {
        (Ok(Some(argument)), _) if argument == "0" => Ok("off (booted with rt_group_sched=0)".to_owned()),
        // Without the configuration, the kernel may not know the argument.
        (Ok(Some(argument)), Ok(_)) => Ok(format!("on (booted with rt_group_sched={argument})")),
        (Ok(None), Ok(config)) if config.is_on("RT_GROUP_SCHED_DEFAULT_DISABLED") => {
            Ok("off (built with RT_GROUP_SCHED_DEFAULT_DISABLED)".to_owned())
        }
        (Ok(None), Ok(_)) => Ok("on".to_owned()),
        (Err(error), Ok(_)) => Err(error),
        (_, Err(_)) => by_budget_file(reader),
    }
}

/// Last `rt_group_sched=` with a value that the kernel takes: it ignores any other.
fn group_argument(line: &Cmdline) -> Option<String> {
    let taken = line.values("rt_group_sched").filter(|value| ["0", "1"].contains(value));
    taken.last().map(str::to_owned)
}

fn by_budget_file(reader: &Reader) -> Result<String, HostError> {
    match crate::cgroup::rt_budget_file(reader)? {
        Some((path, true)) => Ok(format!("on ({path} exists)")),
        Some((path, false)) => Ok(format!("off (no {path})")),
        None => Err(HostError::Undecided(
            "neither a kernel configuration nor a version 1 cpu controller shows it".to_owned(),
        )),
    }
}

fn operating_system(reader: &Reader) -> Result<String, HostError> {
    let text = reader.text("/etc/os-release")?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map(|name| name.trim().trim_matches(['"', '\'']).to_owned());
    name.ok_or_else(|| HostError::Undecided("no PRETTY_NAME line".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::flavour;

    #[test]
    fn flavours_by_the_release() {
        for (release, wanted) in [
            ("6.1.0-18-rt-amd64", "real time"),
            ("5.14.0-503.el9+rt", "real time"),
            ("5.15.0-1032-realtime", "real time"),
            ("6.8.0-45-lowlatency", "low latency (Ubuntu)"),
            ("6.8.0-45-generic", "generic (Ubuntu)"),
            ("4.19.225-rt101-3.ph3-rt", "real time"),
            (
                "6.6.21-yocto-preempt-rt",
                "real time, of a Yocto build, such as SEAPATH",
            ),
            ("6.1.0-18-cloud-amd64", "for guests (Debian)"),
            ("6.8.12-4-pve", "of Proxmox VE"),
            ("6.18.44", "none that its release names"),
        ] {
            assert_eq!(flavour(release), wanted, "{release}");
        }
    }
}
