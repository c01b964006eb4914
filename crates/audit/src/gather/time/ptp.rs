//! Configuration of ptp4l: its arguments, the file that they name, and the defaults.

use std::collections::BTreeMap;

use super::{options, port, sharing};
use crate::facts::{Class, Facts, Subject};
use crate::gather::daemons::Daemon;
use crate::value::{Unknown, Value};
use host::error::HostError;
use host::reader::Reader;

/// Default configuration files: Debian, Red Hat; the last two are timemaster's, with sections for ptp4l.
const FILES: [&str; 4] = [
    "/etc/linuxptp/ptp4l.conf",
    "/etc/ptp4l.conf",
    "/etc/linuxptp/timemaster.conf",
    "/etc/timemaster.conf",
];

/// Defaults of ptp4l (ptp4l.8). The default of tx_timestamp_timeout differs by version.
const DEFAULTS: [(&str, &str); 12] = [
    ("network_transport", "UDPv4"),
    ("delay_mechanism", "E2E"),
    ("domainNumber", "0"),
    ("logAnnounceInterval", "1"),
    ("logSyncInterval", "0"),
    ("logMinPdelayReqInterval", "0"),
    ("announceReceiptTimeout", "3"),
    ("clientOnly", "0"),
    ("time_stamping", "hardware"),
    ("step_threshold", "0"),
    ("free_running", "0"),
    ("uds_address", "/var/run/ptp4l"),
];

/// Facts and the settings that define them.
const FACTS: [(&str, &str); 11] = [
    ("ptp.transport", "network_transport"),
    ("ptp.delay-mechanism", "delay_mechanism"),
    ("ptp.domain", "domainNumber"),
    ("ptp.log-announce", "logAnnounceInterval"),
    ("ptp.log-sync", "logSyncInterval"),
    ("ptp.log-pdelay", "logMinPdelayReqInterval"),
    ("ptp.announce-timeout", "announceReceiptTimeout"),
    ("ptp.client-only", "clientOnly"),
    ("ptp.time-stamping", "time_stamping"),
    ("ptp.tx-timestamp-timeout", "tx_timestamp_timeout"),
    ("ptp.step-threshold", "step_threshold"),
];

/// Settings of one ptp4l.
#[derive(Debug, Clone)]
pub(super) struct Ptp {
    /// Process id, if it runs.
    pub(super) pid: Option<String>,
    /// Explicit settings; arguments take precedence over the file.
    settings: Result<BTreeMap<String, String>, Unknown>,
    /// Interfaces on which it listens.
    pub(super) interfaces: Vec<String>,
}

impl Ptp {
    /// Every running ptp4l, by process; if none runs, the one for which a file exists.
    pub(super) fn read_all(reader: &Reader, found: &[Daemon]) -> Vec<Self> {
        let running = found.iter().filter(|daemon| daemon.name == "ptp4l");
        let running: Vec<Self> = running.map(|daemon| Self::of_daemon(reader, daemon)).collect();
        match running.is_empty() {
            true => Self::of_files(reader).into_iter().collect(),
            false => running,
        }
    }

    fn of_daemon(reader: &Reader, daemon: &Daemon) -> Self {
        let (settings, interfaces) = match of_process(reader, daemon) {
            Ok((settings, interfaces)) => (Ok(settings), interfaces),
            Err(unknown) => (Err(unknown), Vec::new()),
        };
        Self {
            pid: Some(daemon.pid.clone()),
            settings,
            interfaces,
        }
    }

    fn of_files(reader: &Reader) -> Option<Self> {
        let mut interfaces = Vec::new();
        let found = FILES.iter().find_map(|path| match reader.text(path) {
            Err(error) if error.is_absent() => None,
            read => Some(read.map_err(Unknown::from).map(|text| settings(&text, &mut interfaces))),
        });
        Some(Self {
            pid: None,
            settings: found?,
            interfaces,
        })
    }

    /// True if it runs.
    pub(super) fn runs(&self) -> bool {
        self.pid.is_some()
    }

    /// Its interfaces, else its process, as text.
    fn name(&self) -> String {
        match (self.interfaces.is_empty(), &self.pid) {
            (false, _) => self.interfaces.join(", "),
            (true, Some(pid)) => format!("process {pid}"),
            (true, None) => "that is configured".to_owned(),
        }
    }

    /// One setting.
    pub(super) fn text(&self, name: &str) -> Result<String, Unknown> {
        let said = self.settings.as_ref().map_err(Clone::clone)?.get(name).cloned();
        let default = DEFAULTS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned());
        said.or(default)
            .ok_or_else(|| Unknown::unclear(format!("{name} is not set: its default differs by version of linuxptp")))
    }

    /// Same as [`Ptp::text`], as a number.
    pub(super) fn number(&self, name: &str) -> Result<f64, Unknown> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| Unknown::unclear(format!("{name}: \"{text}\" is not a number")))
    }
}

/// Settings and interfaces of a running ptp4l.
fn of_process(reader: &Reader, daemon: &Daemon) -> Result<(BTreeMap<String, String>, Vec<String>), Unknown> {
    let given = options::of(daemon)?;
    let mut interfaces: Vec<String> = given
        .iter()
        .filter(|(name, _)| name == "i")
        .map(|(_, value)| value.clone())
        .collect();
    let mut all = match options::last(&given, "f") {
        Some(path) => settings(&reader.text(&daemon.path(reader, path)?)?, &mut interfaces),
        None => BTreeMap::new(),
    };
    for (name, value) in given {
        let (name, value) = match name.as_str() {
            "2" => ("network_transport", "L2"),
            "4" => ("network_transport", "UDPv4"),
            "6" => ("network_transport", "UDPv6"),
            "P" => ("delay_mechanism", "P2P"),
            "E" => ("delay_mechanism", "E2E"),
            "A" => ("delay_mechanism", "Auto"),
            "H" => ("time_stamping", "hardware"),
            "S" => ("time_stamping", "software"),
            "s" => ("clientOnly", "1"),
            long => (long, value.as_str()),
        };
        all.insert(modern(name).to_owned(), value.to_owned());
    }
    interfaces.dedup();
    Ok((all, interfaces))
}

/// Old and new name of the option that linuxptp 4 renamed.
fn modern(name: &str) -> &str {
    if name == "slaveOnly" { "clientOnly" } else { name }
}

/// Parses `name value` lines in sections: `[global]`, and one for each port, which takes precedence. In timemaster's file, uses the section
/// `[ptp4l.conf]`.
fn settings(text: &str, interfaces: &mut Vec<String>) -> BTreeMap<String, String> {
    let is_timemaster = text
        .lines()
        .any(|line| line.trim() == "[timemaster]" || line.trim() == "[ptp4l.conf]");
    let mut of_ports = BTreeMap::new();
    let mut all = BTreeMap::new();
    let mut section = String::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.trim().to_owned();
            let is_port = !is_timemaster && !["global", "unicast_master_table"].contains(&section.as_str());
            if is_port && !section.ends_with("_table") {
                interfaces.push(section.clone());
            }
            continue;
        }
        let Some((name, value)) = line.split_once(char::is_whitespace) else {
            continue;
        };
        if is_timemaster && section.starts_with("ptp_domain") && name == "interfaces" {
            interfaces.extend(value.split_whitespace().map(str::to_owned));
        }
        let entry = (modern(name).to_owned(), value.trim().to_owned());
        match (is_timemaster, section.as_str()) {
            (false, "global") | (true, "ptp4l.conf") => all.extend([entry]),
            (false, _) => of_ports.extend([entry]),
            // Domain and delay mechanism from timemaster's own settings.
            (true, domain) if domain.starts_with("ptp_domain") && name == "delay_mechanism" => all.extend([entry]),
            _ => {}
        }
    }
    all.extend(of_ports);
    all
}

/// One part for each ptp4l. If processes are invisible, one part about which nothing is known, since some may run.
pub(super) fn gather(reader: &Reader, all: &Result<Vec<Ptp>, Unknown>, facts: &mut Facts) {
    let all = match all {
        Ok(all) => all,
        Err(unknown) => {
            let mut part = Subject::new("that may run");
            part.set("ptp.runs", Err::<bool, _>(unknown.clone()));
            for (fact, _) in FACTS {
                part.set(fact, Err::<Value, _>(unknown.clone()));
            }
            part.set("ptp.shared-by", Err::<Vec<String>, _>(unknown.clone()));
            port::note(&Err(unknown.clone()), &mut part);
            return facts.add(Class::Ptp, part);
        }
    };
    let names: Vec<String> = all.iter().map(Ptp::name).collect();
    for (place, (ptp, name)) in all.iter().zip(&names).enumerate() {
        let is_alone = names.iter().filter(|other| *other == name).count() == 1;
        let mut part = Subject::new(match &ptp.pid {
            Some(pid) if !is_alone => format!("{name} (process {pid})"),
            _ => name.clone(),
        });
        part.set("ptp.runs", ptp.runs());
        for (fact, setting) in FACTS {
            part.set(fact, ptp.text(setting).map(Value::Text));
        }
        part.set("ptp.shared-by", shared_by(reader, ptp));
        port::note(&port::answer(reader, all, place), &mut part);
        facts.add(Class::Ptp, part);
    }
}

/// Others that receive the frames of its interfaces.
fn shared_by(reader: &Reader, ptp: &Ptp) -> Result<Vec<String>, Unknown> {
    if ptp.interfaces.is_empty() {
        return Err(Unknown::unclear("the interfaces of ptp4l are not known"));
    }
    let mut found = Vec::new();
    for interface in &ptp.interfaces {
        found.extend(sharing::of(reader, interface)?);
    }
    Ok(found)
}

/// Number of an interface's PTP clock.
pub(super) fn clock_of(reader: &Reader, interface: &str) -> Result<u32, Unknown> {
    let folder = format!("/sys/class/net/{interface}/device/ptp");
    let names = reader.names(&folder, |name| name.starts_with("ptp"))?;
    let number = names
        .first()
        .and_then(|name| name.trim_start_matches("ptp").parse().ok());
    number.ok_or_else(|| HostError::Undecided(format!("{folder} names no clock")).into())
}
