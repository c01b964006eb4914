//! Arguments for the agent on the kernel command line.

use super::super::asked::{AGENT, DISK, MANAGEMENT, PARTITION, RUN, STAYS};
use super::management::ManagementCard;

/// Arguments for the agent on the kernel command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    /// Words of the command to run without a host.
    pub(super) run: Option<Vec<String>>,
    /// Name of the disk for its result.
    pub(super) disk: Option<String>,
    /// True if the guest stays up when no host is connected.
    pub(super) stays: bool,
    /// Name of the partition with the words of a command, and space for its result.
    pub(super) partition: Option<String>,
    /// The card of a management network, or an error if its text cannot be parsed.
    pub(super) management: Option<Result<ManagementCard, String>>,
}

impl Arguments {
    /// The arguments of this boot; `None` if they do not ask for the agent.
    pub(super) fn live() -> Option<Self> {
        std::fs::read_to_string("/proc/cmdline")
            .ok()
            .and_then(|line| Self::parse(&line))
    }

    fn parse(line: &str) -> Option<Self> {
        let words = split(line);
        let value = |name: &str| {
            let found = words.iter().rev().find_map(|word| word.strip_prefix(name));
            found.map(str::to_owned)
        };
        let run = value(RUN).map(|run| run.split_whitespace().map(str::to_owned).collect());
        let partition = value(PARTITION);
        let is_asked_for = run.is_some() || partition.is_some() || words.iter().any(|word| word == AGENT);
        is_asked_for.then(|| Self {
            run,
            disk: value(DISK),
            stays: words.iter().any(|word| word == STAYS),
            partition,
            management: value(MANAGEMENT).map(|text| text.parse()),
        })
    }
}

/// Splits at white space outside double quotes, as the kernel's `next_arg()` does, and removes the
/// quotes.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match (c, words.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (c, _) if c.is_whitespace() && !is_quoted => words.push(String::new()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    #[test]
    fn the_agent_is_asked_for_by_name_or_by_a_command() {
        assert_eq!(Arguments::parse("console=ttyS0 quiet"), None);
        assert_eq!(Arguments::parse("xtriptime.agent"), None);
        let plain = Arguments::parse("quiet triptime.agent panic=-1\n").expect("asked for");
        assert_eq!((plain.run, plain.disk, plain.stays), (None, None, false));
        let held = Arguments::parse("triptime.agent triptime.stays").expect("asked for");
        assert!(held.stays);
    }

    #[test]
    fn a_command_has_its_words() {
        let line = "triptime.run=\"qualify vm-wakeup --duration 60s\" triptime.disk=sdb quiet";
        let asked = Arguments::parse(line).expect("asked for");
        let words = ["qualify", "vm-wakeup", "--duration", "60s"];
        assert_eq!(asked.run.expect("a command"), words);
        assert_eq!(asked.disk.as_deref(), Some("sdb"));
        let booted = Arguments::parse("quiet triptime.partition=triptime-00c0ffee").expect("asked for");
        assert_eq!(
            (booted.run, booted.partition.as_deref()),
            (None, Some("triptime-00c0ffee"))
        );
        // Some boot loaders quote the whole argument.
        let whole = Arguments::parse("\"triptime.run=noise --cpus 1\"").expect("asked for");
        assert_eq!(whole.run.expect("a command"), ["noise", "--cpus", "1"]);
    }
}
