//! Locked memory and the latency request, as the kernel shows them.

mod common;

use common::{NETWORK, Pair, can_run, frame, number, receive};
use std::io::Read;
use sys::memory::{hold_dma_latency, lock_all, mapping_large_blocks, unlock_all};
use sys::packet::PortOptions;
use sys::privilege::Capability;

/// A line of the kernel's status of this process, in KiB.
fn kib_of(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("own status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn locked_memory_shows_in_the_process_status_and_ports_still_open() {
    const NAME: &str = "locked_memory_shows_in_the_process_status_and_ports_still_open";
    if !can_run(NAME, &[NETWORK, &[Capability::IpcLock]].concat()) {
        return;
    }
    lock_all().expect("locked");
    let kib = kib_of("VmLck:");
    assert!(kib >= 8 << 10, "{kib} KiB locked, less than the heap kept in hand");
    // Eight megabytes were touched and kept: taking and freeing four faults nothing in.
    let before = sys::thread::usage().minor_faults;
    for _ in 0..10 {
        std::hint::black_box(vec![1_u8; 4 << 20]);
    }
    assert_eq!(sys::thread::usage().minor_faults, before);
    // Memory for a large but short-lived block is given back, if requested.
    let resident = || kib_of("VmRSS:");
    let at_first = resident();
    mapping_large_blocks(|| std::hint::black_box(vec![1_u8; 32 << 20]));
    assert!(resident() < at_first + (4 << 10), "{at_first} KiB before");
    std::hint::black_box(vec![1_u8; 32 << 20]);
    assert!(resident() > at_first + (16 << 10), "{at_first} KiB before");
    unlock_all();
    assert_eq!(kib_of("VmLck:"), 0);
    assert!(resident() < at_first, "{at_first} KiB while it was locked");
    lock_all().expect("locked");
    let pair = Pair::build(1500);
    let options = PortOptions::default();
    let (a, mut b) = (pair.port_a(&options), pair.port_b(&options));
    a.send(&frame(1, 60)).expect("sent");
    receive(&mut b, |got| assert_eq!(number(got.data()), 1));
}

#[test]
fn the_latency_request_is_in_force_while_it_is_held() {
    let in_force = || {
        let mut word = [0; 4];
        let mut file = std::fs::File::open("/dev/cpu_dma_latency").expect("the device");
        file.read_exact(&mut word).expect("a number");
        i32::from_ne_bytes(word)
    };
    if !sys::privilege::is_root() || !std::path::Path::new("/dev/cpu_dma_latency").exists() {
        testing::skip(
            "the_latency_request_is_in_force_while_it_is_held",
            "needs root and /dev/cpu_dma_latency",
        );
        return;
    }
    // Others on this machine may hold requests, too: the smallest counts.
    let held = hold_dma_latency(3).expect("held");
    assert!(in_force() <= 3);
    let zero = hold_dma_latency(0).expect("held");
    assert_eq!(in_force(), 0);
    drop(zero);
    drop(held);
}
