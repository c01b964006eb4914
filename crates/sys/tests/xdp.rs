//! AF_XDP ports over veth pairs in separate namespaces.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, frame, frame_with, inside, number, receive};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions, VlanTag};
use sys::xdp::{XdpFrame, XdpOptions, XdpPort, XdpRequest, XdpRunning};
use sys::{ErrorKind, SysError, link};

const BOTH: [XdpRequest; 2] = [XdpRequest::Native, XdpRequest::Generic];

fn options(mode: XdpRequest) -> XdpOptions {
    XdpOptions {
        ethertypes: vec![ETHERTYPE],
        ring_frames: 256,
        mode,
        ..XdpOptions::default()
    }
}

fn open(namespace: &NetNs, name: &'static str, options: &XdpOptions) -> XdpPort {
    inside(namespace, || XdpPort::open(name, options))
}

fn refused(namespace: &NetNs, name: &'static str, options: &XdpOptions) -> SysError {
    namespace
        .run(|| XdpPort::open(name, options).map(drop))
        .expect("a thread")
        .expect_err("refused")
}

fn take<T>(port: &mut XdpPort, look: impl FnOnce(&XdpFrame<'_>) -> T) -> T {
    assert!(port.wait(2_000_000_000).expect("poll"), "no frame came");
    look(&port.next().expect("poll said there is a frame"))
}

fn program_on(namespace: &NetNs, name: &'static str) -> Option<u32> {
    inside(namespace, || link::find(name)).xdp_program
}

/// The ring holds 256 frames; 5003 rounds use every chunk of both ends many times.
#[test]
fn every_frame_comes_back_once_and_in_order() {
    if !can_run("every_frame_comes_back_once_and_in_order", NETWORK) {
        return;
    }
    for mode in BOTH {
        let pair = Pair::build(1500);
        let (mut a, mut b) = (open(&pair.a, "a0", &options(mode)), open(&pair.b, "b0", &options(mode)));
        let mut answer = Vec::new();
        for round in 0..5_003 {
            let sent = frame(round, 60 + (round % 1400) as usize);
            a.send(&sent).expect("sent");
            take(&mut b, |got| answer = got.data().to_vec());
            assert_eq!(answer, sent, "round {round} {mode:?}");
            b.send(&answer).expect("answered");
            take(&mut a, |got| assert_eq!(got.data(), sent));
        }
        assert!(a.next().is_none() && b.next().is_none());
        for port in [&mut a, &mut b] {
            let counted = port.statistics().expect("counters");
            assert_eq!((counted.received, counted.dropped, counted.ring_full), (5_003, 0, 0));
            assert_eq!(counted.invalid, 0);
            assert_eq!(port.statistics().expect("counters").received, 0, "reading resets");
        }
        assert_eq!((a.interface(), a.mac(), a.mtu()), ("a0", link::local_mac("a0"), 1500));
    }
}

/// The kernel shows a frame before it shows that it has taken the frame's chunk from the fill ring. A spinning receiver returns the
/// chunk in between: with only one chunk for all frames, a missing place for it would end the port.
#[test]
fn a_chunk_given_back_in_the_instant_it_comes_is_not_lost() {
    const FRAMES: u64 = 400_000;
    if !can_run("a_chunk_given_back_in_the_instant_it_comes_is_not_lost", NETWORK) {
        return;
    }
    for mode in BOTH {
        let pair = Pair::build(1500);
        let one = XdpOptions {
            ring_frames: 1,
            ..options(mode)
        };
        let (mut a, mut b) = (open(&pair.a, "a0", &options(mode)), open(&pair.b, "b0", &one));
        let sent = frame(0, 60);
        let (taken, end) = (AtomicU64::new(0), Instant::now() + Duration::from_secs(30));
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                while taken.load(Ordering::Relaxed) < FRAMES && Instant::now() < end {
                    if b.next().is_some() {
                        taken.fetch_add(1, Ordering::Release);
                    }
                }
            });
            for round in 0..FRAMES {
                while taken.load(Ordering::Acquire) < round && !receiver.is_finished() {
                    std::hint::spin_loop();
                }
                a.send(&sent).expect("sent");
            }
        });
        let counted = b.statistics().expect("counters");
        assert_eq!(counted.received, FRAMES, "{mode:?}: {counted:?}");
    }
}

#[test]
fn other_ethertypes_go_on_to_the_stack_and_wanted_ones_do_not() {
    if !can_run("other_ethertypes_go_on_to_the_stack_and_wanted_ones_do_not", NETWORK) {
        return;
    }
    for mode in BOTH {
        let pair = Pair::build(1500);
        let wanted = XdpOptions {
            ethertypes: vec![0x88ba, 0x88b8],
            ..options(mode)
        };
        let (a, mut b) = (pair.port_a(&PortOptions::default()), open(&pair.b, "b0", &wanted));
        let mut stack = pair.port_b(&PortOptions::default());
        let sent = [
            frame_with(&[], 0x0800, 1, 60),
            frame_with(&[(0x8100, 5)], 0x0800, 2, 64),
            frame_with(&[], 0x88ba, 3, 60),
            frame_with(&[(0x8100, 0x8005)], 0x88b8, 4, 64),
            frame_with(&[(0x88a8, 5), (0x8100, 6)], 0x88ba, 5, 68),
            frame_with(&[(0x8100, 5), (0x8100, 5), (0x8100, 5)], 0x88ba, 6, 72),
            frame_with(&[], ETHERTYPE, 7, 60),
            frame_with(&[], 0x88ba, 8, 16),
        ];
        for frame in &sent {
            a.send(frame).expect("sent");
        }
        for (expected, tag) in [
            (2, None),
            (
                3,
                Some(VlanTag {
                    tpid: 0x8100,
                    tci: 0x8005,
                }),
            ),
            (4, Some(VlanTag { tpid: 0x88a8, tci: 5 })),
            (7, None),
        ] {
            let expected: &Vec<u8> = &sent[expected];
            take(&mut b, |got| {
                assert_eq!(
                    &got.data()[..expected.len()],
                    expected,
                    "{mode:?}: the tag stays in the data"
                );
                assert_eq!(got.vlan(), tag);
            });
        }
        assert!(b.next().is_none());
        for expected in [1, 2] {
            receive(&mut stack, |got| assert_eq!(number(got.data()), expected, "{mode:?}"));
        }
        receive(&mut stack, |got| assert_eq!(got.vlan().map(|tag| tag.tci), Some(5)));
        receive(&mut stack, |got| assert_eq!(number(got.data()), 7));
        assert!(stack.next().is_none(), "{mode:?}: a frame was taken and passed on");
    }
}

#[test]
fn an_empty_list_takes_every_frame() {
    if !can_run("an_empty_list_takes_every_frame", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let all = XdpOptions {
        ethertypes: Vec::new(),
        ..options(XdpRequest::Auto)
    };
    let (a, mut b) = (pair.port_a(&PortOptions::default()), open(&pair.b, "b0", &all));
    for (index, ethertype) in [0x0800, 0x86dd, ETHERTYPE].into_iter().enumerate() {
        a.send(&frame_with(&[], ethertype, index as u32, 60)).expect("sent");
        take(&mut b, |got| assert_eq!(number(got.data()), index as u32));
    }
}

#[test]
fn the_program_goes_with_the_port() {
    if !can_run("the_program_goes_with_the_port", NETWORK) {
        return;
    }
    for mode in BOTH {
        let pair = Pair::build(1500);
        assert_eq!(program_on(&pair.b, "b0"), None);
        let port = open(&pair.b, "b0", &options(mode));
        assert!(program_on(&pair.b, "b0").is_some());
        drop(port);
        assert_eq!(program_on(&pair.b, "b0"), None, "{mode:?}");
    }
}

/// Not a test: the process that the next test kills.
#[test]
fn child_that_holds_a_port() {
    let Some(path) = std::env::var_os("TRIPTIME_XDP_CHILD") else {
        return;
    };
    let namespace = std::fs::File::open(path).expect("the namespace");
    rustix::thread::move_into_link_name_space(
        std::os::fd::AsFd::as_fd(&namespace),
        Some(rustix::thread::LinkNameSpaceType::Network),
    )
    .expect("entered");
    let _port = XdpPort::open("b0", &options(XdpRequest::Auto)).expect("a port");
    use std::io::Write;
    std::io::stdout().write_all(b"\nopen\n").expect("told");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn the_program_goes_with_a_killed_process() {
    if !can_run("the_program_goes_with_a_killed_process", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let mut child = Command::new(std::env::current_exe().expect("own program"))
        .args(["child_that_holds_a_port", "--exact", "--nocapture", "--test-threads=1"])
        .env("TRIPTIME_XDP_CHILD", pair.b.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut told = String::new();
    let mut out = child.stdout.take().expect("piped");
    let mut octets = [0; 256];
    while !told.contains("\nopen\n") {
        let count = out.read(&mut octets).expect("read");
        assert!(count > 0, "the child ended: {told}");
        told.push_str(&String::from_utf8_lossy(&octets[..count]));
    }
    let attached = program_on(&pair.b, "b0");
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    assert!(attached.is_some());
    // The kernel closes the descriptors of a killed process before it can be reaped, and frees the link a moment later.
    let until = Instant::now() + Duration::from_secs(5);
    while program_on(&pair.b, "b0").is_some() {
        assert!(Instant::now() < until, "the program stayed");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (a, mut stack) = (
        pair.port_a(&PortOptions::default()),
        pair.port_b(&PortOptions::default()),
    );
    a.send(&frame(1, 60)).expect("sent");
    receive(&mut stack, |got| assert_eq!(number(got.data()), 1));
}

#[test]
fn every_frame_that_finds_no_room_is_counted() {
    if !can_run("every_frame_that_finds_no_room_is_counted", NETWORK) {
        return;
    }
    for mode in BOTH {
        let pair = Pair::build(1500);
        let (a, mut b) = (
            pair.port_a(&PortOptions::default()),
            open(&pair.b, "b0", &options(mode)),
        );
        let room = u32::try_from(b.ring_frames()).expect("a small ring");
        // Slowly enough for a driver that passes frames on through a queue of its own.
        for round in 0..room + 100 {
            a.send(&frame(round, 60)).expect("sent");
            if round % 32 == 31 {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        let (mut lost, until) = (0, Instant::now() + Duration::from_secs(5));
        while lost < 100 && Instant::now() < until {
            let counted = b.statistics().expect("counters");
            lost += counted.dropped + counted.ring_full;
        }
        assert_eq!(lost, 100, "{mode:?}");
        for expected in 0..room {
            take(&mut b, |got| {
                assert_eq!(number(got.data()), expected, "the oldest are kept");
            });
        }
        assert!(b.next().is_none());
        a.send(&frame(9_999, 60)).expect("sent");
        take(&mut b, |got| assert_eq!(number(got.data()), 9_999));
        let counted = b.statistics().expect("counters");
        assert_eq!(
            (counted.received, counted.dropped, counted.ring_full),
            (u64::from(room) + 1, 0, 0)
        );
    }
}

#[test]
fn zero_copy_is_refused_on_veth_with_the_reason() {
    if !can_run("zero_copy_is_refused_on_veth_with_the_reason", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let port = open(&pair.b, "b0", &options(XdpRequest::Auto));
    let mode = port.mode();
    assert_eq!(mode.running, XdpRunning::Native);
    assert_eq!(
        mode.to_string(),
        "native, copy (native, zero-copy refused: the driver has no zero-copy (Operation not supported (os error 95)))"
    );
    assert_eq!(port.rx_queues(), Some(1));
    drop(port);
    let error = refused(&pair.b, "b0", &options(XdpRequest::ZeroCopy));
    assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
    let text = error.to_string();
    assert!(
        text.starts_with("b0: AF_XDP (native, zero-copy) refused: the driver has no zero-copy ("),
        "{text}"
    );
    assert_eq!(program_on(&pair.b, "b0"), None, "the program went with the refusal");
}

#[test]
fn a_driver_without_native_xdp_gets_the_generic_one_and_says_why() {
    if !can_run("a_driver_without_native_xdp_gets_the_generic_one_and_says_why", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    inside(&pair.a, || link::add_bridge("br0").and_then(|()| link::set_up("br0")));
    let port = open(&pair.a, "br0", &options(XdpRequest::Auto));
    assert_eq!(port.mode().running, XdpRunning::Generic);
    let reasons: Vec<&str> = port.mode().refused.iter().map(|refusal| refusal.why.as_str()).collect();
    assert_eq!(
        reasons,
        ["the driver has no native XDP (Operation not supported (os error 95))"; 2]
    );
}

#[test]
fn what_cannot_be_is_refused_plainly() {
    if !can_run("what_cannot_be_is_refused_plainly", NETWORK) {
        return;
    }
    let pair = Pair::build(9000);
    let mut wants = options(XdpRequest::Auto);
    wants.frame_bytes = 9_014;
    let error = refused(&pair.a, "a0", &wants);
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(
        error.to_string(),
        "frames of 9014 bytes: AF_XDP accepts 14 to 3840 bytes (a page minus 256); for longer ones use the packet socket"
    );
    wants.frame_bytes = 1_522;
    wants.queue = 7;
    let error = refused(&pair.a, "a0", &wants);
    assert_eq!(error.to_string(), "a0: no receive queue 7 (it has 1, from 0)");
    wants.queue = 0;
    wants.ring_frames = 0;
    let error = refused(&pair.a, "a0", &wants);
    assert_eq!(error.to_string(), "an AF_XDP ring of 0 frames: 1 to 32768");
    let error = refused(&pair.a, "eth9", &options(XdpRequest::Auto));
    assert_eq!(error.to_string(), "eth9: no such interface (have: lo, a0)");
    // A page without headroom is too small for frames of this MTU in one piece: then veth has no native XDP.
    let port = open(&pair.a, "a0", &options(XdpRequest::Auto));
    assert_eq!(port.mode().running, XdpRunning::Generic, "{}", port.mode());
    let second = refused(&pair.a, "a0", &options(XdpRequest::Generic));
    assert!(second.to_string().contains("XDP program"), "{second}");
    assert!(second.to_string().contains("attached already"), "{second}");
}

#[test]
fn longer_frames_than_fit_are_refused_sending_and_counted_receiving() {
    if !can_run(
        "longer_frames_than_fit_are_refused_sending_and_counted_receiving",
        NETWORK,
    ) {
        return;
    }
    let pair = Pair::build(3000);
    let mode = XdpRequest::Native;
    let (mut a, mut b) = (open(&pair.a, "a0", &options(mode)), open(&pair.b, "b0", &options(mode)));
    let error = a.send(&frame(1, 3_015)).expect_err("longer than the MTU");
    assert_eq!(
        error.to_string(),
        "a0: a frame of 3015 bytes does not fit its MTU of 3000 (plus 14 bytes of header)"
    );
    let error = a.send(&frame(1, 2_049)).expect_err("longer than a chunk");
    assert!(error.to_string().contains("exceeds the 2048 bytes"), "{error}");
    let packet = pair.port_a(&PortOptions::default());
    packet.send(&frame(1, 3_014)).expect("sent");
    packet.send(&frame(2, 60)).expect("sent");
    take(&mut b, |got| assert_eq!(number(got.data()), 2));
    assert_eq!(b.statistics().expect("counters").dropped, 1);
}

#[test]
fn an_interface_that_goes_down_is_told() {
    if !can_run("an_interface_that_goes_down_is_told", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let mut port = open(&pair.a, "a0", &options(XdpRequest::Auto));
    assert!(!port.wait(1_000_000).expect("poll"));
    inside(&pair.a, || link::set_down("a0"));
    for error in [
        port.send(&frame(1, 60)).expect_err("down"),
        port.wait(1_000_000).expect_err("down"),
        refused(&pair.a, "a0", &options(XdpRequest::Auto)),
    ] {
        assert!(matches!(error, SysError::InterfaceDown { .. }), "{error}");
    }
}

#[test]
fn busy_polling_loses_nothing() {
    if !can_run("busy_polling_loses_nothing", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let polling = XdpOptions {
        busy_poll: Some(sys::xdp::BusyPoll {
            time_us: 20,
            budget: 64,
        }),
        ..options(XdpRequest::Native)
    };
    let (mut a, mut b) = (open(&pair.a, "a0", &polling), open(&pair.b, "b0", &polling));
    let until = Instant::now() + Duration::from_secs(20);
    for round in 0..500 {
        a.send(&frame(round, 60)).expect("sent");
        loop {
            if let Some(got) = b.next() {
                assert_eq!(number(got.data()), round);
                break;
            }
            assert!(Instant::now() < until, "frame {round} did not come");
        }
    }
}

#[test]
fn memberships_last_as_long_as_the_port() {
    if !can_run("memberships_last_as_long_as_the_port", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let wants = XdpOptions {
        multicast: vec![[0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]],
        ..options(XdpRequest::Auto)
    };
    let joined = || {
        let read = |path: &str| std::fs::read_to_string(path).expect("proc");
        inside(&pair.b, || Ok(read("/proc/thread-self/net/dev_mcast"))).contains("010ccd040001")
    };
    let port = open(&pair.b, "b0", &wants);
    assert!(joined());
    drop(port);
    assert!(!joined());
    // The holder of the memberships is an ordinary packet port; it must not receive.
    drop(inside(&pair.b, || PacketPort::open("b0", &PortOptions::default())));
}
