//! Replaces secrets, addresses and identifiers in a recorded tree.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::secrets::{is_secret_name, value_of};
use super::{Processes, definitions};
use crate::cmdline::{with_hidden_login, without_identifiers};
use crate::reader::Touched;

/// Options followed by a name and a password (`curl -u`).
const LOGIN: [&str; 3] = ["-u", "--user", "--proxy-user"];
/// Words followed by a password without a sign (GRUB, `.netrc`, options).
const PASSWORD: [&str; 4] = ["password", "passwd", "--password", "--passphrase"];
/// Mounts of the kernel's own file systems, which rules use (the prefix cgroup includes cgroup2).
const KERNEL_MOUNTS: [&str; 3] = [" - cgroup", " - tracefs ", " - resctrl "];
/// The name of the first process that starts services and slices.
const SYSTEMD: &str = "systemd";
/// Replacement for a secret.
pub(super) const HIDDEN: &str = "(hidden)";
/// Prefix of a GRUB password hash.
const HASH: &str = "grub.pbkdf2.";

/// Replaces addresses consistently: an address gets the same replacement everywhere in the tree.
pub(super) struct Neutral {
    macs: BTreeMap<String, String>,
    addresses: BTreeMap<String, String>,
    identifiers: usize,
    secrets: usize,
}

impl Neutral {
    pub(super) fn of(touched: &[(String, Touched)]) -> Self {
        let mut neutral = Self {
            macs: BTreeMap::new(),
            addresses: BTreeMap::new(),
            identifiers: 0,
            secrets: 0,
        };
        let files = touched
            .iter()
            .filter(|(path, _)| path.contains("/net/") && path.ends_with("/address"));
        for (_, what) in files {
            if let Touched::File(bytes) = what {
                neutral.mac(String::from_utf8_lossy(bytes).trim());
            }
        }
        neutral
    }

    /// A path without identifiers, such as those of containers.
    pub(super) fn path(&mut self, path: &str) -> String {
        self.without_identifiers(path)
    }

    /// Bytes of a file to keep.
    pub(super) fn file(&mut self, path: &str, bytes: &[u8]) -> Vec<u8> {
        if path.contains("/acpi/") || std::str::from_utf8(bytes).is_err() {
            return bytes.to_vec();
        }
        let text = String::from_utf8_lossy(bytes);
        let kept = match path {
            "/proc/sys/kernel/hostname" => return b"host\n".to_vec(),
            // Rules check if it is systemd; any other name may be that of an application in a container.
            "/proc/1/comm" if text.trim() != SYSTEMD => return b"init\n".to_vec(),
            "/proc/1/environ" => text
                .split_inclusive('\0')
                .filter(|entry| entry.starts_with("container="))
                .collect(),
            _ if is_of_process(path, "environ") => text
                .split_inclusive('\0')
                .filter(|entry| entry.starts_with("IRQBALANCE_"))
                .collect(),
            _ if is_of_process(path, "cmdline") => return self.arguments(&text),
            "/proc/cmdline" => text.split(" -- ").next().unwrap_or("").trim_end().to_owned() + "\n",
            _ if path.ends_with("/mountinfo") => lines(&text, |line| {
                line.contains(" / / ") || KERNEL_MOUNTS.iter().any(|kind| line.contains(kind))
            }),
            _ if path.ends_with("/status") => lines(&text, |line| !line.starts_with("Name:")),
            _ if path == "/proc/stat" => lines(&text, |line| line.starts_with("cpu")),
            _ => text.into_owned(),
        };
        let (kept, count) = definitions::hidden(path, kept);
        self.secrets += count;
        let hidden = self.without_secrets(&kept);
        let anonymous = self.without_identifiers(&hidden);
        self.without_addresses(&anonymous).into_bytes()
    }

    /// Words of a command line, each followed by a zero byte. Values are hidden if their name, or the option before them, marks them as
    /// secret.
    fn arguments(&mut self, text: &str) -> Vec<u8> {
        let mut out = String::new();
        let (mut is_secret, mut before) = (false, "");
        for word in text.split_terminator('\0') {
            let is_login = LOGIN.contains(&before) && word.contains(':');
            before = word;
            let kept = match is_secret || is_login {
                true => {
                    self.secrets += 1;
                    HIDDEN.to_owned()
                }
                false => {
                    let hidden = self.without_secrets(word);
                    let anonymous = self.without_identifiers(&hidden);
                    self.without_addresses(&anonymous)
                }
            };
            let lower = word.to_ascii_lowercase();
            let is_named = lower.starts_with('-') && !lower.contains('=') && is_secret_name(&lower);
            is_secret = is_named;
            out.push_str(&kept);
            out.push('\0');
        }
        out.into_bytes()
    }

    /// Kinds of data that were replaced or left out, as text.
    pub(super) fn left_out(&self, processes: Processes) -> Vec<String> {
        let mut left = vec!["host name, init's arguments, mounts other than / and the kernel's own".to_owned()];
        left.push(match processes {
            Processes::Few => "other processes".to_owned(),
            Processes::All => {
                "arguments and environments of processes, except the arguments of time daemons, irqbalance and logins \
                               (names of threads are kept)"
                    .to_owned()
            }
        });
        let counts = [
            (self.macs.len(), "hardware addresses"),
            (self.addresses.len(), "network addresses"),
            (self.identifiers, "identifiers (UUIDs, machines, containers)"),
            (
                self.secrets,
                "values whose names contain password, secret, token or key, or that are for programs of domains, containers and services",
            ),
        ];
        left.extend(
            counts
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}")),
        );
        left
    }

    fn without_identifiers(&mut self, text: &str) -> String {
        let anonymous = without_identifiers(text);
        self.identifiers += anonymous.matches("(id)").count();
        anonymous
    }

    /// Values after names such as `rd.iscsi.password=` and `passwd='…'`, up to the end of their quotes; the text around them stays.
    fn without_secrets(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['=', ':', '>']) {
            let (before, after) = (&rest[..=at], &rest[at + 1..]);
            out.push_str(before);
            let line = out.rsplit('\n').next().unwrap_or_default();
            let (open, value, behind) = value_of(line, after);
            if value.is_empty() {
                rest = after;
                continue;
            }
            self.secrets += 1;
            out.push_str(open);
            out.push_str(HIDDEN);
            rest = behind;
        }
        out.push_str(rest);
        let without_hashes = self.without_hashes(&out);
        self.without_logins(&without_hashes)
    }

    /// Hides the password in `-u NAME:PASSWORD`, in an address with `//NAME:PASSWORD@` or `:NAME:PASSWORD@`, and after the word `password`
    /// without a sign: there it is the last word of GRUB's `password NAME PASSWORD`, else the next word.
    fn without_logins(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let words: Vec<&str> = line.split_inclusive(char::is_whitespace).collect();
            let is_sign = |at: usize| words.get(at).is_some_and(|word| word.starts_with(['=', ':']));
            let is_bare = |at: usize| {
                let word = words.get(at);
                word.is_some_and(|word| PASSWORD.contains(&word.trim_end())) && !is_sign(at + 1)
            };
            let of_grub = (words.len() == 3 && is_bare(0)).then_some(2);
            for (at, word) in words.iter().enumerate() {
                let is_secret = of_grub == Some(at) || (of_grub.is_none() && at > 0 && is_bare(at - 1));
                let before = at.checked_sub(1).map_or("", |before| words[before].trim_end());
                out.push_str(&self.without_login(word, before, is_secret));
            }
        }
        out
    }

    /// A word with the space after it.
    fn without_login(&mut self, word: &str, before: &str, is_secret: bool) -> String {
        let bare = word.trim_end();
        let blank = &word[bare.len()..];
        let of_address = bare
            .split_once("://")
            .and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?)));
        let hidden = match of_address {
            Some((scheme, (login, host))) if login.contains(':') => Some(format!("{scheme}://{HIDDEN}@{host}")),
            _ if LOGIN.contains(&before) && bare.contains(':') => Some(HIDDEN.to_owned()),
            _ if is_secret && !bare.is_empty() && bare != HIDDEN => Some(HIDDEN.to_owned()),
            _ => with_hidden_login(bare),
        };
        self.secrets += usize::from(hidden.is_some());
        hidden.unwrap_or_else(|| bare.to_owned()) + blank
    }

    /// Hides GRUB's password hashes (`grub-mkpasswd-pbkdf2`).
    fn without_hashes(&mut self, text: &str) -> String {
        let mut parts = text.split(HASH);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            self.secrets += 1;
            let end = part
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
                .unwrap_or(part.len());
            out.push_str(HIDDEN);
            out.push_str(&part[end..]);
        }
        out
    }

    fn without_addresses(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_of_address(c)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            out.push_str(&self.address(run));
            let next = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&after[..next]);
            rest = &after[next..];
        }
        out
    }

    /// Replacement of a word, if it is an address of a machine.
    fn address(&mut self, word: &str) -> String {
        let bare = word.trim_end_matches('.');
        let number = self.addresses.len() + 1;
        let stands = if is_mac(bare) {
            return self.mac(bare) + &word[bare.len()..];
        } else if bare
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| !address.is_unspecified() && !address.is_loopback())
        {
            format!("192.0.2.{}", number % 256)
        } else if bare
            .parse::<Ipv6Addr>()
            .is_ok_and(|address| !address.is_unspecified() && !address.is_loopback())
        {
            format!("2001:db8::{number:x}")
        } else if word.contains(':') {
            return self.joined(word);
        } else {
            return word.to_owned();
        };
        let stands = self.addresses.entry(bare.to_owned()).or_insert(stands);
        format!("{stands}{}", &word[bare.len()..])
    }

    /// Replaces addresses between colons, as in the arguments `ip=10.0.0.1::10.0.0.2` and `ifname=eth0:3c:ec:ef:01:02:03`.
    fn joined(&mut self, word: &str) -> String {
        let parts: Vec<&str> = word.split(':').collect();
        let mut out = Vec::new();
        let mut rest = &parts[..];
        while let [first, others @ ..] = rest {
            let six = rest.get(..6).map(|six| six.join(":")).filter(|six| is_mac(six));
            match six {
                Some(mac) => {
                    out.push(self.mac(&mac));
                    rest = &rest[6..];
                }
                None => {
                    out.push(self.address(first));
                    rest = others;
                }
            }
        }
        out.join(":")
    }

    fn mac(&mut self, mac: &str) -> String {
        // Group addresses identify a protocol, not a machine.
        let is_group = mac
            .get(..2)
            .and_then(|first| u8::from_str_radix(first, 16).ok())
            .is_some_and(|first| first & 1 == 1);
        if mac.is_empty() || mac == "00:00:00:00:00:00" || is_group {
            return mac.to_owned();
        }
        let number = self.macs.len() + 1;
        let stands = self.macs.entry(mac.to_ascii_lowercase());
        stands
            .or_insert_with(|| format!("02:00:00:00:00:{:02x}", number % 256))
            .clone()
    }
}

/// True if a path is `/proc/PID/NAME` of a process other than the first.
fn is_of_process(path: &str, name: &str) -> bool {
    let inside = path.strip_prefix("/proc/").and_then(|rest| rest.split_once('/'));
    inside.is_some_and(|(pid, file)| pid != "1" && file == name && pid.bytes().all(|octet| octet.is_ascii_digit()))
}

fn is_of_address(c: char) -> bool {
    c.is_ascii_hexdigit() || c == ':' || c == '.'
}

fn is_mac(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    parts.len() == 6 && parts.iter().all(|part| part.len() == 2)
}

fn lines(text: &str, keep: impl Fn(&str) -> bool) -> String {
    text.lines()
        .filter(|line| keep(line))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Neutral;
    use crate::reader::Touched;

    #[test]
    fn addresses_identifiers_and_secrets_are_replaced_alike_everywhere() {
        let touched = [(
            "/sys/class/net/eth0/address".to_owned(),
            Touched::File(b"3c:ec:ef:01:02:03\n".to_vec()),
        )];
        let mut neutral = Neutral::of(&touched);
        let mut kept = |path: &str, text: &str| String::from_utf8(neutral.file(path, text.as_bytes())).expect("text");
        assert_eq!(
            kept("/sys/class/net/eth0/address", "3c:ec:ef:01:02:03\n"),
            "02:00:00:00:00:01\n"
        );
        let file = "server 10.20.30.40 iburst\n# 3C:EC:EF:01:02:03 01:0c:cd:04:00:01 10.20.30.40. fe80::1 0000:3b:00.0 6.1.0\n";
        let shown = kept("/etc/chrony/chrony.conf", file);
        assert_eq!(
            shown,
            "server 192.0.2.1 iburst\n# 02:00:00:00:00:01 01:0c:cd:04:00:01 192.0.2.1. 2001:db8::2 0000:3b:00.0 6.1.0\n"
        );
        let line = kept(
            "/proc/cmdline",
            "ip=10.20.30.41::10.20.30.1:255.0.0.0 ifname=eth7:3c:ec:ef:01:02:03\n",
        );
        assert_eq!(
            line,
            "ip=192.0.2.3::192.0.2.4:192.0.2.5 ifname=eth7:02:00:00:00:00:01\n"
        );
        let line = kept(
            "/proc/cmdline",
            "root=UUID=3fae7a1c-0d9b-4a6e-8f37-1c2d3e4f5a6b rd.iscsi.password=x isolcpus=2-3 -- x\n",
        );
        assert_eq!(line, "root=UUID=(id) rd.iscsi.password=(hidden) isolcpus=2-3\n");
        for (text, shown) in [
            (
                "netroot=iscsi:joe:geheim@storage x\n",
                "netroot=iscsi:(hidden)@storage x\n",
            ),
            ("chap joe:x:geheim@storage\n", "chap joe:(hidden)@storage\n"),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice\n",
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice\n",
            ),
            (
                "<graphics type='vnc' passwd='geheim'/>\n",
                "<graphics type='vnc' passwd='(hidden)'/>\n",
            ),
            (
                "<graphics passwd='ge heim' port='-1'><listen/></graphics>",
                "<graphics passwd='(hidden)' port='-1'><listen/></graphics>",
            ),
            ("<a passwd=\"gehe'im x\"/>", "<a passwd=\"(hidden)\"/>"),
            ("<password>ge heim</password>", "<password>(hidden)</password>"),
            ("systemd.set_credential=a:geheim b", "systemd.set_credential=(hidden) b"),
            ("\"rd.password=ge heim\" b", "\"rd.password=(hidden)\" b"),
            (
                "password_pbkdf2 root grub.pbkdf2.sha512.10000.AB12.CD\n",
                "password_pbkdf2 root (hidden)\n",
            ),
            (
                "key=geheim keymap: x api_key='ge heim'",
                "key=(hidden) keymap: x api_key='(hidden)'",
            ),
            ("apikey: ge heim\nport: 5\n", "apikey: (hidden)\nport: 5\n"),
            ("quiet sshkey=geheim b", "quiet sshkey=(hidden) b"),
            ("password: ge heim\nport: 5\n", "password: (hidden)\nport: 5\n"),
            (
                "Speculation_Store_Bypass:\tthread vulnerable\n",
                "Speculation_Store_Bypass:\tthread vulnerable\n",
            ),
            ("  password:\tgeheim\n", "  password:\t(hidden)\n"),
            ("passwd = \"ge heim\" # x\n", "passwd = \"(hidden)\" # x\n"),
            ("passwd = ge heim\nb = 1\n", "passwd = (hidden)\nb = 1\n"),
            (
                "{\"password\": \"ge heim\", \"port\": 5}\n",
                "{\"password\": \"(hidden)\", \"port\": 5}\n",
            ),
            ("{password: geheim, port: 5}\n", "{password: (hidden), port: 5}\n"),
            ("'password' : 'ge heim'\n", "'password' : '(hidden)'\n"),
            (
                "a:\n  token: |-\n    ge\n    heim\n  b: 1\n",
                "a:\n  token: (hidden)\n  b: 1\n",
            ),
            ("<a b='password: ge heim' c='1'/>", "<a b='password: (hidden)' c='1'/>"),
            ("password root geheim\nx\n", "password root (hidden)\nx\n"),
            ("login a password geheim\n", "login a password (hidden)\n"),
            ("rd.password= isolcpus=2-3\n", "rd.password= isolcpus=2-3\n"),
        ] {
            assert_eq!(kept("/etc/libvirt/qemu/a.xml", text), shown);
        }
        assert_eq!(
            kept("/proc/irq/1/smp_affinity", "ffffffff,ffffffff\n"),
            "ffffffff,ffffffff\n"
        );
    }
}
