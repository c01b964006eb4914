use super::{Capture, Processes, TreePart};
use crate::reader::Touched;

fn file(path: &str, text: &str) -> (String, Touched) {
    (path.to_owned(), Touched::File(text.as_bytes().to_vec()))
}

fn captured(processes: Processes) -> Vec<(String, String)> {
    let touched = [
        file("/proc/50/comm", "ptp4l\n"),
        file(
            "/proc/50/cmdline",
            "ptp4l\0-i\0eth0\0--sa_token=geheim7\0--passphrase\0geheim8\0-u\0me:geheim3\0-m\0",
        ),
        file("/proc/50/environ", "HOME=/geheim9\0"),
        file("/proc/51/comm", "sh\n"),
        file("/proc/51/cmdline", "sh\0-c\0geheim1\0"),
        file("/proc/52/comm", "irqbalance\n"),
        file("/proc/52/cmdline", "irqbalance\0--foreground\0"),
        file(
            "/proc/52/environ",
            "HOME=/geheim2\0IRQBALANCE_BANNED_CPULIST=2-3\0IRQBALANCE_ARGS=--banirq=5\0",
        ),
        file("/proc/53/comm", "agetty\n"),
        file("/proc/53/cmdline", "/sbin/agetty\0--autologin\0root\0tty1\0"),
    ];
    let entries = Capture::of(&touched, processes).entries.into_iter();
    let texts = entries.filter_map(|(path, entry)| match entry {
        TreePart::File(octets) => Some((path, String::from_utf8(octets).expect("text"))),
        _ => None,
    });
    texts.collect()
}

#[test]
fn arguments_that_rules_ask_for_are_kept_without_secrets() {
    let found = captured(Processes::All);
    let of = |path: &str| {
        found
            .iter()
            .find(|(known, _)| known == path)
            .map(|(_, text)| text.as_str())
    };
    assert_eq!(
        of("proc/50/cmdline"),
        Some("ptp4l\0-i\0eth0\0--sa_token=(hidden)\0--passphrase\0(hidden)\0-u\0(hidden)\0-m\0")
    );
    assert_eq!(of("proc/52/cmdline"), Some("irqbalance\0--foreground\0"));
    assert_eq!(
        of("proc/52/environ"),
        Some("IRQBALANCE_BANNED_CPULIST=2-3\0IRQBALANCE_ARGS=--banirq=5\0")
    );
    assert_eq!(of("proc/53/cmdline"), Some("/sbin/agetty\0--autologin\0root\0tty1\0"));
    for left_out in ["proc/50/environ", "proc/51/cmdline"] {
        assert_eq!(of(left_out), None, "{left_out}");
    }
    assert!(found.iter().all(|(_, text)| !text.contains("geheim")), "{found:?}");
}

#[test]
fn trees_that_are_published_have_none() {
    let found = captured(Processes::Few);
    assert!(found.iter().all(|(path, _)| path.ends_with("/comm")), "{found:?}");
}
