//! `triptime audit`: checks whether this machine is set up for real time, and shows causes and remedies.

mod tree;

use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::{page, terminal, verdict};
use audit::parameters::{Parameters, Workload};
use audit::planned::PlannedTask;
use audit::rule::Severity;
use audit::value::Value;
use audit::waiver::{self, Waiver};
use audit::{Audit, check_definitions};
use host::Host;
use report::audit::{AuditAnswer, AuditReport};
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::{CpuList, foreign, shell};

/// Exit status if a finding has a severity that fails the audit.
const FAILED: u8 = 1;

/// Default time for which counters are watched.
const OBSERVED: &str = "2s";

/// Checks whether this host, guest, container and its interfaces are set up for real time; changes nothing
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Reads files and asks the kernel; runs no other program and writes nothing. Facts that cannot be read are `unknown`, never `pass`; \
run as root to read most of them.

Exit status: 0 nothing that matters failed or is unknown; 1 something failed; 2 wrong usage; 3 nothing failed, and something that \
matters is unknown.

Examples: triptime audit --cpus 2-3 --nic eth1
          triptime audit --cpus 2-5 --domain /etc/libvirt/qemu/relay.xml --full
          triptime audit --root recorded-host --json")]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    of: OfArgs,
    /// Print the audit as one JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Print every finding with its reasons, sources and traps, and the CPUs
    #[arg(long, conflicts_with = "json")]
    full: bool,
    /// With --full, also the checks that do not apply here
    #[arg(long, requires = "full")]
    all: bool,
    /// Print the answer in one line, for a log
    #[arg(long, conflicts_with_all = ["json", "full"])]
    summary: bool,
    /// Print the audit in another program's form, as `triptime export` writes a run
    #[arg(long, value_enum, conflicts_with_all = ["json", "full", "summary"])]
    format: Option<FormatArg>,
    /// Also write everything that was read as a tar file, for an audit elsewhere with --root; reports which secrets and addresses were left
    /// out
    #[arg(long, value_name = "FILE.tar", conflicts_with = "root")]
    capture: Option<PathBuf>,
    /// Also write the audit as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the audit as a JUnit file: a test case for each check
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Subject and purpose of an audit: shared with `tune`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OfArgs {
    /// CPUs for real-time work [default: those that the kernel keeps free of its own work]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Interface of the process bus or of PTP; may be given more than once
    #[arg(long, value_name = "IF")]
    nic: Vec<String>,
    /// libvirt domain: an XML file, or the name of a domain of this machine; may be given more than once
    #[arg(long, value_name = "FILE|NAME")]
    domain: Vec<String>,
    /// VMware virtual machine: its .vmx or .ovf; may be given more than once
    #[arg(long, value_name = "FILE")]
    vmx: Vec<PathBuf>,
    /// Output of the commands of the ESXi host that runs these virtual machines, in one file
    #[arg(long, value_name = "FILE")]
    esxi: Option<PathBuf>,
    /// Container: a definition file, or the id of a container of this machine; may be given more than once
    #[arg(long, value_name = "ID|FILE")]
    container: Vec<String>,
    /// Real-time task that will run, and how: relay=fifo:80@2; NAME is the name of its threads, with * for anything, or cmd:PATTERN for its
    /// command line; may be given more than once
    #[arg(long, value_name = "NAME=POLICY:PRIORITY@CPUS")]
    task: Vec<PlannedTask>,
    /// Audit a recorded tree instead of this machine: a folder with proc, sys and etc, or a file of --capture
    #[arg(long, value_name = "TREE")]
    root: Option<PathBuf>,
    /// How real-time threads use their CPU
    #[arg(long, value_enum, default_value = "periodic")]
    workload: WorkloadArg,
    /// Profile of the set-up, which sets the severities
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// How long the kernel's counters are watched to find rates; 0s: not at all
    #[arg(long, value_name = "DURATION", default_value = OBSERVED, value_parser = observed)]
    observe: Duration,
    /// Lowest severity of a finding that fails the audit
    #[arg(long, value_enum, default_value = "major")]
    fail_on: SeverityArg,
    /// File of findings that somebody accepted, each with reason, name and last day
    #[arg(long, value_name = "FILE")]
    waivers: Option<PathBuf>,
}

/// Forms of other programs.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FormatArg {
    /// Findings of the role validate of ansible-vpac, as JSON: check, status, msg
    AnsibleVpac,
    /// A table that an AsciiDoc document includes, such as SEAPATH's test report
    Asciidoc,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum WorkloadArg {
    /// Threads wake for each cycle and sleep again
    Periodic,
    /// Threads never sleep
    BusyPoll,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SeverityArg {
    Minor,
    Major,
    Blocker,
}

fn observed(text: &str) -> Result<Duration, String> {
    let ns = units::parse_ns(text).map_err(|error| error.to_string())?;
    match Duration::from_nanos(ns) {
        long if long > Duration::from_secs(600) => Err("at most 10 minutes".to_owned()),
        time => Ok(time),
    }
}

impl OfArgs {
    /// The machine to audit.
    pub(crate) fn machine(&self, remembers: bool) -> Result<Host, Failure> {
        match &self.root {
            None if remembers => Ok(Host::live().remembering()),
            None => Ok(Host::live()),
            Some(root) => tree::machine(root),
        }
    }

    /// Parameters of the audit: its subject and purpose.
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters {
            rt_cpus: self.cpus.clone(),
            nics: self.nic.clone(),
            domains: self.domain.clone(),
            vmx: self.vmx.clone(),
            esxi: self.esxi.clone(),
            containers: self.container.clone(),
            tasks: self.task.clone(),
            observe: Some(self.observe).filter(|time| !time.is_zero()),
            workload: match self.workload {
                WorkloadArg::Periodic => Workload::Periodic,
                WorkloadArg::BusyPoll => Workload::BusyPoll,
            },
            profile: self.profile.clone(),
        }
    }

    /// Paths of the domains that were given as files.
    pub(crate) fn domain_files(&self) -> Vec<&str> {
        let named = self.domain.iter().map(String::as_str);
        named.filter(|named| audit::is_definition_file(named)).collect()
    }

    /// Names of the domains that were given by name.
    pub(crate) fn domain_names(&self) -> Vec<&str> {
        let named = self.domain.iter().map(String::as_str);
        named.filter(|named| !audit::is_definition_file(named)).collect()
    }

    /// The CPUs for real-time work, as the command line gives them.
    pub(crate) fn cpus(&self) -> Option<&CpuList> {
        self.cpus.as_ref()
    }

    fn waivers(&self) -> Result<Vec<Waiver>, Failure> {
        let Some(path) = &self.waivers else {
            return Ok(Vec::new());
        };
        let wrong = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let today = jiff::Zoned::now().date();
        waiver::read(&text, today).map_err(|error| wrong(&error))
    }

    /// The same options as words of a command line.
    pub(crate) fn words(&self) -> String {
        let mut words = self.parameters().words();
        let mut add = |name: &str, value: String| words.extend([format!("--{name}"), shell::word(&value).into_owned()]);
        let paths = [("root", &self.root), ("waivers", &self.waivers)];
        for (name, path) in paths
            .into_iter()
            .filter_map(|(name, path)| Some((name, path.as_ref()?)))
        {
            add(name, path.display().to_string());
        }
        if self.fails_from() != Severity::Major {
            add("fail-on", self.fails_from().word().to_owned());
        }
        words.join(" ")
    }

    fn fails_from(&self) -> Severity {
        match self.fail_on {
            SeverityArg::Minor => Severity::Minor,
            SeverityArg::Major => Severity::Major,
            SeverityArg::Blocker => Severity::Blocker,
        }
    }

    /// Name of the machine for the audit.
    fn name(&self) -> String {
        match &self.root {
            Some(root) => root.display().to_string(),
            None => fs::read_to_string("/proc/sys/kernel/hostname")
                .map_or_else(|_| "this machine".to_owned(), |name| name.trim().to_owned()),
        }
    }

    /// Audits the host by the rules.
    pub(crate) fn audit(&self, host: &Host) -> Result<Audit, Failure> {
        self.check()?;
        Ok(audit::audit(host, &self.parameters(), &self.waivers()?))
    }

    /// The audit, ready to be shown.
    fn report(&self, audit: &Audit) -> AuditReport {
        let machine = foreign::shown(&self.name()).into_owned();
        AuditReport::of(audit, machine, self.profile.clone(), self.fails_from())
    }

    /// Reads what an audit of the domains that were not named would read: whoever gets the capture may name them.
    fn read_of_others(&self, host: &Host, audit: &Audit) {
        if let Ok(Value::List(others)) = audit.facts.get(None, "domains.not-named")
            && !others.is_empty()
        {
            let mut parameters = self.parameters();
            parameters.observe = None;
            parameters.domains.extend(others);
            audit::audit(host, &parameters, &[]);
        }
    }

    /// Refuses unknown profiles and unreadable definitions.
    fn check(&self) -> Result<(), Failure> {
        let profiles = audit::rule::profiles();
        match &self.profile {
            Some(name) if !profiles.contains(name) => Err(Failure::Usage(format!(
                "--profile {name}: no such profile (have: {})",
                profiles.join(", ")
            ))),
            _ => check_definitions(&self.parameters()).map_err(Failure::Usage),
        }
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &AuditArgs) -> Result<u8, Failure> {
    page::check(args.html.as_deref(), None)?;
    let machine = args.of.machine(args.capture.is_some())?;
    let audit = args.of.audit(&machine)?;
    let report = args.of.report(&audit);
    if let Some(path) = &args.capture {
        args.of.read_of_others(&machine, &audit);
        let left_out = tree::write(&machine, path)?;
        say(&format_args!(
            "{}: replaced or left out: {}",
            path.display(),
            left_out.join("; ")
        ));
    }
    let colour = std::io::stdout().is_terminal();
    let told = args.of.words();
    let command = |head: &str| foreign::shown(format!("{head} {told}").trim_end()).into_owned();
    let text = match args {
        AuditArgs { json: true, .. } => report.json().map_err(|error| Failure::of_document(&error))?,
        AuditArgs { full: true, all, .. } => report.text(colour, *all),
        AuditArgs { summary: true, .. } => report.summary(),
        AuditArgs {
            format: Some(FormatArg::AnsibleVpac),
            ..
        } => report.findings(),
        AuditArgs {
            format: Some(FormatArg::Asciidoc),
            ..
        } => report.asciidoc(),
        _ => report.screen(
            terminal::size(),
            colour,
            &command("triptime audit --full"),
            // Most remedies are for CPUs that somebody has to choose.
            &command(match report.has_no_cpus && args.of.cpus().is_none() {
                true => "triptime tune --plan --cpus LIST",
                false => "triptime tune --plan",
            }),
        ),
    };
    let written = verdict::write(&text);
    beside(args, &report)?;
    written?;
    Ok(match report.answer() {
        AuditAnswer::Pass => 0,
        AuditAnswer::Fail => FAILED,
        AuditAnswer::Unknown => COULD_NOT_MEASURE,
    })
}

/// Writes the files that were requested in addition to the printed answer.
fn beside(args: &AuditArgs, report: &AuditReport) -> Result<(), Failure> {
    let cannot = |what: &str, error: &dyn std::fmt::Display| {
        Failure::CouldNotMeasure(format!("cannot make the {what}: {error}"))
    };
    let page = |path: &Path| {
        let html = report.html().map_err(|error| cannot("HTML page", &error))?;
        page::HTML.write(path, &html)
    };
    let junit = |path: &Path| {
        let text = report.junit().map_err(|error| cannot("JUnit file", &error))?;
        page::JUNIT.write(path, &text)
    };
    args.html.as_deref().map_or(Ok(()), page)?;
    args.junit.as_deref().map_or(Ok(()), junit)
}
