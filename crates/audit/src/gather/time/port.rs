//! Asks ptp4l about its port, over its UNIX socket.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use toml::{Table, Value as Toml};
use wire::ptp::{Action, Content, Id, PortIdentity, Reply};

use super::clock::{table, value};
use super::ptp::Ptp;
use crate::facts::Subject;
use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;

/// Maximum time for the answers, which come from the daemon's main loop.
const PATIENCE: Duration = Duration::from_millis(300);

/// Questions to the daemon.
const QUESTIONS: [Id; 4] = [Id::TimeStatus, Id::Current, Id::Parent, Id::Port];

/// Facts and their names in the answer.
const FACTS: [(&str, &str); 6] = [
    ("ptp.port-state", "state"),
    ("ptp.has-grandmaster", "grandmaster"),
    ("ptp.offset-ns", "offset-ns"),
    ("ptp.path-delay-ns", "path-delay-ns"),
    ("ptp.clock-class", "clock-class"),
    ("ptp.steps-removed", "steps-removed"),
];

/// Stores the answers, or the reason that there are none.
pub(super) fn note(answer: &Result<Table, Unknown>, part: &mut Subject) {
    for (fact, key) in FACTS {
        part.set_known(fact, value(answer, key));
    }
}

/// Answer of one of several ptp4l. A tree stores the first as `ptp4l`, the next as `ptp4l-2`.
pub(super) fn answer(reader: &Reader, all: &[Ptp], place: usize) -> Result<Table, Unknown> {
    let ptp = &all[place];
    if !ptp.runs() {
        return Err(Unknown::absent("ptp4l does not run"));
    }
    let socket = ptp.text("uds_address")?;
    let others = all.iter().enumerate().filter(|(other, _)| *other != place);
    if others
        .into_iter()
        .any(|(_, other)| other.text("uds_address").as_ref() == Ok(&socket))
    {
        return Err(Unknown::unclear(format!(
            "several ptp4l have the socket {socket}: the one that answers there is unknown"
        )));
    }
    let name = match place {
        0 => "ptp4l".to_owned(),
        later => format!("ptp4l-{}", later + 1),
    };
    table(reader, &name, || ask(ptp))
}

/// Socket of this end; its name in the file system is removed with it.
struct Socket(UnixDatagram, PathBuf);

impl Socket {
    fn bind() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("triptime-audit.{}", std::process::id()));
        // Removes the socket of a killed process with the same id.
        let _ = std::fs::remove_file(&path);
        Ok(Self(UnixDatagram::bind(&path)?, path))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.1);
    }
}

/// Asks the daemon in its domain.
fn ask(ptp: &Ptp) -> Result<String, HostError> {
    let undecided = |what: String| HostError::Undecided(format!("ptp4l: {what}"));
    let peer = ptp.text("uds_address").map_err(|unknown| undecided(unknown.text))?;
    let domain = ptp.number("domainNumber").map_err(|unknown| undecided(unknown.text))? as u8;
    let failed = |error: std::io::Error| undecided(format!("{peer}: {error}"));
    let own = Socket::bind().map_err(failed)?;
    own.0.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    for (number, id) in (0_u16..).zip(QUESTIONS) {
        // Daemons for gPTP answer another transportSpecific.
        for specific in [0, 1] {
            let question = wire::ptp::get(id, domain, specific, PortIdentity::default(), number);
            own.0.send_to(&question, &peer).map_err(failed)?;
        }
    }
    let mut all = Table::new();
    let until = Instant::now() + PATIENCE;
    let mut room = [0; 1_500];
    while all.len() < FACTS.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || own.0.set_read_timeout(Some(left)).is_err() {
            break;
        }
        let Ok(length) = own.0.recv(&mut room) else { break };
        if let Ok(reply) = Reply::parse(&room[..length])
            && reply.action == Action::Response
        {
            keep(&reply.content, &mut all);
        }
    }
    match all.is_empty() {
        true => Err(undecided(format!("{peer}: no answer in {} ms", PATIENCE.as_millis()))),
        false => Ok(all.to_string()),
    }
}

/// Among several ports, the one that follows a master counts.
fn keep(content: &Content<'_>, all: &mut Table) {
    let mut put = |key: &str, value: Toml| all.insert(key.to_owned(), value);
    match content {
        Content::TimeStatus(data) => {
            put("grandmaster", Toml::Boolean(data.grandmaster_present));
            put("offset-ns", Toml::Integer(data.master_offset_ns.saturating_abs()));
        }
        Content::Current(data) => {
            put("steps-removed", Toml::Integer(i64::from(data.steps_removed)));
            all.entry("path-delay-ns")
                .or_insert(Toml::Integer(data.mean_path_delay_ns));
        }
        Content::Parent(data) => {
            put("clock-class", Toml::Integer(i64::from(data.grandmaster_quality.class)));
        }
        Content::Port(data) => {
            let state = data.state.to_string();
            if state == "SLAVE" || !all.contains_key("state") {
                all.insert("state".to_owned(), Toml::String(state));
                // With peer delay, the clock has no path delay of its own.
                if data.peer_to_peer() {
                    all.insert("path-delay-ns".to_owned(), Toml::Integer(data.peer_delay_ns));
                }
            }
        }
        _ => {}
    }
}
