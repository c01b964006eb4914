//! Packet sockets of other processes.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, inside};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use sys::packet::{Listener, PacketPort, PortOptions, listeners};

const NAMESPACE: &str = "TRIPTIME_LISTENER_NAMESPACE";

/// Not a test: the other process of the tests below. It holds a port until its standard input ends.
#[test]
fn child_that_listens() {
    let Some(path) = std::env::var_os(NAMESPACE) else {
        return;
    };
    let namespace = std::fs::File::open(path).expect("the namespace");
    rustix::thread::move_into_link_name_space(
        std::os::fd::AsFd::as_fd(&namespace),
        Some(rustix::thread::LinkNameSpaceType::Network),
    )
    .expect("entered");
    let _port = PacketPort::open("b0", &PortOptions::default()).expect("a port");
    std::io::stdout().write_all(b"\nopen\n").expect("told");
    let _ = std::io::stdin().read(&mut [0]);
}

struct Other(Child);

impl Other {
    fn start(pair: &Pair) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("own program"))
            .args(["child_that_listens", "--exact", "--nocapture", "--test-threads=1"])
            .env(NAMESPACE, pair.b.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let (mut told, mut octets) = (String::new(), [0; 256]);
        let mut out = child.stdout.take().expect("piped");
        while !told.contains("\nopen\n") {
            let count = out.read(&mut octets).expect("read");
            assert!(count > 0, "the child ended: {told}");
            told.push_str(&String::from_utf8_lossy(&octets[..count]));
        }
        Self(child)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn on(pair: &Pair) -> Vec<Listener> {
    inside(&pair.b, || listeners("b0"))
}

#[test]
fn another_process_is_seen_with_its_name_and_our_own_sockets_are_not() {
    let test = "another_process_is_seen_with_its_name_and_our_own_sockets_are_not";
    if !can_run(test, NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let _ours = pair.port_b(&PortOptions {
        ethertypes: vec![ETHERTYPE],
        ..PortOptions::default()
    });
    assert_eq!(on(&pair), []);
    let other = Other::start(&pair);
    let found = on(&pair);
    assert_eq!(found.len(), 1, "{found:?}");
    let Listener {
        raw,
        protocol,
        bound,
        process,
        ..
    } = &found[0];
    assert_eq!((*raw, *protocol, *bound), (true, 3, true));
    let process = process.as_ref().expect("a child of ours can be seen");
    let own = std::fs::read_to_string("/proc/self/comm").expect("proc");
    assert_eq!((process.pid, process.name.as_str()), (other.0.id(), own.trim_end()));
    // The other end and loopback are different interfaces.
    assert_eq!(inside(&pair.b, || listeners("lo")), []);
    assert_eq!(inside(&pair.a, || listeners("a0")), []);
    drop(other);
    assert_eq!(on(&pair), []);
}
