//! Refuses measurements that would disturb others: by spinning on their CPUs, or by sending frames on a port that carries a user's connection.

use host::{CpuFacts, Host, Resident, ssh_client};
use units::CpuList;

/// Number of names that a message lists.
const MOST_NAMED: usize = 3;

/// CPUs with real-time work of other processes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a thread would spin at real-time priority, and keep others waiting: {0}; name other CPUs with --cpus or --cpu, or add --disturb"
)]
pub struct Disturbing(String);

/// Refuses CPUs on which a thread that spins at real-time priority would delay real-time threads, virtual CPUs or interrupt threads of others. CPUs
/// that are isolated from the kernel's work and were named by the user count as dedicated to the measurement and are not checked.
///
/// # Errors
/// The threads that would be delayed.
pub fn leave_alone(spun: &CpuList, named: bool, facts: &CpuFacts) -> Result<(), Disturbing> {
    let dedicated = if named { facts.kept_free() } else { CpuList::default() };
    let asked = spun.without(&dedicated);
    if asked.is_empty() {
        return Ok(());
    }
    // Owners that cannot be seen cannot be checked: a run's notes say if they are unknown.
    refuse(&Host::live().residents(&asked).unwrap_or_default())
}

/// A port that carries a user's connection to this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} carries the connection to this machine (a default route, or the session of ssh): name a port of its own for the bed"
)]
pub struct Connected(String);

/// Refuses ports that carry a default route or the session of `ssh`, in the network namespace of the calling thread.
///
/// # Errors
/// The first such port.
pub fn leave_connection(ports: &[String]) -> Result<(), Connected> {
    let connection = Host::live().connection(ssh_client());
    match ports.iter().find(|port| connection.contains(port)) {
        Some(port) => Err(Connected(port.clone())),
        None => Ok(()),
    }
}

fn refuse(residents: &[Resident]) -> Result<(), Disturbing> {
    if residents.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = residents.iter().take(MOST_NAMED).map(Resident::to_string).collect();
    let more = residents.len() - named.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Err(Disturbing(named.join(", ") + &more))
}

#[cfg(test)]
mod tests {
    use super::refuse;
    use host::Resident;

    #[test]
    fn the_refusal_names_who_would_wait_and_what_to_do() {
        assert!(refuse(&[]).is_ok());
        let resident = |cpu: u32| Resident {
            cpu,
            who: format!("real-time thread relay of ssc600 (pid {cpu})"),
        };
        let error = refuse(&(1..=5).map(resident).collect::<Vec<_>>()).expect_err("refused");
        let text = error.to_string();
        assert!(
            text.contains("cpu1: real-time thread relay of ssc600 (pid 1)") && text.contains("and 2 more"),
            "{text}"
        );
        assert!(text.contains("--disturb"), "{text}");
    }
}
