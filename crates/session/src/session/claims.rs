//! Shows other sessions the interfaces that this one measures on: each has an abstract Unix socket named after it.
//!
//! Such names belong to the network namespace, as the interface does. Any process may bind one and read them all
//! (`/proc/net/unix`), and they are gone with the process, however it ends.

use super::neighbours::is_load_of_ours;
use model::EventKind;
use run::Events;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Monotonic;

/// Beginning of the names.
const PREFIX: &str = "triptime-interface/";

/// An interface that another session also measures on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Claim {
    index: u32,
    pid: u32,
    /// Distinguishes processes of different PID namespaces that have the same number.
    token: u64,
}

/// The interfaces of this session.
pub(super) struct Claims {
    /// Names and numbers of the interfaces.
    interfaces: Vec<(String, u32)>,
    /// These sockets keep the names while they are open.
    _sockets: Vec<UnixDatagram>,
    /// The present claims of others, and the earliest instant each may have begun.
    known: Vec<(Claim, Monotonic)>,
    /// Instant of the last look.
    looked: Monotonic,
}

impl Claims {
    /// Claims interfaces of the calling thread's network namespace. Interfaces that do not exist are skipped.
    pub(super) fn new(interfaces: &[String], start: Monotonic) -> Self {
        let numbered = interfaces.iter().filter_map(|name| {
            let index = sys::link::find(name).ok()?.index;
            Some((name.clone(), index))
        });
        let interfaces: Vec<(String, u32)> = numbered.collect();
        let sockets = interfaces.iter().filter_map(|(_, index)| bind(*index)).collect();
        Self {
            interfaces,
            _sockets: sockets,
            known: Vec::new(),
            looked: start,
        }
    }

    /// Looks for other claims, and reports those that have ended, once, for all of their time.
    pub(super) fn look(&mut self, events: &Events) {
        let before = std::mem::replace(&mut self.looked, sys::clock::monotonic());
        let there = self.others();
        let (mut stay, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.known)
            .into_iter()
            .partition(|(known, _)| there.contains(known));
        for claim in there {
            if !stay.iter().any(|(known, _)| *known == claim) {
                stay.push((claim, before));
            }
        }
        self.known = stay;
        self.say(gone, events);
    }

    /// Reports the claims that are still there at the end of the run.
    pub(super) fn close(&mut self, events: &Events) {
        self.look(events);
        let known = std::mem::take(&mut self.known);
        self.say(known, events);
    }

    fn say(&self, others: Vec<(Claim, Monotonic)>, events: &Events) {
        for (claim, since) in others {
            events.write_since(since, EventKind::SecondMeasurement, self.text(&claim));
        }
    }

    fn text(&self, claim: &Claim) -> String {
        let name = self.interfaces.iter().find(|(_, ours)| *ours == claim.index);
        let name = name.map_or("?", |(name, _)| name.as_str());
        let pid = claim.pid;
        format!("another triptime (pid {pid}) measures on {name} at the same time")
    }

    /// Other sessions on these interfaces.
    fn others(&self) -> Vec<Claim> {
        if self.interfaces.is_empty() {
            return Vec::new();
        }
        let table = fs::read_to_string("/proc/thread-self/net/unix").unwrap_or_default();
        let is_ours = |index: u32| self.interfaces.iter().any(|(_, ours)| *ours == index);
        let claims = table.lines().filter_map(claim);
        claims
            .filter(|claim| is_ours(claim.index) && claim.token != own_token() && !is_load_of_ours(claim.pid))
            .collect()
    }
}

/// A number that no other process has: the instant of the first call.
fn own_token() -> u64 {
    static TOKEN: OnceLock<u64> = OnceLock::new();
    *TOKEN.get_or_init(|| {
        let now = u64::try_from(sys::clock::monotonic().as_ns()).unwrap_or(0);
        now ^ (u64::from(std::process::id()) << 48)
    })
}

fn bind(index: u32) -> Option<UnixDatagram> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{PREFIX}{index}/{}/{:x}/{number}", std::process::id(), own_token());
    let address = SocketAddr::from_abstract_name(name).ok()?;
    UnixDatagram::bind_addr(&address).ok()
}

/// Parses a line of `/proc/net/unix` whose last column is the name of a claim: `@triptime-interface/INDEX/PID/TOKEN/NUMBER`.
fn claim(line: &str) -> Option<Claim> {
    let name = line.split_ascii_whitespace().last()?;
    let mut parts = name.strip_prefix('@')?.strip_prefix(PREFIX)?.split('/');
    Some(Claim {
        index: parts.next()?.parse().ok()?,
        pid: parts.next()?.parse().ok()?,
        token: u64::from_str_radix(parts.next()?, 16).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Claim, Claims, claim};

    #[test]
    fn only_names_of_claims_are_read() {
        let line = "0000000000000000: 00000002 00000000 00000000 0002 01 91834 @triptime-interface/7/4242/1f/0";
        let expected = Claim {
            index: 7,
            pid: 4242,
            token: 0x1f,
        };
        assert_eq!(claim(line), Some(expected));
        for other in [
            "Num       RefCount Protocol Flags    Type St Inode Path",
            "0: 2 0 0 0001 01 1 /run/triptime-interface/7/4242/1f/0",
            "0: 2 0 0 0001 01 1 @triptime-interface/x/4242/1f/0",
            "0: 2 0 0 0001 01 1 @triptime-interface/7",
            "",
        ] {
            assert_eq!(claim(other), None, "{other}");
        }
    }

    #[test]
    fn our_own_claims_are_no_others_and_are_seen_by_all() {
        let now = sys::clock::monotonic();
        let claims = Claims::new(&["lo".to_owned(), "no-such-interface".to_owned()], now);
        assert_eq!(claims.interfaces.len(), 1);
        let again = Claims::new(&["lo".to_owned()], now);
        assert!(claims.others().is_empty() && again.others().is_empty());
        let table = std::fs::read_to_string("/proc/thread-self/net/unix").expect("the table");
        let own = table
            .lines()
            .filter_map(claim)
            .filter(|claim| claim.pid == std::process::id());
        assert!(own.count() >= 2, "{table}");
    }
}
