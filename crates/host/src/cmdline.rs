//! The kernel command line: splitting, CPU lists in the syntax of boot arguments, and parts that must not be shown.

use units::CpuList;

use crate::capture::is_secret_name;
use crate::error::HostError;
use crate::reader::Reader;

/// Path of the file.
pub(crate) const PATH: &str = "/proc/cmdline";

/// The kernel's own arguments, in order. The part after `--` is for init and is left out.
pub struct Cmdline {
    arguments: Vec<(String, Option<String>)>,
}

impl Cmdline {
    /// Reads the command line of the running kernel.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(reader: &Reader) -> Result<Self, HostError> {
        reader.text(PATH).map(|text| Self::parse(&text))
    }

    /// Splits a line; arguments after `--` are not the kernel's.
    pub fn parse(text: &str) -> Self {
        let words = split(text);
        let kernel = words.iter().take_while(|word| *word != "--");
        let arguments = kernel.map(|word| match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.clone(), None),
        });
        Self {
            arguments: arguments.collect(),
        }
    }

    /// Every value given for `name`, in order; an argument without `=` has the value `""`. The kernel treats `-` and `_` in names alike.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let same = |given: &str| given.len() == name.len() && given.replace('-', "_") == name.replace('-', "_");
        let named = self.arguments.iter().filter(move |(given, _)| same(given));
        named.map(|(_, value)| value.as_deref().unwrap_or(""))
    }

    /// Last value given for `name`, which counts for most arguments.
    pub fn last<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.values(name).last()
    }

    /// The line for display: without identifiers of disks and machines, and without secrets.
    pub(crate) fn shown(&self) -> String {
        let words = self.arguments.iter().map(|(name, value)| match value {
            None => name.clone(),
            Some(_) if is_secret_name(name) => format!("{name}=(hidden)"),
            Some(value) => {
                let shown = with_hidden_login(value);
                format!("{name}={}", without_identifiers(shown.as_deref().unwrap_or(value)))
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Splits at white space outside double quotes, as the kernel's `next_arg()` does; the quotes are removed.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        if c == '"' {
            quoted = !quoted;
        } else if c.is_whitespace() && !quoted {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A word with `:NAME:PASSWORD@`, such as the value of `netroot=iscsi:NAME:PASSWORD@SERVER` (dracut.cmdline(7)), with name and password
/// hidden; `None` for any other word.
pub(crate) fn with_hidden_login(word: &str) -> Option<String> {
    let (before, server) = word.rsplit_once('@')?;
    let (protocol, login) = before.split_once(':')?;
    // Control groups (`0::/user@1.service`) and ranges of crashkernel= begin with a digit; a protocol does not.
    let is_number = protocol.rsplit('=').next()?.starts_with(|c: char| c.is_ascii_digit());
    (login.contains(':') && !is_number).then(|| format!("{protocol}:(hidden)@{server}"))
}

/// Minimum number of hexadecimal digits of an identifier of a disk or machine; addresses have fewer.
const IDENTIFIER_DIGITS: usize = 24;

/// Replaces every run of hexadecimal digits and dashes with at least 24 digits (UUID, machine id, container id).
pub(crate) fn without_identifiers(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_hexdigit() && c != '-')
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let identifier = run.bytes().filter(|&b| b != b'-').count() >= IDENTIFIER_DIGITS;
        shown.push_str(if identifier { "(id)" } else { run });
        let next = after.chars().next().map_or(0, char::len_utf8);
        shown.push_str(&after[..next]);
        rest = &after[next..];
    }
    shown
}

/// Parses a CPU list in the syntax of boot arguments: `1-3,5`, `all`, `4-N` (N: the highest CPU), and `0-15:2/4` (the first 2 of every 4),
/// after Documentation/admin-guide/kernel-parameters.rst. Returns `None` if it is not a list.
pub fn boot_cpus(text: &str, highest: u32) -> Option<CpuList> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (range, stride) = part
            .split_once(':')
            .map_or((part, None), |(range, stride)| (range, Some(stride)));
        let (low, high) = if range == "all" {
            (0, highest)
        } else {
            ends(range, highest)?
        };
        // A list may exceed the machine's CPUs, but a list that exceeds them by far is invalid.
        if low > high || high > highest.saturating_add(8192) {
            return None;
        }
        match stride {
            None => cpus.extend(low..=high),
            Some(stride) => {
                let (used, group) = stride.split_once('/')?;
                let (used, group): (u32, u32) = (used.parse().ok()?, group.parse().ok().filter(|&group| group > 0)?);
                cpus.extend((low..=high).filter(|cpu| (cpu - low) % group < used));
            }
        }
    }
    Some(cpus.into_iter().collect())
}

fn ends(range: &str, highest: u32) -> Option<(u32, u32)> {
    let number = |text: &str| if text == "N" { Some(highest) } else { text.parse().ok() };
    let (low, high) = range.split_once('-').unwrap_or((range, range));
    Some((number(low)?, number(high)?))
}

#[cfg(test)]
mod tests {
    use super::{Cmdline, boot_cpus, without_identifiers};

    #[test]
    fn splits_as_the_kernel_does() {
        let line =
            Cmdline::parse("quiet isolcpus=domain,1-3 dyndbg=\"file a +p\" rcu-nocbs=2 isolcpus=2 -- isolcpus=7 x\n");
        assert_eq!(line.values("isolcpus").collect::<Vec<_>>(), ["domain,1-3", "2"]);
        assert_eq!(line.last("rcu_nocbs"), Some("2"));
        assert_eq!(line.last("quiet"), Some(""));
        assert_eq!(line.last("dyndbg"), Some("file a +p"));
        assert_eq!(line.last("x"), None, "what follows -- is for init");
    }

    #[test]
    fn boot_lists_follow_the_kernel_notation() {
        for (text, cpus) in [
            ("1-3,5", Some("1-3,5")),
            ("4-N", Some("4-15")),
            ("N", Some("15")),
            ("all", Some("0-15")),
            ("0-15:2/4", Some("0-1,4-5,8-9,12-13")),
            ("0-7:1/0", None),
            ("3-1", None),
            ("domain", None),
            ("0-4000000000", None),
        ] {
            assert_eq!(
                boot_cpus(text, 15).map(|list| list.to_string()).as_deref(),
                cpus,
                "{text}"
            );
        }
    }

    #[test]
    fn identifiers_and_secrets_are_not_shown() {
        assert_eq!(
            without_identifiers("UUID=3fae7a1c-0d9b-4a6e-8f37-1c2d3e4f5a6b"),
            "UUID=(id)"
        );
        assert_eq!(without_identifiers("0xdeadbeef,é-1"), "0xdeadbeef,é-1");
        let line = Cmdline::parse("root=UUID=3fae7a1c-0d9b-4a6e-8f37-1c2d3e4f5a6b rd.iscsi.password=x quiet");
        assert_eq!(line.shown(), "root=UUID=(id) rd.iscsi.password=(hidden) quiet");
        let line = Cmdline::parse(
            "systemd.set_credential=a:geheim sshkey=geheim rd.key=geheim vconsole.keymap=de crashkernel=256M",
        );
        assert_eq!(
            line.shown(),
            "systemd.set_credential=(hidden) sshkey=(hidden) rd.key=(hidden) vconsole.keymap=de crashkernel=256M"
        );
        let line = Cmdline::parse(
            "netroot=iscsi:joe:geheim:jim:auch@storage::::iqn.2009-06.x crashkernel=1G-2G:128M,2G-:256M@16M",
        );
        assert_eq!(
            line.shown(),
            "netroot=iscsi:(hidden)@storage::::iqn.2009-06.x crashkernel=1G-2G:128M,2G-:256M@16M"
        );
    }
}
